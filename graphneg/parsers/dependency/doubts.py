"""What the parser doubts about a text as a whole: a length that takes several pieces, another language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from graphneg.parsers.dependency.lexicon import load_lexicon

_WORD = re.compile(r"[^\W\d_]{2,}")
_FEWEST = 4
_MOST = 200
_KNOWN_SHARE = 0.35
_LATIN_SHARE = 0.5
_LATIN_ENDS = "ʰ"


def doubts(text: str, pieces: int) -> Iterator[str]:
    """Warnings about a text that was read as so many pieces.

    >>> list(doubts("Ich habe heute keine Zeit.", 1))
    ['language: few of its words are English']
    >>> list(doubts("I have no time today.", 1))
    []
    """
    if pieces > 1:
        yield f"long: {len(text):,} characters were read in {pieces:,} pieces, each by itself"
    if not _is_english(text):
        yield "language: few of its words are English"


def _is_english(text: str) -> bool:
    """Whether the first of its words may be English; too few words tell nothing."""
    words: list[str] = []
    for match in _WORD.finditer(text):
        words.append(match.group().lower())
        if len(words) == _MOST:
            break
    letters = "".join(words)
    if sum(letter < _LATIN_ENDS for letter in letters) < _LATIN_SHARE * len(letters):
        return False
    return len(words) < _FEWEST or sum(map(_is_known, words)) >= _KNOWN_SHARE * len(words)


@lru_cache(maxsize=65536)
def _is_known(word: str) -> bool:
    return word in _closed() or (word.isascii() and _has_lemma(word))


@lru_cache(maxsize=1)
def _closed() -> frozenset[str]:
    """Words of annotated graphs' sentences: the short ones that a dictionary of inflections leaves out."""
    return frozenset(lemma for lemma, _ in load_lexicon().concepts)


def _has_lemma(word: str) -> bool:
    from lemminflect import getAllLemmas

    found: dict[str, tuple[str, ...]] = getAllLemmas(word)
    return bool(found)
