"""Read sentences that can be used as responses from the store (the sentence pool).

The pool contains sentences from the dialogues in the store and from other texts that were loaded. On request,
it also contains anecdotes that graphneg provides. A `Pool` knows how many sentences mention each term
(content word), and reads a random sample of the sentences that mention a term::

    term       "letter"
    sample     "I lost the letter on the train.", "My aunt never answers letters.", ...

The sample for a term depends only on the seed and the store. Each sentence in the store has a random rank.
The sample consists of the sentences with the term whose ranks lie in an interval. The interval is wide enough
to contain about ``sentences_per_term`` such sentences. Samples are cached in memory.

`pool_dialogues` splits the dialogues in the store into sentences and adds these sentences to the pool.
`pool_anecdotes` adds the anecdotes that graphneg provides.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from sys import intern
from typing import Any

from graphneg.english.tokens import detokenize, sentences
from graphneg.errors import GeneratorError
from graphneg.generators.overlap.anecdotes import likeness
from graphneg.generators.overlap.target_profile import OverlapOptions, PoolSentence
from graphneg.hashing import number, shuffled
from graphneg.ingest.lexicon import DerivedRecords
from graphneg.ingest.loader import LoadOptions, LoadReport, get_loader
from graphneg.ingest.rows import FIRST, RANKS, sentence, utterance_id
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.model import Rejected, Sentence
from graphneg.progress import NoProgress, Progress
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_dialogues, read_responses
from graphneg.store.statements import cypher_text, run

KEPT_SENTENCES = 100_000
"""Maximum number of pool sentences to cache in memory. This number of sentences takes about 80 MB."""
Samples = Mapping[str, Sequence[Sequence[Any]]]
"""Type of a mapping from terms to samples. The sample for a term consists of one row per sentence, as the
store returns it."""
ELSEWHERE = 128
"""Number of random terms that are kept for negatives that should share no words with their contexts. For such
a negative, some of these terms are searched for instead of terms of the context."""
SPOKEN_ENOUGH = 5_000
"""If the pool has at least this number of sentences from dialogues, only these sentences determine which
terms are everyday words. Otherwise, all sentences of the pool determine it."""
NARROW = 10.0
"""The vocabulary of the dialogues counts as narrow if their number of distinct terms is below this factor
times the square root of their number of sentences. For example, 1,000 sentences of booking dialogues that
were made from templates have 60 distinct terms, and 1,000 sentences of everyday dialogues have 1,200."""
PAGE = 500
"""Number of dialogues that are read from the store and split into sentences together."""
NAME = "overlap"
"""Name of the load report in which `pool_dialogues` counts the sentences from dialogues."""
ANECDOTES = "anecdotes"
"""Name of the loader for the anecdotes that graphneg provides, and the ``source`` of these sentences in the
store."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a pool, counted in sentences.

    Attributes:
        sentences: Number of all sentences in the pool.
        spoken: Number of sentences from dialogues.
        fit: Number of sentences that meet the conditions for a response, such as the minimum length.
    """

    sentences: int
    spoken: int
    fit: int


class Pool:
    """The sentences in a store that meet the conditions for responses, such as a minimum length.

    Raises:
        GeneratorError: No sentence can be used as a response, or the store has no sentence from a source that
            the options name.
    """

    def __init__(self, store: Store, conditions: OverlapOptions, seed: int) -> None:
        """Initialize the pool, and read its size and its vocabulary.

        Args:
            store: Store that contains the sentences.
            conditions: Options of the generator, with the conditions that the sentences must meet.
            seed: Seed for drawing the random samples.
        """
        self._store = store
        self._conditions = conditions
        self._seed = seed
        self._sources, self.size = _sources(store, conditions)
        vocabulary = store.read(cypher_text("overlap/vocabulary"), least=1)
        terms = sum(row["spoken"] > 0 for row in vocabulary)
        self.narrow = conditions.anecdotes and 0 < terms < NARROW * sqrt(self.size.spoken)
        """Whether the vocabulary of the dialogues is narrow. If so, sentences from dialogues rarely describe
        another situation than a context does. Therefore anecdotes that graphneg provides are added to each
        sample. Always False if the option ``anecdotes`` is off."""
        # Count how often words occur in dialogues, because everyday words are frequent there. If there are
        # only few dialogues, or if their vocabulary is narrow, count the words in all sentences instead.
        spoken = self.size.spoken >= SPOKEN_ENOUGH and not self.narrow
        least = (conditions.min_term_frequency or 0.0) * (self.size.spoken if spoken else self.size.sentences)
        rows = [row for row in vocabulary if row["sentences"] >= max(1, int(least))]
        # The store may contain graphneg's anecdotes (example sentences) because another generator needs them.
        # Subtract the counts of their terms, so that the anecdotes do not change the output of this
        # generator.
        left_out = Counter[str]()
        if self._sources and ANECDOTES not in self._sources:
            own = store.read(cypher_text("overlap/terms_of_source"), source=ANECDOTES)
            left_out.update({row["text"]: row["sentences"] for row in own})
        counts = ((row["text"], row["sentences"] - left_out[row["text"]], row["spoken"]) for row in rows)
        self._frequencies = {
            intern(term): often
            for term, often, said in counts
            if often and (said if spoken else often) >= least
        }
        """The number of sentences that mention a term, for each term that counts as an everyday word because
        it is frequent enough."""
        self._kept: OrderedDict[str, tuple[PoolSentence, ...]] = OrderedDict()
        self._amount = 0
        max_bridge_count = conditions.max_bridge_frequency * self.size.sentences
        seldom = sorted(term for term, often in self._frequencies.items() if often <= max_bridge_count)
        self.unrelated_terms = tuple(shuffled(seldom, seed, "elsewhere")[:ELSEWHERE])
        """Random terms that are searched for if a sentence should share no words with a context. Very
        frequent terms are excluded."""

    def frequency(self, term: str) -> int:
        """Return the number of sentences that mention a term.

        Args:
            term: Lemma of a content word.

        Returns:
            The number of sentences; 0 if the term is too rare to count as an everyday word.
        """
        return self._frequencies.get(term, 0)

    def __contains__(self, term: str) -> bool:
        """Return whether the sample of sentences for a term is cached."""
        return term in self._kept

    def read(self, terms: Sequence[str]) -> Samples:
        """Read a sample of sentences for each term from the store, without caching the samples.

        The method is thread-safe.

        Args:
            terms: Terms that the sentences should mention.

        Returns:
            The samples, keyed by term.
        """
        if not terms:
            return {}
        windows: list[dict[str, Any]] = []
        # A sample for a term must be random, but the same in each run. So each sentence has a random rank,
        # and the sample contains the sentences in an interval of ranks, which begins at a hash of the term.
        # After the highest rank, the interval continues at rank 0.
        for term in terms:
            # The more sentences contain the term, the narrower is the interval: it should contain about
            # `sentences_per_term` usable sentences.
            fitting = self._frequencies.get(term, 1) * self.size.fit / self.size.sentences
            first = number(self._seed, "window", term) % RANKS
            last = first + min(RANKS, int(RANKS * self._conditions.sentences_per_term / max(fitting, 1)))
            windows.append({"text": term, "first": first, "last": last, "again": max(0, last - RANKS)})
        asked = {"terms": windows, "sources": self._sources, **self._conditions.parameters()}
        rows = self._store.read(cypher_text("overlap/sharing"), **asked)
        samples: dict[str, Sequence[Any]] = {row["term"]: row["sentences"] for row in rows}
        if self.narrow and (not self._sources or ANECDOTES in self._sources):
            # The sample for a term may consist only of sentences that were made from templates. So read the
            # anecdotes that graphneg provides in a separate query.
            every = [{"text": term, "first": 0, "last": RANKS, "again": 0} for term in terms]
            asked |= {"terms": every, "sources": [ANECDOTES]}
            for row in self._store.read(cypher_text("overlap/sharing"), **asked):
                own = samples.get(row["term"], ())
                known = {sentence[0] for sentence in own}
                more = [sentence for sentence in row["sentences"] if sentence[0] not in known]
                samples[row["term"]] = [*own, *more]
        return {term: samples.get(term, ()) for term in terms}

    def keep(self, samples: Samples) -> None:
        """Add samples of sentences to the cache. Sentences with a very rare content word are left out.

        Args:
            samples: The sampled sentences for each term, as `read` returns them.
        """
        everyday, ranked = self._frequencies.__contains__, bool(self._conditions.anecdote_weight)
        for term, rows in samples.items():
            kept: list[PoolSentence] = []
            for id, text, said, mood, person, dialogue, rank in rows:
                if all(map(everyday, said)):
                    # Intern the terms, so that sentences share the same string objects, which saves memory.
                    own, asks = frozenset(map(intern, said)), mood == "question"
                    like = likeness(text) if ranked else 0.0
                    kept.append(PoolSentence(rank, id, text, own, asks, person == FIRST, dialogue, like))
            self._kept[term] = tuple(kept)
            self._amount += len(kept)

    def sentences(self, term: str) -> tuple[PoolSentence, ...]:
        """Return the cached sample for a term.

        Args:
            term: Term whose sample `keep` has added to the cache.

        Returns:
            The sentences of the sample, in no particular order.
        """
        # Move the sample to the end of the cache, because `forget_oldest` removes samples from its beginning.
        self._kept.move_to_end(term)
        return self._kept[term]

    def forget_oldest(self) -> None:
        """Remove the least recently used samples until the cache has at most `KEPT_SENTENCES` sentences."""
        while self._amount > KEPT_SENTENCES:
            self._amount -= len(self._kept.popitem(last=False)[1])


def _sources(store: Store, conditions: OverlapOptions) -> tuple[list[str], Size]:
    """Return the names of the sources to read (an empty list for all sources), and the pool's size."""
    rows = store.read(cypher_text("overlap/size"), **conditions.parameters())
    named = {
        # The name of a corpus matches all of its splits: "everyday" matches "everyday/train", but not
        # "everyday2/train".
        name: [row for row in rows if f"{row['source']}/".startswith(f"{name}/")]
        for name in conditions.sources
    }
    for name, known in named.items():
        if not known:
            there = ", ".join(row["source"] for row in rows)
            raise GeneratorError(f"overlap: no sentence in the store is from {name!r}; available: {there}")
    # Use the anecdotes that graphneg provides only if the options ask for them or name them as a source.
    wanted = [row for row in rows if conditions.anecdotes or row["source"] != ANECDOTES]
    some = (row for found in named.values() for row in found) if named else wanted
    chosen = {row["source"]: row for row in some}
    size = Size(*(sum(row[name] for row in chosen.values()) for name in Size.__annotations__))
    if not size.fit:
        raise GeneratorError(
            f"overlap: none of the {size.sentences:,} sentences in the pool can be a response; load more "
            "dialogues, or sentences (graphneg load wordnet, propbank_examples or text)"
        )
    return list(chosen) if named or len(wanted) < len(rows) else [], size


def pool_anecdotes(store: Store, conditions: OverlapOptions, progress: Progress | None = None) -> None:
    """Add the anecdotes that graphneg provides to the pool, if the options ask for them.

    Nothing is written if the store already contains all of these anecdotes.

    Args:
        store: Store to which the anecdotes are written.
        conditions: Options of the generator. ``anecdotes`` must be true, and ``sources`` must be empty or
            include ``anecdotes``; otherwise nothing is added.
        progress: Progress display for loading the anecdotes; None for no display.
    """
    if not conditions.anecdotes or (conditions.sources and ANECDOTES not in conditions.sources):
        return
    records = list(get_loader(ANECDOTES).read([], LoadOptions(progress=progress or NoProgress())))
    known = store.read(cypher_text("overlap/count_source"), source=ANECDOTES)[0]["sentences"]
    # If the store contains only some of the anecdotes, an earlier call was interrupted. Write all anecdotes
    # again.
    if known < len(records):
        write_records(
            DerivedRecords(store), records, LoadReport(ANECDOTES), GraphDialogues(ANECDOTES, ANECDOTES, 1)
        )


def pool_dialogues(store: Store, progress: Progress | None = None) -> LoadReport:
    """Split all new dialogues in the store into sentences, and add these to the sentence pool.

    The sentences come from the utterances and from the correct responses. A dialogue is marked in the store
    when its sentences have been added. If the call is interrupted, the next call continues with
    the unmarked dialogues.

    Args:
        store: Store from which dialogues are read, and to which their sentences are written.
        progress: Progress display, which counts the finished dialogues; None for no display.

    Returns:
        A report that counts the added and the rejected sentences.
    """
    progress = progress or NoProgress()
    report = LoadReport(NAME)
    total = store.read(cypher_text("overlap/count_unpooled"))[0]["dialogues"]
    if not total:
        return report

    def cut(ids: Sequence[str]) -> Iterator[Sentence | Rejected]:
        responses = read_responses(store, ids)
        for dialogue in read_dialogues(store, ids):
            texts = [(utterance_id(dialogue.id, turn.turn), turn.text) for turn in dialogue.turns]
            texts += [(each.id, each.text) for each in responses.get(dialogue.id, ()) if each.label == 1]
            for id, text in texts:
                # First undo the tokenization: "I ca n't come ." becomes "I can't come."
                for index, part in enumerate(sentences(detokenize(text))):
                    name, source = f"{id}.{index}", f"{dialogue.corpus}/{dialogue.split}"
                    made = sentence(name, part, source, name)
                    yield made if isinstance(made, Rejected) else replace(made, dialogue=dialogue.id)

    progress.start("sentences of dialogues", total, "dialogues")
    after: str | None = ""
    while after is not None:
        page = store.read(cypher_text("overlap/unpooled"), after=after, limit=PAGE)
        ids = [row["id"] for row in page]
        write_records(DerivedRecords(store), cut(ids), report, GraphDialogues(NAME, NAME, 1))
        if ids:
            # Mark the dialogues as finished only now. If the call is interrupted before, a later call writes
            # the sentences again, so that none are lost.
            store.write_derived(lambda transaction, ids=ids: run(transaction, "overlap/pooled", ids=ids))
        progress.advance(len(ids))
        # If the query returned fewer than `PAGE` dialogues, no dialogues are left.
        after = page[-1]["order"] if len(page) == PAGE else None
    progress.finish()
    return report
