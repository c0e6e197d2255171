"""What counterfactual replies are for: new right replies, or wrong ones. It decides the substitutes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.shift.candidates import Reach, Reply, posts
from graphneg.shift.likelihood import Shifts
from graphneg.shift.substitutes import Prediction, substitutes_of

_TRIES = 8
"""Perspectives are drawn so many times for each that is wanted: most of those refused are frequent ones."""
_RANGE = 2.0**64


class Purpose(Protocol):
    """``name`` is what options call it; ``label`` and ``categories`` are those of the responses."""

    name: str
    label: int
    categories: tuple[str, ...]

    def substitutes(self, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
        """At most ``most`` other perspectives for each reply, the best first."""
        ...


class Augmentation:
    """New right replies: the perspective becomes one that another keyword before the reply leads to."""

    name = "positives"
    label = 1
    categories: tuple[str, ...] = ()

    def __init__(self, shifts: Shifts, how: Prediction) -> None:
        self._shifts = shifts
        self._how = how

    def substitutes(self, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
        """The predictor's choice (CAPT, Algorithm 1); it depends on no seed."""
        found = substitutes_of(self._shifts, replies, self._how)
        return [[one.text for one in each.ranked[:most]] for each in found]


class UnrelatedPerspectives:
    """Wrong replies: the perspective becomes one that replies of other contexts take.

    Drawn by their frequency, without what any keyword before the reply leads to, and
    without what was said before it or in it.
    """

    name = "negatives"
    label = 0
    categories: tuple[str, ...] = ("C-follow",)

    def __init__(self, shifts: Shifts) -> None:
        self._shifts = shifts

    def substitutes(self, replies: Sequence[Reply], most: int, seed: int) -> list[list[str]]:
        """Drawn by hashes of the seed and the reply's id.

        Raises:
            InputError: the store has no shift graph.
        """
        if not self._shifts.prior:
            raise InputError("the store has no shift graph: graphneg shift build makes one")
        texts = list(self._shifts.prior)
        ends = list(accumulate(self._shifts.prior.values()))
        found: list[list[str]] = []
        seen = posts(self._shifts, replies, Reach(turns=len(replies[0].turns) if replies else 1, hops=1))
        for reply, post in zip(replies, seen, strict=True):
            near = {text for focus in post.foci for text in focus.candidates} | set(post.keywords)
            said = _padded(" ".join([*reply.turns, reply.text]))
            shares = (number(seed, reply.id, str(draw)) / _RANGE for draw in range(_TRIES * most))
            drawn = (texts[min(bisect_right(ends, share * ends[-1]), len(texts) - 1)] for share in shares)
            far = dict.fromkeys(text for text in drawn if text not in near and f" {text} " not in said)
            found.append(list(far)[:most])
        return found


def _padded(text: str) -> str:
    """The words of a text in lower case, each between spaces."""
    return f" {' '.join(''.join(c if c.isalnum() else ' ' for c in text.lower()).split())} "
