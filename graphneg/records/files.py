"""Negatives as records: their shape outside Python, JSON Lines, and where they are written.

In: `Negative`s, or the lines of a file. Out: lines and plain dicts with the keys in the documented order, or
`Negative`s; an error names the file and the line, or the negative, and the field.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.records.runs import atomic_file

FIELDS = tuple(field.name for field in fields(Negative))
STANDARD_OUTPUT = "-"
SUFFIXES = (".jsonl", ".parquet")
Record = dict[str, Any]

_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_TurnNumber = Annotated[str, Meta(pattern=r"^(0|[1-9][0-9]{0,8})$")]
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class _Turn(msgspec.Struct, forbid_unknown_fields=True):
    speaker: str
    text: str


class _Original(msgspec.Struct, forbid_unknown_fields=True):
    context: list[_Turn] | None
    response: str | None


class _Edit(msgspec.Struct, forbid_unknown_fields=True):
    turn: _Int64
    transform: str | None
    category: str | None
    node: str | None
    before: str | None
    after: str | None


class _Graphs(msgspec.Struct, forbid_unknown_fields=True):
    before: str | None
    after: str | None


class _Shape(msgspec.Struct, forbid_unknown_fields=True):
    """What a record may hold: no other keys, no other types."""

    id: str
    corpus: str
    split: str
    dialogue: str
    turn: _Int64
    context: list[_Turn]
    response: str
    label: _Int64
    original: _Original
    categories: list[str]
    recipe: str
    target: Literal["response", "dialogue"]
    seed: _Int64
    decoder: str
    edits: list[_Edit]
    amr: dict[_TurnNumber, _Graphs]
    scores: dict[str, float]


def to_record(negative: Negative) -> Record:
    """The negative as plain lists and dicts, keys in the documented order, graphs by turn, scores by name.

    Raises:
        InputError: a value is not of the documented type; the negative and the field are named.
    """
    return _checked({name: getattr(negative, name) for name in FIELDS}, f"negative {negative.id!r}")


def from_record(record: object, place: str = "record") -> Negative:
    """The negative that a record describes. ``place`` is named in errors.

    Sequences become tuples, so that reading back what was written compares equal to a
    negative made of tuples.

    Raises:
        InputError: the record is no negative.
    """
    values = _checked(record, place)
    original = values["original"]
    if original["context"] is not None:
        original["context"] = tuple(original["context"])
    for name in ("context", "categories", "edits"):
        values[name] = tuple(values[name])
    return Negative(**values)


def _checked(values: object, place: str) -> Record:
    try:
        record: Record = msgspec.to_builtins(msgspec.convert(values, _Shape))
    except (msgspec.ValidationError, TypeError) as error:
        reason, _, path = str(error).partition(" - at ")
        field = path.replace("`", "").replace("$.", "")
        raise InputError(f"{place}{f', {field}' if field else ''}: {reason}") from error
    _refuse_unwritable(record, place)
    record["amr"] = {turn: record["amr"][turn] for turn in sorted(record["amr"], key=int)}
    record["scores"] = dict(sorted(record["scores"].items()))
    return record


def _refuse_unwritable(value: Any, place: str) -> None:
    """Refuse what Python holds and no file can: halves of surrogate pairs, NaN and infinity."""
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise InputError(
                f"{place}: half of a surrogate pair, which no file can hold; repair the input's encoding"
            )
    elif isinstance(value, dict):
        for key, item in cast(Record, value).items():
            _refuse_unwritable(key, place)
            _refuse_unwritable(item, f"{place}, {key}")
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value)):
            _refuse_unwritable(item, f"{place}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{place}: {value} is not a number that JSON can hold")


def check_destination(out: str | Path) -> Path | None:
    """The file to write, or None for standard output (``-``).

    It is checked before any work is done, so that no run of an hour ends at a folder that is not there.

    Raises:
        InputError: an unknown suffix, a missing or unwritable folder, a folder in the file's place.
    """
    if str(out) == STANDARD_OUTPUT:
        return None
    path = Path(out)
    if path.suffix not in SUFFIXES:
        found = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
        raise InputError(
            f"{path}: {found} says no format; use {' or '.join(SUFFIXES)}, or - for standard output"
        )
    folder = path.parent
    if not folder.exists():
        raise InputError(f"{path}: the folder {folder} does not exist; make it first")
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is not a folder")
    if path.is_dir():
        raise InputError(f"{path}: a folder is in the file's place; name another file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write in {folder}")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: not a regular file, it can't be replaced; use - for standard output")
    return path


def negative_to_json(negative: Negative) -> str:
    """One line of JSON, keys in the documented order, text unescaped.

    Equal negatives give equal lines.

    Raises:
        InputError: a value has no JSON form.
    """
    return json.dumps(to_record(negative), ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def negative_from_json(line: str, place: str = "record") -> Negative:
    """Read what `negative_to_json` wrote; sequences become tuples.

    ``place`` is named in errors.

    Raises:
        InputError: the line is anything else than a negative.
    """
    try:
        record = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON: {error}") from error
    return from_record(record, place)


def write_jsonl(negatives: Iterable[Negative], out: str | Path) -> int:
    """Write one negative a line to a file, or to standard output (``-``); returns how many.

    A file appears, or is replaced, only when all are written.
    """
    path = check_destination(out)
    if path is None:
        return _print(negatives)
    count = 0
    with atomic_file(path) as unfinished, open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        for negative in negatives:
            file.write(negative_to_json(negative) + "\n")
            count += 1
    return count


def read_jsonl(path: str | Path) -> Iterator[Negative]:
    """The negatives of a file, one by one.

    Raises:
        InputError: one can't be read, with file and line; a last line that was cut off is an error too.
    """
    file_path = Path(path)
    try:
        file = open(file_path, encoding="utf-8", newline="\n")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError(f"{file_path}: can't be read: {error.strerror}") from error
    with file:
        number = 0
        try:
            for number, line in enumerate(file, 1):
                yield negative_from_json(line, f"{file_path}, line {number}")
        except UnicodeDecodeError as error:
            raise InputError(f"{file_path}, after line {number}: not UTF-8: {error.reason}") from error


def _print(negatives: Iterable[Negative]) -> int:
    count = 0
    for negative in negatives:
        sys.stdout.buffer.write(negative_to_json(negative).encode() + b"\n")
        count += 1
    sys.stdout.buffer.flush()
    return count


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
