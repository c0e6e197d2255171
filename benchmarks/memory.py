"""Measure the peak memory of Python processes that work on few and on many dialogues."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.corpus import Corpus, store_records, write_jsonl
from benchmarks.instances import Host, Instance
from benchmarks.results import Goal, Result, Table, verdict
from benchmarks.sizes import Sizes

WANTED = 50.0
"""Goal: maximum growth of the peak memory from few to many dialogues, in MB."""
ROOT = Path(__file__).parent.parent


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Load dialogues, make negatives and stream pairs, each in a separate process.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    rows: list[tuple[str, ...]] = []
    peaks: dict[str, list[float]] = {}
    for amount in (sizes.few, sizes.many):
        instance = host.fresh()
        store_records(instance.store, corpus.resources)
        path = write_jsonl(corpus.short(amount, "memory"), host.directory / "memory.jsonl")
        out = host.directory / "memory-negatives.jsonl"
        for work, file in (("load", path), ("negatives", out), ("pairs", out)):
            peak = measured(instance, work, str(file))
            peaks.setdefault(work, []).append(peak["megabytes"])
            rows.append(
                (
                    instance.name,
                    work,
                    f"{amount:,}",
                    f"{peak['early']:.0f}",
                    f"{peak['megabytes']:.0f}",
                    f"{peak['seconds']:.0f}",
                    f"{amount / peak['seconds']:,.0f}",
                )
            )
        path.unlink()
        out.unlink()
    table = Table(
        "Memory",
        "Each row is a new Python process that works on dialogues of two turns with small graphs. The two "
        "columns in MB are its peak memory (resident set): within the first tenth of its time, and within "
        "its whole time. If memory does not grow with the number of dialogues, the peaks for few and for "
        "many dialogues are similar. `load` loads the dialogues. `negatives` writes one negative per "
        "dialogue to a file (recipe deam, decoder surface). `pairs` streams one epoch of pairs from this "
        "file. Seconds include the start of the process.",
        ("server", "work", "dialogues", "MB, a tenth", "MB, peak", "seconds", "dialogues/s"),
        tuple(rows),
    )
    return Result((table,), tuple(_goal(instance, sizes, work, *both) for work, both in peaks.items()))


def measured(instance: Instance, work: str, *arguments: str) -> Mapping[str, Any]:
    """Run one kind of work in a separate process and measure it.

    Args:
        instance: The server.
        work: ``load``, ``negatives`` or ``pairs``.
        *arguments: Further command-line arguments for `benchmarks.process`.

    Returns:
        ``seconds``, ``megabytes`` (the peak memory) and ``early`` (the peak in the first tenth of the time).

    Raises:
        RuntimeError: The process failed.
    """
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.process", work, instance.target, *arguments],
        cwd=ROOT,
        env={**os.environ, **instance.environment},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{work} failed in a process of its own: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def _goal(instance: Instance, sizes: Sizes, work: str, few: float, many: float) -> Goal:
    what = f"memory of {work}, {sizes.few:,} against {sizes.many:,} dialogues"
    return Goal(
        what, instance.name, f"{many - few:+.0f} MB", f"<= {WANTED:.0f} MB", verdict(many - few <= WANTED)
    )
