"""Derive random choices and fingerprints from hashes, so that they are the same on every machine.

A choice depends only on a seed and on names, not on the order of the calls or on the server:

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
"""Number of bytes that `files_digest` reads at the beginning and at the end of a file."""


def number(seed: int, *names: str) -> int:
    """Hash a seed and names into a uniformly distributed 64-bit number.

    Args:
        seed: Any number. Different seeds give independent numbers for the same names.
        *names: Strings that, together with the seed, determine the number.

    Returns:
        The number, from 0 to 2**64 - 1.

    Example:
        >>> number(0, "a") == number(0, "a"), number(0, "a") == number(1, "a")
        (True, False)
    """
    # Separate the strings. Otherwise, ("a", "bc") and ("ab", "c") would give the same number.
    written = "\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(written, digest_size=8).digest(), "big")


def shuffled(items: Iterable[T], seed: int, *names: str) -> list[T]:
    """Return items in a random order that depends only on the seed, the names and the items.

    Args:
        items: Items with distinct ``str`` values.
        seed: Seed for the random order.
        *names: Strings that, together with the seed, determine the order.

    Returns:
        The items in random order.
    """
    return sorted(items, key=lambda item: (number(seed, *names, str(item)), str(item)))


def fingerprint(facts: Any) -> str:
    """Return a hash of a value, such as the settings of a run.

    Args:
        facts: The value. Dicts are sorted by key, and values that JSON cannot represent are converted into
            strings by ``str``.

    Returns:
        32 hexadecimal digits.

    Example:
        >>> fingerprint({"seed": 0, "recipe": "deam"}) == fingerprint({"recipe": "deam", "seed": 0})
        True
    """
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:32]


def files_digest(files: Iterable[Path]) -> str:
    """Hash large files quickly: only their names, sizes, beginnings and ends are hashed.

    Args:
        files: Paths of the files, in any order.

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
    """A random sample of a stream, which does not depend on the order of the stream.

    Each item is passed to `offer` with a random number, and the items with the lowest numbers are kept. If
    several items have the same number, only the first of them is kept. If the number is a hash of a text, a
    text is therefore sampled at most once.

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
            size: Maximum number of items in the sample.
        """
        self._size = size
        self._items: dict[int, T] = {}
        self._heap: list[int] = []

    def offer(self, draw: int, item: T) -> None:
        """Keep an item if its random number is one of the ``size`` lowest so far.

        Args:
            draw: Random number of the item, for example a hash of its text.
            item: The item to keep or ignore.
        """
        # Keep only the first of several items with the same number. If the numbers are hashes of texts, these
        # items have the same text.
        if draw in self._items:
            return
        self._items[draw] = item
        # The item with the largest random number must be removed first, but `heapq` pops the smallest entry.
        # The heap therefore contains negated numbers.
        heapq.heappush(self._heap, -draw)
        if len(self._heap) > self._size:
            del self._items[-heapq.heappop(self._heap)]

    def items(self) -> list[T]:
        """Return the sampled items, sorted by their random numbers. The first N are a sample of size N."""
        return [self._items[draw] for draw in sorted(self._items)]
