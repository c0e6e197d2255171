"""A detector trained without one response generator and tested on it, generator by generator.

In: labelled responses of several generators, and graph-made ones. Out: a fold for each generator, whose
contexts of training and test are disjoint; scores by detectors that never saw the generator; figures of
these.
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
    """``test`` are the responses of ``generator``; no text of them is in ``train``.

    ``left_out`` counts responses of other generators that share a context, its earlier utterance
    or their own text with a tested one.
    """

    generator: str
    train: tuple[Labelled, ...]
    test: tuple[Labelled, ...]
    left_out: int


def leave_one_out(labelled: Sequence[Labelled]) -> list[Fold]:
    """A fold for each generator, by name. Contexts of training and test are disjoint.

    Raises `InputError`: there are fewer than two generators, or a fold has only one class to train on.
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
    """The earlier utterances and responses of these, as `match_key` compares them."""
    return frozenset(match_key(text) for response in test for text in (response.said, response.response))


TrainingSource = Literal["labelled", "made", "both"]
SOURCES: tuple[TrainingSource, ...] = ("labelled", "made", "both")
_DONE = "trained.json"


@dataclass(frozen=True, slots=True)
class DetectorSettings:
    """How a detector is trained: on graph-made responses ``made_epochs`` times, then on labelled ones
    ``epochs`` times. ``frozen`` and ``dropout`` as `ContradictionDetector.new` takes them, ``arguments``
    go to transformers' ``TrainingArguments``."""

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
    """``scores`` are those of ``tested``, in order, each by a detector that never saw its generator."""

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
    """Leave each response generator out once; contexts of training and test are disjoint.

    ``source`` says what is learned: the labelled responses of the other generators, the graph-made ones
    (``made``), or ``both``, the graph-made ones first. No graph-made response with a text of
    ``labelled`` is learned. ``folder`` keeps what was trained: the same call goes on where it was stopped.

    Raises:
        InputError: there are fewer than two generators, one has only one class of responses, or nothing
            is made where it is to be learned.
        ModelError: there is no such encoder.
    """
    if source not in SOURCES:
        raise InputError(f"source {source!r}: choose one of {', '.join(SOURCES)}")
    if source != "labelled" and not made:
        raise InputError(f"source {source!r} needs graph-made responses")
    check_classes(labelled)
    folds = leave_one_out(labelled)
    settings = settings or DetectorSettings()
    trained = partial(_trained, Path(folder), settings, seed, progress)
    start: str | Path = encoder
    if source != "labelled":
        start = trained("made", start, pairs_of(made), settings.made_epochs, tested_texts(labelled))
    scores: list[float] = []
    for fold in folds:
        last: str | Path = start
        if source != "made":
            # A name that any file system takes, one for each generator.
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
    """The folder of a detector that went on from ``start`` with these pairs, trained if it is not there."""
    out = folder / name
    facts = [
        str(start),
        noted_fingerprint(Path(start) / _DONE),
        epochs,
        seed,
        repr(settings),
        sorted(held_out),
    ]
    examples = [[*pair.context, pair.response, pair.label, pair.weight] for pair in pairs]
    done = RunNote(out / _DONE, fingerprint([*facts, examples]))
    if done.state == "same":
        return out
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
