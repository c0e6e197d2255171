"""Texts as people write them, where a corpus has spaces before marks and around apostrophes.

DailyDialog writes ``I ’ ll come , then .`` A model that reads this writes worse, and learns to write it. So
models see texts closed up; what they write gets the corpus' spaces back, or a ranker could tell it by them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphneg.english.tokens import one_line

_CLITIC_APART = re.compile(r"(?<=\w) ?(['’]) ?(?=(?:s|t|m|d|re|ve|ll|S|T|M|D|Re|Ve|Ll)\b)")
_ANY_APART = re.compile(r"(?<=\w) ?(?:['’‘´] ?| ['’‘´])(?=(?:s|m|d|t|ll|re|ve)\b)", re.IGNORECASE)
_BOTH_APART = re.compile(r"(?<=\w) (['’]) (s|m|re|ll|ve|d|t)\b", re.IGNORECASE)
_NOT = re.compile(r" ?n(['’])t\b", re.IGNORECASE)
_JOINED = re.compile(r" ?(['’])(s|m|re|ll|ve|d)\b", re.IGNORECASE)
_BEFORE_MARK = re.compile(r"\s+(?=[,.!?;:%…])")
_BEHIND_MARK = re.compile(r"([?!,;]|(?<=[a-z]{2})\.)(?=[A-Za-z])")
_SPACE_BEFORE = re.compile(r"\s+([.,!?;:)%]|['’](?:s|m|d|re|ve|ll)\b|n['’]t\b)")
_QUOTES = str.maketrans({"‘": "'", "’": "'", "´": "'", "`": "'", "“": '"', "”": '"'})
_MARK = re.compile(r"\s*([,.!?;:]+)(?=\s|$)")
_HALF = 0.5


def with_clitics(text: str) -> str:
    """The text, its clitics joined to their words where some program cut them off.

    >>> with_clitics("I ' m sure they don ’ t.")
    "I'm sure they don’t."
    """
    return _CLITIC_APART.sub(r"\1", text) if "'" in text or "’" in text else text


def joined_tokens(text: str) -> str:
    """A text that was cut into tokens, written as people write.

    >>> joined_tokens("They do n't know , but it 's Ann ' s .")
    "They don't know, but it's Ann's."
    """
    joined = _SPACE_BEFORE.sub(r"\1", with_clitics(one_line(text)))
    return joined.replace("( ", "(").replace("$ ", "$").replace("`` ", '"').replace(" ''", '"')


def closed_up(text: str) -> str:
    """The text on one line, with marks where they belong and plain quotation marks.

    >>> closed_up("I ’ ll come , then .Is it far ?")
    "I'll come, then. Is it far?"
    """
    joined = _ANY_APART.sub("'", one_line(text))
    joined = _BEFORE_MARK.sub("", joined.translate(_QUOTES))
    return _BEHIND_MARK.sub(r"\1 ", joined)


def spaced_as(text: str, others: Sequence[str]) -> str:
    """The text with a space before its marks where most of the other texts have one.

    >>> spaced_as("Yes, it is.", ["Is it far , then ?", "No ."])
    'Yes , it is .'
    >>> spaced_as("Yes, it is.", ["Is it far, then?"])
    'Yes, it is.'
    """
    marks = [match for other in others for match in _MARK.finditer(other)]
    apart = sum(match.group(0)[0].isspace() for match in marks)
    return text if apart <= _HALF * len(marks) else _MARK.sub(r" \1", text)


def stands_apart(text: str) -> bool:
    """Whether the apostrophes of all contractions stand apart on both sides: ``It ’ s late``.

    >>> stands_apart("It ’ s late ."), stands_apart("It's late.")
    (True, False)
    """
    return _BOTH_APART.search(text) is not None and taken_apart(joined(text)) == text


def joined(text: str) -> str:
    """A text whose apostrophes stand apart on both sides, with them joined.

    >>> joined("It ’ s late , I don ’ t know .")
    'It’s late , I don’t know .'
    """
    return _BOTH_APART.sub(r"\1\2", text)


def taken_apart(text: str, like: str = "") -> str:
    """The text with the apostrophes of its contractions apart, all of them as in the text ``like``.

    >>> taken_apart("It’s late , I do n’t know .")
    'It ’ s late , I don ’ t know .'
    >>> taken_apart("You're late .", like="I ’ m late .")
    'You ’ re late .'
    """
    match = _BOTH_APART.search(like)
    mark = match.group(1) if match is not None else r"\1"
    return _JOINED.sub(rf" {mark} \2", _NOT.sub(rf"n {mark} t", text))
