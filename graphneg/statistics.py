"""Statistics that rooms share: the area under the ROC curve, resamples, percentile intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import ArrayLike, NDArray

COVERAGE = 95
"""Percent of the resamples that an interval holds."""
THRESHOLD = 0.5
"""A score from here on is taken for the positive class."""


class Estimate(NamedTuple):
    """A figure, and the ends of its 95% interval."""

    value: float
    low: float
    high: float


def roc_auc(
    positive: ArrayLike,
    negative: ArrayLike,
    positive_counts: ArrayLike | None = None,
    negative_counts: ArrayLike | None = None,
) -> float:
    """The area under the ROC curve: the share of pairs in which the positive scores higher, a tie as half.

    The scores are of shape (positives,) and (negatives,); counts of the same shape say how often each came
    up. Not a number where there is none of either.

    >>> roc_auc([2.0, 3.0], [1.0, 2.0]), roc_auc([2], [1, 2], negative_counts=[3, 1])
    (0.875, 0.875)
    """
    import numpy as np

    above, below = np.asarray(positive, dtype=float), np.asarray(negative, dtype=float)
    if not len(above) or not len(below):
        return float("nan")
    values, at = np.unique(np.concatenate([above, below]), return_inverse=True)
    won = np.bincount(at[: len(above)], positive_counts, len(values))
    lost = np.bincount(at[len(above) :], negative_counts, len(values))
    return float(won @ (np.cumsum(lost) - lost / 2) / (won.sum() * lost.sum()))


def resampled_items(items: int, resamples: int, random: Generator | int) -> NDArray[Any]:
    """Indices of as many items as there are, drawn with replacement: of shape (resamples, items)."""
    import numpy as np

    return np.random.default_rng(random).integers(items, size=(resamples, items))


def resampled_counts(items: int, resamples: int, random: Generator | int) -> NDArray[Any]:
    """How often each item is drawn in each resample: of shape (resamples, items).

    Sums over resamples are then one product of matrices.
    """
    import numpy as np

    return np.random.default_rng(random).multinomial(items, [1 / items] * items, size=resamples)


def interval(drawn: ArrayLike) -> tuple[float, float]:
    """The ends of the interval that holds 95% of the numbers drawn."""
    low, high = percentile_interval(drawn)
    return float(low), float(high)


def percentile_interval(drawn: ArrayLike) -> NDArray[Any]:
    """The ends of the interval that holds 95% of what was drawn, along the first axis: of shape (2, ...).

    What is not a number does not count; both ends are 0 where no number was drawn.

    >>> percentile_interval(range(201)).tolist()
    [5.0, 195.0]
    """
    import numpy as np

    values = np.asarray(drawn, dtype=float)
    if not len(values) or np.isnan(values).all():
        return np.zeros((2, *values.shape[1:]))
    tail = (100 - COVERAGE) / 2
    return np.nanpercentile(values, [tail, 100 - tail], axis=0)
