"""Distributions in little memory: how often each value came up, values rounded to a step."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and quartiles of some numbers."""

    mean: float
    lower: float
    median: float
    upper: float


class Histogram:
    """Counts of values rounded to ``step``; the sum is exact. Memory grows with the values' range alone."""

    def __init__(self, values: Iterable[float] = (), step: float = 1.0) -> None:
        self.step = step
        self.counts: Counter[int] = Counter()
        self.total = 0
        self._sum = 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        self.counts[round(value / self.step)] += 1
        self.total += 1
        self._sum += value

    @property
    def mean(self) -> float:
        """0 where there is no value."""
        return self._sum / self.total if self.total else 0.0

    def share(self, value: float) -> float:
        """How many of all have this value, 0 to 1."""
        return self.counts[round(value / self.step)] / self.total if self.total else 0.0

    def quantile(self, part: float) -> float:
        """The smallest value that at least ``part`` of all do not exceed (0 to 1).

        >>> Histogram([1, 2, 3, 10]).quantile(0.5)
        2.0
        """
        wanted, seen = part * self.total, 0
        for place in sorted(self.counts):
            seen += self.counts[place]
            if seen >= wanted:
                return round(place * self.step, 6)
        return 0.0

    def spread(self) -> Spread | None:
        """Mean and quartiles; nothing of no values."""
        if not self.total:
            return None
        return Spread(self.mean, self.quantile(0.25), self.quantile(0.5), self.quantile(0.75))


def area(more: Histogram, less: Histogram) -> float:
    """The area under the ROC curve: how often a value of ``more`` is above one of ``less``, a tie half.

    >>> area(Histogram([2, 3]), Histogram([1, 2])), area(Histogram([1]), Histogram([1]))
    (0.875, 0.5)
    """
    if not more.total or not less.total:
        return math.nan
    below, won = 0, 0.0
    for place in sorted({*more.counts, *less.counts}):
        won += more.counts[place] * (below + less.counts[place] / 2)
        below += less.counts[place]
    return won / (more.total * less.total)
