"""An edited graph is the original seen through its edits: pure functions from graph to graph.

In: a graph, edits, and the graphs that grafts copy from. Out: the edited graph; the first one is unchanged.
The five operations keep a graph well formed whatever they are given, or refuse: it stays one tree with unique
variables, every mention has its node, ``:sntN`` and ``:opN`` count up. While edits are at work the graph is a
tree of mutable nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from operator import itemgetter

from graphneg.amr.penman import is_atom
from graphneg.amr.wellformed import check
from graphneg.english.noun_kinds import lexeme
from graphneg.errors import TransformError
from graphneg.model import AmrGraph, AmrNode, Edit, Mention

_LETTER = re.compile(r"[a-z]")


@dataclass(slots=True, eq=False)
class MutableNode:
    """A mutable node, or (``target`` set) a mention of one, while edits are at work."""

    role: str | None
    concept: str | None = None
    value: str | None = None
    var: str | None = None
    align: str | None = None
    role_align: str | None = None
    key: tuple[str, int] | None = None
    span: tuple[int, int] | None = None
    target: MutableNode | None = None
    up: MutableNode | None = None
    below: list[MutableNode] = field(default_factory=list["MutableNode"])
    k: int = 0
    last: int = 0
    pos: int = 0

    def attach(self, child: MutableNode, at: int | None = None) -> None:
        """Put a node under this one, last or at a position."""
        child.up = self
        self.below.insert(len(self.below) if at is None else at, child)

    def detach(self) -> int:
        """Take the node off its parent; returns the position where it stood."""
        assert self.up is not None
        at = next(i for i, sibling in enumerate(self.up.below) if sibling is self)
        del self.up.below[at]
        self.up = None
        return at

    def copied(self) -> MutableNode:
        """A node with the same words and words below it, without mentions."""
        copy = MutableNode(self.role, self.concept, self.value)
        for child in self.below:
            if child.target is None:
                copy.attach(child.copied())
        return copy

    def walk(self) -> Iterator[MutableNode]:
        """The nodes at and under this one, in written order."""
        pending: list[MutableNode] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.below))


def mutable_nodes(graph: AmrGraph) -> dict[tuple[str, int], MutableNode]:
    """The nodes and mentions of a graph as one mutable tree: its nodes by (graph id, k)."""
    spans = graph.spans
    mutable = [
        MutableNode(role, concept, value, var, align, role_align, (graph.id, k), spans.get(k))
        for k, _, var, concept, value, _, role, _, align, role_align in graph.nodes
    ]
    for before, node in zip(graph.nodes, mutable, strict=True):
        if before.up is not None:
            node.up = mutable[before.up]
            node.up.below.append(node)
    order = {id(mutable[node.k]): node.pos for node in graph.nodes} if graph.mentions else {}
    for mention in graph.mentions:
        node = MutableNode(mention.role, align=mention.align, role_align=mention.role_align)
        node.target = mutable[mention.target]
        mutable[mention.up].attach(node)
        order[id(node)] = mention.pos
    for k in {mention.up for mention in graph.mentions}:
        mutable[k].below.sort(key=lambda node: order[id(node)])
    return {(graph.id, k): node for k, node in enumerate(mutable)}


def frozen(original: AmrGraph, top: MutableNode) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
    """Mutable nodes as an immutable graph: order made sound, variables filled in, everything numbered.

    With the number that each node has now, by what it had before (`MutableNode.key`).
    """
    top.role, top.role_align = None, None
    placed: list[MutableNode] = []
    mentioned: list[MutableNode] = []
    for node in top.walk():
        if node.target is None:
            node.k = node.last = len(placed)
            placed.append(node)
        else:
            mentioned.append(node)
        for pos, child in enumerate(node.below):
            child.pos = pos
    _name_anew(placed)
    for node in reversed(placed):
        if node.up is not None:
            node.up.last = max(node.up.last, node.last)
    nodes = tuple(
        AmrNode(n.k, n.last, n.var, n.concept, n.value, n.up and n.up.k, n.role, n.pos, n.align, n.role_align)
        for n in placed
    )
    mentions = [
        Mention(m.up.k, m.role or "", m.pos, m.target.k, m.align, m.role_align)
        for m in mentioned
        if m.up and m.target
    ]
    mentions.sort(key=itemgetter(0, 2))
    after = {node.key: node.k for node in placed if node.key is not None}
    spans = {node.k: node.span for node in placed if node.span is not None}
    return AmrGraph(original.id, nodes, tuple(mentions), (), spans), after


def _name_anew(mutable: Sequence[MutableNode]) -> None:
    """A fresh variable, as annotators write them, for each node that has none, or one like a constant."""
    constants = {node.value for node in mutable if node.value is not None}
    taken = {node.var or "" for node in mutable} | constants
    for node in mutable:
        if node.value is None and (node.var is None or node.var in constants):
            first = letter(node.concept or "")
            names = chain([first], (f"{first}{number}" for number in count(2)))
            node.var = next(name for name in names if name not in taken)
            taken.add(node.var)


def letter(concept: str) -> str:
    """The first letter of a concept's lemma: annotators begin variables with it."""
    match = _LETTER.search(lexeme(concept))
    return match[0] if match else "x"


PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they", "one"})
_NUMBERED = re.compile(r"^(op|snt)(\d+)$")


def apply_edits(graph: AmrGraph, edits: Sequence[Edit], sources: Mapping[str, AmrGraph]) -> AmrGraph:
    """The graph under its edits, with the nodes numbered anew.

    ``sources`` holds the graphs that grafts copy from. Without edits the graph itself comes back;
    with some, its metadata lines (which speak of the text before them) are gone.

    Raises `TransformError`: an edit names a node that is not there (any more), or asks for what no
    well-formed graph can show (a concept for a constant, a graft into itself), or the edited graph has a
    defect: its code and message.
    """
    after = overlaid(graph, edits, sources)[0]
    for defect in check(after) if edits else ():
        raise TransformError(f"{defect.code}: {defect.message}")
    return after


def overlaid(
    graph: AmrGraph, edits: Sequence[Edit], sources: Mapping[str, AmrGraph]
) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
    """As :func:`apply_edits`, unchecked, with where each node went: (graph id, k) before to k after."""
    if not edits:
        return graph, {(graph.id, node.k): node.k for node in graph.nodes}
    return _Tree(graph).under(edits, sources)


class _Tree:
    def __init__(self, graph: AmrGraph) -> None:
        self._graph = graph
        self._nodes = mutable_nodes(graph)
        self._top = self._nodes[(graph.id, 0)]
        self._mentions = bool(graph.mentions)
        self._mentioned: dict[tuple[str, int], list[MutableNode]] = {}

    def under(
        self, edits: Sequence[Edit], sources: Mapping[str, AmrGraph]
    ) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
        operations: Mapping[str, Callable[[Edit], None]] = {
            "set": self._set,
            "add": self._add,
            "drop": self._drop,
            "graft": lambda edit: self._graft(edit, sources),
            "wrap": self._wrap,
        }
        for edit in edits:
            if edit.op not in operations:
                raise TransformError(f"{_name(edit)}: unknown operation {edit.op!r}")
            operations[edit.op](edit)
        return frozen(self._graph, self._top)

    def _at(self, edit: Edit) -> MutableNode:
        if edit.k == -1:
            return self._top
        key = (edit.copy_of or edit.amr, edit.k)
        if key in self._mentioned:
            self._introduce(key)
        node = self._nodes.get(key)
        if node is None:
            raise TransformError(f"{_name(edit)}: there is no node {edit.k}")
        return node

    def _set(self, edit: Edit) -> None:
        node = self._at(edit)
        if node.value is not None:
            if edit.value is None:
                raise TransformError(f"{_name(edit)}: a constant is set by 'value'")
            node.value = _atom(edit.value, edit)
        elif edit.concept is None:
            raise TransformError(f"{_name(edit)}: a concept is set by 'concept'")
        elif edit.concept != node.concept:
            if node.var is not None and node.var[0] == letter(node.concept or ""):
                node.var = None
            node.concept = _atom(edit.concept, edit)
        else:
            return
        node.align = node.span = None

    def _add(self, edit: Edit) -> None:
        node = self._at(edit)
        if edit.role is None or (edit.concept is None) == (edit.value is None):
            raise TransformError(f"{_name(edit)}: 'add' needs a role and a concept or a value")
        _refuse_constant(node, edit)
        if edit.role in ("polarity", "mode") and any(child.role == edit.role for child in node.below):
            raise TransformError(f"{_name(edit)}: the node has :{edit.role} already")
        leaf = MutableNode(edit.role, edit.concept, edit.value)
        _atom(leaf.concept or leaf.value or "", edit)
        node.attach(leaf, 0)

    def _drop(self, edit: Edit) -> None:
        node = self._at(edit)
        parent = node.up
        if parent is None:
            raise TransformError(f"{_name(edit)}: the top can't be dropped")
        role = node.role
        node.detach()
        self._rescue(node)
        _close_gap(parent, role)

    def _rescue(self, gone: MutableNode) -> None:
        """Give each node that a removed subtree introduced and others mention a place at its mention. What
        mentions a removed node from inside the subtree goes with it."""
        while self._mentions:
            lost = {id(node) for node in gone.walk()}
            mention = next(
                (t for t in self._top.walk() if t.target is not None and id(t.target) in lost), None
            )
            if mention is None:
                break
            kept, parent = mention.target, mention.up
            assert kept is not None and parent is not None
            if kept is not gone:
                assert kept.up is not None
                kept.up.attach(MutableNode(kept.role, target=kept), kept.detach())
            kept.role, kept.role_align = mention.role, mention.role_align
            parent.attach(kept, mention.detach())
            if kept is gone:
                return
        for node in gone.walk():
            if node.key is not None:
                self._nodes.pop(node.key, None)

    def _graft(self, edit: Edit, sources: Mapping[str, AmrGraph]) -> None:
        source = sources.get(edit.from_amr or "")
        if source is None or edit.from_k is None or not 0 <= edit.from_k < len(source.nodes):
            raise TransformError(f"{_name(edit)}: there is no node {edit.from_amr}.{edit.from_k} to graft")
        if source.id == self._graph.id:
            raise TransformError(f"{_name(edit)}: a graft copies from another graph")
        node = self._at(edit)
        if any(key[0] == source.id for key in self._nodes):
            raise TransformError(f"{_name(edit)}: {source.id} is grafted here already")
        place = node if edit.role is not None else node.up
        if place is not None:
            _refuse_constant(place, edit)
        copy = mutable_nodes(source)[(source.id, edit.from_k)]
        if copy.up is not None:
            copy.detach()
        for inner in copy.walk():
            inner.var = inner.align = inner.role_align = inner.span = None
        if source.mentions:
            self._mentions = True
            self._localise(copy, None if edit.role is not None else node)
        if edit.role is not None:
            copy.role = _next_role(node, edit.role)
            node.attach(copy)
        else:
            self._replace(node, copy)
        self._nodes.update({inner.key: inner for inner in copy.walk() if inner.key is not None})

    def _introduce(self, key: tuple[str, int]) -> None:
        """Give a node that a copied subtree only mentions a node of its own, which edits can change.

        "I'm leaving. I'm packing." has one *i*, in its first sentence: a copy of the second sentence
        mentions it, and *i* becomes *you* in the copy alone.
        """
        first, *others = self._mentioned.pop(key)
        if first.target is not None:
            first.concept, first.align, first.target = first.target.concept, None, None
        for mention in others:
            mention.target = first
        self._nodes[key] = first

    def _localise(self, copy: MutableNode, leaving: MutableNode | None) -> None:
        """Mentions, inside a copied subtree, of nodes outside it: the same pronoun of this graph
        (unless that is what the copy replaces), or a copy of the node with its name."""
        inside = {id(node) for node in copy.walk()}
        own = {t.concept: t for t in self._top.walk() if t.concept in PRONOUNS and t is not leaving}
        for node in list(copy.walk()):
            target = node.target
            if target is None or id(target) in inside:
                continue
            if target.key is not None:
                mentions = [node, *(later for later in copy.walk() if later.target is target)]
                self._mentioned.setdefault(target.key, list(dict.fromkeys(mentions)))
            concept = target.concept or ""
            if concept in own:
                node.target = own[concept]
                continue
            node.target, node.concept, node.align = None, concept, None
            inside.add(id(node))
            for later in copy.walk():
                if later.target is target:
                    later.target = node
            for child in target.below:
                if child.role == "name" and child.target is None:
                    node.attach(child.copied())

    def _replace(self, old: MutableNode, new: MutableNode) -> None:
        """Put ``new`` in the place of ``old``; mentions of ``old`` become mentions of ``new``."""
        if new.concept is None and old.concept is not None:
            raise TransformError(f"{self._graph.id}: a constant can't take the place of a variable")
        for node in self._top.walk() if self._mentions else ():
            if node.target is old:
                node.target = new
        self._put(new, old)
        self._rescue(old)

    def _put(self, new: MutableNode, old: MutableNode) -> None:
        """Let a node stand where another one stood, in its role."""
        new.role, new.role_align = old.role, old.role_align
        if old.up is None:
            self._top = new
        else:
            old.up.attach(new, old.detach())

    def _wrap(self, edit: Edit) -> None:
        node = self._at(edit)
        if edit.concept is None or edit.role is None:
            raise TransformError(f"{_name(edit)}: 'wrap' needs a concept and a role")
        _refuse_constant(node, edit)
        above = MutableNode(None, _atom(edit.concept, edit))
        self._put(above, node)
        node.role, node.role_align = edit.role, None
        above.attach(node)


def _name(edit: Edit) -> str:
    return f"{edit.transform} at {edit.amr}.{edit.k}"


def _atom(text: str, edit: Edit) -> str:
    if not is_atom(text):
        raise TransformError(f"{_name(edit)}: {text!r} can't be written as a concept or a value")
    return text


def _refuse_constant(node: MutableNode, edit: Edit) -> None:
    if node.value is not None:
        raise TransformError(f"{_name(edit)}: a constant can't have roles")


def _next_role(node: MutableNode, role: str) -> str:
    """``snt`` and ``op`` become the next number; other roles stay."""
    if role not in ("snt", "op"):
        return role
    taken = [int(m[2]) for child in node.below if (m := _NUMBERED.match(child.role or "")) and m[1] == role]
    return f"{role}{max(taken, default=0) + 1}"


def _close_gap(parent: MutableNode, role: str | None) -> None:
    """Where ``:opN`` or ``:sntN`` was dropped, the later ones move up."""
    gone = _NUMBERED.match(role or "")
    if gone is None or any(child.role == role for child in parent.below):
        return
    for child in parent.below:
        later = _NUMBERED.match(child.role or "")
        if later and later[1] == gone[1] and int(later[2]) > int(gone[2]):
            child.role = f"{later[1]}{int(later[2]) - 1}"
