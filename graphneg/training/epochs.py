"""The pairs of all epochs in the order in which a trainer sees them.

All pairs of a context stand together, so that a batch tells right from wrong where all else is the same:
at 2,800 pairs MiniLM learns more of it than at 10,000 in an order of chance. Contexts of like length share
a batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from graphneg.hashing import number
from graphneg.training.drawing import Drawn, Lacking, Pair

Draws = Callable[[int], tuple[Drawn, Lacking]]
"""The pairs of an epoch, by its number, and what was lacking."""
_WINDOW = 16


class Epochs:
    """The pairs of all epochs one after the other, each epoch drawn when it is reached.

    Inside windows of some batches, batches are of contexts of like length. One epoch's draws are held at a
    time, and the pairs of one window. ``sources`` counts the pairs of all epochs, `sources_of` those of
    the beginning; ``lacking`` is what the first one lacked, ``first`` how many pairs it has.
    """

    def __init__(self, draws: Draws, epochs: int, batch: int) -> None:
        self._draws = draws
        self._size = batch * _WINDOW
        self._batch = batch
        self.sources: Counter[str] = Counter()
        self._starts = [0]
        self._epoch, self._window = 0, -1
        first, self.lacking = draws(0)
        self._pairs = first.together()
        self._sorted: Sequence[Pair] = ()
        self.first, self._right, self._digest = len(first), first.right, first.digest
        for epoch in range(epochs):
            pairs = first if epoch == 0 else draws(epoch)[0]
            self.sources.update(pairs.sources)
            self._starts.append(self._starts[-1] + len(pairs))

    @property
    def balance(self) -> float:
        """How many wrong pairs there are for each right one, in the first epoch."""
        return (self.first - self._right) / max(1, self._right)

    def facts(self) -> list[Any]:
        """What decides a run: the first epoch's pairs, and how many there are of each source."""
        return [self._digest, sorted(self.sources.items())]

    def sources_of(self, amount: int) -> Counter[str]:
        """The first ``amount`` pairs, counted by source: what a run that stopped early has learned from."""
        if amount >= len(self):
            return self.sources
        return Counter(self[place].source for place in range(amount))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, place: int) -> Pair:
        epoch = self._epoch
        if not self._starts[epoch] <= place < self._starts[epoch + 1]:
            epoch = next(i for i, end in enumerate(self._starts[1:]) if place < end)
            self._pairs = self._draws(epoch)[0].together()
            self._epoch, self._window = epoch, -1
        window, within = divmod(place - self._starts[epoch], self._size)
        if window != self._window:
            start = window * self._size
            self._sorted = _by_length(self._pairs[start : start + self._size], self._batch)
            self._window = window
        return self._sorted[within]


def _by_length(pairs: Sequence[Pair], batch: int) -> list[Pair]:
    """Batches of contexts of like length, in no order of their lengths."""
    window = sorted(pairs, key=lambda pair: sum(map(len, pair.context)))
    batches = [window[at : at + batch] for at in range(0, len(window), batch)]
    batches.sort(key=lambda some: number(0, "batch", some[0].id))
    return [pair for some in batches for pair in some]
