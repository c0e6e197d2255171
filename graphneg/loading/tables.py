"""Tables of utterances, one a row, gathered to dialogues: the CSV and TSV side of `dialogues`."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.loading.reading import Item, text_lines
from graphneg.model import Rejected
from graphneg.progress import Progress

_REQUIRED = ("dialogue", "turn", "speaker", "text")
_OPTIONAL = ("split", "amr")


@dataclass(slots=True)
class _Gathered:
    """The rows of one dialogue so far, and what is wrong with them."""

    name: str
    place: str
    split: str = ""
    turns: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    fault: str = ""

    def item(self, index: int) -> Item | Rejected:
        if self.fault:
            return Rejected(self.place, f"dialogue {self.name[:60]!r}: {self.fault}")
        value: dict[str, Any] = {"id": self.name, "turns": self.turns}
        return Item(self.place, index, self.name, value | ({"split": self.split} if self.split else {}))


def table_dialogues(path: Path, delimiter: str, progress: Progress) -> Iterator[Item | Rejected]:
    """The dialogues of a table; one with a bad row, or a gap in its turns, is rejected.

    CSV quotes as RFC 4180 does; in TSV a quotation mark is a character like others.

    Raises:
        InputError: the header lacks a column.
    """
    rows = _rows(path, delimiter, progress)
    columns: list[str] | None = None
    current: _Gathered | None = None
    index = 0
    for row in rows:
        if isinstance(row, Rejected):
            yield row
            if current is not None:
                current.fault = current.fault or f"the row at {row.place} can't be read"
            continue
        number, cells = row
        if columns is None:
            columns = _header(path, cells)
            continue
        place = f"{path}:{number}"
        if len(cells) != len(columns):
            yield Rejected(place, f"{len(cells)} cells where the header has {len(columns)}")
            if current is not None:
                current.fault = current.fault or f"the row at {place} has a wrong number of cells"
            continue
        record = dict(zip(columns, cells, strict=True))
        if current is None or current.name != record["dialogue"]:
            if current is not None:
                yield current.item(index)
                index += 1
            current = _Gathered(record["dialogue"], place, record.get("split", "").strip())
        _add(current, record, place)
    if current is not None:
        yield current.item(index)


def _add(dialogue: _Gathered, record: dict[str, str], place: str) -> None:
    expected = str(len(dialogue.turns))
    if not record["dialogue"].strip():
        dialogue.fault = "the column 'dialogue' is empty"
    elif record["turn"].strip() != expected:
        dialogue.fault = (
            dialogue.fault or f"turn {record['turn'][:20]!r} at {place} where {expected} should follow"
        )
    elif record.get("split", "").strip() != dialogue.split:
        dialogue.fault = dialogue.fault or f"another split at {place}"
    turn: dict[str, Any] = {"text": record["text"]}
    if record["speaker"].strip():
        turn["speaker"] = record["speaker"]
    if record.get("amr", "").strip():
        turn["amr"] = record["amr"]
    others = {key: cell for key, cell in record.items() if cell and key not in (*_REQUIRED, *_OPTIONAL)}
    dialogue.turns.append(others | turn)


def _header(path: Path, cells: list[str]) -> list[str]:
    columns = [cell.strip().lower() for cell in cells]
    missing = [name for name in _REQUIRED if name not in columns]
    if missing:
        raise InputError(
            f"{path}:1: the table lacks the columns {', '.join(missing)}; "
            f"its first row is {', '.join(repr(cell[:40]) for cell in cells[:8])}"
        )
    if len(set(columns)) != len(columns):
        raise InputError(f"{path}:1: a column stands twice in the header {', '.join(columns)}")
    return columns


def _rows(path: Path, delimiter: str, progress: Progress) -> Iterator[tuple[int, list[str]] | Rejected]:
    """The rows with the number of their first line; lines that can't be read are rejected."""
    faults: list[Rejected] = []
    skipped = 0

    def lines() -> Iterator[str]:
        nonlocal skipped
        for line in text_lines(path, progress):
            if isinstance(line, Rejected):
                faults.append(line)
                skipped += 1
            else:
                yield line.text + "\n"

    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.reader(lines(), delimiter=delimiter, quoting=quoting, strict=quoting == csv.QUOTE_MINIMAL)
    while True:
        first = reader.line_num + skipped + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            ends = " inside quotation marks" if "end of data" in str(error) else ""
            yield Rejected(f"{path}:{first}", f"not CSV: {error}{ends}")
            continue
        yield from faults
        faults.clear()
        if cells is None:
            return
        if cells:
            yield first, cells
