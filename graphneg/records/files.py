"""Negatives as records: their fields and types, JSON Lines, and where they are written."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.records.runs import atomic_file

# The shape of a negative outside Python: which fields, in which order, of which types.
#
# `to_record` makes plain lists and dicts in the order of the documentation and `from_record`
# checks them. What a record may hold is written here once; a field that no format knows is an
# error, never dropped.


FIELDS = tuple(field.name for field in fields(Negative))
TURN_FIELDS = ("speaker", "text")
ORIGINAL_FIELDS = ("context", "response")
EDIT_FIELDS = ("turn", "transform", "category", "node", "before", "after")
GRAPH_FIELDS = ("before", "after")

_TEXT_FIELDS = ("id", "corpus", "split", "dialogue", "response", "recipe", "target", "decoder")
_NUMBER_FIELDS = ("turn", "label", "seed")
_NUMBER_LIMIT = 2**63
_TURN = re.compile(r"0|[1-9][0-9]{0,8}")
_TARGETS = ("response", "dialogue")

Record = dict[str, Any]


def to_record(negative: Negative) -> Record:
    """The negative as plain lists and dicts, keys in the documented order.

    Raises `InputError` naming the negative where a value is not of the documented type.
    """
    values = {name: getattr(negative, name) for name in FIELDS}
    return _checked(values, f"negative {negative.id!r}")


def from_record(record: object, place: str = "record") -> Negative:
    """The negative that a record describes. ``place`` is named in errors (`InputError`).

    Sequences become tuples, so that reading back what was written compares equal to a
    negative made of tuples.
    """
    if not isinstance(record, Mapping):
        raise InputError(f"{place}: expected an object with the fields of a negative, found {record!r:.60}")
    values = _checked(record, place)
    original = values["original"]
    if original["context"] is not None:
        values["original"] = {**original, "context": tuple(original["context"])}
    for name in ("context", "categories", "edits"):
        values[name] = tuple(values[name])
    return Negative(**values)


def _checked(values: Mapping[str, Any], place: str) -> Record:
    _same_keys(values, FIELDS, place, "negative")
    for name in _TEXT_FIELDS:
        _text(values[name], f"{place}, {name}")
    for name in _NUMBER_FIELDS:
        _number(values[name], f"{place}, {name}")
    if values["target"] not in _TARGETS:
        raise InputError(f"{place}, target: {values['target']!r} is not one of {', '.join(_TARGETS)}")
    record = {name: values[name] for name in FIELDS}
    record["context"] = _turns(values["context"], f"{place}, context")
    record["original"] = _original(values["original"], f"{place}, original")
    record["categories"] = _items(values["categories"], f"{place}, categories", _text)
    record["edits"] = _items(values["edits"], f"{place}, edits", _edit)
    record["amr"] = _graphs(values["amr"], f"{place}, amr")
    record["scores"] = _scores(values["scores"], f"{place}, scores")
    return record


def _same_keys(value: object, names: Sequence[str], place: str, what: str) -> None:
    if not isinstance(value, Mapping):
        raise InputError(f"{place}: expected a {what} with {', '.join(names)}, found {value!r:.60}")
    missing = [name for name in names if name not in value]
    unknown = [str(name) for name in value if name not in names]
    if missing:
        raise InputError(f"{place}: the {what} lacks {', '.join(missing)}")
    if unknown:
        raise InputError(
            f"{place}: the {what} has unknown {', '.join(unknown)}; known are {', '.join(names)}"
        )


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{place}: expected a text, found {value!r:.60}")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(
            f"{place}: half of a surrogate pair, which no file can hold; repair the input's encoding"
        )
    return value


def _text_or_null(value: object, place: str) -> str | None:
    return None if value is None else _text(value, place)


def _number(value: object, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -_NUMBER_LIMIT <= value < _NUMBER_LIMIT:
        raise InputError(f"{place}: expected a whole number of 64 bits, found {value!r:.60}")
    return value


def _items(value: object, place: str, item: Callable[[object, str], Any]) -> list[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise InputError(f"{place}: expected a list, found {value!r:.60}")
    return [item(entry, f"{place}[{position}]") for position, entry in enumerate(value)]


def _turns(value: object, place: str) -> list[Record]:
    return _items(value, place, _turn)


def _turn(value: Any, place: str) -> Record:
    _same_keys(value, TURN_FIELDS, place, "turn")
    return {name: _text(value[name], f"{place}.{name}") for name in TURN_FIELDS}


def _original(value: Any, place: str) -> Record:
    _same_keys(value, ORIGINAL_FIELDS, place, "original")
    context = value["context"]
    return {
        "context": None if context is None else _turns(context, f"{place}.context"),
        "response": _text_or_null(value["response"], f"{place}.response"),
    }


def _edit(value: Any, place: str) -> Record:
    _same_keys(value, EDIT_FIELDS, place, "edit")
    edit: Record = {"turn": _number(value["turn"], f"{place}.turn")}
    for name in EDIT_FIELDS[1:]:
        edit[name] = _text_or_null(value[name], f"{place}.{name}")
    return edit


def _graphs(value: Any, place: str) -> Record:
    """Graphs by turn, in the order of the turns."""
    if not isinstance(value, Mapping):
        raise InputError(f"{place}: expected graphs by turn, found {value!r:.60}")
    for turn in value:
        if not isinstance(turn, str) or not _TURN.fullmatch(turn):
            raise InputError(f'{place}: {turn!r:.60} is not a turn; keys are "0", "1", ...')
    return {turn: _graph_pair(value[turn], f"{place}.{turn}") for turn in sorted(value, key=int)}


def _graph_pair(value: Any, place: str) -> Record:
    _same_keys(value, GRAPH_FIELDS, place, "pair of graphs")
    return {name: _text_or_null(value[name], f"{place}.{name}") for name in GRAPH_FIELDS}


def _scores(value: Any, place: str) -> Record:
    """Scores by name, sorted. NaN and infinity have no JSON form."""
    if not isinstance(value, Mapping):
        raise InputError(f"{place}: expected numbers by name, found {value!r:.60}")
    return {_text(name, place): _score(value[name], f"{place}.{name}") for name in sorted(value)}


def _score(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{place}: expected a number, found {value!r:.60}")
    try:
        number = float(value)
    except OverflowError as error:
        raise InputError(f"{place}: a whole number too large for a score") from error
    if not math.isfinite(number):
        raise InputError(f"{place}: {value} is not a number that JSON can hold")
    return number


# Where negatives are written: a JSONL or Parquet file, or standard output.
#
# A destination is checked before any work is done, so that a run of an hour does not end at
# a folder that is not there.


STANDARD_OUTPUT = "-"
SUFFIXES = (".jsonl", ".parquet")


def check_destination(out: str | Path) -> Path | None:
    """The file to write, or None for standard output (``-``).

    Raises `InputError` for an unknown suffix, a missing or unwritable folder, a folder in
    the file's place.
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


# Negatives as JSON, one a line.


def negative_to_json(negative: Negative) -> str:
    """One line of JSON, keys in the documented order, text unescaped.

    Equal negatives give equal lines. Raises `InputError` where a value has no JSON form.
    """
    return json.dumps(to_record(negative), ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def negative_from_json(line: str, place: str = "record") -> Negative:
    """Read what `negative_to_json` wrote; sequences become tuples.

    ``place`` is named in errors. Raises `InputError` for anything else than a negative.
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

    Raises `InputError` with file and line where one can't be read; a last line that was cut
    off is such an error too.
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
