"""Sentences with their graphs, as the parts of the surface decoder take them."""

from __future__ import annotations

from graphneg.amr.penman import parse_graph
from graphneg.decoders.surface.draft import Readings
from graphneg.decoders.surface.sentence import Sentence

READINGS = Readings()


def sentence(text: str, graph: str = "(t / thing)") -> Sentence:
    """The sentence that a text and a graph make."""
    return Sentence(READINGS.of(text, parse_graph(graph)))


def node(of: Sentence, concept: str) -> int:
    """The number of the first node with a concept."""
    return next(node.k for node in of.graph.nodes if node.label == concept)
