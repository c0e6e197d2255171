"""What is wanted of each negative, drawn by hashing: how many words in common, which, and in what form."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from graphneg.content_words import content_lemmas
from graphneg.generators.base import Context
from graphneg.generators.overlap.conditions import Conditions
from graphneg.hashing import number

_BITS = 16
_ANCHORS = 3
_MANY_ANCHORS = 6
"""Anchors of a wish: the first is its own, the others stand in where that one leads nowhere. Sentences with
three or more words in common are rare, so more terms are looked at."""
_RARITY = 3
"""How strongly rare terms are preferred."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The content words of a context: all, those of its last turn, those of each right response and of any.

    ``telling`` are those that count as words in common: a word that is said everywhere sets no scene.
    """

    id: str
    terms: frozenset[str]
    telling: frozenset[str]
    last: frozenset[str]
    answers: tuple[frozenset[str], ...]
    answered: frozenset[str]


@dataclass(frozen=True, slots=True)
class Wish:
    """What one negative should be. ``shared`` is 0 to 3, and 3 means three or more; ``order`` shuffles."""

    shared: int
    last: bool
    first_person: bool
    question: bool
    anchors: tuple[str, ...]
    order: int
    draw: float


def scene_of(context: Context, frequency: Callable[[str], int], light: float) -> Scene:
    """The scene of a context; terms of a higher ``frequency`` than ``light`` are not telling."""
    turns = [frozenset(content_lemmas(turn.text)) for turn in context.turns]
    answers = tuple(frozenset(content_lemmas(text)) for text in context.positives)
    terms = frozenset[str]().union(*turns)
    telling = frozenset(term for term in terms if frequency(term) <= light)
    return Scene(context.id, terms, telling, turns[-1], answers, frozenset[str]().union(*answers))


def wishes_for(
    scene: Scene,
    conditions: Conditions,
    frequency: Callable[[str], int],
    hub: float,
    elsewhere: Sequence[str],
    amount: int,
    seed: int,
) -> list[Wish]:
    """The wishes of a context's negatives, each with anchors of its own as long as there are any.

    ``frequency`` of a term is 0 where it can't be an anchor; terms over ``hub`` are taken last, and rare
    ones rather than frequent ones. What shares nothing with the context is anchored ``elsewhere``.
    """
    ranked = _ranked(scene, frequency, hub, seed)
    of_last = [term for term in ranked if term in scene.last]
    before = [term for term in ranked if term not in scene.last]
    used = {True: 0, False: 0}
    found: list[Wish] = []
    for slot in range(amount):
        bits = number(seed, "wish", scene.id, str(slot))
        draws = [((bits >> (_BITS * place)) & 0xFFFF) / 0x10000 for place in range(4)]
        shared = _drawn(conditions.overlap, draws[0]) if ranked else 0
        last = bool(of_last) and (not before or draws[1] < conditions.last_turn)
        own, others = (of_last, before) if last else (before, of_last)
        if not shared:
            own, others = [term for term in elsewhere if term not in scene.terms], []
        many = _MANY_ANCHORS if shared > 2 else _ANCHORS
        start = bits % max(len(own), 1) if not shared else used[last]
        used[last] += bool(shared)
        anchors = [own[(start + i) % len(own)] for i in range(min(many, len(own)))]
        found.append(
            Wish(
                shared=shared,
                last=last,
                first_person=draws[2] < conditions.first_person,
                question=draws[3] < conditions.questions,
                anchors=tuple((anchors + others)[:many]),
                order=number(seed, "order", scene.id, str(slot)),
                draw=number(seed, "draw", scene.id, str(slot)) / 2**64,
            )
        )
    return found


def _ranked(scene: Scene, frequency: Callable[[str], int], hub: float, seed: int) -> list[str]:
    """The terms that can be anchors, drawn so that rare ones tend to come first; hubs come last."""
    keys: list[tuple[bool, float, str]] = []
    for term in scene.terms:
        often = frequency(term)
        if often:
            chance = (number(seed, "anchor", scene.id, term) + 1) / (2**64 + 1)
            keys.append((often > hub, -math.log(chance) * math.log(often + 2) ** _RARITY, term))
    return [term for _, _, term in sorted(keys)]


def _drawn(shares: Sequence[float], chance: float) -> int:
    """The place in ``shares`` that a number from 0 to 1 falls on.

    >>> [_drawn((0.1, 0.4, 0.5), chance) for chance in (0.05, 0.3, 0.99)]
    [0, 1, 2]
    """
    total = sum(shares)
    for place, border in enumerate(accumulate(shares)):
        if chance * total < border:
            return place
    return len(shares) - 1
