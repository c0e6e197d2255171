"""Define how much a run measures: the default, a quick run, a full run, and a tiny run for the tests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """Numbers of dialogues, sentences, repetitions and so on that a run of the benchmarks measures with.

    Attributes:
        name: Description of the run.
        copies: Number of copies of the corpus to edit.
        growth: Size of the larger of two measurements, relative to the smaller one.
        warm_ups: Number of passes that edit all dialogues before the measured passes.
        anew: Number of seeds for which the unedited graphs are read from the store again.
        kept: Number of further seeds, for which the unedited graphs are cached.
        repeats: Number of repetitions of a measurement.
        load_copies: Number of copies to load.
        loop_nodes: Number of nodes per sample of the bare driver loop.
        slots: Maximum number of negatives per dialogue to decode.
        sentences: Maximum number of sentences to parse per figure.
        pairs: Number of pairs of post and reply for a shift graph.
        pool: Minimum number of sentences in the pool from which negatives are retrieved.
        few: Smaller number of dialogues in the measurement of memory.
        many: Larger number of dialogues in the measurement of memory.
        kills: Number of kills on the embedded store.
        crowd: Seconds during which writers and readers use a store concurrently.
        negatives: Number of negatives that the web pages show.
        topics: Number of topics that the web pages draw.
    """

    name: str = "default"
    copies: int = 10
    growth: int = 10
    warm_ups: int = 8
    anew: int = 3
    kept: int = 3
    repeats: int = 5
    load_copies: int = 3
    loop_nodes: int = 50_000
    slots: int = 4
    sentences: int = 10_000
    pairs: int = 10_000
    pool: int = 200_000
    few: int = 1_000
    many: int = 20_000
    kills: int = 200
    crowd: float = 3_600.0
    negatives: int = 100_000
    topics: int = 5_000


DEFAULT = Sizes()
QUICK = Sizes(
    name="quick: for a look, too small to judge by",
    copies=2,
    growth=3,
    warm_ups=1,
    anew=1,
    kept=1,
    repeats=2,
    load_copies=1,
    loop_nodes=20_000,
    slots=1,
    sentences=400,
    pairs=1_000,
    pool=20_000,
    few=200,
    many=1_000,
    kills=20,
    crowd=360.0,
    negatives=5_000,
    topics=1_000,
)
FULL = Sizes("full", many=100_000)
TINY = Sizes(
    name="tiny",
    copies=1,
    growth=2,
    warm_ups=1,
    anew=1,
    kept=1,
    repeats=1,
    load_copies=1,
    loop_nodes=100,
    slots=1,
    sentences=8,
    pairs=40,
    pool=400,
    few=5,
    many=10,
    kills=5,
    crowd=6.0,
    negatives=60,
    topics=60,
)
