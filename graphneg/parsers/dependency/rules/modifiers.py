"""Modifiers and clauses whose arcs need no choice among roles: relatives, adverbials, adjectives."""

from __future__ import annotations

from graphneg.lexeme import is_frame
from graphneg.parsers.dependency.rules.choices import (
    CORE_ROLES,
    WH_ROLES,
    best_role,
    default_form,
    lowest_role,
    used_roles,
)
from graphneg.parsers.dependency.rules.closed_classes import CLOTHES, MARK_ROLES, OWNERS
from graphneg.parsers.dependency.rules.governors import Dependency
from graphneg.parsers.dependency.rules.numbers import ordinal_value
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.rules.speech import SPEECH
from graphneg.parsers.dependency.signatures import word_class
from graphneg.parsers.dependency.words import Word

_DEGREES = frozenset(
    {"great", "utter", "extreme", "considerable", "slight", "sheer", "deep", "complete", "total"}
)
_STANCES = frozenset({"sit", "stand", "lie", "kneel", "crouch", "wait"})
_SKIPPED = frozenset({"conj", "preconj", "cc", "punct", "aux", "auxpass", "expl"})


def write_modifier(sketch: Sketch, found: Dependency) -> bool:
    """Writes what needs no choice of role; tells whether it did."""
    form, kid = found.form, sketch.words[found.dependent]
    head, dep = sketch.head(found.governor, found.form), sketch.outer[found.dependent]
    if found.through.dep in _SKIPPED or _linked(sketch, head, dep):
        return True
    if form.startswith(("relcl", "acl")):
        return _write_relative(sketch, found)
    if sketch.draft.nodes[dep].rule == "lack":
        sketch.link(dep, "ARG0", head, "lack")
        return True
    rule = sketch.draft.nodes[head].rule
    if rule in {"able", "modal"} and form.startswith("xcomp"):
        able = sketch.draft.nodes[head].concept == "possible-01"
        sketch.link(head, "ARG1" if able else "ARG2", dep, rule)
        return True
    if rule == "able" and found.through.dep in {"nsubj", "csubj"}:
        return True
    if form.startswith("xcomp") and sketch.draft.nodes[head].concept == "use-02":
        sketch.link(head, "ARG1", dep, "used")
        return True
    if form.startswith("advcl"):
        return _write_adverbial(sketch, found)
    if form == "amod" and kid.tag[:2] in {"JJ", "VB"}:
        return _write_adjective(sketch, found)
    if form == "advmod" and kid.tag[:2] in {"JJ", "RB"} and _judges(sketch, kid):
        return _write_adjective(sketch, found)
    if form in {"prep_in", "prep_with", "prep_without"} and _write_having(sketch, found):
        return True
    if form == "prep_near" and sketch.draft.nodes[head].concept not in {None, "near-02"}:
        return _write_near(sketch, found)
    if found.preposition is not None and found.preposition.lower == "because":
        return write_cause(sketch, dep, head, found.preposition.i)
    if (
        found.preposition is not None
        and found.preposition.lower == "like"
        and sketch.words[found.governor].tag[:2] == "NN"
    ):
        node = sketch.draft.concept("resemble-01", found.preposition.i, "like")
        sketch.link(node, "ARG1", head, "like")
        sketch.link(node, "ARG2", dep, "like")
        return True
    return False


def _judges(sketch: Sketch, adverb: Word) -> bool:
    """Whether an adverb has a frame whose first role is what it judges: *slowly*, *well*, no *happily*."""
    concept = sketch.concept_of(adverb.i)
    if adverb.tag[:2] == "RB" and sketch.words[adverb.head].lemma in SPEECH:
        return False
    entry = sketch.lexicon.frames.get(concept)
    return is_frame(concept) and (
        adverb.tag[:2] == "JJ" or (entry is not None and min(entry.functions, default="") == "1")
    )


def _write_near(sketch: Sketch, found: Dependency) -> bool:
    """*a tree near the house* is near it; *he sits near the door*: so is he, and that is where he sits."""
    head, dep = sketch.head(found.governor, found.form), sketch.outer[found.dependent]
    node = sketch.draft.concept("near-02", found.preposition.i if found.preposition else None, "near")
    sketch.link(node, "ARG2", dep, "near")
    verb = sketch.words[found.governor]
    if verb.tag[:2] != "VB":
        sketch.link(node, "ARG1", head, "near")
        return True
    sketch.link(head, "ARG2" if verb.lemma in _STANCES else "location", node, "near")
    subject = sketch.kid(verb.i, "nsubj")
    if subject is not None and sketch.speaker(subject.i) in sketch.outer:
        sketch.link(node, "ARG1", sketch.outer[sketch.speaker(subject.i)], "near")
    return True


def _linked(sketch: Sketch, head: int, dep: int) -> bool:
    if head == dep:
        return True
    return any(
        (arc.head == head and arc.dep == dep) or (arc.head == dep and arc.dep == head)
        for arc in sketch.draft.arcs
    )


def _write_adjective(sketch: Sketch, found: Dependency) -> bool:
    """``(woman :ARG1-of (beautiful-02))``, ``(book :ord (ordinal-entity :value 2))``, else ``:mod``."""
    kid = sketch.words[found.dependent]
    head, dep = sketch.head(found.governor, found.form), sketch.outer[found.dependent]
    number = ordinal_value(kid.lower)
    if number is not None and kid.tag[:2] == "JJ":
        node = sketch.core[kid.i]
        sketch.draft.nodes[node].concept = "ordinal-entity"
        sketch.mark(node, "value", number, kid.i, "ordinal")
        sketch.link(head, "ord", node, "ordinal")
        return True
    concept = sketch.draft.nodes[dep].concept or ""
    if not is_frame(concept) and kid.lemma in _DEGREES and is_frame(sketch.draft.nodes[head].concept or ""):
        sketch.link(head, "degree", dep, "modifier")
        return True
    if not is_frame(concept):
        return False
    scores = sketch.lexicon.role_scores(
        concept, word_class(kid), "up_amod", sketch.words[found.governor].lemma
    )
    choice = best_role(sketch, concept, scores, set())
    role = (
        choice
        if choice in CORE_ROLES
        else ("ARG0" if kid.tag == "VBG" else lowest_role(sketch, concept, "ARG1"))
    )
    if found.form == "advmod":
        role = "ARG1"
    sketch.link(dep, role, head, "modifier")
    return True


def _write_having(sketch: Sketch, found: Dependency) -> bool:
    """*a man in a hat*, *a dog with a ball*: ``wear-01``, ``have-03``."""
    owner, thing = sketch.words[found.governor], sketch.words[found.dependent]
    if owner.tag not in {"NN", "NNS"} or found.preposition is None or is_frame(sketch.concept_of(owner.i)):
        return False
    lacks = found.form == "prep_without" and owner.lemma not in {"day", "life", "world", "time"}
    wears = thing.lemma in CLOTHES and not lacks
    if not wears and not lacks and (found.form == "prep_in" or owner.lemma not in OWNERS):
        return False
    node = sketch.draft.concept("wear-01" if wears else "have-03", found.preposition.i, "having")
    sketch.link(node, "ARG0", sketch.head(found.governor, found.form), "having")
    sketch.link(node, "ARG1", sketch.outer[found.dependent], "having")
    for arc in sketch.draft.arcs:
        if arc.head == sketch.core[thing.i] and arc.rule in {"no", "without"}:
            arc.head = node
    return True


def _write_relative(sketch: Sketch, found: Dependency) -> bool:
    """The noun takes the role of the gap in its relative clause."""
    clause = found.through
    verb = sketch.core[found.dependent]
    head = sketch.head(found.governor, found.form)
    concept = sketch.draft.nodes[verb].concept or ""
    form = _gap(sketch, clause)
    if form in {"location", "time"}:
        sketch.link(verb, form, head, "relative")
        return True
    kid = sketch.words[found.dependent]
    if clause.i != kid.i and form in {"nsubj", "nsubjpass"}:
        form = "cop_subj"
    lemma = sketch.words[found.governor].lemma
    scores = sketch.lexicon.role_scores(concept, word_class(kid), form, lemma)
    role = best_role(sketch, concept, scores, used_roles(sketch, verb)) or default_form(form)
    if role == "domain" or (form == "cop_subj" and not is_frame(concept)):
        sketch.link(head, "mod", verb, "relative")
    else:
        sketch.link(verb, role, head, "relative")
    return True


def _gap(sketch: Sketch, clause: Word) -> str:
    """What the relative pronoun is in its clause; without one, what is missing."""
    subject = False
    for k in clause.kids:
        one = sketch.words[k]
        relative = one.tag in {"WP", "WDT"} or (one.lower == "that" and one.tag in {"DT", "IN"})
        if relative and one.i not in sketch.core and one.dep in {"nsubj", "nsubjpass", "dobj", "attr"}:
            return one.dep
        if one.tag == "WRB" and one.lower in {"where", "when"}:
            return WH_ROLES[one.lower]
        if one.dep == "prep" and any(w.tag in {"WP", "WDT"} for w in sketch.kids(one.i, "pobj")):
            return f"prep_{one.lower}"
        subject = subject or one.dep in {"nsubj", "nsubjpass"}
    if clause.dep == "acl":
        if clause.tag == "VBN":
            return "nsubjpass"
        return "nsubj" if clause.tag == "VBG" else "dobj"
    if any(one.tag == "TO" for one in sketch.kids(clause.i, "aux")) and sketch.kid(clause.i, "dobj") is None:
        return "dobj"
    bare = next((one for one in sketch.kids(clause.i, "prep") if not one.kids), None)
    if bare is not None:
        return f"prep_{bare.lower}"
    return "dobj" if subject else "nsubj"


def _write_adverbial(sketch: Sketch, found: Dependency) -> bool:
    """Conditions, causes, concessions, times, purposes."""
    head, dep = sketch.head(found.governor, found.form), sketch.outer[found.dependent]
    marks = [one for one in sketch.kids(found.through.i, "mark", "advmod") if one.tag in {"IN", "WRB", "RB"}]
    to = any(one.tag == "TO" for one in sketch.kids(found.through.i, "aux"))
    mark = next((one.lower for one in marks if one.lower in MARK_ROLES), None)
    if mark == "for" and to:
        mark = None
    if mark is None:
        role = "purpose" if to else ("manner" if found.through.tag == "VBG" else "time")
        if found.through.tag in {"VBD", "VBZ", "VBP"}:
            role = "mod"
        sketch.link(head, role, dep, "adverbial")
        return True
    if mark == "so" and not any(one.lower == "that" for one in marks):
        return write_cause(sketch, head, dep, next(one.i for one in marks if one.lower == mark))
    role = MARK_ROLES[mark]
    anchor = next(one for one in marks if one.lower == mark)
    if role == "cause":
        return write_cause(sketch, dep, head, anchor.i)
    if mark in {"before", "after", "until", "till", "since"}:
        node = sketch.draft.concept(mark, anchor.i, "mark")
        sketch.link(node, "op1", dep, "mark")
        sketch.link(head, "time", node, "mark")
        return True
    sketch.link(head, role, dep, "adverbial")
    return True


def write_cause(sketch: Sketch, cause: int, effect: int, anchor: int) -> bool:
    node = sketch.draft.concept("cause-01", anchor, "cause")
    sketch.link(node, "ARG0", cause, "cause")
    sketch.link(node, "ARG1", effect, "cause")
    return True
