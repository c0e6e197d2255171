"""Chooses what each word means among its candidates."""

from __future__ import annotations

from math import inf

import numpy as np

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.concepts import Candidate, candidates, context_features, open_words
from graphneg.parsers.dependency.learned.features import kind_of, stem_of
from graphneg.parsers.dependency.learned.fragments import put_fragment
from graphneg.parsers.dependency.learned.meanings import Meanings, SentenceCounts, word_key
from graphneg.parsers.dependency.learned.network import Model

SURE = 2.0
"""Another sense of the rules' verb needs so much more of a score: texts differ in which senses are usual."""

_FIRM = {"like"}
"""Verbs whose sense the rules tell by what the learned parts don't read (*I like*, *I would like*)."""


def choose_concepts(
    meanings: Meanings,
    model: Model,
    draft: Draft,
    own: SentenceCounts | None = None,
    sure: float = SURE,
) -> None:
    """Gives each word the candidate with the highest score; the rules' own if none is higher.

    A candidate that is another sense of the rules' own must be higher by ``sure`` (log odds).
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
        best = int(np.argmax(scores[begin : begin + len(found)]))
        if scores[begin + best] - scores[begin] > _needed(found[0].fragment, found[best].fragment, sure):
            put_fragment(draft, token, found[best].fragment, group)
        begin += len(found)


def _needed(given: str, other: str, sure: float) -> float:
    """How much higher another fragment's score must be: by ``sure`` if both are senses of one verb."""
    if kind_of(given) != "frame" or kind_of(other) != "frame" or stem_of(given) != stem_of(other):
        return 0.0
    return inf if stem_of(given) in _FIRM else sure
