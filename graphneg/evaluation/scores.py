"""Precision, recall and F1 from tallies: micro, macro, and how sure they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.evaluation.matching import Tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

COVERAGE = 95
"""Percent of the resamples that an interval holds."""
_CHUNK = 100


class Score(NamedTuple):
    """Each from 0 to 1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure over all pairs.

    ``micro`` sums the triples of all pairs, ``macro`` is the mean over the ``pairs`` in which there
    is anything to find. The intervals are of F1: percentile bootstrap over pairs, leaving out the
    resamples in which there is nothing to find.
    """

    pairs: int
    micro: Score
    macro: Score
    micro_interval: tuple[float, float]
    macro_interval: tuple[float, float]


def score(tally: Tally) -> Score:
    """Precision, recall and F1; 0 where they are not defined.

    >>> score(Tally(1, 2, 1))
    Score(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    matched, predicted, gold = tally
    precision = matched / predicted if predicted else 0.0
    recall = matched / gold if gold else 0.0
    return Score(precision, recall, 2 * matched / (predicted + gold) if predicted + gold else 0.0)


def measured(tallies: Sequence[Tally], resamples: int, seed: int) -> Measured:
    """The scores of many pairs, with intervals from ``resamples`` draws of as many pairs."""
    present = [tally for tally in tallies if tally.predicted or tally.gold]
    singles = [score(tally) for tally in present]
    total = Tally(*(sum(column) for column in zip(*present, strict=True))) if present else Tally(0, 0, 0)
    mean = [sum(column) / len(present) for column in zip(*singles, strict=True)] or [0.0, 0.0, 0.0]
    micro, macro = _intervals(tallies, resamples, seed)
    return Measured(len(present), score(total), Score(*mean), micro, macro)


def _intervals(
    tallies: Sequence[Tally], resamples: int, seed: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    import numpy as np

    if not tallies or not resamples:
        return (0.0, 0.0), (0.0, 0.0)
    counts = np.array(tallies, dtype=float)
    found = np.array([tally.predicted + tally.gold > 0 for tally in tallies], dtype=float)
    singles = np.array([score(tally).f1 for tally in tallies])
    random = np.random.default_rng(seed)
    even = np.full(len(tallies), 1 / len(tallies))
    micro: list[Any] = []
    macro: list[Any] = []
    for start in range(0, resamples, _CHUNK):
        drawn = random.multinomial(len(tallies), even, size=min(_CHUNK, resamples - start)).astype(float)
        sums = drawn @ counts
        micro.append(_ratio(2 * sums[:, 0], sums[:, 1] + sums[:, 2]))
        macro.append(_ratio(drawn @ (singles * found), drawn @ found))
    return _middle(np.concatenate(micro)), _middle(np.concatenate(macro))


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def _middle(values: NDArray[Any]) -> tuple[float, float]:
    import numpy as np

    tail = (100 - COVERAGE) / 2
    if np.isnan(values).all():
        return 0.0, 0.0
    low, high = np.nanpercentile(values, [tail, 100 - tail])
    return float(low), float(high)
