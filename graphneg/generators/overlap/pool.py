"""The pool of sentences that can be responses: terms with their frequencies, and samples, read as needed.

Terms go in, the sentences that mention them come out. What is sampled for a term depends on the seed and the
store alone: a window of the sentences' ranks, wide enough for ``sample`` of them. Samples are kept while
there is room. The store's own dialogues are a part of the pool: `pool_dialogues` cuts what they say into
sentences. So are the sentences that come with graphneg, where that is wanted: `pool_anecdotes`.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from sys import intern
from typing import Any

from graphneg.english.tokens import closed_up, sentences
from graphneg.errors import GeneratorError
from graphneg.generators.overlap.anecdotes import likeness
from graphneg.generators.overlap.target_profile import Conditions, PoolSentence
from graphneg.hashing import number, shuffled
from graphneg.ingest.lexicon import DerivedRecords
from graphneg.ingest.loader import LoadOptions, LoadReport, get_loader
from graphneg.ingest.rows import FIRST, RANKS, sentence, utterance_id
from graphneg.ingest.validation import Grouping
from graphneg.ingest.writing import write_records
from graphneg.model import Rejected, Sentence
from graphneg.progress import NoProgress, Progress
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_dialogues, read_responses
from graphneg.store.statements import cypher_text, run

KEPT_SENTENCES = 100_000
"""Some 80 MB."""
Samples = Mapping[str, Sequence[Sequence[Any]]]
"""Rows of sentences, as the store gives them, by term."""
ELSEWHERE = 128
SPOKEN_ENOUGH = 5_000
"""From so many sentences said in dialogues on, they alone tell what is everyday."""
NARROW = 10.0
"""Dialogues are narrow that say fewer terms than this times the root of their number of sentences. Booking
dialogues made from templates say 60 terms in 1,000 sentences; everyday talk says 1,200."""
PAGE = 500
NAME = "overlap"
ANECDOTES = "anecdotes"
"""The loader of the sentences that come with graphneg, and the source that they have."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many sentences the pool has, how many are said in dialogues, how many can be responses."""

    sentences: int
    spoken: int
    fit: int


class Pool:
    """The pool of a store under conditions, for one seed.

    Raises:
        GeneratorError: no sentence of the pool can be a response, or a source is not in it.
    """

    def __init__(self, store: Store, conditions: Conditions, seed: int) -> None:
        self._store = store
        self._conditions = conditions
        self._seed = seed
        self._sources, self.size = _sources(store, conditions)
        vocabulary = store.read(cypher_text("overlap/vocabulary"), least=1)
        terms = sum(row["spoken"] > 0 for row in vocabulary)
        self.narrow = conditions.anecdotes and 0 < terms < NARROW * sqrt(self.size.spoken)
        """Whether the dialogues say so few words that only the bundled sentences are set elsewhere."""
        # Narrow dialogues can't tell which words are everyday: theirs are few, and the bundled ones are not.
        spoken = self.size.spoken >= SPOKEN_ENOUGH and not self.narrow
        least = (conditions.everyday or 0.0) * (self.size.spoken if spoken else self.size.sentences)
        rows = [row for row in vocabulary if row["sentences"] >= max(1, int(least))]
        left_out = Counter[str]()  # what another generator put in does not change what this one gives
        if self._sources and ANECDOTES not in self._sources:
            own = store.read(cypher_text("overlap/terms_of_source"), source=ANECDOTES)
            left_out.update({row["text"]: row["sentences"] for row in own})
        counts = ((row["text"], row["sentences"] - left_out[row["text"]], row["spoken"]) for row in rows)
        self._frequencies = {
            intern(term): often
            for term, often, said in counts
            if often and (said if spoken else often) >= least
        }
        """The everyday terms, with how many sentences mention them."""
        self._kept: OrderedDict[str, tuple[PoolSentence, ...]] = OrderedDict()
        self._amount = 0
        hub = conditions.hub * self.size.sentences
        seldom = sorted(term for term, often in self._frequencies.items() if often <= hub)
        self.elsewhere = tuple(shuffled(seldom, seed, "elsewhere")[:ELSEWHERE])
        """Terms drawn from all but hubs, for sentences that share nothing with a context."""

    def frequency(self, term: str) -> int:
        """How many sentences mention the term; 0 where it is not everyday."""
        return self._frequencies.get(term, 0)

    def __contains__(self, term: str) -> bool:
        """Whether the sample of a term is kept."""
        return term in self._kept

    def read(self, terms: Sequence[str]) -> Samples:
        """Samples of these terms. Threads may read side by side."""
        if not terms:
            return {}
        windows: list[dict[str, Any]] = []
        for term in terms:  # ranks of a part of all that mention it, around the end where it goes over it
            fitting = self._frequencies.get(term, 1) * self.size.fit / self.size.sentences
            first = number(self._seed, "window", term) % RANKS
            last = first + min(RANKS, int(RANKS * self._conditions.sample / max(fitting, 1)))
            windows.append({"text": term, "first": first, "last": last, "again": max(0, last - RANKS)})
        asked = {"terms": windows, "sources": self._sources, **self._conditions.parameters()}
        rows = self._store.read(cypher_text("overlap/sharing"), **asked)
        samples: dict[str, Sequence[Any]] = {row["term"]: row["sentences"] for row in rows}
        if self.narrow and (not self._sources or ANECDOTES in self._sources):
            # Hundreds of sentences of the same template would leave no room for the bundled ones.
            every = [{"text": term, "first": 0, "last": RANKS, "again": 0} for term in terms]
            asked |= {"terms": every, "sources": [ANECDOTES]}
            for row in self._store.read(cypher_text("overlap/sharing"), **asked):
                own = samples.get(row["term"], ())
                known = {sentence[0] for sentence in own}
                more = [sentence for sentence in row["sentences"] if sentence[0] not in known]
                samples[row["term"]] = [*own, *more]
        return {term: samples.get(term, ()) for term in terms}

    def keep(self, samples: Samples) -> None:
        """Take in what was read, but for sentences with a word that is not everyday."""
        everyday, ranked = self._frequencies.__contains__, bool(self._conditions.anecdotal)
        for term, rows in samples.items():
            kept: list[PoolSentence] = []
            for id, text, said, mood, person, dialogue, rank in rows:
                if all(map(everyday, said)):
                    own, asks = frozenset(map(intern, said)), mood == "question"
                    like = likeness(text) if ranked else 0.0
                    kept.append(PoolSentence(rank, id, text, own, asks, person == FIRST, dialogue, like))
            self._kept[term] = tuple(kept)
            self._amount += len(kept)

    def sentences(self, term: str) -> tuple[PoolSentence, ...]:
        """The sample of a term that was read and kept, in no order."""
        self._kept.move_to_end(term)
        return self._kept[term]

    def forget_oldest(self) -> None:
        """Let go of the samples used longest ago, where there are too many."""
        while self._amount > KEPT_SENTENCES:
            self._amount -= len(self._kept.popitem(last=False)[1])


def _sources(store: Store, conditions: Conditions) -> tuple[list[str], Size]:
    """The sources that the conditions name (none where all are meant), and how large they are together.

    Sentences that came with graphneg are left out where they are neither wanted nor named.
    """
    rows = store.read(cypher_text("overlap/size"), **conditions.parameters())
    named = {
        name: [row for row in rows if f"{row['source']}/".startswith(f"{name}/")]
        for name in conditions.sources
    }
    for name, known in named.items():
        if not known:
            there = ", ".join(row["source"] for row in rows)
            raise GeneratorError(f"overlap: no sentence in the store is from {name!r}; there are: {there}")
    wanted = [row for row in rows if conditions.anecdotes or row["source"] != ANECDOTES]
    some = (row for found in named.values() for row in found) if named else wanted
    chosen = {row["source"]: row for row in some}
    size = Size(*(sum(row[name] for row in chosen.values()) for name in Size.__annotations__))
    if not size.fit:
        raise GeneratorError(
            f"overlap: of {size.sentences:,} sentences in the pool none can be a response; load more: "
            "dialogues, or graphneg load wordnet, propbank_examples, text"
        )
    return list(chosen) if named or len(wanted) < len(rows) else [], size


def pool_anecdotes(store: Store, conditions: Conditions, progress: Progress | None = None) -> None:
    """Write the sentences that come with graphneg, where they are wanted and not all there yet.

    Raises `StoreError`: the store is gone.
    """
    if not conditions.anecdotes or (conditions.sources and ANECDOTES not in conditions.sources):
        return
    records = list(get_loader(ANECDOTES).read([], LoadOptions(progress=progress or NoProgress())))
    known = store.read(cypher_text("overlap/count_source"), source=ANECDOTES)[0]["sentences"]
    if known < len(records):
        write_records(
            DerivedRecords(store), records, LoadReport(ANECDOTES), Grouping(ANECDOTES, ANECDOTES, 1)
        )


def pool_dialogues(store: Store, progress: Progress | None = None) -> LoadReport:
    """Write the sentences of dialogues that are not in the pool yet; stopped, the next call goes on.

    Utterances and right responses of each dialogue become sentences once; the dialogue is marked then.

    Raises:
        StoreError: the store is gone.
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
                for index, part in enumerate(sentences(closed_up(text))):
                    name, source = f"{id}.{index}", f"{dialogue.corpus}/{dialogue.split}"
                    made = sentence(name, part, source, name)
                    yield made if isinstance(made, Rejected) else replace(made, dialogue=dialogue.id)

    progress.start("sentences of dialogues", total, "dialogues")
    after: str | None = ""
    while after is not None:
        page = store.read(cypher_text("overlap/unpooled"), after=after, limit=PAGE)
        ids = [row["id"] for row in page]
        write_records(DerivedRecords(store), cut(ids), report, Grouping(NAME, NAME, 1))
        if ids:
            store.write_derived(lambda transaction, ids=ids: run(transaction, "overlap/pooled", ids=ids))
        progress.advance(len(ids))
        after = page[-1]["order"] if len(page) == PAGE else None
    progress.finish()
    return report
