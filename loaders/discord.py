"""Load Discord channels that DiscordChatExporter exported as JSON (``discord``).

Each file contains one channel:

    {"guild": ..., "channel": ..., "messages": [
      {"timestamp": "2024-05-17T09:12:00+00:00", "author": {"name": "ann"}, "content": "Lunch?"}]}

The channel is split into dialogues at pauses of several hours. Messages from bots, system messages (joins,
pins, boosts) and messages that contain only files are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphneg.ingest.chats import BOT, FORWARDED, MEDIA, SYSTEM, ChatLoader, Message, seconds_of, time_of
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions, Notices
from graphneg.ingest.reading import Item, json_items
from graphneg.ingest.validation import mapping
from graphneg.model import Rejected

# The types of messages that people write, as names and as numbers: 0 is a normal message, and 19 a reply.
_SPOKEN = {"Default", "Reply", "0", "19", "ThreadStarterMessage"}
# Matches a custom emoji, "<:wave:123>" or the animated "<a:wave:123>". It is replaced by ":wave:".
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")


class Loader(ChatLoader):
    """Loader for the JSON files of DiscordChatExporter, or for directories that contain them."""

    name = "discord"
    summary = "Discord: channels exported as JSON by DiscordChatExporter"
    within = ("*.json", "exported channels (*.json)")

    def messages(self, path: Path, options: LoadOptions) -> Iterator[Item | Rejected]:
        """Yield the messages of a channel.

        Args:
            path: The file.
            options: Options for loading, such as the corpus and split.

        Yields:
            An `Item` with a `Message` for each message, and a `Rejected` for each that cannot be read.
        """
        for item in json_items(path, options.progress, options.encoding or ""):
            if isinstance(item, Rejected):
                yield item
            elif item.key == "messages":
                try:
                    message = _message(item.value, options.notices)
                except ItemError as reason:
                    yield Rejected(item.place, f"message {item.number}: {reason}")
                else:
                    if message is not None:
                        yield item._replace(value=message)


def _message(value: Any, notices: Notices) -> Message | None:
    """Convert a JSON object into a message. Return None, and count it, if it is not a text by a person."""
    fields = mapping(value, "the message")
    author = mapping(fields.get("author"), "its author")
    reason = None
    text = fields.get("content")
    if not isinstance(text, str):
        raise ItemError("the message has no content")
    if str(fields.get("type", "Default")) not in _SPOKEN:
        reason = SYSTEM
    elif author.get("isBot"):
        reason = BOT
    elif not (text := text if text.strip() else _forwarded(fields)).strip():
        reason = MEDIA
    if reason is not None:
        notices.count(reason, "left out")
        return None
    notices.count(FORWARDED, "read as a turn of the person who forwarded it", text != fields["content"])
    # Parse the time only here: a message that is left out need not have a valid time.
    time = time_of(fields.get("timestamp"))
    return Message(
        seconds_of(time), _name_of(author), _EMOJI.sub(r"\1", text), author_id=str(author.get("id") or "")
    )


def _forwarded(fields: Mapping[str, Any]) -> str:
    """Return the text of a forwarded message; an empty string if the message forwards nothing."""
    forwarded: Any = fields.get("forwardedMessage")
    text = forwarded.get("content") if isinstance(forwarded, dict) else None
    return text if isinstance(text, str) else ""


def _name_of(author: Mapping[str, Any]) -> str:
    for key in ("nickname", "name", "id"):
        if isinstance(name := author.get(key), str) and name.strip():
            return name.strip()
    raise ItemError("the author of the message has no name")
