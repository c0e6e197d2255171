"""Replace or add time words, and change the tense of the clause to fit the time word.

A time word and the tense of its clause must agree: "I saw it yesterday." -> "I will see it tomorrow."
`set_time` replaces a time word, and `add_time` adds a time word. If the new time requires a different tense,
both functions change the finite verb of the clause and the verbs that *and* joins to this verb.
"""

from __future__ import annotations

from itertools import dropwhile, pairwise

from graphneg.decoders.surface.agreement import person_of
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token
from graphneg.decoders.surface.inflection import BE, DO, HAVE, agree, contracted_stem
from graphneg.decoders.surface.operations.words import set_concept
from graphneg.decoders.surface.refusal_rules import apply_rules
from graphneg.english.noun_kinds import lexeme
from graphneg.english.tagging import NOUNS
from graphneg.english.words import word_class, word_map

TENSES = word_map("tenses-of-times")
"""The tense that each time word requires, for example ``past`` for *yesterday*."""
# Lemma of each past form of *be* and *have*, such as *was* and *had*.
_PAST_LEMMAS = word_map("past-lemmas")
# Tags of tokens after which a clause can begin.
_STARTS = frozenset({"EN", "QT", "PU", "CC", "SC", "UH"})
# Maximum number of tokens between a conjunction and the subject of its clause: "She sang *and then he*
# danced".
_JOIN_REACH = 3


def set_time(sentence: SentenceDraft, k: int, concept: str) -> None:
    """Replace a time word, and change the tense of the clause if the new time requires another tense.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node that the time word expresses.
        concept: The concept of the new time.

    Example:
        "I saw it yesterday." with ``yesterday`` set to ``tomorrow`` becomes "I will see it tomorrow."
    """
    word, index, up = lexeme(concept), sentence.head(k), sentence.node(k).parent
    # The node of the time word may be below other nodes that express times, as in "tomorrow night". Go up to
    # the first node that is not a time: it is the event whose tense must fit.
    while up is not None and (sentence.node(up).role == "time" or sentence.node(up).concept == "date-entity"):
        up = sentence.node(up).parent
    group, tense = sentence.predicate(up) if up is not None else None, TENSES.get(word, "")
    if group is None or group.kind != "finite":
        group = sentence.finite_before(index) or group
    apply_rules(sentence, "set-time", index, word=word, tense=tense)
    set_concept(sentence, k, concept)
    # Some combinations of words are unusual: if *tomorrow* becomes *yesterday*, "tomorrow night" becomes
    # "last night", not "yesterday night".
    index = sentence.head(k)
    together = f"{word}_{sentence.tokens.get(index + 1).lower}"
    if (usual := word_map("times-together").get(together)) is not None:
        sentence.rewrite(sentence.tokens[index], usual)
    if group is not None and tense in ("past", "future") and group.kind == "finite":
        change_tense(sentence, group, tense)


def add_time(sentence: SentenceDraft, k: int, concept: str) -> None:
    """Add a time word to the clause that a node heads, and change the tense of the clause if necessary.

    Args:
        sentence: The sentence, edited in place.
        k: The index of the node that heads the clause.
        concept: The concept of the time word, for example ``yesterday``.

    Raises:
        RealisationError: The text already contains the time word (``unchanged``), the node does not head a
            finite clause, or no position for the time word was found (``unclear-clause``).

    Example:
        "She goes home." with ``yesterday`` becomes "She went home yesterday."
    """
    word, tokens = lexeme(concept), sentence.tokens
    tense = TENSES.get(word, "")
    if any(token.lower == word for token in tokens):
        raise RealisationError("unchanged", f"the utterance contains '{word}' already")
    group = sentence.finite(sentence.predicate(k))
    if group is None or not group.is_main:
        raise RealisationError(
            "unclear-clause", f"{sentence.node(k).label} is not the head of a finite clause"
        )
    main = tokens[group.main]
    start, end = sentence.sentence_bounds(group.main)
    rest = tokens[group.main : end]
    # In "She moved when she was ten", the clause with *when* shows that the event is past.
    dated = dropwhile(lambda token: token.lower not in word_class("simultaneous"), rest)
    apply_rules(
        sentence,
        "add-time",
        group.main,
        tense=tense,
        kind=group.kind,
        asks_later=not group.inverted and any(token.text == "?" for token in rest),
        since=any(token.lower == "since" for token in tokens[start:end]),
        before=tokens.get(group.subject[0] - 1) if group.subject else EDGE,
        dated=any(token.lower in word_class("be-past") or token.tag == "VBD" for token in dated),
    )
    if group.kind == "finite":
        change_tense(sentence, group, tense)
    end = _clause_end(sentence, tokens.index_of(main))
    subject = group.subject[0] if group.subject and not group.inverted else None
    if subject is not None and (subject == 0 or tokens[subject - 1].tag in _STARTS):
        relative = end is not None and tokens.get(end).lower in word_class("relative-words")
        # If a relative clause follows its noun, or if the end of the clause was not found, put the time word
        # first: "I see the man who came" -> "Yesterday I saw the man who came".
        if end is None or (relative and tokens.get(end - 1).tag in (*NOUNS, "PN")):
            end = subject
    if end is None and group.quotative and group.subject is not None:
        end = group.subject[1]
    if end is None:
        raise RealisationError("unclear-clause", "the clause has no place for a time word")
    sentence.insert(end, *[Token(part, "RB") for part in word.split(" ")])


def _clause_end(sentence: SentenceDraft, main: int) -> int | None:
    """Return the index after the last token of a clause. ``main`` is the index of its main verb.

    Returns:
        The index; None if another clause follows without a punctuation mark or conjunction before it.
    """
    tokens = sentence.tokens
    starts = {
        group.start for group in sentence.parse_verbs() if group.kind == "finite" and group.first > main
    }
    for index in range(main + 1, len(tokens)):
        token = tokens[index]
        dash = "-" in (tokens[index - 1].text, tokens[min(index + 1, len(tokens) - 1)].text)
        # Skip marks that do not end the clause: a hyphen inside a word, and a comma in a list ("with Jim,
        # Tom, and Ann").
        if (token.text == "-" and not dash) or (token.text == "," and sentence.inside_list(index)):
            continue
        if token.tag in ("EN", "SC", "PU") or token.is_quote:
            return index
        if token.tag == "WP":
            return index if index > main + 1 else None
        # A conjunction ends the clause if another subject follows within a few tokens: "She sang and he
        # danced".
        near = (tokens[index:start] for start in starts if index < start <= index + _JOIN_REACH)
        if token.tag == "CC" and any(all(other.tag not in ("EN", "QT") for other in run) for run in near):
            return index
        if index in starts:
            return None
    return len(tokens)


def change_tense(sentence: SentenceDraft, group: VerbGroup, wanted: str) -> None:
    """Change the tense of a verb group, and of the verbs that *and* joins to the group.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause.
        wanted: The new tense: ``past``, ``future`` or ``present``; an empty string keeps the old tense.

    Raises:
        RealisationError: A conjunction joins the clause to another clause, whose tense would not change
            (``unclear-clause``).

    Example:
        "I saw it and told her." in the future is "I will see it and tell her."
    """
    before, joins = [token.text for token in sentence.tokens], _joins_clause(sentence, group)
    passive = len(group.chain) > 1 and sentence.tokens[group.chain[-2]].expanded in BE
    # In "It was seen and liked", both participles depend on the same *be*, so only *be* is changed.
    joined = sentence.conjuncts(group) if wanted and not passive else []
    conditional = sentence.tokens.get(group.start - 1).lower in word_class("conditions")
    if wanted == "past":
        _to_past(sentence, group)
    elif wanted == "present" or (wanted and conditional):
        # In a condition, the present tense expresses the future: "If you see it tomorrow".
        _to_present(sentence, group)
    elif wanted == "future":
        group.undo_quotative_inversion()
        _to_future(sentence, group)
    if joins and before != [token.text for token in sentence.tokens]:
        raise RealisationError("unclear-clause", "a clause that is joined to this one would keep its tense")
    perfect = group.verb.tag == "MD" and group.second.lower == "have"
    for verb in joined:
        if wanted == "past" and perfect and verb.tag == "VB":
            # A coordinated verb also gets the participle after *have*: "I should see it and tell her" -> "I
            # should have seen it and told her".
            sentence.inflect(verb, "VBN")
        elif wanted == "future":
            sentence.inflect(verb, "VB")
        elif wanted == "past" and not (verb.tag == "VB" and _after_modal(sentence, verb)):
            # Do not change a plain form that depends on a modal or on *did*, like *tell* in "could see it and
            # tell her".
            sentence.inflect(verb, "VBD")
        elif wanted == "present" and verb.tag == "VBD":
            sentence.rewrite(verb, agree(verb.lemma, "VBP", _person(group)), "VBP")


def _joins_clause(sentence: SentenceDraft, group: VerbGroup) -> bool:
    """Return whether a conjunction joins the clause of a verb group to a clause with a different subject.

    A conjunction after a comma does not count. Without a comma, both clauses must have the same tense: "She
    sang yesterday and he dances" is odd. With a comma, the tenses may differ: "She sang yesterday, and he
    dances".
    """
    start, end = sentence.sentence_bounds(group.first)
    finite = [
        other for other in sentence.parse_verbs() if start <= other.first < end and other.kind == "finite"
    ]
    return any(
        later.subject is not None
        and later.subject != earlier.subject
        and group.first in (earlier.first, later.first)
        and sentence.tokens.get(later.start - 1).lower in word_class("clause-conjunctions")
        and sentence.tokens.get(later.start - 2).text != ","
        for earlier, later in pairwise(finite)
    )


def _after_modal(sentence: SentenceDraft, verb: Token) -> bool:
    """Return whether a modal, *do* or *to* precedes a plain verb form: *stay* in "You can come or stay"."""
    index = sentence.tokens.index_of(verb)
    last = next((group for group in reversed(sentence.parse_verbs()) if group.main < index), None)
    if last is None:
        return False
    supported = len(last.chain) > 1 and last.verb.lower in DO
    return last.kind in ("infinitive", "bare") or last.verb.tag == "MD" or supported


def _person(group: VerbGroup) -> str:
    """Return the person of the subject, as a subject pronoun: ``they`` for *two men*."""
    subject = group.subject_tokens
    # In "There are two men", the verb agrees with the noun phrase after it, so look for a plural noun there.
    if subject and subject[0].tag == "EX" and group.main + 1 < len(group.tokens):
        following = group.tokens[group.main + 1 : group.main + 5]
        return "they" if any(token.tag == "NNS" for token in following) else "he"
    return person_of(subject)


def _to_past(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Put the first verb of a verb group into the past tense."""
    verb, low, alone = group.verb, group.verb.expanded, len(group.chain) == 1
    # Put a form of *be* into the past: "He is here" -> "He was here".
    if low in BE or (low == "'s" and not group.perfect):
        sentence.rewrite(verb, agree("be", "VBD", _person(group)))
    elif low in DO and not alone:
        # Put the auxiliary *do* into the past: "I do not see it" -> "I did not see it".
        sentence.rewrite(verb, "did")
    elif (low in HAVE or low == "'s") and not alone:
        # The perfect becomes the past: "I have seen it" -> "I saw it". "I had seen it" is already past.
        if low != "had":
            _drop_auxiliary(sentence, group)
    elif verb.tag == "MD" or low == "will" or group.would:
        _past_modal(sentence, group)
    elif verb.tag != "VBD":
        sentence.rewrite(verb, verb.form("VBD"), "AX" if verb.tag == "AX" else "VBD")


def _past_modal(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Replace a modal by words that express the past.

    Raises:
        RealisationError: The modal is *will* in a negation or question, and *be* is the next verb
            (``unsupported-edit``).
    """
    verb, second = group.verb, group.second
    low = "would" if verb.lower == "'d" else verb.expanded
    plain = not group.inverted and not group.negations
    # Replace *will* and its verb by the past form of the verb: "I will see it" -> "I saw it".
    if low in word_class("future-modals") and plain:
        _drop_auxiliary(sentence, group)
    elif low in word_class("future-modals"):
        # In a negation or question, *will* becomes *did*: "I won't see it" -> "I didn't see it".
        if second.lower == "be":
            raise RealisationError(
                "unsupported-edit", "'will ... be' in a question or negation has no simple past"
            )
        sentence.rewrite(verb, "did", "AX")
    elif low == "can":
        sentence.rewrite(verb, "could")
    elif low == "must" and plain and second is not EDGE:
        # *must* becomes *had to*: "I must see it" -> "I had to see it".
        sentence.rewrite(verb, "had", "AX")
        sentence.insert(sentence.tokens.index_of(verb) + 1, Token("to", "TO"))
    elif low in word_class("modals-with-have") and second.tag == "VB" and second.lower != "have":
        # The perfect expresses the past: "I should see it" -> "I should have seen it".
        sentence.inflect(second, "VBN")
        sentence.insert(sentence.tokens.index_of(second), Token("have", "VB"))


def _drop_auxiliary(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Replace an auxiliary and the verb that depends on it by the past tense of this verb.

    For example, "have seen" becomes "saw". With a negation, "have not seen" becomes "did not see".
    """
    verb, second, lemma = group.verb, group.second, group.second.lemma
    if lemma == "be":
        sentence.tokens.remove(second)
        sentence.rewrite(verb, agree("be", "VBD", _person(group)), "AX")
    elif group.negations or group.inverted:
        sentence.rewrite(verb, "did", "AX")
        sentence.inflect(second, "VB")
    elif second is not EDGE:
        sentence.tokens.remove(verb)
        sentence.inflect(second, "VBD")
        second.sentence_initial = second.sentence_initial or verb.sentence_initial


def _to_future(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Put a verb group into the future with *will*."""
    tokens, verb, second = sentence.tokens, group.verb, group.second
    low = verb.expanded
    contracted = any(tokens[index].lower == "n't" for index in group.negations)
    will = "wo" if contracted else "will"
    # A modal gets its present form: "I could see it" -> "I can see it tomorrow".
    if verb.tag == "MD" or group.would:
        modal = word_map("present-modals").get("would" if low == "'d" else low)
        if modal is not None:
            sentence.rewrite(verb, (contracted_stem(modal) if contracted else None) or modal)
        # The perfect after the modal is removed: "I could have seen it" -> "I can see it tomorrow".
        if second.lower == "have" and len(group.chain) > 2:
            participle = tokens[group.chain[2]]
            sentence.inflect(participle, "VB")
            tokens.remove(second)
    elif second is not EDGE and (low in DO | HAVE or group.perfect):
        # The auxiliary becomes *will*: "I did not see it" -> "I will not see it"; "I have seen it" -> "I will
        # see it".
        sentence.rewrite(verb, will if low in DO else "will", "MD")
        if low not in DO:
            sentence.inflect(second, "VB")
    elif verb.is_be:
        # A form of *be* becomes *will be*: "I was there" -> "I will be there".
        sentence.rewrite(verb, will, "MD")
        last = group.subject[1] if group.inverted and group.subject else group.first + 1
        sentence.insert(max([last, *(index + 1 for index in group.negations)]), Token("be", "VB"))
    else:
        adverbs = max(
            tokens.run_start(group.first, ("RB",)), group.subject[1] if group.subject else group.first
        )
        sentence.inflect(verb, "VB")
        sentence.insert(min(adverbs, group.first), Token("will", "MD"))


def _to_present(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Put the first verb of a verb group into the present tense."""
    verb, low, person = group.verb, group.verb.expanded, _person(group)
    if low in _PAST_LEMMAS or (low == "did" and len(group.chain) > 1):
        sentence.rewrite(verb, agree(_PAST_LEMMAS.get(low, "do"), "VBP", person))
    elif low == "could":
        sentence.rewrite(verb, "can")
    elif verb.tag == "VBD":
        sentence.rewrite(verb, agree(verb.lemma, "VBP", person), "VBP")
