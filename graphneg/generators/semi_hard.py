"""``semi-hard``: responses of other contexts that are a little less close in meaning than the right one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.embedding.base import BUNDLED
from graphneg.errors import GeneratorError
from graphneg.generators.bank import Bank, Entry, Fitting, candidate_of
from graphneg.generators.base import Candidate, Context
from graphneg.generators.bm25 import asked_text, check_by
from graphneg.model import Negative
from graphneg.progress import Progress
from graphneg.store import Store

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from graphneg.embedding import Embedder
    from graphneg.embedding.nearest import Nearest

MOST = 50_000
"""Vectors of 384 numbers: some 80 MB."""
_FIRST = 256
_DIGITS = 4
"""Cosines are compared after rounding: an encoder's last bits depend on what shares its batch."""


class SemiHardGenerator:
    """Responses of other contexts whose cosine is below the right response's, by ``margin`` at most.

    Semi-hard negatives are those of Schroff et al. (2015, "FaceNet", section 3.2): farther than the
    positive, and inside the margin. Li et al. (2019, "Sampling Matters! An Empirical Study of Negative
    Sampling Strategies for Learning of Matching Models in Retrieval-based Dialogue Systems") draw them for
    dialogues, Gupta et al. (2021) as a baseline, with a sentence encoder. Here the nearest below the
    positive go first.

    ``by`` says what cosines are taken with: the ``context``, or the right ``response``, whose own is 1.
    ``embedder`` is a path or an id (`graphneg.embedding.get_embedder`) or an object, ``most`` bounds how
    many responses are searched, ``corpora`` says whose. The seed changes nothing.

    Raises:
        GeneratorError: ``by`` is something else, or ``margin`` is no number over 0.
        ModelError: the embedder can't be had.
    """

    name = "semi-hard"

    def __init__(
        self,
        store: Store,
        embedder: str | Path | Embedder = BUNDLED,
        by: str = "context",
        margin: float = 0.3,
        most: int = MOST,
        corpora: Sequence[str] = (),
    ) -> None:
        check_by(by)
        if not 0 < margin <= 2:
            raise GeneratorError(f"semi-hard: margin is a difference of cosines over 0, not {margin!r}")
        self._store = store
        self._embedder = _made(embedder)
        self._by = by
        self._margin = margin
        self._most = most
        self._corpora = tuple(corpora)
        self._near: _Near | None = None

    def settings(self) -> Mapping[str, object]:
        return {
            "embedder": self._embedder.name,
            "by": self._by,
            "margin": self._margin,
            "most": self._most,
            "corpora": list(self._corpora),
        }

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        self._near = _Near(Bank(self._store, self._most, self._corpora), self._embedder)

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """Those just below the right response; fewer where the margin holds no more, or none is right.

        Raises:
            GeneratorError: the store has no right response.
            ModelError: FAISS is not installed.
        """
        if self._near is None:
            self._near = _Near(Bank(self._store, self._most, self._corpora), self._embedder)
        return [self._just_below(self._near, context, per_context) for context in contexts]

    def _just_below(self, near: _Near, context: Context, amount: int) -> list[Candidate]:
        query = asked_text(context, self._by)
        if query is None or not context.positives:
            return []
        vector = near.vectors([query])
        right = round(float(vector[0] @ near.vectors(context.positives[:1])[0]), _DIGITS)
        fitting = Fitting(context)
        found: list[Candidate] = []
        for entry, cosine in near.nearest(vector):
            if len(found) == amount or cosine <= right - self._margin:
                break
            if cosine < right and fitting.may_give(entry):
                found.append(candidate_of(entry, cosine=cosine, right=right))
        return found


class _Near:
    """A bank with its vectors."""

    def __init__(self, bank: Bank, embedder: Embedder) -> None:
        from graphneg.embedding.nearest import Nearest

        self._entries = bank.entries
        self._embedder = embedder
        self._index: Nearest = Nearest(embedder.embed([one.text for one in bank.entries]))

    def vectors(self, texts: Sequence[str]) -> NDArray[float32]:
        return self._embedder.embed(texts)

    def nearest(self, vector: NDArray[float32]) -> Iterator[tuple[Entry, float]]:
        """Entries with their cosines, nearest first; of equals the bank's first."""
        given, wanted = 0, _FIRST
        while given < len(self._entries):
            cosines, places = self._index.search(vector, wanted)
            ranked = sorted(zip(_rounded(cosines[0]), places[0].tolist(), strict=True), key=_nearest_first)
            # The last of equals may be cut off from the rest: what is as near as the last waits for more.
            whole = len(ranked) if wanted >= len(self._entries) else _before_last(ranked)
            for cosine, place in ranked[given:whole]:
                yield self._entries[place], cosine
            given, wanted = max(given, whole), 2 * wanted


def _rounded(cosines: NDArray[Any]) -> list[float]:
    return [round(float(one), _DIGITS) for one in cosines]


def _nearest_first(one: tuple[float, int]) -> tuple[float, int]:
    return -one[0], one[1]


def _before_last(ranked: Sequence[tuple[float, int]]) -> int:
    last = ranked[-1][0]
    return next(place for place, one in enumerate(ranked) if one[0] == last)


def _made(embedder: str | Path | Embedder) -> Embedder:
    if not isinstance(embedder, str | Path):
        return embedder
    from graphneg.embedding import get_embedder

    return get_embedder(embedder)
