"""Which sentences can be the negatives of a context: closest to their profile, no right answers.

A context, a target profile and sentences of the pool go in, a `Shortlist` comes out, the best first.
`Similarity` reorders it by meaning: similarity is the cosine of an embedder's vectors of the context's turns,
joined, and of the sentence, both taken from the mean of such texts: without that, means of static vectors are
all close to one another (Mu and Viswanath 2018, "All-but-the-Top", section 2). For each negative a cosine is
drawn from those of the store's right responses, so that similarity alone can't tell right from wrong.
`likeliest` leaves out what is a right answer after all, by a scorer of the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

from graphneg.english.tokens import sentences
from graphneg.errors import GeneratorError
from graphneg.generators.base import Context, ContextSelection, read_contexts
from graphneg.generators.overlap.pool import PoolSentence, words_key
from graphneg.generators.overlap.target_profile import Conditions, ContextTerms, TargetProfile
from graphneg.store.connection import Store

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder


SHORTLIST = 16
MOST_SHARED = 3
_MIX, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
CALIBRATION = 400
"""Right responses whose cosines are taken as their distribution."""
FEWEST = 30
"""With fewer right responses, no cosine is drawn."""
WEIGHT = 10.0
"""Penalty per unit of distance from the sampled target cosine: 0.1 weighs as much as the wrong person."""


class Listed(NamedTuple):
    """A sentence on a shortlist: how far it is from the profile, then by chance.

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
        for listed in self._items:
            self._found.append(listed)
            yield listed


def said_in(context: Context) -> frozenset[str]:
    """Keys of what is said in the context or answers it rightly: whole turns, and each sentence of them."""
    texts = (*(turn.text for turn in context.turns), *context.positives)
    return frozenset(words_key(part) for text in texts for part in (text, *sentences(text)))


def shortlist(
    context: Context,
    terms: ContextTerms,
    profile: TargetProfile,
    sentences: Iterable[PoolSentence],
    said: frozenset[str],
    conditions: Conditions,
    usual: frozenset[str],
) -> Shortlist:
    """The sentences that come closest to a profile, nearest first; ``usual`` are terms that none may mention.

    Hard conditions: no question where none is wanted, nothing that is said in the context, in its
    dialogue or in a right response, nor nearly so, none that mentions a usual shift, and few enough words
    of the last turn.
    """
    ranked: list[tuple[float, int, PoolSentence]] = []
    for sentence in sentences:
        if sentence.dialogue != context.dialogue:
            distance = _distance(sentence, terms, profile, conditions.most_last)
            if distance is not None:
                chance = ((sentence.rank ^ profile.order) * _MIX) & _MASK
                ranked.append((distance, chance, sentence))
    ranked.sort()

    def fitting() -> Iterator[Listed]:
        listed: set[str] = set()
        for distance, chance, sentence in ranked:
            key = words_key(sentence.text)
            if key in said or key in listed:
                continue
            if _may_follow(sentence, terms, usual, conditions.likeness):
                listed.add(key)
                yield Listed(distance, chance, sentence.terms & terms.terms, key, sentence)

    return Shortlist(islice(fitting(), SHORTLIST))


def _distance(
    sentence: PoolSentence, terms: ContextTerms, profile: TargetProfile, most_last: int | None
) -> float | None:
    """How far a sentence is from a profile; None where it is a question too many, or near the last turn."""
    if sentence.question and not profile.question:
        return None
    if most_last is not None and len(sentence.terms & terms.last) > most_last:
        return None
    common = sentence.terms & terms.informative
    distance = 4.0 * abs(min(len(common), MOST_SHARED) - profile.shared)
    if common and terms.last.isdisjoint(common) == profile.last:
        distance += 2.0
    if sentence.first_person != profile.first_person:
        distance += 1.0
    return distance + 1.5 * (profile.question and not sentence.question)


def _may_follow(sentence: PoolSentence, terms: ContextTerms, usual: frozenset[str], likeness: float) -> bool:
    """Whether it mentions no usual shift, and no right response says nearly the same."""
    if usual and not usual.isdisjoint(sentence.terms - terms.terms):
        return False
    most = likeness * len(sentence.terms)
    if len(sentence.terms & terms.answered) <= most:
        return True
    return all(len(sentence.terms & answer) <= most for answer in terms.answers)


class Similarity:
    """The cosine condition, with the distribution of a store's right responses."""

    def __init__(self, embedder: Embedder, store: Store, most: float | None) -> None:
        answered = _answered(store)
        self._embedder = embedder
        self._centre = _mean(embedder, answered)
        self._most = 1.0 if most is None else most
        self._usual = self._cosines(answered)

    def preferring(
        self, contexts: Sequence[Context], lists: Sequence[Sequence[Sequence[Listed]]]
    ) -> Callable[[int, float, Sequence[Listed]], list[Listed]]:
        """Embed all that is listed for contexts, and return what reorders one of their lists.

        What it returns takes the index of the context, the draw of a profile (0 to 1) and a list.
        """
        texts = sorted({listed.sentence.text for some in lists for each in some for listed in each})
        indexes = {text: index for index, text in enumerate(texts)}
        sentences = self._embed(texts)
        meant = self._embed([context.text for context in contexts])

        def reordered(at: int, draw: float, listed: Sequence[Listed]) -> list[Listed]:
            target = self._drawn(draw)
            kept: list[Listed] = []
            for item in listed:
                cosine = float(meant[at] @ sentences[indexes[item.sentence.text]])
                if cosine < self._most:
                    beside = 0.0 if target is None else abs(cosine - target)
                    kept.append(item._replace(distance=item.distance + WEIGHT * beside, cosine=cosine))
            return sorted(kept, key=lambda item: (item.distance, item.chance, item.sentence.id))

        return reordered

    def _cosines(self, contexts: Sequence[Context]) -> list[float]:
        """Cosines of contexts with their first right responses, in ascending order."""
        if not contexts:
            return []
        meant = self._embed([context.text for context in contexts])
        answers = self._embed([context.positives[0] for context in contexts])
        return sorted(float(a @ b) for a, b in zip(meant, answers, strict=True))

    def _embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Vectors from the mean, of length 1, shape (texts, dimensions)."""
        import numpy as np

        vectors = self._embedder.embed(texts) - self._centre
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def _drawn(self, draw: float) -> float | None:
        """The cosine of a right response, below the most; none where too few are known."""
        usual = [cosine for cosine in self._usual if cosine < self._most]
        return usual[int(draw * len(usual))] if len(usual) >= FEWEST else None


def _answered(store: Store) -> list[Context]:
    """The first contexts of a store that have a right response."""
    contexts = read_contexts(store, ContextSelection())
    return list(islice((context for context in contexts if context.positives), CALIBRATION))


def _mean(embedder: Embedder, contexts: Sequence[Context]) -> NDArray[float32] | float:
    """The mean vector of contexts and of their first right responses, shape (dimensions,); 0 of none."""
    texts = [text for context in contexts for text in (context.text, context.positives[0])]
    return embedder.embed(texts).mean(axis=0) if texts else 0.0


class Denoiser(Protocol):
    """Tells how likely a text is a right response; a ranker trained on random negatives does."""

    name: str

    def score(self, contexts: Sequence[Context], texts: Sequence[str]) -> Sequence[float]:
        """One number for each context and its text, in order; higher: likelier a right response."""
        ...


def likeliest(
    denoiser: Denoiser, contexts: Sequence[Context], lists: Sequence[Sequence[Sequence[Listed]]], share: float
) -> list[frozenset[str]]:
    """For each context the keys of listed sentences that go: the ``share`` that the denoiser likes best.

    Raises:
        GeneratorError: it does not give one number for each text.
    """
    keyed = [{item.key: item.sentence.text for listed in some for item in listed} for some in lists]
    asked = [(context, text) for context, some in zip(contexts, keyed, strict=True) for text in some.values()]
    scores = denoiser.score([context for context, _ in asked], [text for _, text in asked])
    if len(scores) != len(asked):
        raise GeneratorError(f"denoiser {denoiser.name} gave {len(scores)} scores for {len(asked)} texts")
    left = iter(scores)
    ranked = [sorted((-next(left), key) for key in some) for some in keyed]
    return [frozenset(key for _, key in some[: round(share * len(some))]) for some in ranked]
