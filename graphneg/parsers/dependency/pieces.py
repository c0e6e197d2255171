"""Cuts texts into pieces that are cheap to parse, with the characters in their places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

LONGEST = 1000
_CUT = re.compile(r"[.!?…。！？]+[\"'”’)\]]*\s")
_NO_TEXT = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp", "Zs"})


def readable(text: str) -> str:
    """The text with a space for each character that is none, of the same length.

    >>> readable("a\\x00b\\ud800")
    'a b '
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        " " if not one.isprintable() and unicodedata.category(one) in _NO_TEXT else one for one in text
    )


def pieces(text: str, longest: int = LONGEST) -> Iterator[tuple[int, str]]:
    """The text's pieces with their places, none longer than ``longest`` characters.

    Cut behind the last end of a sentence that fits, else at a space, else anywhere.

    >>> list(pieces("It rained. We stayed in.", 14))
    [(0, 'It rained. '), (11, 'We stayed in.')]
    """
    start = 0
    while len(text) - start > longest:
        window = text[start : start + longest]
        ends = [match.end() for match in _CUT.finditer(window)]
        cut = ends[-1] if ends else window.rfind(" ") + 1 or longest
        yield start, window[:cut]
        start += cut
    if start < len(text) or not text:
        yield start, text[start:]
