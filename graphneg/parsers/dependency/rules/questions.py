"""Question words: ``amr-unknown`` in place, ``thing`` for what is no question, nothing for relatives."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.words import Word

_PRONOUNS = frozenset({"what", "who", "whom", "which", "whose", "whatever", "whoever"})
_MEASURES = {"many": "how-many", "much": "how-many"} | {one: f"how-{one}" for one in ("long", "often", "far")}
_ADVERBS = frozenset({"where", "when", "why", "how"})
_CLAUSES = frozenset({"ROOT", "relcl", "acl", "advcl", "ccomp", "xcomp", "pcomp", "csubj", "parataxis"})


def write_question_words(sketch: Sketch) -> None:
    """Writes a node for each question word that stands for something."""
    for word in sketch.words:
        if word.tag in {"WP", "WDT", "WP$", "WRB"} and word.i not in sketch.done:
            _write(sketch, word)
            sketch.done.add(word.i)


def _write(sketch: Sketch, word: Word) -> None:
    clause = clause_of(sketch, word)
    direct = clause.dep in {"ROOT", "conj", "parataxis"} or _is_quoted(sketch, clause)
    asked = direct and _asked(sketch, clause)
    if word.lower in _PRONOUNS:
        _write_pronoun(sketch, word, clause, asked, direct)
    elif word.lower in _ADVERBS:
        _write_adverb(sketch, word, clause, asked, direct)


def _write_pronoun(sketch: Sketch, word: Word, clause: Word, asked: bool, direct: bool) -> None:
    if clause.dep in {"relcl", "acl"} and word.lower != "what":
        return
    if asked or (direct and word.lower == "what" and word.dep not in {"det", "predet"}):
        sketch.add("amr-unknown", word.i, "question")
    elif direct:
        return
    elif word.lower in {"what", "whatever"} and word.dep != "det":
        sketch.add("thing", word.i, "free-relative")
    elif word.lower in {"who", "whom", "whoever"}:
        sketch.add("person", word.i, "free-relative")


def _write_adverb(sketch: Sketch, word: Word, clause: Word, asked: bool, direct: bool) -> None:
    if asked:
        if word.lower == "why":
            return
        measured = sketch.words[word.head]
        if word.lower == "how" and measured.lower in _MEASURES and measured.dep != "acomp":
            sketch.add("amr-unknown", measured.i, "question")
            sketch.done.update((word.i, measured.i))
            if measured.dep not in {"dobj", "nsubj", "nsubjpass", "attr"}:
                sketch.forms[measured.i] = _MEASURES[measured.lower]
            return
        sketch.add("amr-unknown", word.i, "question")
    elif word.lower == "how" and not direct and sketch.words[word.head].lower in {"many", "much"}:
        _write_amount(sketch, word, sketch.words[word.head])
    elif word.lower == "how" and sketch.words[word.head].tag[:2] in {"JJ", "RB"} and direct:
        sketch.add("so", word.i, "exclamation")


def _write_amount(sketch: Sketch, how: Word, measured: Word) -> None:
    """*I know how many came*: what is known is an amount, and it is not large."""
    if measured.i in sketch.core or measured.i in sketch.done:
        return
    sketch.add("thing", measured.i, "free-relative")
    sketch.done.update((how.i, measured.i))
    if measured.dep not in {"dobj", "nsubj", "nsubjpass", "attr"}:
        sketch.forms[measured.i] = _MEASURES[measured.lower]


def write_whys(sketch: Sketch) -> None:
    """*Why …?*: ``cause-01 :ARG0 (a / amr-unknown)`` over the clause."""
    for word in sketch.words:
        if word.lower == "why" and word.i in sketch.done and word.i not in sketch.core:
            clause = clause_of(sketch, word)
            speaker = sketch.speaker(clause.i)
            if clause.i == word.i or (clause.lower == "not" and clause.head == clause.i):
                _write_bare_why(sketch, word)
                continue
            if clause.dep in {"relcl", "advcl"} or speaker not in sketch.core:
                continue
            node = sketch.above("cause-01", word.i, speaker, "ARG1", "why")
            concept = "amr-unknown" if _asked(sketch, clause) else "thing"
            cause = sketch.draft.concept(concept, word.i, "why")
            sketch.link(node, "ARG0", cause, "why")


def _write_bare_why(sketch: Sketch, word: Word) -> None:
    """*Why?*, *Why not?*"""
    node = sketch.add("cause-01", word.i, "why")
    sketch.link(node, "ARG0", sketch.draft.concept("amr-unknown", word.i, "why"), "why")
    following = sketch.words[word.i + 1 : word.i + 2]
    if following and following[0].lower == "not" and following[0].i not in sketch.core:
        sketch.mark(node, "polarity", "-", following[0].i, "negation")


def clause_of(sketch: Sketch, word: Word) -> Word:
    """The head of the clause that a question word asks about."""
    asking = word
    for _ in range(len(sketch.words)):
        fronted = word.dep in {"ccomp", "xcomp"} and asking.i < word.head
        if word.dep in _CLAUSES and not fronted:
            return word
        if word.tag[:2] == "VB" and word.dep in {"conj", "pobj"}:
            return word
        if word.head == word.i:
            return word
        word = sketch.words[word.head]
    return word


def _is_quoted(sketch: Sketch, clause: Word) -> bool:
    """A complement before its verb, or one of *say* and *ask* without a mark of its own: direct speech."""
    head = sketch.words[clause.head]
    return clause.dep == "ccomp" and (
        clause.i < head.i or head.lemma in {"say", "ask", "reply", "demand", "cry"}
    )


def _asked(sketch: Sketch, clause: Word) -> bool:
    """Whether a question mark follows in the sentence."""
    words = sketch.words
    for i in range(clause.i, len(words)):
        if words[i].sentence != clause.sentence:
            break
        if "?" in words[i].text:
            return True
    return False
