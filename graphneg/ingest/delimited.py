"""Read CSV and similar tables, with the position of each row, and continue after invalid rows.

Python's CSV reader stops at the first error. If a quotation mark is never closed, it reads the rest of the
file as one cell. `read_rows` instead reports the invalid row and continues with the next line:

>>> lines = [("f:1", "a,Hi."), ("f:2", 'a,"Ho.'), ("f:3", "b,Hum.")]
>>> [(row.place, row.cells, row.fault[:7]) for row in read_rows(lines, ",")]
[('f:1', ['a', 'Hi.'], ''), ('f:2', ['a'], 'not CSV'), ('f:3', ['b', 'Hum.'], '')]
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from graphneg.model import Rejected

LONGEST_CELL = csv.field_size_limit()
"""Maximum length of a cell in characters: 131,072, the limit of Python's CSV reader."""
_LONGEST_ROW = 1 << 24
"""Maximum length of a row with a cell that is too long. In a longer row, a quotation mark is never closed."""


class DelimitedRow(NamedTuple):
    """A row of a table.

    Attributes:
        place: The position of the row's first line.
        text: The text of the row's first line.
        cells: The cells. An invalid row has only its first cells, up to the first cell that may be wrong. A
            row with a cell that is too long has all cells, and this cell is empty.
        fault: Why the row is invalid; empty for a valid row.
    """

    place: str
    text: str
    cells: list[str]
    fault: str = ""


class _BrokenOffError(Exception):
    """Signal that a row is incomplete, because one of its lines cannot be read."""


def read_rows(
    lines: Iterable[tuple[str, str] | Rejected], separator: str, *, quoted: bool = True
) -> Iterator[DelimitedRow | Rejected]:
    """Read the rows of a table.

    Args:
        lines: The position and text of each line, or a `Rejected` for a line that could not be read. A
            carriage return without a line feed also ends a line.
        separator: The character between cells, such as a comma.
        quoted: Whether cells may be quoted as in RFC 4180. Otherwise a quotation mark is an ordinary
            character.

    Yields:
        Each row that is not blank, and the `Rejected` for each line that could not be read, in the order of
        the lines.
    """
    pending = deque[tuple[str, str] | Rejected]()
    source = iter(lines)
    # The lines of the current row. There can be several, because a quoted cell may contain line breaks.
    taken: list[tuple[str, str]] = []

    # The unreadable lines that follow the previous row. They are yielded before the next row.
    refused: list[Rejected] = []

    def feed() -> Iterator[str]:
        while True:
            while pending:
                line = pending.popleft()
                if not isinstance(line, Rejected):
                    taken.append(line)
                    yield line[1]
                elif taken:
                    # An unreadable line inside a row makes the row incomplete. Put the line back, so that the
                    # row is reported before the line.
                    pending.appendleft(line)
                    raise _BrokenOffError(f"the line at {line.place} can't be read")
                else:
                    refused.append(line)
            if (following := next(source, None)) is None:
                return
            if isinstance(following, Rejected):
                pending.append(following)
            else:
                pending.extend(_lines(*following))

    def reader() -> Iterator[list[str]]:
        # With `strict`, the reader raises an error for text after a closing quotation mark.
        quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        return csv.reader(feed(), delimiter=separator, quoting=quoting, strict=quoted)

    def long_row() -> list[str] | None:
        """Read the rest of a row in which a cell is too long; None if it is unclear where the row ends."""
        size, marks = sum(len(text) for _, text in taken), sum(text.count('"') for _, text in taken)
        with suppress(_BrokenOffError):
            # Read up to the end of the quoted cell: the line after which the number of quotation marks is
            # even.
            for text in feed() if marks % 2 else ():
                size, marks = size + len(text), marks + text.count('"')
                if marks % 2 == 0 or size > _LONGEST_ROW:
                    break
        found = _long_cells([text for _, text in taken], separator) if marks % 2 == 0 else None
        # If the row has more or fewer cells than the row above, a stray quotation mark may have joined or
        # split cells.
        return found if found is not None and len(found) == width else None

    rows = reader()
    width = 0
    while True:
        taken.clear()
        fault = ""
        try:
            cells = next(rows, None)
        except (csv.Error, _BrokenOffError) as error:
            fault = _reason(error)
            cells = long_row() if quoted and _is_too_long(error) else None
            if cells is not None:
                fault = f"a cell is longer than {LONGEST_CELL:,} characters"
            else:
                # The reader may have read up to the end of the file, looking for a closing quotation mark.
                # The lines after the first one may be valid rows, so read them again.
                pending.extendleft(reversed(taken[1:]))
                cells = certain_cells(taken[0][1], separator, quoted=quoted)
            rows = reader()
        yield from refused
        refused.clear()
        if cells is None:
            return
        width = width or len(cells)
        if cells or fault:
            yield DelimitedRow(*taken[0], cells, fault)


def _lines(place: str, text: str) -> Iterator[tuple[str, str]]:
    """Split a line at carriage returns that no line feed follows. Each part keeps its line end."""
    text = text if text.endswith(("\n", "\r")) else f"{text}\n"
    if "\r" not in text:
        yield place, text
        return
    yield from ((place, piece) for piece in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)", text))


def _reason(error: Exception) -> str:
    reason = str(error)
    if isinstance(error, _BrokenOffError):
        return reason
    if _is_too_long(error):
        return f"a cell is longer than {LONGEST_CELL:,} characters, or its quotation mark is never closed"
    ends = " inside quotation marks" if "end of data" in reason else ""
    return f"not CSV: {reason}{ends}"


def _is_too_long(error: Exception) -> bool:
    return "field limit" in str(error)


def _long_cells(lines: list[str], separator: str) -> list[str] | None:
    """Return the cells of a row, with each overlong cell replaced by an empty text; None if invalid."""
    limit = csv.field_size_limit(sum(map(len, lines)) + 1)
    try:
        rows = list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error:
        return None
    finally:
        csv.field_size_limit(limit)
    return [cell if len(cell) <= LONGEST_CELL else "" for cell in rows[0]] if len(rows) == 1 else None


def certain_cells(text: str, separator: str, *, quoted: bool = True) -> list[str]:
    """Return the first cells of an invalid line, up to the point where it becomes invalid.

    >>> certain_cells('7,"Ann, B.",so "odd" it is', ",")
    ['7', 'Ann, B.']

    Args:
        text: The text of the line.
        separator: The character between cells, such as a comma.
        quoted: Whether cells may be quoted.

    Returns:
        The cells from the start of the line that are followed by a separator.
    """
    sign = re.escape(separator)
    # The quantifiers "*+" never backtrack. With "*", the time for a long line without a closing quotation
    # mark could be more than linear.
    cell = rf'(?:"((?:[^"]|"")*+)"|([^"{sign}\r\n]*+)){sign}' if quoted else rf"()([^{sign}\r\n]*+){sign}"
    cells: list[str] = []
    at = 0
    while (match := re.compile(cell).match(text, at)) is not None:
        cells.append(match[1].replace('""', '"') if match[1] else match[2] or "")
        at = match.end()
    return cells
