"""Measure for how many contexts per second ``overlap`` makes negatives from a large pool of sentences."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice
from pathlib import Path

from benchmarks.corpus import Corpus, store_records
from benchmarks.instances import Host, Instance
from benchmarks.results import Goal, Result, Sample, Table, sample, verdict
from benchmarks.sizes import Sizes
from graphneg.dialogue_graph import DialogueGraph
from graphneg.generators.overlap.pool import pool_dialogues
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.rows import digest
from graphneg.model import Record, Sentence
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

PER_CONTEXT = 5
"""Number of negatives per context."""
WANTED = 200
"""Goal: minimum number of contexts per second."""
WORDNET = Path("/usr/share/wordnet")
CONTEXTS = "dailydialog_pp/dev.json"
SOURCES = (
    ("dailydialog_pp", "dailydialog_pp/data_positives.json", "positives"),
    ("dailydialog", "dailydialog/dialogues_validation.txt", None),
    ("personachat", "personachat/En_persona_valid.json", None),
    ("topical_chat", "topical_chat/valid_freq.json", None),
    ("propbank_examples", "propbank/propbank-frames-3.4.tar.gz", None),
)
"""Sources of the pool: loader, file and split. The split None stands for the default of the loader."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A description of a store with contexts and a pool of sentences.

    Attributes:
        contexts: Name of the corpus of the contexts.
        split: Split of the contexts.
        about: Description of the pool.
        sentences: Number of sentences in the pool.
        seconds: Seconds that loading took.
    """

    contexts: str
    split: str
    about: str
    sentences: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """One pass over all contexts.

    Attributes:
        contexts: Number of contexts.
        negatives: Number of negatives.
        seconds: Seconds of the pass.
        said: Digest of the ids and texts of all negatives.
    """

    contexts: int
    negatives: int
    seconds: float
    said: str

    @property
    def rate(self) -> float:
        """The number of contexts per second."""
        return self.contexts / self.seconds


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Fill a store, then make negatives with several seeds and once more with the first seed.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    instance = host.fresh()
    filled = _fill_store(instance.store, corpus, sizes.pool)
    cold = _pass(instance.store, filled, 0)
    warm = [_pass(instance.store, filled, seed) for seed in range(1, 1 + sizes.anew)]
    again = _pass(instance.store, filled, 0)
    rows = (_row(instance, "first", [cold], filled), _row(instance, "other seeds", warm, filled))
    table = Table(
        "Overlap negatives",
        f"{PER_CONTEXT} negatives for each context of {filled.contexts}/{filled.split}, from a pool of "
        f"{filled.about}. Contexts per second, from reading them to negatives in Python, without an "
        "embedder; medians over seeds with their range. The digest is computed from the negatives of the "
        "first pass (seed 0). It is the same on every server.",
        ("server", "pass", "sentences", "loaded in s", "contexts", "negatives", "contexts/s", "digest"),
        rows,
    )
    return Result((table,), _goals(instance, sample(one.rate for one in warm), cold, again))


def _fill_store(store: Store, corpus: Corpus, wanted: int) -> Filled:
    """Load the contexts and the pool, and add recombined sentences until the pool is large enough."""
    began = time.monotonic()
    contexts, split = ("dailydialog_pp", "dev") if corpus.data else ("everyday", "test")
    store_records(store, _records(corpus))
    pool_dialogues(store)
    real = _sentences(store)
    # The corpora alone may have fewer sentences than the goal requires.
    if real < wanted:
        store_records(store, _recombined_sentences(store, wanted - real))
    about = f"{real:,} sentences of corpora and {max(0, wanted - real):,} sentences made by recombining them"
    return Filled(contexts, split, about, _sentences(store), time.monotonic() - began)


def _records(corpus: Corpus) -> Iterator[Record]:
    if corpus.data is None:
        return get_loader("everyday").read((), LoadOptions())
    found = [("dailydialog_pp", corpus.data / CONTEXTS, None)]
    found += [(loader, corpus.data / name, split) for loader, name, split in SOURCES]
    found += [("wordnet", WORDNET, None)]
    return chain.from_iterable(
        get_loader(loader).read([path], LoadOptions(split=split))
        for loader, path, split in found
        if path.exists()
    )


def _sentences(store: Store) -> int:
    return store.read("MATCH (s:Sentence) RETURN count(s) AS sentences")[0]["sentences"]


def _recombined_sentences(store: Store, amount: int) -> Iterator[Sentence]:
    """Yield sentences that join the first half of a sentence in the pool to the second half of another."""
    rows = store.read("MATCH (s:Sentence) WHERE s.words >= 8 RETURN s.text AS text ORDER BY s.id")
    texts = [row["text"].split() for row in rows]
    pairs = chain.from_iterable(
        # First join each sentence to the seventh sentence after it, then to the sentence 1,009 positions
        # after it, so that each sentence is joined to two different sentences.
        zip(texts, islice(cycle(texts), step, None), strict=False)
        for step in cycle((7, 1009))
    )
    for number, (first, second) in enumerate(islice(pairs, amount)):
        text = " ".join([*first[: len(first) // 2], *second[len(second) // 2 :]])
        yield Sentence(f"recombined/{number}", text, "recombined")


def _pass(store: Store, filled: Filled, seed: int) -> Run:
    began = time.monotonic()
    made = DialogueGraph(store).generate(
        "overlap", per_context=PER_CONTEXT, seed=seed, corpora=[filled.contexts], splits=[filled.split]
    )
    negatives = [(one.id, one.response) for one in made]
    seconds = time.monotonic() - began
    contexts = store.read(
        cypher_text("read/count"), corpora=[filled.contexts], splits=[filled.split], with_graphs=False
    )[0]["dialogues"]
    return Run(contexts, len(negatives), seconds, digest(negatives)[:8])


def _row(instance: Instance, label: str, passes: Sequence[Run], filled: Filled) -> tuple[str, ...]:
    return (
        instance.name,
        label,
        f"{filled.sentences:,}",
        f"{filled.seconds:,.0f}",
        f"{passes[0].contexts:,}",
        f"{passes[0].negatives:,}",
        sample(one.rate for one in passes).shown(),
        passes[0].said,
    )


def _goals(instance: Instance, rate: Sample, first: Run, again: Run) -> tuple[Goal, ...]:
    return (
        Goal(
            "overlap negatives, five a context",
            instance.name,
            f"{rate.median:,.0f} contexts/s",
            f">= {WANTED}",
            verdict(rate.median >= WANTED),
        ),
        Goal(
            "overlap, same seed",
            instance.name,
            f"digests {first.said}, {again.said}",
            "the same",
            verdict(first.said == again.said),
        ),
    )
