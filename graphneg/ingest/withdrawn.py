"""Find messages that are no part of a conversation: drafts, deleted messages, hidden messages.

Exports of forums and help desks keep such messages and mark them in a column. The columns and their values
are listed in ``withdrawn.tsv``:

>>> rows = [{"text": "Hi.", "deleted": "true"}, {"text": "Ho.", "state": "draft"}, {"text": "Hello."}]
>>> [withdrawal_reason(row, Fields({})) for row in rows]
['deleted message', 'draft', '']
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

from graphneg.english.words import table_rows
from graphneg.ingest.fields import Fields, Value, note_words, plain_names, words_of
from graphneg.ingest.values import is_yes, message_text, unwrap_extended_json

_YES, _TIME = "yes", "time"
"""Words in ``withdrawn.tsv`` that each represent several values: any yes, and any time."""


class _Mark(NamedTuple):
    """A row of ``withdrawn.tsv``: a kind of message, and the columns and values by which exports mark it."""

    kind: str
    columns: frozenset[str]
    values: frozenset[str]
    beside: frozenset[str]


def withdrawal_reason(cells: Value, fields: Fields) -> str:
    """Return why a message is not part of the conversation.

    Args:
        cells: A table row, or a turn that is a JSON object.
        fields: Look-up with the columns that the user named, as in ``--map text=draft``. A column that the
            user named for a field does not mark messages.

    Returns:
        The kind of the message, such as ``draft``; empty for a message of the conversation.
    """
    named = fields.named_by_user.values()
    found = (
        mark for mark, key in _columns(tuple(cells)) if key not in named and _is_marked(mark, cells[key])
    )
    return next((mark.kind for mark in found), "")


def _is_marked(mark: _Mark, value: Any) -> bool:
    value = unwrap_extended_json(value)
    # If the value is a list of parts of a message, join the texts of the parts:
    # [{"type": "text", "text": "[Request interrupted by user]"}]
    value = message_text(value) if isinstance(value, list) else value
    words = words_of(str(value)) if isinstance(value, str | bool | int | float) else frozenset[str]()
    if _YES in mark.values:
        return is_yes(value) or (len(words) == 1 and words <= note_words("yes"))
    if _TIME in mark.values:
        return bool(words) and not words <= note_words("no") | {"null", "none", "nan"}
    # `withdrawn.tsv` contains values such as "systemEventMessage" in lower case without separators, so
    # convert the cell into the same form.
    # If a column has gaps, pandas writes its integers as "2.0".
    written = str(value).strip().removesuffix(".0")
    return bool(words) and not mark.values.isdisjoint((written, *plain_names([written])))


@lru_cache(1000)
def _columns(keys: tuple[str, ...]) -> list[tuple[_Mark, str]]:
    """Return the columns of a table that may mark messages as withdrawn, such as a column "deleted"."""
    plain = plain_names(keys)
    return [
        (mark, plain[name])
        for mark in _marks()
        if mark.beside <= plain.keys()
        for name in sorted(mark.columns & plain.keys())
    ]


@cache
def _marks() -> tuple[_Mark, ...]:
    rows = table_rows("graphneg.ingest", "withdrawn.tsv")
    return tuple(_Mark(kind, *(frozenset(cell.split()) for cell in cells)) for kind, *cells in rows)
