"""Fixtures of the review tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphneg.records.files import write_jsonl
from tests.review_samples import generated, negative, people


@pytest.fixture
def sources(tmp_path: Path) -> tuple[list[str], Path]:
    """Write two files of negatives, and a file of contexts with responses of people."""
    files: list[str] = []
    for name, made in (("hard", generated("hard", 12)), ("edits", [])):
        made = made or [negative(at, f"Edited {at}.", "all") for at in range(4, 12)]
        write_jsonl(made, tmp_path / f"{name}.jsonl")
        files.append(str(tmp_path / f"{name}.jsonl"))
    return files, people(tmp_path, 12)
