"""Negatives as JSON, one a line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.output.destination import check_destination, replace
from graphneg.output.record import from_record, to_record


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
    unfinished = path.with_name(path.name + ".tmp")
    count = 0
    with open(unfinished, "w", encoding="utf-8", newline="\n") as file:
        for negative in negatives:
            file.write(negative_to_json(negative) + "\n")
            count += 1
    replace(unfinished, path)
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
