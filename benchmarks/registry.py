"""List the benchmarks that ``python -m benchmarks`` runs, by name and in the order of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks import (
    crowd,
    editing,
    growth,
    kills,
    loading,
    memory,
    overlap,
    pages,
    pairs,
    parsing,
    perspectives,
    shift,
    surface,
    transforms,
)
from benchmarks.corpus import Corpus
from benchmarks.instances import Host
from benchmarks.results import Result
from benchmarks.sizes import Sizes


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark, and whether it must run on every kind of server.

    Attributes:
        run: Function that measures on one kind of server.
        once: True if the result does not depend on the server. The benchmark then runs on the first server
            only.
    """

    run: Callable[[Host, Corpus, Sizes], Result]
    once: bool = False


BENCHMARKS: Mapping[str, Benchmark] = {
    "editing": Benchmark(editing.run),
    "transforms": Benchmark(transforms.run),
    "growth": Benchmark(growth.run),
    "load": Benchmark(loading.run),
    "surface": Benchmark(surface.run, once=True),
    "parsing": Benchmark(parsing.run, once=True),
    "shift": Benchmark(shift.run),
    "perspectives": Benchmark(perspectives.run, once=True),
    "overlap": Benchmark(overlap.run),
    "pairs": Benchmark(pairs.run, once=True),
    "pages": Benchmark(pages.run, once=True),
    "memory": Benchmark(memory.run),
    "kills": Benchmark(kills.run),
    "crowd": Benchmark(crowd.run),
}
