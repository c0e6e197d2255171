"""Find the speaker of a message if the column for the speaker is missing or empty.

In some exports from telephones, only a column such as ``is_from_me`` shows that the owner of the telephone
wrote a message. Such columns and their values are listed in ``own_messages.tsv``:

>>> own = {"handle": "Bo", "text": "Hi.", "is_from_me": 1}
>>> with_own_speaker(own, Fields({}), Notices())
{'speaker': 'Me', 'handle': 'Bo', 'text': 'Hi.', 'is_from_me': 1}

If the column for the speaker is empty, another column may name the speaker (``missing_speakers.tsv``):

>>> with_own_speaker({"post_username": "", "poster_id": 42, "post_text": "Hi."}, Fields({}), Notices())
{'speaker': '42', 'post_username': '', 'poster_id': 42, 'post_text': 'Hi.'}
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

from graphneg.english.words import table_rows
from graphneg.ingest.fields import Fields, Value, plain_names
from graphneg.ingest.loader import Notices
from graphneg.ingest.values import is_yes, speaker_name

_YES = "yes"
_ME, _OTHER = "Me", "Other"
"""Names of the owner, and of the other person if no column names them."""


class _Mark(NamedTuple):
    """A row of ``own_messages.tsv``, which shows how exports mark the messages of a telephone's owner.

    Attributes:
        columns: Columns that show whether the owner wrote a message, such as ``is_from_me``.
        own: The values of these columns for messages of the owner.
        other: The values of these columns for messages of the other person.
        partner: Columns that name the other person, even in messages of the owner.
    """

    columns: frozenset[str]
    own: frozenset[str]
    other: frozenset[str]
    partner: frozenset[str]


def with_own_speaker(cells: Value, fields: Fields, notices: Notices) -> Value:
    """Add the speaker to a message if only a column such as ``is_from_me`` shows who wrote it.

    Args:
        cells: A table row, or a turn that is a JSON object.
        fields: Look-up that finds the key for the speaker, and knows whether the user named one.
        notices: Notices to the user, in which the message is counted.

    Returns:
        The message. If the speaker was added, its key ``speaker`` comes first.
    """
    if "speaker" in fields.named_by_user:
        return cells
    speaker = fields.of(cells).get("speaker")
    marks = _marks_of(tuple(cells))
    # Return early for most files: each message names its speaker, and there is no column such as
    # "is_from_me".
    if not marks and (speaker is None or (isinstance(cells[speaker], str) and cells[speaker].strip())):
        return cells
    name = speaker_name(cells[speaker]) if speaker is not None else None
    for mark, key in marks:
        is_partner = speaker is not None and bool(mark.partner & plain_names([speaker]).keys())
        if _is_own(mark, cells[key]):
            found = _ME if name is None or is_partner else ""
        else:
            found = _OTHER if name is None and _is_other(mark, cells[key]) else ""
        if found:
            notices.count("turn", f"with the speaker {found!r}, as {key!r} says")
            return _with_speaker(cells, found)
    return cells if name is not None or speaker is None else _with_other_column(cells, speaker, notices)


def _with_other_column(cells: Value, speaker: str, notices: Notices) -> Value:
    """Add the speaker from another column to a message in which the usual column for the speaker is empty."""
    found = ((key, speaker_name(cells[key])) for key in _others_of(tuple(cells), speaker))
    key, name = next(((key, name) for key, name in found if name is not None), ("", None))
    if name is None:
        return cells
    notices.count("turn", f"with the speaker of {key!r}, because {speaker!r} is empty")
    return _with_speaker(cells, name)


def _with_speaker(cells: Value, name: Any) -> Value:
    return {"speaker": name, **{one: cell for one, cell in cells.items() if one != "speaker"}}


@lru_cache(1000)
def _others_of(keys: tuple[str, ...], speaker: str) -> list[str]:
    """Return the columns that may name the speaker of a message if the usual column ``speaker`` is empty."""
    plain = plain_names(keys)
    own = plain_names([speaker]).keys()
    rows = table_rows("graphneg.ingest", "missing_speakers.tsv")
    names = [name for empty, others in rows if not own.isdisjoint(empty.split()) for name in others.split()]
    return [plain[name] for name in dict.fromkeys(names) if name in plain and plain[name] != speaker]


def _is_own(mark: _Mark, value: Any) -> bool:
    return is_yes(value) if _YES in mark.own else not mark.own.isdisjoint(plain_names([str(value)]))


def _is_other(mark: _Mark, value: Any) -> bool:
    if _YES in mark.own:
        return value is not None and str(value).strip() != "" and not is_yes(value)
    return not mark.other.isdisjoint(plain_names([str(value)]))


@lru_cache(1000)
def _marks_of(keys: tuple[str, ...]) -> list[tuple[_Mark, str]]:
    plain = plain_names(keys)
    return [(mark, plain[name]) for mark in _marks() for name in sorted(mark.columns & plain.keys())]


@cache
def _marks() -> tuple[_Mark, ...]:
    rows = table_rows("graphneg.ingest", "own_messages.tsv")
    return tuple(_Mark(*(frozenset(cell.split()) for cell in (*row, "", "")[:4])) for row in rows)
