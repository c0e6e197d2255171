"""Do one kind of work and print its peak memory: ``python -m benchmarks.process WORK TARGET FILE``."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from threading import Thread

import graphneg

STATUS = Path("/proc/self/status")


EVERY = 0.5
"""Seconds between two observations of the memory."""


def main(work: str, target: str, path: str) -> None:
    """Do the work; print its seconds, its peak memory, and the peak in the first tenth of the time as JSON.

    Args:
        work: ``load``, ``pairs`` or ``negatives``.
        target: Address of the store.
        path: File to load, to stream pairs from, or to write negatives to.
    """
    began = time.perf_counter()
    seen: list[tuple[float, float]] = []
    Thread(target=_watch, args=(began, seen), daemon=True).start()
    with graphneg.open(target) as graph:
        if work == "load":
            graph.load("dialogues", path)
        elif work == "pairs":
            for _ in graph.pairs(path):
                pass
        else:
            graph.negatives("deam", decoder="surface").to_jsonl(path)
    seconds, peak = time.perf_counter() - began, peak_megabytes()
    early = max((megabytes for at, megabytes in seen if at <= seconds / 10), default=peak)
    print(json.dumps({"megabytes": peak, "early": early, "seconds": seconds}))


def _watch(began: float, seen: list[tuple[float, float]]) -> None:
    while True:
        seen.append((time.perf_counter() - began, peak_megabytes()))
        time.sleep(EVERY)


def peak_megabytes() -> float:
    """Return the peak resident set of this process since its start, in MB."""
    # On Linux, `getrusage` also counts the parent's memory at the time of the fork.
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS reports bytes, other systems report kilobytes.
    return peak / (2**20 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main(*sys.argv[1:])
