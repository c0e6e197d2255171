"""Index a graph, so that concepts, children, word classes and edges can be looked up by node index.

The modules that compute node properties (`graphneg.amr.clauses`, `graphneg.amr.nouns`, `graphneg.amr.times`)
look up the same properties of a graph many times. `AmrView` computes these properties once.
"""

from __future__ import annotations

from functools import cached_property

from graphneg.amr.penman import is_inverted
from graphneg.english.lexicon import Lexicon
from graphneg.english.noun_kinds import OTHER, is_frame, kind_of
from graphneg.model import AmrGraph, AmrNode

REIFIED = "reified"
"""Word class of all ``-91`` frames. It is added to the classes that the lexicon gives these frames."""
ASKING = frozenset({"amr-unknown", "interrogative"})
"""Labels of the nodes that make a clause a question."""


class AmrView:
    """A graph with the word classes that a lexicon gives its concepts. All lists are indexed by node index.

    Args:
        graph: The graph to index.
        lexicon: The lexicon with the word classes.

    Attributes:
        graph: The graph.
        nodes: The nodes of the graph.
        lexicon: The lexicon with the word classes.
        size: The number of nodes.
        labels: The concept or constant of each node.
        roles: The role of each node as it is written; an empty string for the top.
        children: The child nodes of each node, without reentrancies.
        classes: The word classes of each node's concept; none for constants.
        is_frame: For each node, whether its concept is a frame.
        kinds: The kind of each noun, for example ``person``; ``other`` for frames, constants and nouns of
            unknown kind.
    """

    def __init__(self, graph: AmrGraph, lexicon: Lexicon) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self.lexicon = lexicon
        self.size = len(graph.nodes)
        self.labels = [node.label for node in graph.nodes]
        self.roles = [node.role or "" for node in graph.nodes]
        self.children: list[list[AmrNode]] = [[] for _ in graph.nodes]
        for node in graph.nodes:
            if node.parent is not None:
                self.children[node.parent].append(node)
        self.classes = [
            frozenset[str]() if n.concept is None else lexicon.classes_of(n.concept) for n in graph.nodes
        ]
        for k, label in enumerate(self.labels):
            if label.endswith("-91") and graph.nodes[k].concept is not None:
                self.classes[k] |= {REIFIED}
        self.is_frame = [node.concept is not None and is_frame(node.concept) for node in graph.nodes]
        self.kinds = [
            OTHER if frame or node.concept is None else kind_of(node.concept)
            for node, frame in zip(graph.nodes, self.is_frame, strict=True)
        ]

    def is_a(self, k: int | None, *names: str) -> bool:
        """Return whether the concept of a node belongs to at least one of the given word classes.

        Args:
            k: Index of the node; for None the result is False.
            *names: Names of word classes, such as ``joining``.

        Returns:
            True if one of the classes contains the concept.
        """
        return k is not None and not self.classes[k].isdisjoint(names)

    def descendants(self, k: int) -> range:
        """Return the indices of all nodes below a node.

        Args:
            k: Index of the node in the graph.

        Returns:
            The node indices, without ``k`` itself.
        """
        return range(k + 1, self.nodes[k].subtree_last + 1)

    def subtree(self, k: int) -> range:
        """Return the indices of a node and of all nodes below it.

        Args:
            k: Index of the node in the graph.

        Returns:
            The node indices; the first is ``k``.
        """
        return range(k, self.nodes[k].subtree_last + 1)

    @cached_property
    def question_nodes(self) -> list[int]:
        """The indices of the nodes that mark a clause as a question, such as ``amr-unknown``."""
        return [k for k, label in enumerate(self.labels) if label in ASKING]

    @cached_property
    def is_multiple(self) -> bool:
        """Whether the graph contains several sentences."""
        return self.labels[0] == "multi-sentence"

    @cached_property
    def sentences(self) -> list[int]:
        """For each node, the index of the top node of its sentence."""
        if not self.is_multiple:
            return [0] * self.size
        tops = [0] * self.size
        for child in self.children[0]:
            for k in self.subtree(child.position):
                tops[k] = child.position
        return tops

    @cached_property
    def roles_out(self) -> list[list[tuple[str, int]]]:
        """For each node, its arguments as pairs (role, index of the argument), including reentrancies."""
        found: list[list[tuple[str, int]]] = [[] for _ in self.nodes]
        for above, role, below in self.edges:
            found[above].append((role, below))
        return found

    @cached_property
    def roles_in(self) -> list[list[tuple[str, int]]]:
        """For each node, the edges to it as pairs (role, index of the predicate), including reentrancies."""
        found: list[list[tuple[str, int]]] = [[] for _ in self.nodes]
        for above, role, below in self.edges:
            found[below].append((role, above))
        return found

    @cached_property
    def in_questions(self) -> list[bool]:
        """For each node, whether its sentence is or contains a question."""
        found = [False] * self.size
        for at in range(self.size) if self.question_nodes else ():
            is_top = self.roles[at].startswith("snt") or (at == 0 and not self.is_multiple)
            if is_top and any(asked in self.descendants(at) for asked in self.question_nodes):
                for k in self.subtree(at):
                    found[k] = True
        return found

    @cached_property
    def edges(self) -> list[tuple[int, str, int]]:
        """All edges, including reentrancies, as ``(predicate, role, argument)`` without inverse roles."""
        written = [
            (node.parent, node.role or "", node.position) for node in self.nodes if node.parent is not None
        ]
        written += [(mention.parent, mention.role, mention.target) for mention in self.graph.mentions]
        return [
            # An inverse role such as ``:ARG0-of`` has the predicate as its child: exchange the two ends.
            (below, role[:-3], above) if is_inverted(role) else (above, role, below)
            for above, role, below in written
        ]
