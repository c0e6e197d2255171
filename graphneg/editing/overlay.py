"""An edited graph is the original seen through its edits: pure functions from graph to graph.

The five operations keep a graph well formed whatever they are given, or refuse: a graph stays
one tree with unique variables, every mention has its node, ``:sntN`` and ``:opN`` count up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from graphneg.editing.twigs import Twig, as_twigs, copied, frozen, letter
from graphneg.errors import TransformError
from graphneg.model import AmrGraph, Edit
from graphneg.penman_codec import is_atom
from graphneg.wellformed import check

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
