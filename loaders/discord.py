"""`discord`: channels of Discord as DiscordChatExporter writes them in JSON.

A file holds a channel: ``{"guild": …, "channel": …, "messages": [{"timestamp": …, "author": …, "content":
…}]}``. Messages of bots, of the system (joins, pins, boosts), and those of nothing but files are left out and
counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphneg.ingest.chats import BOT, MEDIA, SYSTEM, ChatLoader, Message, seconds_of, time_of
from graphneg.ingest.content import Refused
from graphneg.ingest.loader import LoadOptions, Notices
from graphneg.ingest.reading import Item, json_items
from graphneg.ingest.validation import mapping
from graphneg.model import Rejected

_SPOKEN = {"Default", "Reply", "0", "19", "ThreadStarterMessage"}
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")


class Loader(ChatLoader):
    """JSON files of DiscordChatExporter, one a channel, or a directory of them."""

    name = "discord"
    summary = "Discord: channels exported as JSON by DiscordChatExporter"
    within = ("*.json", "exported channels (*.json)")

    def messages(self, path: Path, options: LoadOptions) -> Iterator[Item | Rejected]:
        """Yield the messages of a channel."""
        for item in json_items(path, options.progress, options.encoding or ""):
            if isinstance(item, Rejected):
                yield item
            elif item.key == "messages":
                try:
                    message = _message(item.value, options.notices)
                except Refused as reason:
                    yield Rejected(item.place, f"message {item.number}: {reason}")
                else:
                    if message is not None:
                        yield item._replace(value=message)


def _message(value: Any, notices: Notices) -> Message | None:
    """Return a message, or None for a line that nobody wrote; such lines are counted."""
    fields = mapping(value, "the message")
    author = mapping(fields.get("author"), "its author")
    reason = None
    text = fields.get("content")
    if not isinstance(text, str):
        raise Refused("it has no content")
    if str(fields.get("type", "Default")) not in _SPOKEN:
        reason = SYSTEM
    elif author.get("isBot"):
        reason = BOT
    elif not text.strip():
        reason = MEDIA
    if reason is not None:
        notices.count(reason, "left out")
        return None
    time = time_of(fields.get("timestamp"))
    return Message(seconds_of(time), _name_of(author), _EMOJI.sub(r"\1", text))


def _name_of(author: Mapping[str, Any]) -> str:
    for key in ("nickname", "name", "id"):
        if isinstance(name := author.get(key), str) and name.strip():
            return name.strip()
    raise Refused("its author has no name")
