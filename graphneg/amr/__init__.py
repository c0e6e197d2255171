"""Read, write, check, align and edit AMR graphs.

Graphs are written in PENMAN notation. `parse_graph` and `format_graph` convert between text and graph,
`check` reports defects, `align` finds the tokens that express each node, and `apply_edits` returns an edited
copy.

>>> from graphneg.amr import check, format_graph, parse_graph
>>> graph = parse_graph("(l / like-01 :ARG0 (i / i) :polarity - :polarity -)")
>>> [defect.code for defect in check(graph)]
['double-polarity']
"""

from __future__ import annotations

from graphneg.amr.alignment import align, get_aligner
from graphneg.amr.overlay import apply_edits
from graphneg.amr.penman import format_graph, is_inverted, iter_blocks, metadata, parse_graph
from graphneg.amr.wellformed import CODES, Defect, check, check_file

__all__ = [
    "CODES",
    "Defect",
    "align",
    "apply_edits",
    "check",
    "check_file",
    "format_graph",
    "get_aligner",
    "is_inverted",
    "iter_blocks",
    "metadata",
    "parse_graph",
]
