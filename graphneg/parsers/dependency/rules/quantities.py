"""Nouns with what belongs to them: amounts of a unit, rates, and whose kin somebody is.

In: a `RuleState` whose words have their concepts. Out: *five years*: ``temporal-quantity :quant 5 :unit
year``; *every day*: ``rate-entity-91``; *my friend*: ``have-rel-role-91 :ARG1 i``.
"""

from __future__ import annotations

from graphneg.english.gazetteer import QUANTITY_KINDS, TEMPORAL_UNITS
from graphneg.parsers.dependency.lexicon import word_class
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.words import Word

_WEIGHTS = frozenset({"pound", "ounce"})
_WEIGHED = word_class("weighed")
_MEASURED = frozenset({"mass-quantity", "volume-quantity"})
_SINGLE_UNITS = frozenset({"minute", "hour", "week", "month", "year", "decade", "century"})


def write_nominals(state: RuleState) -> None:
    """Quantities of units, and whose kin somebody is."""
    for noun, amount in state.amounts.items():
        if noun in state.core:
            state.draft.link(state.core[noun], "quant", amount, "amount")
    for word in state.words:
        if word.tag in {"NN", "NNS"} and word.i in state.core and word.i not in state.done:
            every = word.child_word("det", "every", "each")
            if word.lemma in QUANTITY_KINDS and _is_amount(state, word):
                _write_quantity(state, word)
            elif word.lemma in TEMPORAL_UNITS and word.dep == "npadvmod" and every is not None:
                _write_rate(state, word, every)
            elif state.concept_of(word.i) == "person":
                _write_kin(state, word)


def object_of(word: Word, preposition: str) -> Word | None:
    """What the first such preposition below the word leads to."""
    phrase = word.child_word("prep", preposition)
    return phrase.child("pobj") if phrase is not None else None


def _is_amount(state: RuleState, word: Word) -> bool:
    """Whether a number counts it; *one day* is no amount."""
    if word.lemma in _SINGLE_UNITS and word.child_word("det", "a", "an") is not None:
        over = word.parent.lower if word.dep == "pobj" else ""
        return word.dep in {"npadvmod", "ROOT"} or over in {"for", "in", "within"}
    if word.dep == "npadvmod" and word.child_word("nummod", "one") is not None:
        return False
    return any(number.tag == "CD" and number.i in state.core for number in word.children("nummod"))


def _write_quantity(state: RuleState, word: Word) -> None:
    """*five years*: ``temporal-quantity :quant 5 :unit year``."""
    draft, unit = state.draft, state.core[word.i]
    draft.nodes[unit].concept = word.lemma
    measured = object_of(word, "of")
    if measured is not None and measured.i not in state.core:
        measured = None
    weighs = word.lemma in _WEIGHTS and (measured is not None or _is_weight(word))
    concept = "mass-quantity" if weighs else QUANTITY_KINDS[word.lemma]
    quantity = draft.concept(concept, word.i, "quantity")
    draft.link(quantity, "unit", unit, "quantity")
    state.set_node(word.i, quantity)
    if concept in _MEASURED and measured is not None:
        draft.link(state.core[measured.i], "quant", quantity, "amount")
        state.outer[word.i] = state.outer[measured.i]
        state.attached.add(measured.i)
    article = word.child_word("det", "a", "an")
    if article is not None:
        state.mark(quantity, "quant", "1", article.i, "quantity")


def _is_weight(word: Word) -> bool:
    """*weighs three pounds*, *three pounds too heavy*: no price."""
    over = word.parent
    if over.tag == "IN":
        over = over.parent
    return over.i != word.i and over.lemma in _WEIGHED


def _write_rate(state: RuleState, word: Word, every: Word) -> None:
    """*every day*: ``rate-entity-91 :ARG3 (temporal-quantity :quant 1 :unit day)``."""
    draft, unit = state.draft, state.core[word.i]
    quantity = draft.concept("temporal-quantity", word.i, "rate")
    draft.link(quantity, "unit", unit, "rate")
    state.mark(quantity, "quant", "1", every.i, "rate")
    rate = draft.concept("rate-entity-91", word.i, "rate")
    draft.link(rate, "ARG3", quantity, "rate")
    if every.i in state.core:
        state.erase(every.i)
    state.set_node(word.i, rate)
    state.forms[word.i] = "rate"


def _write_kin(state: RuleState, word: Word) -> None:
    """*my friend*: ``person :ARG0-of (have-rel-role-91 :ARG1 i :ARG2 friend)``."""
    draft, person = state.draft, state.core[word.i]
    role = next((arc.head for arc in draft.arcs if arc.dep == person and arc.role == "ARG0"), None)
    if role is None or draft.nodes[role].concept != "have-rel-role-91":
        return
    owner = word.child("poss") or object_of(word, "of")
    node = state.outer_of(owner) if owner is not None else None
    if owner is not None and node is not None:
        draft.link(role, "ARG1", node, "relation")
        state.attached.add(state.proxy(owner.i))
