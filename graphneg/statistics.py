"""Compute statistics for evaluation: ROC AUC, bootstrap intervals and the agreement of annotators.

>>> roc_auc([2.0, 3.0], [1.0, 2.0])
0.875
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.errors import GraphnegError, InputError

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import ArrayLike, NDArray

COVERAGE = 95
"""Percentage of the bootstrap values that lie within a confidence interval."""
THRESHOLD = 0.5
"""Default threshold of a classifier. Scores at or above the threshold count as positive."""


class Estimate(NamedTuple):
    """An estimated value with its 95% confidence interval.

    Attributes:
        value: The estimated value.
        low: Lower end of the interval.
        high: Upper end of the interval.
    """

    value: float
    low: float
    high: float


def roc_auc(
    positive: ArrayLike,
    negative: ArrayLike,
    positive_counts: ArrayLike | None = None,
    negative_counts: ArrayLike | None = None,
) -> float:
    """Return the area under the ROC curve.

    The area is the probability that a random positive has a higher score than a random negative. A tie counts
    as one half.

    Args:
        positive: Scores of positives, shape (positives,).
        negative: Scores of negatives, shape (negatives,).
        positive_counts: How often each positive counts, shape (positives,); by default once.
        negative_counts: How often each negative counts, shape (negatives,); by default once.

    Returns:
        The area, from 0 to 1, or NaN if there are no positives or no negatives.

    Example:
        >>> roc_auc([2.0, 3.0], [1.0, 2.0]), roc_auc([2], [1, 2], negative_counts=[3, 1])
        (0.875, 0.875)
    """
    import numpy as np

    above, below = np.asarray(positive, dtype=float), np.asarray(negative, dtype=float)
    if not len(above) or not len(below):
        return float("nan")
    # Give equal scores the same rank, so that ties can be counted as one half.
    values, at = np.unique(np.concatenate([above, below]), return_inverse=True)
    won = np.bincount(at[: len(above)], positive_counts, len(values))
    lost = np.bincount(at[len(above) :], negative_counts, len(values))
    # For each positive, count all negatives of lower ranks, and half of the negatives of the same rank
    # (ties).
    return float(won @ (np.cumsum(lost) - lost / 2) / (won.sum() * lost.sum()))


def resampled_items(items: int, resamples: int, random: Generator | int) -> NDArray[Any]:
    """Draw bootstrap resamples of items, with replacement, as arrays of indices.

    Args:
        items: Number of items in the original sample.
        resamples: Number of resamples.
        random: NumPy random generator, or a seed for a new one.

    Returns:
        Indices of shape (resamples, items).
    """
    import numpy as np

    return np.random.default_rng(random).integers(items, size=(resamples, items))


def resampled_counts(items: int, resamples: int, random: Generator | int) -> NDArray[Any]:
    """Draw bootstrap resamples of items, with replacement, as arrays of counts.

    With counts, the sums over the items of all resamples can be computed by a single matrix product.

    Args:
        items: Number of items in the original sample.
        resamples: Number of resamples.
        random: NumPy random generator, or a seed for a new one.

    Returns:
        Counts of shape (resamples, items): how often each item occurs in each resample.
    """
    import numpy as np

    return np.random.default_rng(random).multinomial(items, [1 / items] * items, size=resamples)


def interval(drawn: ArrayLike) -> tuple[float, float]:
    """Return the 95% percentile interval of bootstrap values.

    Args:
        drawn: The value of a statistic for each resample, shape (resamples,).

    Returns:
        The lower and the upper end of the interval.
    """
    low, high = percentile_interval(drawn)
    return float(low), float(high)


def percentile_interval(drawn: ArrayLike) -> NDArray[Any]:
    """Return the 95% percentile intervals of bootstrap values along the first axis.

    Args:
        drawn: The values of one or more statistics for each resample, shape (resamples, ...). NaN is ignored.

    Returns:
        The lower and the upper ends, shape (2, ...); all 0 if there are no values.

    Example:
        >>> percentile_interval(range(201)).tolist()
        [5.0, 195.0]
    """
    import numpy as np

    values = np.asarray(drawn, dtype=float)
    if not len(values) or np.isnan(values).all():
        return np.zeros((2, *values.shape[1:]))
    tail = (100 - COVERAGE) / 2
    return np.nanpercentile(values, [tail, 100 - tail], axis=0)


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Return Fleiss' kappa, a measure of agreement for items with the same number of ratings each.

    Fleiss 1971, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76(5).

    Args:
        ratings: Category that each annotator gave to each item, shape (items, annotators).

    Returns:
        1 for perfect agreement, 0 for agreement by chance. If all ratings are the same category, kappa is
        undefined, and 1 is returned.

    Raises:
        InputError: There are no items, an item has fewer than two ratings, or the numbers of ratings differ.
        GraphnegError: The package statsmodels is missing.

    Example:
        >>> round(fleiss_kappa([(0, 0, 0), (1, 1, 1), (0, 0, 1), (0, 1, 1)]), 3)
        0.333
    """
    annotators = len(ratings[0]) if ratings else 0
    if annotators < 2:
        raise InputError("agreement needs at least one item that two annotators rated")
    if any(len(item) != annotators for item in ratings):
        raise InputError(f"each item must be rated by the same number of annotators ({annotators})")
    try:
        from statsmodels.stats import inter_rater
    except ImportError as error:
        raise GraphnegError('agreement needs statsmodels: pip install "graphneg[evaluation]"') from error
    counts, categories = inter_rater.aggregate_raters(ratings)
    return 1.0 if len(categories) == 1 else float(inter_rater.fleiss_kappa(counts))


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable]], order: Sequence[Hashable] | None = None
) -> float:
    """Return Krippendorff's alpha: 1 minus the ratio of the observed to the expected disagreement.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", sections C and E.

    Args:
        ratings: Categories that annotators gave to each item. The number of ratings may differ between items.
            Items with fewer than two ratings are ignored.
        order: All categories from lowest to highest, if they form an ordinal scale; None otherwise. On an
            ordinal scale, two categories disagree more, the more ratings lie between them.

    Returns:
        1 for perfect agreement, 0 for agreement by chance; 1 if all ratings are the same category.

    Raises:
        InputError: No item has two ratings.

    Example:
        >>> round(krippendorff_alpha([(0, 0), (1, 1), (0, 1), (0, 0), (0, 0), (0,)]), 3)
        0.571
    """
    # Ignore items with a single rating, because agreement needs two ratings of the same item.
    paired = [item for item in ratings if len(item) > 1]
    if not paired:
        raise InputError("agreement needs at least one item that two annotators rated")
    total = Counter(category for item in paired for category in item)
    amount = total.total()
    distance = _distances(total, order)
    # The observed disagreement is the sum over all pairs of ratings of the same item.
    seen = sum(
        distance[one, other] * count * (votes[other] - (one == other)) / (votes.total() - 1)
        for votes in map(Counter, paired)
        for one, count in votes.items()
        for other in votes
    )
    # The expected disagreement is the sum over all pairs of ratings, regardless of their items.
    chance = sum(
        distance[one, other] * count * total[other] / (amount - 1)
        for one, count in total.items()
        for other in total
    )
    return 1.0 - seen / chance if chance else 1.0


def _distances(
    total: Counter[Hashable], order: Sequence[Hashable] | None
) -> dict[tuple[Hashable, Hashable], float]:
    """Return the squared distance of each pair of categories.

    If ``order`` is None, the distance is 0 for equal categories and 1 for different categories.
    """
    if order is None:
        return {(one, other): float(one != other) for one in total for other in total}
    places = {category: at for at, category in enumerate(order)}

    def between(one: Hashable, other: Hashable) -> float:
        low, high = sorted((places[one], places[other]))
        # The distance of two categories grows with the number of ratings between them: all ratings of the
        # categories in between, and half of the ratings of the two categories themselves.
        within = sum(total[category] for category in order[low : high + 1])
        return (within - (total[one] + total[other]) / 2) ** 2

    return {(one, other): between(one, other) for one in total for other in total}
