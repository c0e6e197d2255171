"""Splits English text into tokens that remember where they stood.

Works on raw text (``I don't know, sir.``) and on tokenised text (``I do n't know , sir .``) alike:
both give the same token texts, with the character offsets of their own text.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Token(NamedTuple):
    """A token and its place: ``text == source[start:end]``."""

    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"""
      (?:https?://|www\.)\S+
    | [\w.+-]+@[\w-]+\.[\w.]+\w
    | n['’]t\b
    | ['’](?:s|m|re|ll|ve|d)\b
    | (?:[^\W\d_]\.){2,}
    | (?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc)\.
    | \.{2,} | -{2,}
    | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th|am|pm)?(?:-[^\W\d_]+)*
    | [^\W\d_][\w]*(?:['’][^\W\d_]+)*(?:-\w+(?:['’][^\W\d_]+)*)*
    | \w+
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLITIC = re.compile(r"(?P<stem>.+?)(?P<clitic>n['’]t|['’](?:s|m|re|ll|ve|d))$", re.IGNORECASE)
_CANNOT = re.compile(r"(can)(not)$", re.IGNORECASE)


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of a text, contractions split.

    >>> [token.text for token in tokenize("I can't, sir.")]
    ['I', 'ca', "n't", ',', 'sir', '.']
    """
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        tokens.extend(_split(match.group(), match.start()))
    return tuple(tokens)


def _split(word: str, start: int) -> list[Token]:
    """Cuts clitics off the end of a word: ``shouldn't've`` has two."""
    found: list[Token] = []
    end = start + len(word)
    while match := _CLITIC.match(word) or _CANNOT.match(word):
        stem, clitic = match.groups()
        found.append(Token(clitic, end - len(clitic), end))
        word, end = stem, end - len(clitic)
    found.append(Token(word, start, end))
    return found[::-1]
