"""Training a detector of contradictions on labelled responses."""

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
from graphneg.ingest.labelled import Labelled
from graphneg.nn.training import IN_ORDER, Trained, check_epochs, fit, open_run, pairs_and_lists
from graphneg.progress import Progress
from graphneg.scorers.contradiction import ContradictionDetector
from graphneg.scorers.edited_contradictions import SOURCE
from graphneg.training.rankers import labelled_batch, starting_point

SETTINGS: Mapping[str, Any] = {"per_device_train_batch_size": 16, "learning_rate": 5e-5}


@dataclass(frozen=True, slots=True)
class DetectorReport(Trained):
    """What a run did: ``pairs`` of one epoch by generator; ``held_out`` were left out."""

    pairs: Mapping[str, int]
    held_out: int


def pairs_of(labelled: Iterable[Labelled], weights: Mapping[str, float] | None = None) -> list[Pair]:
    """Labelled responses as pairs: the context is the earlier utterance, label 1 is contradictory.

    ``weights`` are those of generators; 1 where none is given.
    """
    weights = weights or {}
    return [
        Pair(item.id, (item.said,), item.response, item.label, source, weight=weights.get(source, 1.0))
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
    """Train ``detector`` in place and save it into ``out``.

    Beside each pair's own loss a graph-made contradiction is compared with its counterpart.
    No pair with a text of ``held_out`` is learned. What ``seed``, ``overwrite`` and ``arguments`` do:
    `graphneg.training.rankers.train_ranker`.

    Raises `InputError`: there are not both classes to learn from, a label is not 0 or 1, ``out`` holds a
    model or another run, or the arguments are none of ``TrainingArguments``.
    """
    texts = {match_key(text) for text in held_out}
    kept = [pair for pair in pairs if texts.isdisjoint(map(match_key, (pair.response, *pair.context)))]
    for pair in kept:
        if pair.label not in (0, 1):
            raise InputError(f"{pair.id}: the label is {pair.label!r}; 1 is contradictory, 0 is not")
    if {pair.label for pair in kept} != {0, 1}:
        raise InputError("there must be contradictory and not contradictory responses to learn from")
    check_epochs(epochs, arguments)
    settings = {**SETTINGS, **arguments}
    facts = [epochs, seed, sorted(settings.items()), starting_point(detector.encoder)]
    facts.append([(pair.context, pair.response, pair.label, pair.weight) for pair in kept])
    run = open_run(out, facts, overwrite)
    rows: list[Pair] = []
    for epoch in map(str, range(epochs)):  # a response and its counterpart stay side by side
        rows += sorted(kept, key=lambda item: (number(seed, "pair", epoch, *_together(item)), item.id))
    trained = fit(
        run, detector, rows, partial(labelled_batch, detector.encoder, _together, 1.0), seed=seed,
        progress=progress, arguments={**settings, **IN_ORDER}, compute_loss_func=pairs_and_lists,
    )  # fmt: skip
    sources = Counter(pair.source for pair in kept)
    return DetectorReport(pairs=sources, held_out=len(pairs) - len(kept), **asdict(trained))


def _together(item: Pair) -> tuple[str, ...]:
    """The same for a graph-made response and its counterpart, so that a step sees what tells them apart."""
    return (item.id.rpartition("/")[0],) if item.source == SOURCE else (item.id, item.response)
