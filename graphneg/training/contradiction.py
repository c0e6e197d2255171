"""Train a contradiction detector on labelled responses.

A training pair consists of an earlier utterance and a response. Its label is 1 if the two contradict each
other, otherwise 0. A contradiction that was made by editing a graph has a counterpart, that is, a similar
response without a contradiction. A contradiction and its counterpart are next to each other in the training
data, so that they are in the same batch and the loss can compare them.

Example:
    The response "I hate fish." after "Fish is my favourite food." has label 1. Its counterpart, "I love
    fish." after the same utterance, has label 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from graphneg.datasets.pair_sampler import Pair
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.ingest.labelled import JudgedResponse
from graphneg.nn.training import IN_ORDER, TrainingResult, check_epochs, fit, open_run, pairs_and_lists
from graphneg.progress import Progress
from graphneg.scorers.contradiction import ContradictionDetector
from graphneg.scorers.edited_contradictions import SOURCE
from graphneg.training.rankers import describe_untrained, labelled_batch

SETTINGS: Mapping[str, Any] = {"per_device_train_batch_size": 16, "learning_rate": 5e-5}
"""Default values of ``transformers.TrainingArguments`` for training a contradiction detector."""


@dataclass(frozen=True, slots=True)
class DetectorReport(TrainingResult):
    """The report of a training run for a contradiction detector.

    Attributes:
        pairs: Number of training pairs per epoch, keyed by the generator that made the response.
        held_out: Number of pairs that were not used because they contain a held-out text.
    """

    pairs: Mapping[str, int]
    held_out: int


def pairs_of(labelled: Iterable[JudgedResponse], weights: Mapping[str, float] | None = None) -> list[Pair]:
    """Convert labelled responses into training pairs for a contradiction detector.

    Args:
        labelled: Responses with the utterances that they may contradict. Responses without a label are
            skipped.
        weights: Weights of pairs in the loss, keyed by the generator that made the response. The weight is 1
            for generators that are not listed.

    Returns:
        The pairs. The context of a pair is the earlier utterance, and the label is 1 if the response
        contradicts this utterance.
    """
    weights = weights or {}
    return [
        Pair(
            item.id,
            (item.contradicted_text,),
            item.response,
            item.label,
            source,
            weight=weights.get(source, 1.0),
        )
        for item in labelled
        if item.label is not None
        for source in [item.generator]
    ]


def train_detector(
    detector: ContradictionDetector,
    pairs: Sequence[Pair],
    out: str | Path,
    *,
    epochs: int = 2,
    held_out: Collection[str] = (),
    seed: int = 0,
    overwrite: bool = False,
    progress: Progress | None = None,
    **arguments: Any,
) -> DetectorReport:
    """Train a contradiction detector in place, and save it.

    The loss has two parts. The first part classifies each pair. The second part compares each contradiction
    that was made by editing a graph with its counterpart, a similar response without a contradiction. If a
    run was interrupted, repeating the same call resumes it. Raises `InputError` if ``out`` contains a model
    or another run, or if a training argument is unknown.

    Args:
        detector: The contradiction detector to train.
        pairs: The training pairs, each of an earlier utterance (the context) and a response.
        out: The output folder for the trained detector.
        epochs: Number of epochs.
        held_out: Texts, for example of the test data. Pairs that contain one of these texts are not used for
            training.
        seed: Seed for the order of pairs and for training.
        overwrite: Whether to replace a model or another run in ``out``.
        progress: Progress display; advanced by the training steps.
        **arguments: Keyword arguments of ``transformers.TrainingArguments``.

    Returns:
        The report of the run.

    Raises:
        InputError: A label is neither 0 nor 1, or all pairs have the same label.
    """
    texts = {match_key(text) for text in held_out}
    kept = [pair for pair in pairs if texts.isdisjoint(map(match_key, (pair.response, *pair.context)))]
    for pair in kept:
        if pair.label not in (0, 1):
            raise InputError(f"{pair.id}: the label is {pair.label!r}, but must be 1 (contradictory) or 0")
    if {pair.label for pair in kept} != {0, 1}:
        raise InputError("training needs both contradictory and non-contradictory responses")
    check_epochs(epochs, arguments)
    settings = {**SETTINGS, **arguments}
    facts = [epochs, seed, sorted(settings.items()), describe_untrained(detector.encoder)]
    facts.append([(pair.context, pair.response, pair.label, pair.weight) for pair in kept])
    run = open_run(out, facts, overwrite)
    rows: list[Pair] = []
    # Shuffle pairs by a hash of their key. A contradiction and its counterpart have the same key, so they
    # stay next to each other.
    for epoch in map(str, range(epochs)):
        rows += sorted(kept, key=lambda item: (number(seed, "pair", epoch, *_shared_key(item)), item.id))
    trained = fit(
        run, detector, rows, partial(labelled_batch, detector.encoder, _shared_key, 1.0), seed=seed,
        progress=progress, arguments={**settings, **IN_ORDER}, compute_loss_func=pairs_and_lists,
    )  # fmt: skip
    sources = Counter(pair.source for pair in kept)
    return DetectorReport(pairs=sources, held_out=len(pairs) - len(kept), **asdict(trained))


def _shared_key(item: Pair) -> tuple[str, ...]:
    """Return the key of a response. A contradiction and its counterpart have the same key.

    The counterpart is a similar response without the contradiction. Only contradictions that were made by
    editing a graph have one. All other responses have different keys.
    """
    return (item.id.rpartition("/")[0],) if item.source == SOURCE else (item.id, item.response)
