"""Measure the web pages: building the index of negatives, loading pages, and moving the drawing of topics."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import median, quantiles
from typing import TYPE_CHECKING

from msgspec.structs import replace

from benchmarks.corpus import Corpus
from benchmarks.instances import Host
from benchmarks.results import Goal, Result, Table, sample, verdict
from benchmarks.sizes import Sizes
from graphneg.dialogue_graph import DialogueGraph
from graphneg.model import EditedPenman, Negative, Original, Turn
from graphneg.pages.graph import draw_frequent_topics
from graphneg.pages.index import open_index
from graphneg.records import write_jsonl
from tests.negative_samples import EXAMPLE
from tests.pages.conftest import CHROMIUM, serving

if TYPE_CHECKING:
    from playwright.sync_api import Page

TIMES, STEPS = 7, 120
"""Number of measured visits per page, and number of frames of the drawing."""
WANTED_MS, WANTED_FRAME = 300, 34
"""Goals: maximum time of the first view in ms, and maximum time between two frames in ms (95% of them)."""
SHIFTS_OF_A_TOPIC = 4
"""Number of generated shifts per topic."""
ADDRESSES = {
    "first view": "/negatives",
    "by transform and clash, sorted": (
        "/negatives?transform=polarity_flip&least.context_overlap=0.5&sort=context_overlap&way=down"
    ),
    "words": "/negatives?text=tea+please",
    "the last page": "/negatives?sort=selectional_fit&start={last}",
    "one negative": "/negatives/0/{middle}",
    "two thresholds": "/negatives/kept?least.context_overlap=0.3&least.selectional_fit=0.5",
}
"""Paths of the measured pages, keyed by the name in the table."""
MOVE = """async (steps) => {
  const drawing = document.querySelector("canvas").drawing;
  const frames = [];
  let before = await new Promise(requestAnimationFrame);
  for (let step = 0; step < steps; step++) {
    const way = step % 40 < 20 ? 1 : -1; // there and back: all stays in view
    drawing.move(6 * way, 3 * way);
    drawing.zoom(1.03 ** way);
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - before);
    before = now;
  }
  return { frames, drawn: drawing.frames.slice(-steps) };
}"""
"""JavaScript that moves and zooms the drawing. It returns the times between two frames, and the times for
drawing one frame, in milliseconds."""


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Index a large file of negatives, visit its pages, and move a large drawing.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    instance = host.fresh()
    # The page draws topics only if the store has a shift graph. `_rows_of_moves` replaces the drawn topics.
    graph = DialogueGraph(instance.store)
    graph.load("everyday")
    graph.shift()
    path = host.directory / "many.jsonl"
    write_jsonl(_negatives(corpus, sizes.negatives), path)
    began = time.monotonic()
    index = open_index(path)
    seconds = time.monotonic() - began
    files = path, path.with_name(f".{path.name}.index.sqlite")
    figures = (f"{index.total:,}", f"{seconds:.1f}", f"{index.total / seconds:,.0f}")
    with serving(host.directory, path, "--store", instance.target) as served:
        views = list(_rows_of_views(served.address, index.total, sizes))
    of_index = Table(
        "Pages: an index of negatives",
        "One process builds the index once for a file of negatives with their graphs.",
        ("negatives", "seconds", "negatives/s", "MB of the file", "MB of the index"),
        ((*figures, *(f"{file.stat().st_size / 1e6:.0f}" for file in files)),),
    )
    of_views = Table(
        "Pages: views",
        "All times are in milliseconds, in headless Chromium on the same machine. The time of a page ends "
        f"when it has loaded: the median of {TIMES} visits, with the range. The last three rows measure a "
        f"drawing of {sizes.topics:,} topics: the time until its layout no longer changes, the time between "
        "two frames while it is moved and zoomed, and the time for drawing one frame.",
        ("what", "ms", "95% of them up to"),
        tuple(row for row, _ in views),
    )
    return Result((of_index, of_views), _goals(host, sizes, {row[0]: found for row, found in views}))


def _goals(host: Host, sizes: Sizes, found: Mapping[str, float]) -> tuple[Goal, ...]:
    first, frame = found["first view"], found["between two frames"]
    return (
        Goal(
            f"the first view of {sizes.negatives:,} negatives",
            host.name,
            f"{first:.0f} ms",
            f"at most {WANTED_MS} ms",
            verdict(first <= WANTED_MS),
        ),
        Goal(
            f"{sizes.topics:,} topics are moved and zoomed: 95% of frames",
            host.name,
            f"within {frame:.0f} ms",
            f"{WANTED_FRAME} ms",
            verdict(frame <= WANTED_FRAME),
        ),
    )


def _negatives(corpus: Corpus, amount: int) -> Iterator[Negative]:
    """Yield invented negatives with short texts and graphs of the corpus, the same negatives in each call."""
    graphs = [text.penman for text in corpus.texts]
    chance = random.Random(0)
    names = ("polarity_flip", "topical_statement", "person_swap", "coreference_swap")
    words = "tea please never coffee a lamp bicycle train paint petrol receipt soup".split()  # noqa: SIM905
    for n in range(amount):
        said = [" ".join(chance.choices(words, k=9)).capitalize() + "." for _ in range(4)]
        before, after = chance.sample(graphs, 2)
        edit = replace(EXAMPLE.edits[0], transform=chance.choice(names))
        yield replace(
            EXAMPLE,
            id=f"many/train/{n}#2~all.0",
            corpus=f"corpus {n % 5}",
            dialogue=f"many/train/{n // 4}",
            context=tuple(Turn("AB"[turn % 2], text) for turn, text in enumerate(said[:2])),
            original=Original(None, said[2]),
            response=said[3],
            edits=(edit,),
            amr={"2": EditedPenman(before, after)},
            scores={"answers": round(chance.random(), 4)},
        )


def _rows_of_views(address: str, total: int, sizes: Sizes) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Yield the rows of the table of views, each with the figure that a goal may use."""
    from playwright.sync_api import sync_playwright

    origin = address.partition("/?")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(address)
        for what, path in ADDRESSES.items():
            taken = list(
                _load_times(page, origin + path.format(last=total // 50 * 50 - 50, middle=total // 2 + 1))
            )
            yield (what, sample(taken).shown(), f"{_percentile_95(taken):.0f}"), median(taken)
        yield from _rows_of_moves(page, origin, sizes.topics)
        browser.close()


def _load_times(page: Page, address: str) -> Iterator[float]:
    """Yield the time for loading the page at each visit, in ms by the clock of the browser."""
    for visit in range(TIMES + 1):
        page.goto(address)
        # The first visit fills caches and does not count.
        if visit:
            yield page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")


def _rows_of_moves(page: Page, origin: str, topics: int) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Draw topics, move the drawing, and yield the rows of its times for the table of views."""
    chance = random.Random(1)
    # As in real corpora, a few topics have most of the shifts.
    ends = [int(topics * chance.random() ** 3) for _ in range(2 * SHIFTS_OF_A_TOPIC * topics)]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    edges = [(f"topic {focus}", f"topic {end}", 1 + int(20 * chance.random() ** 8)) for focus, end in pairs]
    data = json.dumps(draw_frequent_topics(edges, topics))
    page.route("**/all.json*", lambda route: route.fulfill(body=data, content_type="application/json"))
    page.goto(f"{origin}/graph/all")
    began = time.monotonic()
    page.wait_for_selector("canvas[data-settled=true]", timeout=120_000)
    taken = 1000 * (time.monotonic() - began)
    yield ("until the layout is stable", f"{taken:,.0f}", ""), taken
    found = page.evaluate(MOVE, STEPS)
    for what, name in (("between two frames", "frames"), ("drawing one", "drawn")):
        yield (
            (what, sample(found[name]).shown(1), f"{_percentile_95(found[name]):.1f}"),
            _percentile_95(found[name]),
        )


def _percentile_95(values: Sequence[float]) -> float:
    return quantiles(values, n=20, method="inclusive")[-1]
