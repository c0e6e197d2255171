"""One piece of work in a process of its own, with its peak memory: ``python -m benchmarks.process``."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import graphneg

STATUS = Path("/proc/self/status")


def main(work: str, target: str, path: str) -> None:
    began = time.perf_counter()
    with graphneg.open(target) as graph:
        if work == "load":
            graph.load("dialogues", path)
        else:
            graph.negatives("deam", decoder="surface").to_jsonl(path)
    print(json.dumps({"megabytes": peak_megabytes(), "seconds": time.perf_counter() - began}))


def peak_megabytes() -> float:
    """The peak resident set since the program began.

    Linux: from ``/proc``, because ``getrusage`` counts the parent's memory at the fork as well.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main(*sys.argv[1:])
