"""What verbs take: which nouns were seen as their subjects and objects, and which are like these.

``takes.tsv`` has counts of parsed talk, made by ``python -m tools.takes``; nouns of one sort, a row of
``nouns.tsv``, stand for each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache

from graphneg.english.noun_kinds import OTHER, kind_of, lexeme
from graphneg.english.words import table_rows

OFTEN = 2
"""So often a sort must have been seen for all of its nouns to fit."""
CHOOSY = 48
"""Who takes more sorts and rarer nouns than these does not choose, and says nothing of what fits."""


@lru_cache(maxsize=65536)
def sort_of(concept: str) -> str | None:
    """The sort of a noun, by its commonest word; of several words the last one's.

    >>> sort_of("cat"), sort_of("apple-pie"), sort_of("quick")
    ('like horse', 'like food', None)
    """
    head = _heads().get(lexeme(concept).rpartition(" ")[2])
    return None if head is None else f"like {head}"


@cache
def _heads() -> dict[str, str]:
    groups = (words.split(" ") for _, words in table_rows("graphneg.english", "nouns.tsv"))
    return {word: group[0] for group in groups for word in group}


@cache
def taken() -> Mapping[tuple[str, str], Mapping[str, int]]:
    """By verb and role, how often each noun was seen.

    >>> taken()["drink", "ARG1"]["tea"] > 1
    True
    """
    return {
        (verb, role): {noun: int(n) for noun, _, n in (pair.partition(":") for pair in nouns.split(" "))}
        for verb, role, nouns in table_rows("graphneg.english", "takes.tsv")
    }


@lru_cache(maxsize=8192)
def takes(frame: str, role: str, kinds: frozenset[str] | None = None) -> tuple[str, ...]:
    """The sorts, and the nouns of rarer sorts, that a frame takes in a role, the commonest first; of these
    ``kinds``, of any where none are named. Nothing where it takes too many.

    >>> "like food" in takes("eat-01", "ARG1"), takes("eat-01", "ARG1", frozenset({"vehicle"}))
    (True, ())
    """
    found, sorts = Counter[str](), Counter[str]()
    for noun, n in taken().get((lexeme(frame), role), {}).items():
        kind = kind_of(noun)
        if kind != OTHER and (kinds is None or kind in kinds):
            found[noun] += n
            sorts[sort_of(noun) or noun] += n
    often = {sort: n for sort, n in sorts.items() if n >= OFTEN}
    rare = {noun: n for noun, n in found.items() if sort_of(noun) not in often}
    ranked = sorted({**often, **rare}.items(), key=lambda item: (-item[1], item[0]))
    return tuple(name for name, _ in ranked) if len(ranked) <= CHOOSY else ()
