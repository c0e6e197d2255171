"""Convert negatives into records and files: JSON Lines, Parquet, pandas and Hugging Face datasets.

A record is a dict with the fields of `Negative`, in the order in which the class documents them. If fields
are missing or have the wrong type, the error message names the file, the line and the field.

Parquet cannot store objects with arbitrary keys. In Parquet files and in datasets, two fields are therefore
lists of structs: ``amr`` is ``[{turn, before, after}]`` sorted by turn, and ``scores`` is ``[{name, value}]``
sorted by name. `read_parquet` converts them back. The packages pandas, pyarrow and datasets are imported only
by the functions that need them.

Example:
    Convert a JSON Lines file into a Parquet file::

        write_parquet(read_jsonl("negatives.jsonl"), "negatives.parquet")
"""

from __future__ import annotations

import atexit
import math
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import msgspec

from graphneg.errors import GraphnegError, InputError, first_line
from graphneg.json_input import json_line, numbered_lines, open_input, parse_json
from graphneg.model import Negative
from graphneg.records.runs import atomic_file, check_output, check_replaceable

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

FIELDS = Negative.__struct_fields__
"""The fields of a record, in their documented order."""
STANDARD_OUTPUT = "-"
"""The file name that means standard output."""
SUFFIXES = (".jsonl", ".parquet")
"""Suffixes of the files in which negatives can be stored."""
ROWS_PER_GROUP = 2_000
"""Number of records in a row group of a Parquet file."""
Record = dict[str, Any]
"""A negative as a dict of values that JSON can represent."""
# The exceptions that pyarrow raises for a damaged file, or base classes of these exceptions.
_DAMAGED_FILE_ERRORS = (
    OSError,
    ValueError,
    TypeError,
    KeyError,
    NotImplementedError,
    IndexError,
    MemoryError,
)

_SCALARS = frozenset({str, int, float, bool, type(None)})

_SURROGATE = re.compile(r"[\ud800-\udfff]")
"""Pattern for a lone half of a surrogate pair. UTF-8 cannot encode it, so it cannot be written to a file."""


def to_record(negative: Negative) -> Record:
    """Convert a negative into a record, which is a dict of JSON values.

    Raises `InputError` if a value has the wrong type.

    Args:
        negative: The negative to convert.

    Returns:
        A dict with the fields in the order of `FIELDS`. The graphs are sorted by turn, the scores by name.
    """
    checked = _checked(_plain(negative), f"negative {negative.id!r}")
    return cast(Record, _plain(checked))


def from_record(record: object, where: str = "record") -> Negative:
    """Convert a record into a negative.

    Raises `InputError` if fields of the record are missing or unknown, or have the wrong type.

    Args:
        record: The record, a dict with the fields of `Negative`.
        where: Position of the record, such as ``negatives.jsonl, line 3``, for error messages.

    Returns:
        The negative with the values of the record.
    """
    return _checked(record, where)


def _checked(values: object, where: str) -> Negative:
    """Check the fields of a record, and convert it into a negative with sorted graphs and scores."""
    try:
        negative = msgspec.convert(values, Negative)
    except (msgspec.ValidationError, TypeError) as error:
        # msgspec's messages end with the path of the field, such as "- at `$.edits[0].turn`". Put the path
        # at the beginning of our message instead.
        reason, _, path = str(error).partition(" - at ")
        field = path.replace("`", "").replace("$.", "")
        raise InputError(f"{where}{f', {field}' if field else ''}: {reason}") from error
    _refuse_unwritable(_plain(negative), where)
    return msgspec.structs.replace(
        negative,
        # The keys of ``amr`` are turn numbers, as strings because JSON requires this. Sort them as numbers,
        # so that "10" comes after "9".
        amr={turn: negative.amr[turn] for turn in sorted(negative.amr, key=int)},
        scores=dict(sorted(negative.scores.items())),
    )


def _plain(value: Any) -> Any:
    """Convert structs into dicts and tuples into lists, and return all other values unchanged."""
    # `msgspec.to_builtins` is not used here. For an invalid value, such as a numpy number, it would raise an
    # error that does not name the field.
    # Test for strings, numbers and the like first: most values are of these types, and the test is fast.
    if type(value) in _SCALARS:
        return value
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value


def _refuse_unwritable(value: Any, where: str) -> None:
    """Raise an error for values that cannot be written to a file: lone surrogates, NaN and infinity."""
    if isinstance(value, str):
        # Check first whether the text is ASCII, because this check is fast and most texts are.
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
    """Check that a file of negatives can be written to a path.

    Raises `InputError` if the file cannot be written (see `graphneg.records.runs.check_output`), or if it
    exists, must not be overwritten, and was not written by a run of graphneg.

    Args:
        out: The file, or ``-`` for standard output.
        overwrite: Whether an existing file may be replaced.

    Returns:
        The path; None for standard output.
    """
    if str(out) == STANDARD_OUTPUT:
        return None
    path = check_output(out, SUFFIXES, ", or - for standard output")
    check_replaceable(path, overwrite)
    return path


def negative_to_json(negative: Negative) -> str:
    """Convert a negative into one line of JSON.

    Args:
        negative: The negative to convert.

    Returns:
        The line, with the fields in the order of `FIELDS`. Equal negatives give equal lines. Non-ASCII
        characters are not escaped, except those that some tools interpret as the end of a line.
    """
    return json_line(to_record(negative), allow_nan=False, separators=(", ", ": "))


def negative_from_json(line: str | bytes, where: str = "record") -> Negative:
    """Convert a line that `negative_to_json` wrote into a negative.

    Args:
        line: The line of JSON.
        where: Position of the line, such as ``negatives.jsonl, line 3``, for error messages.

    Returns:
        The negative.
    """
    return from_record(parse_json(line, where), where)


def write_jsonl(negatives: Iterable[Negative], out: str | Path) -> int:
    """Write negatives to a file with one JSON object per line.

    The file is created or replaced only after all negatives have been written.

    Args:
        negatives: The negatives to write.
        out: The file, or ``-`` for standard output.

    Returns:
        The number of negatives that were written.
    """
    path = check_destination(out)
    if path is None:
        return write_lines(negatives, sys.stdout.buffer)
    with atomic_file(path) as unfinished, open(unfinished, "wb") as file:
        return write_lines(negatives, file)


def write_lines(negatives: Iterable[Negative], file: BinaryIO) -> int:
    """Write negatives to an open file, with one JSON object per line.

    Args:
        negatives: The negatives to write.
        file: A file that is open for writing bytes.

    Returns:
        The number of negatives that were written.
    """
    count = 0
    for negative in negatives:
        file.write(negative_to_json(negative).encode() + b"\n")
        count += 1
    file.flush()
    return count


def read_jsonl(path: str | Path) -> Iterator[Negative]:
    """Read the negatives from a JSON Lines file.

    Raises `InputError` with the file and the line number if a line is not a negative, or if the last line was
    cut off.

    Args:
        path: The file to read.

    Yields:
        The negatives, in the order of the lines.
    """
    with open_input(path) as file:
        for number, line in numbered_lines(file, path):
            yield negative_from_json(line, f"{path}, line {number}")


def schema() -> Any:
    """Return the names and types of the columns of a Parquet file, as a ``pyarrow.Schema``."""
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
        "evidence": pa.struct({"turn": number, "words": text}),
        "distance": number,
        "proved": pa.bool_(),
    }
    # All fields that `types` does not contain are strings.
    return pa.schema([(name, types.get(name, text)) for name in FIELDS])


def write_parquet(negatives: Iterable[Negative], out: str | Path) -> int:
    """Write negatives to a Parquet file.

    At most `ROWS_PER_GROUP` negatives are in memory at a time. The file is created or replaced only after all
    negatives have been written.

    Args:
        negatives: The negatives to write.
        out: The file to write.

    Returns:
        The number of negatives that were written.

    Raises:
        InputError: ``out`` is standard output.
    """
    path = check_destination(out)
    if path is None:
        raise InputError(f"{STANDARD_OUTPUT}: Parquet can't be written to standard output; name a file")
    with atomic_file(path) as unfinished:
        return write_rows(negatives, unfinished)


def write_rows(negatives: Iterable[Negative], path: Path) -> int:
    """Write negatives directly to a Parquet file, without a temporary file.

    The file name may have any suffix. Equal negatives give equal files, byte for byte.

    Args:
        negatives: The negatives to write.
        path: The file to write.

    Returns:
        The number of negatives that were written.
    """
    import pyarrow.parquet as pq

    count = 0
    # Each batch becomes a row group. Batches have a fixed size, so that equal negatives give equal bytes.
    with pq.ParquetWriter(path, schema(), compression="zstd") as writer:
        for batch in row_batches(negatives):
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def row_batches(negatives: Iterable[Negative]) -> Iterator[Any]:
    """Convert negatives into ``pyarrow.RecordBatch`` objects.

    Args:
        negatives: The negatives to convert.

    Yields:
        Batches of at most `ROWS_PER_GROUP` rows.
    """
    import pyarrow as pa

    columns = schema()
    remaining = iter(negatives)
    while rows := [to_row(negative) for negative in islice(remaining, ROWS_PER_GROUP)]:
        yield pa.RecordBatch.from_pylist(rows, schema=columns)


def read_parquet(path: str | Path) -> Iterator[Negative]:
    """Read the negatives from a Parquet file, one row group at a time.

    Args:
        path: The file to read.

    Yields:
        The negatives, in the order of the rows.

    Raises:
        InputError: The file is not a Parquet file or is damaged.
    """
    import pyarrow.parquet as pq

    # Do not accept a pipe, because reading a Parquet file starts at its end.
    with open_input(path, pipes=False) as stored:
        try:
            file = pq.ParquetFile(stored)
            batches = file.iter_batches(ROWS_PER_GROUP)
        except _DAMAGED_FILE_ERRORS as error:
            raise InputError(f"{path}: can't be read as Parquet: {first_line(error)}") from error
        number = 0
        while True:
            try:
                if (batch := next(batches, None)) is None:
                    return
                rows = batch.to_pylist()
            # When pyarrow reaches a damaged part of the file, it raises one of several built-in exceptions.
            except _DAMAGED_FILE_ERRORS as error:
                raise InputError(f"{path}, after row {number}: damaged: {first_line(error)}") from error
            for row in rows:
                number += 1
                yield from_row(row, f"{path}, row {number}")


def read_negatives(*paths: str | Path) -> Iterator[Negative]:
    """Read the negatives from several files.

    Args:
        *paths: Files that end in .jsonl or .parquet.

    Yields:
        The negatives, file by file.
    """
    for path in paths:
        yield from (negative for _, negative in read_located(path))


def read_located(path: str | Path) -> Iterator[tuple[str, Negative]]:
    """Read the negatives from a file, each with its position for error messages.

    Args:
        path: A file that ends in .jsonl or .parquet.

    Yields:
        The position of a negative, such as ``negatives.jsonl, line 3``, and the negative.
    """
    read, unit = (read_parquet, "row") if Path(path).suffix == ".parquet" else (read_jsonl, "line")
    for number, negative in enumerate(read(path), 1):
        yield f"{path}, {unit} {number}", negative


def to_row(negative: Negative) -> Record:
    """Convert a negative into a row of a Parquet file.

    Args:
        negative: The negative to convert.

    Returns:
        A record (see `to_record`) in which ``amr`` and ``scores`` are lists of dicts.
    """
    row = to_record(negative)
    row["amr"] = [{"turn": int(turn), **graphs} for turn, graphs in row["amr"].items()]
    row["scores"] = [{"name": name, "value": value} for name, value in row["scores"].items()]
    return row


def from_row(row: Mapping[str, Any], where: str = "row") -> Negative:
    """Convert a row of a Parquet file or of a Hugging Face dataset into a negative.

    Args:
        row: The row, as a dict from column to cell.
        where: Position of the row, such as ``negatives.parquet, row 3``, for error messages.

    Returns:
        The negative.

    Raises:
        InputError: ``amr`` or ``scores`` is not a list of the form that `to_row` returns.
    """
    graphs, scores = row.get("amr"), row.get("scores")
    if not isinstance(graphs, list) or not isinstance(scores, list):
        raise InputError(
            f"{where}: the columns amr and scores must be lists, as in files that graphneg writes"
        )
    try:
        amr = {str(item["turn"]): {"before": item["before"], "after": item["after"]} for item in graphs}
        named = {item["name"]: item["value"] for item in scores}
    except (TypeError, KeyError) as error:
        raise InputError(
            f"{where}: an item in amr or scores is not a map with the keys that graphneg writes"
        ) from error
    return from_record({**row, "amr": amr, "scores": named}, where)


def to_pandas(negatives: Iterable[Negative]) -> pd.DataFrame:
    """Convert negatives into a data frame.

    Args:
        negatives: The negatives to convert.

    Returns:
        A data frame with a row per negative and a column per field. The cells contain the same lists and
        dicts as the JSON Lines files.
    """
    import pandas as pd

    table = pd.DataFrame.from_records([to_record(negative) for negative in negatives], columns=list(FIELDS))
    # Set the types explicitly, because pandas chooses the type object if there are no rows.
    # "Int64" and "boolean" can represent missing values, which "int64" and "bool" cannot.
    nullable = {"distance": "Int64", "proved": "boolean"}
    return table.astype({"turn": "int64", "label": "int64", "seed": "int64", **nullable})


def to_dataset(negatives: Iterable[Negative], folder: str | Path | None = None) -> Dataset:
    """Convert negatives into a Hugging Face ``Dataset`` with the columns and types of the Parquet files.

    The negatives are written to an Arrow file, and the data set memory-maps this file. The negatives
    therefore do not have to fit into memory.

    Args:
        negatives: The negatives to convert.
        folder: The folder for the Arrow file. By default, it is a temporary folder that is removed when the
            process ends; use ``Dataset.save_to_disk`` to keep the data.

    Returns:
        The data set.

    Raises:
        GraphnegError: The datasets package is not installed.
    """
    try:
        from datasets import Dataset, Features
    except ImportError as error:
        raise GraphnegError('to_dataset needs datasets: pip install "graphneg[neural]"') from error
    import pyarrow as pa

    # Keep the temporary folder until the process ends. Removing the folder as soon as this data set is
    # deleted would be too early, because data sets that are derived from it use the same file.
    if folder is None:
        temporary = tempfile.TemporaryDirectory(prefix="graphneg-", ignore_cleanup_errors=True)
        atexit.register(temporary.cleanup)
        folder = temporary.name
    path, columns = str(Path(folder) / "negatives.arrow"), Features.from_arrow_schema(schema()).arrow_schema
    with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, columns) as stream:
        # Write in batches, so that memory use does not depend on the number of negatives.
        for batch in row_batches(negatives):
            stream.write_batch(batch.cast(columns))
    return Dataset.from_file(path)
