"""Separate the dialogues of a JSON document from other data, such as a version or the number of a page.

Documents from APIs and archives contain such data beside the dialogues:

>>> page = {"records": {"total": 1}, "calls": [{"id": 7, "turns": ["Hi."]}]}
>>> beside, call = page["records"], page["calls"][0]
>>> items = [Member("p.json:1", 0, "records", beside), Item("p.json:1", 0, "calls", call)]
>>> options = LoadOptions()
>>> [item.value for item in without_envelope("p.json", iter(items), Fields({}), options)]
[{'id': 7, 'turns': ['Hi.']}]
>>> options.notices.lines()
["p.json: left out the keys 'records', which contain no dialogues"]

A list of messages under a key such as ``messages`` is one dialogue, unless the messages name several
dialogues (see `rows_of_dialogues`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from graphneg.ingest.content import ItemError
from graphneg.ingest.database_rows import database_rows
from graphneg.ingest.exports import is_export
from graphneg.ingest.fields import PAIR_HINT, Fields, has_turns, is_utterance, plain_names
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.nested import inner_dialogues, lift_paths
from graphneg.ingest.reading import Item, Member
from graphneg.ingest.values import id_text
from graphneg.model import Rejected

Value = Mapping[str, Any]
Entries = Iterator[Item | Rejected]

_MOST_HELD = 50
"""Maximum number of objects without turns at the beginning of a document that may surround its dialogues."""
_FEWEST_DIALOGUES = 2
_TOPIC = "topicid"
_FEWEST_IN_TOPIC = 2
"""Minimum average number of messages in the topics of a chat. In Google Chat, each message that answers no
other message has its own topic, so topics with fewer messages are not dialogues."""


def without_envelope(place: str, items: Entries, fields: Fields, options: LoadOptions) -> Entries:
    """Leave out the members of a JSON object that contain no dialogues, and report their keys.

    These are single values, such as a version, and objects beside a list of dialogues.

    Args:
        place: The name of the file, for messages.
        items: The items of the document.
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        options: Options for loading. A notice names the keys that are left out.

    Yields:
        The other items. If there are none, a `Rejected` that names the keys.
    """
    left_out: list[str] = []
    held: list[Member] = []
    others = is_list = False
    for item in items:
        if isinstance(item, Member) and _is_schema(item):
            others = True
        elif isinstance(item, Member) and not isinstance(item.value, dict):
            left_out.append(item.key)
        elif isinstance(item, Member) and len(held) < _MOST_HELD and not _has_dialogues(item.value, fields):
            # Decide later about an object without dialogues. In {"records": {...}, "calls": [...]}, the
            # object "records" is left out. In {"7": {...}, "8": {...}}, each object should be a dialogue, so
            # an object without turns is an error.
            held.append(item)
        else:
            is_list = is_list or (isinstance(item, Item) and not isinstance(item, Member))
            others = True
            yield item
    for item in held:
        # Leave out an object without lists and objects if another key contains dialogues, such as "metadata"
        # in {"metadata": {"duration": 7}, "results": {"utterances": [...]}}.
        if is_list or (others and not any(isinstance(one, list | dict) for one in item.value.values())):
            left_out.append(item.key)
        else:
            others = True
            yield item
    names = ", ".join(repr(name[:40]) for name in left_out[:12])
    if left_out and others:
        options.notices.say(f"{place}: left out the keys {names}, which contain no dialogues")
    elif left_out:
        pair = fields.question_and_answer_columns(left_out)
        hint = f"; {PAIR_HINT.format(*pair)}" if pair is not None else ""
        yield Rejected(f"{place}:1", f"the object has neither turns nor rows; its keys are {names}{hint}")


def _has_dialogues(value: Any, fields: Fields) -> bool:
    lifted = lift_paths(value, fields)
    return (
        database_rows(value) is not None
        or has_turns(lifted, fields)
        or is_utterance(lifted, fields)
        or inner_dialogues(lifted, fields) is not None
    )


def _is_schema(member: Member) -> bool:
    """Return whether a member of a JSON object is the schema that pandas writes with ``orient="table"``."""
    value = member.value
    return member.key == "schema" and isinstance(value, dict) and "pandas_version" in value


def rows_of_dialogues(value: Any, fields: Fields) -> list[Any] | None:
    """Return the messages of a JSON document as rows of a table, if they name several dialogues.

    >>> rows = [{"chat_id": 1, "text": "Hi."}, {"chat_id": 2, "text": "Ho."}]
    >>> rows_of_dialogues({"messages": rows}, Fields({})) == rows
    True
    >>> rows_of_dialogues({"id": 7, "messages": rows}, Fields({})) is None
    True

    Args:
        value: The document.
        fields: Look-up from a field, such as the text, to the key or column that contains it.

    Returns:
        The rows; None if the document is one dialogue, or if the user named its turns.
    """
    cells = cast("Value", value) if isinstance(value, dict) else {}
    # To save time in large files, test first whether the first message of a list names its dialogue.
    lists = (cast("list[Any]", one) for one in cells.values() if isinstance(one, list) and one)
    some = [cast("Value", one[0]) for one in lists if isinstance(one[0], dict)]
    if not any("dialogue" in fields.of(one) for one in some):
        return None
    if is_export(value) or "turns" in fields.named_by_user:
        return None
    key = fields.turns_of(cells)
    # Return None for {"id": 7, "messages": [...]}: it is one dialogue, because the object itself has an id.
    if key is None or key == "turns" or "id" in plain_names(cells) or _dialogue_ids([value], fields):
        return None
    rows: Any = cells[key]
    ids = _dialogue_ids(cast("list[Any]", rows), fields) if isinstance(rows, list) else []
    number = len(set(ids))
    if number < _FEWEST_DIALOGUES or not any(is_utterance(row, fields) for row in cast("list[Any]", rows)):
        return None
    first = fields.of(cast("Value", rows[0])).get("dialogue", "")
    is_topic = _TOPIC in plain_names([first])
    return None if is_topic and len(ids) < number * _FEWEST_IN_TOPIC else rows


def _dialogue_ids(rows: list[Any], fields: Fields) -> list[str]:
    """Return the dialogue id that each row contains; an empty list if a row contains none."""
    ids: list[str] = []
    for row in rows:
        cells = cast("Value", row) if isinstance(row, dict) else {}
        key = fields.of(cells).get("dialogue")
        try:
            id = id_text(cells[key]) if key is not None else None
        except ItemError:
            id = None
        if id is None:
            return []
        ids.append(id)
    return ids
