"""Write negatives to files and read them back: JSON Lines, Parquet, pandas, Hugging Face datasets.

A negative has the same fields in all formats as in JSON (see `negative_to_json`). Runs that may take long use
a `ResumableWriter`, so that they can continue after an interruption. The packages pandas, pyarrow and
datasets are imported only by the functions that need them.

Example:
    Convert a JSON Lines file into a data frame::

        to_pandas(read_jsonl("negatives.jsonl"))
"""

from __future__ import annotations

from graphneg.records.files import (
    check_destination,
    negative_from_json,
    negative_to_json,
    read_jsonl,
    read_parquet,
    to_dataset,
    to_pandas,
    write_jsonl,
    write_parquet,
)
from graphneg.records.resumable import NegativeStream, ResumableWriter, Resumed
from graphneg.records.runs import RunNote, atomic_file, atomic_folder, write_atomically
from graphneg.records.summary import Summary, reasons

__all__ = [
    "NegativeStream",
    "ResumableWriter",
    "Resumed",
    "RunNote",
    "Summary",
    "atomic_file",
    "atomic_folder",
    "check_destination",
    "negative_from_json",
    "negative_to_json",
    "read_jsonl",
    "read_parquet",
    "reasons",
    "to_dataset",
    "to_pandas",
    "write_atomically",
    "write_jsonl",
    "write_parquet",
]
