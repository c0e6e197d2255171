"""Write and read CSV sheets that people fill in with a spreadsheet program.

`sheet_text` converts columns and rows into CSV text. `read_sheet` reads a sheet that was filled in, and
returns its rows with their positions, ``FILE:LINE``.

Spreadsheet programs evaluate a cell such as ``=HYPERLINK(…)`` as a formula. Such a text is therefore written
with a leading apostrophe, which `read_sheet` removes:

>>> print(sheet_text(["comment"], [["=1+1"], ["it's"]]).split())
['comment', "'=1+1", "it's"]
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest.content import read_text
from graphneg.ingest.delimited import DelimitedRow, read_rows
from graphneg.model import Rejected

FORMULA = re.compile("'*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]")
"""Matches the start of a spreadsheet formula (OWASP, "CSV Injection"), after any number of apostrophes.

Spreadsheet programs also evaluate full-width signs, such as "＝". Apostrophes are matched to make escaping
reversible: a text that already starts with ``'=`` gets one more apostrophe.
"""


_SEPARATORS = (",", ";", "\t")
"""The characters that spreadsheet programs write between the cells of a CSV file. Where the decimal sign is a
comma, they write semicolons."""


def sheet_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a sheet as CSV text.

    Args:
        columns: The names of the columns.
        rows: The cells of each row. Texts that a spreadsheet program would evaluate are escaped.

    Returns:
        The header and the rows. Lines end with CR LF, as usual in CSV.
    """
    text = io.StringIO(newline="")
    csv.writer(text).writerows([map(_escape, row) for row in (columns, *rows)])
    return text.getvalue()


def _escape(cell: object) -> object:
    """Add an apostrophe to a text that spreadsheet programs would evaluate. Do not change other cells."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def _unescape(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def read_sheet(path: Path, columns: Sequence[str], form: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Read a sheet that people filled in.

    The cells may be separated by commas, semicolons or tabs. Rows without any text are skipped.

    Args:
        path: The CSV file to read.
        columns: The names of the required columns.
        form: A description of the expected columns, for the error message.

    Yields:
        The position of each row's first line, ``FILE:LINE``, and the cells of the row, keyed by column.

    Raises:
        InputError: The file is not valid CSV, lacks a required column, has a column twice, or has a row with
            more or fewer cells than the header.
    """
    header: list[str] = []
    for row in read_rows(_lines(path), _separator(path, columns)):
        # Raise an error for an invalid row instead of skipping it: people edit the sheet and can fix it.
        if isinstance(row, Rejected) or row.fault:
            raise InputError(f"{row.place}: {row.reason if isinstance(row, Rejected) else row.fault}")
        # If cells below the last row were formatted, spreadsheet programs write rows such as ",,,,,".
        if not any(map(str.strip, row.cells)):
            continue
        if not header:
            header = row.cells
            if missing := [name for name in columns if name not in header]:
                raise InputError(f"{row.place}: no column {', '.join(missing)}; {form}")
            if double := next((name for name in header if name and header.count(name) > 1), None):
                raise InputError(f"{row.place}: the column {double[:60]!r} occurs twice in the header")
        elif len(row.cells) != len(header):
            raise InputError(f"{row.place}: {len(row.cells)} cells, but the header has {len(header)}")
        else:
            named = zip(header, row.cells, strict=True)
            yield row.place, {name: _unescape(cell) for name, cell in named}
    if not header:
        raise InputError(f"{path}:1: no column {', '.join(columns)}; {form}")


def _separator(path: Path, columns: Sequence[str]) -> str:
    """Return the character that separates the required columns in the header; a comma if none does."""
    for separator in _SEPARATORS:
        rows = (row for row in read_rows(_lines(path), separator) if isinstance(row, Rejected) or row.cells)
        header = next(rows, None)
        if isinstance(header, DelimitedRow) and not header.fault and set(columns) <= set(header.cells):
            return separator
    return _SEPARATORS[0]


def _lines(path: Path) -> Iterator[tuple[str, str] | Rejected]:
    # With an empty `newline`, line breaks inside cells are not converted.
    for number, line in enumerate(io.StringIO(read_text(path), newline=""), 1):
        place = f"{path}:{number}"
        yield Rejected(place, "a NUL character") if "\0" in line else (place, line)
