"""Extend a retrieved sentence by the sentence that follows it in the same turn.

A random fraction of the candidates is extended, so that not all negatives are single sentences::

    found       I read the terms before signing the petition.
    extended    I read the terms before signing the petition. My neighbour collected the names.

The second sentence must not be a question, and it must not contain a content word of the context's last turn.
The two sentences together must not be too long for a response.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphneg.english.tokens import word_count
from graphneg.english.words import content_lemmas
from graphneg.generators.base import Candidate, Context
from graphneg.generators.overlap.noun_substitution import FOUND
from graphneg.generators.overlap.target_profile import OverlapOptions
from graphneg.hashing import number
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

_SCALE = 2**64
"""Number of possible values of a 64-bit hash."""
_MORE_WORDS = 4
"""Number of words by which two sentences together may exceed the option ``max_words``, the limit for a single
sentence."""
_SHORT = 14
"""Maximum number of words in each of the two sentences of an extended candidate."""


class SecondSentence:
    """Extends a random fraction of the candidates by the sentence that follows in the same turn."""

    def __init__(self, store: Store, conditions: OverlapOptions) -> None:
        """Initialize the object.

        Args:
            store: Store that contains the sentence pool.
            conditions: Options of the generator. ``second_sentence_rate`` is the fraction of candidates to
                extend, and ``max_words`` limits the length of extended candidates.
        """
        self._store = store
        self._share = conditions.second_sentence_rate
        self._most = conditions.max_words + _MORE_WORDS

    def apply(self, contexts: Sequence[Context], given: list[list[Candidate]], seed: int) -> None:
        """Append a second sentence to a random fraction of the candidates, in place.

        A drawn candidate stays unchanged if no suitable sentence follows it.

        Args:
            contexts: Contexts of the candidates.
            given: For each context, the list of its candidates, which is updated.
            seed: Seed for drawing the candidates.
        """
        chosen: dict[tuple[int, int], str] = {}
        for at, candidates in enumerate(given):
            for slot, candidate in enumerate(candidates):
                turn, dot, index = candidate.provenance["source"].rpartition(".")
                # The id of a sentence consists of the id of its turn and the index of the sentence, for
                # example "everyday/train/1#2.0". The next sentence then has the id "everyday/train/1#2.1".
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
            # The candidate was chosen because it is no question, for example, or has no word of the last
            # turn. The second sentence must not change that. So it must be no question, and have no word of
            # the last turn.
            if row is not None and row["mood"] != "question" and last.isdisjoint(row["terms"]):
                text = f"{candidate.text} {row['text']}"
                if word_count(text) <= self._most:
                    details = {**candidate.provenance, FOUND: candidate.text}
                    given[at][slot] = replace(candidate, text=text, provenance=details)
