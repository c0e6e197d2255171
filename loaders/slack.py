"""Load a workspace that was exported from Slack (``slack``): a folder of channels, with one file per day.

``users.json`` contains the names of the users. ``general/2024-05-17.json`` contains the messages of one day
in the channel "general":

    [{"type": "message", "user": "U1", "text": "Lunch, <@U2>?", "ts": "1715936400.000200"},
     {"type": "message", "user": "U2", "text": "Yes!", "ts": "1715936460.000100"}]

This gives a dialogue of two turns, "Lunch, @Bo?" and "Yes!". A thread, whose messages have the same
``thread_ts``, is a dialogue of its own. Messages outside of threads are split into dialogues at pauses of
several hours. Messages from bots, system messages and messages that contain only files are left out and
counted.
"""

from __future__ import annotations

import html
import json
import math
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.ingest.chats import (
    BOT,
    DELETED,
    FORWARDED,
    MEDIA,
    SYSTEM,
    Message,
    conversations,
    dialogue_of,
    reverse_if_newest_first,
)
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions, Notices, check_by_records
from graphneg.ingest.mattermost import channel_messages, is_bulk_export
from graphneg.ingest.reading import Item, is_directory, json_items, split_of
from graphneg.ingest.validation import IdSet, mapping, named, valid_dialogues
from graphneg.model import Dialogue, Record, Rejected
from graphneg.progress import NoProgress

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SPOKEN = {"", "thread_broadcast", "me_message", "file_share", "file_comment", "reply_broadcast"}
"""Subtypes of the messages that people write."""
_BOTS = {"bot_message"}
_DELETED = {"tombstone", "message_deleted"}
_INLINE = {
    "text": "{text}",
    "user": "<@{user_id}>",
    "channel": "<#{channel_id}>",
    "usergroup": "<!subteam^{usergroup_id}>",
    "broadcast": "<!{range}>",
    "emoji": ":{name}:",
    "link": "",
}
"""Templates that convert the inline elements of Slack's rich-text blocks into the notation of message texts,
keyed by the type of element."""
# Matches mentions and links: <@U1>, <#C1|general>, <!here>, <https://example.org|this page>.
_MARK = re.compile(r"<(?P<sign>[@#!]?)(?P<of>[^<>|]+)(?:\|(?P<shown>[^<>]*))?>")


class Loader:
    """Loader for the folder of an exported Slack workspace, or for the folder of one of its channels."""

    name = "slack"
    summary = "Slack: the folder of an exported workspace, or of one of its channels; Mattermost"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the dialogues of each channel. Dialogues outside of threads come first, then the threads.

        Args:
            paths: The folders.
            options: Options for loading, such as the corpus and split.

        Yields:
            Dialogues and rejected items.

        Raises:
            InputError: There is no path, or a path is not a folder.
        """
        if not paths:
            raise InputError("the loader 'slack' needs the folder of an export")
        known = IdSet()
        for path in paths:
            if not is_directory(path) and is_bulk_export(path):
                dialogues = (
                    valid_dialogues(
                        conversations(messages, channel, options.gap), _maker(path, options), known
                    )
                    for channel, messages in channel_messages(path, options)
                )
                yield from check_by_records(str(path), self.name, chain.from_iterable(dialogues))
                continue
            if not is_directory(path):
                whole = "unpack the archive" if path.suffix == ".zip" else "name its folder"
                raise InputError(
                    f"{path} is not a folder: the loader 'slack' reads whole exports, so {whole}"
                )
            channels = (_dialogues(channel, days, options, known) for channel, days in _channels(path))
            yield from check_by_records(str(path), self.name, chain.from_iterable(channels))


def _maker(path: Path, options: LoadOptions) -> Callable[[Item], Dialogue]:
    """Return a function that converts a conversation of a bulk export of Mattermost into a dialogue."""
    return lambda item: named(dialogue_of(item, options.notices), options, "mattermost", split_of(path))


def _channels(path: Path) -> list[tuple[Path, list[Path]]]:
    """Return the folder and files of each channel of a workspace. The path may also be a single channel."""
    for folders in ([path], sorted(child for child in path.iterdir() if child.is_dir())):
        days = {one: sorted(day for day in one.glob("*.json") if _DAY.fullmatch(day.stem)) for one in folders}
        if found := [(one, files) for one, files in days.items() if files]:
            return found
    raise InputError(
        f"{path} contains no Slack channel, which is a folder with files such as 2024-05-17.json"
    )


def _dialogues(
    channel: Path, days: Sequence[Path], options: LoadOptions, known: IdSet
) -> Iterator[Dialogue | Rejected]:
    names = _people(channel)
    _add_profiles(names, days)
    corpus = "slack"

    def make(item: Item) -> Dialogue:
        return named(dialogue_of(item, options.notices), options, corpus, split_of(channel))

    # SQLite creates a temporary database if the file name is empty.
    with closing(sqlite3.connect("")) as threads:
        threads.execute("CREATE TABLE said (thread TEXT, at REAL, number INTEGER PRIMARY KEY, item TEXT)")
        flow = _flow(days, options, names, threads)
        yield from valid_dialogues(conversations(flow, channel.name, options.gap), make, known)
        rows = threads.execute("SELECT item FROM said ORDER BY thread, at, number")
        in_threads = (_stored(row[0]) for row in rows)
        yield from valid_dialogues(conversations(in_threads, channel.name, options.gap), make, known)


def _flow(
    days: Sequence[Path], options: LoadOptions, names: Mapping[str, str], threads: sqlite3.Connection
) -> Iterator[Item | Rejected]:
    """Yield messages outside of threads, and store the threads, which may continue on a later day."""
    for day in days:
        for item in reverse_if_newest_first(_messages(day, options, names), options.notices):
            if isinstance(item, Rejected) or not item.value.thread:
                yield item
                continue
            message: Message = item.value
            kept = [
                item.place,
                message.seconds,
                message.speaker,
                message.text,
                message.thread,
                message.author_id,
            ]
            threads.execute(
                "INSERT INTO said (thread, at, item) VALUES (?, ?, ?)",
                (message.thread, message.seconds, json.dumps(kept)),
            )


def _messages(day: Path, options: LoadOptions, names: Mapping[str, str]) -> Iterator[Item | Rejected]:
    for item in json_items(day, options.progress):
        if isinstance(item, Rejected):
            yield item
            continue
        try:
            message = _message(item.value, names, options.notices)
        except ItemError as reason:
            yield Rejected(item.place, f"message {item.number}: {reason}")
            continue
        if message is not None:
            yield item._replace(value=message)


def _stored(text: str) -> Item:
    place, *fields = json.loads(text)
    return Item(place, 0, "", Message(*fields))


def _message(value: Any, names: Mapping[str, str], notices: Notices) -> Message | None:
    """Convert a JSON object into a message. If no person wrote it, count it and return None."""
    fields = mapping(value, "the message")
    kind, text = fields.get("subtype") or "", fields.get("text") or ""
    if not isinstance(text, str) or not isinstance(kind, str):
        raise ItemError("the text or subtype is not a string")
    reason, forwarded = None, ""
    # Messages of apps have no subtype, so they are recognized by their bot_id.
    if kind in _BOTS or fields.get("bot_id"):
        reason = BOT
    elif kind in _DELETED:
        reason = DELETED
    elif kind not in _SPOKEN or fields.get("type", "message") != "message":
        reason = SYSTEM
    elif not (text := text if text.strip() else _block_text(fields.get("blocks"))).strip() and not (
        forwarded := _forwarded(fields)
    ):
        reason = MEDIA
    if reason is not None:
        notices.count(reason, "left out")
        return None
    notices.count(FORWARDED, "read as a turn of the person who forwarded it", bool(forwarded))
    thread = fields.get("thread_ts")
    return Message(
        _seconds(fields.get("ts")),
        _speaker(fields, names),
        _readable(forwarded or text, names),
        f"{_seconds(thread):.6f}" if thread else "",
        fields["user"] if isinstance(fields.get("user"), str) else "",
    )


def _forwarded(fields: Mapping[str, Any]) -> str:
    """Return the texts of the messages that a message shares (forwards). Slack stores them as attachments."""
    attached = fields.get("attachments")
    shared = attached if isinstance(attached, list) else []
    texts = [one.get("text") for one in shared if isinstance(one, dict)]
    return "\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def _block_text(blocks: Any) -> str:
    """Return the text of Slack's rich-text blocks, in the notation of message texts.

    Some messages have only blocks and no other text.

    >>> said = [{"type": "text", "text": "Hi "}, {"type": "user", "user_id": "U1"}]
    >>> _block_text([{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": said}]}])
    'Hi <@U1>'
    """
    if isinstance(blocks, list):
        texts = [_block_text(one) for one in blocks]
        # Join the parts of a sentence, such as texts, links and users, on one line. Put sections, list items
        # and blocks on separate lines.
        is_line = any(isinstance(one, dict) and one.get("type") in _INLINE for one in blocks)
        return ("" if is_line else "\n").join(filter(None, texts))
    if not isinstance(blocks, dict):
        return ""
    kind = blocks.get("type")
    if kind in _INLINE and kind != "link":
        return _INLINE[kind].format_map(defaultdict(str, {key: _escaped(one) for key, one in blocks.items()}))
    if kind == "link":
        shown = _escaped(blocks.get("text"))
        return f"<{_escaped(blocks.get('url'))}{'|' if shown else ''}{shown}>"
    # Blocks of apps have their text in an object: {"type": "section", "text": {"type": "mrkdwn", ...}}.
    text = blocks.get("text")
    return text if isinstance(text, str) else _block_text(text or blocks.get("elements"))


def _escaped(value: Any) -> str:
    return html.escape(value, quote=False) if isinstance(value, str) else ""


def _seconds(ts: Any) -> float:
    """Convert the time of a message, such as ``1715936400.000200``, into seconds since 1970."""
    try:
        seconds = float(ts)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    # 1e11 seconds are the year 5138. Larger numbers are milliseconds, or not times at all.
    if not 0 <= seconds < 1e11:
        raise ItemError(f"the time {str(ts)[:40]!r} is not one of Slack's (1715936400.000200)")
    return seconds


def _people(channel: Path) -> dict[str, str]:
    """Return the names of users from ``users.json``, keyed by user id; empty if there is no such file."""
    # `users.json` is in the same folder as the folders of channels. If the user named the folder of a single
    # channel, look there as well.
    for folder in (channel.parent, channel):
        if (file := folder / "users.json").is_file():
            break
    else:
        return {}
    names: dict[str, str] = {}

    def users() -> Iterator[Any]:
        for item in json_items(file, LoadOptions().progress):
            if isinstance(item, Rejected):
                raise InputError(f"{item.place}: {item.reason}")
            yield item

    for item in users():
        if isinstance(item.value, dict) and isinstance(id := item.value.get("id"), str):
            names[id] = _name(item.value) or id
    return names


def _add_profiles(names: dict[str, str], days: Sequence[Path]) -> None:
    """Add names of users who are missing in ``users.json``, from the profiles in their messages."""
    for day in days:
        # To save time, do not decode files without a user profile.
        if not day.is_file() or b'"user_profile"' not in day.read_bytes():
            continue
        for item in json_items(day, NoProgress()):
            value: Any = item.value if isinstance(item, Item) else None
            if isinstance(value, dict) and isinstance(id := value.get("user"), str) and id not in names:
                profile = value.get("user_profile")
                if isinstance(profile, dict) and (name := _name({"profile": profile})):
                    names[id] = name


def _name(user: Mapping[str, Any]) -> str:
    """Return the display name of a user, or else the real name, or else the user name."""
    profile = user.get("profile")
    places = [profile, user] if isinstance(profile, dict) else [user]
    for key in ("display_name", "real_name", "name"):
        for place in places:
            if isinstance(name := place.get(key), str) and name.strip():
                return name.strip()
    return ""


def _speaker(fields: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return the name of a message's author, or the author's id if no name is known."""
    id, profile = fields.get("user"), fields.get("user_profile")
    if isinstance(id, str) and id in names:
        return names[id]
    # An author who left the workspace may be missing in users.json. If the message contains the profile of
    # its author, use the name in the profile.
    name = _name({"profile": profile}) if isinstance(profile, dict) else ""
    name = name or (id if isinstance(id, str) else "") or str(fields.get("username") or "")
    if not name:
        raise ItemError("the message has no author")
    return name


def _readable(text: str, names: Mapping[str, str]) -> str:
    """Format a text as Slack displays it: ``<@U1> see <https://x.org|this>`` becomes ``@Ann see this``."""

    def shown(mark: re.Match[str]) -> str:
        of, told = mark["of"], mark["shown"]
        if mark["sign"] == "@":
            return f"@{names.get(of, told or of)}"
        if mark["sign"] == "#":
            return f"#{told or of}"
        if mark["sign"] == "!":
            return told or f"@{of.partition('^')[0]}"
        return told or of.removeprefix("mailto:")

    # Slack writes "&", "<" and ">" in texts as "&amp;", "&lt;" and "&gt;". Convert these back.
    return html.unescape(_MARK.sub(shown, text))
