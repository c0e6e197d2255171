"""How well a detector finds contradictions: labelled responses and scores in, figures by generator out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.ingest.labelled import Labelled
from graphneg.statistics import THRESHOLD, Estimate, percentile_interval, resampled_items, roc_auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURES = ("accuracy", "balanced_accuracy", "f1", "auc")


@dataclass(frozen=True, slots=True)
class Detected:
    """Figures over ``responses`` of one generator, ``contradictory`` of them.

    ``f1`` is that of the contradictory ones; ``auc`` counts a tie as half.
    """

    generator: str
    responses: int
    contradictory: int
    accuracy: Estimate
    balanced_accuracy: Estimate
    f1: Estimate
    auc: Estimate


@dataclass(frozen=True, slots=True)
class Detection:
    """Figures by generator, and their unweighted means (``mean``; its counts are sums)."""

    generators: Sequence[Detected]
    mean: Detected

    def as_dicts(self) -> list[dict[str, Any]]:
        """One plain object a generator, then the mean, for JSON."""
        names = [field.name for field in fields(Detected)]
        rows = [{name: getattr(figures, name) for name in names} for figures in (*self.generators, self.mean)]
        return [{**row, **{name: row[name]._asdict() for name in MEASURES}} for row in rows]


def check_classes(labelled: Iterable[Labelled]) -> None:
    """Raises `InputError` where all responses of a generator have one label: nothing is told apart then."""
    labels: dict[str, set[int | None]] = {}
    for response in labelled:
        labels.setdefault(response.generator, set()).add(response.label)
    for generator, own in labels.items():
        if len(own) < 2:
            raise InputError(f"{generator}: all responses are of one class; there is nothing to tell apart")


def detection(
    labelled: Sequence[Labelled],
    scores: Sequence[float],
    *,
    threshold: float = THRESHOLD,
    resamples: int = 1000,
    seed: int = 0,
) -> Detection:
    """Figures of scores, one for each labelled response, in order.

    A score from ``threshold`` on says: contradictory. Intervals are percentiles over ``resamples`` draws
    of a generator's responses; the mean's are over draws of each generator's at once.

    Raises `InputError`: scores and responses are not as many, or a generator has only one class.
    """
    import numpy as np

    if len(scores) != len(labelled):
        raise InputError(f"{len(scores)} scores for {len(labelled)} responses: give one for each, in order")
    check_classes(labelled)
    random = np.random.default_rng(seed)
    detected: list[Detected] = []
    wholes: list[list[float]] = []
    drawn: list[NDArray[Any]] = []
    for name in dict.fromkeys(response.generator for response in labelled):
        at = [index for index, response in enumerate(labelled) if response.generator == name]
        labels = np.array([labelled[index].label for index in at])
        own = np.array([scores[index] for index in at], dtype=float)
        draws = resampled_items(len(at), resamples, random)
        rows = [_figures(labels[draw], own[draw], threshold) for draw in draws]
        wholes.append(_figures(labels, own, threshold))
        drawn.append(np.array(rows).reshape(resamples, len(MEASURES)))
        detected.append(Detected(name, len(at), int(labels.sum()), *_estimates(wholes[-1], drawn[-1])))
    mean = Detected(
        "mean",
        sum(figures.responses for figures in detected),
        sum(figures.contradictory for figures in detected),
        *_estimates(np.mean(wholes, axis=0), np.mean(drawn, axis=0)),
    )
    return Detection(detected, mean)


def _figures(labels: NDArray[Any], scores: NDArray[Any], threshold: float) -> list[float]:
    """The measures of responses, arrays of shape (responses,); NaN where all are of one class."""
    import numpy as np

    held, dropped = labels == 1, labels == 0
    if not held.any() or not dropped.any():
        return [np.nan] * len(MEASURES)
    claimed = scores >= threshold
    right = claimed == held
    return [
        float(right.mean()),
        float((right[held].mean() + right[dropped].mean()) / 2),
        float(2 * np.sum(held & claimed) / (claimed.sum() + held.sum())),
        roc_auc(scores[held], scores[dropped]),
    ]


def _estimates(figures: Iterable[float], drawn: NDArray[Any]) -> list[Estimate]:
    """Figures with intervals of their draws, of shape (resamples, measures); points where there are none."""
    import numpy as np

    values = np.array(figures, dtype=float)
    low, high = (values, values) if np.isnan(drawn).all() else percentile_interval(drawn)
    return [Estimate(*map(float, three)) for three in zip(values, low, high, strict=True)]
