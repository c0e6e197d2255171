"""What a ranker is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Ranker(Protocol):
    """Says how well responses fit contexts; a context is the texts of its turns, oldest first."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """One number for each pair, in order, from 0 (does not fit) to 1 (fits)."""
        ...

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        """The places of the candidates, best first; of equals, the earlier."""
        ...


def by_score(scores: Sequence[float]) -> list[int]:
    """Places from the highest score to the lowest.

    >>> by_score([0.1, 0.9, 0.9])
    [1, 2, 0]
    """
    return sorted(range(len(scores)), key=lambda place: -scores[place])
