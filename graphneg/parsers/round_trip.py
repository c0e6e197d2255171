"""Parse decoded texts back and compare their graphs with the graphs that they were decoded from.

A decoder is faithful if the round trip returns the same graph. Smatch (Cai and Knight 2013) counts the
triples that both graphs share. The parser and Smatch run in worker processes.
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
    """A parser and Smatch in worker processes; use it in a ``with`` statement, or close it.

    The result of a pair does not depend on the other pairs.

    Attributes:
        parser: Name and version of the parser.
    """

    def __init__(
        self, parser: str = "dependency", options: Mapping[str, Any] | None = None, *, processes: int = 1
    ) -> None:
        """Initialize the worker processes.

        A `ParserError` says if there is no such parser or if it cannot be made.

        Args:
            parser: Name of the parser.
            options: Arguments of the parser.
            processes: Number of processes for the parser, and of processes for Smatch.
        """
        self._pool = open_pool(parser, options, processes)
        self.parser = self._pool.source
        self._matchers = Workers[Sequence[GraphPair], list[Compared]](_MATCHER, (0, (SMATCH,)), processes)

    def tallies(self, pairs: Sequence[tuple[AmrGraph, str | None]]) -> list[Tally]:
        """Count the triples of each pair.

        An `InputError` says if the package ``smatch`` is not installed.

        Args:
            pairs: A graph and the text that was decoded from it; a text of ``None`` counts as an empty graph.

        Returns:
            Per pair the number of triples in both graphs, in the text's graph, and in the given graph.
        """
        parts = [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]
        return [tally for some in self._matchers.map(self._parsed(parts)) for tally in map(_tally, some)]

    def close(self) -> None:
        """End the processes."""
        self._matchers.close()
        self._pool.close()

    def __exit__(self, *raised: object) -> None:
        """Close the round trip."""
        self.close()

    def _parsed(self, parts: Sequence[Sequence[tuple[AmrGraph, str | None]]]) -> Iterator[list[GraphPair]]:
        """Yield batches of graph pairs."""
        texts = ((part, [text or "" for _, text in part]) for part in parts)
        for part, answers in self._pool.parse_beside(texts):
            # All pairs have number 0, which seeds Smatch's random restarts, so that the same pair always gets
            # the same result.
            yield [
                GraphPair(0, flat_graph(answer.graph) if text and answer.graph else None, flat_graph(graph))
                for (graph, text), answer in zip(part, answers, strict=True)
            ]


def _tally(compared: Compared) -> Tally:
    """Return the counts of a pair, or zeros if Smatch cannot read the given graph."""
    return compared.tallies[SMATCH] if compared.tallies else Tally(0, 0, 0)
