"""Texts that no training may see, compared without case and white space."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable

from graphneg.hashing import number


class HeldOut:
    """A set of texts, 8 bytes for each: their hashes, sorted. ``text in held_out`` asks.

    Of a million texts one in ten trillion others would be taken for one of them, and left out too.

    >>> "what  NOW?" in HeldOut(["What now?"])
    True
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._hashes = array("Q")
        self._new: set[int] = set()
        self.add(texts)

    def add(self, texts: Iterable[str]) -> None:
        self._new.update(_hash(text) for text in texts)

    def __contains__(self, text: str) -> bool:
        hashes = self._sorted()
        if not hashes:
            return False
        wanted = _hash(text)
        place = bisect_left(hashes, wanted)
        return place < len(hashes) and hashes[place] == wanted

    def __len__(self) -> int:
        return len(self._sorted())

    def digest(self) -> bytes:
        """The same for the same texts, in whatever order they came."""
        return hashlib.blake2b(self._sorted().tobytes(), digest_size=16).digest()

    def _sorted(self) -> array[int]:
        if self._new:
            self._hashes = array("Q", sorted(self._new.union(self._hashes)))
            self._new = set()
        return self._hashes


def plain(text: str) -> str:
    """A text as it is compared: case and white space do not count.

    >>> plain(" Oh,  really? ")
    'oh, really?'
    """
    return " ".join(text.casefold().split())


def _hash(text: str) -> int:
    return number(0, "held out", plain(text))
