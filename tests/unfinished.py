"""Find the files that an interrupted run has left beside its output."""

from __future__ import annotations

import json
from pathlib import Path

from graphneg.records.resumable import checkpoint_path


def part_of(out: Path) -> Path | None:
    """Return the path of the part file (the unfinished output) of a run; None if the run has none."""
    note = checkpoint_path(out)
    return out.with_name(json.loads(note.read_bytes())["part"]) if note.exists() else None


def acknowledged(out: Path) -> bytes:
    """Return the content of the part file up to the last checkpoint."""
    part = part_of(out)
    return (
        b"" if part is None else part.read_bytes()[: json.loads(checkpoint_path(out).read_bytes())["offset"]]
    )
