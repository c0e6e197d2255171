"""Verbs agree with their subjects, and pronouns change person.

In: a token that was rewritten, or pronoun nodes with their new persons (``set_pronouns``). The verbs that a
subject governs are inflected anew, and each mention of a pronoun takes its new form in its own case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphneg.decoders.surface.clauses import VerbGroup, noun_phrase_end
from graphneg.decoders.surface.draft import EDGE, Token, Tokens
from graphneg.decoders.surface.forms import BE, DO, HAVE, Case, agree, finite_tag, pronoun, pronoun_cases
from graphneg.decoders.surface.idioms import refuse_idiom
from graphneg.decoders.surface.negation_scope import is_tag_pronoun
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_class, word_map

_PLURAL = frozenset({"these", "those", "many", "few", "several", "both", "others", "people"})
_HEADS = NOUNS | {"PN", "PRS", "PRO", "CD", "EX"}
_EXPLETIVE_REACH = 7

PEOPLE = word_class("people")


def is_subject(sentence: SentenceDraft, token: Token) -> bool:
    """Whether a pronoun or noun is (part of) the subject of a finite verb."""
    return bool(_governed(sentence, token))


def _governed(sentence: SentenceDraft, token: Token) -> list[VerbGroup]:
    """The finite groups whose subject the token heads, or helps to head."""
    index, governed = sentence.tokens.where(token), list[VerbGroup]()
    for group in sentence.groups():
        if group.kind != "finite" or not group.subject or not group.subject[0] <= index < group.subject[1]:
            continue
        subject = group.said_of
        joined = len(subject) == 1 or any(other.low in ("and", "or") for other in subject)
        if joined or index == group.subject[0] + head_of(subject):
            governed.append(group)
    return governed


def head_of(tokens: Sequence[Token]) -> int:
    """The index of the head in a noun phrase: the last noun before any preposition or relative."""
    if tokens[0].tag in ("PN", "PRS", "PRO"):
        return 0
    ends = (i for i, token in enumerate(tokens) if token.tag in ("IN", "TO", "WP", "SC") or token.text == ",")
    stop = next((index for index in ends if index), len(tokens))
    heads = [index for index in range(stop) if tokens[index].tag in _HEADS]
    return heads[-1] if heads else stop - 1


def person_of(tokens: Sequence[Token]) -> str:
    """The person of a noun phrase, as a pronoun; ``he`` for any singular."""
    if any(token.low == "and" for token in tokens):
        return "we" if any(token.low in ("i", "me") for token in tokens) else "they"
    if not tokens:
        return "he"
    head = tokens[head_of(tokens)]
    known = pronoun_cases(head.text)
    if known and head.tag in ("PRS", "PRO", "PN"):
        return known[0][0]
    return "they" if head.tag == "NNS" or head.low in _PLURAL else "he"


def agree_with(sentence: SentenceDraft, token: Token) -> None:
    """Inflects the finite verbs whose subject holds the token, for that subject's person."""
    for group in _governed(sentence, token):
        if group.said_of[0].tag != "EX":
            inflect_finite(sentence, group, person_of(group.said_of))


def inflect_finite(sentence: SentenceDraft, group: VerbGroup, person: str) -> None:
    """The finite verb of a group for a person; modals and pasts stay as they are."""
    verb, low = group.verb, group.verb.low
    if verb.tag == "MD" or low in ("'d", "'ll", "ai"):
        return
    if low == "'s":
        lemma, tag = "have" if group.second.low in word_class("after-has") else "be", "VBZ"
    elif low in BE | HAVE | DO:
        lemma, tag = "be" if low in BE else "have" if low in HAVE else "do", finite_tag(low)
    elif verb.tag in ("VBZ", "VBP"):
        lemma, tag = verb.lemma, verb.tag
    else:
        return
    form = agree(lemma, tag, person)
    clitic = word_map("clitics").get(form) if low.startswith("'") else None
    lone = bool(group.said_of) and group.said_of[0].tag in ("PRS", "PRO", "PN")
    if clitic == "'s" or (clitic and lone and not group.inverted):  # What are you: what am I
        form = clitic
    if form == "am" and sentence.tokens.at(sentence.tokens.where(verb) + 1).low == "n't":
        form = "are"  # Aren't I?
    if form != low:
        sentence.rewrite(verb, form)


def agree_relative(sentence: SentenceDraft, tokens: Sequence[Token]) -> None:
    """``the stars that belong``: a relative clause agrees with what it follows."""
    after = sentence.tokens.where(tokens[-1]) + 1
    for group in sentence.groups():
        if group.subject == (after, after + 1) and sentence.tokens[after].low in ("who", "which", "that"):
            inflect_finite(sentence, group, person_of(tokens))


def set_pronouns(sentence: SentenceDraft, persons: Mapping[int, str]) -> None:
    """Gives pronoun nodes other persons, all at once; raises ``no-alignment`` where none has a word."""
    tokens = sentence.tokens
    mentions = [(tokens[i], k, person) for k, person in persons.items() for i in sentence.indices(k)]
    cases = [
        (token, person, case_of(sentence, token, sentence.node(k).label)) for token, k, person in mentions
    ]
    changes = [(token, person, case) for token, person, case in cases if case is not None]
    for token, _, _ in changes:
        refuse_expletive(sentence, token)
        index = tokens.where(token)
        refuse_idiom(sentence, index)
        around = tokens[slice(*sentence.sentence_bounds(index))]
        courteous = any(other.low in word_class("courtesies") for other in around)
        greets = tokens.at(index - 2).low == "how" and tokens.at(index - 1).is_be
        known = {"courteous": courteous, "greets": greets, "supposed": around[0].low == "if"}
        sentence.refuse("pronoun", index, **known)
    for token, person, case in changes:
        _refuse_person(sentence, token, person, case)
    if not changes:
        raise RealisationError("no-alignment", "no pronoun of these nodes is written")
    _check_swap(sentence, {sentence.node(k).label for k in persons}, changes)
    for token, person, _ in changes:
        index, let = tokens.where(token), tokens.at(tokens.where(token) - 1)
        # Let's go said of you is Go: let goes, and the pronoun with it.
        if person == "you" and token.low in ("'s", "us") and let.low == "let":
            sentence.cut(index - 1, index + 1)
            if let.initial and index - 1 < len(tokens):
                tokens[index - 1].home = -1
    for token, person, case in changes:
        rewrite_pronoun(sentence, token, person, case)
    for token, person, case in changes:
        if person == "i" and case == Case.SUBJECT:
            _put_last(sentence, token)
    for token, _, case in changes:
        verb = tokens.at(tokens.where(token) - 1)
        if case != Case.SUBJECT:
            continue
        if verb.low not in DO or verb.tag != "AX":
            agree_with(sentence, token)
        # Does it have to be: do agrees with the pronoun behind it, whatever the verb looks like.
        elif (form := agree("do", verb.tense, person_of([token]))) != verb.low:
            sentence.rewrite(verb, form)


def _put_last(sentence: SentenceDraft, token: Token) -> None:
    """Write "my brother and I" for "I and my brother"."""
    tokens, index = sentence.tokens, sentence.tokens.where(token)
    end = noun_phrase_end(tokens, index + 2) if tokens.at(index + 1).low in ("and", "or") else 0
    if end > index + 2 and token.low == "i":
        either = tokens[index + 1]
        tokens[index:end] = [*tokens[index + 2 : end], either, token]


def _refuse_person(sentence: SentenceDraft, token: Token, person: str, case: Case) -> None:
    """Raise ``kind-mismatch`` where nobody says this of that person (rules ``asked-of`` and ``beside``).

    "May I borrow it?" asks for leave: "May you borrow it?" says nothing. "Would you like some tea?" offers:
    nobody asks "Would I like some tea?". What a question word asks for may be asked of anybody, though of the
    wrong speaker: "What would I like?".
    """
    index = sentence.tokens.where(token)
    for group in sentence.groups() if case == Case.SUBJECT else ():
        if group.asks and group.subject is not None and group.subject[0] <= index < group.subject[1]:
            wh = sentence.tokens.at(group.first - 1).tag == "WP"
            main = sentence.tokens[group.main]
            sentence.refuse("asked-of", index, person=person, modal=group.verb, main=main, question_word=wh)
    if case == Case.OBJECT and sentence.tokens.at(index - 1).tag in VERBS:
        # "We will meet you" never becomes "We will meet me".
        group = sentence.finite_before(index)
        subject = group.said_of[0] if group and group.said_of else EDGE
        form = pronoun(person, case)
        sentence.refuse("beside", index, person=person, form=form, subject=subject, object=True)


def _check_swap(
    sentence: SentenceDraft, persons: set[str], changes: Sequence[tuple[Token, str, Case]]
) -> None:
    """Raise ``no-alignment`` where *I* and *you* would stand for one person.

    Both change places, and one of them would stay as it is; or one alone is changed in a sentence that says
    the other as well: "I'll give you a call" never becomes "You'll give you a call".
    """
    tokens, changed = sentence.tokens, [token for token, _, _ in changes]
    new = {person for _, person, _ in changes} & {"i", "you"}
    near = [
        tokens[slice(*sentence.sentence_bounds(tokens.where(token)))]
        for token, person, _ in changes
        if person in new
    ]
    both = {"i", "you"} <= persons
    for token in tokens:
        said = {person for person, _ in pronoun_cases(token.text)}
        stays = said & persons if both else said & new
        if token not in changed and stays and (both or any(token in sentence for sentence in near)):
            raise RealisationError("no-alignment", f"{token.text} would stay beside its new namesake")


def refuse_expletive(sentence: SentenceDraft, token: Token) -> None:
    """Raises ``kind-mismatch`` for *it's hard work being a nurse*, *it is a while since*, *take it easy*."""
    tokens, index = sentence.tokens, sentence.tokens.where(token)
    _, end = sentence.sentence_bounds(index)
    after = tokens[index + 1 : min(end, index + 1 + _EXPLETIVE_REACH)] or [EDGE]
    marks = (other.tag == "TO" or other.low in word_class("after-expletive") for other in after[1:])
    owns = sentence.is_noun(tokens.over(index + 1, ("JJ", "RB", "CD")))
    # "How long will it take to get there?", "It costs a lot to live here."
    verb = next((other for other in after if other.tag in VERBS and other.tag not in ("AX", "MD")), EDGE)
    costs = verb.lemma in word_class("costing") and any(other.tag == "TO" for other in after)
    # "It's five o'clock", "It's 2135-3678."
    counts = after[0].is_be and len(after) > 1 and after[1].tag == "CD"
    anticipates = (after[0].is_be and any(marks)) or costs or counts
    sentence.refuse("expletive", index, owns=owns, anticipates=anticipates)


def rewrite_pronoun(sentence: SentenceDraft, token: Token, person: str, case: Case) -> None:
    """Writes the form of a person in a case."""
    form = pronoun(person, case)
    if token.low == "'s":
        token.home = -1
    if form == "yourself" and token.low in ("ourselves", "themselves"):
        form = "yourselves"
    sentence.rewrite(token, form, ("PRS", "PRO", "PS", "PN", "PRO")[case])


def case_of(sentence: SentenceDraft, token: Token, person: str) -> Case | None:
    """The case a pronoun stands in; forms that look alike are told apart by what stands around them."""
    if token.low == "'s":
        return Case.OBJECT
    known = [case for other, case in pronoun_cases(token.text) if other == person]
    if len(known) < 2:
        return known[0] if known else None
    if Case.POSSESSIVE in known:
        return Case.POSSESSIVE if token.tag == "PS" else Case.OBJECT if Case.OBJECT in known else Case.OWN
    if is_tag_pronoun(sentence, token):
        return Case.SUBJECT
    tokens, index = sentence.tokens, sentence.tokens.where(token)
    before, after = tokens.at(index - 1), tokens.at(index + 1)
    if _is_object(sentence, index, person):
        return Case.OBJECT
    if index and (after.tag in ("MD", "VBZ") or after.full in BE - {"be"}):
        return Case.SUBJECT  # I know you will
    if (before.tag in VERBS and before.lemma in word_class("causatives")) or before.tag in ("VB", "VBG"):
        return Case.OBJECT  # it makes you concerned
    subject = is_subject(sentence, token) or _opens_clause(tokens, index) or _is_inverted(tokens, index)
    return Case.SUBJECT if subject else Case.OBJECT


def _is_object(sentence: SentenceDraft, index: int, person: str) -> bool:
    """Return whether the verb behind a pronoun belongs to a noun before it.

    "Everyone but you left", "the man who saw you is here", "the men who saw you are here"; but "those who
    know you are here": who knows or says something may take a clause.
    """
    tokens, after = sentence.tokens, sentence.tokens.at(index + 1)
    if tokens.at(index - 1).low in word_class("exceptions") and tokens.at(index - 2).tag == "PN":
        return True
    if person == "you" and (after.tag == "VBZ" or after.low in ("is", "was", "has", "does")):
        return True  # "You is" and "you was" are no English
    group = next((group for group in sentence.groups() if group.main == index - 1), None)
    relative = group is not None and bool(group.said_of) and group.said_of[0].low in ("who", "which", "that")
    follows = after.tag in VERBS and after.tag != "VBG"
    return relative and follows and tokens[index - 1].lemma not in word_class("supposing") | {"know", "hear"}


def _is_inverted(tokens: Tokens, index: int) -> bool:
    """``How much would it be?``, ``…, don't you?``: an auxiliary before it, its verb or nothing behind it."""
    after, start = tokens.at(index + 1), tokens.back(index, ("NEG",)) - 1
    verb = tokens.at(start)
    if index + 1 == len(tokens) or (verb.tag != "MD" and verb.full not in BE | DO | HAVE):
        return False
    fitting = {
        "VBN": verb.full in HAVE | BE,
        "VBD": verb.full in HAVE,
        "AX": verb.full in HAVE,
        "VBG": verb.full in BE,
        "JJ": verb.full in BE,
        "VB": verb.tag == "MD" or verb.full in DO,
        "EN": tokens.at(start - 1).text == ",",
    }
    return fitting.get(after.tag, False)


def _opens_clause(tokens: Tokens, index: int) -> bool:
    """``if you please``, ``Has it any?``: between a sign that a clause begins and its verb."""
    before, opening, after = tokens.at(index - 1), tokens.at(index - 2), tokens.at(index + 1)
    if not index or index + 1 == len(tokens):
        return not index
    if before.low in ("has", "have"):
        counted = index == 1 and after.tag in ("DT", "NN", "NNS", "CD")
        if counted or (index > 1 and opening.tag in ("EN", "QT", "WP", "PU")):
            return True
    opens = before.tag in ("SC", "EN", "QT", "WP") or before.low in ("if", "when", "while", "that", "because")
    return opens and after.tag not in ("EN", "PU", "QT", "IN")
