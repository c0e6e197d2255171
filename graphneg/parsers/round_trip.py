"""Round trips: a text parsed back, and how far its graph is the one that the text was written for.

In: graphs and texts. Out: for each pair the triples that Smatch matches. Parser and Smatch run in
processes of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from graphneg.amr.penman import flat_graph
from graphneg.amr.smatch import SMATCH, Compared, GraphPair, Tally
from graphneg.model import AmrGraph
from graphneg.parsers.jobs import BATCH, open_pool
from graphneg.workers import Workers

_MATCHER = "graphneg.amr.smatch:matcher"


class RoundTrip(AbstractContextManager["RoundTrip"]):
    """Parses texts and matches their graphs, in ``processes`` of each kind; used in a ``with``, or closed.

    What a pair gets depends on nothing but itself.

    Raises `ParserError`: there is no such parser, or it can't be made.
    """

    def __init__(
        self, parser: str = "dependency", options: Mapping[str, Any] | None = None, *, processes: int = 1
    ) -> None:
        self._pool = open_pool(parser, options, processes)
        self.parser = self._pool.source
        self._matchers = Workers[Sequence[GraphPair], list[Compared]](_MATCHER, (0, (SMATCH,)), processes)

    def tallies(self, pairs: Sequence[tuple[AmrGraph, str | None]]) -> list[Tally]:
        """Triples in both, in the text's graph, and in the given one; a text that is None has no graph.

        Raises `InputError`: the package ``smatch`` is not installed.
        """
        parts = [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]
        return [tally for some in self._matchers.map(self._parsed(parts)) for tally in map(_tally, some)]

    def close(self) -> None:
        """End the processes."""
        self._matchers.close()
        self._pool.close()

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _parsed(self, parts: Sequence[Sequence[tuple[AmrGraph, str | None]]]) -> Iterator[list[GraphPair]]:
        """Pairs of graphs; all have number 0, so that Smatch's random starts are the same for each."""
        texts = ((part, [text or "" for _, text in part]) for part in parts)
        for part, answers in self._pool.parse_beside(texts):
            yield [
                GraphPair(0, flat_graph(answer.graph) if text and answer.graph else None, flat_graph(graph))
                for (graph, text), answer in zip(part, answers, strict=True)
            ]


def _tally(compared: Compared) -> Tally:
    """The pair's; of one whose given graph Smatch can't read, no triples."""
    return compared.tallies[SMATCH] if compared.tallies else Tally(0, 0, 0)
