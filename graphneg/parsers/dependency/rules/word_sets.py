"""Sets of words, written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text, apart by blanks.

    >>> sorted(word_set("he she it"))
    ['he', 'it', 'she']
    """
    return frozenset(text.split())
