"""Find keywords in a text in any inflected form, and recognise the end of a sentence.

Generated texts must contain given keywords, and must end with a complete sentence. A keyword that consists
of several words counts as mentioned if each of its words shares a lemma with a word of the text.

>>> contains_keyword("She borrowed two ladders.", "ladder"), contains_keyword("She climbed it.", "ladder")
(True, False)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphneg.english.tokens import words_of
from graphneg.english.words import lemmas

_SENTENCE_END = re.compile(r"[^\W\d_][.!?][\"”]?$")
_ABBREVIATED = frozenset({"mr", "mrs", "ms", "dr", "st", "prof", "no", "vs", "etc", "a.m", "p.m"})


def contains_keyword(text: str, keyword: str) -> bool:
    """Return whether a text contains all words of a keyword, in any inflected form.

    Args:
        text: The text to search.
        keyword: One or more words separated by spaces. Their order and position in the text do not matter.

    Returns:
        True if the text contains all words of the keyword.
    """
    return mentions(words_of(text), keyword.split())


def mentions(words: Sequence[str], keyword: Sequence[str]) -> bool:
    """Return whether a list of words contains all words of a keyword, in any inflected form.

    >>> mentions(["she", "borrowed", "it"], ["borrow"])
    True

    Args:
        words: Words of the text.
        keyword: The words of the keyword.

    Returns:
        True if each word of the keyword shares a lemma with a word of the text.
    """
    there = frozenset().union(*(lemmas(word) for word in words))
    return all(lemmas(word) & there for word in keyword)


def ends_sentence(text: str) -> bool:
    """Return whether a text ends like a complete sentence.

    >>> [ends_sentence(text) for text in ("He is late.", "Ask Mr.", "It costs 3.")]
    [True, False, False]

    Args:
        text: The text, which may have been truncated.

    Returns:
        False if the text has no end mark, or if its last word is an abbreviation or a number that may have
        been cut (*3* of *3.5*).
    """
    if not _SENTENCE_END.search(text):
        return False
    return text.split()[-1].rstrip('.!?"”').lower() not in _ABBREVIATED
