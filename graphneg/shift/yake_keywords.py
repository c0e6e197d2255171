"""Keywords by YAKE (Campos et al. 2020), of nouns, adjectives and verbs, as CAPT takes them (section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphneg.errors import InputError
from graphneg.shift.keywords import MAX_WORDS, Keyword
from graphneg.shift.words import Word, WordReader, key_of

_CANDIDATES = 100
_KEPT = 20


class YakeExtractor:
    """YAKE's keywords that are phrases (``WordReader.is_phrase``) without a stop word.

    YAKE scores ``h`` from 0, lower for better; a keyword's score is ``1 / (1 + h)``.

    Raises:
        InputError: YAKE is not installed.
    """

    def __init__(self, reader: WordReader) -> None:
        self._reader = reader
        self._yake: Any = _yake(reader.language)
        self.name = f"yake {reader.name}"
        self.notes = reader.notes

    def extract(self, texts: Sequence[str]) -> list[list[Keyword]]:
        return [
            self._keywords(text, words) for text, words in zip(texts, self._reader.read(texts), strict=True)
        ]

    def _keywords(self, text: str, words: Sequence[Word]) -> list[Keyword]:
        if not any(word.kind for word in words):
            return []
        parts = [word for word in words if word.text != "-"]
        forms = [word.text.lower() for word in parts]
        stops: set[str] = self._yake.stopword_set
        found: dict[str, Keyword] = {}
        for phrase, h in self._yake.extract_keywords(text):
            wanted = phrase.lower().replace("-", " ").split()
            for at in _places(wanted, forms):
                matched = parts[at : at + len(wanted)]
                if self._reader.is_phrase(matched) and stops.isdisjoint(wanted):
                    key = key_of(matched)
                    score = 1 / (1 + max(0.0, float(h)))
                    if key and (key not in found or found[key].score < score):
                        found[key] = Keyword(key, score, tuple(word.text for word in matched))
                    break
        return sorted(found.values(), key=lambda one: (-one.score, one.text))[:_KEPT]


def _places(wanted: Sequence[str], forms: Sequence[str]) -> list[int]:
    """Where a phrase stands among words; nowhere, where YAKE splits words otherwise than spaCy."""
    size = len(wanted)
    return [at for at in range(len(forms) - size + 1) if list(forms[at : at + size]) == list(wanted)]


def _yake(language: str) -> Any:
    try:
        from yake import KeywordExtractor
    except ImportError as error:
        raise InputError(
            "keywords by YAKE need the package yake: pip install 'graphneg[keywords]', "
            "or take --keywords rake, which needs nothing"
        ) from error
    return KeywordExtractor(lan=language, n=MAX_WORDS, top=_CANDIDATES)
