"""Link the node of each word to the node of the word that governs it.

Modifiers and clauses are handled by rules. For example, *a man in a hat* becomes ``(m / man :ARG0-of (w /
wear-01 :ARG1 (h / hat)))``, and in *He left because it rained* ``cause-01`` is put above both clauses. Each
other dependent gets the possible role with the highest weight. The weights come from the first matching row
of ``role_rules.tsv``. If no row matches, the weights come from counts in annotated graphs. For *Tom* in *Tom
sleeps*, ``ARG0`` has a high weight and ``ARG1`` a low one. These rules run when all words already have their
nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from graphneg.amr.penman import is_inverted
from graphneg.english.noun_kinds import is_frame
from graphneg.english.numbers import ordinal_value
from graphneg.parsers.dependency.lexicon import rows, word_class, word_map
from graphneg.parsers.dependency.rules.state import SPEECH, SUBJECTS, TIME_NOUNS, RuleState
from graphneg.parsers.dependency.text import Word, class_of, clause_form

CORE_ROLES = frozenset(f"ARG{n}" for n in range(7))
"""The numbered roles of frames."""
_DECISIVE = frozenset({"because", "instead", "due", "out", "such", "despite"})
"""Prepositions that determine the relation even if another preposition is below them: *out of*, *because of*.
"""
_SKIPPED = frozenset({"conj", "preconj", "cc", "punct", "aux", "auxpass", "expl"})
"""Dependency relations that have no role in the graph, or whose roles are added by other rules."""
_POSTURE_VERBS = frozenset({"sit", "stand", "lie", "kneel", "crouch", "wait"})
"""Verbs of posture. The place is one of their arguments: *he sits near the door*."""
_MARK_ROLES = word_map("mark-role")


class Dependency(NamedTuple):
    """A dependency between two words that have nodes.

    Attributes:
        governor: Index of the governing word.
        dependent: Index of the dependent word.
        through: The word whose relation to the governor counts: the dependent, or the copula that shares its
            node. In *I think she is tall*, it is *is*, because *is* and not *tall* depends on *think*.
        form: Name of the relation, such as ``nsubj`` or ``prep_to``.
        preposition: The preposition between the two words if it has no node, such as *to* in *give to Tom*;
            else ``None``.
    """

    governor: int
    dependent: int
    through: Word
    form: str
    preposition: Word | None


def dependency(state: RuleState, dependent: int) -> Dependency | None:
    """Return the dependency between a word and its nearest ancestor that has a node.

    Args:
        state: The words of the text, and the graph under construction.
        dependent: Index of a word with a node.

    Returns:
        The dependency; ``None`` if the word is already linked to its governor, or if no word above it has a
        node.
    """
    if dependent in state.linked:
        return None
    through = _topmost_sharing_node(state, state.words[dependent])
    preposition: Word | None = None
    copular = False
    head = through
    while head.head != head.i:
        below, head = head, head.parent
        owner = state.node_owner(head.i)
        copular = copular or (owner != head.i and head.lemma == "be")
        if owner in state.head_nodes and owner != dependent:
            form = _form(state, through, preposition, below, copular)
            return Dependency(owner, dependent, through, form, preposition)
        # The preposition next to the dependent determines the relation. A few words such as "out" take
        # precedence: in "out of the house", the relation is `prep_out` and not `prep_of`.
        counts = preposition is None or head.lower in _DECISIVE
        if counts and head.dep in {"prep", "agent", "dative", "pcomp"} and head.tag in {"IN", "TO", "RP"}:
            preposition = head
    return None


def _topmost_sharing_node(state: RuleState, word: Word) -> Word:
    """Return the topmost word that shares the node of ``word``: *is* for *tall* in *she is tall*."""
    for _ in range(10):
        head = word.parent
        if head.i != word.i and state.representatives.get(head.i) == word.i:
            word = head
        elif word.dep in {"pobj", "pcomp"} and state.representatives.get(head.head) == word.i:
            word = head.parent
        else:
            break
    return word


def _form(state: RuleState, through: Word, preposition: Word | None, below: Word, copular: bool) -> str:
    """Return a label for the dependency between a word and its governor, such as ``nsubj`` or ``prep_in``."""
    # If an earlier rule has corrected the dependency relation of the word, use the corrected relation.
    if through.i in state.relations:
        return state.relations[through.i]
    if preposition is not None:
        return "agent" if preposition.dep == "agent" else f"prep_{preposition.lower}"
    # If words without nodes are between the word and its governor, use the relation of the topmost of them,
    # which depends on the governor.
    if through.i != below.i:
        return below.dep if below.dep not in {"punct", "ROOT"} else through.dep
    # In "She is tall", "she" is the subject of an adjective, so its signature is `cop_subj`.
    copular = copular or through.parent.tag[:2] == "JJ"
    subject = through.dep in {*SUBJECTS, "csubj", "csubjpass"}
    return "cop_subj" if copular and subject else clause_form(through)


def write_roles(state: RuleState) -> None:
    """Link the node of each word to the node of its governor.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    pending: dict[int, list[Dependency]] = {}
    for i in list(state.top_nodes):
        if i in state.done and state.words[i].dep == "conj":
            continue
        edge = dependency(state, i)
        if edge is not None and not _write_modifier(state, edge):
            pending.setdefault(edge.governor, []).append(edge)
    for governor, edges in pending.items():
        _write_group(state, governor, edges)


def _write_group(state: RuleState, governor: int, edges: list[Dependency]) -> None:
    """Choose a role for each dependent of a word, and link the dependents to the word."""
    head, nodes, link = state.head_nodes[governor], state.draft.nodes, state.draft.link
    concept = nodes[head].concept or ""
    used = _used_roles(state, head)
    scored = [(edge, role_weights(state, edge)) for edge in edges]
    # No core role may be used twice. Choose the roles of subjects first, then those of the other dependents
    # in the order of their highest weights.
    scored.sort(key=lambda pair: (pair[0].form not in SUBJECTS, -max(pair[1].values(), default=0.0)))
    for edge, scores in scored:
        role = best_role(state, concept, scores, used) or default_role(state, concept, edge, used)
        if role in CORE_ROLES:
            used.add(role)
        head, dep = state.head(governor, edge.form), state.top_nodes[edge.dependent]
        # If the head is a constant, such as a number, it cannot have arguments. Link it to the dependent by
        # the role :mod instead.
        if nodes[head].concept is None:
            if nodes[dep].concept is not None:
                link(dep, "mod", head, "constant")
        elif role == "domain":
            link(dep, "mod", head, edge.form)
        elif is_inverted(role):
            link(dep, role.removesuffix("-of"), head, edge.form)
        else:
            link(head, role, dep, edge.form)


def _write_modifier(state: RuleState, edge: Dependency) -> bool:
    """Link a dependent by a fixed rule. Return False if no rule fits, so that counts must decide."""
    form, kid, preposition, draft = edge.form, state.words[edge.dependent], edge.preposition, state.draft
    head, dep = state.head(edge.governor, form), state.top_nodes[edge.dependent]
    # If another rule has already linked the two nodes, add nothing.
    linked = any((arc.head, arc.dep) in {(head, dep), (dep, head)} for arc in draft.arcs)
    if edge.through.dep in _SKIPPED or head == dep or linked:
        return True
    if form.startswith(("relcl", "acl")):
        return _write_relative(state, edge, head)
    if _write_argument(state, edge, head, dep):
        return True
    if form.startswith("advcl"):
        return _write_adverbial(state, edge, head, dep)
    # In "he ran quickly", quick-02 is put above run-02, and run-02 becomes the ARG1 of quick-02.
    judging = form == "advmod" and kid.tag[:2] in {"JJ", "RB"} and _puts_frame_above_verb(state, kid)
    if judging or (form == "amod" and kid.tag[:2] in {"JJ", "VB"}):
        return _write_adjective(state, edge, head, dep)
    if form in {"prep_in", "prep_with", "prep_without"} and _write_having(state, edge, head, dep):
        return True
    if form == "prep_near" and draft.nodes[head].concept not in {None, "near-02"}:
        return _write_near(state, edge, head, dep)
    if preposition is None:
        return False
    if preposition.lower == "because":
        # In "He stayed because of the rain", cause-01 has "rain" (the cause) as ARG0 and "stayed" as ARG1.
        draft.concept("cause-01", preposition.i, "cause", ARG0=dep, ARG1=head)
    elif preposition.lower == "like" and state.words[edge.governor].tag[:2] == "NN":
        # In "a woman like her", "woman" is the ARG1 of resemble-01.
        draft.concept("resemble-01", preposition.i, "like", ARG1=head, ARG2=dep)
    else:
        return False
    return True


def _write_argument(state: RuleState, edge: Dependency, head: int, dep: int) -> bool:
    """Link *shirtless* to *man* in *a shirtless man*, or an infinitive to a modal, *able* or *used to*.

    Returns:
        True if no other rule must link the dependent.
    """
    draft, node, infinitive = state.draft, state.draft.nodes[head], edge.form.startswith("xcomp")
    # In "a shirtless man", the man is the ARG0 of the negated have-03, since he has no shirt.
    if draft.nodes[dep].rule == "lack":
        draft.link(dep, "ARG0", head, "lack")
    # The infinitive is ARG1 of possible-01 in "able to swim", and ARG2 of obligate-01 in "have to go".
    elif node.rule in {"able", "modal"} and infinitive:
        draft.link(head, "ARG1" if node.concept == "possible-01" else "ARG2", dep, node.rule)
    elif infinitive and node.concept == "use-02":
        draft.link(head, "ARG1", dep, "used")
    else:
        # In "She is able to swim", "she" is linked to "swim" and not to possible-01.
        return node.rule == "able" and edge.through.dep in {"nsubj", "csubj"}
    return True


def _puts_frame_above_verb(state: RuleState, adverb: Word) -> bool:
    """Return whether an adverb's frame takes the verb as its ARG1. *Quickly* does, but *happily* does not."""
    concept = state.concept_of(adverb.i)
    # In "he said slowly", the adverb describes the way of speaking, so it remains a modifier of "said".
    if adverb.tag[:2] == "RB" and adverb.parent.lemma in SPEECH:
        return False
    return is_frame(concept) and (adverb.tag[:2] == "JJ" or _describes_argument(state, concept))


def _write_near(state: RuleState, edge: Dependency, head: int, dep: int) -> bool:
    """Add ``near-02``, as in *a tree near the house* and *he sits near the door*."""
    node = state.draft.concept("near-02", edge.preposition.i if edge.preposition else None, "near", ARG2=dep)
    verb = state.words[edge.governor]
    located: int | None = head
    # In "he sits near the door", near-02 is the place where he sits, and "he" is the ARG1 of near-02.
    if verb.tag[:2] == "VB":
        state.draft.link(head, "ARG2" if verb.lemma in _POSTURE_VERBS else "location", node, "near")
        subject = verb.child("nsubj")
        located = state.outer_of(subject) if subject is not None else None
    if located is not None:
        state.draft.link(node, "ARG1", located, "near")
    return True


def _write_adjective(state: RuleState, edge: Dependency, head: int, dep: int) -> bool:
    """Link an adjective to its noun if it is an ordinal, expresses a degree or has a frame.

    Returns:
        Whether the adjective was linked.
    """
    draft, kid = state.draft, state.words[edge.dependent]
    # "the second book" becomes (b / book :ord (o / ordinal-entity :value 2)).
    number = ordinal_value(kid.lower)
    if number is not None and kid.tag[:2] == "JJ":
        node = state.head_nodes[kid.i]
        draft.nodes[node].concept = "ordinal-entity"
        state.add_constant(node, "value", number, kid.i, "ordinal")
        draft.link(head, "ord", node, "ordinal")
        return True
    concept = draft.nodes[dep].concept or ""
    if not is_frame(concept):
        # In "a total failure", "total" has the role :degree, since it says how completely something failed.
        degree = kid.lemma in word_class("degree-adjective") and is_frame(draft.nodes[head].concept or "")
        if degree:
            draft.link(head, "degree", dep, "modifier")
        return degree
    role: str | None = "ARG1"
    # "the beautiful woman" becomes (w / woman :ARG1-of (b / beautiful-02)). The noun gets the role that is
    # most frequent in annotated graphs. If this role is not an ARG, the noun becomes the ARG0 of a participle
    # in -ing, or the ARG1 of another frame.
    if edge.form != "advmod":
        lemma = state.words[edge.governor].lemma
        scores = state.lexicon.role_scores(concept, class_of(kid), "up_amod", lemma)
        role = best_role(state, concept, scores, set())
        if role not in CORE_ROLES:
            role = "ARG0" if kid.tag == "VBG" else _lowest_role(state, concept, "ARG1")
    draft.link(dep, role or "ARG1", head, "modifier")
    return True


def _write_having(state: RuleState, edge: Dependency, head: int, dep: int) -> bool:
    """Add ``wear-01`` or ``have-03``, as in *a man in a hat* and *a dog with a ball*."""
    owner, thing = state.words[edge.governor], state.words[edge.dependent]
    if owner.tag not in {"NN", "NNS"} or edge.preposition is None or is_frame(state.concept_of(owner.i)):
        return False
    # "a man without a hat" means that the man does not have a hat. "a day without rain" does not mean that
    # the day does not have rain, because days have no possessions.
    lacks = edge.form == "prep_without" and owner.lemma not in {"day", "life", "world", "time"}
    wears = thing.lemma in word_class("clothes") and not lacks
    # "a girl in the park" names a place and does not mean that the girl has the park. Only people, animals
    # and a few kinds of things have other things: "a house with a garden", but not "tea with sugar".
    if not wears and not lacks and (edge.form == "prep_in" or owner.lemma not in word_class("owner")):
        return False
    frame = "wear-01" if wears else "have-03"
    node = state.draft.concept(frame, edge.preposition.i, "having", ARG0=head, ARG1=dep)
    # In "a man without a hat", move the negation from the node of "hat" to the new node have-03.
    for arc in state.draft.arcs:
        if arc.head == state.head_nodes[thing.i] and arc.rule in {"no", "without"}:
            arc.head = node
    return True


def _write_relative(state: RuleState, edge: Dependency, head: int) -> bool:
    """Link a noun to its relative clause, in the role that is missing in the clause."""
    draft, clause, kid = state.draft, edge.through, state.words[edge.dependent]
    verb = state.head_nodes[kid.i]
    concept = draft.nodes[verb].concept or ""
    form = _relation_in_relative_clause(state, clause)
    # If the relative word is *where* or *when*, the noun is a location or time of the clause: "place" in "the
    # place where we met".
    if form in {"location", "time"}:
        draft.link(verb, form, head, "relative")
        return True
    # In "a man who is tall", "who" is the subject of a copula. The tables list the roles of such subjects
    # under `cop_subj`.
    if clause.i != kid.i and form in SUBJECTS:
        form = "cop_subj"
    scores = state.lexicon.role_scores(concept, class_of(kid), form, state.words[edge.governor].lemma)
    role = best_role(state, concept, scores, _used_roles(state, verb)) or _DEFAULTS.get(form, "ARG1")
    if role == "domain" or (form == "cop_subj" and not is_frame(concept)):
        draft.link(head, "mod", verb, "relative")
    else:
        draft.link(verb, role, head, "relative")
    return True


def _relation_in_relative_clause(state: RuleState, clause: Word) -> str:
    """Return the relation of a noun in its relative clause, such as ``dobj`` in *the song that I like*."""
    for kid in clause.children():
        relative = kid.tag in {"WP", "WDT"} or (kid.lower == "that" and kid.tag in {"DT", "IN"})
        if relative and kid.i not in state.head_nodes and kid.dep in {"nsubj", "nsubjpass", "dobj", "attr"}:
            return kid.dep
        if kid.tag == "WRB" and kid.lower in {"where", "when"}:
            return word_map("question-role")[kid.lower]
        # In "the house in which we live", the relation is `prep_in`, after the preposition "in".
        if kid.dep == "prep" and any(inner.tag in {"WP", "WDT"} for inner in kid.children("pobj")):
            return f"prep_{kid.lower}"
    # The noun is the object of the verb in "the book written by her", and its subject in "the man singing".
    if clause.dep == "acl":
        return {"VBN": "nsubjpass", "VBG": "nsubj"}.get(clause.tag, "dobj")
    # In "the book to read", "book" is the object of the infinitive, which has no object after it.
    if clause.is_infinitive and clause.child("dobj") is None:
        return "dobj"
    # In "the house we live in", "house" is the object of "in", which has no object after it.
    bare = next((kid for kid in clause.children("prep") if not kid.dependents), None)
    if bare is not None:
        return f"prep_{bare.lower}"
    # In "the song that I like", the clause has a subject, so "song" is the object. In "the man who came",
    # "man" is the subject.
    return "dobj" if clause.child(*SUBJECTS) is not None else "nsubj"


def _write_adverbial(state: RuleState, edge: Dependency, head: int, dep: int) -> bool:
    """Link an adverbial clause as a condition, cause, concession, time, purpose or manner."""
    draft, clause = state.draft, edge.through
    marks = [kid for kid in clause.children("mark", "advmod") if kid.tag in {"IN", "WRB", "RB"}]
    mark = next((kid for kid in marks if kid.lower in _MARK_ROLES), None)
    # Without a conjunction, an infinitive expresses a purpose ("He came to see her"), and a participle in
    # -ing a manner ("He left smiling").
    if mark is None or (mark.lower == "for" and clause.is_infinitive):
        role = "purpose" if clause.is_infinitive else ("manner" if clause.tag == "VBG" else "time")
        draft.link(head, "mod" if clause.tag in {"VBD", "VBZ", "VBP"} else role, dep, "adverbial")
    # In "It rained, so he left", the main clause is the cause. In "He left so that he can sleep", the clause
    # after "so that" is a purpose.
    elif mark.lower == "so" and not any(kid.lower == "that" for kid in marks):
        draft.concept("cause-01", mark.i, "cause", ARG0=head, ARG1=dep)
    elif _MARK_ROLES[mark.lower] == "cause":
        draft.concept("cause-01", mark.i, "cause", ARG0=dep, ARG1=head)
    # "before she came" becomes :time (b / before :op1 (c / come-01 ...)).
    elif mark.lower in {"before", "after", "until", "till"}:
        draft.link(head, "time", draft.concept(mark.lower, mark.i, "mark", op1=dep), "mark")
    else:
        draft.link(head, _MARK_ROLES[mark.lower], dep, "adverbial")
    return True


def _head_concept(state: RuleState, edge: Dependency) -> str:
    return state.draft.nodes[state.head(edge.governor, edge.form)].concept or ""


_Fact = Callable[[RuleState, Dependency], str | bool]
_Condition = Callable[[RuleState, Dependency], bool]
_GOVERNOR: dict[str, _Fact] = {
    "lemma": lambda state, edge: state.words[edge.governor].lemma,
    "tag": lambda state, edge: state.words[edge.governor].tag,
    "class": lambda state, edge: class_of(state.words[edge.governor]),
    "concept": _head_concept,
    "rule": lambda state, edge: state.rule_of(edge.governor),
    "frame": lambda state, edge: is_frame(_head_concept(state, edge)),
    "transitive": lambda state, edge: _is_transitive(state, edge),
    "content": lambda state, edge: state.words[edge.governor].child("ccomp") is not None,
}
"""Functions that return the properties of a governor, for the conditions in ``role_rules.tsv``."""
_DEPENDENT: dict[str, _Fact] = {
    "lemma": lambda state, edge: state.words[edge.dependent].lemma,
    "lower": lambda state, edge: state.words[edge.dependent].lower,
    "tag": lambda state, edge: state.words[edge.dependent].tag,
    "concept": lambda state, edge: state.concept_of(edge.dependent),
    "rule": lambda state, edge: state.rule_of(edge.dependent),
    "after": lambda state, edge: edge.dependent > edge.governor,
    "assigned": lambda state, edge: edge.dependent in state.relations,
    "vocative": lambda state, edge: is_vocative(state, edge),
    "quality": lambda state, edge: _describes_argument(state, state.concept_of(edge.dependent)),
}
"""Functions that return the properties of a dependent, for the conditions in ``role_rules.tsv``."""


def _condition(cell: str, facts: dict[str, _Fact]) -> _Condition:
    """Return a function that checks whether a dependent meets a condition of ``role_rules.tsv``.

    For example, ``tag=NN*`` is met by a dependent whose tag begins with *NN*.
    """
    name, _, choices = cell.partition("=")
    fact, values = facts[name], choices.split(",")
    listed = {*values, *(word for value in values if value[0] == "@" for word in word_class(value[1:]))}
    prefixes = tuple(value[:-1] for value in values if value.endswith("*"))
    suffixes = tuple(value[1:] for value in values if value.startswith("*"))

    def holds(state: RuleState, edge: Dependency) -> bool:
        told = fact(state, edge)
        value = told if isinstance(told, str) else ("yes" if told else "no")
        return value in listed or value.startswith(prefixes) or value.endswith(suffixes)

    return holds


@cache
def _rules_of(form: str) -> list[tuple[list[_Condition], dict[str, float]]]:
    """Return the rows of ``role_rules.tsv`` for a relation, each as its conditions and role weights."""
    rules: list[tuple[list[_Condition], dict[str, float]]] = []
    for relations, governor, dependent, roles in rows("role_rules"):
        if any(fnmatchcase(form, name) for name in relations.split(",")):
            conditions = [_condition(cell, _GOVERNOR) for cell in governor.split() if cell != "-"]
            conditions += [_condition(cell, _DEPENDENT) for cell in dependent.split() if cell != "-"]
            weights = (cell.partition(":") for cell in roles.split())
            rules.append((conditions, {role: float(weight or 1) for role, _, weight in weights}))
    return rules


def role_weights(state: RuleState, edge: Dependency) -> dict[str, float]:
    """Return the weights of the roles that a dependent can have.

    Args:
        state: The words of the text, and the graph under construction.
        edge: The dependency between the dependent and its governor.

    Returns:
        Weights, keyed by role. Roles without a weight are impossible.
    """
    for conditions, weights in _rules_of(edge.form):
        if all(holds(state, edge) for holds in conditions):
            return dict(weights)
    form, kid, governor = edge.form, state.words[edge.dependent], state.words[edge.governor]
    concept = _head_concept(state, edge)
    scores = state.lexicon.role_scores(concept, class_of(governor), form, kid.lemma)
    # In "He is in London", the place is ARG2 of be-located-at-91, so ARG2 gets additional weight.
    if concept == "be-located-at-91" and (form.startswith("prep_") or form in {"acomp", "attr"}):
        scores["ARG2"] = scores.get("ARG2", 0.0) + 1.0
    if form in {"nsubj", "dobj"} and is_frame(concept):
        scores = _usual_roles(state, concept, form, scores)
    # In "He gave her a book", there is an indirect object, so the direct object is probably the theme (ARG1).
    if form == "dobj" and governor.child("dative") is not None:
        scores["ARG1"] = 5 * scores.get("ARG1", 0.1)
    # Interjections, determiners and appositions are never arguments of a frame.
    if form in {"intj", "det", "predet", "neg", "meta", "dep", "punct", "quantmod", "nummod", "appos"}:
        scores = {role: weight for role, weight in scores.items() if role not in CORE_ROLES} or {"mod": 1.0}
    # The role consist-of is for nouns of groups, such as "a bunch of flowers". A head that never had an "of"
    # in the annotated graphs is rarely such a noun, so remove consist-of.
    if form == "prep_of" and ("F", concept, "prep_of") not in state.lexicon.roles:
        scores.pop("consist-of", None)
    if form in {"npadvmod", "prep_in", "prep_on", "prep_at", "prep_during"}:
        # "on Monday" is a time, but "on the table" is a place. So raise the weight of the role time if the
        # noun denotes a time, and otherwise lower it.
        timely = kid.lemma in TIME_NOUNS or state.concept_of(kid.i) == "then"
        scores["time"] = scores.get("time", 0.0) + 0.4 if timely else scores.get("time", 0.0) * 0.2
    if form == "advmod" and state.rule_of(kid.i) == "adverb":
        scores["manner"] = scores.get("manner", 0.0) + 0.4
    return scores


def _describes_argument(state: RuleState, concept: str) -> bool:
    """Return whether a frame has no ARG0 and so describes its ARG1: ``quick-02``, ``good-02``."""
    entry = state.lexicon.frames.get(concept)
    # PropBank numbers the roles of a frame. If the lowest number is 1 (ARG1), the frame has no ARG0.
    return entry is not None and min(entry.functions, default="") == "1"


def _is_transitive(state: RuleState, edge: Dependency) -> bool:
    """Return whether a verb has a subject and one simple object, and a frame with both ARG0 and ARG1."""
    verb, concept = state.words[edge.governor], _head_concept(state, edge)
    entry = state.lexicon.frames.get(concept)
    objects = verb.children("dobj")
    if entry is None or not {"0", "1"} <= set(entry.functions) or len(objects) != 1:
        return False
    plain = verb.child("nsubj") is not None and verb.child("dative", "ccomp", "xcomp", "oprd") is None
    seen = state.lexicon.roles.get(("F", concept, "dobj"), {})
    # The object must usually be the ARG1 of the verb's frame. Exclude times ("wait a day"), which are no real
    # objects, and pronouns ("see it").
    usual = seen.get("ARG1", 0) >= sum(seen.values()) / 2
    return plain and usual and objects[0].lemma not in TIME_NOUNS and objects[0].tag != "PRP"


def _usual_roles(state: RuleState, concept: str, form: str, scores: dict[str, float]) -> dict[str, float]:
    """Return the scores of likely roles. Rare roles are left out unless annotators used them with the frame.

    For example, a subject is rarely the ARG2 of its verb.

    Args:
        state: The words of the text, and the graph under construction.
        concept: The frame of the head, such as ``want-01``.
        form: Name of the relation, such as ``nsubj``.
        scores: Scores, keyed by role.
    """
    entry = state.lexicon.frames.get(concept)
    shown = entry.seen.get(form, {}) if entry is not None else {}
    seen = {*state.lexicon.roles.get(("F", concept, form), {}), *(f"ARG{role}" for role in shown)}
    if form == "nsubj":
        return {role: weight for role, weight in scores.items() if role in {"ARG0", "ARG1"} or role in seen}
    unfit = {"ARG0", "ARG2", "duration"} - seen
    return {role: weight for role, weight in scores.items() if role not in unfit}


def is_vocative(state: RuleState, edge: Dependency) -> bool:
    """Return whether a dependent is a vocative: a word that addresses the listener.

    In *Where are you, sir?* and *Tom, come here.*, the vocatives are *sir* and *Tom*.

    Args:
        state: The words of the text, and the graph under construction.
        edge: The dependency between the dependent and its governor.

    Returns:
        True if the word is a name or a form of address between punctuation marks.
    """
    word = state.words[edge.dependent]
    name = word.tag[:3] == "NNP" and state.concept_of(word.i) == "person"
    if not (name or word.lower in word_class("address")) or edge.form not in word_class("vocative-relation"):
        return False
    after, before = word.following, word.tree[min((word.i, *word.dependents))].previous
    closed = after is None or after.tag in {",", ".", "''"}
    return closed and (before is None or before.tag in {",", ".", "``", ":"})


_DEFAULTS = word_map("default-role")
"""For each dependency relation, the role that is used if the counts give no role."""


def best_role(state: RuleState, concept: str, scores: dict[str, float], used: set[str]) -> str | None:
    """Return the role with the highest weight that a head can still give to a dependent.

    Roles that the head already has and roles that its concept cannot have are left out.

    Args:
        state: The words of the text, and the graph under construction.
        concept: Concept of the head.
        scores: Weights, keyed by role.
        used: Roles that the head already has.

    Returns:
        The role; ``None`` if no role is possible.
    """
    best, weight = None, 0.0
    for role, score in scores.items():
        if score > weight and _is_allowed(state, concept, role) and role not in used:
            best, weight = role, score
    return best


def _is_allowed(state: RuleState, concept: str, role: str) -> bool:
    """Return whether `best_role` may choose a role for a dependent of a concept."""
    # Roles that only special rules may add. For example, the rules for negation add "polarity".
    if role in {"polarity", "mode", "wiki", "name", "value", "unit", "ord", "op2", "op3"}:
        return False
    if role.startswith(("snt", "op")) and not (role == "op1" and not is_frame(concept)):
        return False
    # A frame does not get roles such as `domain` and `poss`, because its arguments have numbered roles.
    if role not in CORE_ROLES:
        return not (is_frame(concept) and role in {"domain", "consist-of", "poss", "quant", "name", "unit"})
    entry = state.lexicon.frames.get(concept)
    return is_frame(concept) and (entry is None or role[3:] in entry.functions)


def _lowest_role(state: RuleState, concept: str, default: str) -> str:
    """Return the role ``default`` if the frame has it, otherwise the frame's role with the lowest number."""
    entry = state.lexicon.frames.get(concept)
    if entry is None or not entry.functions or default[3:] in entry.functions:
        return default
    return f"ARG{min(entry.functions)}"


def default_role(state: RuleState, concept: str, edge: Dependency, used: set[str]) -> str:
    """Return the role of a dependent if the counts of roles in annotated graphs suggest no role.

    The role then depends only on the preposition of the dependent or on its dependency relation.

    Args:
        state: The words of the text, and the graph under construction.
        concept: Concept of the head.
        edge: The dependency between the dependent and its governor.
        used: Roles that the head already has.

    Returns:
        The role; ``mod`` if nothing better is known.
    """
    if edge.preposition is not None:
        return word_map("preposition-role").get(edge.preposition.lower, "mod")
    role = "ARG1" if edge.form.startswith(("ccomp", "xcomp")) else _DEFAULTS.get(edge.form, "mod")
    if role not in CORE_ROLES:
        return role
    if not is_frame(concept):
        return "mod"
    role = _lowest_role(state, concept, role)
    # If the frame already has an argument with this role, use the next free role.
    if role in used:
        entry = state.lexicon.frames.get(concept)
        free = [f"ARG{n}" for n in sorted(entry.functions)] if entry else ["ARG1", "ARG2"]
        role = next((core for core in free if core not in used), "mod")
    return role


def _used_roles(state: RuleState, head: int) -> set[str]:
    return {arc.role for arc in state.draft.arcs if arc.head == head and arc.role in CORE_ROLES}


def subject_role(state: RuleState, verb: Word, form: str, lemma: str) -> str | None:
    """Return the role of a shared subject, such as the role of *he* under *waited* in *he sat and waited*.

    Args:
        state: The words of the text, and the graph under construction.
        verb: The verb, which has no subject of its own.
        form: Relation of the subject: ``nsubj``, ``nsubjpass`` or ``cop_subj``.
        lemma: Lemma of the subject.

    Returns:
        The role; ``None`` if the verb already has an argument with this role, or if its concept is not a
        frame.
    """
    node = state.head_nodes[verb.i]
    concept = state.draft.nodes[node].concept or ""
    if not is_frame(concept):
        return None
    # In "She wants to go", choose the role of "she" in go-02 as if "she" were the subject of "go".
    scores = state.lexicon.role_scores(concept, class_of(verb), form, lemma)
    role = best_role(state, concept, {k: v for k, v in scores.items() if k in CORE_ROLES}, set())
    role = role or _lowest_role(state, concept, "ARG0" if form == "nsubj" else "ARG1")
    return None if role in _used_roles(state, node) else role
