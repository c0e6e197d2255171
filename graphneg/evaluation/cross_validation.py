"""A detector trained without one response generator and tested on it, generator by generator.

In: labelled responses of several generators, and graph-made ones. Out: a fold for each generator, whose
contexts of training and test are disjoint; scores by detectors that never saw the generator; figures of
these.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from graphneg.datasets.pair_sampler import Pair
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
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

    Raises:
        InputError: there are fewer than two generators, or a fold has only one class to train on.
    """
    generators = sorted({one.generator for one in labelled})
    if len(generators) < 2:
        raise InputError(
            f"responses of {len(generators)} generator; to leave one out, two or more are needed"
        )
    folds = [_fold(name, labelled) for name in generators]
    for fold in folds:
        if {one.label for one in fold.train} != {0, 1}:
            raise InputError(f"without {fold.generator} there are not both classes of responses to train on")
    return folds


def _fold(generator: str, labelled: Sequence[Labelled]) -> Fold:
    test = tuple(one for one in labelled if one.generator == generator)
    others = [one for one in labelled if one.generator != generator]
    tested = tested_texts(test)
    contexts = {_context(one) for one in test}
    train = tuple(one for one in others if _context(one) not in contexts and not tested & _texts(one))
    return Fold(generator, train, test, len(others) - len(train))


def tested_texts(test: Iterable[Labelled]) -> frozenset[str]:
    """The earlier utterances and responses of these, as `plain` compares them."""
    return frozenset(text for one in test for text in _texts(one))


def _texts(one: Labelled) -> frozenset[str]:
    return frozenset((match_key(one.said), match_key(one.response)))


def _context(one: Labelled) -> tuple[str, ...]:
    return tuple(map(match_key, one.context))


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
    detectors = _Detectors(Path(folder), settings or DetectorSettings(), seed, progress)
    start: str | Path = encoder
    if source != "labelled":
        start = detectors.trained(
            start, pairs_of(made), detectors.settings.made_epochs, "made", tested_texts(labelled)
        )
    scores: list[float] = []
    for fold in folds:
        last: str | Path = start
        if source != "made":
            name = f"{source}-{_file_name(fold.generator)}"
            last = detectors.trained(
                start,
                pairs_of(fold.train),
                detectors.settings.epochs,
                name,
            )
        detector = detectors.read(last)
        scores += detector.score([(one.response, one.said) for one in fold.test])
    tested = [one for fold in folds for one in fold.test]
    figures = detection(tested, scores, resamples=resamples, seed=seed)
    return CrossValidation(source, folds, tested, scores, figures)


@dataclass(frozen=True, slots=True)
class _Detectors:
    """Trains detectors in folders, and finds again those that it has trained."""

    folder: Path
    settings: DetectorSettings
    seed: int
    progress: Progress | None

    def trained(
        self, start: str | Path, pairs: Sequence[Pair], epochs: int, name: str, held_out: Collection[str] = ()
    ) -> Path:
        """The folder of a detector that went on from ``start`` with these pairs."""
        out, settings = self.folder / name, self.settings
        facts = [
            str(start),
            noted_fingerprint(Path(start) / _DONE),
            epochs,
            self.seed,
            repr(settings),
            sorted(held_out),
        ]
        examples = [[*one.context, one.response, one.label, one.weight] for one in pairs]
        done = RunNote(out / _DONE, fingerprint([*facts, examples]))
        if done.state == "same":
            return out
        done.remove()
        detector = ContradictionDetector.new(
            start,
            seed=self.seed,
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
            seed=self.seed,
            overwrite=True,
            progress=self.progress,
            **settings.arguments,
        )
        done.write()
        return out

    def read(self, folder: str | Path) -> ContradictionDetector:
        """The detector of a folder."""
        return ContradictionDetector.from_pretrained(folder, device=self.settings.device)


def _file_name(generator: str) -> str:
    """A name that any file system takes, one for each generator."""
    return f"{re.sub(r'[^A-Za-z0-9-]+', '-', generator)[:40]}.{fingerprint([generator])[:6]}"
