"""Look up English words in a dictionary: readings, inflections, lemmas, stems and word classes.

The inflections are those of lemminflect (`readings`, `inflections`). `lemma_of` returns the most likely
lemma of a word. `lemmas` and `stems` return several forms of a word, which are used to compare words.
`word_class`, `word_list` and `word_map` read ``word_classes.tsv``.

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
"""Maximum length of a word in letters. A longer string is not a word and has no content lemma."""
_LONGEST_TAGGED = 40
"""Maximum length in letters of a word whose lemma is looked up; a longer word is its own lemma."""
_UNIVERSAL = {"NN": "NOUN", "VB": "VERB", "JJR": "ADJ", "JJS": "ADJ", "RBR": "ADV", "RBS": "ADV"}
_SUFFIX = re.compile(
    r"(?:ization|isation|ication|ations?|itions?|utions?|[st]?ions?|ements?|ments?|iness|ness|ances?|ences?"
    r"|ancy|ency|ants?|ents?|ability|ibility|able|ible|ivity|ity|ty|ically|ally|fully|ily|ely|ly|ial|ual|al"
    r"|eers?|ers?|ors?|ars?|ists?|isms?|ives?|ous|ful|less|ish|ic|age|ery|ary|ings?|edly|ied|ed|ies|es|s"
    r"|ize|ise|ate|ify|en|th|ie|e|y|i)$"
)


def table_rows(package: str, name: str) -> list[list[str]]:
    """Return the rows of a tab-separated table in a package.

    Args:
        package: Name of the Python package.
        name: File name of the table within the package.

    Returns:
        The cells of each row. Comment lines, which start with ``#``, are left out.
    """
    lines = files(package).joinpath(name).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


@cache
def _tables() -> dict[str, str]:
    """Read ``word_classes.tsv``. Return the words of each class, as one string separated by spaces."""
    return unique_rows(table_rows("graphneg.english", "word_classes.tsv"), "word_classes.tsv")


def unique_rows(rows: list[list[str]], table: str) -> dict[str, str]:
    """Return the rows of a table with two columns as a dictionary.

    Args:
        rows: Rows of two cells: a name, and the words that belong to it.
        table: File name of the table, for error messages.

    Returns:
        The second cell of each row, keyed by the first cell.

    Raises:
        InputError: Two rows have the same first cell, or a row does not have exactly two cells.
    """
    cells: dict[str, str] = {}
    for row in rows:
        if len(row) != 2:
            raise InputError(f"{table}: expected a name and its words, got {row}: separate them by one tab")
        if row[0] in cells:
            raise InputError(f"{table}: two rows have the name {row[0]}: rename one of them")
        cells[row[0]] = row[1]
    return cells


def word_list(name: str) -> list[str]:
    """Return the words of a class in ``word_classes.tsv``, in the order of the table.

    Args:
        name: Name of the class, such as ``months``.

    Returns:
        The words. If the words of the class have values, the elements have the form ``word:value``.
    """
    return _tables()[name].split()


@cache
def word_class(name: str) -> frozenset[str]:
    """Return the words of a class in ``word_classes.tsv``, as a set.

    Args:
        name: Name of the class, such as ``months``.

    Returns:
        The words of the class, such as ``january``.
    """
    return frozenset(word_list(name))


@cache
def word_map(name: str) -> dict[str, str]:
    """Return the words of a class in ``word_classes.tsv`` with their values.

    Args:
        name: Name of a class whose words have values, written as ``word:value``, such as ``scales``.

    Returns:
        The values, keyed by word: ``12`` for ``dozen``.
    """
    return dict(cell.split(":") for cell in word_list(name))


CLOSED = word_class("closed")
"""Words that say nothing about the topic of a text: closed classes, auxiliaries, answers and greetings."""


@lru_cache(maxsize=1)
def _load_lemminflect() -> tuple[Any, Any]:
    """Return the lemmatizer and the inflection tables of lemminflect."""
    # If spaCy is installed, the __init__ of lemminflect imports spaCy, and thereby torch. This takes seconds
    # and is not needed here. Therefore an empty package temporarily replaces lemminflect while its submodules
    # are imported. A program that imports lemminflect itself still gets the complete package.
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
    """Return the lemmas that a word can have, keyed by universal part of speech.

    Args:
        word: A lower-case word.

    Returns:
        The lemmas, keyed by part of speech: ``NOUN``, ``VERB``, ``ADJ``, ``ADV``, ``AUX`` or ``PROPN``. For
        example, *saw* is a form of one noun and of two verbs. Empty for an unknown word.
    """
    lemmas: dict[str, tuple[str, ...]] = _load_lemminflect()[0].getAllLemmas(word)
    return lemmas


@lru_cache(maxsize=1 << 16)
def is_past(word: str) -> bool:
    """Return whether a word can only be a past-tense form, such as *took* and *went*.

    Args:
        word: A lower-case word.

    Returns:
        True if the word can only be a past-tense form. False for *cut*, which is also the base form, and for
        *taken*, which is a participle.
    """
    # Words such as "goes", "going" and "given" are forms of verbs, but they are not past tenses.
    if word in CLOSED or word.endswith(("s", "ing", "en")):
        return False
    known = readings(word)
    return set(known) == {"VERB"} and known["VERB"][0] != word


@lru_cache(maxsize=65536)
def lemmas_as(word: str, upos: str) -> tuple[str, ...]:
    """Return the lemmas that a word can have as a given part of speech.

    Args:
        word: A word in lower case. The lemma of an unknown word is derived by rules.
        upos: Universal part of speech, such as ``VERB``.

    Returns:
        The lemmas of the word, in the order of lemminflect.
    """
    lemmas: tuple[str, ...] = _load_lemminflect()[0].getLemma(word, upos=upos)
    return lemmas


@lru_cache(maxsize=65536)
def inflections(lemma: str, upos: str) -> dict[str, tuple[str, ...]]:
    """Return the inflected forms of a lemma, keyed by Penn tag.

    Args:
        lemma: A lemma in lower case.
        upos: Universal part of speech, such as ``VERB``.

    Returns:
        The forms, keyed by tag, such as ``{"VBD": ("saw",), ...}``.
    """
    forms: dict[str, tuple[str, ...]] = _load_lemminflect()[1].getAllInflections(lemma, upos)
    return forms


@lru_cache(maxsize=65536)
def american(word: str) -> str:
    """Return an American spelling of a word, for comparisons only.

    Args:
        word: A lower-case word.

    Returns:
        The word with American endings (*-or*, *-ize*) and with *color*, *gray* and *center*. Other words with
        similar endings may be changed as well, so the result may not be a word.
    """
    word = word.replace("colour", "color").replace("grey", "gray").replace("centre", "center")
    word = re.sub(r"(?<=..)our$", "or", word)
    return re.sub(r"is(e|ed|es|ing)$", r"iz\1", word) if len(word) > 6 else word


@lru_cache(maxsize=65536)
def lemmas(word: str) -> frozenset[str]:
    """Return a word in lower case, and all lemmas that it can have.

    Args:
        word: A word in any case, or a clitic.

    Returns:
        The word and its lemmas, also in American spelling.

    Example:
        >>> sorted(lemmas("Colours"))
        ['color', 'colors', 'colours']
    """
    low = word.lower().replace("’", "'")
    low = word_map("contracted").get(low, low)
    forms = {low, american(low)}
    for known in readings(low).values():
        forms.update(american(lemma.lower()) for lemma in known)
    # Add the standard form of a colloquial spelling: "going" for "goin'".
    if low.endswith("n'"):
        forms.add(low[:-1] + "g")
    return frozenset(forms)


@lru_cache(maxsize=65536)
def stems(word: str) -> frozenset[str]:
    """Return rough stems of a word. Related words usually have at least one stem in common.

    Args:
        word: A word in any case.

    Returns:
        The stems, of at least three letters each. For example, *decision* and *decide* have a stem in
        common.

    Example:
        >>> stems("decision") & stems("decide")
        frozenset({'decy'})
    """
    low = american(word.lower())
    stripped = {word_map("irregular-stems").get(low, low)}
    # A word may have two suffixes, as in care-ful-ly, so suffixes are removed twice.
    for _ in range(2):
        for known in tuple(stripped):
            if (match := _SUFFIX.search(known)) and match.start() >= 3:
                stripped.add(known[: match.start()])
    stripped |= {known[:-1] for known in stripped if len(known) > 4 and known[-1] in "dts"}
    return frozenset(_fold(stem) for stem in stripped if len(stem) >= 3)


def _fold(stem: str) -> str:
    """Undo spelling changes at the end of a stem: *beginn-er* matches *begin*, and *happi-ness* *happy*."""
    if len(stem) > 3 and stem[-1] == stem[-2]:
        stem = stem[:-1]
    return stem[:-1] + "y" if stem.endswith("i") else stem


def content_lemmas(text: str) -> tuple[str, ...]:
    """Return the distinct content lemmas of a text, in text order.

    The lemmas are the keys of `Term` nodes in the graph database. The function uses no tagger, so it is fast
    (about 50,000 sentences per second). An ambiguous word gets the lemma of a verb (*ran*, *left*, *saw*), or
    of a noun if it ends in *-s*. As a result, all inflected forms of a word get the same lemma.

    Args:
        text: Raw or tokenised text.

    Returns:
        The lemmas in lower case.

    Example:
        >>> content_lemmas("I ran to the houses, but they didn ' t open their doors.")
        ('run', 'house', 'open', 'door')
    """
    words = WORD.findall(with_clitics(text))
    return tuple(dict.fromkeys(lemma for word in words if (lemma := _content_lemma(word))))


@lru_cache(maxsize=1 << 17)
def _content_lemma(word: str) -> str:
    """Return the lemma of a content word; the empty string for other words, such as *the*."""
    bare = _CLITIC.sub("", word.lower())
    if not 1 < len(bare) <= _LONGEST_WORD or bare in CLOSED:
        return ""
    lemma = lemma_of(bare)
    return "" if lemma in CLOSED else lemma


_JUDGED = 200
"""Number of words at the start of a text from which its language is determined."""
_FEW = 4
"""Minimum number of words from which the language of a text in the Latin script is determined."""


def is_foreign(text: str) -> bool:
    """Return whether a text is written in a language other than English.

    Only the first 200 words are used. A text is foreign if most of its letters are not Latin. A text of at
    least four words is also foreign in two other cases. In the first case, few of its words are in the
    English dictionary and few are English function words. In the second case, at least as many words are
    function words of another European language as of English, and many words are not in the dictionary.

    Args:
        text: The text to judge.

    Returns:
        True if the text is foreign; always False for a text of fewer than four words in the Latin script.

    Example:
        >>> is_foreign("Das Hotel liegt direkt am Strand."), is_foreign("The hotel is right on the beach.")
        (True, False)
    """
    words = [match[0].lower() for match in islice(_LETTERS.finditer(text), _JUDGED)]
    letters = "".join(words)
    # "ʰ" (U+02B0) is the first code point after the Latin and IPA blocks of Unicode. A text in which most
    # letters are at or above it is in another script, and so is foreign.
    if 2 * sum(letter < "ʰ" for letter in letters) < len(letters):
        return True
    foreign = sum(word in word_class("foreign-function-words") for word in words)
    english = sum(word in CLOSED for word in words)
    long = [word for word in words if len(word) > 1]
    known = sum(word in CLOSED or (word.isascii() and bool(readings(word))) for word in long)
    # The dictionary does not list English slang and names. So a text with few known words counts as foreign
    # only if it also has few English function words. Conversely, a foreign text may share many words with
    # English ("Das Hotel ist modern"). So a text with foreign function words needs a larger share of known
    # words to count as English.
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
        word: A word in lower case, or a clitic.
        tag: The Penn tag of the word; ``None`` if it is not known, which gives the most common lemma.

    Returns:
        The lemma. An unknown word is returned unchanged.
    """
    return _commonest_lemma(word) if tag is None else _tagged_lemma(word, tag)


def _commonest_lemma(word: str) -> str:
    """Return the most common lemma of a word whose tag is not known."""
    known = readings(word)
    verbs, nouns = known.get("VERB", ()), known.get("NOUN", ())
    # Nouns such as "evening" and "glasses" look like forms of "even" and "glass", but they are lemmas. So
    # return them unchanged.
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
    # 'd has the tag VBD if it stands for "had" ("he'd gone"), and the tag MD if it stands for "would" ("he'd
    # go").
    if word == "'d" and tag == "VBD":
        return "have"
    # Forms such as "does" and "thought" are irregular as verbs but regular as nouns, so check the tag.
    irregular = word_map("irregular-forms").get(word)
    if irregular is not None and (tag not in {"NN", "NNS"} or word in {"people", "men"}):
        return irregular
    # The dictionary also lists "leave" as a singular of "leaves", but "leaf" is meant.
    if word == "leaves" and tag == "NNS":
        return "leaf"
    upos = _UNIVERSAL.get(tag) or _UNIVERSAL.get(tag[:2] if tag[:2] in ("NN", "VB") and tag != "NNP" else "")
    if upos is None or len(word) > _LONGEST_TAGGED or not word.isascii():
        return word
    known = lemmas_as(word, upos)
    # A word with the tag of a singular noun is its own lemma, although the dictionary may also list it as a
    # form of another noun, for example "data" as a form of "datum".
    if not known or (tag == "NN" and (word in known or word in ("leave", "stave", "axe"))):
        return word
    return next((lemma for lemma in known if lemma != word), word) if tag == "NNS" else known[0]


def right_article(word: str, following: str) -> str:
    """Return *a* or *an*, whichever fits the next word. Return any other word unchanged.

    >>> right_article("a", "apple"), right_article("An", "pear"), right_article("the", "apple")
    ('an', 'A', 'the')

    Args:
        word: Any word. Only *a* and *an* are changed.
        following: The next word in lower case. Its first letter determines the article.

    Returns:
        The article with the capitalisation of the word; any other word is returned unchanged.
    """
    if word.lower() not in ("a", "an"):
        return word
    right = "an" if following[0] in "aeiou" else "a"
    return right.capitalize() if word[0].isupper() else right
