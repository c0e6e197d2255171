"""Parse generated texts, and compare the resulting graphs with the graphs from which they were generated.

A decoder generates a text from a graph. If the text preserves the meaning of the graph, parsing the text
returns the same graph. Smatch (Cai and Knight 2013) measures the similarity of the two graphs by the triples
that both contain. The parser and Smatch run in worker processes.
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
    """Worker processes that parse generated texts and compare their graphs with the original graphs.

    Use a `RoundTrip` in a ``with`` statement, or call `close` at the end.

    The result for a graph and its text does not depend on the other graphs and texts.

    Attributes:
        parser: Name and version of the parser.
    """

    def __init__(
        self, parser: str = "dependency", options: Mapping[str, Any] | None = None, *, processes: int = 1
    ) -> None:
        """Start the worker processes.

        Raises `ParserError` if there is no such parser or if it cannot be created.

        Args:
            parser: Name of the parser.
            options: Arguments for the constructor of the parser.
            processes: Number of worker processes for the parser. The same number of further processes is
                started for Smatch.
        """
        self._pool = open_pool(parser, options, processes)
        self.parser = self._pool.source
        self._matchers = Workers[Sequence[GraphPair], list[Compared]](_MATCHER, (0, (SMATCH,)), processes)

    def tallies(self, pairs: Sequence[tuple[AmrGraph, str | None]]) -> list[Tally]:
        """Parse each generated text, and count the triples that its graph shares with the original graph.

        Raises `InputError` if the package ``smatch`` is not installed.

        Args:
            pairs: Pairs of a graph and the text generated from it; ``None`` counts as a text with an empty
                graph.

        Returns:
            For each pair, three counts: the triples in both graphs, the triples in the parsed graph of the
            text, and the triples in the original graph.
        """
        parts = [pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH)]
        return [
            tally for some in self._matchers.map(self._parsed(parts)) for tally in map(_count_triples, some)
        ]

    def close(self) -> None:
        """End the worker processes."""
        self._matchers.close()
        self._pool.close()

    def __exit__(self, *raised: object) -> None:
        """End the worker processes."""
        self.close()

    def _parsed(self, parts: Sequence[Sequence[tuple[AmrGraph, str | None]]]) -> Iterator[list[GraphPair]]:
        """Parse the texts of each batch, and yield the batches as graph pairs for Smatch."""
        texts = ((part, [text or "" for _, text in part]) for part in parts)
        for part, answers in self._pool.parse_tagged(texts):
            # The number in a `GraphPair` is the seed for Smatch's random restarts. All pairs get the number
            # 0, so that the result for a pair does not depend on its position in the list.
            yield [
                GraphPair(0, flat_graph(answer.graph) if text and answer.graph else None, flat_graph(graph))
                for (graph, text), answer in zip(part, answers, strict=True)
            ]


def _count_triples(compared: Compared) -> Tally:
    """Return Smatch's counts of triples for two graphs; zeros if Smatch cannot read the original graph."""
    return compared.tallies[SMATCH] if compared.tallies else Tally(0, 0, 0)
