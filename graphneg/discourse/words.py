"""Look up the words of the discourse layer in the table ``discourse.tsv``.

>>> "just" in words("markers"), values("pronouns")["she"]
(True, 'female')
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from graphneg.english.words import table_rows, unique_rows

_TABLE = "discourse.tsv"


@cache
def _classes() -> dict[str, str]:
    return unique_rows([row for row in table_rows("graphneg.english", _TABLE) if any(row)], _TABLE)


@cache
def words(name: str) -> frozenset[str]:
    """Return the words of a class.

    Args:
        name: Name of the class, such as ``markers``.

    Returns:
        The words.
    """
    return frozenset(_classes()[name].split(" "))


@cache
def values(name: str) -> Mapping[str, str]:
    """Return the words of a class with their values, such as ``male`` for *he*.

    Args:
        name: Name of the class, such as ``pronouns``.

    Returns:
        The values, keyed by word.
    """
    pairs = (pair.rpartition(":") for pair in _classes()[name].split(" "))
    return {word: value for word, _, value in pairs}


@cache
def opposites() -> Mapping[str, frozenset[str]]:
    """Return the opposites of each word of the class ``opposites``, in both directions.

    >>> sorted(opposites()["like"])
    ['dislike', 'hate']
    """
    found: dict[str, set[str]] = {}
    for pair in _classes()["opposites"].split(" "):
        one, _, other = pair.partition(":")
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}
