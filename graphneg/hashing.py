"""Randomness from names, and fingerprints of settings: both are hashes, the same on every machine.

In: a seed and names, or anything that JSON can hold. Out: a number, an order, a short text. The same seed
gives the same choices, whatever the order of the calls or the server.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")
_PART = 1_000_000


def number(seed: int, *names: str) -> int:
    """A uniformly distributed 64-bit number from a seed and names.

    >>> number(0, "a") == number(0, "a"), number(0, "a") == number(1, "a")
    (True, False)
    """
    written = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "big")


def shuffled(items: Iterable[T], seed: int, *names: str) -> list[T]:
    """The items (told apart by ``str``) in an order that depends on seed and names alone."""
    return sorted(items, key=lambda item: (number(seed, *names, str(item)), str(item)))


def fingerprint(facts: Any) -> str:
    """A short text that is the same for the same facts; what JSON does not know counts by its ``str``.

    >>> fingerprint({"seed": 0, "recipe": "deam"}) == fingerprint({"recipe": "deam", "seed": 0})
    True
    """
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def files_digest(files: Iterable[Path]) -> str:
    """Tells large files apart without reading gigabytes: by their names, sizes, beginnings and ends."""
    digest = hashlib.blake2b(digest_size=4)
    for file in sorted(files):
        size = file.stat().st_size
        digest.update(f"{file.name} {size}\n".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(_PART))
            stream.seek(max(0, size - _PART))
            digest.update(stream.read(_PART))
    return digest.hexdigest()


class HashSample(Generic[T]):
    """A sample of a stream: the ``size`` items with the lowest numbers, in whatever order they come.

    Of items with the same number the first one counts, so that a number of its text makes an item distinct.

    >>> sample = HashSample[str](2)
    >>> for draw, item in (9, "c"), (4, "a"), (1, "b"), (1, "other"):
    ...     sample.offer(draw, item)
    >>> sample.items()
    ['b', 'a']
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: dict[int, T] = {}
        self._heap: list[int] = []

    def offer(self, draw: int, item: T) -> None:
        """Keep the item, for now, if its number is among the lowest."""
        if draw in self._items:
            return
        self._items[draw] = item
        heapq.heappush(self._heap, -draw)
        if len(self._heap) > self._size:
            del self._items[-heapq.heappop(self._heap)]

    def items(self) -> list[T]:
        """What was kept, lowest number first: the first few are a sample of the sample."""
        return [self._items[draw] for draw in sorted(self._items)]
