"""Writes the draft of a piece of text: weak but complete."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.words import Word

_SILENT = frozenset({"AUX", "DET", "PUNCT", "ADP", "PART", "CCONJ", "SCONJ", "SPACE"})


def write_draft(text: str, words: Sequence[Word]) -> Draft:
    draft = Draft(text, words)
    made: dict[int, int] = {}
    for word in words:
        if word.pos not in _SILENT:
            concept = f"{word.lemma}-01" if word.pos == "VERB" else word.lemma
            made[word.i] = draft.concept(concept, word.i, "word")
    for word in words:
        if word.i in made:
            head = words[word.head]
            while head.i not in made and head.head != head.i:
                head = words[head.head]
            if head.i in made and head.i != word.i:
                draft.link(made[head.i], "ARG0" if word.dep == "nsubj" else "ARG1", made[word.i], "word")
            draft.tops.setdefault(word.sentence, made[word.i])
    if not made and words:
        draft.tops[0] = draft.concept(words[0].text, words[0].i, "word")
    return draft
