"""A graph as the one line that graph-to-text models read.

The amrlib generators were trained on PENMAN without comment lines, each run of white space
one space, and no task prefix before it (amrlib 0.8.1, ``models/generate_xfm``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graphneg.model import AmrGraph
from graphneg.penman_codec import format_graph

Serialiser = Callable[[AmrGraph], str]


def one_line(graph: AmrGraph) -> str:
    """The graph on one line, without comment lines and alignment marks.

    >>> from graphneg.penman_codec import parse_graph
    >>> one_line(parse_graph("# ::id 1\\n(l / like-01~e.1\\n   :ARG0 (i / i))"))
    '(l / like-01 :ARG0 (i / i))'
    """
    bare = replace(
        graph,
        metadata=(),
        nodes=tuple(node._replace(align=None, role_align=None) for node in graph.nodes),
        mentions=tuple(mention._replace(align=None, role_align=None) for mention in graph.mentions),
    )
    return " ".join(format_graph(bare).split())
