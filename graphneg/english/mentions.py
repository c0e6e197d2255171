"""Search a text for a keyword in any inflected form, and recognise the end of a sentence.

Generators must mention given keywords, and generated text must be cut where a sentence ends. A keyword counts
as mentioned if every one of its words occurs in the text with a common lemma.

>>> says("She borrowed two ladders.", "ladder"), says("She climbed it.", "ladder")
(True, False)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphneg.english.tokens import words_of
from graphneg.english.words import lemmas

_SENTENCE_END = re.compile(r"[^\W\d_][.!?][\"”]?$")
_ABBREVIATED = frozenset({"mr", "mrs", "ms", "dr", "st", "prof", "no", "vs", "etc", "a.m", "p.m"})


def says(text: str, keyword: str) -> bool:
    """Return whether a text contains all words of a keyword, in any inflected form.

    Args:
        text: The text to search.
        keyword: One or more words separated by spaces; they may occur in any order and place.

    Returns:
        Whether all of them occur.
    """
    return mentions(words_of(text), keyword.split())


def mentions(words: Sequence[str], keyword: Sequence[str]) -> bool:
    """Return whether all words of a keyword are among the given words, in any inflected form.

    >>> mentions(["she", "borrowed", "it"], ["borrow"])
    True

    Args:
        words: Words of the text.
        keyword: Words of the keyword.

    Returns:
        Whether every keyword word shares a lemma with some word of the text.
    """
    there = frozenset().union(*(lemmas(word) for word in words))
    return all(lemmas(word) & there for word in keyword)


def ends_sentence(text: str) -> bool:
    """Return whether a text ends as a sentence does.

    >>> [ends_sentence(text) for text in ("He is late.", "Ask Mr.", "It costs 3.")]
    [True, False, False]

    Args:
        text: A text, possibly cut off.

    Returns:
        False if there is no end mark, if the last word is an abbreviation, or if the last word is a number,
        which may continue (*3.5*).
    """
    if not _SENTENCE_END.search(text):
        return False
    return text.split()[-1].rstrip('.!?"”').lower() not in _ABBREVIATED
