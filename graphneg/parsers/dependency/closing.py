"""What is done after the learned parts: what they can't know is kept, and sentences share their pronouns.

The annotated graphs that the learned parts come from are a novel's and captions': they hold nobody who is
spoken to, no *please*, hardly a sentence that is one word, and few texts of several sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphneg.parsers.dependency.draft import Draft, DraftArc
from graphneg.parsers.dependency.rules.reference import quoted_words

_KEPT = frozenset({"vocative", "polite"})
_UNKNOWN = "amr-unknown"
_ANSWERS = frozenset({"yes", "no", "yeah", "ok", "okay", "sure", "please", "hello", "hi", "goodbye"})
_PERSONS = frozenset({"i", "you", "he", "she", "we", "they"})
_NEAR = 6
_SHARED = frozenset({"i", "you", "he", "she", "it", "we", "they"})


class Reviser(Protocol):
    """A part that revises drafts in place, between the rules and the assembler."""

    version: str

    def revise(self, draft: Draft) -> None:
        """Changes the draft."""
        ...


@dataclass(frozen=True, slots=True)
class Kept:
    """What the rules wrote and revisers are not to lose: some arcs, and a node for each sentence."""

    arcs: tuple[DraftArc, ...]
    doubled: tuple[DraftArc, ...]
    hortative: tuple[DraftArc, ...]
    persons: tuple[DraftArc, ...]
    modals: tuple[DraftArc, ...]
    tops: dict[int, int]


def keep(draft: Draft) -> Kept:
    """Notes, before revision, what is kept."""
    arcs = tuple(
        DraftArc(arc.head, arc.dep, arc.role, arc.rule)
        for arc in draft.arcs
        if arc.role in _KEPT or arc.role == "polarity" or draft.nodes[arc.dep].concept == _UNKNOWN
    )
    return Kept(arcs, _doubled(draft), _hortative(draft), _persons(draft), _modals(draft), dict(draft.tops))


def _doubled(draft: Draft) -> tuple[DraftArc, ...]:
    """The arcs to what is a frame's argument twice: *he hurt himself*."""
    times = Counter((arc.head, arc.dep) for arc in draft.arcs if arc.role.startswith("ARG"))
    return tuple(
        DraftArc(arc.head, arc.dep, arc.role, arc.rule)
        for arc in draft.arcs
        if times[arc.head, arc.dep] > 1 and arc.role.startswith("ARG")
    )


def _hortative(draft: Draft) -> tuple[DraftArc, ...]:
    """Who does what *let's* proposes."""
    us = {
        k
        for k, node in enumerate(draft.nodes)
        if node.concept == "we" and node.token and draft.words[node.token - 1].lower in {"let", "lets"}
    }
    return tuple(
        DraftArc(arc.head, arc.dep, arc.role, arc.rule)
        for arc in draft.arcs
        if arc.dep in us and arc.role.startswith("ARG")
    )


def _persons(draft: Draft) -> tuple[DraftArc, ...]:
    """What links a personal pronoun to the rest, *I'm from Oslo*; of a quotation it may mean its speaker."""
    spoken = quoted_words(draft.words)
    persons = {
        k
        for k, node in enumerate(draft.nodes)
        if node.concept in _PERSONS and node.rule == "pronoun" and node.token not in spoken
    }
    return tuple(
        DraftArc(arc.head, arc.dep, arc.role, arc.rule)
        for arc in draft.arcs
        if (arc.head in persons or arc.dep in persons)
        and (arc.role.startswith("ARG") or arc.role in {"mod", "poss"})
    )


def _is_person(draft: Draft, k: int) -> bool:
    return draft.nodes[k].concept in _PERSONS and draft.nodes[k].rule == "pronoun"


def _modals(draft: Draft) -> tuple[DraftArc, ...]:
    """What leads from a modal to all that it holds for: *you can't eat or drink*."""
    return tuple(
        DraftArc(arc.head, arc.dep, arc.role, arc.rule)
        for arc in draft.arcs
        if draft.nodes[arc.head].rule == "modal" and draft.nodes[arc.dep].rule == "coordination"
    )


def restore(draft: Draft, kept: Kept) -> None:
    """Puts back, after revision, what was kept."""
    alive = {node.sentence for node in draft.nodes if not node.gone and node.concept is not None}
    for sentence, top in kept.tops.items():
        if sentence not in alive:
            draft.nodes[top].gone = False
            draft.tops[sentence] = top
    asked = {node.sentence for node in draft.nodes if node.concept == _UNKNOWN and not node.gone}
    for arc in kept.arcs:
        node = draft.nodes[arc.dep]
        lost = node.gone and (node.concept != _UNKNOWN or node.sentence not in asked)
        if lost or arc.role in _KEPT:
            _restore_arc(draft, arc)
    for arc in kept.hortative:
        _put_us(draft, arc)
    for arc in kept.doubled:
        roles = {one.role for one in draft.arcs if one.head == arc.head}
        if arc.role not in roles and not draft.nodes[arc.head].gone and not draft.nodes[arc.dep].gone:
            draft.link(arc.head, arc.role, arc.dep, arc.rule)
    _free_units(draft)
    _drop_particles(draft)
    for arc in kept.modals:
        _put_over(draft, arc)
    for arc in kept.persons:
        _restore_person(draft, arc)
    for k, node in enumerate(draft.nodes):
        answers = node.rule in {"interjection", "no"} and node.concept in _ANSWERS
        if node.gone and answers and draft.tops.get(node.sentence, k) != k:
            node.gone = False
            draft.link(draft.tops[node.sentence], "mod", k, node.rule)


def _restore_arc(draft: Draft, arc: DraftArc) -> None:
    """The arc leads from its head, or from what its word means now, and is the only one to its end."""
    node, head = draft.nodes[arc.dep], _living(draft, arc.head)
    if head is None or head == arc.dep or draft.tops.get(node.sentence) == arc.dep:
        return
    if node.gone and arc.role == "vocative":
        return
    node.gone = False
    draft.arcs = [one for one in draft.arcs if one.dep != arc.dep and (one.head, one.dep) != (arc.dep, head)]
    draft.link(head, arc.role, arc.dep, arc.rule)


def _put_us(draft: Draft, arc: DraftArc) -> None:
    """*we* do it, not the *you* of other orders."""
    head = _living(draft, arc.head)
    if head is None or any(one.head == head and one.dep == arc.dep for one in draft.arcs):
        return
    for one in list(draft.arcs):
        if one.head == head and draft.nodes[one.dep].concept == "you" and one.role.startswith("ARG"):
            draft.arcs.remove(one)
            if all(other.dep != one.dep and other.head != one.dep for other in draft.arcs):
                draft.drop(one.dep)
    draft.nodes[arc.dep].gone = False
    draft.link(head, arc.role, arc.dep, arc.rule)


def _free_units(draft: Draft) -> None:
    """*three pounds of rice*: what the unit is taken for is the rice, or else the amount."""
    kinds = {arc.dep: arc.head for arc in draft.arcs if arc.role == "unit"}
    measured = {arc.dep: arc.head for arc in draft.arcs if arc.role == "quant"}
    for arc in draft.arcs:
        if arc.dep in kinds and arc.role.startswith("ARG"):
            arc.dep = measured.get(kinds[arc.dep], kinds[arc.dep])


def _drop_particles(draft: Draft) -> None:
    """*sat down*: what is a part of the frame's name, ``sit-down-02``, is no direction beside it."""
    heads = {arc.head for arc in draft.arcs}
    for arc in list(draft.arcs):
        node, head = draft.nodes[arc.dep], draft.nodes[arc.head]
        if node.token is None or node.concept is None or arc.dep in heads or node.gone:
            continue
        stem, _, sense = (head.concept or "").rpartition("-")
        if sense.isdigit() and f"-{draft.words[node.token].lower}" in stem and head.token is not None:
            near = 0 < node.token - head.token < _NEAR and stem.endswith(f"-{node.concept}")
            if near and sum(one.dep == arc.dep for one in draft.arcs) == 1:
                draft.drop(arc.dep)


def _put_over(draft: Draft, arc: DraftArc) -> None:
    """The modal stands over the conjunction, not over one of what it joins, nor under it."""
    modal, joint = arc.head, arc.dep
    joined = {one.dep for one in draft.arcs if one.head == joint and one.role.startswith("op")} - {modal}
    if len(joined) < 2 or draft.nodes[modal].gone or draft.nodes[joint].gone:
        return
    draft.arcs = [
        one
        for one in draft.arcs
        if (one.head, one.dep) != (joint, modal) and (one.head != modal or one.dep not in {*joined, joint})
    ]
    draft.link(modal, arc.role, joint, arc.rule)
    for sentence, top in draft.tops.items():
        if top == joint:
            draft.tops[sentence] = modal


def _restore_person(draft: Draft, arc: DraftArc) -> None:
    """Somebody who was spoken of and is gone has again the role that the rules gave."""
    head, dep = arc.head, arc.dep
    lost = [k for k in (head, dep) if draft.nodes[k].gone and _is_person(draft, k)]
    other = _living(draft, dep if lost == [head] else head)
    if len(lost) != 1 or other is None or draft.nodes[other].concept is None:
        return
    roles = {one.role for one in draft.arcs if one.head == other}
    if lost == [dep] and arc.role in roles:
        return
    draft.nodes[lost[0]].gone = False
    draft.link(*(other, arc.role, lost[0]) if lost == [dep] else (lost[0], arc.role, other), arc.rule)


def _living(draft: Draft, node: int) -> int | None:
    """The node, or the first that its word has now; ``None`` where its word has none."""
    old = draft.nodes[node]
    if not old.gone:
        return node
    if old.token is None:
        return draft.tops.get(old.sentence)
    same = (k for k, one in enumerate(draft.nodes) if one.token == old.token and not one.gone)
    return next((k for k in same if draft.nodes[k].concept is not None), None)


def share_pronouns(draft: Draft) -> None:
    """One node for all mentions of a pronoun in the text, the first one."""
    first: dict[str, int] = {}
    for k, node in enumerate(draft.nodes):
        if not node.gone and node.concept in _SHARED:
            same = first.setdefault(node.concept or "", k)
            if same != k:
                draft.redirect(k, same)


def revised(draft: Draft, revisers: Sequence[Reviser]) -> Draft:
    """The draft after the revisers, in order, with what they are not to lose."""
    kept = keep(draft)
    for reviser in revisers:
        reviser.revise(draft)
    if revisers:
        restore(draft, kept)
    share_pronouns(draft)
    return draft
