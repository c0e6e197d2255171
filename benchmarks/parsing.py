"""Measure the parser `dependency`: the quality of its graphs (Smatch) and its speed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.corpus import Corpus
from benchmarks.instances import Host
from benchmarks.machine import cores
from benchmarks.results import Goal, Result, Table, verdict
from benchmarks.sizes import Sizes
from graphneg.amr.penman import iter_blocks, metadata, parse_graph
from graphneg.amr.wellformed import check
from graphneg.dialogue_graph import DialogueGraph
from graphneg.english.tokens import tokenize
from graphneg.evaluation.smatch_files import Evaluation, evaluate_smatch
from graphneg.parsers.base import get_parser
from graphneg.parsers.jobs import ParserPool, open_pool
from graphneg.workers import Workers

PARSER = "dependency"
BOOK = "amr_little_prince/lpp-dev.txt"
SICK = "sick_silver_amr/main"
SICK_PARTS = ("src", "tgt")
"""Names of the two sides of SICK's sentence pairs, as in the file names."""
HEADERS = frozenset({"sentence_a", "sentence_b"})
"""Column names that appear as sentences in the files of SICK."""
CHATS = "dailydialog/dialogues_validation.txt"
CHUNK = 100
"""Number of sentences per batch."""
PROCESSES = 2
"""Number of parser processes."""
LENGTHS = (100, 1_000, 10_000, 100_000)
"""Lengths of the long sentences, in characters."""
WANTED_RATE, WANTED_SECONDS, WANTED_TOKEN_MS = 250, 120, 50
"""Goals: minimum sentences per second, maximum seconds for 1,000 dialogues, maximum ms per token."""
WANTED_SMATCH = {"The Little Prince, development part": 0.74, "SICK, sentences in no training split": 0.85}
"""Goals: minimum Smatch F1, keyed by corpus."""
WANTED_NEGATION = 0.80
"""Goal: minimum F1 of the sub-score of negation."""

Texts = Sequence[str]


@dataclass(frozen=True, slots=True)
class GoldSet:
    """A corpus of gold graphs.

    Attributes:
        name: Name of the corpus.
        blocks: The graphs as PENMAN texts.
        texts: The sentence of each graph.
    """

    name: str
    blocks: tuple[str, ...]
    texts: tuple[str, ...]


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Measure the parser's speed, its quality, its time on long sentences, and its time on stored dialogues.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    with open_pool(PARSER, processes=PROCESSES) as pool:
        speed = _speed(pool, corpus, sizes)
        quality = [_quality(pool, gold, host.directory, sizes) for gold in gold_sets(corpus, sizes)]
    chats = _measure_stored_dialogues(host, corpus, sizes)
    parts = [speed, *quality, _measure_long_sentences(sizes), chats]
    return Result(
        tuple(table for part in parts for table in part.tables),
        tuple(goal for part in parts for goal in part.goals),
    )


def gold_sets(corpus: Corpus, sizes: Sizes) -> Iterator[GoldSet]:
    """Yield the test corpora.

    Args:
        corpus: The corpus of the benchmarks. If it has no folder of corpora, its own graphs are tested.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Yields:
        The development part of The Little Prince, and the sentences of SICK that are in no training split.
    """
    book, sick = WANTED_SMATCH
    if corpus.data is None:
        texts = [one for one in corpus.texts if one.text][: sizes.sentences]
        yield GoldSet(
            "the bundled corpus", tuple(one.penman for one in texts), tuple(one.text or "" for one in texts)
        )
        return
    yield _gold_set(book, blocks(corpus.data / BOOK), sizes)
    folder = corpus.data / SICK
    known = {text.lower() for part in SICK_PARTS for text, _ in blocks(folder / f"{part}.train.amr")}
    unseen: dict[str, str] = {}
    for part in SICK_PARTS:
        for text, block in blocks(folder / f"{part}.test.amr"):
            if text.lower() not in known | HEADERS:
                unseen.setdefault(text, block)
    yield _gold_set(sick, list(unseen.items()), sizes)


def blocks(file: Path) -> list[tuple[str, str]]:
    """Read the sentences and graphs of a PENMAN file.

    Args:
        file: Path of the PENMAN file.

    Returns:
        Pairs of a sentence and its graph, as PENMAN without comment lines.
    """
    found: list[tuple[str, str]] = []
    for _, block in iter_blocks(file.read_text(encoding="utf-8")):
        lines = block.splitlines()
        text = metadata([line for line in lines if line.startswith("#")]).get("snt", "")
        found.append((text, "\n".join(line for line in lines if not line.startswith("#"))))
    return found


def spacy_alone() -> Callable[[Texts], int]:
    """Return the function of a worker process that runs spaCy and nothing else.

    Returns:
        A function that returns the number of tokens of some texts.
    """
    from graphneg.parsers.dependency.text import load_model

    nlp = load_model(None)
    return lambda texts: sum(map(len, nlp.pipe(texts)))


def _gold_set(name: str, pairs: Sequence[tuple[str, str]], sizes: Sizes) -> GoldSet:
    some = pairs[: sizes.sentences]
    return GoldSet(name, tuple(block for _, block in some), tuple(text for text, _ in some))


def _speed(pool: ParserPool, corpus: Corpus, sizes: Sizes) -> Result:
    said = [one.text for one in corpus.texts if one.text]
    texts = list(islice(cycle(said), sizes.sentences))
    chunks = [texts[at : at + CHUNK] for at in range(0, len(texts), CHUNK)]
    warm_up = chunks[: 2 * PROCESSES]
    with Workers[Texts, int]("benchmarks.parsing:spacy_alone", (), PROCESSES) as workers:
        alone = _rate(lambda some: list(workers.map(some)), warm_up, chunks)
    whole = _rate(lambda some: list(pool.parse(some)), warm_up, chunks)
    what = f"{pool.name} {pool.version}"
    rows = [("spaCy alone", f"{alone:,.0f}", "1.00"), (what, f"{whole:,.0f}", f"{whole / alone:.2f}")]
    table = Table(
        "Parsing: speed",
        f"{len(texts):,} sentences of {corpus.description.partition(':')[0]} were parsed in {PROCESSES} "
        f"processes of one thread on {cores()} cores. Both rows run the same spaCy model on the same "
        "batches.",
        ("parser", "sentences/s", "of spaCy's"),
        tuple(rows),
    )
    goal = Goal(
        "parsing, spaCy included",
        "-",
        f"{whole:,.0f} sentences/s",
        f">= {WANTED_RATE}",
        verdict(whole >= WANTED_RATE),
    )
    return Result((table,), (goal,))


def _rate(work: Callable[[list[Texts]], Any], warm_up: list[Texts], chunks: list[Texts]) -> float:
    work(warm_up)
    began = time.perf_counter()
    work(chunks)
    return sum(map(len, chunks)) / (time.perf_counter() - began)


def _quality(pool: ParserPool, gold: GoldSet, folder: Path, sizes: Sizes) -> Result:
    chunks = [gold.texts[at : at + CHUNK] for at in range(0, len(gold.texts), CHUNK)]
    parsed = [one for answers in pool.parse(chunks) for one in answers]
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / "gold.amr", folder / "parsed.amr"
    files[0].write_text("\n\n".join(gold.blocks), encoding="utf-8")
    files[1].write_text("\n\n".join(one.penman or "()" for one in parsed), encoding="utf-8")
    found = evaluate_smatch(*files, processes=PROCESSES)
    # A sentence without a graph counts as ill formed.
    well_formed = sum(one.penman is not None and not check(parse_graph(one.penman)) for one in parsed)
    return Result((_quality_table(gold, found),), tuple(_quality_goals(gold, found, well_formed)))


def _quality_table(gold: GoldSet, found: Evaluation) -> Table:
    rows = [
        (
            name,
            gold.name,
            *(f"{value:.3f}" for value in one.micro),
            "-".join(f"{end:.3f}" for end in one.micro_interval),
            f"{one.macro.f1:.3f}",
            f"{one.pairs:,}",
        )
        for name, one in found.measures.items()
    ]
    return Table(
        "Parsing: Smatch",
        "Precision, recall and F1 over all triples of a corpus, with a 95% bootstrap interval of F1. Macro "
        "F1 is the mean over the graphs that contain what the row measures, such as a negation. Sub-scores "
        "are defined as in amr-evaluation.",
        ("measure", "corpus", "P", "R", "F1", "95%", "macro F1", "graphs"),
        tuple(rows),
    )


def _quality_goals(gold: GoldSet, found: Evaluation, whole: int) -> Iterator[Goal]:
    wanted = WANTED_SMATCH.get(gold.name)
    if wanted is not None:
        for measure, least in (("Smatch", wanted), ("negation", WANTED_NEGATION)):
            f1 = found.measures[measure].micro.f1
            yield Goal(f"{measure}, {gold.name}", "-", f"{f1:.3f}", f">= {least:.2f}", verdict(f1 >= least))
    share = whole / len(gold.texts)
    yield Goal(
        f"parsed graphs are well formed, {gold.name}", "-", f"{share:.2%}", "100%", verdict(share == 1)
    )


def _measure_long_sentences(sizes: Sizes) -> Result:
    parser = get_parser(PARSER)
    words = "I told her that she should not buy the small red car which we saw on Monday , and "
    parser.parse_batch([words])
    longest = 100 * sizes.sentences
    rows: list[tuple[str, ...]] = []
    worst = 0.0
    for length in [length for length in LENGTHS if length <= longest]:
        text = (words * (length // len(words) + 1))[:length]
        tokens = len(tokenize(text))
        began = time.perf_counter()
        parser.parse_batch([text])
        cost = 1000 * (time.perf_counter() - began) / tokens
        worst = max(worst, cost)
        rows.append((f"{length:,}", f"{tokens:,}", f"{cost:.2f}"))
    table = Table(
        "Parsing: length",
        "The input is one sentence of the given length, without a full stop. The parser runs on one core.",
        ("characters", "tokens", "ms a token"),
        tuple(rows),
    )
    goal = Goal(
        "parsing, any length",
        "-",
        f"{worst:.1f} ms a token",
        f"<= {WANTED_TOKEN_MS}",
        verdict(worst <= WANTED_TOKEN_MS),
    )
    return Result((table,), (goal,))


def _measure_stored_dialogues(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    instance = host.fresh()
    dialogues = DialogueGraph(instance.store)
    limit = sizes.few
    if corpus.data is not None and (corpus.data / CHATS).exists():
        dialogues.load("dailydialog", corpus.data / CHATS)
        name = "DailyDialog, validation"
    else:
        dialogues.load("everyday")
        name = "the bundled corpus"
    report = dialogues.parse(PARSER, processes=PROCESSES, limit=limit)
    amount = min(dialogues.info().counts["Dialogue"], limit)
    table = Table(
        "Parsing: dialogues of a store",
        "The time from reading the utterances to the last written graph, without the time for starting the "
        "processes.",
        ("dialogues", "server", "number", "utterances", "seconds", "sentences/s", "without a graph"),
        (
            (
                name,
                instance.name,
                f"{amount:,}",
                f"{report.graphs + report.failed:,}",
                f"{report.seconds:.1f}",
                f"{report.sentences / report.seconds:,.0f}" if report.seconds else "-",
                f"{report.failed:,}",
            ),
        ),
    )
    if amount < 1_000:
        return Result((table,))
    goal = Goal(
        "1,000 dialogues of DailyDialog parsed",
        instance.name,
        f"{report.seconds:.0f} s",
        f"< {WANTED_SECONDS} s",
        verdict(report.seconds < WANTED_SECONDS),
    )
    return Result((table,), (goal,))
