"""A graph laid out for looking things up: by node, its concept, children, classes and roles."""

from __future__ import annotations

from functools import cached_property

from graphneg.amr.penman import is_inverted
from graphneg.english.lexicon import Lexicon
from graphneg.english.noun_kinds import OTHER, is_frame, kind_of
from graphneg.model import AmrGraph, AmrNode

REIFIED = "reified"
"""The class of all ``-91`` frames."""
ASKING = frozenset({"amr-unknown", "interrogative"})


class Reading:
    """A graph, the lexicon, and what both say about a node, by its number."""

    def __init__(self, graph: AmrGraph, lexicon: Lexicon) -> None:
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
        """By node, whether it is a frame."""
        self.kinds = [
            OTHER if frame or node.concept is None else kind_of(node.concept)
            for node, frame in zip(graph.nodes, self.is_frame, strict=True)
        ]
        """By node, what the noun names; ``other`` for frames and constants."""

    def is_a(self, k: int | None, *names: str) -> bool:
        """Whether the concept of node ``k`` is in one of these classes."""
        return k is not None and not self.classes[k].isdisjoint(names)

    def inside(self, k: int) -> range:
        """The numbers of all nodes under ``k``."""
        return range(k + 1, self.nodes[k].last + 1)

    def whole(self, k: int) -> range:
        """The numbers of ``k`` and all nodes under it."""
        return range(k, self.nodes[k].last + 1)

    @cached_property
    def asked(self) -> list[int]:
        """The nodes that ask."""
        return [k for k, label in enumerate(self.labels) if label in ASKING]

    @cached_property
    def is_multiple(self) -> bool:
        """Whether the graph is of several sentences."""
        return self.labels[0] == "multi-sentence"

    @cached_property
    def sentences(self) -> list[int]:
        """By node, the top of the sentence that it stands in."""
        if not self.is_multiple:
            return [0] * self.size
        tops = [0] * self.size
        for child in self.children[0]:
            for k in self.whole(child.k):
                tops[k] = child.k
        return tops

    @cached_property
    def roles_out(self) -> list[list[tuple[str, int]]]:
        """By predicate, the role and argument of each edge."""
        found: list[list[tuple[str, int]]] = [[] for _ in self.nodes]
        for above, role, below in self.edges:
            found[above].append((role, below))
        return found

    @cached_property
    def roles_in(self) -> list[list[tuple[str, int]]]:
        """By argument, the role and predicate of each edge."""
        found: list[list[tuple[str, int]]] = [[] for _ in self.nodes]
        for above, role, below in self.edges:
            found[below].append((role, above))
        return found

    @cached_property
    def in_questions(self) -> list[bool]:
        """By node, whether its sentence asks something below its top."""
        found = [False] * self.size
        for at in range(self.size) if self.asked else ():
            is_top = self.roles[at].startswith("snt") or (at == 0 and not self.is_multiple)
            if is_top and any(asked in self.inside(at) for asked in self.asked):
                for k in self.whole(at):
                    found[k] = True
        return found

    @cached_property
    def edges(self) -> list[tuple[int, str, int]]:
        """Predicate, role and argument of each edge, reentrancies too, whichever way the text wrote them."""
        written = [(node.up, node.role or "", node.k) for node in self.nodes if node.up is not None]
        written += [(mention.up, mention.role, mention.target) for mention in self.graph.mentions]
        return [
            (below, role[:-3], above) if is_inverted(role) else (above, role, below)
            for above, role, below in written
        ]
