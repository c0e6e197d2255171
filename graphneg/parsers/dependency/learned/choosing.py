"""Chooses what each word means among its candidates."""

from __future__ import annotations

import numpy as np

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.concepts import Candidate, candidates, context_features, open_words
from graphneg.parsers.dependency.learned.features import kind_of
from graphneg.parsers.dependency.learned.fragments import put_fragment
from graphneg.parsers.dependency.learned.meanings import Meanings, SentenceCounts, word_key
from graphneg.parsers.dependency.learned.network import Model

MARGIN, SENSE_MARGIN = 0.7, 1.5
"""How much higher another fragment must score than the rules' own, which know more kinds of text than the
networks; and how much another frame in place of a frame, since texts differ in the senses that are usual."""


def choose_concepts(
    meanings: Meanings, model: Model, draft: Draft, own: SentenceCounts | None = None
) -> None:
    """Gives each word the candidate with the highest score; the rules' own unless another is clearly higher.

    ``own`` is what the sentence itself added to the meanings, if it did.
    """
    contexts: list[list[str]] = []
    options: list[list[Candidate]] = []
    places: list[tuple[int, list[int]]] = []
    for word, given, group in open_words(draft):
        found = candidates(meanings, draft.words, word.i, given, (own or {}).get(word_key(word), {}))
        if len(found) > 1:
            contexts.append(context_features(meanings, draft.words, word.i))
            options.append(found)
            places.append((word.i, group))
    if not places:
        return
    arrays = model.arrays
    bags = [option.features for found in options for option in found]
    sizes = [len(found) for found in options]
    around = model.sums("context", "context", contexts) + arrays["bias"]
    rows = model.sums("candidate", "candidate", bags)
    hidden = np.maximum(np.repeat(around, sizes, axis=0) + rows[:, :-1], 0)
    scores = hidden @ arrays["out"] + rows[:, -1]
    begin = 0
    for (token, group), found in zip(places, options, strict=True):
        own_score, best = scores[begin], int(np.argmax(scores[begin : begin + len(found)]))
        if scores[begin + best] > own_score + _margin(found[0].fragment, found[best].fragment):
            put_fragment(draft, token, found[best].fragment, group)
        begin += len(found)


def _margin(given: str, other: str) -> float:
    """By how much ``other`` must score higher to take the place of ``given``; both are fragments."""
    senses = kind_of(given) == kind_of(other) == "frame" and " " not in given + other
    return SENSE_MARGIN if senses else MARGIN
