"""Randomness from names: the same seed gives the same choices, whatever the order or the server."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


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
