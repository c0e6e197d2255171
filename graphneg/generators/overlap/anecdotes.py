"""Score how much a text resembles the anecdotes that people write as wrong responses.

For DailyDialog++, people were asked for wrong responses that share words with a context. They mostly wrote
small personal anecdotes. `features` returns properties of a text that do not depend on its topic: person,
tense, kinship terms, times, length, number of sentences, function words and the first word. ``anecdotes.tsv``
contains a weight for each feature. `likeness` adds up the weights of a text's features. The sum is the
logarithm of a likelihood ratio, which estimates how much more frequent such texts are among wrong responses
written by people than in a pool of sentences. If sentences are sampled in proportion to the exponential of
their likeness (importance resampling), each feature is about as frequent in the sample as in wrong responses
written by people. Example::

    My uncle sold it yesterday.    features: first-person, kin, past, past-time, words:4, ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from graphneg.english.tokens import WORD, sentences
from graphneg.english.words import CLOSED, is_past, readings, table_rows, word_class, word_map

_TABLE = "anecdotes.tsv"
"""File with the weight of each feature. Its header names the data from which the weights were computed."""
_LONGEST = 24
"""Highest number of words in the length features. Longer texts get the feature of texts of this length."""
_LONG_WORD = 9
"""Minimum number of letters in a word that counts as long."""
_MANY = 2
"""Highest count that a feature name contains: ``commas:2`` means two or more commas. The same number of text
lengths (4 and 5, 6 and 7, ...) share a length feature."""
_DIGIT = re.compile(r"\d")
_CLASSES = ("kin", "first-person", "second-person", "weekdays", "months", "units")
"""Names of word classes that are also names of features. A text has such a feature if it contains a word of
the class."""


def features(text: str) -> Iterator[str]:
    """Yield the features of a text that show whether it resembles an anecdote.

    Args:
        text: Text of a possible response.

    Yields:
        Names of features, each once. The feature of a function word has the word as its name, such as ``my``.

    Example:
        >>> sorted(set(features("My uncle sold it yesterday.")) - {"it", "my"})
        ['first-person', 'first:my', 'kin', 'long words:1', 'past', 'past-time', 'words:4']
    """
    words = WORD.findall(text)
    # Replace typographic apostrophes, so that "I’m" and "I'm" give the same features.
    low = [word.lower().replace("’", "'") for word in words]
    said = set(low)
    yield from sorted(said & CLOSED)
    if low:
        yield f"first:{low[0] if low[0] in CLOSED else _kind_of_first(low[0])}"
    yield from (name for name in _CLASSES if not said.isdisjoint(word_class(name)))
    if any(word in _past_auxiliaries() or is_past(word) for word in low):
        yield "past"
    if any(word_map("tenses-of-times").get(word) == "past" for word in low):
        yield "past-time"
    # Texts of 4 and of 5 words both get the feature "words:4".
    yield f"words:{min(len(words), _LONGEST) // _MANY * _MANY}"
    # Do not count the first word of a text: it is always capitalized, even if it is not a name.
    yield from _counted("names", sum(map(_is_name, words[1:])))
    yield from _counted("commas", text.count(","))
    yield from _counted("long words", sum(len(word) >= _LONG_WORD for word in words))
    yield from _counted("clitics", sum("'" in word for word in low))
    if _DIGIT.search(text):
        yield "digits"
    if text.endswith(("?", "!")):
        yield f"ends:{text[-1]}"
    if len(list(sentences(text))) > 1:
        yield "sentences"


def likeness(text: str) -> float:
    """Return how much a text resembles wrong responses written by people, as a log-likelihood ratio.

    Args:
        text: Text of a possible response.

    Returns:
        The sum of the weights of the text's features. It is positive if such texts are more frequent among
        wrong responses written by people than in a pool of sentences.
    """
    weights = _weights()
    return sum(weights.get(name, 0.0) for name in features(text))


@cache
def _weights() -> dict[str, float]:
    return {name: float(weight) for name, weight in table_rows("graphneg.generators.overlap", _TABLE)}


@cache
def _past_auxiliaries() -> frozenset[str]:
    return word_class("past-auxiliaries")


def _counted(name: str, amount: int) -> Iterator[str]:
    """Yield a feature with a number, such as ``commas:1``; nothing if ``amount`` is 0."""
    if amount:
        yield f"{name}:{min(amount, _MANY)}"


@lru_cache(maxsize=1 << 14)
def _kind_of_first(word: str) -> str:
    """Return the first of ``noun``, ``verb``, ``adj`` and ``adv`` that a word can be, otherwise ``name``."""
    known = readings(word)
    return next((kind.lower() for kind in ("NOUN", "VERB", "ADJ", "ADV") if kind in known), "name")


def _is_name(word: str) -> bool:
    """Return whether a word is capitalized like a name. The word must not be the first word of its text."""
    # "I" and "I'm" are capitalized, but they are not names.
    return word[0].isupper() and word.partition("'")[0] != "I"
