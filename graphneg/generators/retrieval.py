"""Use correct responses to other contexts as negatives: random, BM25 and semi-hard negatives.

A response that is correct for one context is usually wrong for another. The three generators read correct
responses from the store (the bank, see `read_bank`), and choose or rank these responses for each context::

    context     A: Where is the boat now?
    random      B: I would rather stay and finish the soup.
    bm25        B: The boat leaves at noon from the other side.

A response from the bank is not used if it is nearly equal to a correct response to the context, or if it
repeats a turn of the context.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.english.near_duplicates import NearTexts
from graphneg.english.tokens import WORD, match_key, one_line, with_clitics
from graphneg.errors import GeneratorError, checked_list
from graphneg.generators.base import UNRELATED, Candidate, Context, ContextSelection, Generator, read_contexts
from graphneg.hashing import HashSample, number
from graphneg.json_input import whole_number
from graphneg.model import Negative
from graphneg.nn.embedders import BUNDLED
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.store.corpus_data import BANK, corpus_rows, has_whole_corpus
from graphneg.store.dialogues import Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphneg.nn.embedders import Embedder

MOST = 100_000
"""Default maximum number of responses in a bank, which then takes about 20 MB of memory. A snapshot contains
at most this number of responses per corpus."""
MOST_SEMI_HARD = 50_000
"""Default maximum number of responses that ``semi-hard`` embeds. With 384 dimensions, this number of vectors
takes about 80 MB of memory."""
BY = ("context", "response")
"""Values of the option ``by``: the responses in the bank are compared with the text of the context, or with
its correct response."""
_FIRST_RANKED = 64
"""Number of best results that `_best_first` finds without sorting all scores. All scores are sorted only if
more results are needed."""
_DIGITS = 4
"""Number of decimals to which scores are rounded. The reason is that the last bits of an embedding depend on
the other texts in its batch."""


class BankEntry(NamedTuple):
    """A correct response in a bank, which may be used as a wrong response to another context.

    Attributes:
        id: Id of the context that the response answers.
        text: Text of the response.
        dialogue: Id of the dialogue to which the response belongs.
    """

    id: str
    text: str
    dialogue: str


Candidates = Callable[[Context, int, int], Iterator[Candidate]]
"""Type of a function that takes a context, the number of candidates that are needed, and the seed for random
choices. The function yields candidates for the context, sorted with the best first."""


def read_bank(store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> list[BankEntry]:
    """Read the correct responses in a store without duplicates, in the random order of their hashes.

    If the store has more than ``most`` responses, those with the lowest hashes are kept. This random sample
    is the same in every database, and the memory for drawing it does not depend on the size of the store.

    Args:
        store: Store with the correct responses, or with a snapshot that contains a sample of them.
        most: Maximum number of responses to return.
        corpora: Names of the corpora to read; empty for all corpora.

    Returns:
        The responses, sorted by the hashes of their texts.

    Raises:
        GeneratorError: The store has no correct responses, or it has only a snapshot and ``most`` is above
            `MOST`. A snapshot contains at most `MOST` responses per corpus.
    """
    sample = HashSample[BankEntry](most)
    if has_whole_corpus(store):
        for draw, entry in _replies(store, corpora):
            sample.offer(draw, entry)
    elif most > MOST:
        raise GeneratorError(
            f"most must be at most {MOST:,}, not {most:,}: the snapshot in this store has no more "
            "responses of each corpus"
        )
    else:
        for corpus, draw, *entry in corpus_rows(store, BANK, list[Any]):
            if not corpora or corpus in corpora:
                sample.offer(draw, BankEntry(*entry))
    entries = sample.items()
    if not entries:
        raise GeneratorError(
            "the store has no correct responses to use as wrong ones; load dialogues with replies first"
        )
    return entries


def bank_rows(store: Store, corpus: str) -> list[tuple[Any, ...]]:
    """Return up to `MOST` correct responses of a corpus, as rows for a snapshot of the store.

    Args:
        store: Store with the correct responses.
        corpus: Name of the corpus.

    Returns:
        One row per response: the name of the corpus, the hash of the text, and the fields of a `BankEntry`.
        If ``most`` is at most `MOST`, `read_bank` chooses the same responses from these rows as from the
        whole store.
    """
    sample = HashSample[tuple[int, BankEntry]](MOST)
    for draw, entry in _replies(store, (corpus,)):
        sample.offer(draw, (draw, entry))
    return [(corpus, draw, *entry) for draw, entry in sample.items()]


def _replies(store: Store, corpora: Sequence[str]) -> Iterator[tuple[int, BankEntry]]:
    """Yield a pair for each correct response in the store: the hash of its text, and its bank entry."""
    for context in read_contexts(store, ContextSelection(Selection(corpora), "every")):
        for text in context.positives:
            if text.strip():
                # Texts that differ only in case and white space have the same hash, so one of them is kept.
                # Other spellings, such as "do n't" and "don't", count as different texts, and all are kept.
                draw = number(0, "bank", one_line(text.casefold()))
                yield draw, BankEntry(context.id, text, context.dialogue)


class NewTexts:
    """Checks which texts may still be used as wrong responses to a context.

    A text is rejected if it equals a correct response, a turn of the context or an earlier candidate, even if
    it is spelled differently ("do n't", "don't"). A response from the bank is also rejected if it nearly
    equals a correct response or comes from the same dialogue.

    Example:
        >>> from graphneg.generators.base import Turn
        >>> context = Context("d#1", "c", "test", "d", 1, (Turn("A", "Hello?"),), "B", ("Hi!",))
        >>> NewTexts(context).take_entry(BankEntry("e#1", "hi!", "e"))
        False
    """

    def __init__(self, context: Context) -> None:
        """Mark the correct responses and the turns of the context as texts that must not be used.

        Args:
            context: Context for which wrong responses are chosen.
        """
        self._dialogue = context.dialogue
        self._right = NearTexts(context.correct_responses)
        self._known = {match_key(text) for text in context.correct_responses}
        self._known.update(match_key(turn.text) for turn in context.turns)

    def take_entry(self, entry: BankEntry) -> bool:
        """Return whether a bank entry may be used as a wrong response. If so, mark its text as used.

        Args:
            entry: Response from a bank.

        Returns:
            True if the entry may be used.
        """
        is_elsewhere = entry.dialogue != self._dialogue
        return is_elsewhere and entry.text not in self._right and self.take(entry.text)

    def take(self, text: str) -> bool:
        """Return whether a text may be used as a wrong response, and mark it as used.

        Args:
            text: Text of a possible response.

        Returns:
            True if the text equals no correct response, no turn of the context and no text used before.
        """
        key = match_key(text)
        new = key not in self._known
        self._known.add(key)
        return new


def check_amount(name: str, value: object) -> None:
    """Check that an option is a positive integer.

    Args:
        name: Name of the option, for the error message.
        value: Value that the user gave for the option.

    Raises:
        GeneratorError: The value is not an integer of at least 1.
    """
    if whole_number(value, least=1) is None:
        raise GeneratorError(f"{name} must be a whole number of at least 1, not {value!r}")


class BankGenerator(Generator):
    """Base class of generators that take their candidates from a bank, the responses in a store."""

    def __init__(self, store: Store, most: int = MOST, corpora: Sequence[str] = ()) -> None:
        """Initialize the generator.

        Args:
            store: Store from which the bank, that is, the responses to choose from, is read.
            most: Maximum number of responses in the bank.
            corpora: Names of the corpora to read; empty for all corpora.
        """
        check_amount("most", most)
        self._store = store
        self._most = most
        self._corpora = tuple(checked_list("corpora", corpora))
        self._candidates: Candidates | None = None

    @abstractmethod
    def prepare(self) -> Candidates:
        """Read the bank of responses. Return a function that yields candidates for a context, best first."""

    def bank(self) -> list[BankEntry]:
        """Read the bank, that is, the responses that the options ``most`` and ``corpora`` select."""
        return read_bank(self._store, self._most, self._corpora)

    def settings(self) -> Mapping[str, object]:
        """Return the generator options that determine the output of a run."""
        return {"most": self._most, "corpora": list(self._corpora)}

    def begin(self, resumed: Iterable[Negative] = (), progress: Progress | None = None) -> None:
        """Read the bank (the responses to choose from) from the store, even if it was read before.

        Args:
            resumed: Not used.
            progress: Not used.
        """
        self._candidates = self.prepare()

    def generate(self, contexts: Sequence[Context], per_context: int, seed: int) -> list[list[Candidate]]:
        """Return candidates for each context.

        Args:
            contexts: Contexts that need wrong responses.
            per_context: Maximum number of candidates per context.
            seed: Seed for random choices. Generators without random choices ignore it.

        Returns:
            One list of candidates per context, in the order of ``contexts``. Each list is sorted, with the
            best candidate first.
        """
        if self._candidates is None:
            self.begin()
        assert self._candidates is not None
        found = [self._candidates(context, per_context, seed) for context in contexts]
        return [list(islice(candidates, per_context)) for candidates in found]


class RandomGenerator(BankGenerator):
    """Draw correct responses to other contexts at random, all with equal probability.

    Random negatives are the usual training data of rankers, and a baseline of Gupta et al. (2021,
    "Synthesizing Adversarial Negative Responses for Robust Response Ranking and Evaluation"). The options are
    those of `BankGenerator`: ``most`` is the maximum number of responses in the bank, and ``corpora`` are the
    names of the corpora to read.
    """

    name = "random"

    def prepare(self) -> Candidates:
        """Read the bank, and return a function that draws random responses from the bank."""
        entries = self.bank()

        def drawn(context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
            new = NewTexts(context)
            for slot in range(per_context):
                start = number(seed, self.name, context.id, str(slot))
                # Begin at a random entry of the bank. If it is rejected, try the entries after it and, after
                # the end of the bank, those from its beginning.
                around = (entries[(start + step) % len(entries)] for step in range(len(entries)))
                yield from map(_candidate, islice(filter(new.take_entry, around), 1))

        return drawn


class Bm25Generator(BankGenerator):
    """Retrieve the responses to other contexts that BM25 ranks first.

    The package ``bm25s`` computes BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework:
    BM25 and Beyond"). Karpukhin et al. (2020, "Dense Passage Retrieval", section 3.2) use BM25 negatives for
    training. For dialogues, BM25 negatives are a baseline of Gupta et al. (2021, "Synthesizing Adversarial
    Negative Responses for Robust Response Ranking and Evaluation"). BM25 makes no random choices, so the seed
    is not used.

    ``by`` selects the words to search for: those of the ``context``, or of its correct ``response``. ``most``
    is the maximum number of responses to search, and ``corpora`` are the names of the corpora to read. ``k1``
    and ``b`` are the parameters of BM25.
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
        """Initialize the generator.

        Args:
            store: Store from which the bank is read.
            by: Text whose words are searched for: ``context`` for all turns of the context, ``response`` for
                its correct response.
            most: Maximum number of responses to search.
            corpora: Names of the corpora to read; empty for all corpora.
            k1: Parameter k1 of BM25, which limits the effect of repeated words.
            b: Parameter b of BM25, the strength of the length normalization, from 0 to 1.
        """
        super().__init__(store, most, corpora)
        self._by = _checked_by(by)
        self._weights = (k1, b)

    def settings(self) -> Mapping[str, object]:
        """Return the generator options that determine the output of a run."""
        return {**super().settings(), "by": self._by, "weights": list(self._weights)}

    def prepare(self) -> Candidates:
        """Read the bank and build the BM25 index.

        Returns:
            A function that yields candidates for a context, sorted by BM25 score, highest first. Each
            candidate shares at least one word with the query. With ``by="response"``, the query is the
            correct response, so the function yields nothing for a context without a correct response.

        Raises:
            GeneratorError: The package ``bm25s`` is not installed.
        """
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
            # Leave out words that are not in the index, because they cannot contribute to a score.
            known = sorted(set(_words(query or "")) & index.vocab_dict.keys())
            for at, score in _best_first(index.get_scores(known)) if known else ():
                # Results are sorted by score. Stop at the score 0, because all later responses share no word
                # with the query.
                if score <= 0:
                    return
                if new.take_entry(entries[at]):
                    yield _candidate(entries[at], bm25=round(score, _DIGITS))

        return ranked


class SemiHardGenerator(BankGenerator):
    """Retrieve responses that are slightly less similar to the query than the correct response.

    Similarity is the cosine between sentence embeddings. A response is a candidate if its cosine with the
    query is lower than that of the correct response, but by less than ``margin``. The most similar candidates
    come first. Schroff et al. (2015, "FaceNet", section 3.2) define semi-hard negatives in this way: they are
    farther away than the positive example, but inside the margin. Li et al. (2019, "Sampling Matters! An
    Empirical Study of Negative Sampling Strategies for Learning of Matching Models in Retrieval-based
    Dialogue Systems") use semi-hard negatives for dialogues, and Gupta et al. (2021) use them as a baseline
    with a sentence encoder. The generator makes no random choices, so the seed is not used.

    ``by`` selects the query: the ``context``, or its correct ``response``. If the query is the correct
    response, the cosine of the correct response is 1. ``embedder`` is an embedder, or the path or id with
    which `graphneg.nn.embedders.get_embedder` loads one. ``most`` is the maximum number of responses to
    search, and ``corpora`` are the names of the corpora to read.
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
        """Initialize the generator and load the embedder.

        Args:
            store: Store from which the bank is read.
            embedder: Embedder for the context and the responses, or the path or id of an embedder.
            by: Text with which the responses are compared, ``context`` or ``response``.
            margin: Upper limit for the difference between the cosine of the correct response and the cosine
                of a candidate, above 0 and at most 2.
            most: Maximum number of responses to search.
            corpora: Names of the corpora to read; empty for all corpora.

        Raises:
            GeneratorError: ``margin`` is out of range.
        """
        super().__init__(store, most, corpora)
        self._by = _checked_by(by)
        if not 0 < margin <= 2:
            raise GeneratorError(f"semi-hard: margin must be a difference of cosines above 0, not {margin!r}")
        self._embedder = embedder_of(embedder)
        self._margin = margin

    def settings(self) -> Mapping[str, object]:
        """Return the generator options that determine the output of a run."""
        own = {"embedder": self._embedder.name, "by": self._by, "margin": self._margin}
        return {**super().settings(), **own}

    def prepare(self) -> Candidates:
        """Read and embed the bank.

        Returns:
            A function that yields candidates for a context, sorted by their cosine with the query, highest
            first. Each cosine is below that of the correct response, but by less than ``margin``.
        """
        import numpy as np

        entries = self.bank()
        vectors = self._embedder.embed([entry.text for entry in entries])

        def below(context: Context, per_context: int, seed: int) -> Iterator[Candidate]:
            query = _query(context, self._by)
            if query is None or not context.positives:
                return
            [vector] = self._embedder.embed([query])
            [answer] = self._embedder.embed(context.positives[:1])
            # All vectors have length 1, so the dot product is the cosine.
            right = round(float(vector @ answer), _DIGITS)
            cosines = np.round((vectors @ vector).astype(float), _DIGITS)
            new = NewTexts(context)
            # A response that is at least as similar to the query as the correct response may be correct, too.
            # Such responses get the score minus infinity, so that they come last.
            for at, cosine in _best_first(np.where(cosines < right, cosines, -np.inf)):
                # Responses are sorted by cosine. Stop here, because this response and all later ones are too
                # dissimilar to the correct response.
                if cosine <= right - self._margin:
                    return
                if new.take_entry(entries[at]):
                    yield _candidate(entries[at], cosine=cosine, right=right)

        return below


def embedder_of(embedder: str | Path | Embedder) -> Embedder:
    """Load an embedder by path or id. An embedder that is already loaded is returned unchanged.

    Args:
        embedder: Embedder, or the path or id of an embedder.

    Returns:
        The loaded embedder.
    """
    if not isinstance(embedder, str | Path):
        return embedder
    from graphneg.nn.embedders import get_embedder

    return get_embedder(embedder)


def _candidate(entry: BankEntry, **scores: float) -> Candidate:
    return Candidate(entry.text, (UNRELATED,), scores, {"source": entry.id})


def _query(context: Context, by: str) -> str | None:
    """Return the query with which responses to a context are retrieved.

    If ``by`` is ``context``, the query is the context itself. If ``by`` is ``response``, it is the first
    correct response to the context, or None if there is no correct response.
    """
    if by == "context":
        return context.text
    return context.positives[0] if context.positives else None


def _checked_by(by: str) -> str:
    if by not in BY:
        raise GeneratorError(f"unknown value {by!r} of by; choose one of {', '.join(BY)}")
    return by


def _best_first(scores: NDArray[Any]) -> Iterator[tuple[int, float]]:
    """Yield pairs of an index and the score at this index, sorted by rounded score, highest first.

    Pairs with equal rounded scores are sorted by index.
    """
    import numpy as np

    rounded, near = np.round(scores, _DIGITS), np.arange(len(scores))
    # Callers usually need only the best few responses. So find and yield these first, before sorting all
    # scores.
    if len(scores) > _FIRST_RANKED:
        near = np.flatnonzero(rounded >= np.partition(rounded, -_FIRST_RANKED)[-_FIRST_RANKED])
    first = near[np.argsort(-rounded[near], kind="stable")].tolist()
    for at in first:
        yield at, float(scores[at])
    for at in np.argsort(-rounded, kind="stable")[len(first) :].tolist():
        yield at, float(scores[at])


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(with_clitics(text))]
