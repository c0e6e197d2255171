"""Which word governs which, once prepositions, copulas and silent words are looked through."""

from __future__ import annotations

from typing import NamedTuple

from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.signatures import clause_form
from graphneg.parsers.dependency.words import Word

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
_OUTER = frozenset({"because", "instead", "due", "out", "such", "despite"})
_PREPOSITIONS = frozenset({"prep", "agent", "dative", "pcomp"})


class Dependency(NamedTuple):
    """``dependent`` hangs on ``governor`` as ``form``; ``through`` is the word whose relation it is.

    ``through`` differs from ``dependent`` where that speaks for a copula. ``preposition`` is the
    silent preposition between them, if there is one.
    """

    governor: int
    dependent: int
    through: Word
    form: str
    preposition: Word | None


def dependency(sketch: Sketch, dependent: int) -> Dependency | None:
    """The dependency of a word that has a node; ``None`` where it depends on no other such word."""
    words = sketch.words
    if dependent in sketch.placed:
        return None
    through = _represented(sketch, words[dependent])
    preposition: Word | None = None
    copular = False
    head = through
    for _ in range(len(words)):
        if head.head == head.i:
            return None
        below, head = head, words[head.head]
        speaker = sketch.speaker(head.i)
        if speaker != head.i and head.lemma == "be":
            copular = True
        if speaker in sketch.core and speaker != dependent:
            form = _form(sketch, through, preposition, below, copular)
            return Dependency(speaker, dependent, through, form, preposition)
        if (
            head.dep in _PREPOSITIONS
            and head.tag in {"IN", "TO", "RP"}
            and (preposition is None or head.lower in _OUTER)
        ):
            preposition = head
    return None


def _represented(sketch: Sketch, word: Word) -> Word:
    """The topmost copula that the word speaks for, or the word itself."""
    for _ in range(10):
        head = sketch.words[word.head]
        if head.i == word.i or sketch.stand_in.get(head.i) != word.i:
            if word.dep in {"pobj", "pcomp"} and sketch.stand_in.get(head.head) == word.i:
                word = sketch.words[head.head]
                continue
            return word
        word = head
    return word


def _form(sketch: Sketch, through: Word, preposition: Word | None, below: Word, copular: bool) -> str:
    if through.i in sketch.forms:
        return sketch.forms[through.i]
    if preposition is not None:
        return "agent" if preposition.dep == "agent" else f"prep_{preposition.lower}"
    copular = copular or sketch.words[through.head].tag[:2] == "JJ"
    if copular and through.dep in _SUBJECTS and through.i == below.i:
        return "cop_subj"
    if through.i != below.i:
        return below.dep if below.dep not in {"punct", "ROOT"} else through.dep
    return clause_form(sketch.words, through)
