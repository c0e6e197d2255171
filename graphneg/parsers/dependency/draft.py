"""A graph that is being written: what the rules write, the learned parts revise, and the assembler closes.

A draft is not yet a tree: it holds nodes, directed arcs (always head to argument, never an inverse
role) and the top of each sentence. Rules and revisers change it in place; `repair` makes what they left
writable.

>>> draft = Draft("", [])
>>> draft.link(draft.concept("sleep-01", None, "verb"), "ARG0", draft.concept("boy", None, "noun"), "roles")
>>> [(draft.nodes[arc.head].label, arc.role, draft.nodes[arc.dep].label) for arc in draft.arcs]
[('sleep-01', 'ARG0', 'boy')]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from graphneg.amr.penman import is_atom
from graphneg.parsers.dependency.text import Word


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
        return self._add(DraftNode(concept, None, token, -1, -1, sentence, rule), last)

    def constant(
        self, value: str, token: int | None, rule: str, sentence: int = 0, last: int | None = None
    ) -> int:
        """Adds a constant as it will be written: ``-``, ``3``, ``"Paris"``."""
        return self._add(DraftNode(None, value, token, -1, -1, sentence, rule), last)

    def _add(self, node: DraftNode, last: int | None) -> int:
        if node.token is not None:
            word = self.words[node.token]
            node.start, node.end = word.start, (word if last is None else self.words[last]).end
            node.sentence = word.sentence
        self.nodes.append(node)
        return len(self.nodes) - 1

    def link(self, head: int, role: str, dep: int, rule: str) -> None:
        """Adds an arc, unless it leads to its own head; the assembler drops what stands twice."""
        if head != dep:
            self.arcs.append(DraftArc(head, dep, role, rule))

    def roles(self, head: int) -> dict[str, int]:
        """The argument of each role that a node has; of several, the last."""
        return {arc.role: arc.dep for arc in self.arcs if arc.head == head}

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
        self.tops = {sentence: new if top == old else top for sentence, top in self.tops.items()}

    def drop(self, node: int) -> None:
        """Deletes a node and its arcs; other nodes keep their numbers."""
        self.nodes[node].gone = True
        self.arcs = [arc for arc in self.arcs if arc.head != node and arc.dep != node]


_SINGLE = frozenset({"polarity", "mode", "wiki", "quant", "value"})
_FORBIDDEN = re.compile(r'[\s"()/:~#\\]+')
_VARIABLE = re.compile(r"[a-z]\d*")


def repair(draft: Draft) -> None:
    """Makes labels writable and drops what the guidelines forbid, in place."""
    for node in draft.nodes:
        if node.concept is not None:
            node.concept = writable_concept(node.concept)
        elif not is_atom(node.value or "") or _VARIABLE.fullmatch(node.value or ""):
            node.value = quoted(node.value or "")
    draft.arcs = [arc for arc in draft.arcs if draft.nodes[arc.head].value is None]
    _drop_doubled(draft)
    _fill_names(draft)


def writable_concept(text: str) -> str:
    """The text as a concept that PENMAN can write.

    >>> writable_concept("and/or"), writable_concept("(")
    ('and-or', 'symbol')
    """
    if is_atom(text) and not text.startswith('"'):
        return text
    return _FORBIDDEN.sub("-", text).strip("-") or "symbol"


def quoted(text: str) -> str:
    """The text as a PENMAN string.

    >>> quoted('say "hi"')
    '"say \\\\"hi\\\\""'
    """
    inner = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


def _drop_doubled(draft: Draft) -> None:
    """One :polarity, one :mode, … a node, the first one; constants that this leaves alone go."""
    taken: dict[tuple[int, str], DraftArc] = {}
    for arc in list(draft.arcs):
        if arc.role in _SINGLE:
            first = taken.setdefault((arc.head, arc.role), arc)
            if first is not arc:
                if draft.nodes[arc.dep].value is not None:
                    draft.drop(arc.dep)
                else:
                    draft.arcs.remove(arc)
    linked = {arc.dep for arc in draft.arcs}
    for k, node in enumerate(draft.nodes):
        if node.value is not None and k not in linked:
            node.gone = True


def _fill_names(draft: Draft) -> None:
    """A name without :op gets one: its words, or itself."""
    headed = {arc.head for arc in draft.arcs if arc.role.startswith("op")}
    for k, node in enumerate(draft.nodes[:]):
        if node.concept == "name" and not node.gone and k not in headed:
            words = draft.text[node.start : node.end] if node.start >= 0 else "name"
            draft.link(k, "op1", draft.constant(quoted(words), node.token, "repair", node.sentence), "repair")
