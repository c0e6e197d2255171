"""Negatives as Parquet, pandas tables and Hugging Face datasets.

In: negatives. Out: a file or a table of typed columns, streamed; and back. Parquet has no objects with free
keys, so two fields become lists of structs: ``amr`` is ``[{turn, before, after}]`` in the order of turns,
``scores`` is ``[{name, value}]`` by name. `read_parquet` turns them back. Hugging Face datasets use the same
schema.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import GraphnegError, InputError
from graphneg.model import Negative
from graphneg.records.files import (
    FIELDS,
    STANDARD_OUTPUT,
    Record,
    check_destination,
    from_record,
    read_jsonl,
    to_record,
)
from graphneg.records.runs import atomic_file

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset


ROWS_PER_GROUP = 2_000


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
    import pyarrow as pa
    import pyarrow.parquet as pq

    file_path = Path(path)
    try:
        file = pq.ParquetFile(file_path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{file_path}: can't be read as Parquet: {error}") from error
    with file:
        number = 0
        for batch in file.iter_batches(batch_size=ROWS_PER_GROUP):
            for row in batch.to_pylist():
                number += 1
                yield from_row(row, f"{file_path}, row {number}")


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
    file = Path(path)
    read, unit = (read_parquet, "row") if file.suffix == ".parquet" else (read_jsonl, "line")
    for number, negative in enumerate(read(file), 1):
        yield f"{file}, {unit} {number}", negative


def to_row(negative: Negative) -> Record:
    """The record with its free keys as lists."""
    row = to_record(negative)
    row["amr"] = [{"turn": int(turn), **graphs} for turn, graphs in row["amr"].items()]
    row["scores"] = [{"name": name, "value": value} for name, value in row["scores"].items()]
    return row


def from_row(row: Mapping[str, Any], place: str = "row") -> Negative:
    """The negative of one row, of Parquet or of a Hugging Face dataset."""
    record = dict(row)
    if not isinstance(record.get("amr"), list) or not isinstance(record.get("scores"), list):
        raise InputError(
            f"{place}: the columns amr and scores are not lists, as in files that graphneg writes"
        )
    record["amr"] = {
        str(graphs["turn"]): {"before": graphs["before"], "after": graphs["after"]}
        for graphs in record["amr"]
    }
    record["scores"] = {score["name"]: score["value"] for score in record["scores"]}
    return from_record(record, place)


_ARROW_FILE = "negatives.arrow"


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

    path = (_temporary_folder() if folder is None else Path(folder)) / _ARROW_FILE
    columns = Features.from_arrow_schema(schema()).arrow_schema
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, columns) as stream:
        for batch in row_batches(negatives):
            stream.write_batch(batch.cast(columns))
    return Dataset.from_file(str(path))


def _temporary_folder() -> Path:
    """A folder that is removed when the process ends: a dataset made from another maps its file."""
    folder = tempfile.TemporaryDirectory(prefix="graphneg-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return Path(folder.name)
