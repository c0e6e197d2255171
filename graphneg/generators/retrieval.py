"""Responses of other contexts: drawn by chance, by BM25, or a little less close than the right one.

A context goes in; right responses of other contexts of the store come out, which answer this one wrongly. All
are taken from a bank (`read_bank`), and none is a right response of the context or said in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.english.near_duplicates import NearTexts
from graphneg.english.tokens import WORD, match_key, one_line, with_clitics
from graphneg.errors import GeneratorError, listed
from graphneg.generators.base import UNRELATED, Candidate, Context, ContextSelection, read_contexts
from graphneg.hashing import HashSample, number
from graphneg.model import Negative
from graphneg.nn.embedders import BUNDLED
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection
from graphneg.store.snapshots import BANK, stored_snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder

MOST = 100_000
"""Texts of a bank: some 20 MB."""
MOST_SEMI_HARD = 50_000
"""Vectors of 384 numbers: some 80 MB."""
BY = ("context", "response")
_FIRST_RANKED = 64
"""So many of the best are found without sorting all."""
_DIGITS = 4
"""Scores are compared after rounding: an encoder's last bits depend on what shares its batch."""


class BankEntry(NamedTuple):
    """One right response of a bank. ``id`` is its address, in ``dialogue``."""

    id: str
    text: str
    dialogue: str


Candidates = Callable[[Context, int, int], Iterator[Candidate]]
"""The candidates of a context, the best first, of which so many are taken; the last number is the seed."""


def read_bank(store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> list[BankEntry]:
    """The right responses of a store, each text once, in an order that chance decides.

    They are at most ``most``. Where a store has more, those are kept whose hash is lowest: the same on
    every server, and in flat memory. ``corpora`` chooses whose; all, where empty.

    Raises:
        GeneratorError: the store has no right response.
    """
    sample = HashSample[BankEntry](most)
    if (snapshot := stored_snapshot(store)) is not None:
        if most > MOST:
            raise GeneratorError(f"most {most:,}: the snapshot in this store has {MOST:,} of each corpus")
        for corpus, draw, *entry in snapshot.rows(store, BANK):
            if not corpora or corpus in corpora:
                sample.offer(draw, BankEntry(*entry))
    else:
        for draw, entry in _replies(store, corpora):
            sample.offer(draw, entry)
    entries = sample.items()
    if not entries:
        raise GeneratorError(
            "no right response in the store to take wrong ones from; load dialogues with replies first"
        )
    return entries


def bank_rows(store: Store, corpus: str) -> list[tuple[Any, ...]]:
    """The rows of a corpus for a snapshot: what the banks of any ``most`` up to `MOST` take of it."""
    sample = HashSample[tuple[int, BankEntry]](MOST)
    for draw, entry in _replies(store, (corpus,)):
        sample.offer(draw, (draw, entry))
    return [(corpus, draw, *entry) for draw, entry in sample.items()]


def _replies(store: Store, corpora: Sequence[str]) -> Iterator[tuple[int, BankEntry]]:
    """Each right response with the number that its text draws."""
    for context in read_contexts(store, ContextSelection(Selection(corpora), "every")):
        for text in context.positives:
            if text.strip():  # other writings of a text stay: any of them may be wrong somewhere
                draw = number(0, "bank", one_line(text.casefold()))
                yield draw, BankEntry(context.id, text, context.dialogue)


class NewTexts:
    """What may still be given as a wrong response of a context.

    That is no right response, nothing that is said in the context, and nothing that was given, in whatever
    writing. What is borrowed from another context does not nearly say what a right response says, either.

    >>> from graphneg.generators.base import Turn
    >>> context = Context("d#1", "c", "test", "d", 1, (Turn("A", "Hello?"),), "B", ("Hi!",))
    >>> NewTexts(context).take_entry(BankEntry("e#1", "hi!", "e"))
    False
    """

    def __init__(self, context: Context) -> None:
        self._dialogue = context.dialogue
        self._right = NearTexts(context.right)
        self._known = {match_key(text) for text in context.right}
        self._known.update(match_key(turn.text) for turn in context.turns)

    def take_entry(self, entry: BankEntry) -> bool:
        """Return whether an entry of a bank may be given; it counts as given then."""
        is_elsewhere = entry.dialogue != self._dialogue
        return is_elsewhere and entry.text not in self._right and self.take(entry.text)

    def take(self, text: str) -> bool:
        """Return whether a text is new here; it counts as given then."""
        key = match_key(text)
        new = key not in self._known
        self._known.add(key)
        return new


def check_amount(name: str, value: object) -> None:
    """Raises `GeneratorError` where an option is no whole number from 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise GeneratorError(f"{name} is a whole number from 1, not {value!r}")


class BankGenerator(ABC):
    """A generator that takes its candidates from a bank, which is read when a run begins.

    ``most`` bounds how many responses there are to take from, ``corpora`` says whose.

    Raises:
        GeneratorError: ``most`` is no amount.
    """

    remembers = False

    def __init__(self, store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> None:
        check_amount("most", most)
        self._store = store
        self._most = most
        self._corpora = tuple(listed("corpora", corpora))
        self._candidates: Candidates | None = None

    @abstractmethod
    def prepare(self) -> Candidates:
        """What gives the candidates of a context: over an index of the `bank`, or the bank itself."""

    def bank(self) -> list[BankEntry]:
        """See `read_bank`."""
        return read_bank(self._store, self._most, self._corpora)

    def settings(self) -> Mapping[str, object]:
        """See `graphneg.generators.base.Generator`."""
        return {"most": self._most, "corpora": list(self._corpora)}

    def begin(self, given: Iterable[Negative] = (), progress: Progress | None = None) -> None:
        """A run begins: read the bank anew."""
        self._candidates = self.prepare()

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """So many responses of each context; fewer where the store has no more that are fit.

        Raises:
            GeneratorError: the store has no right response.
            ModelError: a package is not installed.
        """
        if self._candidates is None:
            self.begin()
        assert self._candidates is not None
        found = [self._candidates(context, per_context, seed) for context in contexts]
        return [list(islice(candidates, per_context)) for candidates in found]


class RandomGenerator(BankGenerator):
    """Right responses of other contexts of the store, each as likely as the others.

    What rankers learn from where nobody looks for harder negatives, and a baseline of Gupta et al. (2021,
    "Synthesizing Adversarial Negative Responses for Robust Response Ranking and Evaluation"). ``most``
    bounds how many responses are drawn from, ``corpora`` says whose.
    """

    name = "random"

    def prepare(self) -> Candidates:
        """From an entry that is drawn, the next that is fit."""
        entries = self.bank()

        def drawn(context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
            new = NewTexts(context)
            for slot in range(per_context):
                start = number(seed, self.name, context.id, str(slot))
                around = (entries[(start + step) % len(entries)] for step in range(len(entries)))
                yield from map(_candidate, islice(filter(new.take_entry, around), 1))

        return drawn


class Bm25Generator(BankGenerator):
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

    def prepare(self) -> Candidates:
        """The best first; none where no other response shares a word, or none is right."""
        try:
            from bm25s import BM25
        except ImportError as error:
            raise GeneratorError(
                "bm25 needs the package bm25s: pip install 'graphneg[retrieval]'; graphneg[neural] has it too"
            ) from error
        make: Any = BM25
        k1, b = self._weights
        entries, index = self.bank(), make(k1=k1, b=b, method="lucene")
        index.index([_words(entry.text) for entry in entries], show_progress=False)

        def ranked(context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
            query, new = _query(context, self._by), NewTexts(context)
            known = sorted(set(_words(query or "")) & index.vocab_dict.keys())
            for at, score in _best_first(index.get_scores(known)) if known else ():
                if score <= 0:
                    return
                if new.take_entry(entries[at]):
                    yield _candidate(entries[at], bm25=round(score, _DIGITS))

        return ranked


class SemiHardGenerator(BankGenerator):
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

    def prepare(self) -> Candidates:
        """Those just below the right response, the nearest first, down to the margin."""
        import numpy as np

        entries = self.bank()
        vectors = self._embedder.embed([entry.text for entry in entries])

        def below(context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
            query = _query(context, self._by)
            if query is None or not context.positives:
                return
            [vector] = self._embedder.embed([query])
            [answer] = self._embedder.embed(context.positives[:1])
            right = round(float(vector @ answer), _DIGITS)
            cosines = np.round((vectors @ vector).astype(float), _DIGITS)
            new = NewTexts(context)
            for at, cosine in _best_first(np.where(cosines < right, cosines, -np.inf)):
                if cosine <= right - self._margin:
                    return
                if new.take_entry(entries[at]):
                    yield _candidate(entries[at], cosine=cosine, right=right)

        return below


def embedder_of(embedder: str | Path | Embedder) -> Embedder:
    """The embedder itself, or that of a path or id."""
    if not isinstance(embedder, str | Path):
        return embedder
    from graphneg.nn.embedders import get_embedder

    return get_embedder(embedder)


def _candidate(entry: BankEntry, **scores: float) -> Candidate:
    return Candidate(entry.text, (UNRELATED,), scores, {"source": entry.id})


def _query(context: Context, by: str) -> str | None:
    """The context's turns, or its first right response; none where it has none."""
    if by == "context":
        return context.text
    return context.positives[0] if context.positives else None


def _checked_by(by: str) -> str:
    if by not in BY:
        raise GeneratorError(f"by {by!r}: choose one of {', '.join(BY)}")
    return by


def _best_first(scores: NDArray[Any]) -> Iterator[tuple[int, float]]:
    """Indexes with their scores, highest first; of equals (when rounded) the earlier."""
    import numpy as np

    rounded, near = np.round(scores, _DIGITS), np.arange(len(scores))
    if len(scores) > _FIRST_RANKED:
        near = np.flatnonzero(rounded >= np.partition(rounded, -_FIRST_RANKED)[-_FIRST_RANKED])
    first = near[np.argsort(-rounded[near], kind="stable")].tolist()
    for at in first:
        yield at, float(scores[at])
    for at in np.argsort(-rounded, kind="stable")[len(first) :].tolist():
        yield at, float(scores[at])


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(with_clitics(text))]
