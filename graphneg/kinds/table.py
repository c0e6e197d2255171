"""The table of nouns and their kinds: a verb that takes one noun of a kind takes others of it, mostly."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files

from graphneg.lexeme import lexeme

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
    lines = files("graphneg.kinds").joinpath("nouns.tsv").read_text("utf-8").splitlines()
    found: dict[str, str] = {}
    for line in lines:
        kind, words = line.split("\t")
        found.update(dict.fromkeys(words.split(" "), kind))
    return found
