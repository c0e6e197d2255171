"""Negation: ``:polarity -`` at what a negative word denies.

In: a `RuleState` whose words have their concepts and modals. Out: a ``-`` for each *not*, *never*, *no*,
*none*, *neither* and *without* that is no concept of its own.
"""

from __future__ import annotations

from graphneg.parsers.dependency.lexicon import word_class
from graphneg.parsers.dependency.rules.clauses import MODALS
from graphneg.parsers.dependency.rules.state import SUBJECTS, RuleState
from graphneg.parsers.dependency.words import Word

_INNER_NEGATION = word_class("inner-negation")
"""Modals whose *not* belongs to the verb: *must not* obliges one not to, *should not* advises one not to."""
_MEASURES = frozenset({"very", "much", "many", "altogether", "entirely", "completely", "all"})
_DEGREES = frozenset({"so", "too", "as", "that", "quite", "really"})
_COUNTING = frozenset({"every", "all", "even", "everyone", "everybody", "everything"})


def write_negation(state: RuleState) -> None:
    """``:polarity -`` for each negative word that is no concept of its own."""
    for word in state.words:
        target, rule = _denied_by(state, word)
        if target is not None:
            state.mark(target, "polarity", "-", word.i, rule)
            if rule == "negation" or (rule == "no" and word.dep == "neg"):
                _deny_joined(state, word, target)


def _denied_by(state: RuleState, word: Word) -> tuple[int | None, str]:
    """The node that a word denies, and the rule that says so."""
    if word.lemma in {"not", "n't", "nt"} and word.tag in {"RB", "CC", "DT"} and word.i not in state.core:
        after = word.following
        if after is not None and after.lower in {"only", "merely"}:
            return None, ""
        measure = _measure(state, word)
        return (_denied_clause(state, word) if measure is None else measure), "negation"
    if word.lower == "never" and word.i in state.core:
        return _denied_clause(state, word), "never"
    if word.lower == "no" and word.i not in state.core and word.i not in state.done:
        return _denied_by_no(state, word), "no"
    if word.lower in {"none", "neither"}:
        return _denied_by_none(state, word), "none"
    inner = word.child("pobj", "pcomp") if word.lower == "without" else None
    return (None if inner is None else state.core_of(inner)), "without"


def _measure(state: RuleState, word: Word) -> int | None:
    """*not very good*, *not many people*: less than that, not its contrary."""
    after = word.following
    if after is None or after.lower not in _MEASURES or after.i not in state.core:
        return None
    over = after.parent
    beside = after.dep in {"advmod", "amod", "nummod"} and over.tag[:2] in {"JJ", "RB", "NN"}
    return state.core[after.i] if beside and over.i > after.i else None


def _denied_clause(state: RuleState, word: Word) -> int | None:
    """The modal where that is what *not* denies, else the predicate."""
    head = word.parent
    if head.lower in _DEGREES and head.dep == "advmod":
        head = head.parent
    ought = head.child("xcomp") if head.lemma == "ought" else None
    after = word.following
    counts = after is not None and after.lower in _COUNTING
    if ought is not None:
        head = ought
    elif head.dep in SUBJECTS and head.i > word.i and counts:
        head = head.parent
    proxy = state.proxy(head.i)
    if proxy == word.i:
        return None
    for modal in head.children("aux"):
        if modal.lemma in MODALS and modal.lemma not in _INNER_NEGATION and proxy in state.outer:
            outer = state.outer[proxy]
            return outer if state.draft.nodes[outer].concept == MODALS[modal.lemma][0] else state.core[proxy]
    return state.persons.get(proxy, state.core.get(proxy))


def _deny_joined(state: RuleState, word: Word, target: int) -> None:
    """*is not singing and playing* denies both, but no verb with a subject or auxiliary of its own."""
    verb = word.parent
    if target != state.core.get(verb.i) or verb.child_word("cc", "and", "or") is None:
        return
    for other in verb.children("conj"):
        own = other.child("nsubj", "nsubjpass", "expl", "aux", "auxpass", "neg")
        alike = other.tag[:2] == "VB" and (other.tag == verb.tag or {other.tag, verb.tag} == {"VB", "VBP"})
        if own is None and alike and other.i in state.core:
            state.mark(state.core[other.i], "polarity", "-", None, "negation")


def _denied_by_no(state: RuleState, word: Word) -> int | None:
    """*no* denies a comparison, the verb of a subject, *have* of its object, else the noun."""
    head = word.parent
    if head.tag in {"JJR", "RBR"} and word.i < head.i:
        while head.lower in {"more", "less"} and head.parent.tag[:2] in {"JJ", "RB"}:
            head = head.parent
        return state.core_of(head)
    if word.tag == "DT" and word.dep in {"det", "neg"}:
        return _denied_by_phrase(state, head)
    return None


def _denied_by_phrase(state: RuleState, noun: Word) -> int | None:
    verb = noun.parent
    denies = noun.dep in SUBJECTS or (noun.dep == "dobj" and verb.lemma == "have")
    return state.core_of(verb if denies and state.core_of(verb) is not None else noun)


def _denied_by_none(state: RuleState, word: Word) -> int | None:
    """*none of them came*, *neither he nor she came*: what they do is denied."""
    if word.dep in {"preconj", "det", "cc"} and word.lower == "neither":
        return _denied_by_phrase(state, word.parent) if word.parent.tag[:2] in {"NN", "PR"} else None
    if word.i in state.proxies and word.dep in {*SUBJECTS, "dobj"}:
        return state.core_of(word.parent)
    return None
