"""What kind of thing a noun names, of which kinds opposites are said, and the lexeme behind a concept."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from graphneg.english.lexicon import english

# The lemma or phrase behind an AMR concept: where graphs, keywords and ConceptNet meet.


_SENSE = re.compile(r"-\d\d+$")


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


# The table of nouns and their kinds: a verb that takes one noun of a kind takes others of it, mostly.


OTHER = "other"
"""What is no noun, or a noun that little can stand for: an amount, a part, a form."""


@lru_cache(maxsize=65536)
def kind_of(concept: str) -> str:
    """The kind of a concept or term; of several words the last one's.

    >>> kind_of("dog"), kind_of("apple-pie"), kind_of("quick")
    ('animal', 'food', 'other')
    """
    return _table().get(lexeme(concept).rpartition(" ")[2], OTHER)


@cache
def _table() -> dict[str, str]:
    lines = files("graphneg.english").joinpath("nouns.tsv").read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    for line in lines:
        kind, words = line.split("\t")
        found.update(dict.fromkeys(words.split(" "), kind))
    return found


# What pairs of opposites are said of: *old* is *young* of people and *new* of things.
#
# ConceptNet calls many words antonyms that are no opposites (*meet* and *pass*), or are so in one sense only.
# The lexicon names the common ones of both sorts, judged by reading.


def said_of(word: str, other: str) -> list[str] | None:
    """The kinds of things of which two words are opposites; ``None`` where the lexicon does not know them.

    >>> said_of("young", "old")
    ['animal', 'person', 'plant']
    >>> said_of("meet", "pass"), said_of("good", "bad")
    ([], None)
    """
    return english().said_of(word, other)
