"""Measure how well a detector finds contradictory responses.

The input is a list of labelled responses and one score per response. The output contains the measures for the
responses of each generator (a model or program that writes responses) and the means over the generators, all
with bootstrap confidence intervals.

Example:
    The labels 1, 1, 0, 0 and the scores 0.9, 0.4, 0.3, 0.1 give, at the threshold 0.5, an accuracy of 0.75, a
    balanced accuracy of 0.75, an F1 of 0.67 and an AUC of 1.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.ingest.labelled import JudgedResponse
from graphneg.statistics import THRESHOLD, Estimate, percentile_interval, resampled_items, roc_auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURES = ("accuracy", "balanced_accuracy", "f1", "auc")
"""The measures of `DetectionMetrics`, in the order of its fields."""


@dataclass(frozen=True, slots=True)
class DetectionMetrics:
    """The detection measures on the responses of one generator.

    Attributes:
        generator: The name of the generator, or ``mean`` for the means over all generators.
        responses: Number of responses.
        contradictory: Number of responses that are labelled as contradictory.
        accuracy: Share of responses that are classified correctly.
        balanced_accuracy: Mean of the accuracy on contradictory responses and the accuracy on all other
            responses.
        f1: F1 score for the class of contradictory responses.
        auc: Area under the ROC curve. If a contradictory response and another response have equal scores,
            the pair counts as half correct.
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
    """The detection measures of each generator, and their means.

    Attributes:
        generators: The measures for the responses of each generator.
        mean: The unweighted means over the generators. Its fields ``responses`` and ``contradictory`` contain
            sums instead of means.
    """

    generators: Sequence[DetectionMetrics]
    mean: DetectionMetrics

    def as_dicts(self) -> list[dict[str, Any]]:
        """Return one dict per generator, and a last dict for the means, which can be written as JSON."""
        names = [field.name for field in fields(DetectionMetrics)]
        rows = [{name: getattr(figures, name) for name in names} for figures in (*self.generators, self.mean)]
        return [{**row, **{name: row[name]._asdict() for name in MEASURES}} for row in rows]


def check_classes(labelled: Iterable[JudgedResponse]) -> None:
    """Check that each generator has both contradictory and consistent responses.

    Args:
        labelled: Labelled responses.

    Raises:
        InputError: All responses of a generator have the same label.
    """
    labels: dict[str, set[int | None]] = {}
    for response in labelled:
        labels.setdefault(response.generator, set()).add(response.label)
    for generator, own in labels.items():
        if len(own) < 2:
            raise InputError(f"{generator}: all responses have the same label, so nothing can be detected")


def evaluate_detection(
    labelled: Sequence[JudgedResponse],
    scores: Sequence[float],
    *,
    threshold: float = THRESHOLD,
    resamples: int = 1000,
    seed: int = 0,
) -> Detection:
    """Compute detection measures from the scores of labelled responses.

    The ends of confidence intervals are percentiles over bootstrap samples. The responses of each generator
    are resampled separately. For the intervals of the means, the measures of all generators are averaged in
    each sample. Raises `InputError` if all responses of a generator have the same label.

    Args:
        labelled: Labelled responses.
        scores: One score per response, in the same order. A higher score means more contradictory.
        threshold: Responses with a score at or above this threshold count as contradictory.
        resamples: Number of bootstrap samples.
        seed: Seed for drawing the bootstrap samples.

    Returns:
        The measures for each generator, and the means over the generators.

    Raises:
        InputError: The number of scores differs from the number of responses.
    """
    import numpy as np

    if len(scores) != len(labelled):
        raise InputError(
            f"expected {len(labelled)} scores, one for each response in order, but found {len(scores)}"
        )
    check_classes(labelled)
    # Use one random number generator for all samples. If it were seeded again for each response generator,
    # the samples of different response generators would not be independent.
    random = np.random.default_rng(seed)
    detected: list[DetectionMetrics] = []
    wholes: list[list[float]] = []
    drawn: list[NDArray[Any]] = []
    for name in dict.fromkeys(response.generator for response in labelled):
        at = [index for index, response in enumerate(labelled) if response.generator == name]
        labels = np.array([labelled[index].label for index in at])
        own = np.array([scores[index] for index in at], dtype=float)
        draws = resampled_items(len(at), resamples, random)
        # In a bootstrap sample, one of the two classes may be missing. The measures of such a sample are NaN,
        # and are ignored when the percentiles are computed.
        rows = [_figures(labels[draw], own[draw], threshold) for draw in draws]
        wholes.append(_figures(labels, own, threshold))
        drawn.append(np.array(rows).reshape(resamples, len(MEASURES)))
        detected.append(
            DetectionMetrics(name, len(at), int(labels.sum()), *_estimates(wholes[-1], drawn[-1]))
        )
    mean = DetectionMetrics(
        "mean",
        sum(figures.responses for figures in detected),
        sum(figures.contradictory for figures in detected),
        # The mean is not weighted, so that a generator with many responses does not dominate.
        *_estimates(np.mean(wholes, axis=0), np.mean(drawn, axis=0)),
    )
    return Detection(detected, mean)


def _figures(labels: NDArray[Any], scores: NDArray[Any], threshold: float) -> list[float]:
    """Return the values of all `MEASURES`, in this order; all NaN if the labels contain only one class."""
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
    """Return the value of each measure, such as the accuracy, with its confidence interval.

    ``figures`` has one value per measure. ``drawn`` has the values of the measures in the bootstrap samples,
    as an array of shape (resamples, measures).
    """
    import numpy as np

    values = np.array(figures, dtype=float)
    # If there are no samples, or each sample has only one class, no interval can be computed. In this case,
    # use the value itself as both ends of the interval.
    low, high = (values, values) if np.isnan(drawn).all() else percentile_interval(drawn)
    return [Estimate(*map(float, three)) for three in zip(values, low, high, strict=True)]
