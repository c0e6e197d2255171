"""``bm25``: right responses of other contexts that share the most telling words with the context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphneg.content_words import WORD, with_clitics
from graphneg.errors import GeneratorError
from graphneg.generators.bank import MOST, Bank, Entry, Fitting, candidate_of, said
from graphneg.generators.base import Candidate, Context
from graphneg.model import Negative
from graphneg.progress import Progress
from graphneg.store import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

BY = ("context", "response")
_FIRST = 64
"""How many of the best are looked at first; twice as many each time that these are not enough."""


class Bm25Generator:
    """The responses of other contexts that BM25 ranks first for the context, or for the right response.

    BM25 is Robertson and Zaragoza's (2009, "The Probabilistic Relevance Framework: BM25 and Beyond"),
    computed by ``bm25s``; negatives found with it are Karpukhin et al.'s (2020, "Dense Passage Retrieval",
    section 3.2), and for dialogues a baseline of Gupta et al. (2021, "Synthesizing Adversarial Negative
    Responses for Robust Response Ranking and Evaluation"). ``by`` is ``context`` or ``response``: what is
    asked for. ``most`` bounds how many responses are searched, ``corpora`` says whose; ``k1`` and ``b``
    are BM25's. The seed changes nothing.

    Raises:
        GeneratorError: ``by`` is something else, or ``bm25s`` is not installed.
    """

    name = "bm25"

    def __init__(
        self,
        store: Store,
        by: str = "context",
        most: int = MOST,
        corpora: Sequence[str] = (),
        k1: float = 1.5,
        b: float = 0.75,
    ) -> None:
        check_by(by)
        self._store = store
        self._by = by
        self._most = most
        self._corpora = tuple(corpora)
        self._weights = (k1, b)
        self._index: _Index | None = None

    def settings(self) -> Mapping[str, object]:
        return {
            "by": self._by,
            "most": self._most,
            "corpora": list(self._corpora),
            "weights": list(self._weights),
        }

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        self._index = _Index(Bank(self._store, self._most, self._corpora), *self._weights)

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """The best of each context; fewer where no other response shares a word, or none is right.

        Raises:
            GeneratorError: the store has no right response.
        """
        if self._index is None:
            self._index = _Index(Bank(self._store, self._most, self._corpora), *self._weights)
        return [self._best(self._index, context, per_context) for context in contexts]

    def _best(self, index: _Index, context: Context, amount: int) -> list[Candidate]:
        query = asked_text(context, self._by)
        if query is None:
            return []
        fitting = Fitting(context)
        found: list[Candidate] = []
        for entry, score in index.best(query):
            if len(found) == amount:
                break
            if fitting.may_give(entry):
                found.append(candidate_of(entry, bm25=round(score, 4)))
        return found


class _Index:
    """BM25 over a bank's texts."""

    def __init__(self, bank: Bank, k1: float, b: float) -> None:
        self._entries = bank.entries
        try:
            from bm25s import BM25
        except ImportError as error:
            raise GeneratorError(
                "bm25 needs the package bm25s: pip install 'graphneg[retrieval]'; graphneg[neural] has it too"
            ) from error
        make: Any = BM25
        self._bm25 = make(k1=k1, b=b, method="lucene")
        self._bm25.index([_words(one.text) for one in self._entries], show_progress=False)

    def best(self, query: str) -> Iterator[tuple[Entry, float]]:
        """Entries that share a word with the query and scores, best first; of equals, the bank's first."""
        import numpy as np

        known = sorted(set(_words(query)) & self._bm25.vocab_dict.keys())
        if not known:
            return
        scores: NDArray[Any] = self._bm25.get_scores(known)
        given, wanted = 0, _FIRST
        while given < len(self._entries):
            for place in _top(np.round(scores, 4), wanted)[given:]:
                if scores[place] <= 0:
                    return
                yield self._entries[place], float(scores[place])
            given, wanted = wanted, 2 * wanted


def _top(scores: NDArray[Any], wanted: int) -> list[int]:
    """Places of the highest scores, highest first; of equals the earlier."""
    import numpy as np

    if wanted < len(scores):
        least = np.partition(scores, -wanted)[-wanted]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:wanted].tolist()


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(with_clitics(text))]


def asked_text(context: Context, by: str) -> str | None:
    """The context's turns, or its first right response; none where it has none."""
    if by == "context":
        return said(context)
    return context.positives[0] if context.positives else None


def check_by(by: str) -> None:
    """Raises `GeneratorError` where ``by`` is none of ``BY``."""
    if by not in BY:
        raise GeneratorError(f"by {by!r}: choose one of {', '.join(BY)}")
