"""Measure how well predictors find substitute perspectives, by the recall of other references' perspectives.

A perspective is the keyword of a reply to which the conversation moves. DailyDialog++ has several references
(correct replies) per context. The first reference is the observed reply, and its perspective is excluded. A
predictor ranks candidates from the shift graph. The perspectives of the other references are the correct
answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.corpus import Corpus, store_records
from benchmarks.instances import Host
from benchmarks.results import Goal, Result, Table, verdict
from benchmarks.shift import ENCODER, VECTORS, part
from benchmarks.sizes import Sizes
from benchmarks.small_models import small_bart
from graphneg.dialogue_graph import DialogueGraph
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue
from graphneg.nn.embedders import Embedder, get_embedder
from graphneg.nn.fine_tuning import fine_tune
from graphneg.nn.models import load_seq2seq
from graphneg.shift.build import KeywordPair, shifts_of
from graphneg.shift.candidates import CandidateOptions, Reply
from graphneg.shift.graphs import ShiftGraph
from graphneg.shift.keywords import Keyword, get_extractor
from graphneg.shift.prediction import examples_of, get_predictor
from graphneg.shift.substitutes import Prediction, substitutes_of
from graphneg.store.connection import Store

TRAINING, UNSEEN = "dailydialog_pp/data_positives.json", "dailydialog_pp/dev.json"
DEPTHS = (10, 50)
"""Ranks at which recall is measured."""
WANTED_RATIO = 1.3
"""Goal: minimum recall at rank 50, relative to the recall of the most frequent perspectives."""
WHOLE = 10_000
"""Minimum number of contexts of a complete run; smaller runs have no goals."""
MODEL_CONTEXTS = 100
"""Maximum number of contexts for language models, which are slow on a CPU."""
STEPS, BATCH = 400, 32
"""Number of training steps of BART, and number of pairs per step."""
PRIORS = (0.0, 1.0)
"""Weights to compare for the prior probability of a perspective."""
FEWER = CandidateOptions(max_candidates=50)
"""Options that limit the candidates for language models."""


@dataclass(frozen=True, slots=True)
class Question:
    """A context with one observed reference.

    Attributes:
        reply: The context and its observed reference.
        others: The perspectives of the other references.
    """

    reply: Reply
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one predictor.

    Attributes:
        name: Name of the predictor.
        questions: Number of contexts.
        looked_for: Number of perspectives to find.
        found: Number of perspectives found up to each rank in `DEPTHS`.
        seconds: Seconds of the prediction.
    """

    name: str
    questions: int
    looked_for: int
    found: tuple[int, ...]
    seconds: float

    def recall(self, depth: int) -> float:
        """Return the share of perspectives that are found up to a rank.

        Args:
            depth: One of `DEPTHS`.

        Returns:
            The recall, from 0 to 1.
        """
        return self.found[DEPTHS.index(depth)] / self.looked_for if self.looked_for else 0.0


Ranking = Callable[[Sequence[Reply]], list[list[str]]]


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Measure predictors that need no training, and a language model that is trained for the task.

    Without DailyDialog++ or the word vectors, nothing is measured.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    vectors = part(*VECTORS)
    files = [corpus.data / name for name in (TRAINING, UNSEEN)] if corpus.data is not None else []
    if vectors is None or not files or not all(file.exists() for file in files):
        return Result(())
    embedder = get_embedder(vectors)
    graph = DialogueGraph(host.fresh().store)
    store_records(graph.store, list(dialogues(files[0], sizes.sentences)))
    graph.shift(embedder)
    asked = list(questions(dialogues(files[1], sizes.sentences), embedder))
    shifts = ShiftGraph(graph.store)
    counted = list(by_counts(shifts, asked, embedder))
    trained = list(by_language_models(graph.store, shifts, asked[:MODEL_CONTEXTS], host.directory, sizes))
    about = (
        "The shift graph is built from `data_positives.json` of DailyDialog++ (YAKE, GloVe). For each "
        "context of `dev.json`, the first reference is the observed reply. The task is to find the "
        "perspectives of the other references. `ratio`: recall@50, divided by the recall@50 of the most "
        "frequent perspectives of the corpus."
    )
    about_models = (
        f"At most the first {MODEL_CONTEXTS} contexts. BART has two layers and is trained from scratch in "
        f"{STEPS} steps of {BATCH} pairs. It chooses from at most {FEWER.max_candidates} candidates per "
        "focus, as `frequency` does here."
    )
    tables = (
        table("Perspectives of other references", about, counted),
        table("Perspectives of other references: a trained predictor", about_models, trained),
    )
    whole = sizes.sentences >= WHOLE
    return Result(tables, tuple(goals(counted)) if whole else ())


def by_counts(shifts: ShiftGraph, asked: Sequence[Question], embedder: Embedder) -> Iterator[Answer]:
    """Measure the predictors that need no training, and a baseline without the shift graph.

    Args:
        shifts: The shift graph.
        asked: The contexts.
        embedder: The word vectors.

    Yields:
        The results, beginning with the baseline without the shift graph.
    """
    yield without_graph(shifts, asked)
    yield answered("frequency, CAPT's reach", asked, ranking(shifts, "frequency", CandidateOptions.paper()))
    yield answered("frequency", asked, ranking(shifts, "frequency"))
    yield answered("embedding, GloVe", asked, ranking(shifts, "embedding", model=embedder))
    encoder = part(*ENCODER)
    if encoder is not None:
        yield answered("embedding, MiniLM-L6", asked, ranking(shifts, "embedding", model=str(encoder)))


def by_language_models(
    store: Store, shifts: ShiftGraph, asked: Sequence[Question], folder: Path, sizes: Sizes
) -> Iterator[Answer]:
    """Measure a BART that is trained on the stored pairs, and two predictors for comparison.

    Args:
        store: The store that contains the training pairs.
        shifts: The shift graph.
        asked: The contexts.
        folder: Folder for the model.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Yields:
        The results, beginning with the baseline without the shift graph.
    """
    yield without_graph(shifts, asked)
    yield answered("frequency", asked, ranking(shifts, "frequency", FEWER))
    model = trained_bart(store, folder / "bart", STEPS if sizes.sentences >= STEPS else 1)
    for prior in PRIORS:
        options: dict[str, Any] = {"model": model, "prior": prior, "device": "cpu"}
        yield answered(f"seq2seq, prior {prior:g}", asked, ranking(shifts, "seq2seq", FEWER, **options))


def dialogues(file: Path, most: int) -> Iterator[Dialogue]:
    """Read dialogues with only their correct responses.

    Args:
        file: File of DailyDialog++.
        most: Maximum number of dialogues.

    Yields:
        The dialogues.
    """
    records = get_loader("dailydialog_pp").read([file], LoadOptions())
    for record in islice(records, most):
        if isinstance(record, Dialogue):
            right = tuple(response for response in record.responses if response.label == 1)
            yield replace(record, responses=right)


def questions(unseen: Iterator[Dialogue], embedder: Embedder) -> Iterator[Question]:
    """Yield the contexts whose references have at least two different perspectives.

    Args:
        unseen: Dialogues that the shift graph does not contain.
        embedder: The word vectors, which determine focus and perspective.

    Yields:
        The contexts, each with its first reference as the observed reply.
    """
    extractor = get_extractor("yake")
    for dialogue in unseen:
        turns = [utterance.text for utterance in dialogue.utterances]
        references = [response.text for response in dialogue.responses]
        found = extractor.extract([*turns, *references])
        before, after = found[: len(turns)], found[len(turns) :]
        exchanges = [
            KeywordPair(before[-1], text, keywords)
            for text, keywords in zip(references, after, strict=True)
            if before[-1] and keywords
        ]
        if not exchanges:
            continue
        first, *rest = shifts_of(exchanges, embedder)
        # The observed perspective is no substitute, even if another reference has it, too.
        others = frozenset(one.perspective for one in rest) - {first.perspective}
        if others:
            keywords = tuple(map(_scores, before))
            reply = Reply(
                dialogue.id, exchanges[0].text, first.focus, first.perspective, tuple(turns), keywords
            )
            yield Question(reply, others)


def most_frequent(shifts: ShiftGraph, replies: Sequence[Reply]) -> list[list[str]]:
    """Return the most frequent perspectives of the corpus, the same for every context.

    Args:
        shifts: The shift graph.
        replies: The contexts with their observed references.

    Returns:
        Perspectives for each context, without the perspective of its observed reference.
    """
    frequent = list(islice(shifts.prior, max(DEPTHS) + 1))
    return [[text for text in frequent if text != reply.perspective] for reply in replies]


def ranking(shifts: ShiftGraph, name: str, reach: CandidateOptions | None = None, **options: Any) -> Ranking:
    """Return a function that ranks substitutes with a predictor.

    Args:
        shifts: The shift graph.
        name: Name of the predictor.
        reach: Options that select the candidates to rank; None for the defaults.
        **options: Options of the predictor.

    Returns:
        A function that returns ranked substitutes for each reply.
    """
    how = Prediction(get_predictor(name, **options), reach or CandidateOptions())

    def ranked(replies: Sequence[Reply]) -> list[list[str]]:
        return [[one.text for one in found.ranked] for found in substitutes_of(shifts, replies, how)]

    return ranked


def without_graph(shifts: ShiftGraph, asked: Sequence[Question]) -> Answer:
    """Measure the baseline that predicts the most frequent perspectives without the shift graph.

    Args:
        shifts: The shift graph, of which only the counts of perspectives are used.
        asked: The contexts.

    Returns:
        The result of the baseline.
    """
    return answered("most frequent, no graph", asked, lambda replies: most_frequent(shifts, replies))


def answered(name: str, asked: Sequence[Question], ranked: Ranking) -> Answer:
    """Rank substitutes for all contexts and count the hits.

    Args:
        name: Name of the predictor.
        asked: The contexts.
        ranked: Function that returns ranked substitutes for each reply.

    Returns:
        The result of the predictor.
    """
    began = time.monotonic()
    lists = ranked([question.reply for question in asked])
    seconds = time.monotonic() - began
    found = [0] * len(DEPTHS)
    for question, texts in zip(asked, lists, strict=True):
        for place, depth in enumerate(DEPTHS):
            found[place] += len(question.others.intersection(texts[:depth]))
    looked_for = sum(len(question.others) for question in asked)
    return Answer(name, len(asked), looked_for, tuple(found), seconds)


def trained_bart(store: Store, folder: Path, steps: int) -> Path:
    """Train a small BART from scratch on the pairs of a store.

    Args:
        store: The store that contains the pairs.
        folder: Folder for the model.
        steps: Number of training steps.

    Returns:
        The folder of the trained model.
    """
    made, out = folder / "made", folder / "trained"
    examples = examples_of(store, reach=CandidateOptions(), limit=steps * BATCH)
    small_bart(made, [example.source for example in examples])
    fine_tune(
        load_seq2seq(made, device="cpu"),
        examples,
        out,
        learning_rate=1e-3,
        per_device_train_batch_size=BATCH,
        save_strategy="no",
    )
    return out


def table(title: str, about: str, answers: Sequence[Answer]) -> Table:
    """Make a table of results.

    Args:
        title: Title of the table.
        about: Description of the table.
        answers: The results, beginning with the baseline without the shift graph.

    Returns:
        The table.
    """
    base = answers[0].recall(DEPTHS[-1])
    rows = [
        (
            one.name,
            f"{one.questions:,}",
            f"{one.looked_for:,}",
            *(f"{one.recall(depth):.3f}" for depth in DEPTHS),
            f"{one.recall(DEPTHS[-1]) / base:.2f}" if base else "-",
            f"{one.questions / one.seconds:,.0f}" if one.seconds else "-",
        )
        for one in answers
    ]
    columns = ("substitutes by", "contexts", "looked for", "recall@10", "recall@50", "ratio", "contexts/s")
    return Table(title, about, columns, tuple(rows))


def goals(answers: Sequence[Answer]) -> Iterator[Goal]:
    """Yield a goal for each predictor except the predictor with the candidates of the CAPT paper.

    Args:
        answers: The results, beginning with the baseline without the shift graph.

    Yields:
        The goals.
    """
    base = answers[0].recall(50)
    for one in answers[1:]:
        if base and "CAPT" not in one.name:
            ratio = one.recall(50) / base
            yield Goal(
                f"perspectives, recall@50 of {one.name}",
                "-",
                f"{ratio:.2f} times that without a graph",
                f">= {WANTED_RATIO} times",
                verdict(ratio >= WANTED_RATIO),
            )


def _scores(keywords: Sequence[Keyword]) -> dict[str, float]:
    return {one.text: one.score for one in keywords}
