"""Compute the layouts of an AMR graph before and after its edits, with the differences marked.

A graph is drawn from left to right, with the root at the left. Each leaf has its own row, in the order of the
PENMAN notation. An inner node is vertically centred between its children. A reentrancy (another mention of a
variable) is drawn as an arrow. Each node or edge has a state: kept, changed (the node has a different concept
in the other graph), gone (it is only in the original graph) or new (it is only in the edited graph). All
coordinates are in pixels.

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
"""The state of a node or an edge: in both graphs (``kept``), in both graphs but with a different concept
(``changed``, only for nodes), only in the original graph (``gone``) or only in the edited graph (``new``)."""
ROW, HEIGHT, MARGIN = 38.0, 24.0, 8.0
"""Vertical measures in pixels: the distance between rows, the height of a box, and the margin of the
drawing."""
LETTER, PADDING, GAP = 7.6, 14.0, 34.0
"""Horizontal measures in pixels: the width of a character (the font is monospaced), the padding beside the
label in a box, and the gap beside the label of an edge."""
LONGEST = 36
"""Maximum number of characters of a label."""
HEAD = 4.0
"""Half the width of an arrowhead, in pixels."""


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node, drawn as a box with a label.

    Attributes:
        x: The left edge of the box.
        y: The vertical centre of the box, whose height is `HEIGHT`.
        width: The width of the box.
        label: The concept or constant.
        variable: The variable; empty for a constant.
        state: Whether the node is kept, changed, gone or new; see `State`.
    """

    x: float
    y: float
    width: float
    label: str
    variable: str
    state: State

    @property
    def shown(self) -> str:
        """The label, truncated to `LONGEST` characters."""
        return _shown(self.label)


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """An edge, drawn as a line between two boxes with the role as its label.

    Attributes:
        path: The SVG path of the line.
        role: The role, such as ``ARG0``.
        x: The horizontal position of the label.
        y: The vertical position of the label.
        head: The SVG points of the arrowhead of a reentrancy; empty for an edge of the tree, which has none.
        state: Whether the edge is kept, gone or new; see `State`.
    """

    path: str
    role: str
    x: float
    y: float
    head: str
    state: State


@dataclass(frozen=True, slots=True)
class Drawing:
    """The layout of one graph.

    Attributes:
        width: The width of the drawing.
        height: The height of the drawing.
        nodes: The nodes as boxes.
        edges: The edges as lines.
        described: A description of the edges in words, for users who cannot see the drawing.
    """

    width: float
    height: float
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    described: str


def draw_edited(before: AmrGraph, after: AmrGraph) -> tuple[Drawing, Drawing]:
    """Compute the layouts of a graph before and after its edits.

    Args:
        before: The original graph.
        after: The edited graph.

    Returns:
        The layout of the original graph and the layout of the edited graph.
    """
    pairs = align_nodes(before, after)
    back = {new: old for old, new in pairs.items()}
    return _drawn(before, after, pairs, "gone"), _drawn(after, before, back, "new")


def align_nodes(before: AmrGraph, after: AmrGraph) -> dict[int, int]:
    """Align the nodes of a graph with the nodes of its edited version, starting at the roots.

    The children of two aligned nodes are aligned with each other in three passes: first those with the same
    variable, concept and role, then those with the same variable and concept, then those with the same role.
    If an edit has inserted a new root above the old root, or has removed the root, the root of the smaller
    graph is aligned with the same node inside the larger graph.

    Args:
        before: The original graph.
        after: The edited graph.

    Returns:
        A mapping from node indices of the original graph to node indices of the edited graph.

    Example:
        >>> from graphneg.amr.penman import parse_graph
        >>> old = parse_graph("(l / like-01 :ARG0 (i / i))")
        >>> align_nodes(old, parse_graph("(p / possible-01 :ARG1 (l / like-01 :ARG0 (i / i) :polarity -))"))
        {0: 1, 1: 2}
    """
    old, new = _children(before), _children(after)
    found = _align_roots(before, after)
    pending = list(found.items())
    while pending:
        above, other = pending.pop(0)
        left, right = old[above], new[other]
        for key in (_whole, _named, _role):
            for node in [node for node in left if node.position not in found]:
                # Skip nodes of the edited graph that are already aligned with another node.
                taken = {*found.values()}
                match = next(
                    (one for one in right if one.position not in taken and key(one) == key(node)), None
                )
                if match is not None:
                    found[node.position] = match.position
                    pending.append((node.position, match.position))
    return found


def _align_roots(before: AmrGraph, after: AmrGraph) -> dict[int, int]:
    """Return the first aligned nodes: the two roots, unless an edit has inserted or removed a root.

    In that case, the root of one graph is aligned with the same node inside the other graph.
    """
    tops = before.nodes[0], after.nodes[0]
    # If "I like it" was edited to "I may like it", the old root *like* is below the new root.
    inside = next((node.position for node in after.nodes if _named(node) == _named(tops[0])), None)
    if inside is not None:
        return {0: inside}
    # If "I may like it" was edited to "I like it", the new root *like* was below the old root.
    return {next((node.position for node in before.nodes if _named(node) == _named(tops[1])), 0): 0}


def _named(node: AmrNode) -> tuple[str | None, str]:
    return node.var, node.label


def _whole(node: AmrNode) -> tuple[str | None, str, str | None]:
    return node.var, node.label, node.role


def _role(node: AmrNode) -> str | None:
    return node.role


def _children(graph: AmrGraph) -> list[list[AmrNode]]:
    found: list[list[AmrNode]] = [[] for _ in graph.nodes]
    for node in graph.nodes:
        if node.parent is not None:
            found[node.parent].append(node)
    return found


def _drawn(graph: AmrGraph, other: AmrGraph, pairs: Mapping[int, int], alone: State) -> Drawing:
    boxes = _boxes(graph, other, pairs, alone)
    other_edges = {*_edges_of(other)}
    edges: list[DrawnEdge] = []
    for number, (above, role, below) in enumerate(_edges_of(graph)):
        is_shared = (pairs.get(above, -1), role, pairs.get(below, -1)) in other_edges
        # The first edges are the edges of the tree, one for each node except the root. Draw them as lines.
        # The other edges are reentrancies, which are drawn as arrows.
        draw = _draw_tree_edge if number < len(graph.nodes) - 1 else _draw_reentrancy
        edges.append(draw(boxes[above], boxes[below], role, "kept" if is_shared else alone))
    width = max(box.x + box.width for box in boxes) + MARGIN
    height = max(box.y for box in boxes) + ROW
    return Drawing(width, height, tuple(boxes), tuple(edges), _describe_edges(graph))


def _edges_of(graph: AmrGraph) -> list[tuple[int, str, int]]:
    """Return all edges as triples (parent, role, child): first the edges of the tree, then reentrancies."""
    tree = [(node.parent, node.role or "", node.position) for node in graph.nodes if node.parent is not None]
    return [*tree, *((mention.parent, mention.role, mention.target) for mention in graph.mentions)]


def _boxes(graph: AmrGraph, other: AmrGraph, pairs: Mapping[int, int], alone: State) -> list[DrawnNode]:
    depths, rows = _depths_and_rows(graph)
    lefts = _x_by_depth(graph, depths)
    boxes: list[DrawnNode] = []
    for node in graph.nodes:
        state = alone
        if node.position in pairs:
            state = "kept" if other.nodes[pairs[node.position]].label == node.label else "changed"
        x, y = lefts[depths[node.position]], MARGIN + HEIGHT / 2 + ROW * rows[node.position]
        boxes.append(DrawnNode(x, y, _width(node.label) + PADDING, node.label, node.var or "", state))
    return boxes


def _depths_and_rows(graph: AmrGraph) -> tuple[list[int], list[float]]:
    """Return the depth and the vertical position of each node. Inner nodes are centred on their children."""
    children = _children(graph)
    depths = [0] * len(graph.nodes)
    for node in graph.nodes:
        depths[node.position] = 0 if node.parent is None else depths[node.parent] + 1
    rows = [0.0] * len(graph.nodes)
    leaves = [node.position for node in graph.nodes if not children[node.position]]
    for row, k in enumerate(leaves):
        rows[k] = float(row)
    # An inner node is placed between its children, which have higher indices. So iterate in reverse order, to
    # place the children first.
    for node in reversed(graph.nodes):
        if children[node.position]:
            ends = [rows[child.position] for child in children[node.position]]
            rows[node.position] = (min(ends) + max(ends)) / 2
    return depths, rows


def _x_by_depth(graph: AmrGraph, depths: list[int]) -> list[float]:
    """Return the x coordinate of the nodes at each depth, with room for parent labels and edge labels."""
    lefts = [MARGIN]
    for depth in range(1, max(depths) + 1):
        widest = max(_width(node.label) for node in graph.nodes if depths[node.position] == depth - 1)
        longest = max(_width(node.role or "") for node in graph.nodes if depths[node.position] == depth)
        lefts.append(lefts[-1] + widest + PADDING + longest + GAP)
    return lefts


def _width(text: str) -> float:
    return LETTER * cell_len(_shown(text))


def _shown(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"


def _draw_tree_edge(above: DrawnNode, below: DrawnNode, role: str, state: State) -> DrawnEdge:
    """Draw an edge of the tree, from the right side of the parent's box to the left side of the child's."""
    start, end = above.x + above.width, below.x
    bend = start + GAP / 2
    curve = f"C{bend:.0f} {above.y:.0f} {start:.0f} {below.y:.0f} {bend:.0f} {below.y:.0f}"
    return DrawnEdge(f"M{start:.0f} {above.y:.0f}{curve}H{end:.0f}", role, end - 5, below.y - 4, "", state)


def _draw_reentrancy(above: DrawnNode, below: DrawnNode, role: str, state: State) -> DrawnEdge:
    """Draw a reentrancy as an arrow between the boxes of two nodes. It leaves and enters a box vertically."""
    down = below.y > above.y
    # The arrow goes down or up to the other node. If both nodes are in the same row, it is an arc below them.
    direction = 1 if down or below.y == above.y else -1
    x, y = above.x + above.width / 2, above.y + direction * HEIGHT / 2
    end_x, end = (
        below.x + below.width / 2,
        below.y + (-direction if below.y != above.y else direction) * HEIGHT / 2,
    )
    bend = max(abs(end - y) / 2, ROW / 2)
    last = end + (-direction if below.y != above.y else direction) * bend
    path = f"M{x:.0f} {y:.0f}C{x:.0f} {y + direction * bend:.0f} {end_x:.0f} {last:.0f} {end_x:.0f} {end:.0f}"
    back = end + (-HEAD if last < end else HEAD) * 2
    head = f"{end_x:.0f},{end:.0f} {end_x - HEAD:.0f},{back:.0f} {end_x + HEAD:.0f},{back:.0f}"
    return DrawnEdge(path, role, (x + end_x) / 2, (y + last + end + y + direction * bend) / 4, head, state)


def _describe_edges(graph: AmrGraph) -> str:
    """Describe the edges in words for screen readers, such as ``like-01 ARG0 i; like-01 polarity -``."""
    labels = [node.label for node in graph.nodes]
    edges = (f"{labels[above]} {role} {labels[below]}" for above, role, below in _edges_of(graph))
    return "; ".join(edges) or labels[0]
