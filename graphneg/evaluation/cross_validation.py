"""Cross-validate a contradiction detector by leaving out one response generator at a time.

A detector should find contradictions of response generators that it has not seen in training. For each
generator, `cross_validate` trains a detector on the responses of the other generators, on graph-made
responses, or on both. It then tests the detector on the responses of the generator that was left out.
Training and test share no context.

Example:
    Labelled responses of the generators "blender", "dialogpt" and "plato" give three folds. The first fold
    trains on the responses of "dialogpt" and "plato" and tests on those of "blender".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from graphneg.datasets.pair_sampler import Pair
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import context_key
from graphneg.evaluation.detection import Detection, check_classes, detection
from graphneg.hashing import fingerprint
from graphneg.ingest.labelled import Labelled
from graphneg.progress import Progress
from graphneg.records.runs import RunNote, noted_fingerprint
from graphneg.scorers.contradiction import MAX_TOKENS, ContradictionDetector
from graphneg.training.contradiction import SETTINGS, pairs_of, train_detector


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold of the cross-validation.

    Attributes:
        generator: The generator that is left out of training.
        train: Responses of the other generators to train on.
        test: The responses of ``generator``.
        left_out: Number of responses of other generators that were excluded because they share a context, its
            earlier utterance or their own text with a test response.
    """

    generator: str
    train: tuple[Labelled, ...]
    test: tuple[Labelled, ...]
    left_out: int


def leave_one_out(labelled: Sequence[Labelled]) -> list[Fold]:
    """Make one fold for each response generator.

    Args:
        labelled: Labelled responses of several generators.

    Returns:
        The folds, sorted by the name of the generator. Training and test of a fold share no context.

    Raises:
        InputError: There are fewer than two generators, or a fold has only one class to train on.
    """
    generators = sorted({response.generator for response in labelled})
    if len(generators) < 2:
        raise InputError(
            f"responses of {len(generators)} generator; to leave one out, two or more are needed"
        )
    folds: list[Fold] = []
    for name in generators:
        test = tuple(response for response in labelled if response.generator == name)
        others = [response for response in labelled if response.generator != name]
        texts, contexts = tested_texts(test), {context_key(response.context) for response in test}
        # The same context or response in training would leak the answer, so such responses are dropped.
        train = tuple(
            response
            for response in others
            if context_key(response.context) not in contexts and not texts & tested_texts([response])
        )
        if {response.label for response in train} != {0, 1}:
            raise InputError(f"without {name} there are not both classes of responses to train on")
        folds.append(Fold(name, train, test, len(others) - len(train)))
    return folds


def tested_texts(test: Iterable[Labelled]) -> frozenset[str]:
    """Return the texts of test responses that training must not contain.

    Args:
        test: The responses that a detector is tested on.

    Returns:
        The earlier utterances and the responses, normalised with `match_key`.
    """
    return frozenset(match_key(text) for response in test for text in (response.said, response.response))


TrainingSource = Literal["labelled", "made", "both"]
"""The training data: human-labelled responses, graph-made responses, or graph-made ones followed by labelled
ones.
"""
SOURCES: tuple[TrainingSource, ...] = ("labelled", "made", "both")
_DONE = "trained.json"


@dataclass(frozen=True, slots=True)
class DetectorSettings:
    """The settings for training a detector.

    A detector is trained on graph-made responses first and on labelled responses afterwards.

    Attributes:
        epochs: Number of epochs on labelled responses.
        made_epochs: Number of epochs on graph-made responses.
        max_tokens: Maximum length of the input in tokens.
        frozen: Parts of the encoder that are not trained, as in `ContradictionDetector.new`.
        dropout: Dropout rate, as in `ContradictionDetector.new`.
        device: The torch device, or None to choose one.
        offline: Do not download models.
        arguments: Keyword arguments of ``transformers.TrainingArguments``.
    """

    epochs: int = 4
    made_epochs: int = 1
    max_tokens: int = MAX_TOKENS
    frozen: tuple[str, ...] = ()
    dropout: float | None = None
    device: str | None = None
    offline: bool = False
    arguments: Mapping[str, Any] = field(default_factory=lambda: dict(SETTINGS))


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The result of a cross-validation.

    Attributes:
        source: The training data that was used.
        folds: The folds, sorted by generator.
        tested: The test responses of all folds.
        scores: The score of each test response, by a detector that was not trained on its generator.
        detection: Detection measures by generator, and their means.
    """

    source: TrainingSource
    folds: Sequence[Fold]
    tested: Sequence[Labelled]
    scores: Sequence[float]
    detection: Detection


def cross_validate(
    labelled: Sequence[Labelled],
    encoder: str | Path,
    folder: str | Path,
    *,
    source: TrainingSource = "labelled",
    made: Sequence[Labelled] = (),
    settings: DetectorSettings | None = None,
    seed: int = 0,
    resamples: int = 1000,
    progress: Progress | None = None,
) -> CrossValidation:
    """Train and test a detector once for each response generator.

    No graph-made response that shares a text with ``labelled`` is used for training. Finished detectors are
    kept in ``folder``. A call with the same arguments continues where an earlier call stopped.

    Args:
        labelled: Labelled responses of at least two generators.
        encoder: The name or folder of the pretrained encoder.
        folder: The folder for trained detectors.
        source: What to train on: ``labelled`` (responses of the other generators), ``made`` (graph-made
            responses), or ``both`` (graph-made responses first).
        made: Graph-made responses. Required unless ``source`` is ``labelled``.
        settings: Training settings.
        seed: Seed for training and for the bootstrap.
        resamples: Number of bootstrap samples for the intervals.
        progress: Receives progress updates.

    Returns:
        The scores of all test responses and the detection measures.

    Raises:
        InputError: The source is unknown, or graph-made responses are needed and missing.
    """
    if source not in SOURCES:
        raise InputError(f"source {source!r}: choose one of {', '.join(SOURCES)}")
    if source != "labelled" and not made:
        raise InputError(f"source {source!r} needs graph-made responses")
    # Check before training, which can take hours.
    check_classes(labelled)
    folds = leave_one_out(labelled)
    settings = settings or DetectorSettings()
    trained = partial(_trained, Path(folder), settings, seed, progress)
    start: str | Path = encoder
    if source != "labelled":
        # Graph-made responses do not depend on the fold: one detector, trained on none of the tested texts,
        # serves as the start of all folds.
        start = trained("made", start, pairs_of(made), settings.made_epochs, tested_texts(labelled))
    scores: list[float] = []
    for fold in folds:
        last: str | Path = start
        # A detector that sees graph-made responses only is the same for all folds.
        if source != "made":
            # Replace characters that a file system may refuse. The hash keeps two generators apart whose
            # names become equal.
            name = (
                f"{re.sub(r'[^A-Za-z0-9-]+', '-', fold.generator)[:40]}.{fingerprint([fold.generator])[:6]}"
            )
            last = trained(f"{source}-{name}", start, pairs_of(fold.train), settings.epochs)
        detector = ContradictionDetector.from_pretrained(last, device=settings.device)
        scores += detector.score([(response.response, response.said) for response in fold.test])
    tested = [response for fold in folds for response in fold.test]
    figures = detection(tested, scores, resamples=resamples, seed=seed)
    return CrossValidation(source, folds, tested, scores, figures)


def _trained(
    folder: Path,
    settings: DetectorSettings,
    seed: int,
    progress: Progress | None,
    name: str,
    start: str | Path,
    pairs: Sequence[Pair],
    epochs: int,
    held_out: Collection[str] = (),
) -> Path:
    """Train a detector from ``start``, unless the folder already has it, and return its path."""
    out = folder / name
    facts = [
        str(start),
        # The start may be a detector that was trained here: train again if it changed.
        noted_fingerprint(Path(start) / _DONE),
        epochs,
        seed,
        repr(settings),
        sorted(held_out),
    ]
    examples = [[*pair.context, pair.response, pair.label, pair.weight] for pair in pairs]
    # The note holds a fingerprint of everything that the training depends on, its data included.
    done = RunNote(out / _DONE, fingerprint([*facts, examples]))
    if done.state == "same":
        return out
    # While training runs, no note may claim that it is finished.
    done.remove()
    detector = ContradictionDetector.new(
        start,
        seed=seed,
        max_tokens=settings.max_tokens,
        frozen=settings.frozen,
        dropout=settings.dropout,
        device=settings.device,
        offline=settings.offline,
    )
    train_detector(
        detector,
        pairs,
        out,
        epochs=epochs,
        held_out=held_out,
        seed=seed,
        overwrite=True,
        progress=progress,
        **settings.arguments,
    )
    done.write()
    return out
