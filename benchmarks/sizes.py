"""How much is measured: the full tables, a quick look, or just enough to test the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """``copies`` of the corpus are edited, ``growth`` times as much for the second size.

    ``warm_ups`` passes come first; ``anew`` seeds read the originals, ``kept`` further ones keep
    them. ``load_copies`` are loaded ``repeats`` times each way. ``loop_nodes`` make one sample of the
    bare driver loop. ``slots``
    negatives of each dialogue are decoded, ``sentences`` are parsed at most for each
    number about parsing. ``pairs`` of post and reply make a shift graph, and
    so many sentences a ``pool``. Memory is taken at ``few`` and ``many`` dialogues. There are so many
    ``kills`` on the embedded store, and writers and readers share a store for ``crowd`` seconds. Pages
    show so many ``negatives`` and ``topics``.
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
