"""Chooses what each word means among its candidates."""

from __future__ import annotations

import numpy as np

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.concepts import Candidate, candidates, context_features, open_words
from graphneg.parsers.dependency.learned.features import kind_of, stem_of
from graphneg.parsers.dependency.learned.fragments import put_fragment
from graphneg.parsers.dependency.learned.meanings import Meanings, SentenceCounts, word_key
from graphneg.parsers.dependency.learned.network import Model


def choose_concepts(
    meanings: Meanings, model: Model, draft: Draft, own: SentenceCounts | None = None
) -> None:
    """Gives each word the candidate with the highest score; the rules' own if none is higher.

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
        if best and not _other_sense(found[0].fragment, found[best].fragment):
            put_fragment(draft, token, found[best].fragment, group)
        begin += len(found)


def _other_sense(given: str, other: str) -> bool:
    """Whether two fragments are senses of one verb: the rules' stands, since texts differ in usual senses."""
    return kind_of(given) == kind_of(other) == "frame" and stem_of(given) == stem_of(other)
