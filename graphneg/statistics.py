"""Statistics that rooms share: the area under the ROC curve, resamples, percentile intervals, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.errors import GraphnegError, InputError

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


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Fleiss' kappa of items that were each rated by the same number of annotators.

    ``ratings`` holds for each item one category an annotator, shape (items, annotators). 1 is full
    agreement, 0 what chance would give. Where only one category was ever given it is 1, since nobody
    disagrees (the formula has no value there).

    Fleiss 1971, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76(5).

    Raises:
        InputError: no item, or items with one annotator or different numbers of them.

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
    """Krippendorff's alpha: 1 less the disagreement that was seen, divided by that of chance.

    ``ratings`` holds for each item the categories that its annotators gave, as many as they are; items with
    fewer than two do not count. With ``order``, all categories from first to last, the scale is ordinal:
    categories disagree more the more ratings lie between them. 1 where only one category was ever given.

    Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", sections C and E.

    Raises `InputError`: no item has two ratings.

    >>> round(krippendorff_alpha([(0, 0), (1, 1), (0, 1), (0, 0), (0, 0), (0,)]), 3)
    0.571
    """
    paired = [item for item in ratings if len(item) > 1]
    if not paired:
        raise InputError("agreement needs at least one item that two annotators rated")
    total = Counter(category for item in paired for category in item)
    amount = total.total()
    distance = _distances(total, order)
    seen = sum(
        distance[one, other] * count * (votes[other] - (one == other)) / (votes.total() - 1)
        for votes in map(Counter, paired)
        for one, count in votes.items()
        for other in votes
    )
    chance = sum(
        distance[one, other] * count * total[other] / (amount - 1)
        for one, count in total.items()
        for other in total
    )
    return 1.0 - seen / chance if chance else 1.0


def _distances(
    total: Counter[Hashable], order: Sequence[Hashable] | None
) -> dict[tuple[Hashable, Hashable], float]:
    """How much two categories disagree, squared: 1 where they differ, or by the ratings between them."""
    if order is None:
        return {(one, other): float(one != other) for one in total for other in total}
    places = {category: at for at, category in enumerate(order)}

    def between(one: Hashable, other: Hashable) -> float:
        low, high = sorted((places[one], places[other]))
        within = sum(total[category] for category in order[low : high + 1])
        return (within - (total[one] + total[other]) / 2) ** 2

    return {(one, other): between(one, other) for one in total for other in total}
