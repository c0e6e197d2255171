"""Find turns and texts that are nested in other objects, and read those that users name with a path.

Users name a nested value with a path of keys (``--map turns=thread.events``, ``--map text=data.content``):

>>> fields = Fields({"turns": "thread.events", "text": "data.said"})
>>> entry = {"id": 7, "thread": {"events": [{"user": "Ann", "data": {"said": "Hi."}}]}}
>>> lift_paths(entry, fields)
{'id': 7, 'thread': {}, 'thread.events': [{'user': 'Ann', 'data': {}, 'data.said': 'Hi.'}]}

`turn_paths` and `text_path` find such paths, for messages that tell users which path to name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from graphneg.ingest.fields import Fields, has_turns, is_content, is_utterance, plain_names
from graphneg.ingest.values import is_part

Value = Mapping[str, Any]

_DEEPEST = 4
"""Maximum number of keys in a path."""
_SEEN = 50
"""Number of messages at the beginning of a list that are examined."""
_KNOWN = Fields({})
_WRAPPERS = frozenset({
    "data", "result", "results", "response", "payload", "record", "item", "node", "conversation", "dialogue",
    "dialog", "chat", "thread", "ticket", "case", "session", "call", "transcript", "interaction", "issue",
})  # fmt: skip
"""Keys whose value may be the whole dialogue. Others, such as ``user``, may contain the posts of a person."""


def lift_paths(value: Any, fields: Fields) -> Any:
    """Move nested values that the user named with a path to the top level. The path becomes the key.

    Args:
        value: An entry of a file.
        fields: Look-up that tells which keys and paths the user named.

    Returns:
        The entry. In a dialogue, the values in its turns are moved as well. An entry in which no path leads
        to a value is returned unchanged.
    """
    paths = [name for name in fields.named_by_user.values() if "." in name]
    if not paths:
        return value
    if isinstance(value, list):
        return [_with_paths(one, paths) for one in cast("list[Any]", value)]
    entry = _with_paths(value, paths)
    key = fields.turns_of(entry) if isinstance(entry, dict) else None
    if key is not None and isinstance(turns := entry[key], list):
        entry = {**entry, key: [_with_paths(one, paths) for one in cast("list[Any]", turns)]}
    return entry


def _with_paths(value: Any, paths: Sequence[str]) -> Any:
    if not isinstance(value, dict):
        return value
    cells = cast("dict[str, Any]", value)
    for path in paths:
        if path not in cells and (taken := _taken(cells, path.split("."))) is not None:
            found, rest = taken
            cells = {**rest, path: found}
    return cells


def _taken(value: dict[str, Any], keys: list[str]) -> tuple[Any, dict[str, Any]] | None:
    """Return the value at the end of a path, and the object without it; None if the path leads nowhere."""
    first, *others = keys
    if first not in value:
        return None
    if not others:
        return value[first], {key: one for key, one in value.items() if key != first}
    inner = value[first]
    taken = _taken(cast("dict[str, Any]", inner), others) if isinstance(inner, dict) else None
    return None if taken is None else (taken[0], {**value, first: taken[1]})


def inner_dialogues(value: Any, fields: Fields) -> list[Any] | None:
    """Return the dialogues in an object that contains a list of them, such as the scenes of an episode.

    >>> inner_dialogues({"episode": 1, "scenes": [{"id": "s1", "utterances": ["Hi."]}]}, Fields({}))
    [{'id': 's1', 'utterances': ['Hi.']}]

    Args:
        value: An entry of a file.
        fields: Look-up from a field, such as the text, to the key or column that contains it.

    Returns:
        The dialogues, also those in lists of lists; None if the entry is a dialogue or an utterance itself,
        or does not contain exactly one list of dialogues.
    """
    # Most entries are dialogues with messages, or rows without lists. Test for these first, to save time.
    cells = cast("Value", value) if isinstance(value, dict) else {}
    if isinstance(cells.get("messages", cells.get("turns")), list):
        return None
    lists = [cast("list[Any]", one) for one in cells.values() if isinstance(one, list) and one]
    lists = [one for one in lists if isinstance(one[0], dict)]
    if not lists and not any(isinstance(one, dict) for one in cells.values()):
        return None
    if is_utterance(value, fields) or has_turns(value, fields):
        return None
    if not lists:
        inner = _wrapped_dialogue(cells, fields)
        return None if inner is None else [inner]
    found: list[list[Any]] = []
    for members in lists:
        if has_turns(members[0], fields):
            found.append(members)
        elif inner_dialogues(members[0], fields) is not None:
            found.append([one for member in members for one in inner_dialogues(member, fields) or [member]])
    return found[0] if len(found) == 1 else None


def _wrapped_dialogue(value: Value, fields: Fields, depth: int = 1) -> dict[str, Any] | None:
    """Return the dialogue inside other objects, as in ``{"data": {"call": {"messages": [...]}}}``."""
    found: list[tuple[str, Value]] = []
    for key, one in value.items():
        if isinstance(one, dict) and not _WRAPPERS.isdisjoint(plain_names([key])):
            inner = cast("Value", one)
            whole = inner if has_turns(inner, fields) else None
            if whole is None and depth < _DEEPEST:
                whole = _wrapped_dialogue(inner, fields, depth + 1)
            if whole is not None:
                found.append((key, whole))
    if len(found) != 1:
        return None
    [(key, inner)] = found
    return {**{name: one for name, one in value.items() if name != key}, **inner}


def turn_paths(value: Value) -> list[str]:
    """Return the paths to the lists in an entry that may contain the turns of a dialogue.

    >>> turn_paths({"users": [{"name": "Ann"}], "thread": {"events": [{"user": "Ann", "text": "Hi."}]}})
    ['thread.events']

    Args:
        value: An entry that has no turns under a known key.

    Returns:
        The paths of the lists of objects with a text. If there are no such lists, the paths of the lists of
        objects in which a text is nested.
    """
    found = list(_lists_in(value))
    with_text = [path for path, some in found if any(map(_has_text, some))]
    return with_text or [path for path, some in found if any(map(text_path, some))]


def _lists_in(value: Value, before: str = "", depth: int = 1) -> Iterator[tuple[str, list[Value]]]:
    """Find the lists of objects inside a value. Yield the path of each list, and its first objects."""
    for key, one in value.items():
        if isinstance(one, list):
            some = [part for part in islice(cast("list[Any]", one), _SEEN) if isinstance(part, dict)]
            if some:
                yield before + key, [cast("Value", part) for part in some]
        elif isinstance(one, dict) and depth < _DEEPEST:
            yield from _lists_in(cast("Value", one), f"{before}{key}.", depth + 1)


def _has_text(cells: Value) -> bool:
    key = _KNOWN.of(cells).get("text")
    return key is not None and is_content(cells[key])


def text_path(cells: Value, before: str = "", depth: int = 1) -> str:
    """Return the path to a text that is nested in a message.

    >>> text_path({"id": 7, "data": {"content": "Hi.", "type": "x"}})
    'data.content'

    Args:
        cells: A message.
        before: The path to the message.
        depth: The number of keys in this path, plus one.

    Returns:
        The path; empty if no known key inside the message contains a text.
    """
    if before and _has_text(cells):
        return f"{before}{_KNOWN.of(cells)['text']}"
    for key, one in cells.items():
        if isinstance(one, dict) and depth < _DEEPEST:
            if found := text_path(cast("Value", one), f"{before}{key}.", depth + 1):
                return found
        elif isinstance(one, list) and before and _are_parts(cast("list[Any]", one)):
            return f"{before}{key}"
    return ""


def _are_parts(values: list[Any]) -> bool:
    """Return whether a list contains only parts of one text, such as ``{"type": "text", "text": "Hi."}``."""
    return bool(values) and all(
        isinstance(one, dict) and "text" in one and is_part(cast("Value", one)) for one in values
    )
