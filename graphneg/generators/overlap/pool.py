"""Read the pool of sentences that can be used as responses.

The pool contains sentences from the dialogues in the store and from other texts that were loaded. On request,
it also contains sentences that graphneg provides. A `Pool` knows how many sentences mention each term
(content word), and reads a random sample of the sentences that mention a term::

    term       "letter"
    sample     "I lost the letter on the train.", "My aunt never answers letters.", ...

The sample for a term depends only on the seed and the store. Each sentence in the store has a random rank.
The sample consists of the sentences whose ranks lie in a certain interval. The interval is wide enough to
contain about ``sentences_per_term`` sentences with the term. Samples are cached in memory.

`pool_dialogues` splits the dialogues in the store into sentences, and `pool_anecdotes` adds the sentences
that graphneg provides.
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
"""Maximum number of sentences that are cached in memory. They take about 80 MB."""
Samples = Mapping[str, Sequence[Sequence[Any]]]
"""Type of samples: rows that the store returned for the sentences, by the term that the sentences mention."""
ELSEWHERE = 128
"""Number of random terms to search for if a sentence should share no words with a context."""
SPOKEN_ENOUGH = 5_000
"""If there are at least this many sentences from dialogues, only these sentences determine which terms are
everyday words. If there are fewer, all sentences are used."""
NARROW = 10.0
"""The vocabulary of the dialogues is narrow if the number of distinct terms is below this factor times the
square root of the number of sentences. In 1,000 sentences, booking dialogues that were made from templates
have 60 distinct terms, and everyday dialogues have 1,200."""
PAGE = 500
"""Number of dialogues that are read and split into sentences together."""
NAME = "overlap"
"""Name of the report that counts the sentences from dialogues."""
ANECDOTES = "anecdotes"
"""Name of the sentences that graphneg provides: the name of their loader and of their source."""


@dataclass(frozen=True, slots=True)
class Size:
    """The number of sentences in a pool.

    Attributes:
        sentences: Number of all sentences.
        spoken: Number of sentences from dialogues.
        fit: Number of sentences that meet the conditions for a response, such as the length.
    """

    sentences: int
    spoken: int
    fit: int


class Pool:
    """The pool of sentences in a store, for given options and one seed.

    Raises:
        GeneratorError: No sentence can be used as a response, or a source does not exist.
    """

    def __init__(self, store: Store, conditions: OverlapOptions, seed: int) -> None:
        """Initialize the pool, and read its size and its vocabulary.

        Args:
            store: Store that contains the sentences.
            conditions: Conditions that the sentences must meet.
            seed: Seed for the random samples.
        """
        self._store = store
        self._conditions = conditions
        self._seed = seed
        self._sources, self.size = _sources(store, conditions)
        vocabulary = store.read(cypher_text("overlap/vocabulary"), least=1)
        terms = sum(row["spoken"] > 0 for row in vocabulary)
        self.narrow = conditions.anecdotes and 0 < terms < NARROW * sqrt(self.size.spoken)
        """Whether the vocabulary of the dialogues is narrow. If so, sentences from dialogues rarely describe
        other scenes. Therefore sentences that graphneg provides are added to each sample."""
        # Dialogues with a narrow vocabulary do not contain enough words to determine the everyday words.
        spoken = self.size.spoken >= SPOKEN_ENOUGH and not self.narrow
        least = (conditions.min_term_frequency or 0.0) * (self.size.spoken if spoken else self.size.sentences)
        rows = [row for row in vocabulary if row["sentences"] >= max(1, int(least))]
        # Another generator may have added graphneg's own sentences to the store. Subtract their counts, so
        # that they do not change the output of this generator.
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
        """The number of sentences that mention each everyday word (a term that is frequent enough)."""
        self._kept: OrderedDict[str, tuple[PoolSentence, ...]] = OrderedDict()
        self._amount = 0
        hub = conditions.max_bridge_frequency * self.size.sentences
        seldom = sorted(term for term, often in self._frequencies.items() if often <= hub)
        self.unrelated_terms = tuple(shuffled(seldom, seed, "elsewhere")[:ELSEWHERE])
        """Random terms to search for if a sentence should share no words with a context. Very frequent terms
        are excluded."""

    def frequency(self, term: str) -> int:
        """Return the number of sentences that mention a term.

        Args:
            term: A term.

        Returns:
            The number; 0 if the term is not an everyday word.
        """
        return self._frequencies.get(term, 0)

    def __contains__(self, term: str) -> bool:
        """Return whether the sample for a term is cached."""
        return term in self._kept

    def read(self, terms: Sequence[str]) -> Samples:
        """Read the samples for terms from the store, without caching them. The method is thread-safe.

        Args:
            terms: Terms to read samples for.

        Returns:
            The samples by term.
        """
        if not terms:
            return {}
        windows: list[dict[str, Any]] = []
        # The interval of ranks begins at a hash of the term. If it extends beyond the highest rank, it
        # continues at rank 0.
        for term in terms:
            # The width of the interval depends on how many sentences with the term can be responses.
            fitting = self._frequencies.get(term, 1) * self.size.fit / self.size.sentences
            first = number(self._seed, "window", term) % RANKS
            last = first + min(RANKS, int(RANKS * self._conditions.sentences_per_term / max(fitting, 1)))
            windows.append({"text": term, "first": first, "last": last, "again": max(0, last - RANKS)})
        asked = {"terms": windows, "sources": self._sources, **self._conditions.parameters()}
        rows = self._store.read(cypher_text("overlap/sharing"), **asked)
        samples: dict[str, Sequence[Any]] = {row["term"]: row["sentences"] for row in rows}
        if self.narrow and (not self._sources or ANECDOTES in self._sources):
            # Sentences from templates would fill the whole sample, so read graphneg's own sentences
            # separately.
            every = [{"text": term, "first": 0, "last": RANKS, "again": 0} for term in terms]
            asked |= {"terms": every, "sources": [ANECDOTES]}
            for row in self._store.read(cypher_text("overlap/sharing"), **asked):
                own = samples.get(row["term"], ())
                known = {sentence[0] for sentence in own}
                more = [sentence for sentence in row["sentences"] if sentence[0] not in known]
                samples[row["term"]] = [*own, *more]
        return {term: samples.get(term, ()) for term in terms}

    def keep(self, samples: Samples) -> None:
        """Add samples to the cache. Leave out sentences with a content word that is not an everyday word.

        Args:
            samples: Samples as `read` returns them.
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
            term: A term whose sample is cached.

        Returns:
            The sentences, in no particular order.
        """
        # Mark the sample as the most recently used (see `forget_oldest`).
        self._kept.move_to_end(term)
        return self._kept[term]

    def forget_oldest(self) -> None:
        """Remove the least recently used samples from the cache until it is small enough."""
        while self._amount > KEPT_SENTENCES:
            self._amount -= len(self._kept.popitem(last=False)[1])


def _sources(store: Store, conditions: OverlapOptions) -> tuple[list[str], Size]:
    """Return the names of the sources to use (empty for all), and the numbers of sentences in them."""
    rows = store.read(cypher_text("overlap/size"), **conditions.parameters())
    named = {
        # A corpus name includes its splits: "everyday" matches "everyday/train", but not "everyday2/train".
        name: [row for row in rows if f"{row['source']}/".startswith(f"{name}/")]
        for name in conditions.sources
    }
    for name, known in named.items():
        if not known:
            there = ", ".join(row["source"] for row in rows)
            raise GeneratorError(f"overlap: no sentence in the store is from {name!r}; available: {there}")
    # Use the sentences that graphneg provides only if the options ask for them or name them as a source.
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
    """Add the sentences that graphneg provides to the pool, if the options ask for them.

    Nothing is written if the store already contains all of these sentences.

    Args:
        store: Store to write the sentences to.
        conditions: Options of the generator.
        progress: Progress display for loading.
    """
    if not conditions.anecdotes or (conditions.sources and ANECDOTES not in conditions.sources):
        return
    records = list(get_loader(ANECDOTES).read([], LoadOptions(progress=progress or NoProgress())))
    known = store.read(cypher_text("overlap/count_source"), source=ANECDOTES)[0]["sentences"]
    # If an earlier call was interrupted, the store may contain only some of the sentences.
    if known < len(records):
        write_records(
            DerivedRecords(store), records, LoadReport(ANECDOTES), GraphDialogues(ANECDOTES, ANECDOTES, 1)
        )


def pool_dialogues(store: Store, progress: Progress | None = None) -> LoadReport:
    """Split the dialogues that are not in the pool yet into sentences, and add these sentences to the pool.

    Sentences of utterances and of correct responses are added. A dialogue is marked in the store when its
    sentences have been added. If the call is interrupted, the next call continues with the unmarked
    dialogues.

    Args:
        store: Store to read dialogues from and to write sentences to.
        progress: Progress display; advanced by the number of finished dialogues.

    Returns:
        A report with the number of sentences that were rejected.
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
                # First remove the spaces between tokens: "I ca n't come ." becomes "I can't come."
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
            # Write the marks after the sentences. If the call is interrupted in between, a later call
            # writes the sentences of the page again.
            store.write_derived(lambda transaction, ids=ids: run(transaction, "overlap/pooled", ids=ids))
        progress.advance(len(ids))
        # A page with fewer dialogues than requested is the last page.
        after = page[-1]["order"] if len(page) == PAGE else None
    progress.finish()
    return report
