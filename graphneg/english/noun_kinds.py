"""The lexeme of an AMR concept, and the semantic class of a noun.

A lexeme is the lemma or phrase under which graphs, keywords and ConceptNet meet: ``give-up-07`` has the
lexeme *give up*. Noun kinds are read from ``nouns.tsv``, which is derived from WordNet. They approximate
selectional preferences: a verb that takes one noun of a kind mostly takes others of it, too.

>>> lexeme("apple-pie"), kind_of("apple-pie"), is_frame("give-up-07")
('apple pie', 'food', True)
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from graphneg.english.words import table_rows

_SENSE = re.compile(r"-\d\d+$")
OTHER = "other"
"""The kind of words that are not nouns, and of nouns that few others can replace: amounts, parts, shapes."""


@lru_cache(maxsize=65536)
def is_frame(concept: str) -> bool:
    """Return whether a concept names a PropBank roleset.

    >>> is_frame("like-01"), is_frame("boy")
    (True, False)

    Args:
        concept: An AMR concept.

    Returns:
        Whether it ends in a sense number.
    """
    return _SENSE.search(concept) is not None


@lru_cache(maxsize=65536)
def lexeme(concept: str) -> str:
    """Return the lexeme of a concept: lower case, words separated by spaces.

    >>> lexeme("give-up-07"), lexeme("boy"), lexeme("Middle-East")
    ('give up', 'boy', 'middle east')

    Args:
        concept: An AMR concept or a quoted name.

    Returns:
        The lemma or phrase without the sense number; the concept itself if nothing else is left.
    """
    stem = _SENSE.sub("", concept).strip('"')
    return " ".join(stem.replace("-", " ").replace("_", " ").lower().split()) or concept


@lru_cache(maxsize=65536)
def kind_of(concept: str) -> str:
    """Return the noun kind of a concept or term.

    >>> kind_of("dog"), kind_of("apple-pie"), kind_of("quick")
    ('animal', 'food', 'other')

    Args:
        concept: A concept or term; the last of several words decides.

    Returns:
        A kind of ``nouns.tsv``, or `OTHER`.
    """
    return _table().get(lexeme(concept).rpartition(" ")[2], OTHER)


@cache
def _table() -> dict[str, str]:
    rows = table_rows("graphneg.english", "nouns.tsv")
    return {word: kind for kind, words in rows for word in words.split(" ")}
