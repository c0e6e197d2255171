"""Reentrancy: shared subjects and objects, control, and pronouns that mean the same.

In: a `RuleState` whose clauses are linked. Out: *She wants to go*: ``(w / want-01 :ARG0 (s / she) :ARG1 (g /
go-02 :ARG0 s))``; one node for *Tom* and *himself*, for *the rose* and *its*.
"""

from __future__ import annotations

from graphneg.parsers.dependency.lexicon import word_class, word_map
from graphneg.parsers.dependency.rules.roles import subject_role
from graphneg.parsers.dependency.rules.state import SUBJECTS, RuleState
from graphneg.parsers.dependency.words import Word

_OBJECT_CONTROL = word_class("object-control")
_PEOPLE = word_class("people")
_REFLEXIVES = word_class("reflexive")
_REFERENCES = word_map("reference")
_EXPLETIVE_VERBS = frozenset({"be", "seem", "rain", "snow", "take", "happen", "matter"})
PERSONAL = frozenset({"i", "you", "he", "she", "it", "we", "they"})


def write_shared(state: RuleState, written: dict[int, list[int]]) -> None:
    """Conjoined verbs share a subject; infinitives and participles take the one above them."""
    for first, members in written.items():
        subject = _subject(state, state.words[first])
        if subject is not None:
            for member in members[1:]:
                _lend(state, member, subject)
    for word in state.words:
        verb = state.proxy(word.i)
        if word.dep in {"xcomp", "advcl", "pcomp"} and verb in state.core:
            giver = _controller(state, word)
            if giver is not None:
                _lend(state, verb, giver)
                for member in written.get(verb, [])[1:]:
                    _lend(state, member, giver)


def _subject(state: RuleState, verb: Word) -> Word | None:
    """The subject of a verb, or of the copula that it stands for."""
    own = verb.child(*SUBJECTS)
    if own is None and state.proxies.get(verb.head) == verb.i:
        own = verb.parent.child(*SUBJECTS)
    return own


def _controller(state: RuleState, word: Word) -> Word | None:
    """The word whose referent does what the clause says."""
    head = word.parent
    if word.child(*SUBJECTS) is not None or (word.dep == "advcl" and word.tag not in {"VBG", "VB", "VBN"}):
        return None
    if word.dep == "pcomp":
        head = head.parent
    if word.dep == "xcomp":
        given = head.child("dobj", "dative")
        if given is not None and head.lemma in _OBJECT_CONTROL and given.i < word.i:
            return given
    for _ in range(8):
        subject = _subject(state, head)
        if subject is not None:
            return subject
        if head.dep not in {"conj", "xcomp"} or head.head == head.i:
            return None
        head = head.parent
    return None


def _lend(state: RuleState, verb: int, subject: Word) -> None:
    """Links a verb that has no subject to another's."""
    word, giver = state.words[verb], state.outer_of(subject)
    if word.tag[:2] not in {"VB", "JJ"} or giver is None or _subject(state, word) is not None:
        return
    passive = word.tag == "VBN" or word.child("auxpass") is not None
    form = "nsubjpass" if passive else ("cop_subj" if word.tag[:2] == "JJ" else "nsubj")
    role = subject_role(state, word, form, subject.lemma)
    if role is not None:
        state.draft.link(state.core[verb], role, giver, "shared")


def merge_reflexives(state: RuleState) -> None:
    """*He told himself*: he told him who told."""
    for word in state.words:
        node = state.core.get(word.i)
        if node is None or word.lower not in _REFLEXIVES or state.draft.nodes[node].gone:
            continue
        verb, subject = word.parent, None
        for _ in range(6):
            subject = _subject(state, verb)
            if subject is not None or verb.head == verb.i:
                break
            verb = verb.parent
        meant = state.outer_of(subject) if subject is not None and subject.i != word.i else None
        if meant is not None and meant != node:
            state.redirect(node, meant)


def merge_pronouns(state: RuleState) -> None:
    """One node for all mentions of a pronoun in a sentence."""
    first: dict[tuple[str, int], int] = {}
    for k, node in enumerate(state.draft.nodes):
        if not node.gone and node.concept in PERSONAL and node.rule in {"pronoun", "imperative"}:
            same = first.setdefault((node.concept or "", node.sentence), k)
            if same != k:
                state.redirect(k, same)


def merge_nouns(state: RuleState) -> None:
    """*it* and *its* mean the nearest thing named before in the sentence; *his* the subject's person."""
    named: dict[int, list[Word]] = {}
    for word in state.words:
        if word.tag in {"NN", "NNP", "NNS"} and word.i in state.outer and word.i not in state.done:
            named.setdefault(word.sentence, []).append(word)
        elif word.lower in _REFERENCES and word.i in state.core:
            antecedent = _antecedent(state, word, named.get(word.sentence, []))
            node = state.core[word.i]
            if antecedent is not None and not state.draft.nodes[node].gone:
                state.draft.nodes[node].rule = "coreference"
                state.redirect(node, state.outer[antecedent.i])


def _antecedent(state: RuleState, pronoun: Word, named: list[Word]) -> Word | None:
    """The noun that a pronoun means: near, of its kind, and no other argument of the same verb."""
    kind, over = _REFERENCES[pronoun.lower], pronoun.parent
    if kind == "thing" and pronoun.dep == "nsubj" and over.lemma in _EXPLETIVE_VERBS:
        return None  # *it is late*, *it seems*, *it is good to …*
    governor = over.head if pronoun.dep == "pobj" else over.i
    best, score = None, 0.0
    for noun in named:
        if not _fits(state, noun, kind) or noun.head in (over.i, governor) or noun.i == over.i:
            continue
        weight = 1.0 / (1 + (pronoun.i - noun.i) / 10)
        if noun.dep in {"nsubj", "nsubjpass", "dobj"}:
            weight += 0.5
        if weight > score:
            best, score = noun, weight
    return best


def _fits(state: RuleState, noun: Word, kind: str) -> bool:
    if kind == "people" or noun.tag == "NNS":
        return kind == "people" and noun.tag == "NNS"
    human = noun.lemma in _PEOPLE or state.concept_of(noun.i) == "person" or noun.tag == "NNP"
    return human == (kind == "person")
