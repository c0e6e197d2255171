"""Lists of words that generators know, from ``word_lists.tsv``: first words of replies, function words."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def _lists() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    text = resources.files("graphneg.generators").joinpath("word_lists.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, entry = line.partition("\t")
            found.setdefault(name, []).append(entry)
    return found


def word_list(name: str) -> frozenset[str]:
    """The words of a list.

    >>> sorted(word_list("no reply"))[:3]
    ['although', 'because', 'did']
    """
    return frozenset(word for line in _lists()[name] for word in line.split())


def phrase_list(name: str) -> list[str]:
    """The phrases of a list, one on a line, in their order."""
    return list(_lists()[name])
