"""Test that a Python process needs as much memory for many dialogues as for few."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.corpus import bundled, write_jsonl
from graphneg.dialogue_graph import DialogueGraph
from graphneg.store.opening import open_store

FEW, MANY = 150, 1500
WITHIN_MEGABYTES = 50
ROOT = Path(__file__).parent.parent


def peak(work: str, store: Path, file: Path) -> float:
    """Return the peak memory in megabytes of a new process that runs ``work``."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.process", work, str(store), str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["megabytes"]


@pytest.mark.long
def test_memory_is_flat_in_the_number_of_dialogues(tmp_path: Path) -> None:
    peaks: dict[str, list[float]] = {"load": [], "negatives": []}
    for amount in (FEW, MANY):
        place = tmp_path / str(amount)
        with open_store(place) as store:
            DialogueGraph(store).load("everyday")
            corpus = write_jsonl(bundled().several(amount, "copy"), tmp_path / f"{amount}.jsonl")
            peaks["load"].append(peak("load", place, corpus))
            negatives = tmp_path / f"negatives-{amount}.jsonl"
            peaks["negatives"].append(peak("negatives", place, negatives))
            assert len(negatives.read_text().splitlines()) > amount / 2
    for work, (few, many) in peaks.items():
        assert many - few < WITHIN_MEGABYTES, f"{work}: {few:.0f} MB for {FEW}, {many:.0f} MB for {MANY}"
