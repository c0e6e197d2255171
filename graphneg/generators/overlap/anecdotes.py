"""Score how much a text resembles the anecdotes that people write as wrong responses.

People were asked for wrong responses that share words with a context, and mostly wrote small personal
anecdotes (DailyDialog++). `features` returns properties of a text that do not depend on its topic: person,
tense, kinship terms, times, length, number of sentences, function words and the first word. ``anecdotes.tsv``
contains a weight for each feature. `likeness` adds up the weights of a text's features. The sum is the
logarithm of a likelihood ratio: it says how much more frequent such texts are among the wrong responses
written by people than in a pool of sentences. If sentences are sampled in proportion to the exponential of
their likeness (importance resampling), each feature is about as frequent as in wrong responses written by
people::

    My uncle sold it yesterday.    features: first-person, kin, past, past-time, words:4, ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from graphneg.english.tokens import WORD, sentences
from graphneg.english.words import CLOSED, is_past, readings, table_rows, word_class, word_map

_TABLE = "anecdotes.tsv"
"""Table of features and weights. Its header names the data from which the weights were computed."""
_LONGEST = 24
"""Longer texts count as texts with this number of words."""
_LONG_WORD = 9
"""Minimum length of a long word, in letters."""
_MANY = 2
"""Highest count in the name of a feature: 2 means two or more. It is also the number of text lengths that are
grouped into one feature."""
_DIGIT = re.compile(r"\d")
_CLASSES = ("kin", "first-person", "second-person", "weekdays", "months", "units")
"""Word classes that are features. A text has such a feature if it contains a word of the class."""


def features(text: str) -> Iterator[str]:
    """Yield the features of a text.

    Args:
        text: A text.

    Yields:
        Names of features, each once.

    Example:
        >>> sorted(set(features("My uncle sold it yesterday.")) - {"it", "my"})
        ['first-person', 'first:my', 'kin', 'long words:1', 'past', 'past-time', 'words:4']
    """
    words = WORD.findall(text)
    # Typographic apostrophes are replaced, so that "I’m" and "I'm" give the same features.
    low = [word.lower().replace("’", "'") for word in words]
    said = set(low)
    yield from sorted(said & CLOSED)
    if low:
        yield f"first:{low[0] if low[0] in CLOSED else _kind_of_first(low[0])}"
    yield from (name for name in _CLASSES if not said.isdisjoint(word_class(name)))
    if any(word in _past_forms() or is_past(word) for word in low):
        yield "past"
    if any(word_map("tenses-of-times").get(word) == "past" for word in low):
        yield "past-time"
    # Lengths are grouped in pairs: texts of 4 and of 5 words share a feature.
    yield f"words:{min(len(words), _LONGEST) // _MANY * _MANY}"
    # The first word is always capitalized, so a capital does not show that it is a name.
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
        text: A text.

    Returns:
        The logarithm of the ratio. It is positive if such texts are more frequent among wrong responses
        written by people than in a pool of sentences.
    """
    weights = _weights()
    return sum(weights.get(name, 0.0) for name in features(text))


@cache
def _weights() -> dict[str, float]:
    """Return the weights from ``anecdotes.tsv`` by feature."""
    return {name: float(weight) for name, weight in table_rows("graphneg.generators.overlap", _TABLE)}


@cache
def _past_forms() -> frozenset[str]:
    """Return the auxiliaries in the past tense."""
    return word_class("past-auxiliaries")


def _counted(name: str, amount: int) -> Iterator[str]:
    """Yield a feature for one occurrence or for several occurrences. Without occurrences, yield none."""
    if amount:
        yield f"{name}:{min(amount, _MANY)}"


@lru_cache(maxsize=1 << 14)
def _kind_of_first(word: str) -> str:
    """Return the first part of speech that a word can have, or ``name`` if the dictionary has none."""
    known = readings(word)
    return next((kind.lower() for kind in ("NOUN", "VERB", "ADJ", "ADV") if kind in known), "name")


def _is_name(word: str) -> bool:
    """Return whether a word that is not the first of its sentence is capitalized like a name."""
    # "I" and "I'm" are capitalized, but they are not names.
    return word[0].isupper() and word.partition("'")[0] != "I"
