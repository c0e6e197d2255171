"""Splits an utterance into sentences, by its tokens: these models were trained on one at a time."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphneg.alignment import tokenize

_END = frozenset({".", "!", "?", "…", "。", "！", "？"})
_CLOSING = frozenset({'"', "'", "”", "’", ")", "]", "»", *_END})
_DOTS = re.compile(r"\.{2,}$")


class Sentence(NamedTuple):
    """A sentence and the number of its first token in the whole text."""

    text: str
    first_token: int


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a text, as its end marks divide it; its tokens are theirs, in order.

    Dots end a sentence only where the next word begins with a capital or a digit.

    >>> [sentence.text for sentence in split_sentences("Mr. Wu left... why? I asked him .")]
    ['Mr. Wu left... why?', 'I asked him .']
    """
    tokens = tokenize(text)
    found: list[Sentence] = []
    first = 0
    for place, token in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        if after is None or _divides(token.text, after.text):
            found.append(Sentence(text[tokens[first].start : token.end], first))
            first = place + 1
    return found


def _divides(token: str, after: str) -> bool:
    """Whether a sentence ends between two tokens: behind the end mark and what closes with it."""
    if after in _CLOSING or not (token in _CLOSING or _DOTS.match(token)):
        return False
    if token in _END - {"."}:
        return True
    starts = after[0].isupper() or after[0].isdigit() or not after[0].isalnum()
    return starts and (token == "." or bool(_DOTS.match(token)))
