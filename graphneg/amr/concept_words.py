"""Which words a node of an AMR graph may stand for, before any sentence is looked at.

In: a concept or a constant. Out: words to look for, with weights: an exact lemma weighs 10, a closed-class
word 8 to 10; derived words are left to the aligner's stems. The tables follow the AMR guidelines (Banarescu
et al. 2019, version 1.2.6) on modals, polarity, connectives and -91 frames.

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
    """A table beside this module: a key and its words on each line."""
    return {key: tuple(words.split()) for key, words in table_rows("graphneg.amr", f"{name}.tsv")}


PRONOUNS = _read_table("pronoun_forms")
NEGATIVES = word_list("denials")
NEGATIVE_PREFIX = re.compile(r"^(?:un|in|im|ir|il|dis|non-?)(?=[a-z]{3})|less(?:ly)?$")
_TABLE = _read_table("concept_words")
_ROLE_WORDS = {"polarity", "mode", "polite", "wiki"}


@lru_cache(maxsize=65536)
def concept_keys(concept: str) -> tuple[tuple[str, float], ...]:
    """Lemmas that a concept may show as, with weights."""
    if concept in PRONOUNS:
        return tuple((form, 10.0 - 0.1 * rank) for rank, form in enumerate(PRONOUNS[concept]))
    lemma = lexeme(concept)
    known = _TABLE.get(concept)
    if known is not None and (concept.endswith("-91") or not known):
        return tuple((word, 6.0) for word in known)
    keys = {american(lemma): 10.0}
    head = lemma.split(" ")[0]
    if head != lemma:
        keys[american(head)] = 7.0
        keys[lemma.replace(" ", "-")] = 10.0
        keys[lemma.replace(" ", "")] = 10.0
    for rank, word in enumerate(known or ()):
        keys.setdefault(word, 8.0 - 0.1 * rank)
    return tuple(keys.items())


def value_keys(graph: AmrGraph, node: AmrNode) -> tuple[tuple[str, float], ...]:
    """Words for a constant: strings as they are, months, ordinals; numbers are matched by value."""
    value = (node.value or "").strip('"')
    parent = graph.nodes[node.up] if node.up is not None else None
    if node.role == "polarity":
        return tuple((word, 9.0 - 0.1 * rank) for rank, word in enumerate(NEGATIVES)) if value == "-" else ()
    if node.role in _ROLE_WORDS or not value:
        return ()
    keys = [(american(value.lower()), 10.0)]
    if parent is not None and parent.concept == "date-entity" and node.role == "month" and value.isdigit():
        month = MONTHS[(int(value) - 1) % 12]
        keys += [(month, 10.0), (month[:3], 9.0)]
    if parent is not None and parent.concept == "ordinal-entity":
        keys += [(word, 10.0) for word, number in ORDINALS.items() if str(number) == value]
        keys += [(word, 9.0) for word in ("last", "final") if value == "-1"]
    if node.role == "time" and re.fullmatch(r"\d+:\d\d", value):
        hour = int(value.split(":")[0])
        spoken = [word for word, number in NUMBERS.items() if number == (hour % 12 or 12)]
        keys += [(str(hour), 8.0), (str(hour % 12 or 12), 9.0), *((word, 9.0) for word in spoken)]
    if node.role == "weekday" and value.isdigit():
        keys += [(WEEKDAYS[(int(value) - 1) % 7], 9.0)]
    return tuple(keys)
