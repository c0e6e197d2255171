"""Figures of runs with intervals, by a bootstrap over contexts and over seeds.

Each draw takes as many contexts as there are, the same ones for all runs, and as many seeds of each source as
it has. An interval holds 95% of the draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.evaluation.ranking import THRESHOLD, Choices
from graphneg.hashing import number

if TYPE_CHECKING:
    from numpy.typing import NDArray

RECALL, BALANCED, AUC = "recall_at_1", "balanced_accuracy", "auc"
MEASURES = (RECALL, BALANCED, AUC)
RESAMPLES = 1000
_COVERAGE = 95


class Figure(NamedTuple):
    """A value, and the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Tallies:
    """What one ranker got right, by context: arrays of shape (contexts,), ``wins`` of (contexts, contexts).

    ``firsts`` counts right responses that score higher than each wrong one of their context, ``held``
    those over the threshold, ``refused`` wrong ones under it; ``wins`` twice the pairs of a right response of
    one context and a wrong one of another in which the right one scores higher, a tie as one.
    """

    right: NDArray[Any]
    wrong: NDArray[Any]
    firsts: NDArray[Any]
    held: NDArray[Any]
    refused: NDArray[Any]
    wins: NDArray[Any]


class Draws(NamedTuple):
    """A figure over the draws (shape (draws,)), and as it is over all contexts."""

    whole: float
    drawn: NDArray[Any]

    def figure(self) -> Figure:
        import numpy as np

        edge = (100 - _COVERAGE) / 2
        low, high = np.nanpercentile(self.drawn, (edge, 100 - edge))
        return Figure(self.whole, float(low), float(high))


def tallies(
    contexts: Sequence[Choices],
    scores: Sequence[Sequence[float]],
    kind: str,
    threshold: float = THRESHOLD,
) -> Tallies:
    """What scores come to for one kind of wrong responses; contexts without any of it do not count."""
    import numpy as np

    pairs = [_scores_of(one, some, kind) for one, some in zip(contexts, scores, strict=True)]
    wrong = [right_and_wrong[1] for right_and_wrong in pairs]
    flat = np.concatenate(wrong)
    ends = np.cumsum([len(some) for some in wrong])
    wins = np.zeros((len(pairs), len(pairs)), dtype=np.int32)
    firsts = np.zeros(len(pairs))
    for at, (right, own) in enumerate(pairs):
        won = (2 * (right[:, None] > flat) + (right[:, None] == flat)).sum(axis=0)
        wins[at] = np.diff(np.concatenate([[0], np.cumsum(won)])[np.concatenate([[0], ends])])
        firsts[at] = sum(bool((one > own).all()) for one in right)
    return Tallies(
        right=np.array([len(right) for right, _ in pairs]),
        wrong=np.array([len(some) for some in wrong]),
        firsts=firsts,
        held=np.array([(right > threshold).sum() for right, _ in pairs]),
        refused=np.array([(some < threshold).sum() for some in wrong]),
        wins=wins,
    )


class Bootstrap:
    """Draws of contexts, the same for all that is measured with it."""

    def __init__(self, contexts: int, seed: int = 0, resamples: int = RESAMPLES) -> None:
        import numpy as np

        self._seed = seed
        self._resamples = resamples
        generator = np.random.default_rng(number(seed, "contexts"))
        drawn = generator.multinomial(contexts, [1 / contexts] * contexts, size=resamples)
        self._weights = np.concatenate([np.ones((1, contexts)), drawn])

    def measured(self, measure: str, runs: Mapping[int, Tallies]) -> Draws:
        """The mean over seeds of a measure; ``runs`` has the tallies of one source by seed."""
        import numpy as np

        each = np.stack([_measured(measure, one, self._weights) for one in runs.values()])
        seeds = np.random.default_rng(number(self._seed, "seeds")).multinomial(
            len(runs), [1 / len(runs)] * len(runs), size=self._resamples
        )
        drawn = (each[:, 1:] * seeds.T).sum(axis=0) / len(runs)
        return Draws(float(each[:, 0].mean()), drawn)


def closed(draws: Draws, nothing: Draws, everything: Draws) -> Figure | None:
    """The share of the gap between two sources that a third closes; none where there is no gap."""
    import numpy as np

    if everything.whole <= nothing.whole:
        return None
    gap = everything.drawn - nothing.drawn
    there = gap > 0
    shares = (draws.drawn - nothing.drawn)[there] / gap[there]
    whole = (draws.whole - nothing.whole) / (everything.whole - nothing.whole)
    return Draws(whole, np.asarray(shares)).figure()


def kinds_of(contexts: Iterable[Choices]) -> list[str]:
    """The kinds of wrong responses, in the order in which they come up."""
    return list(dict.fromkeys(kind for one in contexts for kind in one.negatives))


def _scores_of(one: Choices, scores: Sequence[float], kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A context's scores of right responses, and of wrong ones of a kind; none of both where it has none."""
    import numpy as np

    at = len(one.positives)
    for other, texts in one.negatives.items():
        if other == kind and texts and one.positives:
            return np.array(scores[: len(one.positives)]), np.array(scores[at : at + len(texts)])
        at += len(texts)
    return np.zeros(0), np.zeros(0)


def _measured(measure: str, of: Tallies, weights: NDArray[Any]) -> NDArray[Any]:
    """A measure for each row of ``weights``, of shape (draws, contexts); NaN where a draw has none."""
    import numpy as np

    right, wrong = weights @ of.right, weights @ of.wrong
    with np.errstate(invalid="ignore"):
        if measure == RECALL:
            return (weights @ of.firsts) / right
        if measure == BALANCED:
            return ((weights @ of.held) / right + (weights @ of.refused) / wrong) / 2
        return ((weights @ of.wins) * weights).sum(axis=1) / 2 / (right * wrong)
