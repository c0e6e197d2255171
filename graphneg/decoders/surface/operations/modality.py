"""Change the modality of a clause that a reply repeats: "you want to buy" becomes "you have to buy".

Modal verbs (*can*), verbs such as *want to* and *have to*, and the auxiliaries of the future and the perfect
are written between the subject and the main verb. `plain_predicate` removes these words: "you want to buy"
becomes "you buy". The other functions insert the words of another modality: "you have to buy". The table
``restating.tsv`` lists the words that can be removed.

Example: "You want to buy a car." becomes "You have to buy a car." (`set_modality` with ``obligate-01``), "You
can't buy a car." (``possible-01``, negated) or "You've already bought a car." (`set_done`).
"""

from __future__ import annotations

from collections import Counter

from graphneg.decoders.surface.agreement import PEOPLE, head_of, person_of
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import RealisationError, Token
from graphneg.decoders.surface.inflection import BE, agree, verb_form
from graphneg.decoders.surface.operations.removal import drop
from graphneg.decoders.surface.operations.restating import words_of
from graphneg.english.noun_kinds import kind_of
from graphneg.english.tagging import VERBS
from graphneg.english.words import readings

_PAST_MODALS = frozenset({"could", "would", "did", "was", "were", "had"})


def plain_predicate(source: SentenceDraft, k: int) -> tuple[Token, str, bool]:
    """Reduce the verbs of the main clause to the plain form of the last verb.

    Args:
        source: The sentence, edited in place: "you want to buy a car" -> "you buy a car".
        k: The index of the node of the action. Adverbs outside its subtree are left out: *only* in "You only
            have to buy milk" belongs to *have to*.

    Returns:
        The token of the verb; the person of its subject, as a subject pronoun; and whether the clause was in
        the past tense.

    Raises:
        RealisationError: The clause is negative, or a word between its subject and its main verb cannot be
            left out (``unclear-clause``).
    """
    group, tokens = _main(source), source.tokens
    if group.negations or any(token.tag == "NEG" for token in tokens):
        raise RealisationError("unclear-clause", "the clause is negative")
    assert group.subject is not None
    _refuse_thing(group)
    person = person_of(group.subject_tokens)
    # Trust the verb in "Some of your friends play": its form is plural, so the subject is plural, although
    # *some* could be singular.
    if person in ("he", "she") and group.verb.tag == "VBP" and group.verb.lower == group.verb.lemma:
        person = "they"
    past = group.verb.tag == "VBD" or group.verb.lower in _PAST_MODALS
    after_subject = group.subject[1]
    verb = tokens[group.main]
    # Skip "want to", "have got to" and "am going to": the verb after these words tells what somebody does.
    while tokens.get(index := tokens.index_of(verb) + 1).tag == "TO":
        governs = verb.lemma in words_of("governing") and tokens.get(index + 1).tag == "VB"
        # Stop at *get* in "I need to get to work", because *work* is not the action. In "I've got to go",
        # *go* is the action.
        if not governs or verb.lower == "get":
            break
        verb = tokens[index + 1]
    if verb.lemma in words_of("states") or verb.lower == "used":
        raise RealisationError("kind-mismatch", f"'{verb.text}' is no action")
    passive = verb.tag == "VBN" and tokens[group.chain[-2]].expanded in BE if len(group.chain) > 1 else False
    if passive and verb is tokens[group.main]:
        raise RealisationError("unclear-clause", "the clause is passive")
    between = tokens[after_subject : tokens.index_of(verb)]
    own = {id(tokens[index]) for index in source.subtree_indices(k)}
    outer = [token for token in between if token.tag == "RB" and id(token) not in own and k]
    verbal = (*VERBS, "AX", "MD", "TO")
    strange = next((token for token in between if token.tag not in verbal and token not in outer), None)
    if strange is not None:
        raise RealisationError("unclear-clause", f"'{strange.text}' is between the subject and its verb")
    source.cut(after_subject, tokens.index_of(verb))
    # Keep a plain form instead of replacing it by its lemma. The lemma may be that of another verb: "rent" is
    # also the past form of "rend".
    plain = verb.lower if verb.tag in ("VB", "VBP") else verb.lemma
    source.rewrite(verb, "be" if verb.is_be or verb.expanded in BE else plain, "VB")
    verb.original_index = -1
    return verb, person, past


def _refuse_thing(group: VerbGroup) -> None:
    """Refuse a subject that is not a person: "The days want to be longer".

    Raises:
        RealisationError: The subject is not a person, or is *we* (``kind-mismatch``).
    """
    subject = group.subject_tokens
    head = subject[head_of(subject)]
    person = person_of(subject) if head.tag in ("PRS", "PRO", "PN") else ""
    named = all(token.tag == "NNP" for token in subject)
    person = "" if head.lower in words_of("thing-subjects") else person
    known = person in ("i", "you", "he", "she", "they") if person else named or _is_person(head)
    if not known:
        raise RealisationError("kind-mismatch", f"'{head.text}' does not want or plan anything")


def _is_person(head: Token) -> bool:
    singular = next(iter(readings(head.lower).get("NOUN", ())), head.lower)
    return kind_of(singular) == "person" or singular in PEOPLE


def _main(source: SentenceDraft) -> VerbGroup:
    """Return the verb group of the main clause, which must begin with its subject.

    Raises:
        RealisationError: The sentence has no main clause, or it is a question (``unclear-clause``).
    """
    group = next((group for group in source.parse_verbs() if group.is_main), None)
    if group is None or group.subject is None or group.inverted or group.kind != "finite":
        raise RealisationError("unclear-clause", "the clause does not begin with its subject")
    return group


def drop_time(source: SentenceDraft, k: int) -> None:
    """Leave out the time of an action: "I bought a car yesterday" -> "I bought a car".

    Args:
        source: The sentence, edited in place.
        k: The index of the node of the time.

    Raises:
        RealisationError: Other words would change, too (``unclear-clause``).
    """
    before = Counter(token.lower for token in source.tokens)
    drop(source, k)
    after = Counter(token.lower for token in source.tokens)
    # Refuse the result if `drop` has also changed other words. In "I want to check out today", for example,
    # it may remove the particle *out*, too.
    if after["something"] > before["something"] or any(
        before[word] > after[word] for word in words_of("particles")
    ):
        raise RealisationError("unclear-clause", "the time can't be left out")


def set_modality(source: SentenceDraft, concept: str, k: int, *, negated: bool, inverted: bool) -> None:
    """Put a modality in place of the modality and tense of the main clause.

    Args:
        source: The sentence, edited in place.
        concept: The new modality: ``want-01``, ``obligate-01`` or ``possible-01``.
        k: The index of the node of the action.
        negated: Whether the modality is negated, which is possible only for ``possible-01``.
        inverted: Whether the modal will be moved before the subject. It is then contracted: "why can't you".

    Raises:
        RealisationError: The clause has no place for a modality (``unclear-clause``), has this modality
            already (``unchanged``), or no words express the modality (``unsupported-edit``).

    Example:
        "You want to buy a car." with ``obligate-01`` becomes "You have to buy a car."
    """
    verbs = {"want-01": "want", "obligate-01": "have"}
    if concept not in (*verbs, "possible-01") or (negated and concept in verbs):
        raise RealisationError("unsupported-edit", f"no words express the modality {concept}")
    before = [token.lower for token in source.tokens]
    group = _main(source)
    progressive = source.tokens[group.main].tag == "VBG" and source.tokens.get(group.main + 1).tag != "TO"
    verb, person, past = plain_predicate(source, k)
    if concept == "want-01" and source.tokens.index_of(verb) not in source.indices(k):
        raise RealisationError("unclear-clause", f"'{verb.text}' may not be what somebody wants")
    # "I'm leaving tomorrow" can become "You can't leave tomorrow". Refuse "I'm calling from the bank": it
    # happens now, so it must be possible.
    timed = any(token.lower in words_of("not-perfect") for token in source.tokens)
    if progressive and concept == "possible-01" and verb.lower != "go" and not timed:
        raise RealisationError("unclear-clause", "what happens now cannot be impossible")
    at = source.tokens.index_of(verb)
    if concept == "possible-01":
        words = [Token("could" if past else "can", "MD")]
        if negated and (source.contracts or inverted):
            words = [Token("could" if past else "ca", "MD"), Token("n't", "NEG")]
        elif negated:
            words = [Token("could", "MD"), Token("not", "NEG")] if past else [Token("cannot", "MD")]
    else:
        # Write a wish in the present tense, even if the clause is past: "I bought it" -> "you want to buy
        # it". A duty keeps the tense of the clause: "I wanted to go" -> "you had to go".
        tag = "VBD" if past and concept == "obligate-01" else "VBP"
        word = agree(verbs[concept], tag, person)
        words = [
            Token(word, "VBD" if tag == "VBD" else "VBZ" if word.endswith("s") else "VBP"),
            Token("to", "TO"),
        ]
    source.insert(at, *words)
    if [token.lower for token in source.tokens] == before:
        raise RealisationError("unchanged", "the clause has this modality already")


def set_done(source: SentenceDraft, k: int, *, inverted: bool) -> None:
    """Say that something planned is done: "you want to buy a car" -> "you've already bought a car".

    Args:
        source: The sentence, edited in place.
        k: The index of the node of the action.
        inverted: Whether the auxiliary will be moved before the subject: "have you already bought a car".

    Raises:
        RealisationError: The clause has no place for the perfect, or contains a time or another word that
            does not fit the perfect (``unclear-clause``).
    """
    unfit = next((token for token in source.tokens if token.lower in words_of("not-perfect")), None)
    if unfit is not None:
        raise RealisationError("unclear-clause", f"'{unfit.text}' does not fit something that is done")
    # Refuse two joined verbs: "You'll get up and get ready" would become "you've already got up and get
    # ready".
    if source.conjuncts(_main(source)):
        raise RealisationError("unclear-clause", "two verbs are joined, so only one of them would change")
    verb, person, _ = plain_predicate(source, k)
    if verb.is_be or verb.lower == "be":
        raise RealisationError("unclear-clause", "a state is not done")
    # Refuse "go try on the clothes": "you've already gone try on the clothes" is not English.
    if source.tokens.get(source.tokens.index_of(verb) + 1).tag in ("VB", "VBP", "CC"):
        raise RealisationError("unclear-clause", f"a verb follows '{verb.text}'")
    at = source.tokens.index_of(verb)
    source.rewrite(verb, verb_form(verb.lower, "VBN"), "VBN")
    has = agree("have", "VBP", person)
    lone = at == 1 and source.tokens[0].tag in ("PRS", "PN") and has == "have"
    if lone and source.contracts and not inverted:
        has = "'ve"
    source.insert(at, Token(has, "AX"), Token("already", "RB"))
