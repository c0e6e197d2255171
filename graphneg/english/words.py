"""What an English word can be: its classes, its readings and inflections, its lemma, its stems.

In: a word as it is written. Out: lemminflect's dictionary (``readings``, ``inflections``), the word's lemma
(``lemma_of``), all lemmas and rough stems for comparing words (``lemmas``, ``stems``), and the classes of
words that the package ships (``word_class``), one a row of ``word_classes.tsv``.

>>> readings("saw")["VERB"], inflections("see", "VERB")["VBD"]
(('see', 'saw'), ('saw',))
>>> "may" in word_class("months"), word_map("scales")["dozen"]
(True, '12')
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any

from graphneg.english.tokens import WORD, with_clitics

_LETTERS = re.compile(r"[^\W\d_]+")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|re|ve|ll|t))$")
_LONGEST_WORD = 60
_LONGEST_TAGGED = 40
_UNIVERSAL = {"NN": "NOUN", "VB": "VERB", "JJR": "ADJ", "JJS": "ADJ", "RBR": "ADV", "RBS": "ADV"}
_SUFFIX = re.compile(
    r"(?:ization|isation|ication|ations?|itions?|utions?|[st]?ions?|ements?|ments?|iness|ness|ances?|ences?"
    r"|ancy|ency|ants?|ents?|ability|ibility|able|ible|ivity|ity|ty|ically|ally|fully|ily|ely|ly|ial|ual|al"
    r"|eers?|ers?|ors?|ars?|ists?|isms?|ives?|ous|ful|less|ish|ic|age|ery|ary|ings?|edly|ied|ed|ies|es|s"
    r"|ize|ise|ate|ify|en|th|ie|e|y|i)$"
)


def table_rows(package: str, name: str) -> list[list[str]]:
    """The rows of a table that comes with a package: cells apart by tabs, ``#`` before what is no row."""
    lines = files(package).joinpath(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@cache
def _tables() -> dict[str, str]:
    return dict(table_rows("graphneg.english", "word_classes.tsv"))


def word_list(name: str) -> list[str]:
    """The words of a class, in the order of the table."""
    return _tables()[name].split()


@cache
def word_class(name: str) -> frozenset[str]:
    """The words of a class."""
    return frozenset(word_list(name))


@cache
def word_map(name: str) -> dict[str, str]:
    """What each word of a class stands for, where the table has ``word:value``."""
    return dict(cell.split(":") for cell in word_list(name))


CLOSED = word_class("closed")
"""Words that tell no scene: closed classes, auxiliaries, what one says to answer or to greet."""


@lru_cache(maxsize=1)
def _lemminflect() -> tuple[Any, Any]:
    """lemminflect's lemmatizer and its inflections. Its package imports spaCy, and torch with it, wherever
    they are installed, to extend spaCy's tokens: seconds for what is not used here. So its modules are
    imported below an empty package, which makes room at once: a program that imports lemminflect itself gets
    all of it, over the same modules."""
    name = "lemminflect"
    spec = importlib.util.find_spec(name)
    empty = spec is not None and name not in sys.modules
    if spec is not None and empty:
        sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        lemmatizer = importlib.import_module("lemminflect.core.Lemmatizer")
        inflector = importlib.import_module("lemminflect.core.Inflections")
        return lemmatizer.Lemmatizer(), inflector.Inflections()
    finally:
        if empty:
            del sys.modules[name]


@lru_cache(maxsize=1 << 17)
def readings(word: str) -> dict[str, tuple[str, ...]]:
    """The lemmas of a word by universal part of speech: ``saw`` is a NOUN and two VERBs."""
    lemmas: dict[str, tuple[str, ...]] = _lemminflect()[0].getAllLemmas(word)
    return lemmas


@lru_cache(maxsize=1 << 16)
def is_past(word: str) -> bool:
    """Whether the form is a past tense that is no other form: *took*, *went*."""
    if word in CLOSED or word.endswith(("s", "ing", "en")):
        return False
    known = readings(word)
    return set(known) == {"VERB"} and known["VERB"][0] != word


@lru_cache(maxsize=65536)
def lemmas_as(word: str, upos: str) -> tuple[str, ...]:
    """The lemmas of a word as one universal part of speech; a word that is in no dictionary goes by rules."""
    lemmas: tuple[str, ...] = _lemminflect()[0].getLemma(word, upos=upos)
    return lemmas


@lru_cache(maxsize=65536)
def inflections(lemma: str, upos: str) -> dict[str, tuple[str, ...]]:
    """The forms of a lemma by Penn tag, for one universal part of speech."""
    forms: dict[str, tuple[str, ...]] = _lemminflect()[1].getAllInflections(lemma, upos)
    return forms


@lru_cache(maxsize=65536)
def american(word: str) -> str:
    """One spelling for British and American variants, for comparison only."""
    word = word.replace("colour", "color").replace("grey", "gray").replace("centre", "center")
    word = re.sub(r"(?<=..)our$", "or", word)
    return re.sub(r"is(e|ed|es|ing)$", r"iz\1", word) if len(word) > 6 else word


@lru_cache(maxsize=65536)
def lemmas(word: str) -> frozenset[str]:
    """The word in lower case and all that it may be a form of."""
    low = word.lower().replace("’", "'")
    low = word_map("contracted").get(low, low)
    forms = {low, american(low)}
    for known in readings(low).values():
        forms.update(american(lemma.lower()) for lemma in known)
    if low.endswith("n'"):
        forms.add(low[:-1] + "g")
    return frozenset(forms)


@lru_cache(maxsize=65536)
def stems(word: str) -> frozenset[str]:
    """Rough stems, for words related by derivation: ``decision`` and ``decide`` share one."""
    low = american(word.lower())
    stripped = {word_map("irregular-stems").get(low, low)}
    for _ in range(2):
        for known in tuple(stripped):
            if (match := _SUFFIX.search(known)) and match.start() >= 3:
                stripped.add(known[: match.start()])
    stripped |= {known[:-1] for known in stripped if len(known) > 4 and known[-1] in "dts"}
    return frozenset(_fold(stem) for stem in stripped if len(stem) >= 3)


def _fold(stem: str) -> str:
    """Consonant changes at the seam: ``deci-sion``/``decid-e``, ``beginn-er``/``begin``."""
    if len(stem) > 3 and stem[-1] == stem[-2]:
        stem = stem[:-1]
    return stem[:-1] + "y" if stem.endswith("i") else stem


def content_lemmas(text: str) -> tuple[str, ...]:
    """The content lemmas of a text, each once, in the order of the text: keys of `Term`.

    Some 50,000 sentences a second go through without a tagger, and inflected forms meet on one lemma: of
    several readings of a word the verb's is taken (*ran*, *left*, *saw*), of words in -s the noun's.

    >>> content_lemmas("I ran to the houses, but they didn ' t open their doors.")
    ('run', 'house', 'open', 'door')
    """
    words = WORD.findall(with_clitics(text))
    return tuple(dict.fromkeys(lemma for word in words if (lemma := _content_lemma(word))))


@lru_cache(maxsize=1 << 17)
def _content_lemma(word: str) -> str:
    """The lemma of a content word; nothing of any other."""
    bare = _CLITIC.sub("", word.lower())
    if not 1 < len(bare) <= _LONGEST_WORD or bare in CLOSED:
        return ""
    lemma = lemma_of(bare)
    return "" if lemma in CLOSED else lemma


_JUDGED = 200
_FEW = 4
"""Fewer words tell nothing, unless they are of another script."""


def is_foreign(text: str) -> bool:
    """Whether a text is hardly English, by its first 200 words: of another script, or of four words or more
    most of which are in no English dictionary, or no more of which are English function words than those of
    a language near by.

    >>> is_foreign("Das Hotel liegt direkt am Strand."), is_foreign("The hotel is right on the beach.")
    (True, False)
    """
    words = [match[0].lower() for match in islice(_LETTERS.finditer(text), _JUDGED)]
    letters = "".join(words)
    if 2 * sum(letter < "ʰ" for letter in letters) < len(letters):
        return True
    foreign = sum(word in word_class("foreign-function-words") for word in words)
    english = sum(word in CLOSED for word in words)
    long = [word for word in words if len(word) > 1]
    known = sum(word in CLOSED or (word.isascii() and bool(readings(word))) for word in long)
    return len(words) >= _FEW and (
        (known < 0.4 * len(long) and english <= 0.25 * len(words))
        or (known < 0.7 * len(long) and foreign > 0 and foreign >= english)
    )


def lemma_of(word: str, tag: str | None = None) -> str:
    """The lemma of a lower-case word, by its Penn Treebank tag where that is known.

    >>> [lemma_of(word) for word in ("left", "evening", "glasses", "worse", "graphneg")]
    ['leave', 'evening', 'glasses', 'bad', 'graphneg']
    >>> lemma_of("riding", "VBG"), lemma_of("n't", "RB"), lemma_of("mice", "NNS")
    ('ride', 'not', 'mouse')
    """
    return _commonest_lemma(word) if tag is None else _tagged_lemma(word, tag)


def _commonest_lemma(word: str) -> str:
    known = readings(word)
    verbs, nouns = known.get("VERB", ()), known.get("NOUN", ())
    if word in word_class("nouns-in-ing") or (word.endswith("s") and word in nouns):
        return word
    if nouns and word.endswith("s"):
        return nouns[0]
    others = (*verbs[:1], *known.get("ADJ", ())[:1], *nouns[:1], *known.get("ADV", ())[:1])
    return next((lemma for lemma in others if lemma != word), word)


@lru_cache(maxsize=65536)
def _tagged_lemma(word: str, tag: str) -> str:
    if tag == "POS":
        return word
    if word == "'d" and tag == "VBD":
        return "have"
    irregular = word_map("irregular-forms").get(word)
    if irregular is not None and (tag not in {"NN", "NNS"} or word in {"people", "men"}):
        return irregular
    if word == "leaves" and tag == "NNS":
        return "leaf"
    upos = _UNIVERSAL.get(tag) or _UNIVERSAL.get(tag[:2] if tag[:2] in ("NN", "VB") and tag != "NNP" else "")
    if upos is None or len(word) > _LONGEST_TAGGED or not word.isascii():
        return word
    known = lemmas_as(word, upos)
    if not known or (tag == "NN" and (word in known or word in ("leave", "stave", "axe"))):
        return word
    return next((lemma for lemma in known if lemma != word), word) if tag == "NNS" else known[0]


def right_article(word: str, following: str) -> str:
    """The right form of an article before a word; other words as they are.

    >>> right_article("a", "apple"), right_article("An", "pear"), right_article("the", "apple")
    ('an', 'A', 'the')
    """
    if word.lower() not in ("a", "an"):
        return word
    right = "an" if following[0] in "aeiou" else "a"
    return right.capitalize() if word[0].isupper() else right
