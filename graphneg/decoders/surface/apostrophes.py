"""Texts whose apostrophes stand apart on both sides: ``It ’ s late``, ``I don ’ t know``.

They are read as if they were joined to their words, and written back as they were.
"""

from __future__ import annotations

import re

_APART = re.compile(r"(?<=\w) (['’]) (s|m|re|ll|ve|d|t)\b", re.IGNORECASE)
_NOT = re.compile(r" ?n(['’])t\b", re.IGNORECASE)
_JOINED = re.compile(r" ?(['’])(s|m|re|ll|ve|d)\b", re.IGNORECASE)


def stands_apart(text: str) -> bool:
    """Whether all of a text's contractions are written that way.

    >>> stands_apart("It ’ s late ."), stands_apart("It's late.")
    (True, False)
    """
    return _APART.search(text) is not None and taken_apart(joined(text)) == text


def joined(text: str) -> str:
    """The text with its contractions joined.

    >>> joined("It ’ s late , I don ’ t know .")
    'It’s late , I don’t know .'
    """
    return _APART.sub(r"\1\2", text)


def taken_apart(text: str, like: str = "") -> str:
    """The text with the apostrophes of its contractions apart, all of them as in the text ``like``.

    >>> taken_apart("It’s late , I do n’t know .")
    'It ’ s late , I don ’ t know .'
    >>> taken_apart("You're late .", like="I ’ m late .")
    'You ’ re late .'
    """
    found = _APART.search(like)
    mark = found.group(1) if found is not None else r"\1"
    return _JOINED.sub(rf" {mark} \2", _NOT.sub(rf"n {mark} t", text))
