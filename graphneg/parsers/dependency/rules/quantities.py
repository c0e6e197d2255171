"""Amounts and degrees: units, rates, whose kin somebody is, and ``have-degree-91``.

In: a `RuleState` whose words have their concepts. Out: *five years*: ``temporal-quantity :quant 5 :unit
year``; *every day*: ``rate-entity-91``; *my friend*: ``have-rel-role-91 :ARG1 i``; *taller than Tom*:
``have-degree-91`` with the adjective as ``ARG2``, ``more`` as ``ARG3`` and Tom as ``ARG4``.
"""

from __future__ import annotations

from graphneg.english.gazetteer import QUANTITY_KINDS, TEMPORAL_UNITS
from graphneg.parsers.dependency.lexicon import word_class, word_map
from graphneg.parsers.dependency.rules.state import RuleState
from graphneg.parsers.dependency.text import Word

_WEIGHTS = frozenset({"pound", "ounce"})
_WEIGHED = word_class("weighed")
_MEASURED = frozenset({"mass-quantity", "volume-quantity"})
_SINGLE_UNITS = frozenset({"minute", "hour", "week", "month", "year", "decade", "century"})
_BARE = word_class("bare-degree")
_MARKERS = word_map("degree-marker")


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


def write_degrees(state: RuleState) -> None:
    """Puts ``have-degree-91`` over each adjective that is compared or measured."""
    for word in state.words:
        if word.tag[:2] == "JJ" and word.i in state.core and word.lower not in _BARE:
            degree = _degree(word)
            if degree is not None:
                _write_degree(state, word, *degree)


def _degree(word: Word) -> tuple[str, Word] | None:
    """The degree of an adjective, and the word that says so."""
    if word.tag in {"JJR", "JJS"}:
        return ("more" if word.tag == "JJR" else "most"), word
    again = any(kid.lower == "as" and kid.i > word.i for kid in word.children("prep", "advcl"))
    for marker in word.children("advmod"):
        if marker.lower in _MARKERS and marker.i < word.i and (marker.lower != "as" or again):
            return _MARKERS[marker.lower], marker
        if marker.lower == "so":
            if any(clause.child_word("mark", "that") for clause in word.children("ccomp", "advcl")):
                return "so", marker
            denials = [kid for above in (word, word.parent) for kid in above.children("neg")]
            if marker.i < word.i and again and any(kid.lemma in {"not", "n't"} for kid in denials):
                return "equal", marker
    return None


def _write_degree(state: RuleState, word: Word, kind: str, marker: Word) -> None:
    draft, inner = state.draft, state.core[word.i]
    degree = draft.concept("have-degree-91", marker.i, "degree")
    draft.link(degree, "ARG2", inner, "degree")
    if marker.i in state.core and marker.i != word.i:
        node = state.core[marker.i]
        draft.nodes[node].concept = kind
    else:
        node = draft.concept(kind, marker.i, "degree")
    draft.link(degree, "ARG3", node, "degree")
    if marker.i != word.i:
        state.attached.add(marker.i)
    state.set_node(word.i, degree)
    for kid in word.children("prep", "advcl", "ccomp", "xcomp"):
        _write_standard(state, kid, degree, kind)


def _write_standard(state: RuleState, kid: Word, degree: int, kind: str) -> None:
    """What it is compared with (``ARG4``), among what (``ARG5``), or what follows from it (``ARG6``)."""
    target: Word | None = kid
    if kid.dep == "prep":
        target = kid.child("pobj", "pcomp")
        role = {"than": "ARG4", "as": "ARG4"}.get(kid.lower, "ARG5")
        if kid.lower not in {"than", "as", "of", "in"} or (role == "ARG5" and kind != "most"):
            return
    elif kid.child_word("mark", "than", "as") is not None:
        role = "ARG4"
    elif kind in {"too", "so"}:
        role = "ARG6"
    else:
        return
    node = state.outer_of(target) if target is not None else None
    if target is not None and node is not None:
        state.draft.link(degree, role, node, "degree")
        state.attached.add(state.proxy(target.i))


def share_measured(state: RuleState) -> None:
    """What is measured by *have-degree-91* is also an argument of the measure, where that is a frame."""
    arcs = state.draft.arcs
    for degree in [arc for arc in arcs if arc.role == "ARG2" and arc.rule == "degree"]:
        entry = state.lexicon.frames.get(state.draft.nodes[degree.dep].concept or "")
        whole = next((arc.dep for arc in arcs if arc.head == degree.head and arc.role == "ARG1"), None)
        free = "ARG1" not in state.draft.roles(degree.dep)
        if free and whole is not None and entry is not None and "1" in entry.functions:
            state.draft.link(degree.dep, "ARG1", whole, "degree")
