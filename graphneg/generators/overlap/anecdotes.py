"""How like the anecdotes a text is that people tell to be wrong: by features that were counted.

A text goes in, the names of its features come out (`features`): who speaks, in which tense, of kin, of when,
how long, in how many sentences, which function words, how it begins. No word of a scene is among them. Each
has a weight in ``anecdotes.tsv``, and their sum (`likeness`) is the logarithm of how much more frequent texts
with these features are among people's than in pools. So a sentence that is drawn by the exponential of its
likeness has each feature about as often as people's do (importance resampling).

``tools.anecdotes`` counts; the table says on what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from graphneg.english.tokens import WORD, sentences
from graphneg.english.words import CLOSED, is_past, readings, table_rows, word_class, word_map

_TABLE = "anecdotes.tsv"
_LONGEST = 24
_LONG_WORD = 9
_MANY = 2
_DIGIT = re.compile(r"\d")
_CLASSES = ("kin", "first-person", "second-person", "weekdays", "months", "units")


def features(text: str) -> Iterator[str]:
    """The features of a text, each once.

    >>> sorted(set(features("My uncle sold it yesterday.")) - {"it", "my"})
    ['first:my', 'first-person', 'kin', 'long words:1', 'past', 'past-time', 'words:4']
    """
    words = WORD.findall(text)
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
    yield f"words:{min(len(words), _LONGEST) // _MANY * _MANY}"
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
    """How much likelier a text with these features is among people's than in a pool, as a logarithm."""
    weights = _weights()
    return sum(weights.get(name, 0.0) for name in features(text))


@cache
def _weights() -> dict[str, float]:
    return {name: float(weight) for name, weight in table_rows("graphneg.generators.overlap", _TABLE)}


@cache
def _past_forms() -> frozenset[str]:
    return word_class("past-auxiliaries")


def _counted(name: str, amount: int) -> Iterator[str]:
    """A feature for one of a kind, another one for more."""
    if amount:
        yield f"{name}:{min(amount, _MANY)}"


@lru_cache(maxsize=1 << 14)
def _kind_of_first(word: str) -> str:
    """What a first word can be, in one word: ``verb``, ``noun`` and so on, ``name`` of none."""
    known = readings(word)
    return next((kind.lower() for kind in ("NOUN", "VERB", "ADJ", "ADV") if kind in known), "name")


def _is_name(word: str) -> bool:
    """Whether a word that begins no sentence is written as a name."""
    return word[0].isupper() and word.partition("'")[0] != "I"
