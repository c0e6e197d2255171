"""Convert a graph into a tree of mutable nodes, and convert an edited tree back into a graph.

An `AmrGraph` is immutable and numbers its nodes. Edits change a tree instead, whose nodes know their parents,
and which contains each mention of a node (a reentrancy) in its place. `freeze` numbers the nodes again and
chooses variables for new nodes:

>>> from graphneg.amr.penman import format_graph, parse_graph
>>> graph = parse_graph("(l / like-01 :ARG0 (i / i) :ARG1 (t / tea))", "a")
>>> nodes = mutable_nodes(graph)
>>> nodes["a", 0].attach(MutableNode("polarity", value="-"))
>>> edited, numbers = freeze(graph, nodes["a", 0])
>>> format_graph(edited).splitlines()[-1]
'   :polarity -)'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from operator import itemgetter

from graphneg.english.noun_kinds import lexeme
from graphneg.model import AmrGraph, AmrNode, Mention

_LETTER = re.compile(r"[a-z]")


@dataclass(slots=True, eq=False)
class MutableNode:
    """A node, or a mention of a node (a reentrancy), while edits are applied.

    Attributes:
        role: The role under its parent; None for the top.
        concept: The concept; None for a constant or a mention.
        value: The constant; None for other nodes.
        var: The variable; None if `freeze` must choose one.
        align: The alignment mark of the node.
        role_align: The alignment mark of the role.
        key: The graph id, and the node index before the edits. None for a new node or a mention.
        span: The token span of the node.
        target: The mentioned node; None if this is not a mention.
        parent: The parent; None for the top.
        below: The children and mentions in written order.
        position: The index of the node, set by `freeze`.
        subtree_last: The highest node index in the subtree, set by `freeze`.
        branch: The position under the parent, set by `freeze`.
    """

    role: str | None
    concept: str | None = None
    value: str | None = None
    var: str | None = None
    align: str | None = None
    role_align: str | None = None
    key: tuple[str, int] | None = None
    span: tuple[int, int] | None = None
    target: MutableNode | None = None
    parent: MutableNode | None = None
    below: list[MutableNode] = field(default_factory=list["MutableNode"])
    position: int = 0
    subtree_last: int = 0
    branch: int = 0

    def attach(self, child: MutableNode, at: int | None = None) -> None:
        """Add a child.

        Args:
            child: The child to add: a node, or a mention of a node (a repeated variable).
            at: The position among the children; None adds the child at the end.
        """
        child.parent = self
        self.below.insert(len(self.below) if at is None else at, child)

    def detach(self) -> int:
        """Remove the node from its parent.

        Returns:
            The position that the node had among the children.
        """
        assert self.parent is not None
        at = next(i for i, sibling in enumerate(self.parent.below) if sibling is self)
        del self.parent.below[at]
        self.parent = None
        return at

    def copied(self) -> MutableNode:
        """Return a copy of the subtree without variables, alignments and mentions."""
        copy = MutableNode(self.role, self.concept, self.value)
        for child in self.below:
            if child.target is None:
                copy.attach(child.copied())
        return copy

    def walk(self) -> Iterator[MutableNode]:
        """Iterate over the subtree in written order.

        Yields:
            The nodes and mentions.
        """
        pending: list[MutableNode] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.below))


def mutable_nodes(graph: AmrGraph) -> dict[tuple[str, int], MutableNode]:
    """Convert a graph into a mutable tree. The tree also contains the mentions: repeated variables.

    Args:
        graph: The graph to convert.

    Returns:
        The nodes, keyed by graph id and node index. A mention has no index, so it is only in the attribute
        `below` of its parent.
    """
    spans = graph.spans
    mutable = [
        MutableNode(role, concept, value, var, align, role_align, (graph.id, k), spans.get(k))
        for k, _, var, concept, value, _, role, _, align, role_align in graph.nodes
    ]
    for before, node in zip(graph.nodes, mutable, strict=True):
        if before.parent is not None:
            node.parent = mutable[before.parent]
            node.parent.below.append(node)
    # An `AmrGraph` stores mentions (repeated variables) in a separate list. In the tree, insert each mention
    # among the children of its parent, in written order.
    order = {id(mutable[node.position]): node.branch for node in graph.nodes} if graph.mentions else {}
    for mention in graph.mentions:
        node = MutableNode(mention.role, align=mention.align, role_align=mention.role_align)
        node.target = mutable[mention.target]
        mutable[mention.parent].attach(node)
        order[id(node)] = mention.branch
    for k in {mention.parent for mention in graph.mentions}:
        mutable[k].below.sort(key=lambda node: order[id(node)])
    return {(graph.id, k): node for k, node in enumerate(mutable)}


def freeze(original: AmrGraph, top: MutableNode) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
    """Convert a mutable tree into an immutable graph.

    Nodes are numbered in written order, and new nodes get variables.

    Args:
        original: The graph before the edits. Its id becomes the id of the new graph.
        top: The top of the mutable tree.

    Returns:
        The graph, and a mapping from the `MutableNode.key` of each original or copied node to its new number.
    """
    top.role, top.role_align = None, None
    placed: list[MutableNode] = []
    mentioned: list[MutableNode] = []
    for node in top.walk():
        # Number only the nodes that have a concept or value. A reentrancy is a mention of such a node, so it
        # gets a position among the children of its parent (`branch`), but no number.
        if node.target is None:
            node.position = node.subtree_last = len(placed)
            placed.append(node)
        else:
            mentioned.append(node)
        for pos, child in enumerate(node.below):
            child.branch = pos
    _choose_variables(placed)
    for node in reversed(placed):
        if node.parent is not None:
            node.parent.subtree_last = max(node.parent.subtree_last, node.subtree_last)
    nodes = tuple(
        AmrNode(
            n.position,
            n.subtree_last,
            n.var,
            n.concept,
            n.value,
            n.parent and n.parent.position,
            n.role,
            n.branch,
            n.align,
            n.role_align,
        )
        for n in placed
    )
    mentions = [
        Mention(m.parent.position, m.role or "", m.branch, m.target.position, m.align, m.role_align)
        for m in mentioned
        if m.parent and m.target
    ]
    mentions.sort(key=itemgetter(0, 2))
    after = {node.key: node.position for node in placed if node.key is not None}
    spans = {node.position: node.span for node in placed if node.span is not None}
    return AmrGraph(original.id, nodes, tuple(mentions), (), spans), after


def _choose_variables(mutable: Sequence[MutableNode]) -> None:
    """Choose a variable for each node without one, as annotators do: the concept's first letter, ``l2``, ...

    If a variable equals a constant, it is replaced as well, because PENMAN notation does not distinguish
    them.
    """
    constants = {node.value for node in mutable if node.value is not None}
    taken = {node.var or "" for node in mutable} | constants
    for node in mutable:
        if node.value is None and (node.var is None or node.var in constants):
            first = letter(node.concept or "")
            names = chain([first], (f"{first}{number}" for number in count(2)))
            node.var = next(name for name in names if name not in taken)
            taken.add(node.var)


def letter(concept: str) -> str:
    """Return the letter with which the variable of a concept begins: the first letter of its lemma.

    Args:
        concept: The concept, such as ``like-01``.

    Returns:
        The letter; ``x`` if the lemma contains no letter.

    Example:
        >>> letter("like-01"), letter("2-3")
        ('l', 'x')
    """
    match = _LETTER.search(lexeme(concept))
    return match[0] if match else "x"
