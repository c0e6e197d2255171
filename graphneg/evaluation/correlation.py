"""How well scores agree with people: correlations, their intervals, and one scorer against another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.evaluation.ratings import Level, Rated, qualities

if TYPE_CHECKING:
    from numpy.typing import NDArray

COVERAGE = 95
"""Percent of the resamples that an interval holds."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A correlation from -1 to 1, its 95% bootstrap interval, and the probability that chance alone
    gives one as far from 0."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Correlation:
    """Of one scorer with one quality, over ``items`` responses or dialogues."""

    quality: str
    level: Level
    items: int
    pearson: Coefficient
    spearman: Coefficient
    kendall: Coefficient


@dataclass(frozen=True, slots=True)
class Difference:
    """Spearman of the first scorer less that of the second, its 95% interval, and the share of
    resamples (two-sided) in which the second is as good as the first or better."""

    quality: str
    level: Level
    items: int
    value: float
    low: float
    high: float
    p: float


def correlate(
    scores: Sequence[float], rated: Sequence[Rated], *, resamples: int = 1000, seed: int = 0
) -> list[Correlation]:
    """Pearson, Spearman and Kendall's tau-b of scores with each quality, turns and dialogues apart.

    ``scores`` has one number for each of ``rated``, in order. What was not rated in a quality is left out
    of it. Intervals are percentiles over ``resamples`` draws of the items.

    Raises:
        InputError: another number of scores than of ratings, or too few to correlate.
    """
    return [_correlation(one, _draws(len(one.people), resamples, seed)) for one in _columns([scores], rated)]


def compare(
    first: Sequence[float],
    second: Sequence[float],
    rated: Sequence[Rated],
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Difference]:
    """Paired bootstrap of two scorers on the same items: whose Spearman is higher, and how surely.

    Raises:
        InputError: another number of scores than of ratings, or too few to correlate.
    """
    return [
        _difference(one, _draws(len(one.people), resamples, seed)) for one in _columns([first, second], rated)
    ]


@dataclass(frozen=True, slots=True)
class _Columns:
    """What people gave in one quality, and what each scorer gave the same items."""

    quality: str
    level: Level
    people: NDArray[Any]
    scores: Sequence[NDArray[Any]]


def _columns(scores: Sequence[Sequence[float]], rated: Sequence[Rated]) -> list[_Columns]:
    """One for each quality and level in which three items or more are rated."""
    import numpy as np

    for column in scores:
        if len(column) != len(rated):
            raise InputError(f"{len(column)} scores for {len(rated)} ratings: give one for each, in order")
    found: list[_Columns] = []
    levels: tuple[Level, ...] = ("turn", "dialogue")
    for name in qualities(rated):
        for level in levels:
            at = [i for i, one in enumerate(rated) if one.level == level and name in one.ratings]
            if len(at) >= 3:
                people = np.array([rated[i].ratings[name] for i in at], dtype=float)
                columns = [np.array(column, dtype=float)[at] for column in scores]
                found.append(_Columns(name, level, people, columns))
    if not found:
        raise InputError("too few ratings: at least three items must be rated in one quality")
    return found


def _correlation(of: _Columns, draws: NDArray[Any]) -> Correlation:
    from scipy import stats

    [scores], people = of.scores, of.people
    ranks = _pearson_rows(_ranks(scores[draws]), _ranks(people[draws]))
    taus = [_tau(scores[draw], people[draw]) for draw in draws]
    return Correlation(
        of.quality,
        of.level,
        len(people),
        Coefficient(
            float(_pearson_rows(scores, people)),
            *_interval(_pearson_rows(scores[draws], people[draws])),
            _p(stats.pearsonr, scores, people),
        ),
        Coefficient(_spearman(scores, people), *_interval(ranks), _p(stats.spearmanr, scores, people)),
        Coefficient(_tau(scores, people), *_interval(taus), _p(stats.kendalltau, scores, people)),
    )


def _difference(of: _Columns, draws: NDArray[Any]) -> Difference:
    import numpy as np

    (first, second), people = of.scores, of.people
    truth = _ranks(people[draws])
    gaps = _pearson_rows(_ranks(first[draws]), truth) - _pearson_rows(_ranks(second[draws]), truth)
    value = _spearman(first, people) - _spearman(second, people)
    against = float(np.mean(gaps <= 0) if value > 0 else np.mean(gaps >= 0)) if len(gaps) else 1.0
    return Difference(of.quality, of.level, len(people), value, *_interval(gaps), min(1.0, 2 * against))


def _draws(items: int, resamples: int, seed: int) -> NDArray[Any]:
    """Places of the items in each resample, of shape (resamples, items)."""
    import numpy as np

    return np.random.default_rng(seed).integers(items, size=(resamples, items))


def _ranks(rows: NDArray[Any]) -> NDArray[Any]:
    from scipy.stats import rankdata

    return rankdata(rows, axis=-1)


def _pearson_rows(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Pearson's r of each pair of rows; 0 where one does not vary."""
    import numpy as np

    a = first - first.mean(axis=-1, keepdims=True)
    b = second - second.mean(axis=-1, keepdims=True)
    spread = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    product = (a * b).sum(axis=-1)
    return np.divide(product, spread, out=np.zeros_like(product), where=spread > 0)


def _spearman(scores: NDArray[Any], people: NDArray[Any]) -> float:
    return float(_pearson_rows(_ranks(scores), _ranks(people)))


def _tau(scores: NDArray[Any], people: NDArray[Any]) -> float:
    from scipy import stats

    if _constant(scores) or _constant(people):
        return 0.0
    found: Any = stats.kendalltau(scores, people)
    return float(found.statistic)


def _p(test: Callable[..., Any], scores: NDArray[Any], people: NDArray[Any]) -> float:
    if _constant(scores) or _constant(people):
        return 1.0
    return float(test(scores, people).pvalue)


def _constant(values: NDArray[Any]) -> bool:
    return bool((values == values[0]).all())


def _interval(values: Any) -> tuple[float, float]:
    import numpy as np

    if not len(values):
        return 0.0, 0.0
    tail = (100 - COVERAGE) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)
