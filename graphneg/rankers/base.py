"""What a ranker is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class Ranker(Protocol):
    """Says how well responses fit contexts; a context is the texts of its turns, oldest first."""

    def score(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> list[float]:
        """One number for each pair, in order, from 0 (does not fit) to 1 (fits)."""
        ...

    def rank(self, context: Sequence[str], candidates: Sequence[str]) -> list[int]:
        """The places of the candidates, best first; of equals, the earlier."""
        ...


class Trainable(Protocol):
    """What ``graphneg.training.rankers.train_ranker`` trains.

    ``model`` is a torch module; called with what ``encode`` gives, by name, its answer has ``logits`` of
    shape (pairs, 1): above 0 where the response fits.
    """

    model: Any

    def encode(self, contexts: Sequence[Sequence[str]], responses: Sequence[str]) -> Mapping[str, Tensor]:
        """The model's input for pairs of a context (the texts of its turns, oldest first) and a response."""
        ...

    def save(self, folder: str | Path) -> None:
        """Write all that is needed to read the ranker again."""
        ...


def by_score(scores: Sequence[float]) -> list[int]:
    """Places from the highest score to the lowest.

    >>> by_score([0.1, 0.9, 0.9])
    [1, 2, 0]
    """
    return sorted(range(len(scores)), key=lambda place: -scores[place])
