"""One graph of several: the sentences of an utterance under ``multi-sentence``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from graphneg.model import AmrGraph, AmrNode, Mention


def joined(graphs: Sequence[AmrGraph]) -> AmrGraph:
    """The graphs as ``:snt1``, ``:snt2``, ... of one, variables made unique; one graph as it is.

    ``spans`` are kept as they are: they must count in the tokens of the whole text.

    >>> from graphneg.penman_codec import format_graph, parse_graph
    >>> print(format_graph(joined([parse_graph("(g / go-02)"), parse_graph("(g / good)")])))
    (m / multi-sentence
       :snt1 (g / go-02)
       :snt2 (g2 / good))
    """
    if len(graphs) == 1:
        return graphs[0]
    total = 1 + sum(len(graph.nodes) for graph in graphs)
    nodes = [AmrNode(0, total - 1, "m", "multi-sentence", None, None, None, 0)]
    mentions: list[Mention] = []
    spans: dict[int, tuple[int, int]] = {}
    taken = {"m"}
    for number, graph in enumerate(graphs):
        first = len(nodes)
        for node in graph.nodes:
            placed = node._replace(k=node.k + first, last=node.last + first, var=_unique(node.var, taken))
            if node.up is None:
                nodes.append(placed._replace(up=0, role=f"snt{number + 1}", pos=number))
            else:
                nodes.append(placed._replace(up=node.up + first))
        mentions += [one._replace(up=one.up + first, target=one.target + first) for one in graph.mentions]
        spans |= {k + first: span for k, span in graph.spans.items()}
    return AmrGraph("", tuple(nodes), tuple(mentions), (), spans)


def _unique(variable: str | None, taken: set[str]) -> str | None:
    if variable is None:
        return None
    stem = variable.rstrip("0123456789") or "x"
    name = variable
    for number in count(2):
        if name not in taken:
            break
        name = f"{stem}{number}"
    taken.add(name)
    return name
