"""Load Discord channels that DiscordChatExporter exported as JSON (``discord``).

A file holds one channel:

    {"guild": ..., "channel": ..., "messages": [
      {"timestamp": "2024-05-17T09:12:00+00:00", "author": {"name": "ann"}, "content": "Lunch?"}]}

The channel is cut into dialogues at pauses of some hours. Messages of bots, system messages (joins,
pins, boosts), and messages with nothing but files are left out and counted.
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

# Message types by name or by number: 0 is a message, 19 a reply.
_SPOKEN = {"Default", "Reply", "0", "19", "ThreadStarterMessage"}
# "<:wave:123>" and the animated "<a:wave:123>" become ":wave:".
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")


class Loader(ChatLoader):
    """Loader of JSON files of DiscordChatExporter, or of directories with them."""

    name = "discord"
    summary = "Discord: channels exported as JSON by DiscordChatExporter"
    within = ("*.json", "exported channels (*.json)")

    def messages(self, path: Path, options: LoadOptions) -> Iterator[Item | Rejected]:
        """Yield the messages of a channel.

        Args:
            path: The file.
            options: The options of the load.

        Yields:
            Items whose values are messages, and rejected items.
        """
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
    """Return a message, or None for one that no person wrote; count these."""
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
    # Messages that are left out need no valid time.
    time = time_of(fields.get("timestamp"))
    return Message(seconds_of(time), _name_of(author), _EMOJI.sub(r"\1", text))


def _name_of(author: Mapping[str, Any]) -> str:
    for key in ("nickname", "name", "id"):
        if isinstance(name := author.get(key), str) and name.strip():
            return name.strip()
    raise Refused("its author has no name")
