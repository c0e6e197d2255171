"""Which word governs which, and which role a dependent takes.

In: a `RuleState` whose words have their nodes. Out: a `Dependency` for each word with a governor, and weights
of roles for it: by the first row of ``role_rules.tsv`` that fits, else by counts of annotated graphs. Of
*Tom* in *Tom sleeps*: ``{"ARG0": 0.9, "ARG1": 0.1}``; `best_role` takes the heaviest that is free.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from graphneg.english.noun_kinds import is_frame
from graphneg.parsers.dependency.lexicon import rows, word_class, word_map
from graphneg.parsers.dependency.rules.state import TIME_NOUNS, RuleState
from graphneg.parsers.dependency.text import Word, class_of, clause_form

CORE_ROLES = frozenset(f"ARG{n}" for n in range(7))
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
_OUTER = frozenset({"because", "instead", "due", "out", "such", "despite"})
"""Prepositions that count although another stands below them: *out of*, *because of*."""
_PREPOSITIONS = frozenset({"prep", "agent", "dative", "pcomp"})


class Dependency(NamedTuple):
    """``dependent`` hangs on ``governor`` as ``form``; ``through`` is the word whose relation it is.

    ``through`` differs from ``dependent`` where that stands for a copula. ``preposition`` is the
    silent preposition between them, if there is one.
    """

    governor: int
    dependent: int
    through: Word
    form: str
    preposition: Word | None


def dependency(state: RuleState, dependent: int) -> Dependency | None:
    """The dependency of a word that has a node; ``None`` where it depends on no other such word."""
    if dependent in state.attached:
        return None
    through = _represented(state, state.words[dependent])
    preposition: Word | None = None
    copular = False
    head = through
    while head.head != head.i:
        below, head = head, head.parent
        proxy = state.proxy(head.i)
        copular = copular or (proxy != head.i and head.lemma == "be")
        if proxy in state.core and proxy != dependent:
            form = _form(state, through, preposition, below, copular)
            return Dependency(proxy, dependent, through, form, preposition)
        counts = preposition is None or head.lower in _OUTER
        if counts and head.dep in _PREPOSITIONS and head.tag in {"IN", "TO", "RP"}:
            preposition = head
    return None


def _represented(state: RuleState, word: Word) -> Word:
    """The topmost copula that the word stands for, or the word itself."""
    for _ in range(10):
        head = word.parent
        if head.i != word.i and state.proxies.get(head.i) == word.i:
            word = head
        elif word.dep in {"pobj", "pcomp"} and state.proxies.get(head.head) == word.i:
            word = head.parent
        else:
            break
    return word


def _form(state: RuleState, through: Word, preposition: Word | None, below: Word, copular: bool) -> str:
    if through.i in state.forms:
        return state.forms[through.i]
    if preposition is not None:
        return "agent" if preposition.dep == "agent" else f"prep_{preposition.lower}"
    copular = copular or through.parent.tag[:2] == "JJ"
    if copular and through.dep in _SUBJECTS and through.i == below.i:
        return "cop_subj"
    if through.i != below.i:
        return below.dep if below.dep not in {"punct", "ROOT"} else through.dep
    return clause_form(through)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def head_concept(state: RuleState, edge: Dependency) -> str:
    """The concept of the node that takes a dependent."""
    return state.draft.nodes[state.head(edge.governor, edge.form)].concept or ""


_Fact = Callable[[RuleState, Dependency], str]
_GOVERNOR: dict[str, _Fact] = {
    "lemma": lambda state, edge: state.words[edge.governor].lemma,
    "tag": lambda state, edge: state.words[edge.governor].tag,
    "class": lambda state, edge: class_of(state.words[edge.governor]),
    "concept": head_concept,
    "rule": lambda state, edge: state.rule_of(edge.governor),
    "frame": lambda state, edge: _yes(is_frame(head_concept(state, edge))),
    "transitive": lambda state, edge: _yes(_is_transitive(state, edge)),
    "content": lambda state, edge: _yes(state.words[edge.governor].child("ccomp") is not None),
}
_DEPENDENT: dict[str, _Fact] = {
    "lemma": lambda state, edge: state.words[edge.dependent].lemma,
    "lower": lambda state, edge: state.words[edge.dependent].lower,
    "tag": lambda state, edge: state.words[edge.dependent].tag,
    "concept": lambda state, edge: state.concept_of(edge.dependent),
    "rule": lambda state, edge: state.rule_of(edge.dependent),
    "after": lambda state, edge: _yes(edge.dependent > edge.governor),
    "assigned": lambda state, edge: _yes(edge.dependent in state.forms),
    "vocative": lambda state, edge: _yes(is_vocative(state, edge)),
    "quality": lambda state, edge: _yes(judges(state, state.concept_of(edge.dependent))),
}


class _Condition(NamedTuple):
    """A fact and the values that it may have: some in full, some by their beginning or end."""

    fact: _Fact
    values: frozenset[str]
    prefixes: tuple[str, ...]
    suffixes: tuple[str, ...]

    def holds(self, state: RuleState, edge: Dependency) -> bool:
        """Whether the fact about a dependency has one of the values."""
        value = self.fact(state, edge)
        return value in self.values or value.startswith(self.prefixes) or value.endswith(self.suffixes)


def _conditions(text: str, facts: dict[str, _Fact]) -> list[_Condition]:
    conditions: list[_Condition] = []
    for name, _, choices in (cell.partition("=") for cell in text.split() if cell != "-"):
        values = choices.split(",")
        listed = {word for value in values if value[0] == "@" for word in word_class(value[1:])}
        prefixes = tuple(value[:-1] for value in values if value.endswith("*"))
        suffixes = tuple(value[1:] for value in values if value.startswith("*"))
        conditions.append(_Condition(facts[name], frozenset({*values, *listed}), prefixes, suffixes))
    return conditions


@cache
def _rules() -> list[tuple[list[str], list[_Condition], dict[str, float]]]:
    """The rows of the table: relations, conditions, and the weights of roles."""
    return [
        (
            relations.split(","),
            _conditions(governor, _GOVERNOR) + _conditions(dependent, _DEPENDENT),
            {role: float(weight or 1) for role, _, weight in (cell.partition(":") for cell in roles.split())},
        )
        for relations, governor, dependent, roles in rows("role_rules")
    ]


@cache
def _rules_of(form: str) -> list[tuple[list[_Condition], dict[str, float]]]:
    """What the rows say about a relation, in their order."""
    return [
        (conditions, weights)
        for relations, conditions, weights in _rules()
        if any(form == name or (name[-1] == "*" and form.startswith(name[:-1])) for name in relations)
    ]


_FREE = frozenset({"intj", "det", "predet", "neg", "meta", "dep", "punct", "quantmod", "nummod", "appos"})
_TEMPORAL = frozenset({"npadvmod", "prep_in", "prep_on", "prep_at", "prep_during"})


def role_weights(state: RuleState, edge: Dependency) -> dict[str, float]:
    """The weight of each role that a dependent may take."""
    for conditions, weights in _rules_of(edge.form):
        if all(condition.holds(state, edge) for condition in conditions):
            return dict(weights)
    form, kid, governor = edge.form, state.words[edge.dependent], state.words[edge.governor]
    concept = head_concept(state, edge)
    scores = state.lexicon.role_scores(concept, class_of(governor), form, kid.lemma)
    if concept == "be-located-at-91" and (form.startswith("prep_") or form in {"acomp", "attr"}):
        scores["ARG2"] = scores.get("ARG2", 0.0) + 1.0
    if form in {"nsubj", "dobj"} and is_frame(concept):
        scores = _fitting(state, concept, form, scores)
    if form == "dobj" and governor.child("dative") is not None:
        scores["ARG1"] = 5 * scores.get("ARG1", 0.1)
    if form in _FREE:
        scores = {role: weight for role, weight in scores.items() if role not in CORE_ROLES} or {"mod": 1.0}
    if form == "prep_of" and ("F", concept, "prep_of") not in state.lexicon.roles:
        scores.pop("consist-of", None)
    if form in _TEMPORAL:
        timely = kid.lemma in TIME_NOUNS or state.concept_of(kid.i) == "then"
        scores["time"] = scores.get("time", 0.0) + 0.4 if timely else scores.get("time", 0.0) * 0.2
    if form == "advmod" and state.rule_of(kid.i) == "adverb":
        scores["manner"] = scores.get("manner", 0.0) + 0.4
    return scores


def judges(state: RuleState, concept: str) -> bool:
    """Whether a concept is a frame whose first role is what it judges: ``slow-05``, ``good-02``."""
    entry = state.lexicon.frames.get(concept)
    return entry is not None and min(entry.functions, default="") == "1"


def _is_transitive(state: RuleState, edge: Dependency) -> bool:
    """Whether a verb has a subject and one object, and its frame an agent and what it acts on."""
    verb, concept = state.words[edge.governor], head_concept(state, edge)
    entry = state.lexicon.frames.get(concept)
    objects = verb.children("dobj")
    if entry is None or not {"0", "1"} <= set(entry.functions) or len(objects) != 1:
        return False
    plain = verb.child("nsubj") is not None and verb.child("dative", "ccomp", "xcomp", "oprd") is None
    seen = state.lexicon.roles.get(("F", concept, "dobj"), {})
    usual = seen.get("ARG1", 0) >= sum(seen.values()) / 2
    return plain and usual and objects[0].lemma not in TIME_NOUNS and objects[0].tag != "PRP"


def _fitting(state: RuleState, concept: str, form: str, scores: dict[str, float]) -> dict[str, float]:
    """The weights without roles that subjects and objects do not take."""
    entry = state.lexicon.frames.get(concept)
    shown = entry.seen.get(form, {}) if entry is not None else {}
    seen = {*state.lexicon.roles.get(("F", concept, form), {}), *(f"ARG{role}" for role in shown)}
    if form == "nsubj":
        return {role: weight for role, weight in scores.items() if role in {"ARG0", "ARG1"} or role in seen}
    unfit = {"ARG0", "ARG2", "duration"} - seen
    return {role: weight for role, weight in scores.items() if role not in unfit}


_ADDRESSES = word_class("address")
_LOOSE = frozenset(
    ["npadvmod", "dep", "intj", "appos", "advmod", "nmod", "oprd", "attr", "dobj", "conj", "pobj"]
)


def is_vocative(state: RuleState, edge: Dependency) -> bool:
    """*…, sir?*, *Tom, …*: somebody who is spoken to, between commas."""
    word = state.words[edge.dependent]
    name = word.tag[:3] == "NNP" and state.concept_of(word.i) == "person"
    if not (name or word.lower in _ADDRESSES) or edge.form not in _LOOSE:
        return False
    after, before = word.following, word.tree[min((word.i, *word.kids))].previous
    return (after is None or after.tag in {",", ".", "''"}) and (
        before is None or before.tag in {",", ".", "``", ":"}
    )


_CONSTANT = frozenset({"polarity", "mode", "wiki", "name", "value", "unit", "ord", "op2", "op3"})
_OF_THINGS = frozenset({"domain", "consist-of", "poss", "quant", "name", "unit"})
_DEFAULTS = word_map("default-role")
_PREPOSITION_ROLES = word_map("preposition-role")


def best_role(state: RuleState, concept: str, scores: dict[str, float], used: set[str]) -> str | None:
    """The heaviest role that the concept can take and that is still free."""
    best, weight = None, 0.0
    for role, score in scores.items():
        if score > weight and _is_allowed(state, concept, role) and role not in used:
            best, weight = role, score
    return best


def _is_allowed(state: RuleState, concept: str, role: str) -> bool:
    if role in _CONSTANT:
        return False
    if role.startswith(("snt", "op")) and not (role == "op1" and not is_frame(concept)):
        return False
    if role not in CORE_ROLES:
        return not (is_frame(concept) and role in _OF_THINGS)
    entry = state.lexicon.frames.get(concept)
    return is_frame(concept) and (entry is None or role[3:] in entry.functions)


def lowest_role(state: RuleState, concept: str, default: str) -> str:
    """The role if the frame has it, else the first that it has."""
    entry = state.lexicon.frames.get(concept)
    if entry is None or not entry.functions or default[3:] in entry.functions:
        return default
    return f"ARG{min(entry.functions)}"


def default_role(state: RuleState, concept: str, edge: Dependency, used: set[str]) -> str:
    """The role where no count tells one: by the preposition, or by the relation."""
    if edge.preposition is not None:
        role = _PREPOSITION_ROLES.get(edge.preposition.lower, "mod")
        return role if role != "prep-as" else "mod"
    role = "ARG1" if edge.form.startswith(("ccomp", "xcomp")) else _DEFAULTS.get(edge.form, "mod")
    if role not in CORE_ROLES:
        return role
    if not is_frame(concept):
        return "mod"
    role = lowest_role(state, concept, role)
    if role in used:
        entry = state.lexicon.frames.get(concept)
        free = [f"ARG{n}" for n in sorted(entry.functions)] if entry else ["ARG1", "ARG2"]
        role = next((core for core in free if core not in used), "mod")
    return role


def default_form(form: str) -> str:
    """The role of a relation that no table knows."""
    return _DEFAULTS.get(form, "ARG1")


def used_roles(state: RuleState, head: int) -> set[str]:
    """The numbered roles that a node has."""
    return {arc.role for arc in state.draft.arcs if arc.head == head and arc.role in CORE_ROLES}


def subject_role(state: RuleState, verb: Word, form: str, lemma: str) -> str | None:
    """The role of a subject that another clause lends, ``None`` where none is free."""
    node = state.core[verb.i]
    concept = state.draft.nodes[node].concept or ""
    if not is_frame(concept):
        return None
    scores = state.lexicon.role_scores(concept, class_of(verb), form, lemma)
    role = best_role(state, concept, {k: v for k, v in scores.items() if k in CORE_ROLES}, set())
    role = role or lowest_role(state, concept, "ARG0" if form == "nsubj" else "ARG1")
    return None if role in used_roles(state, node) else role
