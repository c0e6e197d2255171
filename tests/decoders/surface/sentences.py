"""Helpers of the tests of the surface decoder: sentences with their graphs."""

from __future__ import annotations

from collections.abc import Callable

from graphneg.amr.penman import parse_graph
from graphneg.decoders.surface.analysis.alignment import AlignmentCache
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.draft import RealisationError

READINGS = AlignmentCache()


def sentence(text: str, graph: str = "(t / thing)") -> SentenceDraft:
    """Return the sentence of a text and its graph."""
    return SentenceDraft(READINGS.get(text, parse_graph(graph)))


def node(of: SentenceDraft, concept: str) -> int:
    """Return the position of the first node with a label."""
    return next(node.position for node in of.graph.nodes if node.label == concept)


def changed(change: Callable[..., None], text: str, graph: str, at: int | str = 0, *given: object) -> str:
    """Return the text after a change at a node (its position or label), or the code of its refusal."""
    said = sentence(text, graph)
    try:
        change(said, node(said, at) if isinstance(at, str) else at, *given)
    except RealisationError as why:
        return why.code
    return said.finish()
