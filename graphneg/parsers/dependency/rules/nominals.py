"""Nouns with what belongs to them: kin and office, units, ages."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.gazetteer import QUANTITY_KINDS, TEMPORAL_UNITS
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.rules.word_sets import word_set
from graphneg.parsers.dependency.words import Word

_WEIGHTS = frozenset({"pound", "ounce"})
_WEIGHED = word_set("""
    weigh lose gain lift carry heavy heavier overweight underweight light lighter weight
""")
_MEASURED = frozenset({"mass-quantity", "volume-quantity"})
_SINGLE_UNITS = frozenset({"minute", "hour", "week", "month", "year", "decade", "century"})


def write_nominals(sketch: Sketch) -> None:
    """Quantities of units, and whose kin somebody is."""
    for noun, amount in sketch.amounts.items():
        if noun in sketch.core:
            sketch.link(sketch.core[noun], "quant", amount, "amount")
    for word in sketch.words:
        if word.tag in {"NN", "NNS"} and word.i in sketch.core and word.i not in sketch.done:
            if word.lemma in QUANTITY_KINDS and _is_amount(sketch, word):
                _write_quantity(sketch, word)
            elif word.lemma in TEMPORAL_UNITS and word.dep == "npadvmod" and _every(sketch, word):
                _write_rate(sketch, word)
            elif sketch.concept_of(word.i) == "person":
                _write_kin(sketch, word)


def _is_amount(sketch: Sketch, word: Word) -> bool:
    """Whether a number counts it; *one day* is no amount."""
    if word.lemma in _SINGLE_UNITS and any(one.lower in {"a", "an"} for one in sketch.kids(word.i, "det")):
        over = sketch.words[word.head]
        return word.dep in {"npadvmod", "ROOT"} or (
            word.dep == "pobj" and over.lower in {"for", "in", "within"}
        )
    if word.dep == "npadvmod" and any(one.lower == "one" for one in sketch.kids(word.i, "nummod")):
        return False
    return any(one.tag == "CD" and one.i in sketch.core for one in sketch.kids(word.i, "nummod"))


def _write_quantity(sketch: Sketch, word: Word) -> None:
    """*five years*: ``temporal-quantity :quant 5 :unit year``."""
    unit = sketch.core[word.i]
    sketch.draft.nodes[unit].concept = word.lemma
    measured = _measured(sketch, word)
    weight = word.lemma in _WEIGHTS and (measured is not None or _is_weight(sketch, word))
    concept = "mass-quantity" if weight else QUANTITY_KINDS[word.lemma]
    kind = sketch.draft.concept(concept, word.i, "quantity")
    sketch.link(kind, "unit", unit, "quantity")
    sketch.core[word.i] = sketch.outer[word.i] = kind
    if concept in _MEASURED and measured is not None:
        sketch.link(sketch.core[measured.i], "quant", kind, "amount")
        sketch.outer[word.i] = sketch.outer[measured.i]
        sketch.placed.add(measured.i)
    article = next((one for one in sketch.kids(word.i, "det") if one.lower in {"a", "an"}), None)
    if article is not None:
        sketch.mark(kind, "quant", "1", article.i, "quantity")


def _measured(sketch: Sketch, word: Word) -> Word | None:
    """What there is so much of: *three pounds of rice*."""
    of = next((one for one in sketch.kids(word.i, "prep") if one.lower == "of"), None)
    noun = sketch.kid(of.i, "pobj") if of is not None else None
    return noun if noun is not None and noun.i in sketch.core else None


def _is_weight(sketch: Sketch, word: Word) -> bool:
    """*weighs three pounds*, *three pounds too heavy*: no price."""
    over = sketch.words[word.head]
    if over.tag == "IN":
        over = sketch.words[over.head]
    return over.i != word.i and over.lemma in _WEIGHED


def _every(sketch: Sketch, word: Word) -> Word | None:
    return next((one for one in sketch.kids(word.i, "det") if one.lower in {"every", "each"}), None)


def _write_rate(sketch: Sketch, word: Word) -> None:
    """*every day*: ``rate-entity-91 :ARG3 (temporal-quantity :quant 1 :unit day)``."""
    unit = sketch.core[word.i]
    every = _every(sketch, word)
    kind = sketch.draft.concept("temporal-quantity", word.i, "rate")
    sketch.link(kind, "unit", unit, "rate")
    sketch.mark(kind, "quant", "1", every.i if every is not None else None, "rate")
    node = sketch.draft.concept("rate-entity-91", word.i, "rate")
    sketch.link(node, "ARG3", kind, "rate")
    if every is not None and every.i in sketch.core:
        sketch.draft.drop(sketch.core.pop(every.i))
        sketch.outer.pop(every.i)
    sketch.core[word.i] = sketch.outer[word.i] = node
    sketch.forms[word.i] = "rate"


def _write_kin(sketch: Sketch, word: Word) -> None:
    """*my friend*: ``person :ARG0-of (have-rel-role-91 :ARG1 i :ARG2 friend)``."""
    person = sketch.core[word.i]
    role = next((arc.head for arc in sketch.draft.arcs if arc.dep == person and arc.role == "ARG0"), None)
    if role is None or sketch.draft.nodes[role].concept != "have-rel-role-91":
        return
    owner = sketch.kid(word.i, "poss")
    if owner is None:
        of = next((one for one in sketch.kids(word.i, "prep") if one.lower == "of"), None)
        owner = sketch.kid(of.i, "pobj") if of is not None else None
    if owner is not None and sketch.speaker(owner.i) in sketch.outer:
        sketch.link(role, "ARG1", sketch.outer[sketch.speaker(owner.i)], "relation")
        sketch.placed.add(sketch.speaker(owner.i))
