"""Select the messages that the user of an assistant last saw, if answers or questions were written again.

Exports of Claude and LibreChat list all messages of a conversation, and each message names the message
before it. If the user edited a question or asked for another answer, several messages have the same
predecessor. Only the path to the last message is the conversation that the user saw:

>>> names = {"a": "", "b": "a", "c": "a"}
>>> messages = [{"uuid": id, "parent_message_uuid": above, "sender": "human"} for id, above in names.items()]
>>> [one["uuid"] for one in path_of({"chat_messages": messages}, "chat_messages")]
['a', 'c']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from graphneg.ingest.loader import Notices

Value = Mapping[str, Any]

MESSAGE_LISTS = ("messages", "chat_messages")
"""Keys of the list of messages in exports that name the message before each message."""
_IDS = ("uuid", "messageId", "message_id", "id")
_PARENTS = ("parent_message_uuid", "parentMessageId", "parent_message_id", "parentId", "parent_id")
_CURRENT = ("current_leaf_message_uuid", "current_leaf", "currentId", "current_node")
"""Keys of a conversation that contain the id of the message that the user last saw."""
_ASSISTANTS = frozenset({"human", "assistant", "ai", "model", "bot", "gpt", "chatgpt", "claude"})
"""Speakers that occur only in conversations with an assistant. In a forum, all answers to a message belong to
the conversation."""


def has_branches(value: Value) -> bool:
    """Return whether a conversation with an assistant contains messages that the user does not see.

    Args:
        value: An entry of a file.

    Returns:
        True if `with_path` leaves out messages of the entry.
    """
    key = _list_key(value)
    path = path_of(value, key) if key is not None else None
    return key is not None and path is not None and len(path) < len(value[key])


def with_path(value: Value, notices: Notices) -> dict[str, Any]:
    """Leave out replaced messages of a conversation, such as the first version of a regenerated answer.

    Args:
        value: An entry for which `has_branches` is true.
        notices: Notices to the user, which count the messages that are left out.

    Returns:
        The entry with the messages that the user last saw (see `path_of`).
    """
    key = _list_key(value) or ""
    path = path_of(value, key) or []
    notices.count("message", "of other branches left out", len(value[key]) - len(path))
    return {**value, key: path}


def path_of(value: Value, key: str) -> list[Value] | None:
    """Return the messages of a conversation that the user last saw, without those that were replaced.

    Args:
        value: The conversation.
        key: The key of its list of messages.

    Returns:
        The last message with its parent, the parent of this parent, and so on, in chronological order. None
        if no assistant takes part, or if the messages do not form a tree.
    """
    messages = cast("Sequence[Any]", value[key])
    if not all(isinstance(one, dict) for one in messages):
        return None
    first = cast("Value", messages[0])
    id = next((name for name in _IDS if name in first), None)
    parent = next((name for name in _PARENTS if name in first), None)
    if id is None or parent is None or not any(map(_is_of_assistant, messages)):
        return None
    by_id = {str(one.get(id)): cast("Value", one) for one in messages}
    # The first message names a parent that is no message, such as "00000000-0000-4000-8000". If the messages
    # name several such parents, some messages are missing.
    roots = {str(one.get(parent)) for one in messages if str(one.get(parent)) not in by_id}
    if len(by_id) < len(messages) or len(roots) != 1:
        return None
    current = next((str(value[name]) for name in _CURRENT if name in value), "")
    at = current if current in by_id else str(messages[-1].get(id))
    path: dict[str, Value] = {}
    while at in by_id and at not in path:
        path[at] = by_id[at]
        at = str(by_id[at].get(parent))
    # If the links from messages to their parents form a cycle, the path does not lead to a first message.
    return list(reversed(path.values())) if at in roots else None


def _list_key(value: Value) -> str | None:
    """Return the key of the messages if they name their parents (``parentId``); otherwise None."""
    for key in MESSAGE_LISTS:
        messages = value.get(key)
        if isinstance(messages, list) and messages and isinstance(messages[0], dict):
            first = cast("Value", messages[0])
            return key if any(name in first for name in _PARENTS) else None
    return None


def _is_of_assistant(message: Value) -> bool:
    # LibreChat names no role, but writes {"sender": "GPT-4", "isCreatedByUser": false}.
    speakers = (message.get(name) for name in ("sender", "role", "speaker"))
    return "isCreatedByUser" in message or any(
        isinstance(one, str) and one.casefold() in _ASSISTANTS for one in speakers
    )
