"""Selectional preferences: which nouns are used as subject or object of which verb.

If a transform replaces a noun, the new noun should be usual with the verb. The table ``takes.tsv`` counts how
often each noun occurs with each verb and role in parsed dialogues (``python -m tools.takes`` creates it). The
dialogues do not contain every possible combination of a noun and a verb. Therefore similar nouns are counted
together. A *cluster* consists of the similar nouns in one row of ``nouns.tsv``, which can replace each other.

>>> "like food" in preferred_nouns("eat-01", "ARG1"), noun_cluster("soup")
(True, 'like food')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache

from graphneg.english.noun_kinds import OTHER, kind_of, lexeme
from graphneg.english.words import table_rows

MIN_COUNT = 2
"""Minimum count of a noun cluster with a verb, from which the verb accepts all nouns of the cluster."""
MAX_PREFERENCES = 48
"""Maximum number of clusters and single nouns that a verb can prefer in a role. If a verb occurs with more
of them, it accepts almost any noun, so it counts as a verb without preferences.
"""


@lru_cache(maxsize=65536)
def noun_cluster(concept: str) -> str | None:
    """Return the cluster of similar nouns that contains a noun, named after its first noun in ``nouns.tsv``.

    >>> noun_cluster("cat"), noun_cluster("apple-pie"), noun_cluster("quick")
    ('like horse', 'like food', None)

    Args:
        concept: An AMR concept or a term. If it has several words, the last word counts.

    Returns:
        The name of the cluster, ``like NOUN``; ``None`` if the table does not list the noun.
    """
    head = _heads().get(lexeme(concept).rpartition(" ")[2])
    return None if head is None else f"like {head}"


@cache
def _heads() -> dict[str, str]:
    groups = (words.split(" ") for _, words in table_rows("graphneg.english", "nouns.tsv"))
    return {word: group[0] for group in groups for word in group}


@cache
def noun_counts() -> Mapping[tuple[str, str], Mapping[str, int]]:
    """Return how often each noun occurs with each verb and role.

    >>> noun_counts()["drink", "ARG1"]["tea"] > 1
    True

    Returns:
        For each pair of a verb and a role such as ``("drink", "ARG1")``, the number of occurrences of each
        noun, keyed by noun.
    """
    return {
        (verb, role): {noun: int(n) for noun, _, n in (pair.partition(":") for pair in nouns.split(" "))}
        for verb, role, nouns in table_rows("graphneg.english", "takes.tsv")
    }


@lru_cache(maxsize=8192)
def preferred_nouns(frame: str, role: str, kinds: frozenset[str] | None = None) -> tuple[str, ...]:
    """Return the nouns that are used with a frame in a role, most frequent first.

    Similar nouns are represented by the name of their cluster, such as ``like food`` (see `noun_cluster`).

    >>> "like food" in preferred_nouns("eat-01", "ARG1")
    True
    >>> preferred_nouns("eat-01", "ARG1", frozenset({"vehicle"}))
    ()

    Args:
        frame: Id of the frame. Its sense number is ignored.
        role: ``ARG0`` or ``ARG1``.
        kinds: Noun kinds to consider; ``None`` considers all kinds.

    Returns:
        The names of the clusters that occur at least `MIN_COUNT` times, and the single nouns of rarer
        clusters. Empty if the result would have more than `MAX_PREFERENCES` elements.
    """
    found, cluster_counts = Counter[str](), Counter[str]()
    for noun, n in noun_counts().get((lexeme(frame), role), {}).items():
        # Skip nouns without a kind, such as amounts, because they give no evidence of a preference.
        kind = kind_of(noun)
        if kind != OTHER and (kinds is None or kind in kinds):
            found[noun] += n
            cluster_counts[noun_cluster(noun) or noun] += n
    often = {sort: n for sort, n in cluster_counts.items() if n >= MIN_COUNT}
    # If *soup* is the only food that occurs with a verb, other food may not fit the verb. So return *soup*,
    # and not the whole cluster ``like food``.
    rare = {noun: n for noun, n in found.items() if noun_cluster(noun) not in often}
    ranked = sorted({**often, **rare}.items(), key=lambda item: (-item[1], item[0]))
    return tuple(name for name, _ in ranked) if len(ranked) <= MAX_PREFERENCES else ()
