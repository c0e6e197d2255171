"""Responses of other contexts: drawn by chance, by BM25, or a little less close than the right one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.english.content_words import WORD, with_clitics
from graphneg.errors import GeneratorError
from graphneg.generators.base import Candidate, Context, WantedContexts, read_contexts
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.nn.embedders import BUNDLED
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder
    from graphneg.nn.vectors import Nearest


# Right responses of a store's contexts, from which wrong ones are taken for other contexts.
#
# A bank holds at most ``most`` texts. Where a store has more, those are kept whose hash is lowest: the same
# on
# every server, and in flat memory.


MOST = 100_000
"""Some 20 MB of texts."""
CATEGORY = "C-follow"


class Entry(NamedTuple):
    """One right response. ``id`` is the place that it answers at, in ``dialogue``."""

    id: str
    text: str
    dialogue: str


class Bank:
    """The right responses of a store, each text once, in an order that chance decides.

    ``corpora`` chooses whose; all, where empty.

    Raises:
        GeneratorError: ``most`` is no amount, or the store has no right response.
    """

    def __init__(self, store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> None:
        check_amount("most", most)
        self.entries = _lowest(_entries(store, corpora), most)
        if not self.entries:
            raise GeneratorError(
                "no right response in the store to take wrong ones from; load dialogues with replies first"
            )

    def __len__(self) -> int:
        return len(self.entries)

    def around(self, place: int) -> Iterator[Entry]:
        """All of them from a place on, once round."""
        start = place % len(self.entries)
        yield from self.entries[start:]
        yield from self.entries[:start]


class Fitting:
    """What can't be a wrong response of a context: what fits it, what is said in it, what was given already.

    >>> from graphneg.generators.base import Turn
    >>> context = Context("d#1", "c", "test", "d", 1, (Turn("A", "Hello?"),), "B", ("Hi!",))
    >>> Fitting(context).may_give(Entry("e#1", "hi!", "e"))
    False
    """

    def __init__(self, context: Context) -> None:
        self._dialogue = context.dialogue
        self._texts = {plain(text) for text in context.positives}
        self._texts.update(plain(turn.text) for turn in context.turns)

    def may_give(self, entry: Entry) -> bool:
        """Whether it is of another dialogue, and not said or given already; it counts as given then."""
        return entry.dialogue != self._dialogue and self.is_new(entry.text)

    def is_new(self, text: str) -> bool:
        """Whether a text fits nowhere here; it counts as given then."""
        key = plain(text)
        if key in self._texts:
            return False
        self._texts.add(key)
        return True


def plain(text: str) -> str:
    """A text as it is compared: case and white space do not count."""
    return " ".join(text.casefold().split())


def said(context: Context) -> str:
    """The turns of a context as one text."""
    return " ".join(turn.text for turn in context.turns)


def candidate_of(entry: Entry, **scores: float) -> Candidate:
    return Candidate(entry.text, (CATEGORY,), scores, {"source": entry.id})


def check_amount(name: str, value: object) -> None:
    """Raises `GeneratorError` where an option is no whole number from 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise GeneratorError(f"{name} is a whole number from 1, not {value!r}")


def _entries(store: Store, corpora: Sequence[str]) -> Iterator[Entry]:
    wanted = WantedContexts(Selection(tuple(corpora)), "every")
    for context in read_contexts(store, wanted):
        for text in context.positives:
            yield Entry(context.id, text, context.dialogue)


def _lowest(entries: Iterable[Entry], most: int) -> list[Entry]:
    """The ``most`` texts of lowest hash, lowest first; of equal texts the first entry."""
    heap: list[tuple[int, str, Entry]] = []
    kept: set[str] = set()
    for entry in entries:
        key = plain(entry.text)
        if key in kept or not key:
            continue
        item = (-number(0, "bank", key), key, entry)
        if len(heap) < most:
            heapq.heappush(heap, item)
        elif item[0] > heap[0][0]:
            kept.discard(heapq.heapreplace(heap, item)[1])
        else:
            continue
        kept.add(key)
    return [entry for _, _, entry in sorted(heap, key=lambda item: (-item[0], item[1]))]


# ``bm25``: right responses of other contexts that share the most telling words with the context.


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


# ``random``: right responses of other contexts, drawn by chance.


class RandomGenerator:
    """Right responses of other contexts of the store, each as likely as the others.

    What rankers learn from where nobody looks for harder negatives, and a baseline of Gupta et al. (2021,
    "Synthesizing Adversarial Negative Responses for Robust Response Ranking and Evaluation"). ``most``
    bounds how many responses are drawn from, ``corpora`` says whose.
    """

    name = "random"

    def __init__(self, store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> None:
        self._store = store
        self._most = most
        self._corpora = tuple(corpora)
        self._bank: Bank | None = None

    def settings(self) -> Mapping[str, object]:
        return {"most": self._most, "corpora": list(self._corpora)}

    def begin(self, given: Iterable[Negative], progress: Progress) -> None:
        self._bank = Bank(self._store, self._most, self._corpora)

    def generate(
        self, contexts: Sequence[Context], per_context: int, seed: int
    ) -> Sequence[Sequence[Candidate]]:
        """So many responses of each context; fewer where the store has no more.

        Raises:
            GeneratorError: the store has no right response.
        """
        bank = self._bank = self._bank or Bank(self._store, self._most, self._corpora)
        return [_drawn(bank, context, per_context, seed) for context in contexts]


def _drawn(bank: Bank, context: Context, amount: int, seed: int) -> list[Candidate]:
    fitting = Fitting(context)
    found: list[Entry] = []
    for slot in range(amount):
        place = number(seed, "random", context.id, str(slot))
        found += islice(filter(fitting.may_give, bank.around(place)), 1)
    return [candidate_of(entry) for entry in found]


# ``semi-hard``: responses of other contexts that are a little less close in meaning than the right one.


MOST_SEMI_HARD = 50_000
"""Vectors of 384 numbers: some 80 MB."""
_FIRST_SEMI_HARD = 256
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
        from graphneg.nn.vectors import Nearest

        self._entries = bank.entries
        self._embedder = embedder
        self._index: Nearest = Nearest(embedder.embed([one.text for one in bank.entries]))

    def vectors(self, texts: Sequence[str]) -> NDArray[float32]:
        return self._embedder.embed(texts)

    def nearest(self, vector: NDArray[float32]) -> Iterator[tuple[Entry, float]]:
        """Entries with their cosines, nearest first; of equals the bank's first."""
        given, wanted = 0, _FIRST_SEMI_HARD
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
    from graphneg.nn.embedders import get_embedder

    return get_embedder(embedder)
