"""Coordination: ``and``, ``or``, ``contrast-01`` over conjuncts, and a conjunction that opens a sentence."""

from __future__ import annotations

from graphneg.parsers.dependency.draft import DraftArc
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.words import Word

_CONCEPTS = {
    "and": "and",
    "or": "or",
    "nor": "or",
    "&": "and",
    "but": "contrast-01",
    "yet": "contrast-01",
    "plus": "and",
}
_OPENERS = {
    "but": ("contrast-01", "ARG2"),
    "and": ("and", "op2"),
    "or": ("or", "op2"),
    "yet": ("contrast-01", "ARG2"),
}
_PAIRED = frozenset({"both", "either", "neither"})


def groups(sketch: Sketch) -> list[list[int]]:
    """The conjuncts of each coordination, speakers that have a node, in order of the text."""
    found: dict[int, list[int]] = {}
    for word in sketch.words:
        if word.dep != "conj":
            continue
        first = word
        for _ in range(len(sketch.words)):
            if first.dep != "conj" or first.head == first.i:
                break
            first = sketch.words[first.head]
        found.setdefault(first.i, [first.i]).append(word.i)
    return list(found.values())


def write_coordination(sketch: Sketch) -> dict[int, list[int]]:
    """Puts a conjunction over each group of conjuncts; gives each group's speakers by its first."""
    written: dict[int, list[int]] = {}
    for group in reversed(groups(sketch)):
        members = [one for one in dict.fromkeys(sketch.speaker(i) for i in group) if one in sketch.outer]
        if len(members) < 2:
            continue
        concept, anchor = _conjunction(sketch, group)
        node = sketch.draft.concept(concept, anchor, "coordination", sketch.words[members[0]].sentence)
        mark = _mark_between(sketch, group) if anchor is None else None
        if mark is not None:
            sketch.draft.tie(node, mark)
        shared = _shared_modal(sketch, members)
        tops = [sketch.outer[member] for member in members]
        if shared is not None:
            tops[0], shared.dep = shared.dep, node
        else:
            sketch.outer[members[0]] = node
        for n, top in enumerate(tops, 1):
            role = f"ARG{min(n, 2)}" if concept == "contrast-01" else f"op{n}"
            sketch.link(node, role, top, "coordination")
        for member in members[1:]:
            sketch.done.add(member)
        written[members[0]] = members
    return written


def _mark_between(sketch: Sketch, group: list[int]) -> int | None:
    """The comma or other mark that joins the first two conjuncts."""
    between = range(group[0] + 1, group[1])
    return next((i for i in reversed(between) if sketch.words[i].tag in {",", ":"}), None)


def _shared_modal(sketch: Sketch, members: list[int]) -> DraftArc | None:
    """The arc from a modal that holds for all conjuncts: *you should sit and wait*."""
    outer = sketch.outer[members[0]]
    if sketch.draft.nodes[outer].rule != "modal" or outer == sketch.core[members[0]]:
        return None
    for member in members[1:]:
        word = sketch.words[member]
        own = sketch.kid(member, "nsubj", "nsubjpass", "aux", "expl")
        if word.tag not in {"VB", "VBN"} or own is not None:
            return None
    return next((arc for arc in sketch.draft.arcs if arc.head == outer and arc.rule == "modal"), None)


def _conjunction(sketch: Sketch, group: list[int]) -> tuple[str, int | None]:
    found: list[Word] = []
    for one in group:
        found.extend(sketch.kids(one, "cc"))
    for cc in found:
        if cc.lower in _CONCEPTS and cc.lower not in _PAIRED:
            concept = _CONCEPTS[cc.lower]
            if concept == "contrast-01" and len(group) > 2:
                continue
            return concept, cc.i
    if any(cc.lower in {"either", "neither"} for cc in found):
        return "or", found[0].i
    return "and", None


def write_openers(sketch: Sketch, root: Word) -> None:
    """*But …* and *And …* at the start of a sentence: ``contrast-01 :ARG2``, ``and :op2``."""
    speaker = sketch.speaker(root.i)
    if speaker not in sketch.outer:
        return
    found = sketch.kids(root.i, "cc")
    if speaker != root.i:
        found += sketch.kids(speaker, "cc")
    for cc in found[::-1]:
        if cc.i < root.i and cc.lower in _OPENERS and _opens(sketch, cc):
            concept, role = _OPENERS[cc.lower]
            sketch.above(concept, cc.i, speaker, role, "opener")


def write_consequence(sketch: Sketch, root: Word) -> None:
    """*So …*: ``cause-01 :ARG1``; *Because …* alone: ``cause-01 :ARG0``."""
    speaker = sketch.speaker(root.i)
    if speaker not in sketch.outer:
        return
    for one in sketch.kids(root.i, "advmod", "mark", "cc"):
        following = sketch.words[one.i + 1].tag[:2] if one.i + 1 < len(sketch.words) else ""
        then = one.i + 1 < len(sketch.words) and sketch.words[one.i + 1].lower == "then"
        degree = one.lower == "so" and following in {"JJ", "RB"} and not then
        if one.lower in {"so", "therefore", "thus"} and one.i < root.i and _opens(sketch, one) and not degree:
            if one.i in sketch.core:
                node = sketch.core[one.i]
                sketch.draft.drop(node)
                sketch.core.pop(one.i)
                sketch.outer.pop(one.i)
            sketch.above("cause-01", one.i, speaker, "ARG1", "so")
        elif one.lower in {"because", "for"} and one.dep == "mark":
            sketch.above("cause-01", one.i, speaker, "ARG0", "because")


def _opens(sketch: Sketch, cc: Word) -> bool:
    """Whether nothing but marks, interjections and other conjunctions stand before it."""
    place = cc.i - 1
    while place >= 0 and sketch.words[place].sentence == cc.sentence:
        before = sketch.words[place]
        if before.tag not in {"``", "''", "CC", "UH", ",", ":", ".", "-LRB-", "NFP", "HYPH"}:
            return False
        place -= 1
    return True
