"""List the words that may express a concept or constant of an AMR graph.

The aligner looks for these words in the sentence. The weight of a word shows how likely it is that the word
expresses the concept: the lemma itself has weight 10, other words have lower weights. Derived words
(*decision* for ``decide-01``) are not listed here; the aligner finds them by their stems. The tables follow
the AMR guidelines (Banarescu et al. 2019, version 1.2.6) for modals, polarity, connectives and ``-91``
frames.

>>> concept_keys("obligate-01")[:3]
(('obligate', 10.0), ('must', 8.0), ('have', 7.9))
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.english.noun_kinds import lexeme
from graphneg.english.numbers import MONTHS, NUMBERS, ORDINALS, WEEKDAYS
from graphneg.english.words import american, table_rows, word_list
from graphneg.model import AmrGraph, AmrNode


def _read_table(name: str) -> dict[str, tuple[str, ...]]:
    """Read a table whose rows contain a key, such as a concept, and words that may express it."""
    return {key: tuple(words.split()) for key, words in table_rows("graphneg.amr", f"{name}.tsv")}


PRONOUNS = _read_table("pronoun_forms")
"""The words that may express each pronoun concept, most likely word first."""
NEGATIVES = word_list("denials")
"""The words that may express ``:polarity -``, most likely word first."""
NEGATIVE_PREFIX = re.compile(r"^(?:un|in|im|ir|il|dis|non-?)(?=[a-z]{3})|less(?:ly)?$")
"""Pattern of the negative prefixes (*un-*, *dis-*) and of the suffix *-less*."""
_TABLE = _read_table("concept_words")
# Roles whose constants have no word of their own in the text. The exception ``:polarity -`` is handled
# separately.
_ROLE_WORDS = {"polarity", "mode", "polite", "wiki"}


@lru_cache(maxsize=65536)
def concept_keys(concept: str) -> tuple[tuple[str, float], ...]:
    """Return the lemmas that may express a concept.

    Args:
        concept: The concept, such as ``take-away-05``.

    Returns:
        Pairs of a lemma in American spelling and its weight. A higher weight is better.

    Example:
        >>> concept_keys("take-away-05")
        (('take away', 10.0), ('take', 7.0), ('take-away', 10.0), ('takeaway', 10.0))
    """
    if concept in PRONOUNS:
        return tuple((form, 10.0 - 0.1 * rank) for rank, form in enumerate(PRONOUNS[concept]))
    lemma = lexeme(concept)
    known = _TABLE.get(concept)
    # The name of a frame such as ``have-condition-91`` does not occur in texts. So return only the words in
    # the frame's row of ``_TABLE``, such as *if*. The rows of a few concepts, such as ``date-entity``, are
    # empty, because no word expresses these concepts.
    if known is not None and (concept.endswith("-91") or not known):
        return tuple((word, 6.0) for word in known)
    keys = {american(lemma): 10.0}
    head = lemma.split(" ")[0]
    # ``take-away-05`` may be written as "take ... away", "take-away" or "takeaway".
    if head != lemma:
        keys[american(head)] = 7.0
        keys[lemma.replace(" ", "-")] = 10.0
        keys[lemma.replace(" ", "")] = 10.0
    for rank, word in enumerate(known or ()):
        keys.setdefault(word, 8.0 - 0.1 * rank)
    return tuple(keys.items())


def value_keys(graph: AmrGraph, node: AmrNode) -> tuple[tuple[str, float], ...]:
    """Return the words that may express a constant.

    A plain number is returned only as it is written, for example "12". The aligner itself compares the
    number's value with the values of number words.

    Args:
        graph: The graph that contains the constant.
        node: The constant, which is a node of the graph.

    Returns:
        Pairs of a lemma and its weight, for strings, months, weekdays, ordinals, hours and negations.
    """
    value = (node.value or "").strip('"')
    parent = graph.nodes[node.parent] if node.parent is not None else None
    if node.role == "polarity":
        return tuple((word, 9.0 - 0.1 * rank) for rank, word in enumerate(NEGATIVES)) if value == "-" else ()
    if node.role in _ROLE_WORDS or not value:
        return ()
    keys = [(american(value.lower()), 10.0)]
    if parent is not None and parent.concept == "date-entity" and node.role == "month" and value.isdigit():
        month = MONTHS[(int(value) - 1) % 12]
        keys += [(month, 10.0), (month[:3], 9.0)]
    # ``:value 2`` of an ordinal is "second", and ``:value -1`` is "last".
    if parent is not None and parent.concept == "ordinal-entity":
        keys += [(word, 10.0) for word, number in ORDINALS.items() if str(number) == value]
        keys += [(word, 9.0) for word in ("last", "final") if value == "-1"]
    # A time of ``"17:00"`` may be written in the text as *17*, *5* or *five*.
    if node.role == "time" and re.fullmatch(r"\d+:\d\d", value):
        hour = int(value.split(":")[0])
        spoken = [word for word, number in NUMBERS.items() if number == (hour % 12 or 12)]
        keys += [(str(hour), 8.0), (str(hour % 12 or 12), 9.0), *((word, 9.0) for word in spoken)]
    if node.role == "weekday" and value.isdigit():
        keys += [(WEEKDAYS[(int(value) - 1) % 7], 9.0)]
    return tuple(keys)
