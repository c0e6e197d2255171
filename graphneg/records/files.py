"""Negatives as records: their shape outside Python, in JSON Lines, Parquet, pandas and Hugging Face datasets.

In: `Negative`s, or a file of them. Out: a file, a table or plain dicts with the keys in the documented order,
or `Negative`s; an error names the file and the line, or the negative, and the field.

Parquet has no objects with free keys, so two fields become lists of structs there and in datasets: ``amr`` is
``[{turn, before, after}]`` in the order of turns, ``scores`` is ``[{name, value}]`` by name. `read_parquet`
turns them back. pandas, pyarrow and datasets are imported by the functions that need them.
"""

from __future__ import annotations

import atexit
import math
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal, cast

import msgspec
from msgspec import Meta

from graphneg.errors import GraphnegError, InputError, first_line
from graphneg.json_input import json_line, numbered_lines, open_input, parse_json
from graphneg.model import Negative
from graphneg.records.runs import atomic_file, check_output, check_replaceable

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

FIELDS = tuple(field.name for field in fields(Negative))
STANDARD_OUTPUT = "-"
SUFFIXES = (".jsonl", ".parquet")
ROWS_PER_GROUP = 2_000
Record = dict[str, Any]
# pyarrow's own errors are classes of these.
_NO_PARQUET = (OSError, ValueError, TypeError, KeyError, NotImplementedError, IndexError, MemoryError)

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


class _Shape(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What a record may hold: no other keys, no other types. Older ones do not say who speaks."""

    id: str
    corpus: str
    split: str
    dialogue: str
    turn: _Int64
    context: list[_Turn]
    response: str
    speaker: str = ""
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

    Raises `InputError`, with the negative and the field, where a value is not of the documented type.
    """
    return _checked({name: getattr(negative, name) for name in FIELDS}, f"negative {negative.id!r}")


def from_record(record: object, where: str = "record") -> Negative:
    """The negative that a record describes. ``where`` is named in errors.

    Sequences become tuples, so that reading back what was written compares equal to a
    negative made of tuples. Raises `InputError` where the record is no negative.
    """
    values = _checked(record, where)
    if values["original"]["context"] is not None:
        values["original"]["context"] = tuple(values["original"]["context"])
    for name in ("context", "categories", "edits"):
        values[name] = tuple(values[name])
    return Negative(**values)


def _checked(values: object, where: str) -> Record:
    try:
        record: Record = msgspec.to_builtins(msgspec.convert(values, _Shape))
    except (msgspec.ValidationError, TypeError) as error:
        reason, _, path = str(error).partition(" - at ")
        field = path.replace("`", "").replace("$.", "")
        raise InputError(f"{where}{f', {field}' if field else ''}: {reason}") from error
    _refuse_unwritable(record, where)
    record["amr"] = {turn: record["amr"][turn] for turn in sorted(record["amr"], key=int)}
    record["scores"] = dict(sorted(record["scores"].items()))
    return record


def _refuse_unwritable(value: Any, where: str) -> None:
    """Refuse what Python holds and no file can: halves of surrogate pairs, NaN and infinity."""
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise InputError(
                f"{where}: half of a surrogate pair, which no file can hold; repair the input's encoding"
            )
    elif isinstance(value, dict):
        for key, item in cast(Record, value).items():
            _refuse_unwritable(key, where)
            _refuse_unwritable(item, f"{where}, {key}")
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[Any]", value)):
            _refuse_unwritable(item, f"{where}[{number}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where}: {value} is not a number that JSON can hold")


def check_destination(out: str | Path, overwrite: bool = True) -> Path | None:
    """The file to write, or None for standard output (``-``).

    Raises `InputError`: as `graphneg.records.runs.check_output`, and where no run wrote a file that is there
    and is not to be overwritten.
    """
    if str(out) == STANDARD_OUTPUT:
        return None
    path = check_output(out, SUFFIXES, ", or - for standard output")
    check_replaceable(path, overwrite)
    return path


def negative_to_json(negative: Negative) -> str:
    """Return one line of JSON, keys in the documented order, text unescaped but for ends of lines.

    Equal negatives give equal lines.

    Raises `InputError`: a value has no JSON form.
    """
    return json_line(to_record(negative), allow_nan=False, separators=(", ", ": "))


def negative_from_json(line: str | bytes, where: str = "record") -> Negative:
    """Read what `negative_to_json` wrote; sequences become tuples.

    ``where`` is named in errors.

    Raises `InputError`: the line is anything else than a negative.
    """
    return from_record(parse_json(line, where), where)


def write_jsonl(negatives: Iterable[Negative], out: str | Path) -> int:
    """Write one negative a line to a file, or to standard output (``-``); returns how many.

    A file appears, or is replaced, only when all are written.
    """

    path = check_destination(out)
    if path is None:
        return write_lines(negatives, sys.stdout.buffer)
    with atomic_file(path) as unfinished, open(unfinished, "wb") as file:
        return write_lines(negatives, file)


def write_lines(negatives: Iterable[Negative], file: BinaryIO) -> int:
    """Write one negative a line to an open file; returns how many."""
    count = 0
    for negative in negatives:
        file.write(negative_to_json(negative).encode() + b"\n")
        count += 1
    file.flush()
    return count


def read_jsonl(path: str | Path) -> Iterator[Negative]:
    """The negatives of a file, one by one.

    Raises `InputError`: one can't be read, with file and line; a last line that was cut off is an error too.
    """
    with open_input(path) as file:
        for number, line in numbered_lines(file, path):
            yield negative_from_json(line, f"{path}, line {number}")


def schema() -> Any:
    """The columns and their types (a ``pyarrow.Schema``), in the order of the JSON form's keys."""
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    turns = pa.list_(pa.struct({"speaker": text, "text": text}))
    edit = {"turn": number, "transform": text, "category": text, "node": text, "before": text, "after": text}
    types: dict[str, Any] = {
        "turn": number,
        "context": turns,
        "label": pa.int8(),
        "original": pa.struct({"context": turns, "response": text}),
        "categories": pa.list_(text),
        "seed": number,
        "edits": pa.list_(pa.struct(edit)),
        "amr": pa.list_(pa.struct({"turn": number, "before": text, "after": text})),
        "scores": pa.list_(pa.struct({"name": text, "value": pa.float64()})),
    }
    return pa.schema([(name, types.get(name, text)) for name in FIELDS])


def write_parquet(negatives: Iterable[Negative], out: str | Path) -> int:
    """Write negatives to a Parquet file; returns how many.

    At most `ROWS_PER_GROUP` of them are held in memory. The file appears, or is replaced,
    only when all are written. Raises `InputError` for a destination that can't be written.
    """
    path = check_destination(out)
    if path is None:
        raise InputError(f"{STANDARD_OUTPUT}: Parquet can't be written to standard output; name a file")
    with atomic_file(path) as unfinished:
        return write_rows(negatives, unfinished)


def write_rows(negatives: Iterable[Negative], path: Path) -> int:
    """Write straight to ``path``, whatever its name. The same negatives give the same bytes."""
    import pyarrow.parquet as pq

    count = 0
    with pq.ParquetWriter(path, schema(), compression="zstd") as writer:
        for batch in row_batches(negatives):
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def row_batches(negatives: Iterable[Negative]) -> Iterator[Any]:
    """Negatives as ``pyarrow.RecordBatch``es of at most `ROWS_PER_GROUP` rows."""
    import pyarrow as pa

    columns = schema()
    remaining = iter(negatives)
    while rows := [to_row(negative) for negative in islice(remaining, ROWS_PER_GROUP)]:
        yield pa.RecordBatch.from_pylist(rows, schema=columns)


def read_parquet(path: str | Path) -> Iterator[Negative]:
    """The negatives of a file, one row group in memory at a time.

    Raises `InputError` where the file is not Parquet or a row is no negative.
    """
    import pyarrow.parquet as pq

    with open_input(path, pipes=False) as stored:
        try:
            file = pq.ParquetFile(stored)
            batches = file.iter_batches(ROWS_PER_GROUP)
        except _NO_PARQUET as error:
            raise InputError(f"{path}: can't be read as Parquet: {first_line(error)}") from error
        number = 0
        while True:
            try:
                if (batch := next(batches, None)) is None:
                    return
                rows = batch.to_pylist()
            # Damage shows as whatever a decoder meets first: a page, a count, a text that is not UTF-8.
            except _NO_PARQUET as error:
                raise InputError(f"{path}, after row {number}: damaged: {first_line(error)}") from error
            for row in rows:
                number += 1
                yield from_row(row, f"{path}, row {number}")


def read_negatives(*paths: str | Path) -> Iterator[Negative]:
    """The negatives of files (.jsonl, .parquet), one by one.

    Raises `InputError` with file and line or row where one can't be read.
    """
    for path in paths:
        yield from (negative for _, negative in read_located(path))


def read_located(path: str | Path) -> Iterator[tuple[str, Negative]]:
    """The negatives of a file, each behind its address, ``negatives.jsonl, line 3``.

    Raises `InputError` as `read_negatives` does.
    """
    read, unit = (read_parquet, "row") if Path(path).suffix == ".parquet" else (read_jsonl, "line")
    for number, negative in enumerate(read(path), 1):
        yield f"{path}, {unit} {number}", negative


def to_row(negative: Negative) -> Record:
    """The record with its free keys as lists."""
    row = to_record(negative)
    row["amr"] = [{"turn": int(turn), **graphs} for turn, graphs in row["amr"].items()]
    row["scores"] = [{"name": name, "value": value} for name, value in row["scores"].items()]
    return row


def from_row(row: Mapping[str, Any], where: str = "row") -> Negative:
    """The negative of one row, of Parquet or of a Hugging Face dataset."""
    graphs, scores = row.get("amr"), row.get("scores")
    if not isinstance(graphs, list) or not isinstance(scores, list):
        raise InputError(
            f"{where}: the columns amr and scores are not lists, as in files that graphneg writes"
        )
    try:
        amr = {str(item["turn"]): {"before": item["before"], "after": item["after"]} for item in graphs}
        named = {item["name"]: item["value"] for item in scores}
    except (TypeError, KeyError) as error:
        raise InputError(f"{where}: amr or scores are not lists of what graphneg writes") from error
    return from_record({**row, "amr": amr, "scores": named}, where)


def to_pandas(negatives: Iterable[Negative]) -> pd.DataFrame:
    """One row a negative, one column a field; lists and dicts as in the JSON form."""
    import pandas as pd

    table = pd.DataFrame.from_records([to_record(negative) for negative in negatives], columns=list(FIELDS))
    return table.astype({"turn": "int64", "label": "int64", "seed": "int64"})


def to_dataset(negatives: Iterable[Negative], folder: str | Path | None = None) -> Dataset:
    """A Hugging Face ``Dataset`` with typed features, those of the Parquet columns.

    The negatives are streamed to an Arrow file, which the dataset maps into memory:
    they need not fit in it. The file is kept in ``folder``, else in a temporary folder
    that goes with the process; ``Dataset.save_to_disk`` keeps it too.

    Raises `GraphnegError` where the datasets package is missing.
    """
    try:
        from datasets import Dataset, Features
    except ImportError as error:
        raise GraphnegError('to_dataset needs datasets: pip install "graphneg[neural]"') from error
    import pyarrow as pa

    if folder is None:  # one that goes when the process ends: a dataset made from another maps its file
        temporary = tempfile.TemporaryDirectory(prefix="graphneg-", ignore_cleanup_errors=True)
        atexit.register(temporary.cleanup)
        folder = temporary.name
    path, columns = str(Path(folder) / "negatives.arrow"), Features.from_arrow_schema(schema()).arrow_schema
    with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, columns) as stream:
        for batch in row_batches(negatives):
            stream.write_batch(batch.cast(columns))
    return Dataset.from_file(path)
