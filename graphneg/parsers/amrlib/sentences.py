"""Splits an utterance into sentences, by its tokens: these models were trained on one at a time."""

from __future__ import annotations

import re
from typing import NamedTuple

from graphneg.alignment import tokenize

_SURE = frozenset({"!", "?", "…", "。", "！", "？"})
_DOTS = re.compile(r"\.+")
_CLOSING = frozenset({"”", "’", ")", "]", "»"})
_QUOTE = '"'


class Sentence(NamedTuple):
    """A sentence and the number of its first token in the whole text."""

    text: str
    first_token: int


def split_sentences(text: str) -> list[Sentence]:
    """The sentences of a text, as its end marks divide it; its tokens are theirs, in order.

    Dots, and marks inside quotes, end a sentence only where the next word does not begin small.

    >>> [sentence.text for sentence in split_sentences("Mr. Wu left... why? I asked him .")]
    ['Mr. Wu left... why?', 'I asked him .']
    """
    tokens = tokenize(text)
    found: list[Sentence] = []
    first = 0
    sure = ended = quoting = False
    for place, token in enumerate(tokens):
        if token.text == _QUOTE:
            quoting = not quoting
        closes = token.text in _CLOSING or (token.text == _QUOTE and not quoting)
        sure = token.text in _SURE
        ended = sure or bool(_DOTS.fullmatch(token.text)) or (ended and closes)
        after = tokens[place + 1].text if place + 1 < len(tokens) else None
        if after is None or (ended and _begins(after, quoting) and (sure or not after[0].islower())):
            found.append(Sentence(text[tokens[first].start : token.end], first))
            first, ended = place + 1, False
    return found


def _begins(token: str, quoting: bool) -> bool:
    """Whether a token may begin a sentence: no end mark, and nothing that closes one."""
    closes = token in _CLOSING or (token == _QUOTE and quoting)
    return not (closes or token in _SURE or _DOTS.fullmatch(token))
