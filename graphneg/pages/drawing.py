"""Lay out an AMR graph before and after its edits, for a drawing with the differences marked.

The layers of a drawing go from left to right by depth in the tree. Each leaf has a row of its own, in the
order of the PENMAN notation; an inner node is centred between its children. A reentrancy (another mention of
a variable) is an arrow. Nodes and edges are marked as kept, changed (another concept in the same place), gone
or new. All coordinates are in pixels.

Example:
    >>> from graphneg.amr.penman import parse_graph
    >>> old = parse_graph("(l / like-01 :ARG0 (i / i))")
    >>> new = parse_graph("(h / hate-01 :ARG0 (i / i))")
    >>> [(node.label, node.state) for node in draw_edited(old, new)[1].nodes]
    [('hate-01', 'changed'), ('i', 'kept')]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from graphneg.model import AmrGraph, AmrNode

State = Literal["kept", "changed", "gone", "new"]
"""How a node or an edge compares with the other graph."""
ROW, HEIGHT, MARGIN = 38.0, 24.0, 8.0
"""Pixels: the distance of two rows, the height of a box, and the margin of the drawing."""
LETTER, PADDING, GAP = 7.6, 14.0, 34.0
"""Widths in pixels: of one character (the font is monospaced), of the space in a box, and beside a role."""
LONGEST = 36
"""Maximum number of characters of a label."""
HEAD = 4.0
"""Half the width of an arrowhead, in pixels."""


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A box with a label.

    Attributes:
        x: The left end.
        y: The vertical centre; the height is `HEIGHT`.
        width: The width.
        label: The concept or constant.
        variable: The variable; empty for a constant.
        state: How the node compares with the other graph.
    """

    x: float
    y: float
    width: float
    label: str
    variable: str
    state: State

    @property
    def shown(self) -> str:
        """The label, shortened to `LONGEST` characters."""
        return _shown(self.label)


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """A line from one box to another, with the role as a label.

    Attributes:
        path: The SVG path of the line.
        role: The role.
        x: The position of the label.
        y: The position of the label.
        head: The SVG points of the arrowhead of a reentrancy; empty for an edge of the tree.
        state: How the edge compares with the other graph.
    """

    path: str
    role: str
    x: float
    y: float
    head: str
    state: State


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing of one graph.

    Attributes:
        width: The width of the drawing.
        height: The height of the drawing.
        nodes: The boxes.
        edges: The lines.
        described: The edges in words, for readers who cannot see the drawing.
    """

    width: float
    height: float
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    described: str


def draw_edited(before: AmrGraph, after: AmrGraph) -> tuple[Drawing, Drawing]:
    """Draw a graph before and after its edits.

    Args:
        before: The original graph.
        after: The edited graph.

    Returns:
        A drawing of each graph. What the graphs do not share is marked.
    """
    pairs = paired_nodes(before, after)
    back = {new: old for old, new in pairs.items()}
    return _drawn(before, after, pairs, "gone"), _drawn(after, before, back, "new")


def paired_nodes(before: AmrGraph, after: AmrGraph) -> dict[int, int]:
    """Pair the nodes of a graph with those of its edited version, from the tops down.

    Among the children of paired nodes, those with the same variable, concept and role are paired first, then
    those whose role changed, then those with another concept in the same role. If one graph was wrapped in a
    new top, it is found inside the other.

    Args:
        before: The original graph.
        after: The edited graph.

    Returns:
        The node numbers of the edited graph by those of the original.

    Example:
        >>> from graphneg.amr.penman import parse_graph
        >>> old = parse_graph("(l / like-01 :ARG0 (i / i))")
        >>> paired_nodes(old, parse_graph("(p / possible-01 :ARG1 (l / like-01 :ARG0 (i / i) :polarity -))"))
        {0: 1, 1: 2}
    """
    old, new = _children(before), _children(after)
    found = _starts(before, after)
    waiting = list(found.items())
    while waiting:
        above, other = waiting.pop(0)
        left, right = old[above], new[other]
        for key in (_whole, _named, _role):
            for node in [node for node in left if node.k not in found]:
                # Two nodes of the original must not be paired with the same node.
                taken = {*found.values()}
                twin = next((one for one in right if one.k not in taken and key(one) == key(node)), None)
                if twin is not None:
                    found[node.k] = twin.k
                    waiting.append((node.k, twin.k))
    return found


def _starts(before: AmrGraph, after: AmrGraph) -> dict[int, int]:
    """Pair the top of one graph with the same node in the other; if there is none, pair both tops."""
    tops = before.nodes[0], after.nodes[0]
    # Wrapped: "I like it" became the argument of possible-01.
    inside = next((node.k for node in after.nodes if _named(node) == _named(tops[0])), None)
    if inside is not None:
        return {0: inside}
    # Unwrapped: the argument of possible-01 became the top.
    return {next((node.k for node in before.nodes if _named(node) == _named(tops[1])), 0): 0}


def _named(node: AmrNode) -> tuple[str | None, str]:
    return node.var, node.label


def _whole(node: AmrNode) -> tuple[str | None, str, str | None]:
    return node.var, node.label, node.role


def _role(node: AmrNode) -> str | None:
    return node.role


def _children(graph: AmrGraph) -> list[list[AmrNode]]:
    found: list[list[AmrNode]] = [[] for _ in graph.nodes]
    for node in graph.nodes:
        if node.up is not None:
            found[node.up].append(node)
    return found


def _drawn(graph: AmrGraph, other: AmrGraph, pairs: Mapping[int, int], alone: State) -> Drawing:
    boxes = _boxes(graph, other, pairs, alone)
    theirs = {*_triples(other)}
    edges: list[DrawnEdge] = []
    for number, (above, role, below) in enumerate(_triples(graph)):
        is_shared = (pairs.get(above, -1), role, pairs.get(below, -1)) in theirs
        # The edges of the tree come first: one for each node but the top.
        draw = _branch if number < len(graph.nodes) - 1 else _arrow
        edges.append(draw(boxes[above], boxes[below], role, "kept" if is_shared else alone))
    width = max(box.x + box.width for box in boxes) + MARGIN
    height = max(box.y for box in boxes) + ROW
    return Drawing(width, height, tuple(boxes), tuple(edges), _described(graph))


def _triples(graph: AmrGraph) -> list[tuple[int, str, int]]:
    """Return the edges of the tree, then the reentrancies."""
    tree = [(node.up, node.role or "", node.k) for node in graph.nodes if node.up is not None]
    return [*tree, *((mention.up, mention.role, mention.target) for mention in graph.mentions)]


def _boxes(graph: AmrGraph, other: AmrGraph, pairs: Mapping[int, int], alone: State) -> list[DrawnNode]:
    depths, rows = _places(graph)
    lefts = _lefts(graph, depths)
    boxes: list[DrawnNode] = []
    for node in graph.nodes:
        state = alone
        if node.k in pairs:
            state = "kept" if other.nodes[pairs[node.k]].label == node.label else "changed"
        x, y = lefts[depths[node.k]], MARGIN + HEIGHT / 2 + ROW * rows[node.k]
        boxes.append(DrawnNode(x, y, _width(node.label) + PADDING, node.label, node.var or "", state))
    return boxes


def _places(graph: AmrGraph) -> tuple[list[int], list[float]]:
    """Return the layer and the row of each node; an inner node is in the middle of its children."""
    children = _children(graph)
    depths = [0] * len(graph.nodes)
    for node in graph.nodes:
        depths[node.k] = 0 if node.up is None else depths[node.up] + 1
    rows = [0.0] * len(graph.nodes)
    leaves = [node.k for node in graph.nodes if not children[node.k]]
    for row, k in enumerate(leaves):
        rows[k] = float(row)
    # Children have higher numbers than their parent, so their rows are known by now.
    for node in reversed(graph.nodes):
        if children[node.k]:
            ends = [rows[child.k] for child in children[node.k]]
            rows[node.k] = (min(ends) + max(ends)) / 2
    return depths, rows


def _lefts(graph: AmrGraph, depths: list[int]) -> list[float]:
    """Return the left end of each layer, after the widest label and the longest role before it."""
    lefts = [MARGIN]
    for depth in range(1, max(depths) + 1):
        widest = max(_width(node.label) for node in graph.nodes if depths[node.k] == depth - 1)
        longest = max(_width(node.role or "") for node in graph.nodes if depths[node.k] == depth)
        lefts.append(lefts[-1] + widest + PADDING + longest + GAP)
    return lefts


def _width(text: str) -> float:
    return LETTER * cell_len(_shown(text))


def _shown(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _branch(above: DrawnNode, below: DrawnNode, role: str, state: State) -> DrawnEdge:
    """Draw an edge of the tree, from the right end of a box to the left end of its child."""
    start, end = above.x + above.width, below.x
    bend = start + GAP / 2
    curve = f"C{bend:.0f} {above.y:.0f} {start:.0f} {below.y:.0f} {bend:.0f} {below.y:.0f}"
    return DrawnEdge(f"M{start:.0f} {above.y:.0f}{curve}H{end:.0f}", role, end - 5, below.y - 4, "", state)


def _arrow(above: DrawnNode, below: DrawnNode, role: str, state: State) -> DrawnEdge:
    """Draw a reentrancy, which leaves and reaches the boxes vertically."""
    down = below.y > above.y
    # Boxes in the same row are connected by an arc below them.
    way = 1 if down or below.y == above.y else -1
    x, y = above.x + above.width / 2, above.y + way * HEIGHT / 2
    to, end = below.x + below.width / 2, below.y + (-way if below.y != above.y else way) * HEIGHT / 2
    bend = max(abs(end - y) / 2, ROW / 2)
    last = end + (-way if below.y != above.y else way) * bend
    path = f"M{x:.0f} {y:.0f}C{x:.0f} {y + way * bend:.0f} {to:.0f} {last:.0f} {to:.0f} {end:.0f}"
    back = end + (-HEAD if last < end else HEAD) * 2
    head = f"{to:.0f},{end:.0f} {to - HEAD:.0f},{back:.0f} {to + HEAD:.0f},{back:.0f}"
    return DrawnEdge(path, role, (x + to) / 2, (y + last + end + y + way * bend) / 4, head, state)


def _described(graph: AmrGraph) -> str:
    """Describe the edges in words: ``like-01 ARG0 i; like-01 polarity -``."""
    labels = [node.label for node in graph.nodes]
    edges = (f"{labels[above]} {role} {labels[below]}" for above, role, below in _triples(graph))
    return "; ".join(edges) or labels[0]
