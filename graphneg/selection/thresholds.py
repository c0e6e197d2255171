"""Which perplexities are too high, learned from pairs that belong together and random ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.selection.scoring import Bidirectional, Pair

PAIRS = 1_000
"""So many right pairs are taken for learning, the first ones."""

_LEAST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The highest perplexities with which a response still fits, in both directions."""

    forward: float
    backward: float

    def __post_init__(self) -> None:
        if not (self.forward > 0 and self.backward > 0):
            raise InputError(f"thresholds {self.forward} and {self.backward}: a perplexity is above 0")


@dataclass(frozen=True, slots=True)
class Separation:
    """A threshold, and the shares of right and of random pairs that it keeps."""

    threshold: float
    right_kept: float
    random_kept: float

    @property
    def balanced_accuracy(self) -> float:
        """The mean of right pairs kept and random pairs dropped."""
        return (self.right_kept + 1 - self.random_kept) / 2


def learn_thresholds(
    records: Iterable[Negative], scorer: Bidirectional, *, quantile: float | None = None, seed: int = 0
) -> tuple[Separation, Separation]:
    """Forward and backward threshold, from the records with label 1.

    Their responses are put to contexts of other dialogues as random pairs. See `threshold` for ``quantile``.

    Raises:
        InputError: fewer than ten right pairs, or all of one dialogue.
    """
    right, others = pairs_to_learn(records, seed)
    fitting, random = scorer.score(right), scorer.score(others)
    forward = threshold([one.forward for one in fitting], [one.forward for one in random], quantile)
    backward = threshold([one.backward for one in fitting], [one.backward for one in random], quantile)
    return forward, backward


def pairs_to_learn(records: Iterable[Negative], seed: int = 0) -> tuple[list[Pair], list[Pair]]:
    """Right pairs, and for each context a random one: the response of another dialogue, drawn by hash.

    Raises:
        InputError: fewer than ten right pairs, or all of one dialogue.
    """
    right = list(islice((one for one in records if one.label == 1 and one.context), PAIRS))
    if len(right) < _LEAST_PAIRS:
        raise InputError(
            f"only {len(right)} records for validation have label 1 and a context: {_LEAST_PAIRS} are "
            "needed; graphneg export writes those of a store"
        )
    if len({one.dialogue for one in right}) == 1:
        raise InputError("all records for validation are of one dialogue: none can be put to another")
    return [pair_of(one) for one in right], [
        Pair(pair_of(one).context, _other(right, place, seed).response) for place, one in enumerate(right)
    ]


def threshold(right: Sequence[float], random: Sequence[float], quantile: float | None = None) -> Separation:
    """The perplexity up to which a pair counts as right.

    With ``quantile`` it keeps that share of the right pairs; else it has the highest balanced accuracy,
    the lowest of those that have it.

    Raises:
        InputError: ``quantile`` is not in (0, 1], or one of the sequences is empty.

    >>> threshold([1.0, 2.0, 3.0, 9.0], [4.0, 5.0, 6.0, 7.0])
    Separation(threshold=3.0, right_kept=0.75, random_kept=0.0)
    """
    if not right or not random:
        raise InputError("a threshold needs right pairs and random ones")
    fitting, others = sorted(right), sorted(random)
    if quantile is None:
        found = (_separation(value, fitting, others) for value in fitting)
        return max(found, key=lambda one: (one.balanced_accuracy, -one.threshold))
    if not 0 < quantile <= 1:
        raise InputError(f"quantile {quantile}: must be above 0 and at most 1")
    return _separation(fitting[ceil(quantile * len(fitting)) - 1], fitting, others)


def pair_of(record: Negative) -> Pair:
    """A record's context and response."""
    return Pair(tuple(turn["text"] for turn in record.context), record.response)


def _separation(value: float, fitting: Sequence[float], others: Sequence[float]) -> Separation:
    kept = bisect_right(fitting, value) / len(fitting)
    return Separation(value, kept, bisect_right(others, value) / len(others))


def _other(records: Sequence[Negative], place: int, seed: int) -> Negative:
    """A record of another dialogue, by hash; the next one that is, where the drawn one is not."""
    own = records[place]
    start = number(seed, "random pair", own.id) % len(records)
    turned = (records[(start + step) % len(records)] for step in range(len(records)))
    return next(one for one in turned if one.dialogue != own.dialogue)
