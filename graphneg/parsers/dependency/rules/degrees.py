"""Degrees: ``have-degree-91`` for comparatives, superlatives, *too*, *as … as*, *so … that*.

In: a `RuleState` whose adjectives have their concepts. Out: *taller than Tom*: ``have-degree-91`` with the
adjective as ``ARG2``, ``more`` as ``ARG3`` and Tom as ``ARG4``.
"""

from __future__ import annotations

from graphneg.parsers.dependency.lexicon import word_class, word_map
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.words import Word

_BARE = word_class("bare-degree")
_MARKERS = word_map("degree-marker")


def write_degrees(state: RuleState) -> None:
    """Puts ``have-degree-91`` over each adjective that is compared or measured."""
    for word in state.words:
        if word.tag[:2] == "JJ" and word.i in state.core and word.lower not in _BARE:
            degree = _degree(word)
            if degree is not None:
                _write(state, word, *degree)


def _degree(word: Word) -> tuple[str, Word] | None:
    """The degree of an adjective, and the word that says so."""
    if word.tag in {"JJR", "JJS"}:
        return ("more" if word.tag == "JJR" else "most"), word
    again = any(kid.lower == "as" and kid.i > word.i for kid in word.children("prep", "advcl"))
    for marker in word.children("advmod"):
        if marker.lower in _MARKERS and marker.i < word.i and (marker.lower != "as" or again):
            return _MARKERS[marker.lower], marker
        if marker.lower == "so":
            if any(clause.child_word("mark", "that") for clause in word.children("ccomp", "advcl")):
                return "so", marker
            denials = [kid for above in (word, word.parent) for kid in above.children("neg")]
            if marker.i < word.i and again and any(kid.lemma in {"not", "n't"} for kid in denials):
                return "equal", marker
    return None


def _write(state: RuleState, word: Word, kind: str, marker: Word) -> None:
    draft, inner = state.draft, state.core[word.i]
    degree = draft.concept("have-degree-91", marker.i, "degree")
    draft.link(degree, "ARG2", inner, "degree")
    if marker.i in state.core and marker.i != word.i:
        node = state.core[marker.i]
        draft.nodes[node].concept = kind
    else:
        node = draft.concept(kind, marker.i, "degree")
    draft.link(degree, "ARG3", node, "degree")
    if marker.i != word.i:
        state.attached.add(marker.i)
    state.set_node(word.i, degree)
    for kid in word.children("prep", "advcl", "ccomp", "xcomp"):
        _write_standard(state, kid, degree, kind)


def _write_standard(state: RuleState, kid: Word, degree: int, kind: str) -> None:
    """What it is compared with (``ARG4``), among what (``ARG5``), or what follows from it (``ARG6``)."""
    target: Word | None = kid
    if kid.dep == "prep":
        target = kid.child("pobj", "pcomp")
        role = {"than": "ARG4", "as": "ARG4"}.get(kid.lower, "ARG5")
        if kid.lower not in {"than", "as", "of", "in"} or (role == "ARG5" and kind != "most"):
            return
    elif kid.child_word("mark", "than", "as") is not None:
        role = "ARG4"
    elif kind in {"too", "so"}:
        role = "ARG6"
    else:
        return
    node = state.outer_of(target) if target is not None else None
    if target is not None and node is not None:
        state.draft.link(degree, role, node, "degree")
        state.attached.add(state.proxy(target.i))


def share_measured(state: RuleState) -> None:
    """What is measured by *have-degree-91* is also an argument of the measure, where that is a frame."""
    arcs = state.draft.arcs
    for degree in [arc for arc in arcs if arc.role == "ARG2" and arc.rule == "degree"]:
        entry = state.lexicon.frames.get(state.draft.nodes[degree.dep].concept or "")
        whole = next((arc.dep for arc in arcs if arc.head == degree.head and arc.role == "ARG1"), None)
        free = "ARG1" not in state.draft.roles(degree.dep)
        if free and whole is not None and entry is not None and "1" in entry.functions:
            state.draft.link(degree.dep, "ARG1", whole, "degree")
