"""Read the bulk export of Mattermost: JSON Lines, of which some are posts of channels or direct messages.

    {"type": "version", "version": 1}
    {"type": "post", "post": {"team": "bakery", "channel": "orders", "user": "ann", "message": "Is it fresh?",
     "create_at": 1763110860000, "replies": [{"user": "bo", "message": "Yes.", "create_at": 1763110900000}]}}
    {"type": "direct_post", "direct_post": {"channel_members": ["ann", "bo"], "user": "bo", "message": "Hi.",
     "create_at": 1763110930000}}

A post with replies is a thread. The posts of all channels are in one file, so they are first stored on disk
by channel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any, cast

from graphneg.ingest.chats import BOT, DELETED, MEDIA, SYSTEM, Message
from graphneg.ingest.content import ItemError, head
from graphneg.ingest.loader import LoadOptions, Notices
from graphneg.ingest.reading import Item, json_lines
from graphneg.ingest.spill import RowStore
from graphneg.ingest.validation import mapping
from graphneg.ingest.values import is_yes
from graphneg.json_input import whole_number
from graphneg.model import Rejected

_BEGIN = re.compile(rb'\s*\{\s*"type"\s*:\s*"version"\s*[,}]')
_POSTS = ("post", "direct_post")
"""Types of lines that contain a post. Other lines describe teams, channels and users."""
_BOTS = ("from_bot", "from_webhook", "from_plugin")
_THREADS = "\0threads"


def is_bulk_export(path: Path) -> bool:
    """Return whether a file begins like a bulk export of Mattermost.

    Args:
        path: The file.

    Returns:
        True if the first line names the version of the format.
    """
    return _BEGIN.match(head(path, 1 << 10)) is not None


def channel_messages(path: Path, options: LoadOptions) -> Iterator[tuple[str, Iterator[Item | Rejected]]]:
    """Yield the messages of each channel: first the messages outside of threads, then the threads.

    Args:
        path: The file.
        options: Options for loading. Its notices count what is left out.

    Yields:
        The name of a channel, and items whose values are `Message`. A channel with threads occurs twice.
    """
    store = RowStore()
    key = ""
    for line in json_lines(path, options.progress):
        if isinstance(line, Rejected):
            # The unreadable line may belong to the channel of the line above. Store it there, so that the
            # conversation that lacks this line is rejected.
            store.add(key, (line.place, line.reason))
        elif (post := _post(line.value)) is not None:
            key = _channel(post, key)
            try:
                messages = _messages(post, options.notices)
            except ItemError as reason:
                # If a thread cannot be read, only this thread is rejected.
                lost = f"{_THREADS}{line.place}" if post.get("replies") else ""
                store.add(key + lost, (line.place, str(reason)))
                continue
            for one in messages:
                store.add(key + (_THREADS if one.thread else ""), (line.place, *astuple(one)))
    for key, rows in store.groups():
        yield key.partition(_THREADS)[0], map(_stored, rows)


def _stored(row: tuple[Any, ...]) -> Item | Rejected:
    place, *fields = row
    return Rejected(place, *fields) if len(fields) == 1 else Item(place, 0, "", Message(*fields))


def _post(value: Any) -> Mapping[str, Any] | None:
    kind = value.get("type") if isinstance(value, dict) else None
    post = cast("Mapping[str, Any]", value).get(kind) if kind in _POSTS else None
    return cast("Mapping[str, Any]", post) if isinstance(post, dict) else None


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _channel(post: Mapping[str, Any], before: str) -> str:
    """Return the name of a post's channel; if it names none, ``before``, the channel of the previous post."""
    if members := _list(post.get("channel_members")):
        return "-".join(["direct", *map(str, members)])
    return f"{post['team']}-{post['channel']}" if {"team", "channel"} <= post.keys() else before


def _messages(post: Mapping[str, Any], notices: Notices) -> list[Message]:
    """Return the messages of a post and of the replies to it, in order."""
    replies = [mapping(one, "the reply") for one in _list(post.get("replies"))]
    thread = str(post.get("create_at")) if replies else ""
    found = (_message(one, thread, notices) for one in (post, *replies))
    return sorted((one for one in found if one is not None), key=lambda one: one.seconds)


def _message(post: Mapping[str, Any], thread: str, notices: Notices) -> Message | None:
    """Convert a post or reply into a message. If no person wrote it, count it and return None."""
    text, time, user = post.get("message"), whole_number(post.get("create_at")), post.get("user")
    if time is None or not isinstance(user, str):
        raise ItemError("the post has no 'user' or no number 'create_at'")
    kind: Any = post.get("type") or ""
    props = post.get("props")
    is_bot = isinstance(props, dict) and any(
        is_yes(cast("Mapping[str, Any]", props).get(key)) for key in _BOTS
    )
    left_out = {
        SYSTEM: str(kind).startswith("system_"),
        BOT: is_bot,
        DELETED: bool(post.get("delete_at")),
        MEDIA: not isinstance(text, str) or not text.strip(),
    }
    for reason, applies in left_out.items():
        if applies:
            notices.count(reason, "left out")
            return None
    return Message(time / 1000, user, str(text), thread)
