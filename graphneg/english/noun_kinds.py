"""The lexeme behind an AMR concept, and what kind of thing a noun names.

A lexeme is the lemma or phrase where graphs, keywords and ConceptNet meet. Kinds are a table (``nouns.tsv``):
a verb that takes one noun of a kind takes others of it, mostly.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from graphneg.english.words import table_rows

_SENSE = re.compile(r"-\d\d+$")
OTHER = "other"
"""What is no noun, or a noun that little can stand for: an amount, a part, a form."""


@lru_cache(maxsize=65536)
def is_frame(concept: str) -> bool:
    """Whether the concept names a PropBank roleset.

    >>> is_frame("like-01"), is_frame("boy")
    (True, False)
    """
    return _SENSE.search(concept) is not None


@lru_cache(maxsize=65536)
def lexeme(concept: str) -> str:
    """The concept's lemma or phrase, lower case, words apart by a space.

    >>> lexeme("give-up-07"), lexeme("boy"), lexeme("Middle-East")
    ('give up', 'boy', 'middle east')
    """
    stem = _SENSE.sub("", concept).strip('"')
    return " ".join(stem.replace("-", " ").replace("_", " ").lower().split()) or concept


@lru_cache(maxsize=65536)
def kind_of(concept: str) -> str:
    """The kind of a concept or term; of several words the last one's.

    >>> kind_of("dog"), kind_of("apple-pie"), kind_of("quick")
    ('animal', 'food', 'other')
    """
    return _table().get(lexeme(concept).rpartition(" ")[2], OTHER)


@cache
def _table() -> dict[str, str]:
    rows = table_rows("graphneg.english", "nouns.tsv")
    return {word: kind for kind, words in rows for word in words.split(" ")}
