"""Texts that nearly say what another has said, found among all that came before (MinHash, Broder 1997).

A text goes in; whether one that is nearly the same went in before comes out. Two texts are compared by their
sets of words: where these have a share of 0.8 in common (Jaccard index), the signatures agree in a band 96
times in a hundred; what agrees in one is compared word by word. A text takes half a kilobyte.

>>> seen = NearDuplicates()
>>> seen.add("I lost my new umbrella on the bus."), seen.add("I lost my umbrella on the new bus!")
(True, False)
"""

from __future__ import annotations

import zlib
from array import array
from functools import lru_cache

import numpy as np

from graphneg.english.tokens import words_of

NEAR = 0.8
"""The share of common words from which on texts are nearly the same."""
_BANDS, _ROWS = 6, 4
_PRIME = np.uint64((1 << 31) - 1)
_FACTORS, _TERMS = np.random.Generator(np.random.PCG64(0)).integers(
    1, (1 << 31) - 1, (2, _BANDS * _ROWS), dtype=np.uint64
)


class NearDuplicates:
    """The texts so far, as signatures and hashes of their words."""

    def __init__(self) -> None:
        self._bands: dict[int, list[int]] = {}
        self._words: list[array[int]] = []

    def add(self, text: str) -> bool:
        """Take a text in, if none that is nearly the same is here; whether it was taken."""
        words = sorted({_hash(word) for word in words_of(text)})
        if not words:
            return False
        bands = _signature(words)
        there = {number for band in bands for number in self._bands.get(band, ())}
        if any(_alike(words, self._words[number]) for number in there):
            return False
        for band in bands:
            self._bands.setdefault(band, []).append(len(self._words))
        self._words.append(array("I", words))
        return True


def _alike(words: list[int], others: array[int]) -> bool:
    common = len(set(words).intersection(others))
    return common >= NEAR * (len(words) + len(others) - common)


def _signature(words: list[int]) -> list[int]:
    """A hash of each band of the smallest values that the words have under several permutations."""
    values = np.array(words, dtype=np.uint64) % _PRIME
    least = ((values[:, None] * _FACTORS + _TERMS) % _PRIME).min(axis=0).astype(np.uint32)
    rows = least.reshape(_BANDS, _ROWS)
    return [zlib.crc32(row.tobytes(), band) << 3 | band for band, row in enumerate(rows)]


@lru_cache(maxsize=65536)
def _hash(word: str) -> int:
    return zlib.crc32(word.encode())
