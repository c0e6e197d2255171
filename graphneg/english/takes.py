"""Selectional preferences: which nouns occur as subjects and objects of which verbs.

A transform that replaces a noun should choose one that its verb can take. ``takes.tsv`` counts the nouns of
parsed dialogues by verb and role; ``python -m tools.takes`` writes it. Counts are generalised by noun sorts:
the nouns in one row of ``nouns.tsv`` are similar and replace each other.

>>> "like food" in takes("eat-01", "ARG1"), sort_of("soup")
(True, 'like food')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache

from graphneg.english.noun_kinds import OTHER, kind_of, lexeme
from graphneg.english.words import table_rows

OFTEN = 2
"""Minimum count of a sort for all its nouns to be accepted."""
CHOOSY = 48
"""Maximum number of sorts and single nouns. A verb that takes more has no usable preference."""


@lru_cache(maxsize=65536)
def sort_of(concept: str) -> str | None:
    """Return the sort of a noun, named after the first noun of its row.

    >>> sort_of("cat"), sort_of("apple-pie"), sort_of("quick")
    ('like horse', 'like food', None)

    Args:
        concept: A concept or term; the last of several words decides.

    Returns:
        ``like NOUN``, or ``None`` if the table does not list the noun.
    """
    head = _heads().get(lexeme(concept).rpartition(" ")[2])
    return None if head is None else f"like {head}"


@cache
def _heads() -> dict[str, str]:
    groups = (words.split(" ") for _, words in table_rows("graphneg.english", "nouns.tsv"))
    return {word: group[0] for group in groups for word in group}


@cache
def taken() -> Mapping[tuple[str, str], Mapping[str, int]]:
    """Return the count of each noun by verb lexeme and role.

    >>> taken()["drink", "ARG1"]["tea"] > 1
    True

    Returns:
        Noun counts by pairs such as ``("drink", "ARG1")``.
    """
    return {
        (verb, role): {noun: int(n) for noun, _, n in (pair.partition(":") for pair in nouns.split(" "))}
        for verb, role, nouns in table_rows("graphneg.english", "takes.tsv")
    }


@lru_cache(maxsize=8192)
def takes(frame: str, role: str, kinds: frozenset[str] | None = None) -> tuple[str, ...]:
    """Return the noun sorts and single nouns that a frame takes in a role, most frequent first.

    >>> "like food" in takes("eat-01", "ARG1"), takes("eat-01", "ARG1", frozenset({"vehicle"}))
    (True, ())

    Args:
        frame: A frame id; its sense is ignored.
        role: ``ARG0`` or ``ARG1``.
        kinds: Noun kinds to consider; ``None`` considers all.

    Returns:
        Sorts seen at least `OFTEN` times, and single nouns of rarer sorts; empty if there are more than
        `CHOOSY` of them.
    """
    found, sorts = Counter[str](), Counter[str]()
    for noun, n in taken().get((lexeme(frame), role), {}).items():
        # Nouns of no kind, such as amounts, say nothing about a preference.
        kind = kind_of(noun)
        if kind != OTHER and (kinds is None or kind in kinds):
            found[noun] += n
            sorts[sort_of(noun) or noun] += n
    often = {sort: n for sort, n in sorts.items() if n >= OFTEN}
    # A sort that was seen once is no evidence for its other nouns.
    rare = {noun: n for noun, n in found.items() if sort_of(noun) not in often}
    ranked = sorted({**often, **rare}.items(), key=lambda item: (-item[1], item[0]))
    return tuple(name for name, _ in ranked) if len(ranked) <= CHOOSY else ()
