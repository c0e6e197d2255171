"""Sheets: tables that people fill, as CSV files that any spreadsheet opens.

Columns and rows go in, a file comes out; a filled file comes back as rows with their places, ``FILE:LINE``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest.content import read_text
from graphneg.records.runs import check_new, write_atomically


def write_sheet(
    path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]], *, overwrite: bool = False
) -> None:
    """Write a sheet.

    Raises `InputError`: there is such a file already, or it can't be written.
    """
    check_new(path, overwrite)
    write_atomically(path, sheet_text(columns, rows))


def sheet_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A sheet as text, with the ends of lines that CSV has."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows([columns, *rows])
    return text.getvalue()


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
            yield where, row
    except csv.Error as error:
        raise InputError(f"{path}:{table.line_num}: no CSV: {error}") from error
