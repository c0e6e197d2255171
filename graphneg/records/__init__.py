"""Writing negatives out, and reading them back: JSONL, Parquet, pandas, Hugging Face datasets.

Every format follows the JSON form of `negative_to_json`. pandas, pyarrow and datasets are
imported by the functions that need them.
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
