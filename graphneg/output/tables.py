"""Negatives as a pandas table or a Hugging Face dataset."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from graphneg.errors import GraphnegError
from graphneg.model import Negative
from graphneg.output.parquet import row_batches, schema
from graphneg.output.record import FIELDS, to_record

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

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
