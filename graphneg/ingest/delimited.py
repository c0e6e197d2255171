"""Read CSV and its relatives: rows of cells with their places, and a reason for each row that is broken.

Python's reader ends at the first fault, and a quotation mark that is never closed swallows all rows up to the
end. `read_rows` gives such a row as one that can't be read and goes on with the line behind its first one:

>>> lines = [("f:1", "a,Hi."), ("f:2", 'a,"Ho.'), ("f:3", "b,Hum.")]
>>> [(row.place, row.cells, row.fault[:7]) for row in read_rows(lines, ",")]
[('f:1', ['a', 'Hi.'], ''), ('f:2', ['a'], 'not CSV'), ('f:3', ['b', 'Hum.'], '')]
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from graphneg.model import Rejected

LONGEST_CELL = csv.field_size_limit()
"""No cell may be longer: 131,072 characters, the limit of Python's own reader."""


class DelimitedRow(NamedTuple):
    """The cells of a row, the place of its first line and the text of that line.

    A row with a ``fault`` has only the ``cells`` that are certain, from the first one on.
    """

    place: str
    text: str
    cells: list[str]
    fault: str = ""


class _BrokenOffError(Exception):
    """A line that can't be read stands inside a row."""


def read_rows(
    lines: Iterable[tuple[str, str] | Rejected], separator: str, *, quoted: bool = True
) -> Iterator[DelimitedRow | Rejected]:
    """Read the rows of a table.

    Args:
        lines: The place and the text of each line, or what can't be read. A lone carriage return ends a line,
            too.
        separator: The character between cells.
        quoted: Whether cells may be quoted as RFC 4180 says; else a quotation mark is like other characters.

    Yields:
        Each row that is not blank, with what can't be read between them.
    """
    pending = deque[tuple[str, str] | Rejected]()
    source = iter(lines)
    taken: list[tuple[str, str]] = []

    refused: list[Rejected] = []

    def feed() -> Iterator[str]:
        while True:
            while pending:
                line = pending.popleft()
                if not isinstance(line, Rejected):
                    taken.append(line)
                    yield line[1]
                elif taken:
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
        quoting = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
        return csv.reader(feed(), delimiter=separator, quoting=quoting, strict=quoted)

    rows = reader()
    while True:
        taken.clear()
        fault = ""
        try:
            cells = next(rows, None)
        except (csv.Error, _BrokenOffError) as error:
            # The lines behind the first one may be rows of their own, which only an open quotation mark hid.
            pending.extendleft(reversed(taken[1:]))
            cells, fault = certain_cells(taken[0][1], separator, quoted=quoted), _reason(error)
            rows = reader()
        yield from refused
        refused.clear()
        if cells is None:
            return
        if cells or fault:
            yield DelimitedRow(*taken[0], cells, fault)


def _lines(place: str, text: str) -> Iterator[tuple[str, str]]:
    """Cut a line at lone carriage returns; each piece keeps its end."""
    text = text if text.endswith(("\n", "\r")) else f"{text}\n"
    if "\r" not in text:
        yield place, text
        return
    yield from ((place, piece) for piece in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)", text))


def _reason(error: Exception) -> str:
    reason = str(error)
    if isinstance(error, _BrokenOffError):
        return reason
    if "field limit" in reason:
        return f"a cell is longer than {LONGEST_CELL:,} characters, or its quotation mark is never closed"
    ends = " inside quotation marks" if "end of data" in reason else ""
    return f"not CSV: {reason}{ends}"


def certain_cells(text: str, separator: str, *, quoted: bool = True) -> list[str]:
    """Return the cells at the beginning of a line that are whole, whatever is wrong behind them.

    >>> certain_cells('7,"Ann, B.",so "odd" it is', ",")
    ['7', 'Ann, B.']

    Args:
        text: The line.
        separator: The character between cells.
        quoted: Whether cells may be quoted.

    Returns:
        Those of its cells behind which a separator follows.
    """
    sign = re.escape(separator)
    cell = rf'(?:"((?:[^"]|"")*+)"|([^"{sign}\r\n]*+)){sign}' if quoted else rf"()([^{sign}\r\n]*+){sign}"
    cells: list[str] = []
    at = 0
    while (match := re.compile(cell).match(text, at)) is not None:
        cells.append(match[1].replace('""', '"') if match[1] else match[2] or "")
        at = match.end()
    return cells
