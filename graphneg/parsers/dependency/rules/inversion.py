"""Questions without a question mark: *do you like it*, *May I come in .*, *nice are you a nurse*."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.closed_classes import MODALS
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.words import Word

_MARKS = frozenset({",", ".", "``", "''", ":", "-LRB-", "HYPH", "_SP"})
_LEADS = frozenset({"and", "or", "but", "so", "well", "now", "then"})
_SPEAKERS = frozenset({"i", "we"})


def opens_question(sketch: Sketch, root: Word) -> bool:
    """Whether an auxiliary or *be* stands right before the subject, with nothing that puts it there.

    *So do I*, *Here is one*, *What a fool am I!* and *May you be happy* ask nothing.
    """
    subject = sketch.kid(root.i, "nsubj", "nsubjpass")
    if subject is None:
        return False
    first = min((subject.i, *subject.kids))
    verb = first - 1
    while verb > 0 and sketch.words[verb].lower in {"n't", "not"}:
        verb -= 1
    if verb < 0 or not _inverts(sketch, root, sketch.words[verb]):
        return False
    if sketch.words[verb].lower == "may" and subject.lower not in _SPEAKERS:
        return False
    members = [word for word in sketch.words if word.sentence == root.sentence]
    if any(word.text.startswith("!") for word in members[-2:]):
        return False
    before = [word for word in members if word.i < verb]
    led = [word for word in before if word.lower in _LEADS]
    close = bool(before) and before[-1].lower == "so" and verb == root.i
    return not close and all(word in led or word.tag in _MARKS or word.tag in {"UH", "JJ"} for word in before)


def _inverts(sketch: Sketch, root: Word, verb: Word) -> bool:
    if verb.i == root.i:
        return verb.lemma == "be" and verb.tag in {"VBP", "VBZ", "VBD"}
    if verb.head != root.i or verb.dep not in {"aux", "auxpass"}:
        return False
    return verb.tag == "MD" or verb.lower in MODALS or verb.lemma in {"do", "have", "be"}
