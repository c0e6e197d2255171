"""Negation: ``:polarity -`` at what a negative word denies."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.closed_classes import INNER_NEGATION, MODALS
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.words import Word

_NOTS = frozenset({"not", "n't", "nt"})
_NONES = frozenset({"none", "neither"})
_MEASURES = frozenset({"very", "much", "many", "altogether", "entirely", "completely", "all"})
_DEGREES = frozenset({"so", "too", "as", "that", "quite", "really"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})


def write_negation(sketch: Sketch) -> None:
    """``:polarity -`` for each negative word that is no concept of its own."""
    for word in sketch.words:
        if word.lemma in _NOTS and word.tag in {"RB", "CC", "DT"} and word.i not in sketch.core:
            _write_not(sketch, word)
        elif word.lower == "never" and word.i in sketch.core:
            target = _denied(sketch, word)
            if target is not None:
                sketch.mark(target, "polarity", "-", word.i, "never")
        elif word.lower == "no" and word.i not in sketch.core and word.i not in sketch.done:
            _write_no(sketch, word)
        elif word.lower in _NONES:
            _write_none(sketch, word)
        elif word.lower == "without":
            inner = sketch.kid(word.i, "pobj", "pcomp")
            if inner is not None and sketch.speaker(inner.i) in sketch.core:
                sketch.mark(sketch.core[sketch.speaker(inner.i)], "polarity", "-", word.i, "without")


def _write_not(sketch: Sketch, word: Word) -> None:
    """On the modal where that is what is denied, else on the predicate; *not only* denies nothing."""
    following = sketch.words[word.i + 1].lower if word.i + 1 < len(sketch.words) else ""
    if following in {"only", "merely"}:
        return
    measure = _measure(sketch, word)
    target = _denied(sketch, word) if measure is None else measure
    if target is not None:
        sketch.mark(target, "polarity", "-", word.i, "negation")
        _write_joined(sketch, word, target)


def _measure(sketch: Sketch, word: Word) -> int | None:
    """*not very good*, *not many people*: less than that, not its contrary."""
    place = word.i + 1
    following = sketch.words[place] if place < len(sketch.words) else word
    if following.lower not in _MEASURES or following.i not in sketch.core:
        return None
    over = sketch.words[following.head]
    beside = following.dep in {"advmod", "amod", "nummod"} and over.tag[:2] in {"JJ", "RB", "NN"}
    return sketch.core[following.i] if beside and over.i > following.i else None


def _denied(sketch: Sketch, word: Word) -> int | None:
    head = sketch.words[word.head]
    if head.lower in _DEGREES and head.dep == "advmod":
        head = sketch.words[head.head]
    subject = head.dep in _SUBJECTS and head.i > word.i and _counts(sketch, word)
    ought = sketch.kid(head.i, "xcomp") if head.lemma == "ought" else None
    if subject or ought is not None:
        head = sketch.words[head.head] if ought is None else ought
    speaker = sketch.speaker(head.i)
    if speaker == word.i:
        return None
    for modal in sketch.kids(head.i, "aux"):
        if modal.lemma in MODALS and modal.lemma not in INNER_NEGATION and speaker in sketch.outer:
            outer = sketch.outer[speaker]
            return (
                outer if sketch.draft.nodes[outer].concept == MODALS[modal.lemma][0] else sketch.core[speaker]
            )
    return sketch.persons.get(speaker, sketch.core.get(speaker))


def _counts(sketch: Sketch, word: Word) -> bool:
    """*not every*, *not even*: what is said of the subject is denied, not the subject."""
    following = sketch.words[word.i + 1].lower if word.i + 1 < len(sketch.words) else ""
    return following in {"every", "all", "even", "everyone", "everybody", "everything"}


def _write_joined(sketch: Sketch, word: Word, target: int) -> None:
    """*is not singing and playing* denies both, but no verb with a subject or auxiliary of its own."""
    verb = sketch.words[word.head]
    if target != sketch.core.get(verb.i):
        return
    for one in sketch.kids(verb.i, "conj"):
        own = sketch.kid(one.i, "nsubj", "nsubjpass", "expl", "aux", "auxpass", "neg")
        joined = any(cc.lower in {"and", "or"} for cc in sketch.kids(verb.i, "cc"))
        if joined and own is None and _same_form(one, verb) and one.i in sketch.core:
            sketch.mark(sketch.core[one.i], "polarity", "-", None, "negation")


def _same_form(one: Word, other: Word) -> bool:
    bare = {"VB", "VBP"}
    return one.tag[:2] == "VB" and (one.tag == other.tag or {one.tag, other.tag} == bare)


def _write_no(sketch: Sketch, word: Word) -> None:
    """*no* denies a comparison, the verb of a subject, *have* of its object, else the noun."""
    head = sketch.words[word.head]
    if head.tag in {"JJR", "RBR"} and word.i < head.i:
        while head.lower in {"more", "less"} and sketch.words[head.head].tag[:2] in {"JJ", "RB"}:
            head = sketch.words[head.head]
        target = sketch.core.get(sketch.speaker(head.i))
    elif word.tag == "DT" and word.dep in {"det", "neg"}:
        target = _denied_by_phrase(sketch, head)
    else:
        return
    if target is not None:
        sketch.mark(target, "polarity", "-", word.i, "no")
        if word.dep == "neg":
            _write_joined(sketch, word, target)


def _denied_by_phrase(sketch: Sketch, noun: Word) -> int | None:
    verb = sketch.words[noun.head]
    had = noun.dep == "dobj" and verb.lemma == "have"
    denies = (had or noun.dep in _SUBJECTS) and sketch.speaker(verb.i) in sketch.core
    return sketch.core.get(sketch.speaker(verb.i if denies else noun.i))


def _write_none(sketch: Sketch, word: Word) -> None:
    """*none of them came*, *neither he nor she came*: what they do is denied."""
    if word.dep in {"preconj", "det", "cc"} and word.lower == "neither":
        phrase = sketch.words[word.head]
        if phrase.tag[:2] not in {"NN", "PR"}:
            return
        target = _denied_by_phrase(sketch, phrase)
    elif word.i in sketch.stand_in:
        target = sketch.core.get(sketch.speaker(word.head)) if word.dep in {*_SUBJECTS, "dobj"} else None
    else:
        return
    if target is not None:
        sketch.mark(target, "polarity", "-", word.i, "none")
