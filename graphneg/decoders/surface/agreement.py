"""Keep subjects and verbs in agreement, and change the person of pronouns.

If an edit changes a subject, the finite verbs of this subject must be inflected again: "I am here" -> "You
are here". If an edit changes the person of a pronoun node, all words for this node change, each in its own
case: "I love my dog" -> "You love your dog". Forms such as *you* and *it* do not show their case, so it is
inferred from the words around them.

Input: a token that was rewritten, or pronoun nodes with their new persons (`set_pronouns`). The sentence is
edited in place. A person is written as a subject pronoun: ``he`` for the third person singular, for example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import dropwhile, pairwise

from graphneg.decoders.surface.clauses import VerbGroup, noun_phrase_end
from graphneg.decoders.surface.draft import EDGE, Token, Tokens
from graphneg.decoders.surface.forms import BE, DO, HAVE, Case, agree, finite_tag, pronoun, pronoun_cases
from graphneg.decoders.surface.idioms import refuse_idiom
from graphneg.decoders.surface.negation_scope import is_tag_pronoun
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.gazetteer import MONTHS, TEMPORAL_UNITS, WEEKDAYS
from graphneg.english.lexicon import english
from graphneg.english.noun_kinds import kind_of
from graphneg.english.numbers import NUMBERS
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import lemma_of, word_class, word_map

# Words that are plural although they do not end in *-s*.
_PLURAL = frozenset({"these", "those", "many", "few", "several", "both", "others", "people", "ones"})
# Tags of words that can be the head of a subject.
_HEADS = NOUNS | {"PN", "PRS", "PRO", "CD", "EX"}
# Tags of words that may occur between a subject and *be*: "it *might not* be".
_AUXILIARIES = frozenset({"MD", "AX", "NEG", "RB"})
# Number of tokens after an *it* that are searched for a clause to which it refers: "It is hard *to say*".
_EXPLETIVE_REACH = 7

PEOPLE = word_class("people")
"""Nouns for persons. They are replaced by *someone* or *he*, not by *something* or *it*."""


def is_subject(sentence: SentenceDraft, token: Token) -> bool:
    """Return whether a token is the subject of a finite verb, or a part of it.

    Args:
        sentence: The sentence.
        token: A pronoun or noun.

    Returns:
        True if a finite verb agrees with the token.
    """
    return bool(_governed(sentence, token))


def _governed(sentence: SentenceDraft, token: Token) -> list[VerbGroup]:
    """Return the finite verb groups whose subject has the token as its head or as a conjunct."""
    index, governed = sentence.tokens.index_of(token), list[VerbGroup]()
    for group in sentence.groups():
        if group.kind != "finite" or not group.subject or not group.subject[0] <= index < group.subject[1]:
            continue
        subject = group.subject_tokens
        # The verb agrees with each conjunct of "Tom and Ann", but only with the head of "the door of the
        # car".
        joined = len(subject) == 1 or any(other.lower in ("and", "or") for other in subject)
        if joined or index == group.subject[0] + head_of(subject):
            governed.append(group)
    return governed


def head_of(tokens: Sequence[Token]) -> int:
    """Return the index of the head of a noun phrase.

    The head is the last noun before a preposition, a relative clause or a comma: *door* in "the door of the
    car".

    Args:
        tokens: The tokens of the noun phrase; at least one.

    Returns:
        The index within ``tokens``.
    """
    if tokens[0].tag in ("PN", "PRS", "PRO"):
        return 0
    ends = (i for i, token in enumerate(tokens) if token.tag in ("IN", "TO", "WP", "SC") or token.text == ",")
    stop = next((index for index in ends if index), len(tokens))
    heads = [index for index in range(stop) if tokens[index].tag in _HEADS]
    return heads[-1] if heads else stop - 1


def person_of(tokens: Sequence[Token]) -> str:
    """Return the person and number of a noun phrase, expressed by a pronoun.

    Args:
        tokens: The tokens of the noun phrase.

    Returns:
        A subject pronoun in lower case; ``he`` for any singular noun, ``they`` for any plural.

    Example:
        "Tom and I" gives ``we``, "the cars" gives ``they``, "the car" gives ``he``.
    """
    # Coordinated noun phrases are plural: "Tom and I" is *we*, "Tom and Ann" is *they*.
    if any(token.lower == "and" for token in tokens):
        return "we" if any(token.lower in ("i", "me") for token in tokens) else "they"
    if not tokens:
        return "he"
    head = tokens[head_of(tokens)]
    known = pronoun_cases(head.text)
    if known and head.tag in ("PRS", "PRO", "PN"):
        return known[0][0]
    return "they" if head.tag == "NNS" or head.lower in _PLURAL else "he"


def agree_with(sentence: SentenceDraft, token: Token) -> None:
    """Inflect the finite verbs whose subject contains a token.

    Args:
        sentence: The sentence, edited in place.
        token: A token of the subject.
    """
    for group in _governed(sentence, token):
        # In "There is a man", the verb does not agree with *there*, so it is not inflected here.
        if group.subject_tokens[0].tag != "EX":
            inflect_finite(sentence, group, person_of(group.subject_tokens))


def inflect_finite(sentence: SentenceDraft, group: VerbGroup, person: str) -> None:
    """Inflect the finite verb of a group for a person.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group.
        person: The person of the subject as a subject pronoun in lower case.
    """
    verb, low = group.verb, group.verb.lower
    # Modals do not agree with their subject ("I can", "He can"). Neither do past forms except *was* and
    # *were*, which the last branch below leaves out.
    if verb.tag == "MD" or low in ("'d", "'ll", "ai"):
        return
    if low == "'s":
        # *'s* is *has* in "He's seen it" and *is* in "He's here".
        lemma, tag = "have" if group.perfect else "be", "VBZ"
    elif low in BE | HAVE | DO:
        lemma, tag = "be" if low in BE else "have" if low in HAVE else "do", finite_tag(low)
    elif verb.tag in ("VBZ", "VBP"):
        lemma, tag = verb.lemma, verb.tag
    else:
        return
    form = agree(lemma, tag, person)
    clitic = word_map("clitics").get(form) if low.startswith("'") else None
    lone = bool(group.subject_tokens) and group.subject_tokens[0].tag in ("PRS", "PRO", "PN")
    # The clitics *'m* and *'re* are used only after a pronoun: "What're you?" -> "What am I?", not "What'm
    # I?".
    if clitic == "'s" or (clitic and lone and not group.inverted):
        form = clitic
    negation = sentence.tokens.get(sentence.tokens.index_of(verb) + 1)
    # "amn't" does not exist: "Aren't you late?" -> "Aren't I late?", "You aren't late" -> "I am not late".
    if form == "am" and negation.lower == "n't":
        if group.inverted:
            form = "are"
        else:
            sentence.rewrite(negation, "not")
    if form != low:
        sentence.rewrite(verb, form)


def agree_relative(sentence: SentenceDraft, tokens: Sequence[Token]) -> None:
    """Inflect the verb of a relative clause for the noun phrase that the clause modifies.

    Args:
        sentence: The sentence, edited in place.
        tokens: The tokens of the noun phrase.

    Example:
        "the star that belongs" becomes "the stars that belong" after *star* was replaced by *stars*.
    """
    after = sentence.tokens.index_of(tokens[-1]) + 1
    for group in sentence.groups():
        if group.subject == (after, after + 1) and sentence.tokens[after].lower in ("who", "which", "that"):
            inflect_finite(sentence, group, person_of(tokens))


def set_pronouns(sentence: SentenceDraft, persons: Mapping[int, str]) -> None:
    """Change the persons of pronoun nodes, all together.

    Expletives, idioms, greetings and polite formulas are refused, too, with other codes.

    Args:
        sentence: The sentence, edited in place.
        persons: The new person of each node, by node number.

    Raises:
        RealisationError: No word in the text expresses one of these nodes (``no-alignment``).

    Example:
        ``{k: "you"}`` for the node *i* changes "I love my dog." into "You love your dog."
    """
    tokens = sentence.tokens
    mentions = [(tokens[i], k, person) for k, person in persons.items() for i in sentence.indices(k)]
    cases = [
        (token, person, case_of(sentence, token, sentence.node(k).label)) for token, k, person in mentions
    ]
    changes = [(token, person, case) for token, person, case in cases if case is not None]
    for token, _, _ in changes:
        refuse_expletive(sentence, token)
        index = tokens.index_of(token)
        refuse_idiom(sentence, index)
        # Collect reasons to refuse the change. "How are you?" and "Thank you" are formulas. In "If you go
        # there, it rains" *you* may mean anybody.
        around = tokens[slice(*sentence.sentence_bounds(index))]
        courteous = any(other.lower in word_class("courtesies") for other in around)
        greets = tokens.get(index - 2).lower == "how" and tokens.get(index - 1).is_be
        # "I'm afraid it's late" is a polite formula, but "I'm afraid of dogs" is a statement.
        regrets = (
            token.lower == "i" and tokens.get(index + 1).is_be and tokens.get(index + 2).lower == "afraid"
        )
        regrets = regrets and tokens.get(index + 3).lower not in ("of", "to")
        known = {
            "courteous": courteous or regrets,
            "greets": greets,
            "supposed": around[0].lower == "if",
        }
        sentence.apply_rules("pronoun", index, **known)
    for token, person, case in changes:
        _refuse_person(sentence, token, person, case)
    if not changes:
        raise RealisationError("no-alignment", "no pronoun of these nodes is written")
    _check_swap(sentence, {sentence.node(k).label for k in persons}, changes)
    for token, person, _ in changes:
        index, let = tokens.index_of(token), tokens.get(tokens.index_of(token) - 1)
        # If *us* becomes *you*, "Let's go" becomes "Go".
        if person == "you" and token.lower in ("'s", "us") and let.lower == "let":
            sentence.cut(index - 1, index + 1)
            if let.sentence_initial and index - 1 < len(tokens):
                tokens[index - 1].original_index = -1
    for token, person, case in changes:
        rewrite_pronoun(sentence, token, person, case)
    for token, person, case in changes:
        # In a coordinated subject, *I* comes last: "You and my brother" -> "My brother and I".
        if person == "i" and case == Case.SUBJECT:
            _put_last(sentence, token)
    for token, _, case in changes:
        verb = tokens.get(tokens.index_of(token) - 1)
        if case != Case.SUBJECT:
            continue
        # In a question only the *do* before the pronoun agrees with it: "Does it have to be here?" -> "Do
        # they have to be here?"
        if verb.lower not in DO or verb.tag != "AX":
            agree_with(sentence, token)
        elif (form := agree("do", verb.tense, person_of([token]))) != verb.lower:
            sentence.rewrite(verb, form)


def _put_last(sentence: SentenceDraft, token: Token) -> None:
    """Move *I* to the end of a coordination: "I and my brother" -> "my brother and I"."""
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    end = noun_phrase_end(tokens, index + 2) if tokens.get(index + 1).lower in ("and", "or") else 0
    if end > index + 2 and token.lower == "i":
        either = tokens[index + 1]
        tokens[index:end] = [*tokens[index + 2 : end], either, token]


def _refuse_person(sentence: SentenceDraft, token: Token, person: str, case: Case) -> None:
    """Refuse a question or an object that makes no sense in the new person (rules ``asked-of``, ``beside``).

    "May I borrow it?" asks for permission; "May you borrow it?" asks for nothing. "Would you like some tea?"
    is an offer; "Would I like some tea?" is not. A question with a question word can be asked about
    anybody: "What would I like?".
    """
    index = sentence.tokens.index_of(token)
    for group in sentence.groups() if case == Case.SUBJECT else ():
        if group.asks and group.subject is not None and group.subject[0] <= index < group.subject[1]:
            wh = sentence.tokens.get(group.first - 1).tag == "WP"
            main = sentence.tokens[group.main]
            sentence.apply_rules(
                "asked-of", index, person=person, modal=group.verb, main=main, question_word=wh
            )
    if case == Case.OBJECT and sentence.tokens.get(index - 1).tag in VERBS:
        # Refuse an object that is part of the subject: "We will meet you" cannot become "We will meet me".
        group = sentence.finite_before(index)
        subject = group.subject_tokens[0] if group and group.subject_tokens else EDGE
        form = pronoun(person, case)
        sentence.apply_rules("beside", index, person=person, form=form, subject=subject, object=True)


def _check_swap(
    sentence: SentenceDraft, persons: set[str], changes: Sequence[tuple[Token, str, Case]]
) -> None:
    """Refuse a change after which *I* and *you* would refer to the same person.

    If *I* and *you* are swapped, all their words must change. If only one of them changes, its sentence must
    not contain the other: "I'll give you a call" must not become "You'll give you a call".

    Raises:
        RealisationError: A word for one of the persons would not change (``no-alignment``).
    """
    tokens, changed = sentence.tokens, [token for token, _, _ in changes]
    new = {person for _, person, _ in changes} & {"i", "you"}
    near = [
        tokens[slice(*sentence.sentence_bounds(tokens.index_of(token)))]
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
    """Refuse to change an *it* that refers to nothing or to a following clause (``kind-mismatch``).

    Examples: "It's hard work being a nurse", "It is a while since we met", "Take it easy".

    Args:
        sentence: The sentence.
        token: The token of the pronoun.
    """
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    _, end = sentence.sentence_bounds(index)
    after = tokens[index + 1 : min(end, index + 1 + _EXPLETIVE_REACH)] or [EDGE]
    # "It's nice meeting you" and "It's no use crying": a gerund after an adjective or noun.
    doing = any(two.tag == "VBG" and one.tag in ("JJ", "NN") for one, two in pairwise(after))
    marks = doing or any(
        other.tag == "TO" or other.lower in word_class("after-expletive") for other in after[1:]
    )
    # "its long tail": the word is a possessive, not a misspelt "it's".
    owns = sentence.is_noun(tokens.run_end(index + 1, ("JJ", "RB", "CD")))
    # "How long will it take to get there?" and "It costs a lot to live here": an infinitive or a duration
    # follows a verb of cost or time.
    verb = next((other for other in after if other.tag in VERBS and other.tag not in ("AX", "MD")), EDGE)
    lasts = verb.lemma == "take" and any(lemma_of(other.lower, "NNS") in TEMPORAL_UNITS for other in after)
    costs = (verb.lemma in word_class("costing") and any(other.tag == "TO" for other in after)) or lasts
    # A form of *be* must be next to *it*: after it, perhaps after auxiliaries ("It must be hard to"), or
    # before it ("Isn't it hard to").
    rest = list(dropwhile(lambda other: other.tag in _AUXILIARIES and not other.is_be, after))
    linked = tokens.get(tokens.run_start(index, ("NEG",)) - 1).is_be or any(other.is_be for other in rest[:1])
    said = list(dropwhile(lambda other: other.is_be or other.tag in ("RB", "NEG"), rest))[:1]
    # Words of time and weather follow in "It's quite sunny" and "It's Monday", numbers in "It's five o'clock"
    # and "It's 2135-3678", and verbs of change in "It's getting late".
    told = any(other.lower in word_class("said-of-no-thing") | WEEKDAYS | set(MONTHS) for other in said)
    # In "It's ten years old", *it* refers to a thing in spite of the number.
    aged = any(other.lower == "old" for other in after)
    counts = linked and not aged and any(other.tag == "CD" or other.lower in NUMBERS for other in said)
    becomes = verb.lemma in word_class("becoming") and any(
        other.lower in word_class("said-of-no-thing") for other in after
    )
    anticipates = (linked and (marks or told)) or costs or counts or becomes
    sentence.apply_rules("expletive", index, owns=owns, anticipates=anticipates)


def third_person(tokens: Sequence[Token], person: str) -> str:
    """Return the third-person pronoun for a noun phrase that replaces another one or a pronoun.

    Args:
        tokens: The tokens of the new noun phrase.
        person: The pronoun for the old noun phrase.

    Returns:
        A subject pronoun. If the noun does not tell whether *he* or *she* is right, ``person`` is kept if it
        fits.

    Example:
        "the girl" gives ``she``, "the car" gives ``it``, "my friend" instead of *she* gives ``she``.
    """
    if person_of(tokens) in ("they", "we"):
        return person_of(tokens)
    noun = tokens[head_of(tokens)].lower
    classes = english().classes_of(noun)
    if not classes.isdisjoint(("man", "woman")):
        return "he" if "man" in classes else "she"
    if noun in PEOPLE or kind_of(noun) == "person":
        return person if person in ("he", "she") else "he"
    return person if person in ("he", "she", "it") else "it"


def follow(sentence: SentenceDraft, tokens: Sequence[Token], old: str, person: str) -> None:
    """Change the pronouns that refer to a noun or pronoun after it was replaced.

    Args:
        sentence: The sentence, edited in place.
        tokens: The tokens of these pronouns.
        old: Their person before the replacement, as a subject pronoun.
        person: Their new person, as a subject pronoun.

    Example:
        "He loves his dog" with *he* replaced by *the girl* is "The girl loves her dog".
    """
    for token in tokens if old != person else ():
        case = case_of(sentence, token, old) if token in sentence.tokens else None
        if case is not None:
            rewrite_pronoun(sentence, token, person, case)
        if case == Case.SUBJECT:
            agree_with(sentence, token)


def rewrite_pronoun(sentence: SentenceDraft, token: Token, person: str, case: Case) -> None:
    """Rewrite a pronoun in the given person and case.

    Args:
        sentence: The sentence, edited in place.
        token: The token of the pronoun.
        person: The new person as a subject pronoun in lower case.
        case: The case of the new form.
    """
    form = pronoun(person, case)
    # "let's" has no space before its *'s*, but "let me" needs one. Treat the token as new, so that the
    # spacing is computed again.
    if token.lower == "'s":
        token.original_index = -1
    # The plural stays plural: "We see ourselves" -> "You see yourselves".
    if form == "yourself" and token.lower in ("ourselves", "themselves"):
        form = "yourselves"
    sentence.rewrite(token, form, ("PRS", "PRO", "PS", "PN", "PRO")[case])


def case_of(sentence: SentenceDraft, token: Token, person: str) -> Case | None:
    """Return the case of a pronoun in its sentence.

    Args:
        sentence: The sentence.
        token: The token of the pronoun.
        person: The person of the pronoun's node as a subject pronoun.

    Returns:
        The case, or None if the token is not a form of this pronoun.
    """
    # The *'s* of "Let's" is *us*.
    if token.lower == "'s":
        return Case.OBJECT
    known = [case for other, case in pronoun_cases(token.text) if other == person]
    if len(known) < 2:
        return known[0] if known else None
    # *her* is an object or a possessive. *his* is a possessive before a noun ("his car") or stands alone
    # ("the car is his"). The tag tells which.
    if Case.POSSESSIVE in known:
        return Case.POSSESSIVE if token.tag == "PS" else Case.OBJECT if Case.OBJECT in known else Case.OWN
    if is_tag_pronoun(sentence, token):
        return Case.SUBJECT
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    before, after = tokens.get(index - 1), tokens.get(index + 1)
    # *you* and *it* can be subjects or objects. The words around them decide.
    if _is_object(sentence, index, person):
        return Case.OBJECT
    # In "I know you will", the pronoun before the modal is a subject.
    if index and (after.tag in ("MD", "VBZ") or after.expanded in BE - {"be"}):
        return Case.SUBJECT
    # In "It makes you concerned" and "to see you", the pronoun is an object.
    if (before.tag in VERBS and before.lemma in word_class("causatives")) or before.tag in ("VB", "VBG"):
        return Case.OBJECT
    subject = is_subject(sentence, token) or _opens_clause(tokens, index) or _is_inverted(tokens, index)
    return Case.SUBJECT if subject else Case.OBJECT


def _is_object(sentence: SentenceDraft, index: int, person: str) -> bool:
    """Return whether a pronoun is an object although a verb follows it.

    In "Everyone but you left" and "The man who saw you is here", the verb after *you* belongs to a noun
    before it. In "Those who know you are here", *you* may be the subject of *are*, because *know* can take a
    clause, so the result is False.
    """
    tokens, after = sentence.tokens, sentence.tokens.get(index + 1)
    if tokens.get(index - 1).lower in word_class("exceptions") and tokens.get(index - 2).tag == "PN":
        return True
    # *you* is never the subject of third-person forms: "the man who saw you is here".
    if person == "you" and (after.tag == "VBZ" or after.lower in ("is", "was", "has", "does")):
        return True
    group = next((group for group in sentence.groups() if group.main == index - 1), None)
    relative = (
        group is not None
        and bool(group.subject_tokens)
        and group.subject_tokens[0].lower in ("who", "which", "that")
    )
    follows = after.tag in VERBS and after.tag != "VBG"
    return relative and follows and tokens[index - 1].lemma not in word_class("supposing") | {"know", "hear"}


def _is_inverted(tokens: Tokens, index: int) -> bool:
    """Return whether a pronoun follows its auxiliary, as in "Would it be fun?" or "..., don't you?"."""
    after, start = tokens.get(index + 1), tokens.run_start(index, ("NEG",)) - 1
    verb = tokens.get(start)
    if index + 1 == len(tokens) or (verb.tag != "MD" and verb.expanded not in BE | DO | HAVE):
        return False
    # For each tag of the word after the pronoun, whether the auxiliary before the pronoun fits: "has it
    # been", "would it be", "is it good".
    fitting = {
        "VBN": verb.expanded in HAVE | BE,
        "VBD": verb.expanded in HAVE,
        "AX": verb.expanded in HAVE,
        "VBG": verb.expanded in BE,
        "JJ": verb.expanded in BE,
        "VB": verb.tag == "MD" or verb.expanded in DO,
        "EN": tokens.get(start - 1).text == ",",
    }
    return fitting.get(after.tag, False)


def _opens_clause(tokens: Tokens, index: int) -> bool:
    """Return whether a pronoun is between the start of a clause and its verb, as in "if you please"."""
    before, opening, after = tokens.get(index - 1), tokens.get(index - 2), tokens.get(index + 1)
    if not index or index + 1 == len(tokens):
        return not index
    if before.lower in ("has", "have"):
        # "Has it any?" and "Has it a name?" are questions about a possession.
        counted = index == 1 and after.tag in ("DT", "NN", "NNS", "CD")
        if counted or (index > 1 and opening.tag in ("EN", "QT", "WP", "PU")):
            return True
    opens = before.tag in ("SC", "EN", "QT", "WP") or before.lower in (
        "if",
        "when",
        "while",
        "that",
        "because",
    )
    return opens and after.tag not in ("EN", "PU", "QT", "IN")
