"""A sample of a stream, drawn by hash: the same seed draws the same, in whatever order they come."""

from __future__ import annotations

import heapq

from graphneg.evaluation.negatives.texts import Text
from graphneg.hashing import number


class Sample:
    """At most ``size`` of the texts that were offered, those whose hash is lowest."""

    def __init__(self, size: int, seed: int) -> None:
        self._size = size
        self._seed = seed
        self._kept: list[tuple[int, int, Text]] = []
        self._offered = 0

    def offer(self, text: Text) -> None:
        draw = number(self._seed, "sample", text.id, str(len(text.context)), text.text)
        self._offered += 1
        item = (-draw, self._offered, text)
        if len(self._kept) < self._size:
            heapq.heappush(self._kept, item)
        elif item > self._kept[0]:
            heapq.heapreplace(self._kept, item)

    def texts(self) -> list[Text]:
        """The texts, in the order of their hashes: the first few are a sample of the sample."""
        return [text for _, _, text in sorted(self._kept, key=lambda item: (-item[0], item[1]))]
