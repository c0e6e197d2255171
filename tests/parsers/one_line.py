"""Write parsed graphs on one line, so that tests can search for a part of a graph."""

from __future__ import annotations

from graphneg.amr.penman import format_graph
from graphneg.parsers.dependency.parser import DependencyParser


def parsed_line(parser: DependencyParser, text: str) -> str:
    """Parse a text, and return its graph on one line with single spaces."""
    graph = parser.parse_batch([text])[0].graph
    assert graph is not None
    return " ".join(format_graph(graph).split())
