"""Which sentences can be the negatives of a context: those that come closest to each wish."""

from __future__ import annotations

from collections.abc import Iterable
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

    ``shared`` are the content words that it has of the context, ``key`` its words in lower case;
    ``cosine`` is there with an embedder.
    """

    distance: float
    chance: int
    shared: frozenset[str]
    key: str
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
    dialogue or in a right response, nor nearly so, none that mentions a usual shift, and few enough words
    of the last turn.
    """
    telling, of_last = scene.telling, scene.telling & scene.last
    ranked: list[tuple[float, int, PoolSentence]] = []
    for one in sentences:
        if (one.question and not wish.question) or one.dialogue == context.dialogue:
            continue
        if conditions.most_last is not None and len(one.terms & scene.last) > conditions.most_last:
            continue
        amount = len(one.terms & telling)
        last = not of_last.isdisjoint(one.terms)
        distance = (
            4.0 * abs(min(amount, MOST_SHARED) - wish.shared)
            + 2.0 * (amount > 0 and last != wish.last)
            + 1.0 * (one.first_person != wish.first_person)
            + 1.5 * (wish.question and not one.question)
        )
        ranked.append((distance, ((one.rank ^ wish.order) * _MIX) & _MASK, one))
    ranked.sort()
    found: dict[str, Listed] = {}
    for distance, chance, one in ranked:
        key = words_key(one.text)
        if key in said or key in found or not _may_follow(one, scene, usual, conditions.likeness):
            continue
        found[key] = Listed(distance, chance, one.terms & scene.terms, key, one)
        if len(found) == SHORTLIST:
            break
    return list(found.values())


def _may_follow(one: PoolSentence, scene: Scene, usual: frozenset[str], likeness: float) -> bool:
    """Whether it mentions no usual shift, and no right response says nearly the same."""
    if usual and not usual.isdisjoint(one.terms - scene.terms):
        return False
    return all(len(one.terms & answer) <= likeness * len(one.terms) for answer in scene.answers)
