"""Copulas: the predicate speaks for *be*; places, likeness and mere being get a frame of their own."""

from __future__ import annotations

from graphneg.parsers.dependency.rules.closed_classes import TIME_NOUNS
from graphneg.parsers.dependency.rules.numbers import number_value
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.rules.word_sets import word_set
from graphneg.parsers.dependency.words import Word

_PLACES = frozenset(
    {"here", "there", "where", "away", "outside", "inside", "upstairs", "downstairs", "home", "nearby"}
)
_PREDICATES = ("acomp", "attr", "oprd", "ccomp", "xcomp")
_LIGHT = word_set(
    "not also just too now then always never only still already ever indeed really so again yet"
)
_SEEMING = frozenset({"seem", "appear", "happen"})
_AFFECTING = word_set("tire please surprise amuse interest annoy bother hurt help matter pay cost")
_PLACED = {"like": "resemble-01", "from": "be-from-91", "near": "near-02"}
_SPEAKING = frozenset({"like", "near"})
"""Prepositions that the frame is called after."""
_LOCATIVE = word_set("""
    in on at near behind under above below beside between among inside outside around over
""")


def resolve_copulas(sketch: Sketch) -> None:
    """Finds the word that speaks for each *be* that is no auxiliary."""
    for word in sketch.words:
        if word.tag[:2] == "JJ" and word.dep == "ROOT" and sketch.kid(word.i, "nsubj") is None:
            below = sketch.kid(word.i, "xcomp", "advcl", "ccomp")
            if below is not None and any(one.tag == "TO" for one in sketch.kids(below.i, "aux")):
                sketch.forms[below.i] = "cop_subj"
        if word.lemma == "be" and word.tag[:2] == "VB" and word.dep not in {"aux", "auxpass"}:
            _resolve(sketch, word)
        elif word.lemma in _SEEMING or word.lemma in _AFFECTING:
            _resolve_delayed(sketch, word)


def resolve_futures(sketch: Sketch) -> None:
    """*is going to rain*, *let's go*: the verb below speaks for *going* and *let*."""
    for word in sketch.words:
        if word.lower in {"let", "lets"} and word.tag[:2] == "VB":
            below = sketch.kid(word.i, "ccomp", "xcomp")
            us = below is not None and sketch.kid(below.i, "nsubj")
            if below is not None and us and us.lower in {"'s", "us"}:
                sketch.stand_in[word.i] = below.i
        if (
            word.lemma == "go"
            and word.tag in {"VBG", "VB"}
            and sketch.kid(word.i, "dobj", "prep", "prt") is None
        ):
            verb = sketch.kid(word.i, "xcomp")
            to = verb is not None and any(one.tag == "TO" for one in sketch.kids(verb.i, "aux"))
            if verb is not None and to and sketch.kid(word.i, "aux") is not None:
                sketch.stand_in[word.i] = verb.i


def _resolve(sketch: Sketch, be: Word) -> None:
    existential = sketch.kid(be.i, "expl") is not None
    predicate = _predicate(sketch, be)
    if predicate is not None and existential:
        verb = sketch.kid(predicate.i, "acl")
        place = _place(sketch, be)
        if verb is None and place is not None and place.tag != "WRB":
            sketch.add("be-located-at-91", be.i, "copula")
            return
    subject = sketch.kid(be.i, "nsubj")
    if predicate is not None and subject is not None and _is_number(sketch, predicate):
        sketch.stand_in[be.i] = subject.i
        sketch.forms[predicate.i] = "value"
        return
    if predicate is not None:
        sketch.stand_in[be.i] = predicate.i
        _resolve_extraposed(sketch, be, predicate)
        _resolve_naming(sketch, be, predicate)
        return
    place = _place(sketch, be)
    if place is not None:
        node = sketch.add(_PLACED.get(place.lower, "be-located-at-91"), be.i, "copula")
        if place.lower in _SPEAKING:
            sketch.draft.move(node, place.i)
        return
    other = _other(sketch, be)
    if other is not None:
        sketch.stand_in[be.i] = other.i


def _is_number(sketch: Sketch, word: Word) -> bool:
    """Whether the predicate is a bare number: *the code is 2*."""
    node = sketch.core.get(word.i)
    if node is not None:
        return sketch.draft.nodes[node].value is not None
    return word.tag == "CD" and word.i not in sketch.stand_in and number_value(word.lower) is not None


def _resolve_extraposed(sketch: Sketch, be: Word, predicate: Word) -> None:
    """*It is hard to say*: the clause is the subject, *it* is nothing."""
    it = next((one for one in sketch.kids(be.i, "nsubj", "expl") if one.lower == "it"), None)
    if it is None or predicate.tag[:2] not in {"JJ", "NN"}:
        return
    for one in (
        *sketch.kids(predicate.i, "xcomp", "ccomp"),
        *sketch.kids(be.i, "ccomp", "xcomp", "advcl", "csubj"),
    ):
        infinitive = one.tag == "VBG" or any(k.tag == "TO" for k in sketch.kids(one.i, "aux"))
        that = any(k.lower == "that" for k in sketch.kids(one.i, "mark"))
        if one.i > predicate.i and (infinitive or that):
            sketch.forms[one.i] = "cop_subj"
            sketch.done.add(it.i)
            return


def _resolve_delayed(sketch: Sketch, verb: Word) -> None:
    """*It seems that he left*, *it tires me to walk*: *it* is nothing but the clause."""
    it = next((one for one in sketch.kids(verb.i, "nsubj") if one.lower == "it"), None)
    for one in sketch.kids(verb.i, "ccomp", "xcomp", "advcl"):
        infinitive = any(k.tag == "TO" for k in sketch.kids(one.i, "aux"))
        that = any(k.lower == "that" for k in sketch.kids(one.i, "mark"))
        if it is not None and one.i > verb.i and (infinitive or that):
            sketch.done.add(it.i)
            if verb.lemma in _AFFECTING:
                sketch.forms[one.i] = "nsubj"
            return


def _resolve_naming(sketch: Sketch, be: Word, predicate: Word) -> None:
    """*My name is Tom*: I am Tom."""
    name = sketch.kid(be.i, "nsubj")
    owner = sketch.kid(name.i, "poss") if name is not None else None
    if name is not None and owner is not None and name.lemma == "name" and predicate.i in sketch.core:
        sketch.stand_in[name.i] = owner.i


def _other(sketch: Sketch, be: Word) -> Word | None:
    """What speaks for *be* without a predicate: a phrase, an adverb that can be one, the subject."""
    for one in sketch.kids(be.i, "prep"):
        inner = sketch.kid(one.i, "pobj", "pcomp")
        if inner is not None:
            return inner
    for one in sketch.kids(be.i, "npadvmod", "advmod", "advcl"):
        if one.tag not in {"WRB", "RB"} or (one.i > be.i and one.lower not in _LIGHT):
            return one
    return sketch.kid(be.i, "nsubj")


def _predicate(sketch: Sketch, be: Word) -> Word | None:
    found = sketch.kids(be.i, *_PREDICATES)
    for dep in _PREDICATES:
        for one in found:
            if one.dep == dep and one.tag != "WRB" and not (one.lower in _PLACES and dep == "acomp"):
                return one
    return None


def _place(sketch: Sketch, be: Word) -> Word | None:
    """The preposition or adverb that says where."""
    source = next((one for one in sketch.kids(be.i, "prep") if one.lower == "from"), None)
    if source is not None and _has_origin(sketch, be, source):
        return source
    for k in be.kids:
        one = sketch.words[k]
        if one.dep == "prep" and (one.lower in _LOCATIVE or one.lower == "like"):
            inner = sketch.kid(one.i, "pobj")
            if inner is not None and inner.lemma not in TIME_NOUNS:
                return one
        if one.dep in {"advmod", "acomp"} and one.lower in _PLACES:
            return one
    return None


def _has_origin(sketch: Sketch, be: Word, source: Word) -> bool:
    """*is from Oslo*, *Where is she from?*, but not *is from six to eight*."""
    inner = sketch.kid(source.i, "pobj")
    if inner is None:
        return any(one.lower == "where" for one in sketch.kids(be.i, "advmod"))
    return inner.lemma not in TIME_NOUNS and inner.tag != "CD"


def is_copular(sketch: Sketch, word: Word) -> bool:
    """Whether a *be* is linked to its predicate by a stand-in."""
    return word.lemma == "be" and word.i in sketch.stand_in
