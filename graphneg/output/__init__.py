"""Writing negatives out, and reading them back: JSONL, Parquet, pandas, Hugging Face datasets.

Every format follows the JSON form of `negative_to_json`. pandas, pyarrow and datasets are
imported by the functions that need them.
"""

from __future__ import annotations

from graphneg.output.destination import check_destination
from graphneg.output.jsonl import negative_from_json, negative_to_json, read_jsonl, write_jsonl
from graphneg.output.parquet import read_parquet, write_parquet
from graphneg.output.resumable import ResumableWriter, Resumed, fingerprint
from graphneg.output.summary import Summary
from graphneg.output.tables import to_dataset, to_pandas

__all__ = [
    "ResumableWriter",
    "Resumed",
    "Summary",
    "check_destination",
    "fingerprint",
    "negative_from_json",
    "negative_to_json",
    "read_jsonl",
    "read_parquet",
    "to_dataset",
    "to_pandas",
    "write_jsonl",
    "write_parquet",
]
