"""CSV sheets that people fill in with a spreadsheet.

`sheet_text` gives columns and rows as text; `read_sheet` reads a filled sheet back as rows with their
places, ``FILE:LINE``. A spreadsheet evaluates a cell such as ``=HYPERLINK(…)`` as a formula. Such a text is
therefore written with a leading apostrophe, and `read_sheet` removes that apostrophe again:

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

FORMULA = re.compile("'*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]")
"""The start of a formula to a spreadsheet (OWASP, "CSV Injection"), after any number of apostrophes.

Spreadsheets evaluate the full-width signs as well. The apostrophes make escaping reversible: a text that
already starts with ``'=`` gets one more.
"""


def sheet_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a sheet as CSV text.

    Args:
        columns: The names of the columns.
        rows: The cells of each row. Text that a spreadsheet would evaluate is escaped.

    Returns:
        The header and the rows, with the line ends of CSV (CR LF).
    """
    text = io.StringIO(newline="")
    csv.writer(text).writerows([map(_escape, row) for row in (columns, *rows)])
    return text.getvalue()


def _escape(cell: object) -> object:
    """Return a cell that no spreadsheet evaluates; numbers stay numbers."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def _unescape(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def read_sheet(path: Path, columns: Sequence[str], form: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each row with its place, FILE:LINE (the line where it ends).

    Raises `InputError`: the file can't be read or is no CSV, it lacks some of the ``columns`` (``form`` says
    which sheet has which), or a row has another number of cells.
    """
    table = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    missing = [name for name in columns if name not in (table.fieldnames or ())]
    if missing:
        raise InputError(f"{path}:1: no column {', '.join(missing)}; {form}")
    try:
        for row in table:
            where = f"{path}:{table.line_num}"
            if None in row or any(row[name] is None for name in columns):
                raise InputError(f"{where}: another number of cells than the header has")
            yield where, {name: _unescape(cell or "") for name, cell in row.items()}
    except csv.Error as error:
        raise InputError(f"{path}:{table.line_num}: no CSV: {error}") from error
