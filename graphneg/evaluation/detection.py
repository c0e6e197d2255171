"""How well a detector finds contradictions: labelled responses and scores in, figures by generator out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.errors import InputError
from graphneg.ingest.labelled import Labelled
from graphneg.statistics import THRESHOLD, percentile_interval, resampled_items, roc_auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURES = ("accuracy", "balanced_accuracy", "f1", "auc")


class Estimate(NamedTuple):
    """A figure from 0 to 1, and its 95% bootstrap interval."""

    value: float
    low: float
    high: float


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
        return [_plain(one) for one in (*self.generators, self.mean)]


def check_classes(labelled: Iterable[Labelled]) -> None:
    """Raises `InputError` where all responses of a generator have one label: nothing is told apart then."""
    labels: dict[str, set[int | None]] = {}
    for one in labelled:
        labels.setdefault(one.generator, set()).add(one.label)
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

    Raises:
        InputError: scores and responses are not as many, or a generator has only one class.
    """
    import numpy as np

    if len(scores) != len(labelled):
        raise InputError(f"{len(scores)} scores for {len(labelled)} responses: give one for each, in order")
    check_classes(labelled)
    names = list(dict.fromkeys(one.generator for one in labelled))
    columns = [_column(name, labelled, scores, threshold) for name in names]
    random = np.random.default_rng(seed)
    drawn = [_drawn(one, resamples, random) for one in columns]
    found = [_detected(one, draws) for one, draws in zip(columns, drawn, strict=True)]
    means = np.mean([list(_figures(one).values()) for one in columns], axis=0)
    mean = Detected(
        "mean",
        sum(one.responses for one in found),
        sum(one.contradictory for one in found),
        *_estimates(means, np.mean(drawn, axis=0)),
    )
    return Detection(found, mean)


@dataclass(frozen=True, slots=True)
class _Column:
    """One generator's labels, scores and verdicts, each of shape (responses,)."""

    name: str
    labels: NDArray[Any]
    scores: NDArray[Any]
    verdicts: NDArray[Any]

    def at(self, places: NDArray[Any]) -> _Column:
        """The same of these responses alone."""
        return _Column(self.name, self.labels[places], self.scores[places], self.verdicts[places])


def _column(name: str, labelled: Sequence[Labelled], scores: Sequence[float], threshold: float) -> _Column:
    import numpy as np

    at = [place for place, one in enumerate(labelled) if one.generator == name]
    labels = np.array([labelled[place].label for place in at], dtype=int)
    own = np.array([scores[place] for place in at], dtype=float)
    return _Column(name, labels, own, (own >= threshold).astype(int))


def _drawn(one: _Column, resamples: int, random: Any) -> NDArray[Any]:
    """Figures of resamples, of shape (resamples, measures); a resample of one class is NaN."""
    import numpy as np

    draws = resampled_items(len(one.labels), resamples, random)
    rows = [list(_figures(one.at(draw)).values()) for draw in draws]
    return np.array(rows).reshape(resamples, len(MEASURES))


def _figures(one: _Column) -> dict[str, float]:
    import numpy as np

    held, dropped = one.labels == 1, one.labels == 0
    if not held.any() or not dropped.any():
        return dict.fromkeys(MEASURES, float("nan"))
    right = one.verdicts == one.labels
    claimed = int(one.verdicts.sum()) + int(held.sum())
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float((right[held].mean() + right[dropped].mean()) / 2),
        "f1": float(2 * np.sum(held & (one.verdicts == 1)) / claimed),
        "auc": roc_auc(one.scores[held], one.scores[dropped]),
    }


def _detected(one: _Column, drawn: NDArray[Any]) -> Detected:
    import numpy as np

    figures = np.array(list(_figures(one).values()))
    return Detected(one.name, len(one.labels), int(one.labels.sum()), *_estimates(figures, drawn))


def _estimates(figures: NDArray[Any], drawn: NDArray[Any]) -> list[Estimate]:
    import numpy as np

    if not len(drawn) or np.isnan(drawn).all():
        return [Estimate(float(value), float(value), float(value)) for value in figures]
    low, high = percentile_interval(drawn)
    return [Estimate(*map(float, three)) for three in zip(figures, low, high, strict=True)]


def _plain(one: Detected) -> dict[str, Any]:
    return {
        key: value._asdict() if isinstance(value, Estimate) else value
        for key, value in ((field.name, getattr(one, field.name)) for field in fields(one))
    }
