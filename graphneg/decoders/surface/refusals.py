"""Refuse edits that must not be expressed in words, and state the reasons.

An edit is refused if the edited sentence would be ungrammatical, would make no sense, or would not contradict
the original sentence.

Functions named ``refuse_...`` return nothing if an edit may be made, and raise `RealisationError` with the
reason if the edit is refused. The knowledge about words is in tables: `refusal_rules` applies the rules of
``refusals.tsv``, `idioms` recognizes the idioms of ``idioms.tsv``, and `valency` reads PropBank's examples of
verbs. Conditions that a table cannot express are computed in this module and passed to the rules as flags.

The functions are in this order: concepts without words, words that do not fit, pronouns, polarity, phrases,
and copied sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, pairwise, takewhile

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface.analysis.phrases import Phrase
from graphneg.decoders.surface.analysis.sentence import SentenceDraft
from graphneg.decoders.surface.analysis.verb_groups import VerbGroup
from graphneg.decoders.surface.draft import EDGE, RealisationError, Token, Tokens
from graphneg.decoders.surface.idioms import refuse_idiom
from graphneg.decoders.surface.inflection import DO, HAVE, Case, degree, pronoun, pronoun_cases
from graphneg.decoders.surface.refusal_rules import apply_rules
from graphneg.english.gazetteer import MONTHS, TEMPORAL_UNITS, WEEKDAYS
from graphneg.english.numbers import NUMBERS
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import lemma_of, readings, word_class
from graphneg.model import Edit

CLAUSE_MARKS = ("polarity", "mode", "polite")
"""Roles of constants such as ``:polarity -``, which the form of the clause expresses, not a single word."""
MAX_COPIED_WORDS = 18
"""Maximum number of words in a sentence that may be copied. Readers would not notice the change of a word in
a longer sentence."""
# Pattern for concepts that no word expresses, because they only build the structure of a graph:
# ``amr-unknown``, ``have-rel-role-91``, ``date-entity``.
_WORDLESS = re.compile(r"amr-.*|.*-91|.*-(?:entity|quantity)|have-.*-92")
# Constants of the role ``:mode``. No word expresses them: an order, for example, is expressed by its verb
# form.
_STRUCTURAL_VALUES = frozenset({"interrogative", "imperative", "expressive"})
# Tags of words that may occur between a subject and *be*: "it *might not* be".
_AUXILIARIES = frozenset({"MD", "AX", "NEG", "RB"})
# Number of tokens after *it* in which to look for a clause to which *it* refers: "It is hard *to say*".
_EXPLETIVE_REACH = 7
# Pattern for phrasal adjectives such as "worn out", which cannot precede a noun.
_PHRASAL = re.compile(r".*[ -].*(?:up|down|out|off|away)")
# If *not* is among this number of tokens before a word, rules in ``refusals.tsv`` may refuse to replace the
# word.
_DENIAL_REACH = 5
# Tags of words that can begin a complement. If such a word follows the phrase to be removed, the linking verb
# before this phrase still has a complement.
_COMPLEMENTS = frozenset({"JJ", "VBN", "VBG", "DT", "PS", "NN", "NNS", "PRO", "CD"})


def refuse_wordless(edit: Edit) -> None:
    """Refuse an edit that would add a concept or constant that no word expresses.

    Concepts such as ``amr-unknown`` (in questions), ``have-rel-role-91`` and ``date-entity`` only build the
    structure of a graph. Writing "amr unknown" would make no sense. Polarity, mode and ``multi-sentence`` are
    accepted, because they need no word.

    Args:
        edit: The edit to check.

    Raises:
        RealisationError: The concept or constant has no word (``no-words``).
    """
    if (edit.op == "add" and edit.role in CLAUSE_MARKS) or (
        edit.op == "wrap" and edit.concept == "multi-sentence"
    ):
        return
    if edit.op in ("set", "add", "wrap") and edit.concept is not None and is_wordless(edit.concept):
        raise RealisationError("no-words", f"no word expresses {edit.concept}: choose another concept")
    if edit.op == "set" and edit.value in _STRUCTURAL_VALUES:
        raise RealisationError("no-words", f"no word expresses {edit.value}: choose another value")


def is_wordless(concept: str) -> bool:
    """Return whether a concept only builds the structure of a graph, so that no word expresses it.

    Args:
        concept: The concept, for example ``like-01``.

    Returns:
        True if no word expresses the concept.

    Example:
        >>> is_wordless("have-rel-role-91"), is_wordless("amr-unknown"), is_wordless("like-01")
        (True, True, False)
    """
    return concept in word_class("wordless-concepts") or _WORDLESS.fullmatch(concept) is not None


def refuse_misplaced_word(sentence: SentenceDraft, index: int, old: str, wanted: str, role: str) -> None:
    """Refuse to replace a word by a new word that does not fit the words around it.

    The rules are in the set ``replaced-word`` of ``refusals.tsv``.

    Args:
        sentence: The sentence being edited.
        index: The index of the old word.
        old: The lemma of the old word.
        wanted: The lemma of the new word.
        role: The role of the node that the word expresses; empty for the top of the graph.
    """
    tokens, token = sentence.tokens, sentence.tokens[index]
    after, after2 = tokens.get(index + 1), tokens.get(index + 2)
    start, _ = sentence.sentence_bounds(index)
    near = tokens[max(start, index - _DENIAL_REACH) : index]
    apply_rules(
        sentence,
        "replaced-word",
        index,
        governor=tokens.get(sentence.noun_phrase(index)[0] - 1),
        # In "It's a little cold", *little* expresses a degree, not a size.
        amount=role in ("degree", "extent", "quant") or "ADJ" in readings(after.lower),
        old=old,
        wanted=wanted,
        compared=after.tag in ("RBR", "JJR") or degree(after.text) == "JJR",
        denied=any(other.lower in word_class("nots") for other in near),
        phrasal=_PHRASAL.fullmatch(wanted) is not None,
        prefixed=NEGATIVE_PREFIX.match(wanted) is not None,
        repeated=after2.lower == token.lower,
        repeats=tokens.get(index - 2).lower == token.lower,
    )


def refuse_pronoun(sentence: SentenceDraft, token: Token) -> None:
    """Refuse to change the person of a pronoun in a fixed phrase.

    Expletives, idioms, greetings and polite formulas are fixed phrases: "It's late", "You bet", "How are
    you?", "Thank you". The rules are in the set ``pronoun`` of ``refusals.tsv``.

    Args:
        sentence: The sentence being edited.
        token: The token of the pronoun.
    """
    tokens = sentence.tokens
    refuse_expletive(sentence, token)
    index = tokens.index_of(token)
    refuse_idiom(sentence, index)
    # Compute the conditions that the table ``refusals.tsv`` cannot express. With them, its rules refuse to
    # change *you* in "How are you?", and in "If you go there, it rains", where *you* may mean people in
    # general.
    around = tokens[slice(*sentence.sentence_bounds(index))]
    courteous = any(other.lower in word_class("courtesies") for other in around)
    greets = tokens.get(index - 2).lower == "how" and tokens.get(index - 1).is_be
    # "I'm afraid it's late" is a polite formula, so refuse to change its pronoun. "I'm afraid of dogs" is a
    # statement and can be changed.
    regrets = token.lower == "i" and tokens.get(index + 1).is_be and tokens.get(index + 2).lower == "afraid"
    regrets = regrets and tokens.get(index + 3).lower not in ("of", "to")
    known = {
        "courteous": courteous or regrets,
        "greets": greets,
        "supposed": around[0].lower == "if",
    }
    apply_rules(sentence, "pronoun", index, **known)


def refuse_person(sentence: SentenceDraft, token: Token, person: str, case: Case) -> None:
    """Refuse a change of person that makes no sense for the subject of a question or for an object.

    "May I borrow it?" asks for permission, but "May you borrow it?" does not. "Would you like some tea?" is
    an offer, but "Would I like some tea?" is not. A question with a question word makes sense for every
    person: "What would I like?". If a rule of the sets ``question-person`` and ``object-pronoun`` in
    ``refusals.tsv`` applies, `apply_rules` raises `RealisationError`.

    Args:
        sentence: The sentence being edited.
        token: The token of the pronoun.
        person: The new person, as a subject pronoun in lower case, for example ``i``.
        case: The case of the pronoun. Only subjects and objects are checked.
    """
    index = sentence.tokens.index_of(token)
    before, after = sentence.tokens.get(index - 1), sentence.tokens.get(index + 1)
    # In "Do you have a package?", *have* is no auxiliary, although it may be tagged as one.
    if case == Case.SUBJECT and before.lower in DO and before.tag == "AX" and after.lower == "have":
        wh = sentence.tokens.get(index - 2).tag == "WP"
        apply_rules(
            sentence, "question-person", index, person=person, modal=before, main=after, question_word=wh
        )
    for group in sentence.parse_verbs() if case == Case.SUBJECT else ():
        if group.asks and group.subject is not None and group.subject[0] <= index < group.subject[1]:
            wh = sentence.tokens.get(group.first - 1).tag == "WP"
            main = sentence.tokens[group.main]
            apply_rules(
                sentence,
                "question-person",
                index,
                person=person,
                modal=group.verb,
                main=main,
                question_word=wh,
            )
    if case == Case.OBJECT and sentence.tokens.get(index - 1).tag in VERBS:
        # Refuse an object that is part of the subject: "We will meet you" cannot become "We will meet me".
        group = sentence.finite_before(index)
        subject = group.subject_tokens[0] if group and group.subject_tokens else EDGE
        form = pronoun(person, case)
        apply_rules(sentence, "object-pronoun", index, person=person, form=form, subject=subject, object=True)


def refuse_partial_swap(
    sentence: SentenceDraft, persons: set[str], changes: Sequence[tuple[Token, str, Case]]
) -> None:
    """Refuse a change of pronouns after which *I* and *you* would seem to be the same person.

    If *I* and *you* are swapped, all pronouns for these two persons must change. If only one of the two
    persons changes, the sentence must not contain the other person: "I'll give you a call" must not become
    "You'll give you a call".

    Args:
        sentence: The text being edited, which may consist of several sentences.
        persons: The old persons of the changed nodes, for example ``i`` and ``you``.
        changes: For each pronoun that changes, its token, its new person and its case.

    Raises:
        RealisationError: A pronoun for one of the persons would not change, because it is not aligned with
            any changed node (``no-alignment``).
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
            raise RealisationError(
                "no-alignment", f"another '{token.text}' would keep its person and seem to be the same person"
            )


def refuse_expletive(sentence: SentenceDraft, token: Token) -> None:
    """Refuse to change the pronoun *it* if it refers to nothing or to a later clause (``kind-mismatch``).

    Examples: "It's hard work being a nurse", "It is a while since we met", "Take it easy".

    Args:
        sentence: The sentence being edited.
        token: The token of the pronoun.
    """
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    _, end = sentence.sentence_bounds(index)
    after = tokens[index + 1 : min(end, index + 1 + _EXPLETIVE_REACH)] or [EDGE]
    # A gerund after an adjective or noun is a clause to which *it* refers: "It's nice meeting you", "It's no
    # use crying".
    doing = any(two.tag == "VBG" and one.tag in ("JJ", "NN") for one, two in pairwise(after))
    marks = doing or any(
        other.tag == "TO" or other.lower in word_class("after-expletive") for other in after[1:]
    )
    # If a noun follows, as in "its long tail", *its* is a possessive and not a misspelt "it's".
    owns = sentence.is_noun(tokens.run_end(index + 1, ("JJ", "RB", "CD")))
    # After a verb of cost or time, *it* refers to an infinitive ("It costs a lot to live here") or to an
    # event with a duration ("It takes two hours").
    verb = next((other for other in after if other.tag in VERBS and other.tag not in ("AX", "MD")), EDGE)
    lasts = verb.lemma == "take" and any(lemma_of(other.lower, "NNS") in TEMPORAL_UNITS for other in after)
    costs = (verb.lemma in word_class("costing") and any(other.tag == "TO" for other in after)) or lasts
    # Look for a form of *be* after *it*, perhaps with auxiliaries between them ("It must be hard to swim"),
    # or directly before *it* ("Isn't it hard to swim?").
    rest = list(dropwhile(lambda other: other.tag in _AUXILIARIES and not other.is_be, after))
    linked = tokens.get(tokens.run_start(index, ("NEG",)) - 1).is_be or any(other.is_be for other in rest[:1])
    predicate = list(dropwhile(lambda other: other.is_be or other.tag in ("RB", "NEG"), rest))[:1]
    # *It* refers to nothing if a form of *be* follows, and then a word of time or weather ("It's quite
    # sunny", "It's Monday") or a number ("It's five o'clock", "It's 2135-3678"). It also refers to nothing
    # if a verb of change and a word of time or weather follow ("It's getting late").
    told = any(other.lower in word_class("said-of-no-thing") | WEEKDAYS | set(MONTHS) for other in predicate)
    # In "It's ten years old", *it* refers to a thing. So ignore a number if *old* follows.
    aged = any(other.lower == "old" for other in after)
    counts = linked and not aged and any(other.tag == "CD" or other.lower in NUMBERS for other in predicate)
    becomes = verb.lemma in word_class("becoming") and any(
        other.lower in word_class("said-of-no-thing") for other in after
    )
    anticipates = (linked and (marks or told)) or costs or counts or becomes
    apply_rules(sentence, "expletive", index, owns=owns, anticipates=anticipates)


def refuse_negation(sentence: SentenceDraft, group: VerbGroup, label: str) -> None:
    """Refuse to negate a clause if the negation would make no sense or would not contradict the clause.

    *Not* cannot be added to "Here you are", "Thank you" or "Nobody saw it". "I did not almost fall" does not
    contradict "I almost fell". The rules are in the set ``negation`` of ``refusals.tsv``.

    Args:
        sentence: The sentence being edited.
        group: The verb group of the clause.
        label: The concept of the node that heads the clause, for the error message.
    """
    tokens, main, first = sentence.tokens, group.main, group.first
    bounds = sentence.sentence_bounds(first)
    earlier = [other for other in sentence.parse_verbs() if bounds[0] <= other.first < first]
    around, narrow = (tokens[max(0, first - 1) : end] for end in (main + 2, main + 1))
    start = group.subject[0] if group.subject else first
    scope = tokens[max(0, start - 1) : sentence.negation_scope_end(main + 1, ",")]
    only = any(token.lower in word_class("restricting-adverbs") for token in around)
    # Find a contrast such as "but not her" in "He likes me but not her". Such a clause must not be negated:
    # "He does not like me but not her" makes no sense.
    contrasted = any(
        token.lower == "not" and (before.lower in ("but", "and") or before.text == ",")
        for before, token in pairwise(tokens[main + 1 : bounds[1]])
    )
    apply_rules(
        sentence,
        "negation",
        main,
        label=label,
        kind=group.kind,
        before=tokens.get(first - 1),
        modal=group.verb if group.verb.tag == "MD" else EDGE,
        behind=tokens.get(first + 1),
        subject=tokens[start] if group.subject else EDGE,
        before_subject=tokens.get(start - 1) if group.subject else EDGE,
        last=tokens[bounds[1] - 1],
        inverted=group.inverted,
        clause_before=any(other.first < start and other.kind == "finite" for other in earlier),
        question_before=any(other.asks for other in earlier),
        # `negative` is True if the clause is already negative ("Nobody saw it"), or if *not* would combine
        # with another word of the clause ("Only I saw it", "I would rather stay").
        negative=only
        or bool(group.negations)
        or any(token.lower in word_class("negative-words") for token in scope),
        part=sentence.finite(group) is not None,
        contrasted=contrasted,
        # True if the verb may be an order that is joined to a statement, like *look* in "I waited, and look
        # at it now". In "I can sing and dance", *dance* depends on *can* and is not an order.
        ordered=group.kind == "bare"
        and tokens.get(first - 1).lower in word_class("conjunctions")
        and bool(earlier)
        and earlier[-1].kind == "finite"
        and len(earlier[-1].chain) == 1
        and earlier[-1].verb.tag != "MD",
        offers=sentence.accompanies_giving(group),
        alone=len(group.chain) == 1,
        presented=group.asks,
        presents=sentence.is_presentation(group),
        degree=any(
            token.lower in word_class("undenied") and token.tag == "RB"
            for token in (around if tokens[main].is_be else narrow)
        ),
    )


def refuse_answer(sentence: SentenceDraft, index: int) -> None:
    """Refuse to change the polarity of a sentence that begins with *yes* or *no*.

    Args:
        sentence: The sentence being edited.
        index: The index of a word of the clause.

    Raises:
        RealisationError: The sentence begins with an answer (``unclear-clause``). A new polarity would
            contradict this answer: "Yes, I did not see it".
    """
    before = sentence.tokens[sentence.sentence_bounds(index)[0] : index]
    opening = next((token for token in before if token.tag not in ("QT", "PU")), None)
    # Accept the sentence if *yes* is in a quotation, because it is then no answer by the speaker: 'He said
    # "yes" and left'.
    if sum(token.is_quote for token in before) > 1 or opening is None:
        return
    if opening.lower in word_class("answers") and opening.tag == "UH":
        raise RealisationError(
            "unclear-clause", f"'{opening.text}' at the start would contradict the rest of the sentence"
        )


def refuse_affirmation(sentence: SentenceDraft, index: int, group: VerbGroup | None = None) -> None:
    """Refuse to remove a negation that belongs to a set phrase, or that cannot simply be left out.

    Examples of set phrases are "I'm afraid not" and "I can't help it". Two other cases are also refused. In
    "Never have I seen it", the verb would have to move. "A little snow never hurt anyone" is a general truth,
    but without its negation ("A little snow hurt someone") it would report a single event. The rules are
    in the set ``affirmation`` of ``refusals.tsv``.

    Args:
        sentence: The sentence being edited.
        index: The index of the negation.
        group: The verb group of the clause that is negated; None if the group is unknown.
    """
    tokens, end = sentence.tokens, sentence.negation_scope_end(index + 1)
    # Find *until*, which may depend on the negation: "I did not leave until he came" says when I left, not
    # that I stayed.
    while tokens.get(end).lower == "until":
        end = sentence.negation_scope_end(end + 1)
    until = any(token.lower in word_class("until-words") for token in tokens[index + 1 : end])
    verb = group.verb if group is not None else EDGE
    subject = group.subject_tokens[-1] if group is not None and group.subject_tokens else EDGE
    third = subject.lower in word_class("third-person") or subject.tag in ("NN", "NNP")
    # True for *hurt* in "A little snow never hurt anyone": the form may be past or plain, and the subject is
    # third-person. Without *never*, the general truth would become a past event: "A little snow hurt
    # someone".
    timeless = third and verb.tag not in ("AX", "MD") and verb.lower == verb.lemma == verb.form("VBD")
    inverted = group is not None and group.asks and index < group.first
    apply_rules(sentence, "affirmation", index, until=until, verb=verb, timeless=timeless, inverted=inverted)


def refuse_bare_copula(sentence: SentenceDraft, target: Phrase) -> None:
    """Refuse to remove the only complement of a linking verb: "She is happy" must not become "She is".

    Args:
        sentence: The sentence being edited.
        target: The phrase that would be removed.

    Raises:
        RealisationError: The phrase is the only complement of a linking verb (``unclear-clause``).
    """
    tokens, index = sentence.tokens, target.start
    while index and (tokens[index - 1].tag in ("RB", "NEG") or tokens[index - 1].text == ","):
        index -= 1
    verb, complete = tokens.get(index - 1), tokens.get(target.end).tag in _COMPLEMENTS
    links = verb.is_be or verb.lemma in word_class("linking-verbs")
    if links and not complete and any(group.main == index - 1 for group in sentence.parse_verbs()):
        raise RealisationError("unclear-clause", "the linking verb would have no complement")


def is_dangling(tokens: Tokens, start: int) -> bool:
    """Return whether a text contains *to* without the verb that should follow: "I'd love to, ...".

    Args:
        tokens: The tokens of the text.
        start: The index of the first token to examine.

    Returns:
        True if a punctuation mark or a conjunction follows *to*.
    """
    ends = ("EN", "PU", "QT", "CC", "SC")
    return any(tokens[i].tag == "TO" and tokens.get(i + 1).tag in ends for i in range(start, len(tokens)))


def refuse_graft(
    sentence: SentenceDraft,
    target: Phrase,
    source: SentenceDraft,
    copied: Phrase,
    words: Sequence[Token],
    name: bool,
) -> None:
    """Refuse to replace a phrase by a copied phrase that does not fit the sentence.

    The rules are in the set ``graft`` of ``refusals.tsv``.

    Args:
        sentence: The sentence with the phrase to replace.
        target: The phrase to replace.
        source: The sentence with the phrase to copy.
        copied: The phrase to copy.
        words: The copies of the tokens in the copied phrase.
        name: Whether both phrases are names.
    """
    tokens, head = sentence.tokens, source.tokens[copied.head]
    start, end = sentence.sentence_bounds(target.head)
    others = [*tokens[start : target.start], *tokens[target.end : end]]
    before = (tokens.get(target.start - 1), source.tokens.get(copied.start - 1))
    nominal = copied.kind == "nominal"
    # Refuse a noun that the sentence already contains: "He took the wallet out of the wallet" makes no sense.
    said = any(token.tag in NOUNS and token.lower == head.lower for token in others)
    apply_rules(
        sentence,
        "graft",
        target.start,
        low=head.lower,
        after=tokens.get(target.end),
        name=name,
        twice=said and nominal and head.tag in NOUNS,
        saying=nominal and _says_something(words),
        same=[token.lower for token in words] == [token.lower for token in tokens[target.start : target.end]],
        denies=words[0].lower in word_class("denying-words"),
        determined=sum(token.tag in ("DT", "PS") for token in before) == 1,
    )


def _says_something(phrase: Sequence[Token]) -> bool:
    """Return whether a noun phrase contains a form of *be* outside a relative clause.

    Such a phrase is the result of a parser error: "the fern is nearly" is not a noun phrase.

    Returns:
        True if the phrase contains a form of *be*, and no word before this form begins a clause.
    """
    before = list(takewhile(lambda token: not token.is_be, phrase))
    begins_clause = any(token.tag in ("PRS", "WP", "WDT", "WRB", "IN") for token in before)
    return len(before) < len(phrase) and not begins_clause


def refuse_dependent_sentence(source: SentenceDraft) -> None:
    """Refuse to copy a sentence that makes no sense in a different context.

    A question would ask for something else in the new context. "I think so" refers to the previous sentence.
    "As long as it rains" is a part of another clause. "Besides, I like it too" continues a sentence that is
    not copied. The rules are in the set ``copied-sentence`` of ``refusals.tsv``.

    Args:
        source: The sentence that would be copied.
    """
    tokens, supposing = source.tokens, word_class("supposing")
    marks = [token for token in tokens if token.tag == "EN"]
    clauses = [group for group in source.parse_verbs() if group.is_main]
    # "I think so" and "I hope not" need an earlier sentence, because *so* and *not* represent its clause.
    anaphoric = any(
        token.lower in word_class("clause-pronouns")
        and tokens.get(index + 1).tag in ("EN", "PU")
        and before.lemma in supposing
        for index, (before, token) in enumerate(pairwise(tokens), 1)
    )
    # Refuse sentences that end in an auxiliary without its main verb, such as "That you all do" and "if you
    # can". The main verb is in an earlier sentence, so they make no sense elsewhere.
    words = [token for token in tokens if token.tag not in ("EN", "QT")]
    if words and (words[-1].lower == "not" or words[-1].tag == "NEG"):
        words.pop()
    named = len(words) > 1 and words[-2].tag in ("PRS", "NNP", "RB", "DT", "PN", "JJ")
    unsaid = named and (words[-1].tag == "MD" or words[-1].expanded in DO | HAVE)
    apply_rules(
        source,
        "copied-sentence",
        0,
        asks=bool(marks) and marks[-1].text == "?",
        anaphoric=anaphoric,
        breaks_off=unsaid and all(token.tag != "WP" for token in words),
        clause=bool(clauses),
        part=len(clauses) == 1 and clauses[0].subject is not None,
        goes_on=any(token.lower in word_class("going-on") for token in tokens),
        long=len(words) > MAX_COPIED_WORDS,
        several=any(group.subject and tokens.get(group.subject[0] - 1).text == "," for group in clauses[1:]),
        opener=tokens.get(clauses[0].subject[0] - 1) if clauses and clauses[0].subject else EDGE,
        inverted=any(group.inverted for group in clauses),
    )
