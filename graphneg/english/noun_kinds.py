"""Look up the lexeme of an AMR concept and the semantic kind of a noun.

A lexeme is a lemma or a phrase in lower case. Lexemes allow concepts to be compared with keywords and with
terms of ConceptNet: ``give-up-07`` has the lexeme *give up*. A noun kind, such as ``food``, is a semantic
class of nouns. The kinds are read from ``nouns.tsv``, which is derived from WordNet. They approximate
selectional preferences: if a verb takes one noun of a kind, it usually also takes the other nouns of that
kind.

>>> lexeme("apple-pie"), kind_of("apple-pie"), is_frame("give-up-07")
('apple pie', 'food', True)
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from graphneg.english.words import table_rows

_SENSE = re.compile(r"-\d\d+$")
OTHER = "other"
"""The kind of words that are not nouns, and of nouns that few nouns can replace: amounts, parts, shapes."""


@lru_cache(maxsize=65536)
def is_frame(concept: str) -> bool:
    """Return whether a concept is a PropBank frame.

    >>> is_frame("like-01"), is_frame("boy")
    (True, False)

    Args:
        concept: An AMR concept.

    Returns:
        True if the concept ends in a sense number.
    """
    return _SENSE.search(concept) is not None


@lru_cache(maxsize=65536)
def lexeme(concept: str) -> str:
    """Return the lexeme of a concept, that is, its words in lower case without the sense number.

    >>> lexeme("give-up-07"), lexeme("boy"), lexeme("Middle-East")
    ('give up', 'boy', 'middle east')

    Args:
        concept: An AMR concept, or a name in quotation marks.

    Returns:
        The lemma or phrase, with spaces between its words; the concept itself if the lexeme would be empty.
    """
    stem = _SENSE.sub("", concept).strip('"')
    return " ".join(stem.replace("-", " ").replace("_", " ").lower().split()) or concept


@lru_cache(maxsize=65536)
def kind_of(concept: str) -> str:
    """Return the semantic kind of a noun.

    >>> kind_of("dog"), kind_of("apple-pie"), kind_of("quick")
    ('animal', 'food', 'other')

    Args:
        concept: An AMR concept or a term. If it has several words, the last word counts.

    Returns:
        A kind from ``nouns.tsv``, or `OTHER`.
    """
    return _table().get(lexeme(concept).rpartition(" ")[2], OTHER)


@cache
def _table() -> dict[str, str]:
    rows = table_rows("graphneg.english", "nouns.tsv")
    return {word: kind for kind, words in rows for word in words.split(" ")}
