"""Find subjects, and make verbs and pronouns agree with them.

If an edit changes a subject, the finite verbs of this subject must be inflected again: "I am here" -> "You
are here". If an edit replaces a noun, the pronouns for this noun change, too: "He loves his dog" -> "The
girl loves her dog". Forms such as *you* and *it* do not show their case, so `case_of` infers it from
the words around them.

In this module, a grammatical person is represented by a subject pronoun: ``i``, ``we`` or, for any singular
noun, ``he``.

Example: if *You* has replaced *I* in "I am here.", `agree_with` changes *am* to *are* in "You am here."
"""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.decoders.surface.analysis.sentence import SentenceDraft, is_tag_pronoun
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import Token, Tokens
from graphneg.decoders.surface.inflection import BE, DO, HAVE, Case, agree, finite_tag, pronoun, pronoun_cases
from graphneg.english.lexicon import english
from graphneg.english.noun_kinds import kind_of
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_class, word_map

# Part-of-speech tags of words that can be the head of a subject.
_HEADS = NOUNS | {"PN", "PRS", "PRO", "CD", "EX"}
PEOPLE = word_class("people")
"""Nouns for persons. The pronoun for such a noun is *someone* or *he*, not *something* or *it*."""


def is_subject(sentence: SentenceDraft, token: Token) -> bool:
    """Return whether a token is the subject of a finite verb, or the head or a conjunct of the subject.

    Args:
        sentence: The sentence being edited.
        token: The token of a pronoun or noun.

    Returns:
        True if a finite verb agrees with the token.
    """
    return bool(_governed(sentence, token))


def _governed(sentence: SentenceDraft, token: Token) -> list[VerbGroup]:
    """Return the finite verb groups that agree with a noun: *is* with *door* in "the door of the car is"."""
    index, governed = sentence.tokens.index_of(token), list[VerbGroup]()
    for group in sentence.parse_verbs():
        if group.kind != "finite" or not group.subject or not group.subject[0] <= index < group.subject[1]:
            continue
        subject = group.subject_tokens
        # If the subject is "Tom and Ann", the verb agrees with both nouns. If it is "the door of the car",
        # the verb agrees only with the head *door*.
        joined = len(subject) == 1 or any(other.lower in word_class("conjunctions") for other in subject)
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
        The index of the head within ``tokens``.
    """
    if tokens[0].tag in ("PN", "PRS", "PRO"):
        return 0
    ends = (i for i, token in enumerate(tokens) if token.tag in ("IN", "TO", "WP", "SC") or token.text == ",")
    stop = next((index for index in ends if index), len(tokens))
    heads = [index for index in range(stop) if tokens[index].tag in _HEADS]
    return heads[-1] if heads else stop - 1


def person_of(tokens: Sequence[Token]) -> str:
    """Return the person and number of a noun phrase, represented by a subject pronoun.

    Args:
        tokens: The tokens of the noun phrase.

    Returns:
        A subject pronoun in lower case; ``he`` for any singular noun, ``they`` for any plural.

    Example:
        "Tom and I" gives ``we``, "the cars" gives ``they``, "the car" gives ``he``.
    """
    # Coordinated noun phrases are plural: the pronoun for "Tom and I" is *we*, that for "Tom and Ann" *they*.
    if any(token.lower == "and" for token in tokens):
        return "we" if any(token.lower in ("i", "me") for token in tokens) else "they"
    if not tokens:
        return "he"
    head = tokens[head_of(tokens)]
    known = pronoun_cases(head.text)
    if known and head.tag in ("PRS", "PRO", "PN"):
        return known[0][0]
    return "they" if head.tag == "NNS" or head.lower in word_class("plural-words") else "he"


def agree_with(sentence: SentenceDraft, token: Token) -> None:
    """Make finite verbs agree with their subject after a token of the subject was changed.

    Args:
        sentence: The sentence, edited in place.
        token: The token of the head or of a conjunct of the subject.
    """
    for group in _governed(sentence, token):
        # In "There is a man", the verb does not agree with *there*, so it is not inflected here.
        if group.subject_tokens[0].tag != "EX":
            inflect_finite(sentence, group, person_of(group.subject_tokens))


def inflect_finite(sentence: SentenceDraft, group: VerbGroup, person: str) -> None:
    """Make the finite verb of a verb group agree with a person.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause.
        person: The person with which the verb agrees, as a subject pronoun in lower case.
    """
    verb, low = group.verb, group.verb.lower
    # Modals have one form for all subjects ("I can", "He can"). So have past forms other than *was* and
    # *were*; the last branch below leaves these past forms unchanged.
    if verb.tag == "MD" or low in word_class("uninflected"):
        return
    if low == "'s":
        # Find the full form: *'s* is *has* in "He's seen it" and *is* in "He's here".
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
    # Use the clitics *'m* and *'re* only directly after their subject, a pronoun: "You're late" becomes "I'm
    # late". In "What're you?", the subject comes later, so the result is "What am I?", not "What'm I?".
    if clitic == "'s" or (clitic and lone and not group.inverted):
        form = clitic
    negation = sentence.tokens.get(sentence.tokens.index_of(verb) + 1)
    # "amn't" does not exist: "Aren't you late?" -> "Aren't I late?", "You aren't late" -> "I am not late".
    if form == "am" and negation.lower == "n't":
        if group.inverted:
            form = "are"
        else:
            sentence.rewrite(negation, "not")
    # Tag the verb as a third-person form (VBZ) or as another present form (VBP). If the clause becomes a
    # question later, this tag determines whether *does* or *do* is added: "Why does she like it?"
    tag = ("VBZ" if form != lemma else "VBP") if verb.tag in ("VBZ", "VBP") else None
    if form != low:
        sentence.rewrite(verb, form, tag)


def agree_relative(sentence: SentenceDraft, tokens: Sequence[Token]) -> None:
    """Make the verb of a relative clause agree with the noun phrase that the clause modifies.

    Args:
        sentence: The sentence, edited in place.
        tokens: The tokens of the noun phrase before the relative clause.

    Example:
        "the star that belongs" becomes "the stars that belong" after *star* was replaced by *stars*.
    """
    after = sentence.tokens.index_of(tokens[-1]) + 1
    for group in sentence.parse_verbs():
        if group.subject == (after, after + 1) and sentence.tokens[after].lower in word_class(
            "relative-pronouns"
        ):
            inflect_finite(sentence, group, person_of(tokens))


def third_person(tokens: Sequence[Token], person: str) -> str:
    """Return the third-person pronoun for a noun phrase that replaces another noun phrase or a pronoun.

    Args:
        tokens: The tokens of the new noun phrase.
        person: The pronoun for the replaced noun phrase.

    Returns:
        A subject pronoun in lower case. *Friend*, for example, may be *he* or *she*, so it keeps the old
        pronoun.

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


def rewrite_pronoun(sentence: SentenceDraft, token: Token, person: str, case: Case) -> None:
    """Replace a pronoun by the pronoun of another person in a given case.

    Args:
        sentence: The sentence, edited in place.
        token: The token of the pronoun.
        person: The new person as a subject pronoun in lower case.
        case: The case of the new form.
    """
    form = pronoun(person, case)
    # In "let's", no space precedes *'s*, but "let me" needs a space. Treat the token as a new token, so that
    # a space is added.
    if token.lower == "'s":
        token.original_index = -1
    # A plural reflexive pronoun stays plural: "We see ourselves" -> "You see yourselves".
    if form == "yourself" and token.lower in ("ourselves", "themselves"):
        form = "yourselves"
    sentence.rewrite(token, form, ("PRS", "PRO", "PS", "PN", "PRO")[case])


def follow(sentence: SentenceDraft, tokens: Sequence[Token], old: str, person: str) -> None:
    """Change the pronouns that refer to a noun or pronoun after it was replaced.

    Args:
        sentence: The sentence, edited in place.
        tokens: The tokens that may be pronouns for the replaced noun. Other tokens are ignored.
        old: The person of the pronouns before the replacement, as a subject pronoun.
        person: The new person of the pronouns, as a subject pronoun.

    Example:
        If *he* is replaced by *the girl* in "He loves his dog", *his* becomes *her*.
    """
    for token in tokens if old != person else ():
        case = case_of(sentence, token, old) if token in sentence.tokens else None
        if case is not None:
            rewrite_pronoun(sentence, token, person, case)
        if case == Case.SUBJECT:
            agree_with(sentence, token)


def case_of(sentence: SentenceDraft, token: Token, person: str) -> Case | None:
    """Return the case of a pronoun in its sentence.

    Args:
        sentence: The sentence being edited.
        token: The token of the pronoun.
        person: The person of the pronoun as a subject pronoun in lower case.

    Returns:
        The case, or None if the token is not a form of the pronoun ``person``.
    """
    # In "Let's", the clitic *'s* is short for *us*, an object.
    if token.lower == "'s":
        return Case.OBJECT
    known = [case for other, case in pronoun_cases(token.text) if other == person]
    if len(known) < 2:
        return known[0] if known else None
    # *her* is an object or a possessive. *his* precedes a noun ("his car"), or no noun follows it ("the car
    # is his"). The tag of the token decides.
    if Case.POSSESSIVE in known:
        # Taggers take *her* in "I met her last week" for a possessive, because a noun follows.
        following, noun = (sentence.tokens.get(sentence.tokens.index_of(token) + k).lower for k in (1, 2))
        dated = following in word_class("time-determiners") and noun in word_class("determined-times")
        if dated and Case.OBJECT in known:
            return Case.OBJECT
        return Case.POSSESSIVE if token.tag == "PS" else Case.OBJECT if Case.OBJECT in known else Case.OWN
    if is_tag_pronoun(sentence, token):
        return Case.SUBJECT
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    before, after = tokens.get(index - 1), tokens.get(index + 1)
    # Infer the case of *you* and *it* from the words around the pronoun: the form is the same in both cases.
    if _is_object(sentence, index, person):
        return Case.OBJECT
    # A pronoun before a modal is a subject: *you* in "I know you will".
    if index and (after.tag in ("MD", "VBZ") or after.expanded in BE - {"be"}):
        return Case.SUBJECT
    # A pronoun after *make* or after a plain form is an object: "It makes *you* concerned", "to see *you*".
    if (before.tag in VERBS and before.lemma in word_class("causatives")) or before.tag in ("VB", "VBG"):
        return Case.OBJECT
    subject = is_subject(sentence, token) or _opens_clause(tokens, index) or _is_inverted(tokens, index)
    return Case.SUBJECT if subject else Case.OBJECT


def _is_object(sentence: SentenceDraft, index: int, person: str) -> bool:
    """Return whether a pronoun is an object although a verb follows it.

    True for *you* in "The man who saw you is here" and "Everyone but you left": the subjects of *is* and
    *left* are *man* and *everyone*. False in "Those who know you are here", because *you* may be the subject
    of *are* ("know that you are here").
    """
    tokens, after = sentence.tokens, sentence.tokens.get(index + 1)
    if tokens.get(index - 1).lower in word_class("exceptions") and tokens.get(index - 2).tag == "PN":
        return True
    # Before a third-person form, *you* is an object, because it cannot be its subject: "the man who saw *you*
    # is here".
    if person == "you" and (after.tag == "VBZ" or after.lower in word_class("third-person-forms")):
        return True
    group = next((group for group in sentence.parse_verbs() if group.main == index - 1), None)
    relative = (
        group is not None
        and bool(group.subject_tokens)
        and group.subject_tokens[0].lower in word_class("relative-pronouns")
    )
    follows = after.tag in VERBS and after.tag != "VBG"
    return (
        relative
        and follows
        and tokens[index - 1].lemma not in word_class("supposing") | word_class("knowing")
    )


def _is_inverted(tokens: Tokens, index: int) -> bool:
    """Return whether a pronoun follows its auxiliary: "Would it be fun?", "..., don't you?"."""
    after, start = tokens.get(index + 1), tokens.run_start(index, ("NEG",)) - 1
    verb = tokens.get(start)
    if index + 1 == len(tokens) or (verb.tag != "MD" and verb.expanded not in BE | DO | HAVE):
        return False
    # For each tag of the word after the pronoun, test whether the word before the pronoun can be its
    # auxiliary. In "has it been", for example, *has* fits the participle *been* (VBN).
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
    """Return whether a pronoun begins its clause, perhaps after a word such as *if*: "if you please"."""
    before, opening, after = tokens.get(index - 1), tokens.get(index - 2), tokens.get(index + 1)
    if not index or index + 1 == len(tokens):
        return not index
    if before.lower in ("has", "have"):
        # In "Has it any?" and "Has it a name?", "has" is the main verb, and *it* is its subject.
        counted = index == 1 and after.tag in ("DT", "NN", "NNS", "CD")
        if counted or (index > 1 and opening.tag in ("EN", "QT", "WP", "PU")):
            return True
    opens = before.tag in ("SC", "EN", "QT", "WP") or before.lower in word_class("subject-clause-openings")
    return opens and after.tag not in ("EN", "PU", "QT", "IN")
