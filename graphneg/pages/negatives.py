"""Show negatives in a table that can be filtered and sorted, with histograms of their scores.

The negatives are read through an index (`graphneg.pages.index`). The URL of the table contains the filter,
the order and the page number, so it can be bookmarked and shared. With a slider on a histogram, the visitor
chooses a threshold for a score. The page then shows how many negatives the threshold keeps, and the options
of ``graphneg select`` that apply the threshold to a file. Each negative has a page with its edits.

Example::

    /negatives?file=0&transform=polarity_flip&least.context_overlap=0.5&sort=context_overlap&way=down
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
from graphneg.model import EditedPenman, Negative
from graphneg.pages.app import Pages
from graphneg.pages.drawing import Drawing, draw_edited
from graphneg.pages.index import LABELS, Filter, IndexedNegative, NegativesIndex, ScoreDistribution
from graphneg.pages.url_values import choice_value, integer_value, number, path_number
from graphneg.records.differences import TurnChange, changed_words, error_facts, turn_changes
from graphneg.records.scores import CONTEXT_OVERLAP, SELECTIONAL_FIT
from graphneg.scorers.choosing import ANSWERS, UNFIT, UNRELATED

Side = tuple[str, str, Drawing | None]
"""A graph on the page of a negative: ``before`` or ``after`` the edit, the graph in PENMAN notation, and its
drawing. There is no drawing (None) if the graph cannot be parsed."""
ROWS = 50
"""Number of negatives on a page of the table."""
NEIGHBOURS = 8
"""Maximum number of other negatives with the same edit on the page of a negative, and also the maximum number
of other negatives from the same dialogue."""
BARS = 50
"""Number of bars in a histogram."""
LEAST, MOST = "least", "most"
"""Prefixes of the URL parameters for the lowest and the highest allowed value of a score, as in
``least.context_overlap=0.5``."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The meaning of a score, and the options with which ``graphneg select`` applies a threshold to it.

    Attributes:
        meaning: Description of what the score measures.
        kept_side: ``least`` if the threshold is the lowest value that is kept, ``most`` if it is the highest.
        options: The option of ``graphneg select`` that sets the threshold, without its value; empty if there
            is no such option.
        model: The option for the model that computes the score; empty if no model is needed.
        refusal: The reason that ``graphneg select`` reports for the records beyond the threshold.
    """

    meaning: str
    kept_side: str
    options: str = ""
    model: str = ""
    refusal: str = ""


THRESHOLDS: Mapping[str, Threshold] = {
    CONTEXT_OVERLAP: Threshold(
        "share of the response's content words that occur in the context",
        *(LEAST, f"--least {CONTEXT_OVERLAP}=", "", UNRELATED),
    ),
    SELECTIONAL_FIT: Threshold(
        "share of the nouns in the edited graph that are usual with their predicates",
        *(LEAST, f"--least {SELECTIONAL_FIT}=", "", UNFIT),
    ),
    ANSWERS: Threshold(
        "how well the response answers the context, according to a ranker",
        MOST,
        "--max-score ",
        "--judge MODEL",
        "the response answers the context",
    ),
    FORWARD: Threshold(
        "perplexity of the response, given the context",
        *(MOST, "--forward-threshold ", "--model MODEL", "the response is unlikely, given its context"),
    ),
    BACKWARD: Threshold(
        "perplexity of the context, given the response",
        *(MOST, "--backward-threshold ", "--model MODEL", "the context is unlikely, given the response"),
    ),
}
"""The scores to which ``graphneg select`` can apply a threshold, keyed by name."""
UNKNOWN = Threshold("a score of the generator", LEAST)
"""The description of scores that are not in `THRESHOLDS`."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The position of a bar in a histogram, in percent of the histogram's width or height.

    Attributes:
        left: The distance of the bar from the left edge of the histogram.
        top: The distance of the bar from the top of the histogram.
        height: The height of the bar.
    """

    left: float
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """The histogram of a score.

    Attributes:
        spread: The distribution of the score.
        threshold: The meaning of the score, and the options of ``graphneg select`` for its threshold.
        bars: The bars from left to right.
        summary: A text with the name of the score, its range and its median, for screen readers.
    """

    spread: ScoreDistribution
    threshold: Threshold
    bars: tuple[Bar, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table of negatives. It shows one negative.

    Attributes:
        n: The position of the record in the file, starting at 1.
        negative: The negative, as a record of the file.
        pieces: For each edited turn, its name (such as "turn 2") and its text, divided into changed and
            unchanged pieces. If a generator has written the whole response, there is only the response, as a
            single piece.
        before: The text of the turn just before these turns, which shows their context; empty if there is
            none.
    """

    n: int
    negative: Negative
    pieces: tuple[tuple[str, Sequence[tuple[bool, str, str]]], ...]
    before: str


class NegativesView:
    """The view that shows one or more files of negatives.

    Args:
        indexes: The index of each file.
    """

    title = "Negatives"
    path = "/negatives"

    def __init__(self, indexes: Sequence[NegativesIndex]) -> None:
        self._indexes = indexes

    def routes(self, pages: Pages) -> Sequence[Route]:
        """Return the routes of the pages that this view serves.

        Args:
            pages: The web application, which renders the templates.

        Returns:
            The routes for the table, for the number of negatives that a threshold keeps (as JSON), and for
            the page of a negative.
        """
        self._pages = pages
        return [
            Route(self.path, self._table),
            Route(f"{self.path}/kept", self._kept),
            Route(f"{self.path}/{{file}}/{{n}}", self._negative),
        ]

    @property
    def is_empty(self) -> bool:
        """Whether the files contain no negatives."""
        return not any(index.total for index in self._indexes)

    def close(self) -> None:
        """Do nothing, because `NegativesIndex` does not keep a file open."""

    def _index(self, number: int) -> NegativesIndex:
        # The URL may come from an earlier run of the server, which showed more files.
        if number >= len(self._indexes):
            raise HTTPException(
                404, f"there is no file {number}; the number of files is {len(self._indexes)}"
            )
        return self._indexes[number]

    def _table(self, request: Request) -> Response:
        if not self._indexes:
            return self._pages.render(request, "negatives/empty.html")
        state = {name: value for name, value in request.query_params.items() if value}
        file = integer_value(state, "file", 0, minimum=0)
        index = self._index(file)
        scores = [spread.score for spread in index.score_distributions()]
        asked = _filter(state, scores)
        start = integer_value(state, "start", 0, minimum=0)
        order, descending = (
            choice_value(state, "sort", scores),
            choice_value(state, "way", ["down"]) == "down",
        )
        found = index.count(asked)
        rows = [_row(one) for one in index.page(asked, start, ROWS, order, descending=descending)]

        def address(**changes: Any) -> str:
            # Remove the page offset ("start"), so that a changed filter or order begins at the first page.
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
            histograms=[_histogram(spread) for spread in index.score_distributions()],
            command=shlex.join(["graphneg", "select", _path_to_show(index.source), "-o", "chosen.jsonl"]),
        )

    def _kept(self, request: Request) -> Response:
        state = dict(request.query_params)
        index = self._index(integer_value(state, "file", 0, minimum=0))
        ranges = _filter(state, [spread.score for spread in index.score_distributions()]).ranges
        least = {score: low for score, (low, _) in ranges.items() if low is not None}
        most = {score: high for score, (_, high) in ranges.items() if high is not None}
        kept, wrong = index.count_within(least, most)
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
            ("With the same edit", same_edit, [_row(one) for one in alike]),
            ("From the same dialogue", same_dialogue, [_row(one) for one in others]),
        ]
        return self._pages.render(
            request,
            "negatives/negative.html",
            file=file,
            n=n,
            index=index,
            negative=negative,
            facts=error_facts(negative),
            turns=[(change, _marked_pieces(negative, turn, change)) for turn, change in enumerate(changes)],
            transforms=_summaries(),
            graphs=[_draw_graphs(turn, graphs, negative.id) for turn, graphs in negative.amr.items()],
            scores=_scores(index, negative),
            neighbours=neighbours,
        )


_IN_PATH = (("file", "file"), ("n", "negative"))


def _filter(state: Mapping[str, str], scores: Sequence[str]) -> Filter:
    """Convert the parameters of a URL, such as ``least.context_overlap=0.5``, into a filter."""
    ranges: dict[str, tuple[float | None, float | None]] = {}
    for name in state:
        side, _, score = name.partition(".")
        if score and side in (LEAST, MOST):
            choice_value({name: score}, name, scores)
            ranges[score] = number(state, f"{LEAST}.{score}"), number(state, f"{MOST}.{score}")
    return Filter({kind: state[kind] for kind in LABELS if kind in state}, state.get("text", ""), ranges)


def _row(one: IndexedNegative) -> Row:
    negative = one.negative
    changes = turn_changes(negative)
    edited = [(turn, change) for turn, change in enumerate(changes) if _marked_pieces(negative, turn, change)]
    pieces = [(f"turn {turn}", _marked_pieces(negative, turn, change)) for turn, change in edited]
    last = len(changes) - 1
    # If no turn was edited because a generator wrote the response, show the response without marking changes.
    if not edited:
        pieces = [(f"turn {last}", [(False, negative.response, negative.response)])]
    first = edited[0][0] if edited else last
    return Row(one.n, negative, tuple(pieces), changes[first - 1].text if first else "")


def _marked_pieces(negative: Negative, turn: int, change: TurnChange) -> Sequence[tuple[bool, str, str]]:
    """Split an edited turn into changed and unchanged phrases; empty if the turn was not edited."""
    # A response that a generator has written as a whole does not count as edited: it has no words in common
    # with the original except by chance.
    is_written = turn == len(negative.context) and not negative.amr
    return () if not change.is_edited or is_written else list(changed_words(change.old, change.text))


def _draw_graphs(turn: str, graphs: EditedPenman, id: str) -> tuple[str, Sequence[Side]]:
    """Return the name of a turn, and the text and drawing of its graph before and after the edits."""
    texts = [graphs.before or "", graphs.after or ""]
    drawings: Sequence[Drawing | None] = (None, None)
    # If one of the graphs cannot be parsed, show both of them as text, without drawings.
    with suppress(GraphnegError):
        drawings = draw_edited(*(parse_graph(text, id) for text in texts))
    return turn, list(zip(("before", "after"), texts, drawings, strict=True))


def _scores(index: NegativesIndex, negative: Negative) -> list[tuple[str, float, Threshold, float]]:
    """Return the name, value and meaning of each score, and the share of records with lower values."""
    spreads = {spread.score: spread for spread in index.score_distributions()}
    return [
        (name, value, THRESHOLDS.get(name, UNKNOWN), spreads[name].share_below(value))
        for name, value in negative.scores.items()
    ]


def _histogram(spread: ScoreDistribution) -> Histogram:
    step = (len(spread.thresholds) - 1) // BARS
    # For each bar, the number of values below its left edge. The last number counts all values.
    below_edges = [*spread.below[:-1:step], spread.amount]
    amounts = [after - before for before, after in pairwise(below_edges)]
    most = max(*amounts, 1)
    width = 100 / len(amounts)
    heights = [round(100 * amount / most, 2) for amount in amounts]
    bars = (Bar(round(width * at, 2), 100 - height, height) for at, height in enumerate(heights))
    # Use the first threshold with at least half of the values below it as an approximation of the median.
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


def _path_to_show(path: Path) -> str:
    """Return a path as a user would type it: relative to the current folder if the file is inside it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
