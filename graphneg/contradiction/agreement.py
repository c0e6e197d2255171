"""Agreement of annotators: Fleiss' kappa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from graphneg.errors import InputError


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Fleiss' kappa of items that were each rated by the same number of annotators.

    ``ratings`` holds for each item one category an annotator, shape (items, annotators). 1 is full
    agreement, 0 what chance would give. Where only one category was ever given it is 1, since nobody
    disagrees (the formula has no value there).

    Fleiss 1971, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76(5):
    (P - Pe) / (1 - Pe), with P the mean share of agreeing pairs of annotators of an item
    and Pe the sum of the squared shares of the categories.

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
    counts = [Counter(item) for item in ratings]
    pairs = annotators * (annotators - 1)
    observed = sum(sum(n * (n - 1) for n in one.values()) for one in counts) / (pairs * len(counts))
    given = sum(counts, Counter[Hashable]())
    total = annotators * len(counts)
    expected = sum((n / total) ** 2 for n in given.values())
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)
