"""Direct speech across sentence marks, and the clauses beside a verb of saying."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.rules.word_sets import word_set
from graphneg.parsers.dependency.words import Word

SPEECH = word_set("""
    say ask reply answer cry exclaim demand add tell murmur shout whisper repeat call remark continue
    object declare announce begin explain inquire respond sigh think protest insist mutter
    retort remind echo wonder yell snap plead beg admit agree reflect state
""")
ANSWERS = frozenset({"answer-01", "reply-01", "respond-01"})
"""Their ``ARG1`` is who or what is answered, their ``ARG2`` the answer."""
_QUOTES = frozenset({"``", "''", '"'})


def join_speech(sketch: Sketch, roots: list[Word]) -> list[Word]:
    """Makes quoted sentences beside *he said* its ``ARG1``; gives the roots that remain.

    *"Where are they?" he asked.* and *He asked: "Where are they?"*
    """
    left: list[Word] = []
    for root in roots:
        if root.tag in _QUOTES:
            continue
        before = left[-1] if left else None
        if before is not None and _reports_before(sketch, before, root):
            if _take(sketch, root, before):
                left[-1] = root
                continue
        elif before is not None and _reports_after(sketch, before, root) and _take(sketch, before, root):
            continue
        left.append(root)
    return left


def _reports_before(sketch: Sketch, quote: Word, said: Word) -> bool:
    """Whether ``said`` is the *he asked* behind a quotation."""
    if said.lemma not in SPEECH or said.tag[:2] != "VB" or _has_content(sketch, said):
        return False
    first = _first(sketch, said)
    opening = sketch.words[first]
    if opening.tag in _QUOTES and first + 1 < len(sketch.words):
        opening = sketch.words[first + 1]
        return opening.text[:1].islower() or opening.tag in {"NNP", "PRP"}
    return opening.text[:1].islower() and first > 0 and _follows(sketch, quote, said)


def _follows(sketch: Sketch, quote: Word, said: Word) -> bool:
    """Whether nothing but marks stands between the two sentences."""
    between = [word for word in sketch.words if quote.sentence < word.sentence < said.sentence]
    return quote.sentence < said.sentence and all(word.tag in _QUOTES for word in between)


def _reports_after(sketch: Sketch, said: Word, quote: Word) -> bool:
    """Whether a quotation follows *he asked:*."""
    if said.lemma not in SPEECH or said.tag[:2] != "VB" or _has_content(sketch, said):
        return False
    first = _first(sketch, quote)
    marks = {sketch.words[k].text for k in range(max(0, first - 2), min(first + 1, len(sketch.words)))}
    return ":" in marks


def _has_content(sketch: Sketch, said: Word) -> bool:
    return sketch.kid(said.i, "ccomp", "dobj", "parataxis") is not None


def _first(sketch: Sketch, root: Word) -> int:
    first = root.i
    while first > 0 and sketch.words[first - 1].sentence == root.sentence:
        first -= 1
    return first


def _take(sketch: Sketch, said: Word, quote: Word) -> bool:
    head, dep = sketch.speaker(said.i), sketch.speaker(quote.i)
    if head not in sketch.core or dep not in sketch.outer:
        return False
    role = "ARG2" if sketch.concept_of(head) in ANSWERS else "ARG1"
    sketch.link(sketch.core[head], role, sketch.outer[dep], "speech")
    for node in sketch.draft.nodes:
        if node.sentence == quote.sentence:
            node.sentence = said.sentence
    return True
