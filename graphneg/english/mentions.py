"""Whether a text says a keyword, in whatever form, and whether it comes to the end of a sentence.

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
    """Whether a text says all words of a keyword, in whatever form."""
    return mentions(words_of(text), keyword.split())


def mentions(words: Sequence[str], keyword: Sequence[str]) -> bool:
    """Whether all words of a keyword are among the words, in whatever form.

    >>> mentions(["she", "borrowed", "it"], ["borrow"])
    True
    """
    there = frozenset().union(*(lemmas(word) for word in words))
    return all(lemmas(word) & there for word in keyword)


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does: not with an abbreviation, or a number that may go on.

    >>> [ends_sentence(text) for text in ("He is late.", "Ask Mr.", "It costs 3.")]
    [True, False, False]
    """
    if not _SENTENCE_END.search(text):
        return False
    return text.split()[-1].rstrip('.!?"”').lower() not in _ABBREVIATED
