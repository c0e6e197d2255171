"""Change the persons of pronouns.

If an edit changes the person of a pronoun node, all words that express this node change. Each word keeps its
case, and the verbs agree with the new persons. All pronouns of an utterance are changed in one step. In two
steps, *I* and *you* could not change places: after the first step, all of them would be *you*.

Example: "I love my dog." with ``i`` set to ``you`` becomes "You love your dog."
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphneg.decoders.surface.agreement import agree_with, case_of, person_of, rewrite_pronoun
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import noun_phrase_end
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.inflection import DO, Case, agree
from graphneg.decoders.surface.refusals import refuse_partial_swap, refuse_person, refuse_pronoun
from graphneg.english.words import word_class


def set_pronouns(sentence: SentenceDraft, persons: Mapping[int, str]) -> None:
    """Change the persons of several pronoun nodes together.

    A `RealisationError` with another code than ``no-alignment`` means that a pronoun must not be changed,
    because it is an expletive or is part of an idiom, a greeting or a polite formula.

    Args:
        sentence: The sentence, edited in place.
        persons: The new person of each node, keyed by node index.

    Raises:
        RealisationError: No word expresses the nodes, or some of the pronouns would stay unchanged, because
            no node is aligned with them (``no-alignment``).

    Example:
        If the node ``i`` has the index 1, ``{1: "you"}`` changes "I love my dog." into "You love your dog."
    """
    tokens = sentence.tokens
    mentions = [(tokens[i], k, person) for k, person in persons.items() for i in sentence.indices(k)]
    cases = [
        (token, person, case_of(sentence, token, sentence.node(k).label)) for token, k, person in mentions
    ]
    changes = [(token, person, case) for token, person, case in cases if case is not None]
    for token, _, _ in changes:
        refuse_pronoun(sentence, token)
    for token, person, case in changes:
        refuse_person(sentence, token, person, case)
    if not changes:
        raise RealisationError("no-alignment", "no pronouns are aligned with the nodes")
    refuse_partial_swap(sentence, {sentence.node(k).label for k in persons}, changes)
    change_persons(sentence, changes)


def change_persons(sentence: SentenceDraft, changes: Sequence[tuple[Token, str, Case]]) -> None:
    """Change the persons of several pronouns in one step, and make the verbs agree with the new pronouns.

    Args:
        sentence: The sentence, edited in place.
        changes: For each pronoun, its token, its new person and its case.
    """
    tokens = sentence.tokens
    for token, person, _ in changes:
        index, let = tokens.index_of(token), tokens.get(tokens.index_of(token) - 1)
        # If *us* becomes *you*, "Let's go" becomes "Go".
        if person == "you" and tokens.begins_lets(index - 1):
            sentence.cut(index - 1, index + 1)
            if let.sentence_initial and index - 1 < len(tokens):
                tokens[index - 1].original_index = -1
    for token, person, case in changes:
        rewrite_pronoun(sentence, token, person, case)
    for token, person, case in changes:
        # If the subject is a coordination, *I* is its last conjunct: "You and my brother" -> "My brother and
        # I".
        if person == "i" and case == Case.SUBJECT:
            _put_last(sentence, token)
    for token, _, case in changes:
        verb = tokens.get(tokens.index_of(token) - 1)
        if case != Case.SUBJECT:
            continue
        # In a question with *do*, only *do* agrees with the pronoun: "Does it have to be here?" -> "Do they
        # have to be here?"
        if verb.lower not in DO or verb.tag != "AX":
            agree_with(sentence, token)
        elif (form := agree("do", verb.tense, person_of([token]))) != verb.lower:
            sentence.rewrite(verb, form)


def _put_last(sentence: SentenceDraft, token: Token) -> None:
    """Move *I* to the end of a coordination: "I and my brother" -> "my brother and I"."""
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    end = (
        noun_phrase_end(tokens, index + 2) if tokens.get(index + 1).lower in word_class("conjunctions") else 0
    )
    if end > index + 2 and token.lower == "i":
        either = tokens[index + 1]
        tokens[index:end] = [*tokens[index + 2 : end], either, token]
