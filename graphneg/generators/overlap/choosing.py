"""Which sentences can be the negatives of a context: those that come closest to each wish."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from graphneg.generators.base import Context
from graphneg.generators.overlap.conditions import Conditions
from graphneg.generators.overlap.pool import PoolSentence, words_key
from graphneg.generators.overlap.wishes import Scene, Wish
from graphneg.loading.sentences import sentences_in

SHORTLIST = 16
MOST_SHARED = 3
_MIX, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


class Listed(NamedTuple):
    """A sentence on a shortlist: how far it is from the wish, then by chance.

    ``shared`` are the content words that it has of the context; ``cosine`` is there with an embedder.
    """

    distance: float
    chance: int
    shared: frozenset[str]
    sentence: PoolSentence
    cosine: float | None = None


def said_in(context: Context) -> frozenset[str]:
    """Keys of what is said in the context or answers it rightly: whole turns, and each sentence of them."""
    texts = (*(turn.text for turn in context.turns), *context.positives)
    return frozenset(words_key(part) for text in texts for part in (text, *sentences_in(text)))


def shortlist(
    context: Context,
    scene: Scene,
    wish: Wish,
    sentences: Iterable[PoolSentence],
    said: frozenset[str],
    conditions: Conditions,
    usual: frozenset[str],
) -> list[Listed]:
    """The sentences that come closest to a wish, nearest first; ``usual`` are terms that none may mention.

    Hard conditions: no question where none is wanted, nothing that is said in the context, in its
    dialogue or in a right response, nor nearly so, and none that mentions a usual shift.
    """
    found: dict[str, Listed] = {}
    for one in sentences:
        if one.question > wish.question or one.key in said or one.dialogue == context.dialogue:
            continue
        shared = one.terms & scene.terms
        amount = min(len(shared), MOST_SHARED)
        if usual and not usual.isdisjoint(one.terms - shared):
            continue
        last = not shared.isdisjoint(scene.last)
        distance = (
            4.0 * abs(amount - wish.shared)
            + 2.0 * (amount > 0 and last != wish.last)
            + 1.0 * (one.first_person != wish.first_person)
            + 1.5 * (wish.question and not one.question)
        )
        chance = ((one.rank ^ wish.order) * _MIX) & _MASK
        found.setdefault(one.key, Listed(distance, chance, shared, one))
    nearest = sorted(found.values(), key=_place)
    fit = (one for one in nearest if not _is_like_answer(one.sentence, scene.answers, conditions.likeness))
    return [one for one, _ in zip(fit, range(SHORTLIST), strict=False)]


def _place(one: Listed) -> tuple[float, int, str]:
    return one.distance, one.chance, one.sentence.id


def _is_like_answer(sentence: PoolSentence, answers: Sequence[frozenset[str]], most: float) -> bool:
    """Whether a right response has so many of its content words that it says nearly the same."""
    return any(len(sentence.terms & answer) > most * len(sentence.terms) for answer in answers)
