"""A graph in the making: what the rules write, the learned parts revise, and the assembler closes.

A draft is not yet a tree: it holds nodes, directed arcs (always head to argument, never an inverse
role) and the top of each sentence. Rules and revisers change it in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from graphneg.parsers.dependency.words import Word


@dataclass(slots=True)
class DraftNode:
    """A concept (``concept``) or a constant (``value``), and the words that it comes from.

    ``token`` is the index in :attr:`Draft.words` of the word that it stands for, ``None`` where no
    word does; ``start`` and ``end`` are its characters in the text, -1 where there are none.
    ``rule`` names the rule that made it. A node that is ``gone`` has been deleted.
    ``mentions`` are further words that mean the same.
    """

    concept: str | None
    value: str | None
    token: int | None
    start: int
    end: int
    sentence: int
    rule: str
    gone: bool = False
    mentions: list[int] = field(default_factory=list[int])

    @property
    def label(self) -> str:
        """The concept, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


@dataclass(slots=True)
class DraftArc:
    """``head`` and ``dep`` number nodes; the role is never inverse; ``rule`` made it."""

    head: int
    dep: int
    role: str
    rule: str


@dataclass(slots=True)
class Draft:
    """The draft of one piece of text. ``tops`` gives the top node of each sentence, in order."""

    text: str
    words: Sequence[Word]
    nodes: list[DraftNode] = field(default_factory=list[DraftNode])
    arcs: list[DraftArc] = field(default_factory=list[DraftArc])
    tops: dict[int, int] = field(default_factory=dict[int, int])
    warnings: list[str] = field(default_factory=list[str])

    def concept(
        self, concept: str, token: int | None, rule: str, sentence: int = 0, last: int | None = None
    ) -> int:
        """Adds a concept for the words ``token`` to ``last``; returns its number."""
        return self._add(concept, None, token, rule, sentence, last)

    def constant(
        self, value: str, token: int | None, rule: str, sentence: int = 0, last: int | None = None
    ) -> int:
        """Adds a constant as it will be written: ``-``, ``3``, ``"Paris"``."""
        return self._add(None, value, token, rule, sentence, last)

    def _add(
        self,
        concept: str | None,
        value: str | None,
        token: int | None,
        rule: str,
        sentence: int,
        last: int | None,
    ) -> int:
        start = end = -1
        if token is not None:
            word = self.words[token]
            start, end = word.start, self.words[token if last is None else last].end
            sentence = word.sentence
        self.nodes.append(DraftNode(concept, value, token, start, end, sentence, rule))
        return len(self.nodes) - 1

    def tie(self, node: int, token: int) -> None:
        """Notes the word that brings a node in but is no name for it: *?*, an order's verb. No span."""
        self.nodes[node].token = token

    def move(self, node: int, token: int) -> None:
        """Lets another word be what a node stands for."""
        word = self.words[token]
        one = self.nodes[node]
        one.token, one.start, one.end = token, word.start, word.end

    def link(self, head: int, role: str, dep: int, rule: str) -> None:
        """Adds an arc, unless it leads to its own head; the assembler drops what stands twice."""
        if head != dep:
            self.arcs.append(DraftArc(head, dep, role, rule))

    def redirect(self, old: int, new: int) -> None:
        """Lets all arcs of one node, and the tops that it was, be another's; it is gone then."""
        for arc in self.arcs:
            arc.head = new if arc.head == old else arc.head
            arc.dep = new if arc.dep == old else arc.dep
        self.arcs = [arc for arc in self.arcs if arc.head != arc.dep]
        gone, kept = self.nodes[old], self.nodes[new]
        gone.gone = True
        if gone.token is not None and gone.start >= 0:
            kept.mentions.append(gone.token)
        kept.mentions.extend(gone.mentions)
        for sentence, top in self.tops.items():
            if top == old:
                self.tops[sentence] = new

    def drop(self, node: int) -> None:
        """Deletes a node and its arcs; other nodes keep their numbers."""
        self.nodes[node].gone = True
        self.arcs = [arc for arc in self.arcs if arc.head != node and arc.dep != node]
