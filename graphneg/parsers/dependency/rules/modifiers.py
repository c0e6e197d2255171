"""Links each word's node to its governor's: modifiers and clauses by rules of their own, the rest by role.

In: a `RuleState` whose words have their nodes. Out: the arcs between them; *a man in a hat*:
``(w / wear-01 :ARG0 man :ARG1 hat)``; *He left because it rained*: ``cause-01`` over both.
"""

from __future__ import annotations

from graphneg.amr.penman import is_inverted
from graphneg.english.noun_kinds import is_frame
from graphneg.english.numbers import ordinal_value
from graphneg.parsers.dependency.lexicon import word_class, word_map
from graphneg.parsers.dependency.rules.roles import (
    CORE_ROLES,
    Dependency,
    best_role,
    default_form,
    default_role,
    dependency,
    judges,
    lowest_role,
    role_weights,
    used_roles,
)
from graphneg.parsers.dependency.rules.state import SPEECH, SUBJECTS, RuleState
from graphneg.parsers.dependency.text import Word, class_of

_DEGREES = word_class("degree-adjective")
_STANCES = frozenset({"sit", "stand", "lie", "kneel", "crouch", "wait"})
_SKIPPED = frozenset({"conj", "preconj", "cc", "punct", "aux", "auxpass", "expl"})
_CLOTHES = word_class("clothes")
_OWNERS = word_class("owner")
_MARK_ROLES = word_map("mark-role")
_QUESTION_ROLES = word_map("question-role")


def write_roles(state: RuleState) -> None:
    """Links each word's node to its governor's."""
    pending: dict[int, list[Dependency]] = {}
    for i in list(state.outer):
        if i in state.done and state.words[i].dep == "conj":
            continue
        edge = dependency(state, i)
        if edge is not None and not _write_modifier(state, edge):
            pending.setdefault(edge.governor, []).append(edge)
    for governor, edges in pending.items():
        _write_group(state, governor, edges)


def _write_group(state: RuleState, governor: int, edges: list[Dependency]) -> None:
    """Gives the dependents of a word their roles, the surest first, no core role twice."""
    head = state.core[governor]
    concept = state.draft.nodes[head].concept or ""
    used = used_roles(state, head)
    scored = [(edge, role_weights(state, edge)) for edge in edges]
    scored.sort(key=lambda pair: (pair[0].form not in SUBJECTS, -max(pair[1].values(), default=0.0)))
    for edge, scores in scored:
        role = best_role(state, concept, scores, used) or default_role(state, concept, edge, used)
        if role in CORE_ROLES:
            used.add(role)
        _link(state, state.head(governor, edge.form), role, state.outer[edge.dependent], edge.form)


def _link(state: RuleState, head: int, role: str, dep: int, rule: str) -> None:
    nodes, link = state.draft.nodes, state.draft.link
    if nodes[head].concept is None:
        if nodes[dep].concept is not None:
            link(dep, "mod", head, "constant")
    elif role == "domain":
        link(dep, "mod", head, rule)
    elif is_inverted(role):
        link(dep, role.removesuffix("-of"), head, rule)
    else:
        link(head, role, dep, rule)


def _write_modifier(state: RuleState, edge: Dependency) -> bool:
    """Writes what needs no choice of role; tells whether it did."""
    form, kid = edge.form, state.words[edge.dependent]
    head, dep = state.head(edge.governor, form), state.outer[edge.dependent]
    linked = any((arc.head, arc.dep) in {(head, dep), (dep, head)} for arc in state.draft.arcs)
    if edge.through.dep in _SKIPPED or head == dep or linked:
        return True
    if form.startswith(("relcl", "acl")):
        return _write_relative(state, edge)
    if _write_argument(state, edge, head, dep):
        return True
    if form.startswith("advcl"):
        return _write_adverbial(state, edge)
    if form == "amod" and kid.tag[:2] in {"JJ", "VB"}:
        return _write_adjective(state, edge)
    if form == "advmod" and kid.tag[:2] in {"JJ", "RB"} and _judges(state, kid):
        return _write_adjective(state, edge)
    if form in {"prep_in", "prep_with", "prep_without"} and _write_having(state, edge):
        return True
    if form == "prep_near" and state.draft.nodes[head].concept not in {None, "near-02"}:
        return _write_near(state, edge)
    preposition = edge.preposition
    if preposition is not None and preposition.lower == "because":
        return _write_cause(state, dep, head, preposition.i)
    noun = state.words[edge.governor].tag[:2] == "NN"
    if preposition is not None and preposition.lower == "like" and noun:
        return _write_frame(state, "resemble-01", preposition.i, "like", ARG1=head, ARG2=dep)
    return False


def _write_argument(state: RuleState, edge: Dependency, head: int, dep: int) -> bool:
    """What a modal, *able* or *used* takes, and who is *shirtless*."""
    draft, node, infinitive = state.draft, state.draft.nodes[head], edge.form.startswith("xcomp")
    if draft.nodes[dep].rule == "lack":
        draft.link(dep, "ARG0", head, "lack")
    elif node.rule in {"able", "modal"} and infinitive:
        draft.link(head, "ARG1" if node.concept == "possible-01" else "ARG2", dep, node.rule)
    elif infinitive and node.concept == "use-02":
        draft.link(head, "ARG1", dep, "used")
    else:
        return node.rule == "able" and edge.through.dep in {"nsubj", "csubj"}
    return True


def _write_frame(state: RuleState, concept: str, anchor: int | None, rule: str, **arguments: int) -> bool:
    """A frame that a preposition or a mark brings in, with its arguments."""
    node = state.draft.concept(concept, anchor, rule)
    for role, argument in arguments.items():
        state.draft.link(node, role, argument, rule)
    return True


def _write_cause(state: RuleState, cause: int, effect: int, anchor: int) -> bool:
    return _write_frame(state, "cause-01", anchor, "cause", ARG0=cause, ARG1=effect)


def _judges(state: RuleState, adverb: Word) -> bool:
    """Whether an adverb has a frame whose first role is what it judges: *slowly*, *well*, no *happily*."""
    concept = state.concept_of(adverb.i)
    if adverb.tag[:2] == "RB" and adverb.parent.lemma in SPEECH:
        return False
    return is_frame(concept) and (adverb.tag[:2] == "JJ" or judges(state, concept))


def _write_near(state: RuleState, edge: Dependency) -> bool:
    """*a tree near the house* is near it; *he sits near the door*: so is he, and that is where he sits."""
    head, dep = state.head(edge.governor, edge.form), state.outer[edge.dependent]
    node = state.draft.concept("near-02", edge.preposition.i if edge.preposition else None, "near")
    state.draft.link(node, "ARG2", dep, "near")
    verb = state.words[edge.governor]
    if verb.tag[:2] != "VB":
        state.draft.link(node, "ARG1", head, "near")
        return True
    state.draft.link(head, "ARG2" if verb.lemma in _STANCES else "location", node, "near")
    subject = verb.child("nsubj")
    located = state.outer_of(subject) if subject is not None else None
    if located is not None:
        state.draft.link(node, "ARG1", located, "near")
    return True


def _write_adjective(state: RuleState, edge: Dependency) -> bool:
    """``(woman :ARG1-of (beautiful-02))``, ``(book :ord (ordinal-entity :value 2))``, else ``:mod``."""
    draft, kid = state.draft, state.words[edge.dependent]
    head, dep = state.head(edge.governor, edge.form), state.outer[edge.dependent]
    number = ordinal_value(kid.lower)
    if number is not None and kid.tag[:2] == "JJ":
        node = state.core[kid.i]
        draft.nodes[node].concept = "ordinal-entity"
        state.mark(node, "value", number, kid.i, "ordinal")
        draft.link(head, "ord", node, "ordinal")
        return True
    concept = draft.nodes[dep].concept or ""
    if not is_frame(concept):
        degree = kid.lemma in _DEGREES and is_frame(draft.nodes[head].concept or "")
        if degree:
            draft.link(head, "degree", dep, "modifier")
        return degree
    if edge.form == "advmod":
        draft.link(dep, "ARG1", head, "modifier")
        return True
    lemma = state.words[edge.governor].lemma
    scores = state.lexicon.role_scores(concept, class_of(kid), "up_amod", lemma)
    role = best_role(state, concept, scores, set())
    if role not in CORE_ROLES:
        role = "ARG0" if kid.tag == "VBG" else lowest_role(state, concept, "ARG1")
    draft.link(dep, role or "ARG1", head, "modifier")
    return True


def _write_having(state: RuleState, edge: Dependency) -> bool:
    """*a man in a hat*, *a dog with a ball*: ``wear-01``, ``have-03``."""
    owner, thing = state.words[edge.governor], state.words[edge.dependent]
    if owner.tag not in {"NN", "NNS"} or edge.preposition is None or is_frame(state.concept_of(owner.i)):
        return False
    lacks = edge.form == "prep_without" and owner.lemma not in {"day", "life", "world", "time"}
    wears = thing.lemma in _CLOTHES and not lacks
    if not wears and not lacks and (edge.form == "prep_in" or owner.lemma not in _OWNERS):
        return False
    node = state.draft.concept("wear-01" if wears else "have-03", edge.preposition.i, "having")
    state.draft.link(node, "ARG0", state.head(edge.governor, edge.form), "having")
    state.draft.link(node, "ARG1", state.outer[edge.dependent], "having")
    for arc in state.draft.arcs:
        if arc.head == state.core[thing.i] and arc.rule in {"no", "without"}:
            arc.head = node
    return True


def _write_relative(state: RuleState, edge: Dependency) -> bool:
    """The noun takes the role of the gap in its relative clause."""
    draft, clause, kid = state.draft, edge.through, state.words[edge.dependent]
    verb, head = state.core[kid.i], state.head(edge.governor, edge.form)
    concept = draft.nodes[verb].concept or ""
    form = _gap(state, clause)
    if form in {"location", "time"}:
        draft.link(verb, form, head, "relative")
        return True
    if clause.i != kid.i and form in SUBJECTS:
        form = "cop_subj"
    lemma = state.words[edge.governor].lemma
    scores = state.lexicon.role_scores(concept, class_of(kid), form, lemma)
    role = best_role(state, concept, scores, used_roles(state, verb)) or default_form(form)
    if role == "domain" or (form == "cop_subj" and not is_frame(concept)):
        draft.link(head, "mod", verb, "relative")
    else:
        draft.link(verb, role, head, "relative")
    return True


def _gap(state: RuleState, clause: Word) -> str:
    """What the relative pronoun is in its clause; without one, what is missing."""
    for kid in clause.children():
        relative = kid.tag in {"WP", "WDT"} or (kid.lower == "that" and kid.tag in {"DT", "IN"})
        if relative and kid.i not in state.core and kid.dep in {"nsubj", "nsubjpass", "dobj", "attr"}:
            return kid.dep
        if kid.tag == "WRB" and kid.lower in {"where", "when"}:
            return _QUESTION_ROLES[kid.lower]
        if kid.dep == "prep" and any(inner.tag in {"WP", "WDT"} for inner in kid.children("pobj")):
            return f"prep_{kid.lower}"
    if clause.dep == "acl":
        return {"VBN": "nsubjpass", "VBG": "nsubj"}.get(clause.tag, "dobj")
    if clause.is_infinitive and clause.child("dobj") is None:
        return "dobj"
    bare = next((kid for kid in clause.children("prep") if not kid.kids), None)
    if bare is not None:
        return f"prep_{bare.lower}"
    return "dobj" if clause.child(*SUBJECTS) is not None else "nsubj"


def _write_adverbial(state: RuleState, edge: Dependency) -> bool:
    """Conditions, causes, concessions, times, purposes."""
    head, dep, clause = state.head(edge.governor, edge.form), state.outer[edge.dependent], edge.through
    marks = [kid for kid in clause.children("mark", "advmod") if kid.tag in {"IN", "WRB", "RB"}]
    mark = next((kid for kid in marks if kid.lower in _MARK_ROLES), None)
    if mark is None or (mark.lower == "for" and clause.is_infinitive):
        role = "purpose" if clause.is_infinitive else ("manner" if clause.tag == "VBG" else "time")
        if clause.tag in {"VBD", "VBZ", "VBP"}:
            role = "mod"
    elif mark.lower == "so" and not any(kid.lower == "that" for kid in marks):
        return _write_cause(state, head, dep, mark.i)
    elif _MARK_ROLES[mark.lower] == "cause":
        return _write_cause(state, dep, head, mark.i)
    elif mark.lower in {"before", "after", "until", "till"}:
        node = state.draft.concept(mark.lower, mark.i, "mark")
        state.draft.link(node, "op1", dep, "mark")
        state.draft.link(head, "time", node, "mark")
        return True
    else:
        role = _MARK_ROLES[mark.lower]
    state.draft.link(head, role, dep, "adverbial")
    return True
