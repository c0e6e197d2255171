"""Index a graph for look-ups: concepts, children, classes and edges by node number.

The feature modules (`graphneg.amr.clauses`, `graphneg.amr.nouns`, `graphneg.amr.times`) ask the same
questions about a graph many times. `Reading` computes the answers once.
"""

from __future__ import annotations

from functools import cached_property

from graphneg.amr.penman import is_inverted
from graphneg.english.lexicon import Lexicon
from graphneg.english.noun_kinds import OTHER, is_frame, kind_of
from graphneg.model import AmrGraph, AmrNode

REIFIED = "reified"
"""Class of all ``-91`` frames, in addition to the classes of the lexicon."""
ASKING = frozenset({"amr-unknown", "interrogative"})
"""Labels of nodes that make a clause a question."""


class Reading:
    """A graph with the classes that a lexicon gives its concepts; all lists are indexed by node number.

    Args:
        graph: The graph.
        lexicon: The lexicon.

    Attributes:
        graph: The graph.
        nodes: Its nodes.
        lexicon: The lexicon.
        size: The number of nodes.
        labels: Concept or constant of each node.
        roles: Role of each node as written, empty for the top.
        children: The nodes introduced under each node.
        classes: The classes of each concept.
        is_frame: Whether each node is a frame.
        kinds: What each noun names; ``other`` for frames and constants.
    """

    def __init__(self, graph: AmrGraph, lexicon: Lexicon) -> None:
        """Initialize the lists by node number."""
        self.graph = graph
        self.nodes = graph.nodes
        self.lexicon = lexicon
        self.size = len(graph.nodes)
        self.labels = [node.label for node in graph.nodes]
        self.roles = [node.role or "" for node in graph.nodes]
        self.children: list[list[AmrNode]] = [[] for _ in graph.nodes]
        for node in graph.nodes:
            if node.up is not None:
                self.children[node.up].append(node)
        self.classes = [frozenset[str]() if n.concept is None else lexicon.of(n.concept) for n in graph.nodes]
        for k, label in enumerate(self.labels):
            if label.endswith("-91") and graph.nodes[k].concept is not None:
                self.classes[k] |= {REIFIED}
        self.is_frame = [node.concept is not None and is_frame(node.concept) for node in graph.nodes]
        self.kinds = [
            OTHER if frame or node.concept is None else kind_of(node.concept)
            for node, frame in zip(graph.nodes, self.is_frame, strict=True)
        ]

    def is_a(self, k: int | None, *names: str) -> bool:
        """Return whether the concept of a node belongs to one of the classes.

        Args:
            k: The node number; None belongs to no class.
            *names: The names of the classes.

        Returns:
            True if it does.
        """
        return k is not None and not self.classes[k].isdisjoint(names)

    def inside(self, k: int) -> range:
        """Return the numbers of all nodes below a node.

        Args:
            k: The node number.

        Returns:
            The numbers, without ``k``.
        """
        return range(k + 1, self.nodes[k].last + 1)

    def whole(self, k: int) -> range:
        """Return the numbers of a node and of all nodes below it.

        Args:
            k: The node number.

        Returns:
            The numbers, beginning with ``k``.
        """
        return range(k, self.nodes[k].last + 1)

    @cached_property
    def asked(self) -> list[int]:
        """The numbers of the nodes that make a clause a question."""
        return [k for k, label in enumerate(self.labels) if label in ASKING]

    @cached_property
    def is_multiple(self) -> bool:
        """Whether the graph contains several sentences."""
        return self.labels[0] == "multi-sentence"

    @cached_property
    def sentences(self) -> list[int]:
        """The top of the sentence that each node belongs to."""
        if not self.is_multiple:
            return [0] * self.size
        tops = [0] * self.size
        for child in self.children[0]:
            for k in self.whole(child.k):
                tops[k] = child.k
        return tops

    @cached_property
    def roles_out(self) -> list[list[tuple[str, int]]]:
        """For each node, the role and argument of each of its edges."""
        found: list[list[tuple[str, int]]] = [[] for _ in self.nodes]
        for above, role, below in self.edges:
            found[above].append((role, below))
        return found

    @cached_property
    def roles_in(self) -> list[list[tuple[str, int]]]:
        """For each node, the role and predicate of each edge that leads to it."""
        found: list[list[tuple[str, int]]] = [[] for _ in self.nodes]
        for above, role, below in self.edges:
            found[below].append((role, above))
        return found

    @cached_property
    def in_questions(self) -> list[bool]:
        """For each node, whether its sentence asks something."""
        found = [False] * self.size
        for at in range(self.size) if self.asked else ():
            is_top = self.roles[at].startswith("snt") or (at == 0 and not self.is_multiple)
            if is_top and any(asked in self.inside(at) for asked in self.asked):
                for k in self.whole(at):
                    found[k] = True
        return found

    @cached_property
    def edges(self) -> list[tuple[int, str, int]]:
        """Predicate, role and argument of each edge; reentrancies included, inverse roles turned around."""
        written = [(node.up, node.role or "", node.k) for node in self.nodes if node.up is not None]
        written += [(mention.up, mention.role, mention.target) for mention in self.graph.mentions]
        return [
            # ``:ARG0-of`` is written from the argument: turn it around.
            (below, role[:-3], above) if is_inverted(role) else (above, role, below)
            for above, role, below in written
        ]
