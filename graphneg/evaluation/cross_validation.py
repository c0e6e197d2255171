"""Cross-validate a contradiction detector by leaving out one response generator at a time.

A response generator is a model or program that writes responses. A detector should also find contradictions
in the responses of generators that it has not seen in training. For each generator, `cross_validate` trains a
detector on labelled responses of the other generators, on responses that were made by editing graphs
(graph-made responses), or on both. It then tests the detector on the responses of the generator that was left
out. No context occurs both in training and in testing.

Example:
    Labelled responses of the generators "blender", "dialogpt" and "plato" give three folds. In the first
    fold, a detector is trained on the responses of "dialogpt" and "plato", and tested on the responses of
    "blender".
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
from graphneg.evaluation.detection import Detection, check_classes, evaluate_detection
from graphneg.hashing import fingerprint, with_model_digests
from graphneg.ingest.labelled import JudgedResponse
from graphneg.progress import Progress
from graphneg.records.runs import RunNote
from graphneg.scorers.contradiction import MAX_TOKENS, ContradictionDetector
from graphneg.training.contradiction import SETTINGS, pairs_of, train_detector


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold of the cross-validation.

    Attributes:
        generator: The generator that is left out of training.
        train: The responses of the other generators that are used for training.
        test: The responses of ``generator``, which are used for testing.
        leaked: Number of responses of other generators that are not used for training, because their context
            is also the context of a test response, or because their text or earlier utterance occurs in the
            test data.
    """

    generator: str
    train: tuple[JudgedResponse, ...]
    test: tuple[JudgedResponse, ...]
    leaked: int


def leave_one_out(labelled: Sequence[JudgedResponse]) -> list[Fold]:
    """Make one fold for each response generator.

    Args:
        labelled: Labelled responses of several generators.

    Returns:
        The folds, sorted by the name of the generator. No context occurs both in training and in testing.

    Raises:
        InputError: There are fewer than two generators, or all training responses of a fold have the same
            label.
    """
    generators = sorted({response.generator for response in labelled})
    if len(generators) < 2:
        raise InputError(
            f"leaving one generator out requires responses of at least two generators, not {len(generators)}"
        )
    folds: list[Fold] = []
    for name in generators:
        test = tuple(response for response in labelled if response.generator == name)
        others = [response for response in labelled if response.generator != name]
        texts, contexts = test_texts(test), {context_key(response.context) for response in test}
        # A detector could memorise contexts and responses. So remove training responses whose context or text
        # also occurs among the test responses.
        train = tuple(
            response
            for response in others
            if context_key(response.context) not in contexts and not texts & test_texts([response])
        )
        if {response.label for response in train} != {0, 1}:
            raise InputError(
                f"nothing to train on without {name}: the other responses do not have both labels"
            )
        folds.append(Fold(name, train, test, len(others) - len(train)))
    return folds


def test_texts(test: Iterable[JudgedResponse]) -> frozenset[str]:
    """Return the texts that must not be used for training, because they occur in the test data.

    Args:
        test: The responses on which a detector is tested.

    Returns:
        The texts of the earlier utterances and of the responses, normalised with `match_key`.
    """
    return frozenset(
        match_key(text) for response in test for text in (response.contradicted_text, response.response)
    )


TrainingSource = Literal["labelled", "made", "both"]
"""The training data: labelled responses, responses made by editing graphs, or both (graph-made first)."""
SOURCES: tuple[TrainingSource, ...] = ("labelled", "made", "both")
_DONE = "trained.json"


@dataclass(frozen=True, slots=True)
class DetectorSettings:
    """The settings for training a contradiction detector.

    A detector is trained on graph-made responses first and on labelled responses afterwards. Graph-made
    responses are made by editing graphs.

    Attributes:
        epochs: Number of epochs on labelled responses.
        made_epochs: Number of epochs on graph-made responses.
        max_tokens: Maximum length of the input in tokens.
        frozen: Prefixes of the names of parameters to exclude from training, such as ``embeddings``.
        dropout: Dropout rate, or None for the rate in the encoder's configuration.
        device: The torch device, or None to choose one automatically.
        offline: Whether to use only local files, without downloading models.
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
        source: The kind of training data that was used.
        folds: The folds, sorted by the generator that is left out.
        tested: The test responses of all folds, in the order of the folds.
        scores: The score of each test response, in the order of ``tested``. A score comes from a detector
            that was not trained on responses of the same generator.
        detection: The detection measures for each generator, and their means.
    """

    source: TrainingSource
    folds: Sequence[Fold]
    tested: Sequence[JudgedResponse]
    scores: Sequence[float]
    detection: Detection


def cross_validate(
    labelled: Sequence[JudgedResponse],
    encoder: str | Path,
    folder: str | Path,
    *,
    source: TrainingSource = "labelled",
    graph_made: Sequence[JudgedResponse] = (),
    settings: DetectorSettings | None = None,
    seed: int = 0,
    resamples: int = 1000,
    progress: Progress | None = None,
) -> CrossValidation:
    """Train and test a detector once for each response generator.

    A graph-made response, that is, a response made by editing a graph, is not used for training if its text
    or its earlier utterance occurs in ``labelled``. Trained detectors are kept in ``folder``. If a run was
    interrupted, a call with the same arguments continues it.

    Args:
        labelled: Labelled responses of at least two generators.
        encoder: Path or Hugging Face hub id of the pretrained encoder.
        folder: The output folder for trained detectors.
        source: The training data: ``labelled`` (labelled responses of the other generators), ``made``
            (graph-made responses), or ``both`` (first graph-made responses, then labelled responses).
        graph_made: Graph-made responses, which are required unless ``source`` is ``labelled``.
        settings: The settings for training, or None for the defaults.
        seed: Seed for training and for drawing bootstrap samples.
        resamples: Number of bootstrap samples for the intervals.
        progress: Progress display, which is advanced by the training steps.

    Returns:
        The scores of all test responses, and the detection measures.

    Raises:
        InputError: The source is unknown, or graph-made responses are needed and missing.
    """
    if source not in SOURCES:
        raise InputError(f"unknown source {source!r}; choose one of {', '.join(SOURCES)}")
    if source != "labelled" and not graph_made:
        raise InputError(f"source {source!r} needs graph-made responses")
    # Measures such as the AUC need both classes. Check this now, because training can take hours.
    check_classes(labelled)
    folds = leave_one_out(labelled)
    settings = settings or DetectorSettings()
    trained = partial(_trained, Path(folder), settings, seed, progress)
    start: str | Path = encoder
    if source != "labelled":
        # Graph-made responses are the same for all folds. So train one detector on them, without any text of
        # the labelled responses, and start the training for each fold from this detector.
        start = trained("made", start, pairs_of(graph_made), settings.made_epochs, test_texts(labelled))
    scores: list[float] = []
    for fold in folds:
        last: str | Path = start
        # With the source "made" (responses made by editing graphs), there is nothing to train in this fold.
        # The detector in `start`, which was trained on these responses, is tested on all folds.
        if source != "made":
            # Name the folder of the detector after the generator, and replace characters that a file system
            # may refuse. The replacement may make two names equal, so add a hash of the original name.
            name = (
                f"{re.sub(r'[^A-Za-z0-9-]+', '-', fold.generator)[:40]}.{fingerprint([fold.generator])[:6]}"
            )
            last = trained(f"{source}-{name}", start, pairs_of(fold.train), settings.epochs)
        detector = ContradictionDetector.from_pretrained(last, device=settings.device)
        scores += detector.score([(response.response, response.contradicted_text) for response in fold.test])
    tested = [response for fold in folds for response in fold.test]
    figures = evaluate_detection(tested, scores, resamples=resamples, seed=seed)
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
    """Return the path of a detector that was trained from ``start``. Train it if it does not exist yet."""
    out = folder / name
    facts = [
        # Include a digest of the model. When ``start`` is later trained with other data, or is replaced by
        # another model, the detectors that started from it are trained again, too.
        with_model_digests(str(start)),
        epochs,
        seed,
        repr(settings),
        sorted(held_out),
    ]
    examples = [[*pair.context, pair.response, pair.label, pair.weight] for pair in pairs]
    # After training, write a file with a fingerprint of everything on which the training depends. If the file
    # exists and has the same fingerprint, the detector in the folder can be used as it is.
    done = RunNote(out / _DONE, fingerprint([*facts, examples]))
    if done.state == "same":
        return out
    # Remove the fingerprint file of an earlier training. Otherwise, an interruption of this training would
    # leave a folder that looks like the result of a finished training.
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
