"""What a keyword is, and how extractors are had by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphneg.errors import InputError

EXTRACTORS = ("yake", "rake")
MAX_WORDS = 3


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a text.

    ``text`` is its key, the lemmas of its words in lower case, as AMR graphs and ConceptNet have them;
    ``words`` are the words as the text has them. ``score`` is in (0, 1], higher for more salient ones.
    """

    text: str
    score: float
    words: tuple[str, ...]


class KeywordExtractor(Protocol):
    """Finds the keywords of texts.

    ``name`` says which method, language and model it is; ``notes`` what a user should know of it.
    """

    name: str
    notes: tuple[str, ...]

    def extract(self, texts: Sequence[str]) -> list[list[Keyword]]:
        """The keywords of each text, the most salient first; no two of one text have the same key."""
        ...


def get_extractor(name: str = "yake", language: str = "en", model: str | None = None) -> KeywordExtractor:
    """The extractor ``yake`` or ``rake`` for a language.

    ``model`` is a spaCy pipeline, by package or path, that tells parts of speech and lemmas; else
    an installed one of the language. Where there is none, keywords are words that are no stop
    words, under their own forms; ``notes`` says so.

    Raises:
        InputError: no such extractor, language or model, or a package is not installed.
    """
    if name not in EXTRACTORS:
        raise InputError(f"keyword extractor {name!r}: choose one of {', '.join(EXTRACTORS)}")
    from graphneg.shift.words import WordReader

    reader = WordReader(language, model)
    if name == "rake":
        from graphneg.shift.rake import RakeExtractor

        return RakeExtractor(reader)
    from graphneg.shift.yake_keywords import YakeExtractor

    return YakeExtractor(reader)


def extractor_named(name: str | None) -> KeywordExtractor:
    """The extractor that a shift graph was made with, by the name that it notes; None is the default.

    Raises:
        InputError: the name is none of graphneg's own, or its language or a package is not installed.
    """
    if name is None:
        return get_extractor()
    kind, _, reader = name.partition(" ")
    if kind not in EXTRACTORS or not reader:
        raise InputError(
            f"the shift graph's keywords were found by {name!r}: give that extractor (keywords=) to find "
            "those of a post of your own"
        )
    return get_extractor(kind, reader.partition("_")[0])
