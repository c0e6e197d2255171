"""Find system prompts and tool messages by a column with the kind of the author, beside the author's name.

In exports of help desks with assistants, a prompt and a call of a tool have the name of the assistant. Only
another column, such as ``author_type``, shows that nobody said them. The columns and their values are listed
in ``author_kinds.tsv``:

>>> kinds = [("user", "Ann"), ("tool", "Fin"), ("bot", "Fin")]
>>> rows = [{"author_type": kind, "author_name": name, "text": "..."} for kind, name in kinds]
>>> unspoken_kinds(rows, Fields({}))
['', 'tool message', '']
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import takewhile
from typing import Any, NamedTuple, cast

from graphneg.english.words import table_rows
from graphneg.ingest.fields import Fields, Value, plain_names
from graphneg.ingest.turns import PROMPT

_PERSON_KINDS = ("type", "role", "kind")
"""Keys of an object that describes the author: ``{"author": {"type": "bot", "name": "Fin"}}``."""


class _Mark(NamedTuple):
    """A row of ``author_kinds.tsv``: a kind of message, and the columns and values that mark it."""

    kind: str
    columns: frozenset[str]
    values: frozenset[str]


def unspoken_kinds(messages: Sequence[Value], fields: Fields) -> list[str]:
    """Return which messages of a dialogue are prompts or tool messages, judging by their authors' kinds.

    Args:
        messages: The messages of the dialogue, in order, as table rows or JSON objects.
        fields: Look-up that finds the key of the speaker, which is not a kind of author beside a name.

    Returns:
        For each message, ``system message`` or ``tool message``; empty for a message that somebody said.
    """
    found = [_kind_of(cells, fields) for cells in messages]
    if PROMPT not in (kind for kind, _ in found):
        return [kind for kind, _ in found]
    # "role: system" may be a dialogue system, and thus a participant: "user: A table for two. / system: For
    # what time?" This is assumed if there is at most one other kind of author, and "system" speaks after it.
    others = {written for kind, written in found if not kind and written}
    opening = len(list(takewhile(lambda one: one[0] or not one[1], found)))
    speaks_later = any(kind == PROMPT for kind, _ in found[opening:])
    is_participant = len(others) <= 1 and speaks_later
    return ["" if is_participant and kind == PROMPT else kind for kind, _ in found]


def _kind_of(cells: Value, fields: Fields) -> tuple[str, str]:
    """Return the kind of a message that nobody said, or an empty text, and the author's kind as written."""
    speaker = fields.of(cells).get("speaker")
    person: Any = cells.get(speaker) if speaker is not None else None
    if isinstance(person, dict):
        inner = cast("Value", person)
        cells = {**cells, **{f"{speaker} {key}": inner[key] for key in _PERSON_KINDS if key in inner}}
    written = ""
    # If the user named a column for another field, or if the kind is the speaker, the column does not mark
    # messages: `graphneg.ingest.turns` decides about speakers with such names.
    used = {speaker, *fields.named_by_user.values()}
    for mark, key in _columns(tuple(cells)):
        if key in used or not isinstance(cells[key], str):
            continue
        [plain] = plain_names([cells[key]]) or [""]
        if plain in mark.values:
            return mark.kind, plain
        written = written or plain
    return "", written


@lru_cache(1000)
def _columns(keys: tuple[str, ...]) -> list[tuple[_Mark, str]]:
    plain = plain_names(keys)
    return [(mark, plain[name]) for mark in _marks() for name in sorted(mark.columns & plain.keys())]


@cache
def _marks() -> tuple[_Mark, ...]:
    rows = table_rows("graphneg.ingest", "author_kinds.tsv")
    return tuple(_Mark(kind, *(frozenset(cell.split()) for cell in cells)) for kind, *cells in rows)
