"""Where negatives are written: a JSONL or Parquet file, or standard output.

A destination is checked before any work is done, so that a run of an hour does not end at
a folder that is not there.
"""

from __future__ import annotations

import os
from pathlib import Path

from graphneg.errors import InputError

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


def replace(finished: Path, path: Path) -> None:
    """Put a finished file in its place, in one step that survives a power cut."""
    with open(finished, "rb") as file:
        os.fsync(file.fileno())
    os.replace(finished, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable. Windows offers no such call and needs none."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
