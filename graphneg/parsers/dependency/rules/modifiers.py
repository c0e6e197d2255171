"""Links each word to its governor: roles, modifiers, clauses, degrees."""

from __future__ import annotations

from graphneg.amr.penman import is_inverted
from graphneg.english.noun_kinds import is_frame
from graphneg.english.numbers import ordinal_value
from graphneg.parsers.dependency.draft import Word, word_class
from graphneg.parsers.dependency.rules.coordination import SPEECH
from graphneg.parsers.dependency.rules.roles import (
    CORE_ROLES,
    WH_ROLES,
    Dependency,
    best_role,
    default_form,
    default_role,
    dependency,
    lowest_role,
    role_weights,
    used_roles,
)
from graphneg.parsers.dependency.rules.sketch import CLOTHES, MARK_ROLES, OWNERS, Sketch

# Modifiers and clauses whose arcs need no choice among roles: relatives, adverbials, adjectives.


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


# Degrees: ``have-degree-91`` for comparatives, superlatives, *too*, *as … as*, *so … that*.


_BARE = frozenset(
    {"more", "most", "less", "least", "much", "many", "few", "little", "other", "former", "latter"}
)
_MARKERS = {"more": "more", "most": "most", "less": "less", "least": "least", "too": "too", "as": "equal"}


def write_degrees(sketch: Sketch) -> None:
    """Puts ``have-degree-91`` over each adjective that is compared or measured."""
    for word in sketch.words:
        if word.tag[:2] == "JJ" and word.i in sketch.core and word.lower not in _BARE:
            found = _degree(sketch, word)
            if found is not None:
                _write(sketch, word, *found)


def _degree(sketch: Sketch, word: Word) -> tuple[str, Word] | None:
    if word.tag == "JJR":
        return "more", word
    if word.tag == "JJS":
        return "most", word
    for one in sketch.kids(word.i, "advmod"):
        if one.lower in _MARKERS and one.i < word.i:
            if one.lower == "as" and not _has_second_as(sketch, word):
                continue
            return _MARKERS[one.lower], one
        if one.lower == "so" and any(_has_that(sketch, k) for k in sketch.kids(word.i, "ccomp", "advcl")):
            return "so", one
        if one.lower == "so" and one.i < word.i and _is_denied(sketch, word) and _has_second_as(sketch, word):
            return "equal", one
    return None


def _has_second_as(sketch: Sketch, word: Word) -> bool:
    return any(one.lower == "as" and one.i > word.i for one in sketch.kids(word.i, "prep", "advcl"))


def _is_denied(sketch: Sketch, word: Word) -> bool:
    """*is not so tall as*."""
    return any(one.lemma in {"not", "n't"} for i in (word.i, word.head) for one in sketch.kids(i, "neg"))


def _has_that(sketch: Sketch, clause: Word) -> bool:
    return any(one.lower == "that" for one in sketch.kids(clause.i, "mark"))


def _write(sketch: Sketch, word: Word, kind: str, marker: Word) -> None:
    inner = sketch.core[word.i]
    degree = sketch.draft.concept("have-degree-91", marker.i, "degree")
    sketch.link(degree, "ARG2", inner, "degree")
    if marker.i in sketch.core and marker.i != word.i:
        node = sketch.core[marker.i]
        sketch.draft.nodes[node].concept = kind
    else:
        node = sketch.draft.concept(kind, marker.i, "degree")
    sketch.link(degree, "ARG3", node, "degree")
    if marker.i != word.i:
        sketch.placed.add(marker.i)
    sketch.core[word.i] = sketch.outer[word.i] = degree
    for one in sketch.kids(word.i, "prep", "advcl", "ccomp", "xcomp"):
        _write_standard(sketch, one, degree, kind, marker)


def _write_standard(sketch: Sketch, one: Word, degree: int, kind: str, marker: Word) -> None:
    """What it is compared with, or what follows from it."""
    target = one
    if one.dep == "prep":
        inner = sketch.kid(one.i, "pobj", "pcomp")
        if inner is None or one.lower not in {"than", "as", "of", "in"}:
            return
        if one.lower in {"of", "in"} and kind != "most":
            return
        target = inner
    speaker = sketch.speaker(target.i)
    if speaker not in sketch.outer:
        return
    if one.lower in {"of", "in"} and one.dep == "prep":
        role = "ARG5"
    elif one.dep == "prep" or any(k.lower in {"than", "as"} for k in sketch.kids(one.i, "mark")):
        role = "ARG4"
    elif kind in {"too", "so"}:
        role = "ARG6"
    else:
        return
    sketch.link(degree, role, sketch.outer[speaker], "degree")
    sketch.placed.add(speaker)


def share_measured(sketch: Sketch) -> None:
    """What is measured by *have-degree-91* is also an argument of the measure, where that is a frame."""
    arcs = sketch.draft.arcs
    for degree in [arc for arc in arcs if arc.role == "ARG2" and arc.rule == "degree"]:
        measure = sketch.draft.nodes[degree.dep].concept or ""
        entry = sketch.lexicon.frames.get(measure)
        taken = any(arc.head == degree.dep and arc.role == "ARG1" for arc in arcs)
        whole = next((arc.dep for arc in arcs if arc.head == degree.head and arc.role == "ARG1"), None)
        if whole is not None and not taken and entry is not None and "1" in entry.functions:
            sketch.link(degree.dep, "ARG1", whole, "degree")


# Links each word's node to its governor's, by the role that fits.


_SUBJECTS = frozenset({"nsubj", "nsubjpass"})


def write_roles(sketch: Sketch) -> None:
    """Links each word's node to its governor's."""
    waiting: dict[int, list[Dependency]] = {}
    for i in list(sketch.outer):
        if i in sketch.done and sketch.words[i].dep in {"conj"}:
            continue
        found = dependency(sketch, i)
        if found is not None and not write_modifier(sketch, found):
            waiting.setdefault(found.governor, []).append(found)
    for governor, found in waiting.items():
        _write_group(sketch, governor, found)


def _write_group(sketch: Sketch, governor: int, found: list[Dependency]) -> None:
    """Gives the dependents of a word their roles, the surest first, no core role twice."""
    head = sketch.core[governor]
    concept = sketch.draft.nodes[head].concept or ""
    used = used_roles(sketch, head)
    scored = [(one, role_weights(sketch, concept, one)) for one in found]
    scored.sort(key=lambda pair: (pair[0].form not in _SUBJECTS, -max(pair[1].values(), default=0.0)))
    for one, scores in scored:
        role = best_role(sketch, concept, scores, used) or default_role(sketch, concept, one, used)
        if role in CORE_ROLES:
            used.add(role)
        _link(sketch, sketch.head(governor, one.form), role, sketch.outer[one.dependent], one)


def _link(sketch: Sketch, head: int, role: str, dep: int, found: Dependency) -> None:
    if sketch.draft.nodes[head].concept is None:
        if sketch.draft.nodes[dep].concept is not None:
            sketch.link(dep, "mod", head, "constant")
        return
    if role == "domain":
        sketch.link(dep, "mod", head, found.form)
    elif is_inverted(role):
        sketch.link(dep, role.removesuffix("-of"), head, found.form)
    else:
        sketch.link(head, role, dep, found.form)
