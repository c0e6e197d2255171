"""Find the keywords of texts with YAKE or RAKE.

For each text, an extractor returns a list of `Keyword`, sorted by salience, highest first. spaCy provides
tokens, lemmas and parts of speech. A keyword is identified by a key, which consists of its lemmas: "Small
T-shirts" has the key ``small t shirt``. Words in AMR graphs and in ConceptNet get keys in the same way, so
keywords can be found in AMR graphs and in ConceptNet.
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
from graphneg.imports import import_spacy

EXTRACTORS = ("yake", "rake")
"""Names of the keyword extractors."""
MAX_WORDS = 3
"""Maximum number of words in a keyword."""
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
"""Word classes, keyed by the first two letters of a Penn Treebank tag or by a universal part of speech."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of a text.

    Attributes:
        text: Key of the keyword: the lemmas of its words in lower case.
        score: Salience, above 0 and at most 1; higher is more salient.
        words: The words as they occur in the text.
    """

    text: str
    score: float
    words: tuple[str, ...]


class KeywordExtractor(Protocol):
    """Interface of keyword extractors.

    Attributes:
        name: Text that names the method, the language and the spaCy model. If two shift graphs were built
            with extractors of the same name, their keywords were found in the same way.
        notes: Messages for the user, such as that no spaCy model is installed.
    """

    name: str
    notes: tuple[str, ...]

    def extract(self, texts: Sequence[str]) -> list[list[Keyword]]:
        """Return the keywords of each text. Keys are unique within a text.

        Args:
            texts: Texts of any length.

        Returns:
            For each text, in order, its keywords sorted by salience, highest first.
        """
        ...


def get_extractor(name: str = "yake", language: str = "en", model: str | None = None) -> KeywordExtractor:
    """Create the keyword extractor with a given name.

    If no spaCy model for the language is installed, every word that is not a stop word can be a keyword, and
    words are not lemmatised. A message in the extractor's ``notes`` then tells the user so.

    Args:
        name: Name of the extractor, ``yake`` or ``rake``.
        language: Language of the texts, as a code such as ``en``.
        model: Package or path of a spaCy pipeline with parts of speech and lemmas; None takes an installed
            pipeline for the language.

    Returns:
        The extractor.

    Raises:
        InputError: The name is unknown.
    """
    if name not in EXTRACTORS:
        raise InputError(f"unknown keyword extractor {name!r}; choose one of {', '.join(EXTRACTORS)}")
    return (RakeExtractor if name == "rake" else YakeExtractor)(language, model)


def extractor_named(name: str | None) -> KeywordExtractor:
    """Create the keyword extractor with which a shift graph was built.

    Args:
        name: Name of the extractor, as it is stored in the shift graph; None for the default extractor.

    Returns:
        The extractor.

    Raises:
        InputError: The extractor is not provided by graphneg.
    """
    if name is None:
        return get_extractor()
    kind, _, reader = name.partition(" ")
    if kind not in EXTRACTORS or not reader:
        raise InputError(
            f"the keywords of the shift graph were extracted by {name!r}: pass this extractor as keywords= "
            "to extract the keywords of the post"
        )
    return get_extractor(kind, reader.partition("_")[0])


class KeywordToken(NamedTuple):
    """A token of a text, with the properties that keyword extractors need.

    Attributes:
        text: The token as it occurs in the text.
        lemma: Lemma of the token in lower case.
        kind: Word class of the token; None if it cannot be part of a keyword. Without a spaCy model, it is
            ``noun`` for all words that are not stop words.
        named: Whether the token is part of a name.
    """

    text: str
    lemma: str
    kind: WordClass | None
    named: bool = False


class SpacyExtractor(ABC):
    """Base class of extractors that choose keywords among the tokens of a spaCy pipeline.

    English words are lemmatised in the same way as by the dependency parser. Therefore a keyword and the same
    word in a graph from this parser have the same ``Term`` node in the store.
    """

    method: str
    most: int | None = None

    def __init__(self, language: str = "en", model: str | None = None) -> None:
        """Load the spaCy pipeline of a language.

        Args:
            language: Language of the texts, as a code such as ``en``.
            model: Package or path of a spaCy pipeline; None takes an installed pipeline for the language.
        """
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
                f"no spaCy model for {language!r} is installed: any word that is not a stop word can be "
                "a keyword, without lemmatisation; install a model with python -m spacy download",
            )

    def extract(self, texts: Sequence[str]) -> list[list[Keyword]]:
        """Return the keywords of each text.

        Args:
            texts: Texts of any length.

        Returns:
            For each text, in order, its keywords sorted by salience, highest first.
        """
        # Without a memory zone, spaCy's vocabulary would grow with every new word.
        with _READING, self._nlp.memory_zone():
            read = [
                [self._keyword_token(token) for token in doc if not token.is_space]
                for doc in self._nlp.pipe(texts)
            ]
        found = (self._keywords(text, words) for text, words in zip(texts, read, strict=True))
        return [
            sorted(some, key=lambda keyword: (-keyword.score, keyword.text))[: self.most] for some in found
        ]

    @abstractmethod
    def _keywords(self, text: str, words: Sequence[KeywordToken]) -> Iterable[Keyword]:
        """Return the keywords of one text, in any order.

        Args:
            text: The text.
            words: The tokens of the text, including punctuation marks.
        """

    def _keyword_token(self, token: Any) -> KeywordToken:
        text: str = token.text
        kind: WordClass | None
        # There are `notes` only if no spaCy model is installed. Parts of speech and lemmas are then unknown.
        # So every word except stop words counts as a noun, and it is its own lemma.
        if self.notes:
            lemma, kind = token.lower_, None if token.is_stop else "noun"
        elif self._language == "en":
            lemma, kind = lemma_of(token.lower_, token.tag_), _KINDS.get(token.tag_[:2])
        else:
            lemma, kind = (token.lemma_ or text).lower(), _KINDS.get(token.pos_)
        letters = text.replace("-", "").replace("'", "")
        # "T-shirt" and "o'clock" are words. Numbers, single letters and URLs are not words.
        is_word = 1 < len(text) <= _LONGEST_WORD and letters.isalpha() and not token.like_url
        named = is_word and (token.tag_.startswith("NNP") or token.pos_ == "PROPN")
        return KeywordToken(text, lemma, kind if is_word else None, named)

    def _is_phrase(self, words: Sequence[KeywordToken]) -> bool:
        """Return whether consecutive words can be a keyword: a single word, or nouns with adjectives."""
        kinds = {word.kind for word in words}
        if None in kinds or len(words) == 1:
            return None not in kinds
        # Exclude phrases with a verb, such as "cab spend", because they hardly ever occur in more than one
        # text. Also exclude phrases without a noun.
        if "verb" in kinds or "noun" not in kinds:
            return False
        # In English, the last word must be a noun, which excludes "battery dead". A word such as "tomorrow"
        # can only be the first word, which excludes "work tomorrow".
        return self._language != "en" or (
            words[-1].kind == "noun" and _DAYS.isdisjoint(word.lemma for word in words[1:])
        )


def key_of(words: Sequence[KeywordToken]) -> str:
    """Return the key of a keyword: its lemmas, with spaces instead of hyphens.

    Args:
        words: Words of the keyword.

    Returns:
        The key; an empty string if the key is too long for a database index.

    Example:
        >>> key_of([KeywordToken("Small", "small", "adjective"), KeywordToken("T-shirts", "t-shirt", "noun")])
        'small t shirt'
    """
    # The same word is "t_shirt" in ConceptNet and "t-shirt" in AMR. The key is "t shirt" for both.
    key = " ".join(" ".join(word.lemma for word in words).replace("-", " ").replace("_", " ").split())
    return key if len(key.encode()) <= _LONGEST_KEY else ""


@lru_cache(maxsize=4)
def _pipeline(model: str | None, language: str) -> Any:
    """Load the spaCy pipeline ``model``. If it is None, create an empty pipeline for the language."""
    unused = _UNUSED_IN_ENGLISH if language == "en" else _UNUSED
    try:
        nlp: Any = import_spacy().blank(language) if model is None else load_pipeline(model, unused)
    except (ValueError, ImportError) as error:
        raise InputError(
            f"language {language!r} is not known to spaCy; give a code such as en, de, fr"
        ) from error
    if model is not None and (of := nlp.meta["lang"]) != language:
        raise InputError(f"the spaCy model {model} is for the language {of!r}, not {language!r}")
    if model is not None and not {"tagger", "morphologizer"} & set(nlp.pipe_names):
        raise InputError(f"the spaCy model {model} gives no parts of speech, because it has no tagger")
    # spaCy limits the length of texts because of its parser and its entity recogniser. Neither is loaded
    # here, so longer texts are possible.
    nlp.max_length = _LONGEST_TEXT
    return nlp


class RakeExtractor(SpacyExtractor):
    """RAKE, rapid automatic keyword extraction (Rose et al. 2010), as used by Gupta et al. (2021).

    Keywords are sequences of consecutive content words (runs). The score of a word is its degree divided by
    its frequency. The degree is the sum of the lengths of all runs that contain the word. The score ``s`` of
    a run is the sum of the scores of its words. It is converted into ``s / (1 + s)``, which is below 1.

    The implementation departs from the paper in four ways. A run ends not only at stop words, but at all
    words that are not nouns or adjectives. Each verb is a run with a single word. Words with the same lemma
    are counted together. If a run has more than three words, only its last three words are the keyword.
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
        """Yield the words of each keyword: consecutive nouns and adjectives, or a single content word."""

        def kind_of_run(word: KeywordToken) -> str | None:
            stands = word.kind is not None and word.text.lower() not in self._stop_words
            return ("verb" if word.kind == "verb" else "phrase") if stands else None

        for kind, run in groupby(words, kind_of_run):
            some = list(run)
            # The head of an English noun phrase is its last word, so keep the last words.
            if kind == "phrase" and self._is_phrase(some[-MAX_WORDS:]):
                yield some[-MAX_WORDS:]
            elif kind is not None:
                yield from ([word] for word in some)


class YakeExtractor(SpacyExtractor):
    """YAKE (Campos et al. 2020) for nouns, adjectives and verbs, as used in CAPT (section 3.1).

    Among the keywords that YAKE finds, only phrases without stop words are used. A name with several words is
    a keyword as a whole, but its parts are not: "San Francisco" gives ``san francisco``, but not ``san``.

    YAKE gives each keyword a score ``h`` of 0 or more, where lower is better. The salience of the keyword is
    ``1 / (1 + h)``.
    """

    method = "yake"
    most = 20

    def __init__(self, language: str = "en", model: str | None = None) -> None:
        """Load YAKE and the spaCy pipeline of a language.

        Args:
            language: Language of the texts, as a code such as ``en``.
            model: Package or path of a spaCy pipeline; None for an installed pipeline for the language.

        Raises:
            InputError: YAKE is not installed.
        """
        super().__init__(language, model)
        try:
            from yake import KeywordExtractor
        except ImportError as error:
            raise InputError(
                "keywords by YAKE need the package yake: pip install 'graphneg[keywords]', "
                "or use --keywords rake, which needs no package"
            ) from error
        self._yake: Any = KeywordExtractor(lan=language, n=MAX_WORDS, top=100)

    def _keywords(self, text: str, words: Sequence[KeywordToken]) -> Iterable[Keyword]:
        if not any(word.kind for word in words):
            return ()
        # YAKE and spaCy treat hyphens differently, so remove hyphens from the tokens of spaCy here and from
        # the phrases of YAKE below.
        parts = [word for word in words if word.text != "-"]
        forms = [word.text.lower() for word in parts]
        stops: set[str] = self._yake.stopword_set
        names = _names(parts)
        found: dict[str, Keyword] = {}
        for phrase, h in self._yake.extract_keywords(text):
            form = phrase.lower().replace("-", " ").split()
            size = len(form)
            score = 1 / (1 + max(0.0, float(h)))
            # Look for YAKE's phrase among spaCy's tokens. If the two tokenise the phrase differently, it is
            # not found and is skipped.
            places = [
                range(at, at + size) for at in range(len(forms) - size + 1) if forms[at : at + size] == form
            ]
            for place in places:
                # If the phrase is a part of a name, use the whole name: "San Francisco" and not "Francisco".
                name = next((name for name in names if _splits_name(place, name)), None)
                run = parts[place.start : place.stop] if name is None else parts[name.start : name.stop]
                key = key_of(run) if self._is_phrase(run) and stops.isdisjoint(form) else ""
                if key and (key not in found or found[key].score < score):
                    found[key] = Keyword(key, score, tuple(word.text for word in run))
        return found.values()


def _names(words: Sequence[KeywordToken]) -> list[range]:
    """Return the token ranges of multi-word names: at most the last `MAX_WORDS` words of each name."""
    found: list[range] = []
    for named, run in groupby(range(len(words)), lambda at: words[at].named):
        places = list(run)[-MAX_WORDS:]
        if named and len(places) > 1:
            found.append(range(places[0], places[-1] + 1))
    return found


def _splits_name(place: range, name: range) -> bool:
    """Return whether a range of words contains some but not all words of a name."""
    shared = range(max(place.start, name.start), min(place.stop, name.stop))
    return 0 < len(shared) < len(name)
