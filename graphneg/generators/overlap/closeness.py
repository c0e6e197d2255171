"""How close a sentence may be to its context in meaning: as right responses are, never closer than most.

Closeness is the cosine of an embedder's vectors of the context's turns, joined, and of the sentence, both
taken from the mean of such texts: without that, means of static vectors are all close to one another
(Mu and Viswanath 2018, "All-but-the-Top", section 2). For each negative a cosine is drawn from those of
the store's right responses, so that closeness alone can't tell right from wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from graphneg.generators.base import Context
from graphneg.generators.contexts import WantedContexts, read_contexts
from graphneg.generators.overlap.choosing import Listed
from graphneg.store import Store

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from graphneg.embedding import Embedder

CALIBRATION = 400
"""Right responses whose cosines are taken as their distribution."""
FEWEST = 30
WEIGHT = 10.0
"""A tenth of a cosine beside what was drawn weighs as much as the wrong grammatical person."""


class Closeness:
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

        What it returns takes the place of the context, the draw of a wish (0 to 1) and a list.
        """
        texts = sorted({one.sentence.text for some in lists for each in some for one in each})
        places = {text: place for place, text in enumerate(texts)}
        sentences = self._embed(texts)
        meant = self._embed([said_text(context) for context in contexts])

        def reordered(at: int, draw: float, listed: Sequence[Listed]) -> list[Listed]:
            target = self._drawn(draw)
            kept: list[Listed] = []
            for one in listed:
                cosine = float(meant[at] @ sentences[places[one.sentence.text]])
                if cosine < self._most:
                    beside = 0.0 if target is None else abs(cosine - target)
                    kept.append(one._replace(distance=one.distance + WEIGHT * beside, cosine=cosine))
            return sorted(kept, key=lambda one: (one.distance, one.chance, one.sentence.id))

        return reordered

    def _cosines(self, contexts: Sequence[Context]) -> list[float]:
        """Cosines of contexts with their first right responses, in ascending order."""
        if not contexts:
            return []
        meant = self._embed([said_text(one) for one in contexts])
        answers = self._embed([one.positives[0] for one in contexts])
        return sorted(float(a @ b) for a, b in zip(meant, answers, strict=True))

    def _embed(self, texts: Sequence[str]) -> NDArray[float32]:
        """Vectors from the mean, of length 1, shape (texts, dimensions)."""
        import numpy as np

        vectors = self._embedder.embed(texts) - self._centre
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def _drawn(self, draw: float) -> float | None:
        """The cosine of a right response, below the most; none where too few are known."""
        usual = [one for one in self._usual if one < self._most]
        return usual[int(draw * len(usual))] if len(usual) >= FEWEST else None


def said_text(context: Context) -> str:
    """The turns of a context as one text."""
    return " ".join(turn.text for turn in context.turns)


def _answered(store: Store) -> list[Context]:
    """The first contexts of a store that have a right response."""
    contexts: Iterable[Context] = (one for one in read_contexts(store, WantedContexts()) if one.positives)
    return list(islice(contexts, CALIBRATION))


def _mean(embedder: Embedder, contexts: Sequence[Context]) -> NDArray[float32] | float:
    """The mean vector of contexts and of their first right responses, shape (dimensions,); 0 of none."""
    texts = [text for one in contexts for text in (said_text(one), one.positives[0])]
    return embedder.embed(texts).mean(axis=0) if texts else 0.0
