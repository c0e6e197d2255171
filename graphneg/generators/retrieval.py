"""Responses of other contexts: drawn by chance, by BM25, or a little less close than the right one.

A context goes in; right responses of other contexts of the store come out, which answer this one wrongly. All
are taken from a `Bank`, and none is a right response of the context or said in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from graphneg.english.detokenize import with_clitics
from graphneg.english.tokens import WORD, match_key
from graphneg.errors import GeneratorError
from graphneg.generators.base import UNRELATED, Candidate, Context, ContextSelection, read_contexts
from graphneg.hashing import HashSample, number
from graphneg.model import Negative
from graphneg.nn.embedders import BUNDLED
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder

MOST = 100_000
"""Texts of a bank: some 20 MB."""
MOST_SEMI_HARD = 50_000
"""Vectors of 384 numbers: some 80 MB."""
BY = ("context", "response")
_FIRST_RANKED = 64
"""How many of the best are looked at first; twice as many each time that these are not enough."""
_FIRST_NEAREST = 256
_DIGITS = 4
"""Cosines are compared after rounding: an encoder's last bits depend on what shares its batch."""

Prepared = TypeVar("Prepared")


class Entry(NamedTuple):
    """One right response. ``id`` is its address, in ``dialogue``."""

    id: str
    text: str
    dialogue: str


class Bank:
    """The right responses of a store, each text once, in an order that chance decides.

    It holds at most ``most`` texts. Where a store has more, those are kept whose hash is lowest: the same on
    every server, and in flat memory. ``corpora`` chooses whose; all, where empty.

    Raises:
        GeneratorError: ``most`` is no amount, or the store has no right response.
    """

    def __init__(self, store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> None:
        check_amount("most", most)
        self.entries = _lowest(_right_responses(store, corpora), most)
        if not self.entries:
            raise GeneratorError(
                "no right response in the store to take wrong ones from; load dialogues with replies first"
            )

    def __len__(self) -> int:
        return len(self.entries)

    def around(self, start: int) -> Iterator[Entry]:
        """All of them from an index on, once round."""
        start %= len(self.entries)
        yield from self.entries[start:]
        yield from self.entries[:start]


class NewTexts:
    """What may still be given as a wrong response of a context: not what fits, is said in it, or was given.

    >>> from graphneg.generators.base import Turn
    >>> context = Context("d#1", "c", "test", "d", 1, (Turn("A", "Hello?"),), "B", ("Hi!",))
    >>> NewTexts(context).take_entry(Entry("e#1", "hi!", "e"))
    False
    """

    def __init__(self, context: Context) -> None:
        self._dialogue = context.dialogue
        self._known = {match_key(text) for text in context.positives}
        self._known.update(match_key(turn.text) for turn in context.turns)

    def take_entry(self, entry: Entry) -> bool:
        """Whether it is of another dialogue, and not said or given already; it counts as given then."""
        return entry.dialogue != self._dialogue and self.take(entry.text)

    def take(self, text: str) -> bool:
        """Whether a text is new here; it counts as given then."""
        key = match_key(text)
        new = key not in self._known
        self._known.add(key)
        return new


def check_amount(name: str, value: object) -> None:
    """Raises `GeneratorError` where an option is no whole number from 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise GeneratorError(f"{name} is a whole number from 1, not {value!r}")


class BankGenerator(ABC, Generic[Prepared]):
    """A generator that takes its candidates from a bank, which is read, and ``prepared``, when a run begins.

    ``most`` bounds how many responses there are to take from, ``corpora`` says whose.
    """

    def __init__(self, store: Store, most: int, corpora: Sequence[str]) -> None:
        self._store = store
        self._most = most
        self._corpora = tuple(corpora)
        self._prepared: Prepared | None = None

    @abstractmethod
    def prepare(self, bank: Bank) -> Prepared:
        """What candidates are taken from: an index over the bank, or the bank itself."""

    @abstractmethod
    def candidates(
        self, prepared: Prepared, context: Context, per_context: int, seed: int
    ) -> Iterator[Candidate]:
        """The candidates of a context, the best first; the first ``per_context`` are taken."""

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        return {"most": self._most, "corpora": list(self._corpora)}

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        """A run begins: read the bank anew."""
        self._prepared = self.prepare(Bank(self._store, self._most, self._corpora))

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """So many responses of each context; fewer where the store has no more that are fit.

        Raises:
            GeneratorError: the store has no right response.
            ModelError: a package is not installed.
        """
        if self._prepared is None:
            self._prepared = self.prepare(Bank(self._store, self._most, self._corpora))
        prepared = self._prepared
        return [
            list(islice(self.candidates(prepared, context, per_context, seed), per_context))
            for context in contexts
        ]


class RandomGenerator(BankGenerator[Bank]):
    """Right responses of other contexts of the store, each as likely as the others.

    What rankers learn from where nobody looks for harder negatives, and a baseline of Gupta et al. (2021,
    "Synthesizing Adversarial Negative Responses for Robust Response Ranking and Evaluation"). ``most``
    bounds how many responses are drawn from, ``corpora`` says whose.
    """

    name = "random"

    def __init__(self, store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> None:
        super().__init__(store, most, corpora)

    def prepare(self, bank: Bank) -> Bank:
        """The bank itself."""
        return bank

    def candidates(
        self, prepared: Bank, context: Context, per_context: int, seed: int
    ) -> Iterator[Candidate]:
        """From an entry that is drawn, the next that is fit."""
        new = NewTexts(context)
        for slot in range(per_context):
            start = number(seed, self.name, context.id, str(slot))
            yield from map(_candidate, islice(filter(new.take_entry, prepared.around(start)), 1))


class Bm25Generator(BankGenerator["_Bm25Index"]):
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
        super().__init__(store, most, corpora)
        self._by = _checked_by(by)
        self._weights = (k1, b)

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        return {**super().settings(), "by": self._by, "weights": list(self._weights)}

    def prepare(self, bank: Bank) -> _Bm25Index:
        """The index over the bank's words."""
        return _Bm25Index(bank, *self._weights)

    def candidates(
        self, prepared: _Bm25Index, context: Context, per_context: int, seed: int
    ) -> Iterator[Candidate]:
        """The best first; none where no other response shares a word, or none is right."""
        query, new = _query(context, self._by), NewTexts(context)
        for entry, score in prepared.ranked(query or ""):
            if new.take_entry(entry):
                yield _candidate(entry, bm25=round(score, 4))


class _Bm25Index:
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
        self._bm25.index([_words(entry.text) for entry in self._entries], show_progress=False)

    def ranked(self, query: str) -> Iterator[tuple[Entry, float]]:
        """Entries that share a word with the query and scores, best first; of equals, the bank's first."""
        import numpy as np

        known = sorted(set(_words(query)) & self._bm25.vocab_dict.keys())
        if not known:
            return
        scores: NDArray[Any] = self._bm25.get_scores(known)
        given, most = 0, _FIRST_RANKED
        while given < len(self._entries):
            for at in _top(np.round(scores, 4), most)[given:]:
                if scores[at] <= 0:
                    return
                yield self._entries[at], float(scores[at])
            given, most = most, 2 * most


class SemiHardGenerator(BankGenerator["_NearestIndex"]):
    """Responses of other contexts whose cosine is below the right response's, by ``margin`` at most.

    Semi-hard negatives are those of Schroff et al. (2015, "FaceNet", section 3.2): farther than the
    positive, and inside the margin. Li et al. (2019, "Sampling Matters! An Empirical Study of Negative
    Sampling Strategies for Learning of Matching Models in Retrieval-based Dialogue Systems") draw them for
    dialogues, Gupta et al. (2021) as a baseline, with a sentence encoder. Here the nearest below the
    positive go first.

    ``by`` says what cosines are taken with: the ``context``, or the right ``response``, whose own is 1.
    ``embedder`` is a path or an id (`graphneg.nn.embedders.get_embedder`) or an object, ``most`` bounds how
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
        most: int = MOST_SEMI_HARD,
        corpora: Sequence[str] = (),
    ) -> None:
        super().__init__(store, most, corpora)
        self._by = _checked_by(by)
        if not 0 < margin <= 2:
            raise GeneratorError(f"semi-hard: margin is a difference of cosines over 0, not {margin!r}")
        self._embedder = embedder_of(embedder)
        self._margin = margin

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        own = {"embedder": self._embedder.name, "by": self._by, "margin": self._margin}
        return {**super().settings(), **own}

    def prepare(self, bank: Bank) -> _NearestIndex:
        """The index over the bank's vectors."""
        return _NearestIndex(bank, self._embedder)

    def candidates(
        self, prepared: _NearestIndex, context: Context, per_context: int, seed: int
    ) -> Iterator[Candidate]:
        """Those just below the right response, the nearest first, down to the margin."""
        query = _query(context, self._by)
        if query is None or not context.positives:
            return
        vector = self._embedder.embed([query])
        right = round(float(vector[0] @ self._embedder.embed(context.positives[:1])[0]), _DIGITS)
        new = NewTexts(context)
        for entry, cosine in prepared.ranked(vector):
            if cosine <= right - self._margin:
                return
            if cosine < right and new.take_entry(entry):
                yield _candidate(entry, cosine=cosine, right=right)


class _NearestIndex:
    """A bank with its vectors."""

    def __init__(self, bank: Bank, embedder: Embedder) -> None:
        from graphneg.nn.vectors import Nearest

        self._entries = bank.entries
        self._index = Nearest(embedder.embed([entry.text for entry in bank.entries]))

    def ranked(self, vector: NDArray[float32]) -> Iterator[tuple[Entry, float]]:
        """Entries with their cosines, nearest first; of equals the bank's first. ``vector``: shape (1, n)."""
        given, most = 0, _FIRST_NEAREST
        while given < len(self._entries):
            cosines, indexes = self._index.search(vector, most)
            rounded = [round(float(cosine), _DIGITS) for cosine in cosines[0]]
            ranked = sorted(
                zip(rounded, indexes[0].tolist(), strict=True), key=lambda item: (-item[0], item[1])
            )
            # The last of equals may be cut off from the rest: what is as near as the last comes next time.
            last = len(ranked) if most >= len(self._entries) else rounded.index(ranked[-1][0])
            for cosine, at in ranked[given:last]:
                yield self._entries[at], cosine
            given, most = max(given, last), 2 * most


def embedder_of(embedder: str | Path | Embedder) -> Embedder:
    """The embedder itself, or that of a path or id."""
    if not isinstance(embedder, str | Path):
        return embedder
    from graphneg.nn.embedders import get_embedder

    return get_embedder(embedder)


def _candidate(entry: Entry, **scores: float) -> Candidate:
    return Candidate(entry.text, (UNRELATED,), scores, {"source": entry.id})


def _right_responses(store: Store, corpora: Sequence[str]) -> Iterator[Entry]:
    for context in read_contexts(store, ContextSelection(Selection(tuple(corpora)), "every")):
        for text in context.positives:
            yield Entry(context.id, text, context.dialogue)


def _lowest(entries: Iterable[Entry], most: int) -> list[Entry]:
    """The ``most`` texts of lowest hash, lowest first; of equal texts the first entry."""
    sample = HashSample[Entry](most)
    for entry in entries:
        if key := match_key(entry.text):
            sample.offer(number(0, "bank", key), entry)
    return sample.items()


def _query(context: Context, by: str) -> str | None:
    """The context's turns, or its first right response; none where it has none."""
    if by == "context":
        return context.text
    return context.positives[0] if context.positives else None


def _checked_by(by: str) -> str:
    if by not in BY:
        raise GeneratorError(f"by {by!r}: choose one of {', '.join(BY)}")
    return by


def _top(scores: NDArray[Any], most: int) -> list[int]:
    """Indexes of the highest scores, highest first; of equals the earlier."""
    import numpy as np

    if most < len(scores):
        least = np.partition(scores, -most)[-most]
        indexes = np.flatnonzero(scores >= least)
    else:
        indexes = np.arange(len(scores))
    return indexes[np.argsort(-scores[indexes], kind="stable")][:most].tolist()


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(with_clitics(text))]
