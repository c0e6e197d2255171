"""The pairs of all epochs in the order in which a trainer sees them: batches of like length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from graphneg.hashing import number
from graphneg.training.drawing import Drawn, Lacking, Pair

Draws = Callable[[int], tuple[Drawn, Lacking]]
"""The pairs of an epoch, by its number, and what was lacking."""
_WINDOW = 32


class Epochs:
    """The pairs of all epochs one after the other, each epoch drawn when it is reached.

    Inside windows of some batches, batches are of pairs of like length. One epoch's draws are held at a
    time, and the pairs of one window. ``sources`` counts the pairs of all epochs; ``lacking`` is what the
    first one lacked, ``first`` how many pairs it has.
    """

    def __init__(self, draws: Draws, epochs: int, batch: int) -> None:
        self._draws = draws
        self._size = batch * _WINDOW
        self._batch = batch
        self.sources: Counter[str] = Counter()
        self._starts = [0]
        self._epoch, self._window = 0, -1
        self._pairs, self.lacking = draws(0)
        self._sorted: Sequence[Pair] = ()
        self.first, self._digest = len(self._pairs), self._pairs.digest
        for epoch in range(epochs):
            pairs = self._pairs if epoch == 0 else draws(epoch)[0]
            self.sources.update(pairs.sources)
            self._starts.append(self._starts[-1] + len(pairs))

    def facts(self) -> list[Any]:
        """What decides a run: the first epoch's pairs, and how many there are of each source."""
        return [self._digest, sorted(self.sources.items())]

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, place: int) -> Pair:
        epoch = self._epoch
        if not self._starts[epoch] <= place < self._starts[epoch + 1]:
            epoch = next(i for i, end in enumerate(self._starts[1:]) if place < end)
            self._pairs, self._epoch, self._window = self._draws(epoch)[0], epoch, -1
        window, within = divmod(place - self._starts[epoch], self._size)
        if window != self._window:
            start = window * self._size
            self._sorted = _by_length(self._pairs[start : start + self._size], self._batch)
            self._window = window
        return self._sorted[within]


def _by_length(pairs: Sequence[Pair], batch: int) -> list[Pair]:
    """Batches of pairs of like length, in no order of their lengths."""
    window = sorted(pairs, key=_length)
    batches = [window[at : at + batch] for at in range(0, len(window), batch)]
    batches.sort(key=lambda some: number(0, "batch", some[0].id))
    return [pair for some in batches for pair in some]


def _length(pair: Pair) -> int:
    return sum(map(len, pair.context)) + len(pair.response)
