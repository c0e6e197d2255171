"""Texts as people write them, where a corpus has a space before each mark.

DailyDialog writes ``I ’ ll come , then .`` A model that reads this writes worse, and learns to
write it. So models see texts closed up; what they write gets the corpus' spaces back, or a
ranker could tell it by them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_APART = re.compile(r"(?<=\w) ?(?:['’‘´] ?| ['’‘´])(?=(?:s|m|d|t|ll|re|ve)\b)", re.IGNORECASE)
_BEFORE_MARK = re.compile(r"\s+(?=[,.!?;:%…])")
_BEHIND_MARK = re.compile(r"([?!,;]|(?<=[a-z]{2})\.)(?=[A-Za-z])")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "´": "'", "`": "'", "“": '"', "”": '"'})
_MARK = re.compile(r"\s*([,.!?;:]+)(?=\s|$)")
_HALF = 0.5


def closed_up(text: str) -> str:
    """The text on one line, with marks where they belong and plain quotation marks.

    >>> closed_up("I ’ ll come , then .Is it far ?")
    "I'll come, then. Is it far?"
    """
    joined = _APART.sub("'", " ".join(text.split()))
    joined = _BEFORE_MARK.sub("", joined.translate(_QUOTES))
    return _BEHIND_MARK.sub(r"\1 ", joined)


def spaced_as(text: str, others: Sequence[str]) -> str:
    """The text with a space before its marks where most of the other texts have one.

    >>> spaced_as("Yes, it is.", ["Is it far , then ?", "No ."])
    'Yes , it is .'
    >>> spaced_as("Yes, it is.", ["Is it far, then?"])
    'Yes, it is.'
    """
    marks = [found for other in others for found in _MARK.finditer(other)]
    apart = sum(found.group(0)[0].isspace() for found in marks)
    if apart <= _HALF * len(marks):
        return text
    return _MARK.sub(r" \1", text)
