"""Derive random choices and fingerprints from hashes, so that they are the same on every machine.

A choice depends on a seed and on names alone, not on the order of the calls or on the server:

>>> shuffled(["tea", "coffee", "milk"], 0, "drinks") == shuffled(["milk", "tea", "coffee"], 0, "drinks")
True
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
"""Number of bytes to read at each end of a large file."""


def number(seed: int, *names: str) -> int:
    """Return a uniformly distributed 64-bit number for a seed and names.

    Args:
        seed: The seed.
        *names: Strings that the number depends on.

    Returns:
        The number, from 0 to 2**64 - 1.

    Example:
        >>> number(0, "a") == number(0, "a"), number(0, "a") == number(1, "a")
        (True, False)
    """
    # The separator keeps ("a", "bc") and ("ab", "c") apart.
    written = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "big")


def shuffled(items: Iterable[T], seed: int, *names: str) -> list[T]:
    """Return items in a random order that depends on the seed and the names alone.

    Args:
        items: Items with different ``str`` values.
        seed: The seed.
        *names: Strings that the order depends on.

    Returns:
        The items in the new order.
    """
    return sorted(items, key=lambda item: (number(seed, *names, str(item)), str(item)))


def fingerprint(facts: Any) -> str:
    """Return a short hash of a value.

    Args:
        facts: Any value. Keys of dicts are sorted, and what JSON does not know counts by its ``str``.

    Returns:
        32 hexadecimal digits.

    Example:
        >>> fingerprint({"seed": 0, "recipe": "deam"}) == fingerprint({"recipe": "deam", "seed": 0})
        True
    """
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def files_digest(files: Iterable[Path]) -> str:
    """Return a hash of large files that reads only their names, sizes, beginnings and ends.

    Args:
        files: Files in any order.

    Returns:
        8 hexadecimal digits.
    """
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
    """A random sample of a stream: the items with the lowest numbers, whatever their order.

    Of items with the same number, the first one is kept. With a hash of its text as its number, an item is
    sampled only once.

    Example:
        >>> sample = HashSample[str](2)
        >>> for draw, item in (9, "c"), (4, "a"), (1, "b"), (1, "other"):
        ...     sample.offer(draw, item)
        >>> sample.items()
        ['b', 'a']
    """

    def __init__(self, size: int) -> None:
        """Initialize an empty sample.

        Args:
            size: Maximum number of items.
        """
        self._size = size
        self._items: dict[int, T] = {}
        self._heap: list[int] = []

    def offer(self, draw: int, item: T) -> None:
        """Keep an item if its number is among the lowest so far.

        Args:
            draw: Number of the item.
            item: The item.
        """
        # The same text was offered before.
        if draw in self._items:
            return
        self._items[draw] = item
        # Negated, because the heap gives the smallest and the largest number must go.
        heapq.heappush(self._heap, -draw)
        if len(self._heap) > self._size:
            del self._items[-heapq.heappop(self._heap)]

    def items(self) -> list[T]:
        """Return the sample, lowest number first. Any prefix of it is a random sample, too."""
        return [self._items[draw] for draw in sorted(self._items)]
