"""Keywords: extractors by name, YAKE and RAKE, and the words of texts that can be part of a keyword.

Texts go in; the `Keyword` s of each come out, the most salient first. Words, lemmas and parts of speech are
spaCy's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol

from graphneg.english.pipelines import find_pipeline, load_pipeline
from graphneg.english.words import lemma_of
from graphneg.errors import InputError

EXTRACTORS = ("yake", "rake")
MAX_WORDS = 3
_UNUSED = ["ner", "parser", "senter"]
_UNUSED_IN_ENGLISH = [*_UNUSED, "attribute_ruler", "lemmatizer"]
_LONGEST_WORD, _LONGEST_KEY, _LONGEST_TEXT = 40, 500, 20_000_000
_READING = Lock()
_DAYS = frozenset({"today", "tonight", "tomorrow", "yesterday"})

WordClass = Literal["noun", "adjective", "verb"]

_KINDS: Mapping[str, WordClass] = {
    "NN": "noun", "JJ": "adjective", "VB": "verb",
    "NOUN": "noun", "PROPN": "noun", "ADJ": "adjective", "VERB": "verb",
}  # fmt: skip
"""By the first letters of Penn Treebank's tags, and by universal parts of speech."""


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

    Raises `InputError`: no such extractor, language or model, or a package is not installed.
    """
    if name not in EXTRACTORS:
        raise InputError(f"keyword extractor {name!r}: choose one of {', '.join(EXTRACTORS)}")
    return (RakeExtractor if name == "rake" else YakeExtractor)(language, model)


def extractor_named(name: str | None) -> KeywordExtractor:
    """The extractor that a shift graph was made with, by the name that it notes; None is the default.

    Raises `InputError`: the name is none of graphneg's own, or its language or a package is not installed.
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


class KeywordToken(NamedTuple):
    """A token. ``kind`` is None for what can't be in a keyword; ``named`` tells a part of a name.

    Where no model tells parts of speech, every word that is no stop word passes for a noun.
    """

    text: str
    lemma: str
    kind: WordClass | None
    named: bool = False


class SpacyExtractor(ABC):
    """Finds keywords among the words that the spaCy pipeline of a language reads in texts.

    English lemmas are those of the dependency parser, so that keywords meet its graphs on the same
    ``Term``.

    Raises `InputError`: no such language or model.
    """

    method: str
    most: int | None = None

    def __init__(self, language: str = "en", model: str | None = None) -> None:
        self._language = language
        found = find_pipeline(model, language)
        self._nlp = _pipeline(found, language)
        self._stop_words = frozenset[str](self._nlp.Defaults.stop_words)
        meta = self._nlp.meta
        reader = f"{meta['lang']}_{meta['name']}-{meta['version']}" if found else language
        self.name = f"{self.method} {reader}"
        self.notes: tuple[str, ...] = ()
        if not found:
            self.notes = (
                f"no spaCy model for {language!r} is installed: any word that is no stop word can be a "
                "keyword, under its own form; python -m spacy download gets models",
            )

    def extract(self, texts: Sequence[str]) -> list[list[Keyword]]:
        """The keywords of each text, the most salient first.

        spaCy forgets the words that it meets here, or its vocabulary would grow with the corpus.
        """
        with _READING, self._nlp.memory_zone():
            read = [
                [self._word(token) for token in doc if not token.is_space] for doc in self._nlp.pipe(texts)
            ]
        found = (self._keywords(text, words) for text, words in zip(texts, read, strict=True))
        return [
            sorted(some, key=lambda keyword: (-keyword.score, keyword.text))[: self.most] for some in found
        ]

    @abstractmethod
    def _keywords(self, text: str, words: Sequence[KeywordToken]) -> Iterable[Keyword]:
        """Those of one text with these words, in any order; punctuation is a word of no kind."""

    def _word(self, token: Any) -> KeywordToken:
        text: str = token.text
        kind: WordClass | None
        if self.notes:
            lemma, kind = token.lower_, None if token.is_stop else "noun"
        elif self._language == "en":
            lemma, kind = lemma_of(token.lower_, token.tag_), _KINDS.get(token.tag_[:2])
        else:
            lemma, kind = (token.lemma_ or text).lower(), _KINDS.get(token.pos_)
        letters = text.replace("-", "").replace("'", "")
        is_word = 1 < len(text) <= _LONGEST_WORD and letters.isalpha() and not token.like_url
        named = is_word and (token.tag_.startswith("NNP") or token.pos_ == "PROPN")
        return KeywordToken(text, lemma, kind if is_word else None, named)

    def _is_phrase(self, words: Sequence[KeywordToken]) -> bool:
        """Whether words in a row make one keyword: a single one of a kind, or nouns with adjectives. A verb
        beside its noun (``cab spend``, ``country produce``) is no phrase that others would say again. In
        English the last word is a noun, and the day belongs to what follows it: not ``battery dead``, not
        ``work tomorrow``."""
        kinds = {word.kind for word in words}
        if None in kinds or len(words) == 1:
            return None not in kinds
        if "verb" in kinds or "noun" not in kinds:
            return False
        return self._language != "en" or (
            words[-1].kind == "noun" and _DAYS.isdisjoint(word.lemma for word in words[1:])
        )


def key_of(words: Sequence[KeywordToken]) -> str:
    """The key of a keyword: its lemmas, hyphens as spaces; empty where it would be too long for an index.

    >>> key_of([KeywordToken("Small", "small", "adjective"), KeywordToken("T-shirts", "t-shirt", "noun")])
    'small t shirt'
    """
    key = " ".join(" ".join(word.lemma for word in words).replace("-", " ").replace("_", " ").split())
    return key if len(key.encode()) <= _LONGEST_KEY else ""


@lru_cache(maxsize=4)
def _pipeline(model: str | None, language: str) -> Any:
    """A spaCy pipeline by package or path; without one, an empty one of the language."""
    import spacy

    unused = _UNUSED_IN_ENGLISH if language == "en" else _UNUSED
    try:
        nlp: Any = spacy.blank(language) if model is None else load_pipeline(model, unused)
    except (ValueError, ImportError) as error:
        raise InputError(
            f"language {language!r} is not known to spaCy; give a code such as en, de, fr"
        ) from error
    if model is not None and (of := nlp.meta["lang"]) != language:
        raise InputError(f"the spaCy model {model} is for the language {of!r}, not {language!r}")
    if model is not None and not {"tagger", "morphologizer"} & set(nlp.pipe_names):
        raise InputError(f"the spaCy model {model} tells no parts of speech: it has no tagger")
    nlp.max_length = _LONGEST_TEXT
    return nlp


class RakeExtractor(SpacyExtractor):
    """RAKE, rapid automatic keyword extraction (Rose et al. 2010), as Key-context takes it.

    Keywords are runs of content words, scored by how the words keep company.

    A word's score is its degree (how many words stand in its runs, itself included) by its
    frequency; a run's is the sum over its words, here ``s / (1 + s)`` to stay below 1. Departures
    from the paper: words that are no noun or adjective end a run as stop words do, a verb is a run
    of its own, words are counted by their lemmas, and of a run of more than three words the last
    three are the keyword.
    """

    method = "rake"

    def _keywords(self, text: str, words: Sequence[KeywordToken]) -> Iterable[Keyword]:
        runs = list(self._runs(words))
        frequency, degree = Counter[str](), Counter[str]()
        for run in runs:
            for word in run:
                frequency[word.lemma] += 1
                degree[word.lemma] += len(run)
        found: dict[str, Keyword] = {}
        for run in runs:
            score = sum(degree[word.lemma] / frequency[word.lemma] for word in run)
            key = key_of(run)
            if key and key not in found:
                found[key] = Keyword(key, score / (1 + score), tuple(word.text for word in run))
        return found.values()

    def _runs(self, words: Sequence[KeywordToken]) -> Iterator[list[KeywordToken]]:
        def kind_of_run(word: KeywordToken) -> str | None:
            stands = word.kind is not None and word.text.lower() not in self._stop_words
            return ("verb" if word.kind == "verb" else "phrase") if stands else None

        for kind, run in groupby(words, kind_of_run):
            some = list(run)
            if kind == "phrase" and self._is_phrase(some[-MAX_WORDS:]):
                yield some[-MAX_WORDS:]
            elif kind is not None:
                yield from ([word] for word in some)


class YakeExtractor(SpacyExtractor):
    """YAKE (Campos et al. 2020), of nouns, adjectives and verbs, as CAPT takes it (section 3.1).

    Its keywords are YAKE's that are phrases without a stop word. A name of several words is one keyword, and
    none of its words is one where it stands in the name: "San Francisco" is ``san francisco``, never ``san``.

    YAKE scores ``h`` from 0, lower for better; a keyword's score is ``1 / (1 + h)``.

    Raises `InputError`: YAKE is not installed.
    """

    method = "yake"
    most = 20

    def __init__(self, language: str = "en", model: str | None = None) -> None:
        super().__init__(language, model)
        try:
            from yake import KeywordExtractor
        except ImportError as error:
            raise InputError(
                "keywords by YAKE need the package yake: pip install 'graphneg[keywords]', "
                "or take --keywords rake, which needs nothing"
            ) from error
        self._yake: Any = KeywordExtractor(lan=language, n=MAX_WORDS, top=100)

    def _keywords(self, text: str, words: Sequence[KeywordToken]) -> Iterable[Keyword]:
        if not any(word.kind for word in words):
            return ()
        parts = [word for word in words if word.text != "-"]
        forms = [word.text.lower() for word in parts]
        stops: set[str] = self._yake.stopword_set
        names = _names(parts)
        found: dict[str, Keyword] = {}
        for phrase, h in self._yake.extract_keywords(text):
            form = phrase.lower().replace("-", " ").split()
            size = len(form)
            score = 1 / (1 + max(0.0, float(h)))
            # It stands nowhere where YAKE splits words otherwise than spaCy.
            places = [
                range(at, at + size) for at in range(len(forms) - size + 1) if forms[at : at + size] == form
            ]
            for place in places:
                name = next((name for name in names if _cuts(place, name)), None)
                run = parts[place.start : place.stop] if name is None else parts[name.start : name.stop]
                key = key_of(run) if self._is_phrase(run) and stops.isdisjoint(form) else ""
                if key and (key not in found or found[key].score < score):
                    found[key] = Keyword(key, score, tuple(word.text for word in run))
        return found.values()


def _names(words: Sequence[KeywordToken]) -> list[range]:
    """Return where names of several words stand; of a long one, its last words."""
    found: list[range] = []
    for named, run in groupby(range(len(words)), lambda at: words[at].named):
        places = list(run)[-MAX_WORDS:]
        if named and len(places) > 1:
            found.append(range(places[0], places[-1] + 1))
    return found


def _cuts(place: range, name: range) -> bool:
    """Return whether words share some words of a name and leave others out."""
    shared = range(max(place.start, name.start), min(place.stop, name.stop))
    return 0 < len(shared) < len(name)
