"""Dictionary knowledge about English words: readings, inflections, lemmas, stems, word classes.

Inflections come from lemminflect (`readings`, `inflections`). `lemma_of` gives one lemma of a word. `lemmas`
and `stems` give all forms under which words are compared. `word_class`, `word_list` and `word_map` read the
rows of ``word_classes.tsv``.

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
from graphneg.errors import InputError

_LETTERS = re.compile(r"[^\W\d_]+")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|re|ve|ll|t))$")
_LONGEST_WORD = 60
"""Longer strings of letters are not words and get no lemma."""
_LONGEST_TAGGED = 40
"""Longer words are not looked up in the dictionary."""
_UNIVERSAL = {"NN": "NOUN", "VB": "VERB", "JJR": "ADJ", "JJS": "ADJ", "RBR": "ADV", "RBS": "ADV"}
_SUFFIX = re.compile(
    r"(?:ization|isation|ication|ations?|itions?|utions?|[st]?ions?|ements?|ments?|iness|ness|ances?|ences?"
    r"|ancy|ency|ants?|ents?|ability|ibility|able|ible|ivity|ity|ty|ically|ally|fully|ily|ely|ly|ial|ual|al"
    r"|eers?|ers?|ors?|ars?|ists?|isms?|ives?|ous|ful|less|ish|ic|age|ery|ary|ings?|edly|ied|ed|ies|es|s"
    r"|ize|ise|ate|ify|en|th|ie|e|y|i)$"
)


def table_rows(package: str, name: str) -> list[list[str]]:
    """Return the rows of a tab-separated table that ships with a package.

    Args:
        package: Name of the Python package.
        name: File name within the package.

    Returns:
        The cells of each row, without comment lines (``#``).
    """
    lines = files(package).joinpath(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@cache
def _tables() -> dict[str, str]:
    """Return the words of each class as one string."""
    return unique_rows(table_rows("graphneg.english", "word_classes.tsv"), "word_classes.tsv")


def unique_rows(rows: list[list[str]], table: str) -> dict[str, str]:
    """Return the second cell of each row by its first cell.

    Args:
        rows: Rows of two cells.
        table: Name of the table, for the message.

    Returns:
        Cell by name.

    Raises:
        InputError: A name occurs in two rows, or a row does not have two cells.
    """
    cells: dict[str, str] = {}
    for row in rows:
        if len(row) != 2:
            raise InputError(f"{table}: expected a name and its words, got {row}: separate them by one tab")
        if row[0] in cells:
            raise InputError(f"{table}: two rows are called {row[0]}: rename one of them")
        cells[row[0]] = row[1]
    return cells


def word_list(name: str) -> list[str]:
    """Return the words of a class, in table order.

    Args:
        name: Class name, ``months``.

    Returns:
        The words; some classes have ``word:value`` instead.
    """
    return _tables()[name].split()


@cache
def word_class(name: str) -> frozenset[str]:
    """Return the words of a class as a set.

    Args:
        name: Class name, ``months``.

    Returns:
        The words.
    """
    return frozenset(word_list(name))


@cache
def word_map(name: str) -> dict[str, str]:
    """Return the values of the words of a class.

    Args:
        name: Name of a class whose cells are ``word:value``.

    Returns:
        Value by word.
    """
    return dict(cell.split(":") for cell in word_list(name))


CLOSED = word_class("closed")
"""Words without topical content: closed classes, auxiliaries, answers and greetings."""


@lru_cache(maxsize=1)
def _lemminflect() -> tuple[Any, Any]:
    """Return lemminflect's lemmatizer and inflection tables."""
    # lemminflect's __init__ imports spaCy, and with it torch, if they are installed, in order to extend
    # spaCy's tokens. That takes seconds and is not needed here. So its submodules are imported below an empty
    # package, which is removed afterwards. A program that imports lemminflect itself still gets the whole
    # package.
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
    """Return the lemmas of a word by universal part of speech.

    Args:
        word: A lower-case word.

    Returns:
        Lemmas by ``NOUN``, ``VERB``, ``ADJ``, ``ADV``, ``AUX`` or ``PROPN``: *saw* is a form of one noun and
        two verbs. Empty for an unknown word.
    """
    lemmas: dict[str, tuple[str, ...]] = _lemminflect()[0].getAllLemmas(word)
    return lemmas


@lru_cache(maxsize=1 << 16)
def is_past(word: str) -> bool:
    """Return whether a form can only be a past tense: *took*, *went*.

    Args:
        word: A lower-case word.

    Returns:
        False for *cut* (also the base form) and *taken* (a participle).
    """
    # "goes", "going" and "given" are forms of verbs but no past tense.
    if word in CLOSED or word.endswith(("s", "ing", "en")):
        return False
    known = readings(word)
    return set(known) == {"VERB"} and known["VERB"][0] != word


@lru_cache(maxsize=65536)
def lemmas_as(word: str, upos: str) -> tuple[str, ...]:
    """Return the lemmas of a word in one part of speech.

    Args:
        word: A lower-case word; an unknown word is lemmatised by rules.
        upos: Universal part of speech, ``VERB``.

    Returns:
        The lemmas.
    """
    lemmas: tuple[str, ...] = _lemminflect()[0].getLemma(word, upos=upos)
    return lemmas


@lru_cache(maxsize=65536)
def inflections(lemma: str, upos: str) -> dict[str, tuple[str, ...]]:
    """Return the inflected forms of a lemma by Penn tag.

    Args:
        lemma: The lemma.
        upos: Universal part of speech, ``VERB``.

    Returns:
        Forms by tag: ``{"VBD": ("saw",), ...}``.
    """
    forms: dict[str, tuple[str, ...]] = _lemminflect()[1].getAllInflections(lemma, upos)
    return forms


@lru_cache(maxsize=65536)
def american(word: str) -> str:
    """Return the American spelling of a word, for comparison only.

    Args:
        word: A lower-case word.

    Returns:
        The word with *-or*, *-ize*, *gray* and *center*; other words may be distorted in the same way.
    """
    word = word.replace("colour", "color").replace("grey", "gray").replace("centre", "center")
    word = re.sub(r"(?<=..)our$", "or", word)
    return re.sub(r"is(e|ed|es|ing)$", r"iz\1", word) if len(word) > 6 else word


@lru_cache(maxsize=65536)
def lemmas(word: str) -> frozenset[str]:
    """Return the lower-case word and every lemma that it may be a form of.

    Args:
        word: A word or clitic.

    Returns:
        The forms, in American spelling.

    Example:
        >>> sorted(lemmas("Colours"))
        ['color', 'colors', 'colours']
    """
    low = word.lower().replace("’", "'")
    low = word_map("contracted").get(low, low)
    forms = {low, american(low)}
    for known in readings(low).values():
        forms.update(american(lemma.lower()) for lemma in known)
    # "goin'" is a spelling of "going".
    if low.endswith("n'"):
        forms.add(low[:-1] + "g")
    return frozenset(forms)


@lru_cache(maxsize=65536)
def stems(word: str) -> frozenset[str]:
    """Return rough stems, which related words share.

    Args:
        word: A word in any case.

    Returns:
        Stems of at least three letters; *decision* and *decide* have one in common.

    Example:
        >>> stems("decision") & stems("decide")
        frozenset({'decy'})
    """
    low = american(word.lower())
    stripped = {word_map("irregular-stems").get(low, low)}
    # Two suffixes may follow each other: care-ful-ly.
    for _ in range(2):
        for known in tuple(stripped):
            if (match := _SUFFIX.search(known)) and match.start() >= 3:
                stripped.add(known[: match.start()])
    stripped |= {known[:-1] for known in stripped if len(known) > 4 and known[-1] in "dts"}
    return frozenset(_fold(stem) for stem in stripped if len(stem) >= 3)


def _fold(stem: str) -> str:
    """Undo consonant and vowel changes before a suffix: *beginn-er* and *begin*, *happi-ness* and *happy*."""
    if len(stem) > 3 and stem[-1] == stem[-2]:
        stem = stem[:-1]
    return stem[:-1] + "y" if stem.endswith("i") else stem


def content_lemmas(text: str) -> tuple[str, ...]:
    """Return the content lemmas of a text, each once, in text order.

    They are the keys of `Term` nodes. The function handles about 50,000 sentences per second, because it uses
    no tagger. An ambiguous word gets its verb reading (*ran*, *left*, *saw*), a word in *-s* its noun
    reading, so that inflected forms meet under one lemma.

    Args:
        text: Raw or tokenised text.

    Returns:
        Lower-case lemmas.

    Example:
        >>> content_lemmas("I ran to the houses, but they didn ' t open their doors.")
        ('run', 'house', 'open', 'door')
    """
    words = WORD.findall(with_clitics(text))
    return tuple(dict.fromkeys(lemma for word in words if (lemma := _content_lemma(word))))


@lru_cache(maxsize=1 << 17)
def _content_lemma(word: str) -> str:
    """Return the lemma of a content word, or the empty string."""
    bare = _CLITIC.sub("", word.lower())
    if not 1 < len(bare) <= _LONGEST_WORD or bare in CLOSED:
        return ""
    lemma = lemma_of(bare)
    return "" if lemma in CLOSED else lemma


_JUDGED = 200
"""Number of words of a text by which its language is judged."""
_FEW = 4
"""Minimum number of words in the Latin script to judge a language by."""


def is_foreign(text: str) -> bool:
    """Return whether a text is not English.

    The first 200 words are judged. A text is foreign if most of its letters are not Latin. A text of four
    words or more is also foreign if few of its words are in the English dictionary and few are English
    function words, or if it has at least as many function words of a neighbouring language as of English.

    Args:
        text: The text.

    Returns:
        Whether it is foreign; False for a shorter text in the Latin script.

    Example:
        >>> is_foreign("Das Hotel liegt direkt am Strand."), is_foreign("The hotel is right on the beach.")
        (True, False)
    """
    words = [match[0].lower() for match in islice(_LETTERS.finditer(text), _JUDGED)]
    letters = "".join(words)
    # U+02B0 is the first code point behind the Latin and IPA blocks of Unicode.
    if 2 * sum(letter < "ʰ" for letter in letters) < len(letters):
        return True
    foreign = sum(word in word_class("foreign-function-words") for word in words)
    english = sum(word in CLOSED for word in words)
    long = [word for word in words if len(word) > 1]
    known = sum(word in CLOSED or (word.isascii() and bool(readings(word))) for word in long)
    # Slang and names lower the share of dictionary words, so such a text must lack English function words,
    # too. A foreign text may share words with English ("Das Hotel ist modern"), so with foreign function
    # words more of the words must be known.
    return len(words) >= _FEW and (
        (known < 0.4 * len(long) and english <= 0.25 * len(words))
        or (known < 0.7 * len(long) and foreign > 0 and foreign >= english)
    )


def lemma_of(word: str, tag: str | None = None) -> str:
    """Return the lemma of a word.

    >>> [lemma_of(word) for word in ("left", "evening", "glasses", "worse", "graphneg")]
    ['leave', 'evening', 'glasses', 'bad', 'graphneg']
    >>> lemma_of("riding", "VBG"), lemma_of("n't", "RB"), lemma_of("mice", "NNS")
    ('ride', 'not', 'mouse')

    Args:
        word: A lower-case word or clitic.
        tag: Its Penn tag; without it the commonest reading is taken.

    Returns:
        The lemma; an unknown word is its own.
    """
    return _commonest_lemma(word) if tag is None else _tagged_lemma(word, tag)


def _commonest_lemma(word: str) -> str:
    """Return the lemma of a word whose tag is not known."""
    known = readings(word)
    verbs, nouns = known.get("VERB", ()), known.get("NOUN", ())
    # "evening" is no form of "even", and "glasses" is a noun of its own.
    if word in word_class("nouns-in-ing") or (word.endswith("s") and word in nouns):
        return word
    if nouns and word.endswith("s"):
        return nouns[0]
    others = (*verbs[:1], *known.get("ADJ", ())[:1], *nouns[:1], *known.get("ADV", ())[:1])
    return next((lemma for lemma in others if lemma != word), word)


@lru_cache(maxsize=65536)
def _tagged_lemma(word: str, tag: str) -> str:
    """Return the lemma of a word with a Penn tag."""
    if tag == "POS":
        return word
    # "he'd gone" has the tag VBD, "he'd go" the tag MD.
    if word == "'d" and tag == "VBD":
        return "have"
    # Forms such as "does" or "thought" can be nouns, which keep their regular lemma.
    irregular = word_map("irregular-forms").get(word)
    if irregular is not None and (tag not in {"NN", "NNS"} or word in {"people", "men"}):
        return irregular
    # The dictionary also lists "leave" as the singular.
    if word == "leaves" and tag == "NNS":
        return "leaf"
    upos = _UNIVERSAL.get(tag) or _UNIVERSAL.get(tag[:2] if tag[:2] in ("NN", "VB") and tag != "NNP" else "")
    if upos is None or len(word) > _LONGEST_TAGGED or not word.isascii():
        return word
    known = lemmas_as(word, upos)
    # A singular noun is its own lemma, although the dictionary may also read it as a form of another: "data"
    # of "datum".
    if not known or (tag == "NN" and (word in known or word in ("leave", "stave", "axe"))):
        return word
    return next((lemma for lemma in known if lemma != word), word) if tag == "NNS" else known[0]


def right_article(word: str, following: str) -> str:
    """Return the form of an indefinite article that fits the next word.

    >>> right_article("a", "apple"), right_article("An", "pear"), right_article("the", "apple")
    ('an', 'A', 'the')

    Args:
        word: Any word; only *a* and *an* are changed.
        following: The next word, in lower case; its first letter decides.

    Returns:
        The article with its capitalisation, or the word itself.
    """
    if word.lower() not in ("a", "an"):
        return word
    right = "an" if following[0] in "aeiou" else "a"
    return right.capitalize() if word[0].isupper() else right
