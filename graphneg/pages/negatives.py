"""The view of negatives: a table to filter and sort, a page for each negative, and histograms of scores.

The records come from `graphneg.pages.index`. The state of a table (filter, order, page) is in its URL, so
that it can be bookmarked and shared. A slider on a histogram shows how many negatives a threshold of a score
would keep, and the page shows the options of ``graphneg select`` that apply it.

Example::

    /negatives?file=0&transform=negate&least.clash=0.5&sort=clash&way=down
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graphneg.amr.penman import parse_graph
from graphneg.editing.transforms import load_transforms
from graphneg.errors import GraphnegError
from graphneg.generators.selection import BACKWARD, FORWARD
from graphneg.model import Negative
from graphneg.pages.app import Pages
from graphneg.pages.asked import number, one_of, path_number, whole
from graphneg.pages.drawing import Drawing, draw_edited
from graphneg.pages.index import LABELS, Filter, NegativesIndex, Numbered, Spread
from graphneg.records.differences import TurnChange, changed_words, turn_changes
from graphneg.records.scores import CLASH, FIT
from graphneg.scorers.choosing import ANSWERS, UNFIT, UNRELATED

Side = tuple[str, str, Drawing | None]
"""``before`` or ``after``, the graph in PENMAN notation, and its drawing if it can be parsed."""
ROWS = 50
"""Number of rows of a page."""
NEIGHBOURS = 8
"""Number of related negatives to show for a negative."""
BARS = 50
"""Number of bars of a histogram."""
LEAST, MOST = "least", "most"
"""Prefixes of the limits in a URL, such as ``least.clash=0.5``."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a score means, and how ``graphneg select`` applies a threshold to it.

    Attributes:
        meaning: What the score measures.
        side: Whether the threshold is the lowest (``least``) or the highest value that is kept (``most``).
        options: The option of ``graphneg select``, without the value.
        model: Another option that it requires.
        refusal: Why select leaves out records beyond the threshold.
    """

    meaning: str
    side: str
    options: str = ""
    model: str = ""
    refusal: str = ""


THRESHOLDS: Mapping[str, Threshold] = {
    CLASH: Threshold(
        "share of the response's content words that occur in the context",
        *(LEAST, f"--least {CLASH}=", "", UNRELATED),
    ),
    FIT: Threshold(
        "share of the nouns under predicates of the edited graph that were seen with their predicates",
        *(LEAST, f"--least {FIT}=", "", UNFIT),
    ),
    ANSWERS: Threshold(
        "how well it answers the context, by a judge", MOST, "--max-score ", "--judge MODEL", "it answers"
    ),
    FORWARD: Threshold(
        "perplexity of the response after its context",
        *(MOST, "--forward-threshold ", "--model MODEL", "it is unlikely in its context"),
    ),
    BACKWARD: Threshold(
        "perplexity of the context, given the response",
        *(MOST, "--backward-threshold ", "--model MODEL", "its context is unlikely"),
    ),
}
"""The scores that ``graphneg select`` can apply a threshold to."""
UNKNOWN = Threshold("a score of the generator", LEAST)
"""The entry for any other score."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram, in percent of the histogram's width and height.

    Attributes:
        left: The left end.
        top: The distance from the top of the histogram.
        height: The height.
    """

    left: float
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """The histogram of a score.

    Attributes:
        spread: The distribution.
        threshold: What the score means.
        bars: The bars from left to right.
        summary: The range and the median in words.
    """

    spread: Spread
    threshold: Threshold
    bars: tuple[Bar, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Row:
    """A negative in a table.

    Attributes:
        n: The number in the file, from 1.
        negative: The record.
        pieces: For each edited turn its name, and the pieces of its text before and after. If no turn was
            edited word by word, the whole response.
        before: The turn before the first of them.
    """

    n: int
    negative: Negative
    pieces: tuple[tuple[str, Sequence[tuple[bool, str, str]]], ...]
    before: str


class NegativesView:
    """The view of one or more indexed files of negatives.

    Args:
        indexes: The indexes of the files.
    """

    title = "Negatives"
    path = "/negatives"

    def __init__(self, indexes: Sequence[NegativesIndex]) -> None:
        """Initialize the view."""
        self._indexes = indexes

    def routes(self, pages: Pages) -> Sequence[Route]:
        """Return the routes: the table, the counts for thresholds (JSON), and one negative.

        Args:
            pages: The pages, which render templates.

        Returns:
            The routes.
        """
        self._pages = pages
        return [
            Route(self.path, self._table),
            Route(f"{self.path}/kept", self._kept),
            Route(f"{self.path}/{{file}}/{{n}}", self._negative),
        ]

    @property
    def is_empty(self) -> bool:
        """Whether no file contains a negative."""
        return not any(index.total for index in self._indexes)

    def close(self) -> None:
        """Do nothing: an index keeps no file open."""

    def _index(self, number: int) -> NegativesIndex:
        # The URL may be from an earlier run with other files.
        if number >= len(self._indexes):
            raise HTTPException(404, f"there is no file {number}; there are {len(self._indexes)}")
        return self._indexes[number]

    def _table(self, request: Request) -> Response:
        if not self._indexes:
            return self._pages.render(request, "negatives/empty.html")
        state = {name: value for name, value in request.query_params.items() if value}
        file = whole(state, "file", 0, least=0)
        index = self._index(file)
        scores = [spread.score for spread in index.spreads()]
        asked = _filter(state, scores)
        start = whole(state, "start", 0, least=0)
        order, descending = one_of(state, "sort", scores), one_of(state, "way", ["down"]) == "down"
        found = index.count(asked)
        rows = [_row(one) for one in index.page(asked, start, ROWS, order, descending=descending)]

        def address(**changes: Any) -> str:
            # Another filter or order starts at the first page again.
            changed = {**{name: value for name, value in state.items() if name != "start"}, **changes}
            return f"{self.path}?{urlencode({name: value for name, value in changed.items() if value != ''})}"

        return self._pages.render(
            request,
            "negatives/table.html",
            files=[one.source.name for one in self._indexes],
            file=file,
            index=index,
            state=state,
            asked=asked,
            offered={kind: index.labels(kind) for kind in LABELS},
            scores=scores,
            rows=rows,
            found=found,
            start=start,
            step=ROWS,
            address=address,
            histograms=[_histogram(spread) for spread in index.spreads()],
            command=shlex.join(["graphneg", "select", _shown(index.source), "-o", "chosen.jsonl"]),
        )

    def _kept(self, request: Request) -> Response:
        state = dict(request.query_params)
        index = self._index(whole(state, "file", 0, least=0))
        ranges = _filter(state, [spread.score for spread in index.spreads()]).ranges
        least = {score: low for score, (low, _) in ranges.items() if low is not None}
        most = {score: high for score, (_, high) in ranges.items() if high is not None}
        kept, wrong = index.kept(least, most)
        return JSONResponse({"kept": kept, "wrong": wrong})

    def _negative(self, request: Request) -> Response:
        file, n = (path_number(request.path_params[name], what) for name, what in _IN_PATH)
        index = self._index(file)
        if not 1 <= n <= index.total:
            raise HTTPException(404, f"there is no negative {n}; {index.source.name} has {index.total:,}")
        negative = index.at(n)
        changes = turn_changes(negative)
        same_edit, alike = index.same_edit(n, NEIGHBOURS)
        same_dialogue, others = index.same_dialogue(n, NEIGHBOURS)
        neighbours = [
            ("By the same edit", same_edit, [_row(one) for one in alike]),
            ("Of the same dialogue", same_dialogue, [_row(one) for one in others]),
        ]
        return self._pages.render(
            request,
            "negatives/negative.html",
            file=file,
            n=n,
            index=index,
            negative=negative,
            turns=[(change, _pieces(negative, turn, change)) for turn, change in enumerate(changes)],
            transforms=_summaries(),
            graphs=[_graphs(turn, graphs, negative.id) for turn, graphs in negative.amr.items()],
            scores=_scores(index, negative),
            neighbours=neighbours,
        )


_IN_PATH = (("file", "file"), ("n", "negative"))


def _filter(state: Mapping[str, str], scores: Sequence[str]) -> Filter:
    """Return the filter in the URL of a table: ``corpus=``, ``text=``, ``least.clash=``, ``most.clash=``."""
    ranges: dict[str, tuple[float | None, float | None]] = {}
    for name in state:
        side, _, score = name.partition(".")
        if score and side in (LEAST, MOST):
            one_of({name: score}, name, scores)
            ranges[score] = number(state, f"{LEAST}.{score}"), number(state, f"{MOST}.{score}")
    return Filter({kind: state[kind] for kind in LABELS if kind in state}, state.get("text", ""), ranges)


def _row(one: Numbered) -> Row:
    negative = one.negative
    changes = turn_changes(negative)
    edited = [(turn, change) for turn, change in enumerate(changes) if _pieces(negative, turn, change)]
    pieces = [(f"turn {turn}", _pieces(negative, turn, change)) for turn, change in edited]
    last = len(changes) - 1
    # Nothing was edited word by word, so the row shows the response as a whole.
    if not edited:
        pieces = [(f"turn {last}", [(False, negative.response, negative.response)])]
    first = edited[0][0] if edited else last
    return Row(one.n, negative, tuple(pieces), changes[first - 1].text if first else "")


def _pieces(negative: Negative, turn: int, change: TurnChange) -> Sequence[tuple[bool, str, str]]:
    """Return how the words of a turn changed; empty if they did not, or if the text is a new one."""
    # A generator writes a whole response: comparing its words with the original means nothing.
    is_written = turn == len(negative.context) and not negative.amr
    return () if not change.is_edited or is_written else list(changed_words(change.old, change.text))


def _graphs(turn: str, graphs: Mapping[str, str | None], id: str) -> tuple[str, Sequence[Side]]:
    """Return a turn with its graph before and after."""
    texts = [graphs[side] or "" for side in ("before", "after")]
    drawings: Sequence[Drawing | None] = (None, None)
    # A graph that cannot be parsed is shown as text only.
    with suppress(GraphnegError):
        drawings = draw_edited(*(parse_graph(text, id) for text in texts))
    return turn, list(zip(("before", "after"), texts, drawings, strict=True))


def _scores(index: NegativesIndex, negative: Negative) -> list[tuple[str, float, Threshold, float]]:
    """Return the name, value and meaning of each score, and the share of wrong responses that score less."""
    spreads = {spread.score: spread for spread in index.spreads()}
    return [
        (name, value, THRESHOLDS.get(name, UNKNOWN), spreads[name].share_below(value))
        for name, value in negative.scores.items()
    ]


def _histogram(spread: Spread) -> Histogram:
    step = (len(spread.thresholds) - 1) // BARS
    # The last bar includes the highest value, which no threshold is above.
    edges = [*spread.below[:-1:step], spread.amount]
    amounts = [after - before for before, after in pairwise(edges)]
    most = max(*amounts, 1)
    width = 100 / len(amounts)
    heights = [round(100 * amount / most, 2) for amount in amounts]
    bars = (Bar(round(width * at, 2), 100 - height, height) for at, height in enumerate(heights))
    # The median: the first threshold with at least half of the values below it.
    middle = next(
        (t for t, below in zip(spread.thresholds, spread.below, strict=True) if 2 * below >= spread.amount),
        spread.thresholds[-1],
    )
    summary = (
        f"{spread.score}, from {spread.thresholds[0]:g} to {spread.thresholds[-1]:g}, half below {middle:g}"
    )
    return Histogram(spread, THRESHOLDS.get(spread.score, UNKNOWN), tuple(bars), summary)


@cache
def _summaries() -> Mapping[str, str]:
    return {name: transform.summary for name, transform in load_transforms().items()}


def _shown(path: Path) -> str:
    """Return the path relative to the current folder, as a user would type it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
