"""The roles between words: reverse arcs for modifiers that are frames, else the heaviest role."""

from __future__ import annotations

from typing import NamedTuple

from graphneg.lexeme import is_frame
from graphneg.parsers.dependency.rules.closed_classes import (
    BODY_PARTS,
    CLOTHES,
    MARK_ROLES,
    OWNERS,
    PREPOSITION_ROLES,
    TIME_NOUNS,
)
from graphneg.parsers.dependency.rules.governors import Dependency, dependency
from graphneg.parsers.dependency.rules.numbers import ordinal_value
from graphneg.parsers.dependency.rules.sketch import Sketch
from graphneg.parsers.dependency.signatures import word_class
from graphneg.parsers.dependency.words import Word

_SKIPPED = frozenset({"conj", "preconj", "cc", "punct", "aux", "auxpass", "expl"})
_WH_ROLES = {"where": "location", "when": "time", "how": "manner", "why": "purpose"}
_DEFAULTS = {
    "nsubj": "ARG0", "nsubjpass": "ARG1", "csubj": "ARG0", "dobj": "ARG1", "dative": "ARG2", "agent": "ARG0",
    "acomp": "ARG1", "attr": "ARG1", "oprd": "ARG2", "poss": "poss", "amod": "mod", "compound": "mod",
    "nummod": "quant", "det": "mod", "predet": "mod", "advmod": "mod", "npadvmod": "time", "prt": "direction",
    "intj": "mod", "cop_subj": "domain", "pobj": "op1", "pcomp": "op1", "quantmod": "mod", "neg": "time",
    "appos": "mod", "nmod": "mod", "prep": "location",
}  # fmt: skip
_FREE = frozenset({"intj", "det", "predet", "neg", "meta", "dep", "punct", "quantmod", "nummod", "appos"})
_FREE = frozenset({"intj", "det", "predet", "neg", "meta", "dep", "punct", "quantmod", "nummod", "appos"})
_TEMPORAL = frozenset({"npadvmod", "prep_in", "prep_on", "prep_at", "prep_during"})
_CONSTANT = frozenset({"polarity", "mode", "wiki", "name", "value", "unit", "op2", "op3"})
_CORE = frozenset(f"ARG{n}" for n in range(7))


class Choice(NamedTuple):
    """A role that could be, and its weight."""

    role: str
    weight: float


def write_roles(sketch: Sketch) -> None:
    """Links each word's node to its governor's."""
    waiting: dict[int, list[Dependency]] = {}
    for i in list(sketch.outer):
        if i in sketch.done and sketch.words[i].dep in {"conj"}:
            continue
        found = dependency(sketch, i)
        if found is not None and not _written(sketch, found):
            waiting.setdefault(found.governor, []).append(found)
    for governor, found in waiting.items():
        _write_group(sketch, governor, found)


def _written(sketch: Sketch, found: Dependency) -> bool:
    """Writes what needs no choice of role; tells whether it did."""
    form, kid = found.form, sketch.words[found.dependent]
    head, dep = sketch.core[found.governor], sketch.outer[found.dependent]
    if found.through.dep in _SKIPPED or _linked(sketch, head, dep):
        return True
    if form.startswith(("relcl", "acl")):
        return _write_relative(sketch, found)
    rule = sketch.draft.nodes[head].rule
    if rule in {"able", "modal"} and form.startswith("xcomp"):
        able = sketch.draft.nodes[head].concept == "possible-01"
        sketch.link(head, "ARG1" if able else "ARG2", dep, rule)
        return True
    if rule == "able" and found.through.dep in {"nsubj", "csubj"}:
        return True
    if form.startswith("advcl"):
        return _write_adverbial(sketch, found)
    if form == "amod" and kid.tag[:2] in {"JJ", "VB"}:
        return _write_adjective(sketch, found)
    if form == "advmod" and kid.tag[:2] == "JJ" and is_frame(sketch.concept_of(kid.i)):
        return _write_adjective(sketch, found)
    if form in {"prep_in", "prep_with", "prep_without"} and _write_having(sketch, found):
        return True
    if form == "prep_near" and sketch.draft.nodes[head].concept is not None:
        node = sketch.draft.concept("near-02", found.preposition.i if found.preposition else None, "near")
        sketch.link(node, "ARG1", head, "near")
        sketch.link(node, "ARG2", dep, "near")
        return True
    if found.preposition is not None and found.preposition.lower == "because":
        return _write_cause(sketch, dep, head, found.preposition.i)
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
    head, dep = sketch.core[found.governor], sketch.outer[found.dependent]
    number = ordinal_value(kid.lower)
    if number is not None and kid.tag[:2] == "JJ":
        node = sketch.core[kid.i]
        sketch.draft.nodes[node].concept = "ordinal-entity"
        sketch.mark(node, "value", number, kid.i, "ordinal")
        sketch.link(head, "ord", node, "ordinal")
        return True
    concept = sketch.draft.nodes[dep].concept or ""
    if not is_frame(concept):
        return False
    scores = sketch.lexicon.role_scores(
        concept, word_class(kid), "up_amod", sketch.words[found.governor].lemma
    )
    choice = _best(sketch, concept, scores, set())
    role = choice if choice in _CORE else ("ARG0" if kid.tag == "VBG" else _lowest(sketch, concept, "ARG1"))
    if found.form == "advmod":
        role = "ARG1"
    sketch.link(dep, role, head, "modifier")
    return True


def _write_having(sketch: Sketch, found: Dependency) -> bool:
    """*a man in a hat*, *a dog with a ball*: ``wear-01``, ``have-03``."""
    owner, thing = sketch.words[found.governor], sketch.words[found.dependent]
    if owner.tag not in {"NN", "NNS"} or found.preposition is None or is_frame(sketch.concept_of(owner.i)):
        return False
    wears = thing.lemma in CLOTHES
    if not wears and (found.form == "prep_in" or owner.lemma not in OWNERS):
        return False
    node = sketch.draft.concept("wear-01" if wears else "have-03", found.preposition.i, "having")
    sketch.link(node, "ARG0", sketch.core[found.governor], "having")
    sketch.link(node, "ARG1", sketch.outer[found.dependent], "having")
    return True


def _write_relative(sketch: Sketch, found: Dependency) -> bool:
    """The noun takes the role of the gap in its relative clause."""
    clause = found.through
    verb = sketch.core[found.dependent]
    head = sketch.core[found.governor]
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
    role = _best(sketch, concept, scores, _used(sketch, verb)) or _DEFAULTS.get(form, "ARG1")
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
            return _WH_ROLES[one.lower]
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
    head, dep = sketch.core[found.governor], sketch.outer[found.dependent]
    marks = [one for one in sketch.kids(found.through.i, "mark", "advmod") if one.tag in {"IN", "WRB", "RB"}]
    mark = next((one.lower for one in marks if one.lower in MARK_ROLES), None)
    if mark is None:
        to = any(one.tag == "TO" for one in sketch.kids(found.through.i, "aux"))
        role = "purpose" if to else ("manner" if found.through.tag == "VBG" else "time")
        if found.through.tag in {"VBD", "VBZ", "VBP"}:
            role = "mod"
        sketch.link(head, role, dep, "adverbial")
        return True
    role = MARK_ROLES[mark]
    anchor = next(one for one in marks if one.lower == mark)
    if role == "cause":
        return _write_cause(sketch, dep, head, anchor.i)
    if mark in {"before", "after", "until", "till", "since"}:
        node = sketch.draft.concept(mark, anchor.i, "mark")
        sketch.link(node, "op1", dep, "mark")
        sketch.link(head, "time", node, "mark")
        return True
    sketch.link(head, role, dep, "adverbial")
    return True


def _write_cause(sketch: Sketch, cause: int, effect: int, anchor: int) -> bool:
    node = sketch.draft.concept("cause-01", anchor, "cause")
    sketch.link(node, "ARG0", cause, "cause")
    sketch.link(node, "ARG1", effect, "cause")
    return True


def _write_group(sketch: Sketch, governor: int, found: list[Dependency]) -> None:
    """Gives the dependents of a word their roles, the surest first, no core role twice."""
    head = sketch.core[governor]
    concept = sketch.draft.nodes[head].concept or ""
    used = _used(sketch, head)
    scored = [(one, _scores(sketch, concept, one)) for one in found]
    scored.sort(key=lambda pair: -max(pair[1].values(), default=0.0))
    for one, scores in scored:
        role = _best(sketch, concept, scores, used) or _default(sketch, concept, one, used)
        if role in _CORE:
            used.add(role)
        _link(sketch, head, role, sketch.outer[one.dependent], one)


def _link(sketch: Sketch, head: int, role: str, dep: int, found: Dependency) -> None:
    if sketch.draft.nodes[head].concept is None:
        if sketch.draft.nodes[dep].concept is not None:
            sketch.link(dep, "mod", head, "constant")
        return
    if role == "domain":
        sketch.link(dep, "mod", head, found.form)
    elif role == "part-of":
        sketch.link(dep, "part", head, found.form)
    else:
        sketch.link(head, role, dep, found.form)


def _scores(sketch: Sketch, concept: str, found: Dependency) -> dict[str, float]:
    kid = sketch.words[found.dependent]
    kind = word_class(sketch.words[found.governor])
    if kid.tag == "WRB" and found.form == "advmod" and concept == "be-located-at-91":
        return {"ARG2": 1.0}
    if kid.tag == "WRB" and found.form == "advmod":
        adjective = sketch.words[found.governor].tag[:2] in {"JJ", "RB"}
        return {"degree" if adjective else _WH_ROLES.get(kid.lower, "manner"): 1.0}
    if found.form in {"det", "advmod"} and kid.tag in {"WDT", "WP", "WP$"}:
        return {"mod": 1.0}
    if found.form == "rate":
        return {"frequency": 1.0}
    if found.form == "pobj" and found.dependent in sketch.forms:
        return {"op1": 1.0}
    if found.form in {"nummod", "how-many"}:
        return {"quant": 1.0}
    scores = sketch.lexicon.role_scores(concept, kind, found.form, kid.lemma)
    if concept.endswith("-91") and found.form in {"cop_subj", "nsubj"}:
        return {"ARG1": 1.0}
    if concept == "be-located-at-91" and (found.form.startswith("prep_") or found.form in {"acomp", "attr"}):
        scores["ARG2"] = scores.get("ARG2", 0.0) + 1.0
    if found.form == "poss" and sketch.words[found.governor].lemma in BODY_PARTS:
        return {"part-of": 1.0}
    if found.form in _FREE:
        scores = {role: weight for role, weight in scores.items() if role not in _CORE} or {"mod": 1.0}
    if found.form == "prep_of" and ("F", concept, "prep_of") not in sketch.lexicon.roles:
        scores.pop("consist-of", None)
    if kid.lemma in TIME_NOUNS and found.form in _TEMPORAL:
        scores["time"] = scores.get("time", 0.0) + 0.4
    if found.form == "advmod" and sketch.draft.nodes[sketch.core[kid.i]].rule == "adverb":
        scores["manner"] = scores.get("manner", 0.0) + 0.4
    return scores


def _best(sketch: Sketch, concept: str, scores: dict[str, float], used: set[str]) -> str | None:
    """The heaviest role that the concept can take and that is still free."""
    best, weight = None, 0.0
    for role, score in scores.items():
        if score > weight and _allowed(sketch, concept, role) and role not in used:
            best, weight = role, score
    return best


def _allowed(sketch: Sketch, concept: str, role: str) -> bool:
    if role in _CONSTANT:
        return False
    if role.startswith(("snt", "op")) and not (role == "op1" and not is_frame(concept)):
        return False
    if role not in _CORE:
        return not (is_frame(concept) and role in {"domain", "consist-of", "poss", "quant", "name", "unit"})
    if not is_frame(concept):
        return False
    entry = sketch.lexicon.frames.get(concept)
    return entry is None or role[3:] in entry.functions or ("F", concept) in sketch.lexicon.roles


def _lowest(sketch: Sketch, concept: str, otherwise: str) -> str:
    entry = sketch.lexicon.frames.get(concept)
    if entry is None or not entry.functions or otherwise[3:] in entry.functions:
        return otherwise
    return f"ARG{min(entry.functions)}"


def _default(sketch: Sketch, concept: str, found: Dependency, used: set[str]) -> str:
    form = found.form
    if found.preposition is not None:
        role = PREPOSITION_ROLES.get(found.preposition.lower, "mod")
        return role if role != "prep-as" else "mod"
    role = "ARG1" if form.startswith(("ccomp", "xcomp")) else _DEFAULTS.get(form, "mod")
    if role in _CORE:
        if not is_frame(concept):
            return "mod"
        role = _lowest(sketch, concept, role)
        if role in used:
            entry = sketch.lexicon.frames.get(concept)
            free = [f"ARG{n}" for n in sorted(entry.functions)] if entry else ["ARG1", "ARG2"]
            role = next((one for one in free if one not in used), "mod")
    return role


def _used(sketch: Sketch, head: int) -> set[str]:
    return {arc.role for arc in sketch.draft.arcs if arc.head == head and arc.role in _CORE}


def subject_role(sketch: Sketch, verb: int, form: str, lemma: str) -> str | None:
    """The role of a subject that another clause lends, ``None`` where none is free."""
    node = sketch.core[verb]
    concept = sketch.draft.nodes[node].concept or ""
    if not is_frame(concept):
        return None
    scores = sketch.lexicon.role_scores(concept, word_class(sketch.words[verb]), form, lemma)
    used = _used(sketch, node)
    role = _best(sketch, concept, {k: v for k, v in scores.items() if k in _CORE}, set())
    role = role or _lowest(sketch, concept, "ARG0" if form == "nsubj" else "ARG1")
    return None if role in used else role
