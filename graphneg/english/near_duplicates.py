"""Find texts that nearly say what another text says (MinHash, Broder 1997).

Two texts are compared by their sets of words in the normal form of `graphneg.english.tokens.match_key`: where
these have a share of `NEAR` in common (Jaccard index), one is a near-duplicate of the other. `NearDuplicates`
remembers all texts that came before; a text takes half a kilobyte. `NearTexts` compares with a few texts.
`Signature` is for what grows: the signature of a context is that of its turns together.

>>> seen = NearDuplicates()
>>> seen.add("I lost my new umbrella on the bus."), seen.add("I lost my umbrella on the new bus!")
(True, False)
>>> "We 'll come at seven o’clock ." in NearTexts(["We'll come at seven o'clock!"])
True
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from graphneg.english.tokens import match_key, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 0.8
"""The share of common words from which on texts are nearly the same."""
BANDS, _ROWS = 6, 4
"""Two texts with a share of `NEAR` agree in one of the bands 96 times in a hundred."""
_PRIME = np.uint64((1 << 31) - 1)
_FACTORS, _TERMS = np.random.Generator(np.random.PCG64(0)).integers(
    1, (1 << 31) - 1, (2, BANDS * _ROWS), dtype=np.uint64
)


def word_hashes(text: str) -> frozenset[int]:
    """Return hashes of the words of a text, however it is written.

    >>> word_hashes("I do n't know .") == word_hashes("I don’t know!")
    True
    """
    return frozenset(map(_hash, words_of(match_key(text))))


def are_near(words: Collection[int], others: Collection[int]) -> bool:
    """Return whether two sets of words have a share of `NEAR` in common; empty sets have none."""
    common = len(set(words).intersection(others))
    return common > 0 and common >= NEAR * (len(words) + len(others) - common)


class Signature:
    """The MinHash signature of a set of words that grows."""

    def __init__(self) -> None:
        self.words: set[int] = set()
        self._least = np.full(BANDS * _ROWS, _PRIME, dtype=np.uint64)

    def add(self, words: Iterable[int]) -> None:
        """Take words in, by their hashes."""
        new = set(words) - self.words
        if new:
            self.words |= new
            values = np.array(list(new), dtype=np.uint64) % _PRIME
            self._least = np.minimum(
                self._least, ((values[:, None] * _FACTORS + _TERMS) % _PRIME).min(axis=0)
            )

    def bands(self) -> list[int]:
        """Return a hash of each band of the smallest values under several permutations, shape (BANDS)."""
        rows: NDArray[np.uint32] = self._least.astype(np.uint32).reshape(BANDS, _ROWS)
        return [zlib.crc32(row.tobytes(), band) for band, row in enumerate(rows)]


class NearDuplicates:
    """The texts so far, as signatures and hashes of their words."""

    def __init__(self) -> None:
        self._bands: dict[tuple[int, int], list[int]] = {}
        self._words: list[array[int]] = []

    def add(self, text: str) -> bool:
        """Add a text, unless it has no words or nearly repeats an earlier one.

        Returns:
            Whether the text was taken in.
        """
        words = word_hashes(text)
        if not words:
            return False
        signature = Signature()
        signature.add(words)
        bands = list(enumerate(signature.bands()))
        there = {number for band in bands for number in self._bands.get(band, ())}
        if any(are_near(words, self._words[number]) for number in there):
            return False
        for band in bands:
            self._bands.setdefault(band, []).append(len(self._words))
        self._words.append(array("I", sorted(words)))
        return True


class NearTexts:
    """A few texts; ``text in near_texts`` tells whether a text nearly says what one of them says."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(dict.fromkeys(texts))
        self._keys: set[str] | None = None
        self._words: list[frozenset[int]] = []

    def __contains__(self, text: str) -> bool:
        if self.has_equal(text):
            return True
        if not self._words:
            self._words = list(map(word_hashes, self._texts))
        words = word_hashes(text)
        return any(are_near(words, others) for others in self._words)

    def has_equal(self, text: str) -> bool:
        """Return whether one of the texts has the same normal form."""
        if self._keys is None:  # most are never compared with anything
            self._keys = set(map(match_key, self._texts))
        return match_key(text) in self._keys


@lru_cache(maxsize=65536)
def _hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))
