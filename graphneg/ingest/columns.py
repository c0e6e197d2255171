"""Check that a table has the required columns, and suggest columns for the missing ones.

>>> try:
...     require_columns("chats.csv:1", ["roomId", "said_by", "text"], Fields({}))
... except InputError as error:
...     print(str(error).partition(";")[0])
chats.csv:1: the table lacks the columns dialogue
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphneg.errors import InputError
from graphneg.ingest.fields import Fields, Value, is_threaded, listed
from graphneg.ingest.id_scopes import scoped_columns
from graphneg.ingest.times import parse_time, possible_orders

_DATED = re.compile(r"[0-9][-/.:][0-9]")
# Matches the names of columns with ids: "roomId", "group_id", "call_sid", "TalkerId".
_ID = re.compile(
    r"(?:[a-z]I|(?:^|[_ ])i)d$|[a-z]ID$|_ID$|(?:^|[_ ])(?:sid|key|uuid|hash|number|no)$|[a-z]Sid$"
)
_LONGEST_TIME = 60
"""Maximum number of characters of a time."""
# Matches the names of columns with the id of a person or a message: "AuthorID", "msg_id". Such an id
# identifies no dialogue.
_PERSON_ID = re.compile(
    r"(?i)user|person|sender|author|agent|speaker|member|owner|message|msg|post|comment|local|(?:^|_)[ug]?uid$"
)


def require_columns(place: str, columns: Sequence[str], fields: Fields, rows: Sequence[Value] = ()) -> None:
    """Check that the rows of a table have a text and show to which dialogue they belong.

    A dialogue column is not required in two cases: each row names the row that it answers, or the user said
    that all rows are one dialogue.

    Args:
        place: The position of the header, for the message.
        columns: The names of the columns.
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        rows: The first rows, keyed by column, from which columns are suggested for a missing field.

    Raises:
        InputError: A required column is missing, a column that the user named is missing, or a column occurs
            twice.
    """
    require_named_columns(place, columns, fields)
    shown = _shown(columns)
    found = fields.of(columns)
    needed = ["text"] if is_threaded(found, fields) else ["dialogue", "text"]
    missing = [field for field in needed if fields.named_by_user.get(field) != "" and field not in found]
    if missing:
        # A file with a single dialogue needs no dialogue column. Suggest the option --map dialogue= for it.
        alone = "; if all rows are one dialogue, use --map dialogue=" if missing == ["dialogue"] else ""
        if "text" in missing and (pair := fields.question_and_answer_columns(columns)) is not None:
            raise InputError(
                f"{place}: the table lacks the column text; its columns {pair[0]!r} and {pair[1]!r} look "
                "like two messages in one row: write one row for each message, with a column for the speaker"
            )
        if "text" in missing and (series := fields.numbered_turn_columns(columns)):
            raise InputError(
                f"{place}: the table lacks the column text; its columns {series[0]!r} to {series[-1]!r} look "
                "like the turns of a dialogue: write one row for each turn, with a column for the dialogue"
            )
        # If a name in the header is a date such as "14/11/2025", the table has no header: its first row is a
        # message.
        dates = (column for column in columns if _DATED.search(column))
        if any(parse_time(date) is not None or possible_orders(date) for date in dates):
            raise InputError(
                f"{place}: the first row looks like a message and not like the names of columns: {shown}; "
                "put a line with names such as dialogue,time,speaker,text above it"
            )
        named = " and ".join(
            f"--map {field}={_candidates(field, columns, fields, rows)}" for field in missing
        )
        raise InputError(
            f"{place}: the table lacks the columns {', '.join(missing)}; its first row is {shown}; name the "
            f"column with {named}{alone}"
        )


def _candidates(field: str, columns: Sequence[str], fields: Fields, rows: Sequence[Value]) -> str:
    """Return columns that the user could name for a missing field with ``--map``; ``NAME`` if none fits.

    >>> columns = ["roomId", "said_by", "remark"]
    >>> _candidates("dialogue", columns, Fields({}), [])
    'roomId'
    >>> cells = {"roomId": "7", "said_by": "Ann Lee", "remark": "Is it late?"}
    >>> _candidates("text", columns, Fields({}), [cells])
    'remark'
    """
    unused = fields.unused(columns)
    if field == "dialogue":
        own = set(fields.of(columns).values())
        speaker = fields.of(columns).get("speaker", "")
        shown = [
            key
            for key in unused
            if key not in own
            and _ID.search(key)
            # Skip columns such as "AuthorID", which contain the id of a person.
            and not _PERSON_ID.search(key)
            # Skip "memberNo" if each "Author" has a single, different number: it is the id of a person.
            and not _are_paired(key, speaker, rows)
        ]
        shown += [key for key in scoped_columns(unused) if key not in own and key not in shown]
        return " or ".join([*shown[:1], *(f"--map dialogue={key}" for key in shown[1:3])]) or "NAME"
    lengths = {key: sum(map(_letters, {str(row.get(key) or "") for row in rows})) for key in unused}
    best = max(unused, key=lambda key: lengths[key], default="")
    return best if lengths.get(best) else "NAME"


def _are_paired(key: str, speaker: str, rows: Sequence[Value]) -> bool:
    """Return whether each speaker has exactly one value in a column, which no other speaker has."""
    pairs = {(str(row.get(key)), str(row.get(speaker))) for row in rows if row.get(key) and row.get(speaker)}
    return 1 < len(pairs) == len({value for value, _ in pairs}) == len({name for _, name in pairs})


def _letters(cell: str) -> int:
    """Return the number of letters in a cell that may be a text; 0 for times, ids, addresses and numbers.

    >>> [_letters(cell) for cell in ("Is it late?", "2025-11-14 09:00", "c00f-7be1", "遅いですか?")]
    [8, 0, 0, 5]
    """
    text = cell.strip()
    # Return 0 for a time, even if it has letters: "Fri, 14 Nov 2025 09:00".
    if len(text) <= _LONGEST_TIME and (parse_time(text) is not None or possible_orders(text)):
        return 0
    # Return 0 for ids and addresses: "c00f-7be1", "ann@example.org", "https://example.org".
    if text.isascii() and len(text.split()) == 1 and re.search(r"[\d@/_]", text):
        return 0
    return sum(sign.isalpha() for sign in text)


def require_named_columns(place: str, columns: Sequence[str], fields: Fields) -> None:
    """Check that a header has all columns that the user named, and that no column occurs twice.

    Args:
        place: The position of the header, for the message.
        columns: The names of the columns.
        fields: Look-up with the columns that the user named, as in ``--map text=body``.

    Raises:
        InputError: A column that the user named is missing, or a column occurs twice.
    """
    shown = _shown(columns)
    for field, key in fields.named_by_user.items():
        if key and key not in columns:
            raise InputError(
                f"{place}: --map {field}={key}: there is no such key or column; available: {shown}"
            )
    # Refuse columns that differ only in case, because users cannot tell which one is used.
    named = [column.casefold() for column in columns if column]
    if len(set(named)) != len(named):
        twice = next(column for column in columns if column and named.count(column.casefold()) > 1)
        raise InputError(
            f"{place}: a column occurs twice in the header {shown}; if each column {twice!r} is a message, "
            "write one row for each message, else rename one of them"
        )


def _shown(columns: Sequence[str]) -> str:
    return listed(repr(column[:40]) for column in columns[:12])
