"""Which sentences can be the negatives of a context: those that come closest to each wish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
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


class Shortlist:
    """Sentences in order, each looked at when it is asked for: mostly the first is taken."""

    def __init__(self, items: Iterator[Listed]) -> None:
        self._items = items
        self._found: list[Listed] = []

    def __iter__(self) -> Iterator[Listed]:
        yield from self._found
        for one in self._items:
            self._found.append(one)
            yield one


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
) -> Shortlist:
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
        common = one.terms & telling
        distance = 4.0 * abs(min(len(common), MOST_SHARED) - wish.shared)
        if common and of_last.isdisjoint(common) == wish.last:
            distance += 2.0
        if one.first_person != wish.first_person:
            distance += 1.0
        if wish.question and not one.question:
            distance += 1.5
        ranked.append((distance, ((one.rank ^ wish.order) * _MIX) & _MASK, one))
    ranked.sort()

    def fitting() -> Iterator[Listed]:
        found: set[str] = set()
        for distance, chance, one in ranked:
            key = words_key(one.text)
            if key not in said and key not in found and _may_follow(one, scene, usual, conditions.likeness):
                found.add(key)
                yield Listed(distance, chance, one.terms & scene.terms, key, one)

    return Shortlist(islice(fitting(), SHORTLIST))


def _may_follow(one: PoolSentence, scene: Scene, usual: frozenset[str], likeness: float) -> bool:
    """Whether it mentions no usual shift, and no right response says nearly the same."""
    if usual and not usual.isdisjoint(one.terms - scene.terms):
        return False
    most = likeness * len(one.terms)
    if len(one.terms & scene.answered) <= most:
        return True
    return all(len(one.terms & answer) <= most for answer in scene.answers)
