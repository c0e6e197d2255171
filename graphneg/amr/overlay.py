"""An edited graph is the original seen through its edits: pure functions from graph to graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from graphneg.amr.penman import is_atom
from graphneg.amr.wellformed import check
from graphneg.english.noun_kinds import lexeme
from graphneg.errors import TransformError
from graphneg.model import AmrGraph, AmrNode, Edit, Mention

# A graph taken apart for editing: nodes and mentions as a tree of twigs, and back again.


_LETTER = re.compile(r"[a-z]")


class Twig:
    """A mutable node, or (``target`` set) a mention of one, while edits are at work."""

    __slots__ = (
        "align", "below", "concept", "key", "role", "role_align", "span", "target", "up", "value", "var",
    )  # fmt: skip

    def __init__(
        self,
        role: str | None,
        concept: str | None = None,
        value: str | None = None,
        var: str | None = None,
        align: str | None = None,
        role_align: str | None = None,
        key: tuple[str, int] | None = None,
        span: tuple[int, int] | None = None,
        target: Twig | None = None,
    ) -> None:
        self.role = role
        self.concept = concept
        self.value = value
        self.var = var
        self.align = align
        self.role_align = role_align
        self.key = key
        self.span = span
        self.target = target
        self.up: Twig | None = None
        self.below: list[Twig] = []

    def attach(self, child: Twig, at: int | None = None) -> None:
        child.up = self
        self.below.insert(len(self.below) if at is None else at, child)

    def detach(self) -> int:
        """Take the twig off its parent; returns where it stood."""
        assert self.up is not None
        at = next(i for i, sibling in enumerate(self.up.below) if sibling is self)
        del self.up.below[at]
        self.up = None
        return at

    def walk(self) -> Iterator[Twig]:
        """The twigs at and under this one, in written order."""
        pending: list[Twig] = [self]
        while pending:
            twig = pending.pop()
            yield twig
            pending.extend(reversed(twig.below))


def as_twigs(graph: AmrGraph, origin: str) -> dict[tuple[str, int], Twig]:
    """The graph as twigs, by (graph id, k)."""
    spans = graph.spans
    twigs = [
        Twig(role, concept, value, var, align, role_align, (origin, k), spans.get(k))
        for k, _, var, concept, value, _, role, _, align, role_align in graph.nodes
    ]
    for node, twig in zip(graph.nodes, twigs, strict=True):
        if node.up is not None:
            twig.up = twigs[node.up]
            twig.up.below.append(twig)
    _attach_mentions(graph, twigs)
    return {(origin, k): twig for k, twig in enumerate(twigs)}


def _attach_mentions(graph: AmrGraph, twigs: Sequence[Twig]) -> None:
    """Mentions of nodes at their places among what else stands below their node."""
    places = {id(twigs[node.k]): node.pos for node in graph.nodes} if graph.mentions else {}
    for mention in graph.mentions:
        twig = Twig(mention.role, align=mention.align, role_align=mention.role_align)
        twig.target, twig.up = twigs[mention.target], twigs[mention.up]
        places[id(twig)] = mention.pos
        twig.up.below.append(twig)
    for k in {mention.up for mention in graph.mentions}:
        twigs[k].below.sort(key=lambda twig: places[id(twig)])


def copied(twig: Twig) -> Twig:
    copy = Twig(twig.role, twig.concept, twig.value)
    for child in twig.below:
        if child.target is None:
            copy.attach(copied(child))
    return copy


def frozen(original: AmrGraph, top: Twig) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
    """Twigs as an immutable graph: order made sound, variables filled in, everything numbered."""
    top.role, top.role_align = None, None
    placed, mentioned = _numbered(top)
    _name_anew([twig for twig, _, _ in placed])
    lasts = list(range(len(placed)))
    for k in range(len(placed) - 1, 0, -1):
        up = placed[k][1] or 0
        lasts[up] = max(lasts[up], lasts[k])
    nodes = tuple(
        AmrNode(
            k, lasts[k], twig.var, twig.concept, twig.value, up, twig.role, pos, twig.align, twig.role_align
        )
        for k, (twig, up, pos) in enumerate(placed)
    )
    numbers = {id(twig): k for k, (twig, _, _) in enumerate(placed)} if mentioned else {}
    mentions = tuple(
        Mention(up, twig.role or "", pos, numbers[id(twig.target)], twig.align, twig.role_align)
        for twig, up, pos in mentioned
    )
    places = {twig.key: k for k, (twig, _, _) in enumerate(placed) if twig.key is not None}
    spans = {k: twig.span for k, (twig, _, _) in enumerate(placed) if twig.span is not None}
    return AmrGraph(original.id, nodes, mentions, (), spans), places


def _numbered(top: Twig) -> tuple[list[tuple[Twig, int | None, int]], list[tuple[Twig, int, int]]]:
    """Nodes and mentions in written order, each with the number of its parent and its place there."""
    placed: list[tuple[Twig, int | None, int]] = []
    mentioned: list[tuple[Twig, int, int]] = []
    pending: list[tuple[Twig, int | None, int]] = [(top, None, 0)]
    while pending:
        one = pending.pop()
        twig, k = one[0], len(placed)
        placed.append(one)
        below = twig.below
        for pos in range(len(below) - 1, -1, -1):
            if below[pos].target is None:
                pending.append((below[pos], k, pos))
            else:
                mentioned.append((below[pos], k, pos))
    mentioned.sort(key=_spot)
    return placed, mentioned


def _spot(mentioned: tuple[Twig, int, int]) -> tuple[int, int]:
    return mentioned[1:]


def _name_anew(twigs: Sequence[Twig]) -> None:
    """A fresh variable for each node that has none, or one that a constant looks like."""
    constants = {twig.value for twig in twigs if twig.value is not None}
    taken = {twig.var or "" for twig in twigs} | constants
    for twig in twigs:
        if twig.value is None and (twig.var is None or twig.var in constants):
            twig.var = _fresh(twig.concept or "", taken)
            taken.add(twig.var)


def letter(concept: str) -> str:
    """The first letter of a concept's lemma: annotators begin variables with it."""
    found = _LETTER.search(lexeme(concept))
    return found[0] if found else "x"


def _fresh(concept: str, taken: set[str]) -> str:
    """A variable by the concept's first letter, as annotators write them."""
    first = letter(concept)
    if first not in taken:
        return first
    number = 2
    while f"{first}{number}" in taken:
        number += 1
    return f"{first}{number}"


# An edited graph is the original seen through its edits: pure functions from graph to graph.
#
# The five operations keep a graph well formed whatever they are given, or refuse: a graph stays
# one tree with unique variables, every mention has its node, ``:sntN`` and ``:opN`` count up.


PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they", "one"})
_NUMBERED = re.compile(r"^(op|snt)(\d+)$")


def apply_edits(graph: AmrGraph, edits: Sequence[Edit], sources: Mapping[str, AmrGraph]) -> AmrGraph:
    """The graph under its edits, with the nodes numbered anew.

    ``sources`` holds the graphs that grafts copy from. Without edits the graph itself comes back;
    with some, its metadata lines (which speak of the text before them) are gone.

    Raises:
        TransformError: an edit names a node that is not there (any more), or asks for what no
            well-formed graph can show (a concept for a constant, a graft into itself), or the
            edited graph has a defect: its code and message.
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
        self._twigs = as_twigs(graph, graph.id)
        self._top = self._twigs[(graph.id, 0)]
        self._mentions = bool(graph.mentions)

    def under(
        self, edits: Sequence[Edit], sources: Mapping[str, AmrGraph]
    ) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
        for edit in edits:
            if edit.op == "set":
                self._set(edit)
            elif edit.op == "add":
                self._add(edit)
            elif edit.op == "drop":
                self._drop(edit)
            elif edit.op == "graft":
                self._graft(edit, sources)
            elif edit.op == "wrap":
                self._wrap(edit)
            else:
                raise TransformError(f"{_name(edit)}: unknown operation {edit.op!r}")
        return frozen(self._graph, self._top)

    def _at(self, edit: Edit) -> Twig:
        if edit.k == -1:
            return self._top
        twig = self._twigs.get((edit.copy_of or edit.amr, edit.k))
        if twig is None:
            raise TransformError(f"{_name(edit)}: there is no node {edit.k}")
        return twig

    def _set(self, edit: Edit) -> None:
        twig = self._at(edit)
        if twig.value is not None:
            if edit.value is None:
                raise TransformError(f"{_name(edit)}: a constant is set by 'value'")
            twig.value = _atom(edit.value, edit)
        elif edit.concept is None:
            raise TransformError(f"{_name(edit)}: a concept is set by 'concept'")
        elif edit.concept != twig.concept:
            if twig.var is not None and twig.var[0] == letter(twig.concept or ""):
                twig.var = None
            twig.concept = _atom(edit.concept, edit)
        else:
            return
        twig.align = twig.span = None

    def _add(self, edit: Edit) -> None:
        twig = self._at(edit)
        if edit.role is None or (edit.concept is None) == (edit.value is None):
            raise TransformError(f"{_name(edit)}: 'add' needs a role and a concept or a value")
        _refuse_constant(twig, edit)
        if edit.role in ("polarity", "mode") and any(child.role == edit.role for child in twig.below):
            raise TransformError(f"{_name(edit)}: the node has :{edit.role} already")
        leaf = Twig(edit.role, edit.concept, edit.value)
        _atom(leaf.concept or leaf.value or "", edit)
        twig.attach(leaf, 0)

    def _drop(self, edit: Edit) -> None:
        twig = self._at(edit)
        parent = twig.up
        if parent is None:
            raise TransformError(f"{_name(edit)}: the top can't be dropped")
        role = twig.role
        twig.detach()
        self._rescue(twig)
        _close_gap(parent, role)

    def _rescue(self, gone: Twig) -> None:
        """Give each node that a removed subtree introduced and others mention a place at its mention.

        What mentions a removed node from inside the subtree goes with it.
        """
        while self._mentions:
            lost = {id(twig) for twig in gone.walk()}
            mention = next(
                (t for t in self._top.walk() if t.target is not None and id(t.target) in lost), None
            )
            if mention is None:
                break
            kept, parent = mention.target, mention.up
            assert kept is not None and parent is not None
            if kept is gone:
                kept.role, kept.role_align = mention.role, mention.role_align
                parent.attach(kept, mention.detach())
                return
            place = kept.up
            assert place is not None
            stub = Twig(kept.role, target=kept)
            place.attach(stub, kept.detach())
            kept.role, kept.role_align = mention.role, mention.role_align
            parent.attach(kept, mention.detach())
        for twig in gone.walk():
            if twig.key is not None:
                self._twigs.pop(twig.key, None)

    def _graft(self, edit: Edit, sources: Mapping[str, AmrGraph]) -> None:
        source = sources.get(edit.from_amr or "")
        if source is None or edit.from_k is None or not 0 <= edit.from_k < len(source.nodes):
            raise TransformError(f"{_name(edit)}: there is no node {edit.from_amr}.{edit.from_k} to graft")
        if source.id == self._graph.id:
            raise TransformError(f"{_name(edit)}: a graft copies from another graph")
        twig = self._at(edit)
        if any(key[0] == source.id for key in self._twigs):
            raise TransformError(f"{_name(edit)}: {source.id} is grafted here already")
        place = twig if edit.role is not None else twig.up
        if place is not None:
            _refuse_constant(place, edit)
        copies = as_twigs(source, source.id)
        copy = copies[(source.id, edit.from_k)]
        if copy.up is not None:
            copy.detach()
        for inner in copy.walk():
            inner.var = inner.align = inner.role_align = inner.span = None
        if source.mentions:
            self._mentions = True
            self._localise(copy, None if edit.role is not None else twig)
        if edit.role is not None:
            copy.role = _next_role(twig, edit.role)
            twig.attach(copy)
        else:
            self._replace(twig, copy)
        self._twigs.update({inner.key: inner for inner in copy.walk() if inner.key is not None})

    def _localise(self, copy: Twig, leaving: Twig | None) -> None:
        """Mentions, inside a copied subtree, of nodes outside it: the same pronoun of this graph
        (unless that is what the copy replaces), or a copy of the node with its name."""
        inside = {id(twig) for twig in copy.walk()}
        own = {t.concept: t for t in self._top.walk() if t.concept in PRONOUNS and t is not leaving}
        for twig in list(copy.walk()):
            target = twig.target
            if target is None or id(target) in inside:
                continue
            concept = target.concept or ""
            if concept in own:
                twig.target = own[concept]
                continue
            twig.target, twig.concept, twig.align = None, concept, None
            inside.add(id(twig))
            for later in copy.walk():
                if later.target is target:
                    later.target = twig
            for child in target.below:
                if child.role == "name" and child.target is None:
                    twig.attach(copied(child))

    def _replace(self, old: Twig, new: Twig) -> None:
        """Put ``new`` in the place of ``old``; mentions of ``old`` become mentions of ``new``."""
        if new.concept is None and old.concept is not None:
            raise TransformError(f"{self._graph.id}: a constant can't take the place of a variable")
        new.role, new.role_align = old.role, old.role_align
        for twig in self._top.walk() if self._mentions else ():
            if twig.target is old:
                twig.target = new
        parent = old.up
        if parent is None:
            self._top = new
            new.up = None
        else:
            parent.attach(new, old.detach())
        self._rescue(old)

    def _wrap(self, edit: Edit) -> None:
        twig = self._at(edit)
        if edit.concept is None or edit.role is None:
            raise TransformError(f"{_name(edit)}: 'wrap' needs a concept and a role")
        _refuse_constant(twig, edit)
        above = Twig(twig.role, _atom(edit.concept, edit), role_align=twig.role_align)
        parent = twig.up
        if parent is None:
            self._top = above
        else:
            parent.attach(above, twig.detach())
        twig.role, twig.role_align = edit.role, None
        above.attach(twig)


def _name(edit: Edit) -> str:
    return f"{edit.transform} at {edit.amr}.{edit.k}"


def _atom(text: str, edit: Edit) -> str:
    if not is_atom(text):
        raise TransformError(f"{_name(edit)}: {text!r} can't be written as a concept or a value")
    return text


def _refuse_constant(twig: Twig, edit: Edit) -> None:
    if twig.value is not None:
        raise TransformError(f"{_name(edit)}: a constant can't have roles")


def _next_role(twig: Twig, role: str) -> str:
    """``snt`` and ``op`` become the next number; other roles stay."""
    if role not in ("snt", "op"):
        return role
    taken = [int(m[2]) for child in twig.below if (m := _NUMBERED.match(child.role or "")) and m[1] == role]
    return f"{role}{max(taken, default=0) + 1}"


def _close_gap(parent: Twig, role: str | None) -> None:
    """Where ``:opN`` or ``:sntN`` was dropped, the later ones move up."""
    gone = _NUMBERED.match(role or "")
    if gone is None or any(child.role == role for child in parent.below):
        return
    for child in parent.below:
        later = _NUMBERED.match(child.role or "")
        if later and later[1] == gone[1] and int(later[2]) > int(gone[2]):
            child.role = f"{later[1]}{int(later[2]) - 1}"
