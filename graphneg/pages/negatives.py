"""Negatives: a table to filter and sort, a page for each, and what a threshold of a score would keep.

In: the indexes of files. Out: HTML. A table's state is all in its address, so it can be kept and shared.
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
"""``before`` or ``after``, a graph's notation, and its drawing where it can be read."""
ROWS = 50
NEIGHBOURS = 8
BARS = 50
LEAST, MOST = "least", "most"


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a score means, and how ``graphneg select`` takes a threshold of it.

    ``side`` is the one of which there is one; ``model`` is what ``options`` need beside them; ``refusal`` is
    why select leaves out what is beyond the threshold.
    """

    meaning: str
    side: str
    options: str = ""
    model: str = ""
    refusal: str = ""


THRESHOLDS: Mapping[str, Threshold] = {
    CLASH: Threshold(
        "the share of the response's content words that the context has said",
        *(LEAST, f"--least {CLASH}=", "", UNRELATED),
    ),
    FIT: Threshold(
        "of the nouns under a predicate of the edited graph, the share that it is seen with",
        *(LEAST, f"--least {FIT}=", "", UNFIT),
    ),
    ANSWERS: Threshold(
        "how well it would do as a reply, by a judge", MOST, "--max-score ", "--judge MODEL", "it answers"
    ),
    FORWARD: Threshold(
        "perplexity of the response after its context",
        *(MOST, "--forward-threshold ", "--model MODEL", "it is unlikely here"),
    ),
    BACKWARD: Threshold(
        "perplexity of the context, given the response",
        *(MOST, "--backward-threshold ", "--model MODEL", "its context is unlikely"),
    ),
}
UNKNOWN = Threshold("a score of the generator", LEAST)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram, in hundredths of its width and height."""

    left: float
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """A score's bars, and what its slider needs; ``summary`` says it in words."""

    spread: Spread
    threshold: Threshold
    bars: tuple[Bar, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class Row:
    """A negative in a table: each edited turn in pieces, else the response whole."""

    n: int
    negative: Negative
    pieces: tuple[tuple[str, Sequence[tuple[bool, str, str]]], ...]
    before: str


class NegativesView:
    """Shows indexed files of negatives."""

    title = "Negatives"
    path = "/negatives"

    def __init__(self, indexes: Sequence[NegativesIndex]) -> None:
        self._indexes = indexes

    def routes(self, pages: Pages) -> Sequence[Route]:
        """The table, what thresholds keep (JSON), and one negative."""
        self._pages = pages
        return [
            Route(self.path, self._table),
            Route(f"{self.path}/kept", self._kept),
            Route(f"{self.path}/{{file}}/{{n}}", self._negative),
        ]

    @property
    def is_empty(self) -> bool:
        """Return whether no file has a negative."""
        return not any(index.total for index in self._indexes)

    def close(self) -> None:
        """Nothing is held open."""

    def _index(self, number: int) -> NegativesIndex:
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
    """Return what a table's address asks for: ``corpus=``, ``text=``, ``least.clash=``, ``most.clash=``.

    Raises:
        InputError: A limit is no number, or of no score of the file.
    """
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
    if not edited:
        pieces = [(f"turn {last}", [(False, negative.response, negative.response)])]
    first = edited[0][0] if edited else last
    return Row(one.n, negative, tuple(pieces), changes[first - 1].text if first else "")


def _pieces(negative: Negative, turn: int, change: TurnChange) -> Sequence[tuple[bool, str, str]]:
    """What an edit changed in a turn; nothing where it is as it was, or is another text altogether."""
    is_written = turn == len(negative.context) and not negative.amr
    return () if not change.is_edited or is_written else list(changed_words(change.old, change.text))


def _graphs(turn: str, graphs: Mapping[str, str | None], id: str) -> tuple[str, Sequence[Side]]:
    """A turn and its graph on either side."""
    texts = [graphs[side] or "" for side in ("before", "after")]
    drawings: Sequence[Drawing | None] = (None, None)
    with suppress(GraphnegError):
        drawings = draw_edited(*(parse_graph(text, id) for text in texts))
    return turn, list(zip(("before", "after"), texts, drawings, strict=True))


def _scores(index: NegativesIndex, negative: Negative) -> list[tuple[str, float, Threshold, float]]:
    """Each score's name and value, what it means, and the share of wrong responses that score less."""
    spreads = {spread.score: spread for spread in index.spreads()}
    return [
        (name, value, THRESHOLDS.get(name, UNKNOWN), spreads[name].share_below(value))
        for name, value in negative.scores.items()
    ]


def _histogram(spread: Spread) -> Histogram:
    step = (len(spread.thresholds) - 1) // BARS
    edges = [*spread.below[:-1:step], spread.amount]
    amounts = [after - before for before, after in pairwise(edges)]
    most = max(*amounts, 1)
    width = 100 / len(amounts)
    heights = [round(100 * amount / most, 2) for amount in amounts]
    bars = (Bar(round(width * at, 2), 100 - height, height) for at, height in enumerate(heights))
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
    """As a user in the same folder would name it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
