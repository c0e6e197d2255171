"""Find near-duplicate texts with MinHash (Broder 1997).

A negative must not nearly repeat a correct response or another negative. Two texts are compared by their sets
of words, after `graphneg.english.tokens.match_key` has normalised the texts. They are near-duplicates if the
Jaccard index of their sets is at least `NEAR`.

`NearDuplicates` compares a text with all texts that were added to it. It finds candidates by
locality-sensitive hashing, and needs about half a kilobyte per text. `NearTexts` compares a text with a
short, fixed list of texts. `Signature` is the MinHash signature of a set of words that grows, for example
with each turn of a dialogue.

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
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from graphneg.english.tokens import match_key, words_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NEAR = 0.8
"""Minimum Jaccard index of the word sets of near-duplicates."""
# If two texts have the Jaccard index s, they agree in at least one of the 6 bands with the probability
# 1 - (1 - s**4)**6. This probability is 96% for s = 0.8 and 32% for s = 0.5.
BANDS, _ROWS = 6, 4
"""Number of bands in a MinHash signature, and number of values per band."""
_PRIME = (1 << 31) - 1


@cache
def _linear_functions() -> NDArray[np.uint64]:
    """Return a and b of the random linear functions ax + b of MinHash, in two rows."""
    # Import NumPy at the first use, because most commands do not need it.
    import numpy as np

    return np.random.Generator(np.random.PCG64(0)).integers(1, _PRIME, (2, BANDS * _ROWS), dtype=np.uint64)


def word_hashes(text: str) -> frozenset[int]:
    """Return the hashes of the words of a text, after normalising the text.

    >>> word_hashes("I do n't know .") == word_hashes("I don’t know!")
    True

    Args:
        text: Raw or tokenised text.

    Returns:
        32-bit hashes, one for each distinct word.
    """
    return frozenset(map(_hash, words_of(match_key(text))))


def are_near(words: Collection[int], others: Collection[int]) -> bool:
    """Return whether two sets of words have a Jaccard index of at least `NEAR`.

    Args:
        words: Word hashes of one text.
        others: Word hashes of the other text.

    Returns:
        True if the texts are near-duplicates; always False for texts without a common word.
    """
    common = len(set(words).intersection(others))
    return common > 0 and common >= NEAR * (len(words) + len(others) - common)


class Signature:
    """The MinHash signature of a growing set of words.

    Attributes:
        words: The word hashes added so far.
    """

    def __init__(self) -> None:
        import numpy as np

        self.words: set[int] = set()
        self._least = np.full(BANDS * _ROWS, _PRIME, dtype=np.uint64)

    def add(self, words: Iterable[int]) -> None:
        """Add words to the set, and update the signature of the set.

        Args:
            words: Word hashes, as `word_hashes` returns them.
        """
        import numpy as np

        new = set(words) - self.words
        if new:
            self.words |= new
            factors, terms = _linear_functions()
            values = np.array(list(new), dtype=np.uint64) % np.uint64(_PRIME)
            # MinHash: each random linear function modulo a prime permutes the hashes of the words. Keep the
            # minimum for each function.
            hashes = (values[:, None] * factors + terms) % np.uint64(_PRIME)
            self._least = np.minimum(self._least, hashes.min(axis=0))

    def bands(self) -> list[int]:
        """Return one hash for each band of the signature.

        Returns:
            `BANDS` hashes. If two sets of words agree in at least one of them, they may be near-duplicates.
        """
        import numpy as np

        rows: NDArray[np.uint32] = self._least.astype(np.uint32).reshape(BANDS, _ROWS)
        return [zlib.crc32(row.tobytes(), band) for band, row in enumerate(rows)]


class NearDuplicates:
    """An index of texts. `add` refuses a text that nearly duplicates a text in the index."""

    def __init__(self) -> None:
        self._bands: dict[tuple[int, int], list[int]] = {}
        self._words: list[array[int]] = []

    def add(self, text: str) -> bool:
        """Add a text, unless it has no words or is a near-duplicate of a text in the index.

        Args:
            text: The text to add.

        Returns:
            True if the text was added.
        """
        words = word_hashes(text)
        if not words:
            return False
        signature = Signature()
        signature.add(words)
        bands = list(enumerate(signature.bands()))
        there = {number for band in bands for number in self._bands.get(band, ())}
        # Texts whose signatures agree in a band may still differ, so compute the exact Jaccard index of the
        # word sets.
        if any(are_near(words, self._words[number]) for number in there):
            return False
        for band in bands:
            self._bands.setdefault(band, []).append(len(self._words))
        self._words.append(array("I", sorted(words)))
        return True


class NearTexts:
    """A list of texts; ``text in near_texts`` tests whether a text is a near-duplicate of one of them."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Initialize the list.

        Args:
            texts: The texts of the list; exact duplicates are removed.
        """
        self._texts = list(dict.fromkeys(texts))
        self._keys: set[str] | None = None
        self._words: list[frozenset[int]] = []

    def __contains__(self, text: str) -> bool:
        """Return whether ``text`` is a near-duplicate of one of the texts in this list."""
        if self.has_equal(text):
            return True
        if not self._words:
            self._words = list(map(word_hashes, self._texts))
        words = word_hashes(text)
        return any(are_near(words, others) for others in self._words)

    def has_equal(self, text: str) -> bool:
        """Return whether the list contains the text, regardless of letter case and spacing.

        Args:
            text: The text to look for.

        Returns:
            True if a text of the list has the same `match_key`.
        """
        # Most callers never use this method, so compute the keys of the texts only on its first call.
        if self._keys is None:
            self._keys = set(map(match_key, self._texts))
        return match_key(text) in self._keys


@lru_cache(maxsize=65536)
def _hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))
