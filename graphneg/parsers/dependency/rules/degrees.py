"""Degrees: ``have-degree-91`` for comparatives, superlatives, *too*, *as … as*, *so … that*."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.words import Word

_BARE = frozenset(
    {"more", "most", "less", "least", "much", "many", "few", "little", "other", "former", "latter"}
)
_MARKERS = {"more": "more", "most": "most", "less": "less", "least": "least", "too": "too", "as": "equal"}


def write_degrees(sketch: Sketch) -> None:
    """Puts ``have-degree-91`` over each adjective that is compared or measured."""
    for word in sketch.words:
        if word.tag[:2] == "JJ" and word.i in sketch.core and word.lower not in _BARE:
            found = _degree(sketch, word)
            if found is not None:
                _write(sketch, word, *found)


def _degree(sketch: Sketch, word: Word) -> tuple[str, Word] | None:
    if word.tag == "JJR":
        return "more", word
    if word.tag == "JJS":
        return "most", word
    for one in sketch.kids(word.i, "advmod"):
        if one.lower in _MARKERS and one.i < word.i:
            if one.lower == "as" and not _has_second_as(sketch, word):
                continue
            return _MARKERS[one.lower], one
        if one.lower == "so" and any(_has_that(sketch, k) for k in sketch.kids(word.i, "ccomp", "advcl")):
            return "so", one
        if one.lower == "so" and one.i < word.i and _is_denied(sketch, word) and _has_second_as(sketch, word):
            return "equal", one
    return None


def _has_second_as(sketch: Sketch, word: Word) -> bool:
    return any(one.lower == "as" and one.i > word.i for one in sketch.kids(word.i, "prep", "advcl"))


def _is_denied(sketch: Sketch, word: Word) -> bool:
    """*is not so tall as*."""
    return any(one.lemma in {"not", "n't"} for i in (word.i, word.head) for one in sketch.kids(i, "neg"))


def _has_that(sketch: Sketch, clause: Word) -> bool:
    return any(one.lower == "that" for one in sketch.kids(clause.i, "mark"))


def _write(sketch: Sketch, word: Word, kind: str, marker: Word) -> None:
    inner = sketch.core[word.i]
    degree = sketch.draft.concept("have-degree-91", marker.i, "degree")
    sketch.link(degree, "ARG2", inner, "degree")
    if marker.i in sketch.core and marker.i != word.i:
        node = sketch.core[marker.i]
        sketch.draft.nodes[node].concept = kind
    else:
        node = sketch.draft.concept(kind, marker.i, "degree")
    sketch.link(degree, "ARG3", node, "degree")
    if marker.i != word.i:
        sketch.placed.add(marker.i)
    sketch.core[word.i] = sketch.outer[word.i] = degree
    for one in sketch.kids(word.i, "prep", "advcl", "ccomp", "xcomp"):
        _write_standard(sketch, one, degree, kind, marker)


def _write_standard(sketch: Sketch, one: Word, degree: int, kind: str, marker: Word) -> None:
    """What it is compared with, or what follows from it."""
    target = one
    if one.dep == "prep":
        inner = sketch.kid(one.i, "pobj", "pcomp")
        if inner is None or one.lower not in {"than", "as", "of", "in"}:
            return
        if one.lower in {"of", "in"} and kind != "most":
            return
        target = inner
    speaker = sketch.speaker(target.i)
    if speaker not in sketch.outer:
        return
    if one.lower in {"of", "in"} and one.dep == "prep":
        role = "ARG5"
    elif one.dep == "prep" or any(k.lower in {"than", "as"} for k in sketch.kids(one.i, "mark")):
        role = "ARG4"
    elif kind in {"too", "so"}:
        role = "ARG6"
    else:
        return
    sketch.link(degree, role, sketch.outer[speaker], "degree")
    sketch.placed.add(speaker)


def share_measured(sketch: Sketch) -> None:
    """What is measured by *have-degree-91* is also an argument of the measure, where that is a frame."""
    arcs = sketch.draft.arcs
    for degree in [arc for arc in arcs if arc.role == "ARG2" and arc.rule == "degree"]:
        measure = sketch.draft.nodes[degree.dep].concept or ""
        entry = sketch.lexicon.frames.get(measure)
        taken = any(arc.head == degree.dep and arc.role == "ARG1" for arc in arcs)
        whole = next((arc.dep for arc in arcs if arc.head == degree.head and arc.role == "ARG1"), None)
        if whole is not None and not taken and entry is not None and "1" in entry.functions:
            sketch.link(degree.dep, "ARG1", whole, "degree")
