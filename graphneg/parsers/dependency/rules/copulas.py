"""Let each form of *be*, *going to* and *let's* share the node of another word.

AMR has no concept for a copula: *She is tall* is ``(t / tall :domain (s / she))``. Therefore *is* shares the
node of *tall*. The rules store this pair of words in `RuleState.representatives`. In the same way, *going to*
and *let's* share the node of the main verb. For statements of place, origin and likeness, AMR has frames,
which become the node of *be*: *He is in London* is ``(b / be-located-at-91 :ARG1 (h / he) :ARG2 ...)``. These
rules run before the concepts of the words are added.
"""

from __future__ import annotations

from graphneg.english.numbers import number_value
from graphneg.parsers.dependency.lexicon import word_class, word_map
from graphneg.parsers.dependency.rules.state import TIME_NOUNS, RuleState
from graphneg.parsers.dependency.text import Word

_PLACES = word_class("place-adverb")
_AFFECTING = word_class("affecting")
_PLACED = word_map("place-preposition")
_LOCATIVE = word_class("locative") | {"like"}


def resolve_copulas(state: RuleState) -> None:
    """Give each *be* a node, unless it is an auxiliary.

    In *She is tall*, *is* shares the node of *tall*. In *He is in London*, *is* gets the new node
    ``be-located-at-91``.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        # "Nice to meet you" has no *be*, but means "It is nice to meet you": make the infinitive the subject
        # of "nice".
        if word.tag[:2] == "JJ" and word.dep == "ROOT" and word.child("nsubj") is None:
            clause = word.child("xcomp", "advcl", "ccomp")
            if clause is not None and clause.is_infinitive:
                state.relations[clause.i] = "cop_subj"
        if word.lemma == "be" and word.tag[:2] == "VB" and word.dep not in {"aux", "auxpass"}:
            _resolve(state, word)
        # In "It seems that he left" and "It hurts to wait", "it" only announces the clause and is dropped.
        elif word.lemma in {"seem", "appear", "happen"} or word.lemma in _AFFECTING:
            _resolve_delayed(state, word)


def resolve_futures(state: RuleState) -> None:
    """Let *going to* and *let's* share the node of the main verb.

    In *is going to rain*, *going* shares the node of *rain*. In *let's go*, *let* shares the node of *go*.

    Args:
        state: The words of the text, and the graph under construction, which is changed in place.
    """
    for word in state.words:
        verb: Word | None = None
        if word.lower in {"let", "lets"} and word.tag[:2] == "VB":
            clause = word.child("ccomp", "xcomp")
            us = clause.child("nsubj") if clause is not None else None
            # "Let's go" is a proposal to go. "Let him go" is a permission, so "let" keeps its own concept.
            verb = clause if us is not None and us.lower in {"'s", "us"} else None
        elif word.lemma == "go" and word.tag in {"VBG", "VB"} and word.child("dobj", "prep", "prt") is None:
            clause = word.child("xcomp")
            # "He is going to sleep" is a future, so "going" shares the node of "sleep".
            # "Going to sleep is nice" is not a future, since "going" has no auxiliary. "go to Rome" is not a
            # future, since no verb follows "to".
            future = clause is not None and clause.is_infinitive and word.child("aux") is not None
            verb = clause if future else None
        if verb is not None:
            state.representatives[word.i] = verb.i


def _resolve(state: RuleState, be: Word) -> None:
    """Let a form of *be* share the node of another word, or add a node for it.

    In "The sky is blue", *is* shares the node of *blue*. In "There is a book on the table", *is* gets a new
    node ``be-located-at-91``.
    """
    complements = (kid for dep in ("acomp", "attr", "oprd", "ccomp", "xcomp") for kid in be.children(dep))
    said = (
        kid for kid in complements if kid.tag != "WRB" and (kid.dep != "acomp" or kid.lower not in _PLACES)
    )
    predicate, subject, location = next(said, None), be.child("nsubj"), _location(be)
    if predicate is not None:
        # "On the table there is a book" means that the book is located on the table, so "be" gets the frame
        # be-located-at-91.
        exists = be.child("expl") is not None and predicate.child("acl") is None
        if exists and location is not None and location.tag != "WRB":
            state.add("be-located-at-91", be.i, "copula")
        # "The code is 2" is (c / code :quant 2), since a constant cannot take arguments.
        elif subject is not None and _is_number(state, predicate):
            state.representatives[be.i] = subject.i
            state.relations[predicate.i] = "value"
        else:
            state.representatives[be.i] = predicate.i
            _resolve_extraposed(state, be, predicate)
            owner = subject.child("poss") if subject is not None and subject.lemma == "name" else None
            if subject is not None and owner is not None and predicate.i in state.head_nodes:
                state.representatives[subject.i] = owner.i  # "My name is Tom" means "I am Tom".
    elif location is not None:
        node = state.add(_PLACED.get(location.lower, "be-located-at-91"), be.i, "copula")
        if location.lower in {"like", "near"}:
            # In "She is like him", align resemble-01 with the preposition "like", which names the frame. In
            # "She is near him", align near-02 with "near".
            named = state.draft.nodes[node]
            named.token, named.start, named.end = location.i, location.start, location.end
    elif (other := _fallback_word(be)) is not None:
        state.representatives[be.i] = other.i


def _is_number(state: RuleState, word: Word) -> bool:
    """Return whether a predicate is a number without a noun, as in *the code is 2*."""
    node = state.head_nodes.get(word.i)
    if node is not None:
        return state.draft.nodes[node].value is not None
    return word.tag == "CD" and word.i not in state.representatives and number_value(word.lower) is not None


def _resolve_extraposed(state: RuleState, be: Word, predicate: Word) -> None:
    """Make an extraposed clause the subject: *It is hard to say* means that saying is hard."""
    it = next((kid for kid in be.children("nsubj", "expl") if kid.lower == "it"), None)
    if it is None or predicate.tag[:2] not in {"JJ", "NN"}:
        return
    clauses = predicate.children("xcomp", "ccomp") + be.children("ccomp", "xcomp", "advcl", "csubj")
    for clause in clauses:
        if clause.i > predicate.i and (clause.tag == "VBG" or _is_content(clause)):
            state.relations[clause.i] = "cop_subj"
            state.done.add(it.i)
            return


def _resolve_delayed(state: RuleState, verb: Word) -> None:
    """Drop an *it* that only announces a clause, as in *It seems that he left* and *It hurts to wait*."""
    it = verb.child_word("nsubj", "it")
    for clause in verb.children("ccomp", "xcomp", "advcl"):
        if it is not None and clause.i > verb.i and _is_content(clause):
            state.done.add(it.i)
            # In "It hurts to wait", what hurts is the waiting, so the clause becomes the subject.
            if verb.lemma in _AFFECTING:
                state.relations[clause.i] = "nsubj"
            return


def _is_content(clause: Word) -> bool:
    """Return whether *it* can stand for a later clause, as in *It is hard to say* or *It seems that he left*.

    Such a clause is an infinitive or starts with *that*.
    """
    return clause.is_infinitive or clause.child_word("mark", "that") is not None


def _location(be: Word) -> Word | None:
    """Return the preposition or adverb that names the place or origin of the subject, or ``None``."""
    source = be.child_word("prep", "from")
    if source is not None:
        # "She is from Oslo" and "Where is she from?" name an origin. "It is from six to eight" names times,
        # so its "from" is not returned.
        inner = source.child("pobj")
        if inner is None and be.child_word("advmod", "where") is not None:
            return source
        if inner is not None and inner.lemma not in TIME_NOUNS and inner.tag != "CD":
            return source
    for kid in be.children("prep", "advmod", "acomp"):
        # "in London" names a place, but "in May" names a time and gets no frame of place.
        inner = kid.child("pobj") if kid.dep == "prep" and kid.lower in _LOCATIVE else None
        if inner is not None and inner.lemma not in TIME_NOUNS:
            return kid
        if kid.dep != "prep" and kid.lower in _PLACES:
            return kid
    return None


def _fallback_word(be: Word) -> Word | None:
    """Return the word with which *be* shares a node if its clause has neither a predicate nor a place.

    This is *trees* in *It is about trees*, *over* in *The game is over*, and the subject *I* in *I think, so
    I am*.
    """
    for preposition in be.children("prep"):
        inner = preposition.child("pobj", "pcomp")
        if inner is not None:
            return inner
    for kid in be.children("npadvmod", "advmod", "advcl"):
        if kid.tag not in {"WRB", "RB"} or (kid.i > be.i and kid.lower not in word_class("light-adverb")):
            return kid
    return be.child("nsubj")
