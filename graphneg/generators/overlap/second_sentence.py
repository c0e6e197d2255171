"""A retrieved sentence goes on: the sentence that was said behind it in the same turn comes with it.

Candidates go in; in a share of those that have such a sentence, drawn by hash, the two are one text when they
come out. What comes behind is no question, has no more words of the last turn, and ends within the words that
a response may have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphneg.english.tokens import word_count
from graphneg.english.words import content_lemmas
from graphneg.generators.base import Candidate, Context
from graphneg.generators.overlap.noun_substitution import FOUND
from graphneg.generators.overlap.target_profile import Conditions
from graphneg.hashing import number
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

_SCALE = 2**64
_MORE_WORDS = 4
"""Two sentences are so many words longer than one may be."""
_SHORT = 14
"""A longer sentence stands alone."""


class SecondSentence:
    """Puts a second sentence behind a share of the candidates."""

    def __init__(self, store: Store, conditions: Conditions) -> None:
        self._store = store
        self._share = conditions.seconds
        self._most = conditions.most_words + _MORE_WORDS

    def apply(self, contexts: Sequence[Context], given: list[list[Candidate]], seed: int) -> None:
        """Put longer candidates in place of those that are drawn; what nothing follows, stays."""
        chosen: dict[tuple[int, int], str] = {}
        for at, candidates in enumerate(given):
            for slot, candidate in enumerate(candidates):
                turn, dot, index = candidate.details["source"].rpartition(".")
                drawn = number(seed, "second", contexts[at].id, candidate.text) < self._share * _SCALE
                if drawn and dot and "#" in turn and word_count(candidate.text) <= _SHORT:
                    chosen[at, slot] = f"{turn}.{int(index) + 1}"
        if not chosen:
            return
        asked = {"ids": sorted(set(chosen.values())), "most": _SHORT}
        rows = {row["id"]: row for row in self._store.read(cypher_text("overlap/next"), **asked)}
        for (at, slot), id in chosen.items():
            candidate, row = given[at][slot], rows.get(id)
            last = frozenset(content_lemmas(contexts[at].turns[-1].text))
            if row is not None and row["mood"] != "question" and last.isdisjoint(row["terms"]):
                text = f"{candidate.text} {row['text']}"
                if word_count(text) <= self._most:
                    details = {**candidate.details, FOUND: candidate.text}
                    given[at][slot] = replace(candidate, text=text, details=details)
