"""Change the words that depend on the polarity of a clause, and refuse changes that make no sense.

Denying a clause takes more than *not*. *Some* becomes *any*, *already* becomes *yet*, and a question tag
changes its polarity: "You like some fish, don't you?" -> "You don't like any fish, do you?". Some clauses
cannot be denied at all ("Here you are", "He likes me but not her"). Some negations cannot be removed ("I'm
afraid not"). The rule sets ``undeniable`` and ``set-phrase`` of ``refusals.tsv`` describe such cases.

Input: a verb group, or the index of a negation. The functions edit the sentence in place, or raise
`RealisationError` if the polarity must not be changed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from graphneg.decoders.surface.clauses import VerbGroup
from graphneg.decoders.surface.draft import EDGE, Token
from graphneg.decoders.surface.forms import BE, DO, EXPANDED, HAVE, contracted_stem
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.tagging import NOUNS
from graphneg.english.words import word_class, word_map

# Words that make a clause negative without *not*: "Nobody came".
NEGATIVE_WORDS = word_class("negative-words")
POSITIVE = word_map("positive")
"""Affirmative counterparts of negative words, and of words that occur only in negative clauses.

Examples: *nothing* -> *something*, *any* -> *some*.
"""
# Tags at which the scope of a negation ends: end marks, subordinators, question words, quotation marks.
SCOPE_ENDS = frozenset({"EN", "SC", "WP", "QT"})
# Counterparts, in negative clauses, of words that occur only in affirmative ones: *some* -> *any*.
_ASSERTIVE = word_map("assertive")
# Words that occur only in negative clauses and have no affirmative counterpart: *at all*, *ever*.
_LEFT_OUT = word_class("left-out")
_THIRD = frozenset({"he", "she", "it", "they"})


def refuse_undeniable(sentence: SentenceDraft, group: VerbGroup, label: str) -> None:
    """Refuse to deny a clause if a rule of the set ``undeniable`` applies to it.

    Args:
        sentence: The sentence.
        group: The verb group of the clause.
        label: The concept of the node that heads the clause, for the message.
    """
    tokens, main, first = sentence.tokens, group.main, group.first
    bounds = sentence.sentence_bounds(first)
    earlier = [other for other in sentence.groups() if bounds[0] <= other.first < first]
    around, narrow = (tokens[max(0, first - 1) : end] for end in (main + 2, main + 1))
    start = group.subject[0] if group.subject else first
    scope = tokens[max(0, start - 1) : _scope_end(sentence, main + 1, ",")]
    only = any(token.lower in ("only", "rather") for token in around)
    # "He likes me but not her" contains a contrast. "He does not like me but not her" would make no sense.
    contrasted = any(
        token.lower == "not" and (before.lower in ("but", "and") or before.text == ",")
        for before, token in pairwise(tokens[main + 1 : bounds[1]])
    )
    sentence.apply_rules(
        "undeniable",
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
        # The clause is negative ("Nobody saw it"), or *not* would combine with another of its words ("Only I
        # saw it", "I would rather stay").
        negative=only or bool(group.negations) or any(token.lower in NEGATIVE_WORDS for token in scope),
        part=sentence.finite(group) is not None,
        contrasted=contrasted,
        # The verb is an order joined to a statement, like *look* in "I waited, and look at it now". In "I can
        # sing and dance", *dance* depends on *can* and is not an order.
        ordered=group.kind == "bare"
        and tokens.get(first - 1).lower in ("and", "or")
        and bool(earlier)
        and earlier[-1].kind == "finite"
        and len(earlier[-1].chain) == 1
        and earlier[-1].verb.tag != "MD",
        offers=sentence.offers(group),
        alone=len(group.chain) == 1,
        presented=group.asks,
        presents=sentence.presents(group),
        degree=any(
            token.lower in word_class("undenied") and token.tag == "RB"
            for token in (around if tokens[main].is_be else narrow)
        ),
    )


def _scope_end(sentence: SentenceDraft, index: int, *marks: str) -> int:
    """Return the index of the first token from ``index`` on that ends the scope of a negation.

    Such a token has a tag of `SCOPE_ENDS` or is one of the given marks.
    """
    tokens = sentence.tokens
    while index < len(tokens) and tokens[index].tag not in SCOPE_ENDS and tokens[index].text not in marks:
        index += 1
    return index


def refuse_answer(sentence: SentenceDraft, index: int) -> None:
    """Refuse to change the polarity of a sentence that begins with *yes* or *no*.

    Args:
        sentence: The sentence.
        index: The index of a word of the clause.

    Raises:
        RealisationError: The sentence begins with an answer (``unclear-clause``). After the change, it would
            contradict itself: "Yes, I did not see it".
    """
    before = sentence.tokens[sentence.sentence_bounds(index)[0] : index]
    opening = next((token for token in before if token.tag not in ("QT", "PU")), None)
    # A quoted word is not an answer: 'He said "yes" and left'.
    if sum(token.is_quote for token in before) > 1 or opening is None:
        return
    if opening.lower in word_class("answers") and opening.tag == "UH":
        raise RealisationError("unclear-clause", f"{opening.text} says already what is so")


def to_negative(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Replace the words of a clause that do not occur in negative clauses.

    *Some* becomes *any* and a following *and* becomes *or*. *Already* becomes *yet*, and a final *too*
    becomes *either*. *Also* is removed.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause. Its indices are adjusted.

    Example:
        "I saw it too." becomes "I saw it either.", to which the caller then adds *not*: "I did not see it
        either."
    """
    tokens = sentence.tokens
    if group.kind == "finite" and not group.inverted:
        # Remove *also*: "I can also swim" -> "I cannot swim".
        start = group.subject[1] if group.subject else group.first + 1
        near = range(start, min(group.main + 2, len(tokens)))
        for index in [index for index in near if tokens[index].lower == "also"][:1]:
            tokens.pop(index)
            group.chain[:] = [verb - (verb > index) for verb in group.chain]
    for token in tokens[max(0, group.first - 1) : group.main + 2]:
        # *already* becomes *yet*: "I have already seen it" -> "I have not yet seen it".
        if token.lower == "already":
            sentence.rewrite(token, "yet")
    is_any = False
    for index in range(group.main + 1, len(tokens)):
        token = tokens[index]
        # The clause continues after the comma in "I like it, too" and in lists: "I saw some birds, some cats
        # and a dog".
        added = tokens.get(index + 1).lower in ("too", "also") and _is_last(sentence, index + 1)
        if token.text == "," and (added or (is_any and sentence.inside_list(index))):
            continue
        # Stop where another clause begins.
        if token.lower == "but" or token.tag in SCOPE_ENDS | {"PU", "AX", "MD", "VBD", "VBZ", "VBP"}:
            return
        if token.lower in _ASSERTIVE:
            sentence.rewrite(token, _ASSERTIVE[token.lower])
            is_any = True
        elif is_any and token.lower == "and" and tokens.get(index + 1).tag in (*NOUNS, "DT", "PS", "JJ"):
            # After *any*, *and* becomes *or*: "I like some tea and cake" -> "I do not like any tea or cake".
            sentence.rewrite(token, "or")
        elif token.lower in ("too", "also") and _is_last(sentence, index):
            # A final *too* or *also* becomes *either*: "I saw it too" -> "I did not see it either".
            sentence.rewrite(token, "either")


def and_for_but(sentence: SentenceDraft, negation: int, group: VerbGroup | None) -> None:
    """Replace *but* by *and* before a negation that is removed.

    For example, "He likes her but not me" becomes "He likes her and me". Before an adjective *but* is kept,
    because adjectives can contrast without a negation: "small but not cheap" becomes "small but cheap".

    Args:
        sentence: The sentence, edited in place.
        negation: The index of the negation.
        group: The verb group that is denied; None if only a phrase is denied.

    Raises:
        RealisationError: The sentence makes no sense without its contrast (``unclear-clause``): "but not
            often", "not tea but coffee", "I don't, but he does".
    """
    tokens = sentence.tokens
    _, end = sentence.sentence_bounds(negation)
    for index in range(negation + 1, end - 1):
        if tokens[index].lower != "but":
            continue
        clause = any(index < group.first < end for group in sentence.groups())
        # Refuse "not tea but coffee": without *not* there is no contrast that *but* could express.
        if not clause and tokens[index + 1].tag in (*NOUNS, "DT", "CD", "PS"):
            raise RealisationError("unclear-clause", "the other side of but is no clause")
        words = [token for token in tokens[index + 1 : end] if token.tag not in ("EN", "PU")]
        # Refuse "I don't, but he does": without *not*, both clauses would claim the same.
        if words and (words[-1].expanded in BE | DO or words[-1].tag in ("AX", "MD")):
            raise RealisationError("unclear-clause", "the other side of but says what is denied here")
    # Find the *but* before the negation ("but not her") or before the verb group ("but does not").
    but = tokens.get((negation if group is None else min(negation, group.first)) - 1)
    following = tokens.get(negation + 1).tag
    if but.lower != "but" or tokens[0] is but:
        return
    if group is None and following in ("RB", "EN"):
        raise RealisationError("unclear-clause", "but not denies an adverb alone")
    if not following.startswith("JJ"):
        sentence.rewrite(but, "and", "CC")


def refuse_set_phrase(sentence: SentenceDraft, index: int, group: VerbGroup | None = None) -> None:
    """Refuse to remove a negation that belongs to a set phrase (rules ``set-phrase``).

    Examples are "I'm afraid not" and "I can't help it". Two other cases are refused, too. In "Never have I
    seen it", the verb would have to move. "A little snow never hurt anyone" is true at any time, but "A
    little snow hurt someone" would tell of one event.

    Args:
        sentence: The sentence being edited.
        index: The index of the negation.
        group: The verb group of the clause that is denied; None if it is unknown.
    """
    tokens, end = sentence.tokens, _scope_end(sentence, index + 1)
    # *until* may follow a negation: "I did not leave until he came" says when I left, not that I stayed.
    while tokens.get(end).lower == "until":
        end = _scope_end(sentence, end + 1)
    until = any(token.lower in ("until", "till") for token in tokens[index + 1 : end])
    verb = group.verb if group is not None else EDGE
    subject = group.subject_tokens[-1] if group is not None and group.subject_tokens else EDGE
    third = subject.lower in ("he", "she", "it") or subject.tag in ("NN", "NNP")
    # The tense is not visible: the verb has the same form in past and present ("hurt", "put"), and no *-s*.
    timeless = third and verb.tag not in ("AX", "MD") and verb.lower == verb.lemma == verb.form("VBD")
    inverted = group is not None and group.asks and index < group.first
    sentence.apply_rules("set-phrase", index, until=until, verb=verb, timeless=timeless, inverted=inverted)


def no_longer(sentence: SentenceDraft, group: VerbGroup) -> bool:
    """Deny a clause that contains *still* by replacing *still* with *no longer*.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause.

    Returns:
        True if the clause was denied; False if it contains no *still* that can be replaced.

    Example:
        "I still live there." becomes "I no longer live there."
    """
    if group.kind != "finite" or group.subject is None or group.inverted:
        return False
    linked = sentence.tokens[group.main].expanded in BE
    for index in range(group.subject[1], min(group.main + 1 + linked, len(sentence.tokens))):
        if sentence.tokens[index].lower == "still":
            sentence.rewrite(sentence.tokens[index], "no", "NEG")
            sentence.insert(index + 1, Token("longer", "RB"))
            return True
    return False


def to_affirmative(sentence: SentenceDraft, start: int) -> None:
    """Replace the words of a clause that do not occur in affirmative clauses.

    *Any* becomes *some*, *much* becomes *a lot*, *ever* and *at all* are removed.

    Args:
        sentence: The sentence, edited in place.
        start: The index from which on words are replaced.

    Example:
        After *do not* was removed, "I see any birds at all." becomes "I see some birds."
    """
    tokens, index = sentence.tokens, max(start, 0)
    while index < _scope_end(sentence, index):
        low = tokens[index].lower
        # Remove words such as *ever*, which are one token, and *at all* and *any more*, which are two.
        count = 1 if low in _LEFT_OUT else 2 * (f"{low}_{tokens.get(index + 1).lower}" in _LEFT_OUT)
        sentence.cut(index, index + count)
        index += not count
    for token in tokens[max(start, 0) : index]:
        index = tokens.index_of(token)
        following, last = tokens.get(index + 1).lower, _is_last(sentence, index)
        # Before an exception, *any* becomes *every*: "I don't like anyone but her" -> "I like everyone but
        # her".
        if token.lower in ("anything", "anyone", "anybody") and following in ("but", "except"):
            sentence.rewrite(token, "everything" if token.lower == "anything" else "everyone")
        elif token.lower in POSITIVE and token.lower.startswith("any"):
            sentence.rewrite(token, POSITIVE[token.lower])
        elif token.lower == "either" and last:
            # A final *either* becomes *too*: "I don't like it either" -> "I like it too".
            sentence.rewrite(token, "too")
        elif token.lower == "much" and index and tokens[index - 1].lower not in word_class("before-much"):
            # *much* becomes *a lot*: "I don't follow it much" -> "I follow it a lot". Before a noun, it
            # becomes *a lot of*: "I don't have much time" -> "I have a lot of time".
            noun = sentence.is_noun(index + 1)
            if noun:
                sentence.insert(index + 1, Token("of", "IN"))
            if noun or last:
                sentence.rewrite(token, "lot", "NN")
                sentence.insert(index, Token("a", "DT"))


def _is_last(sentence: SentenceDraft, index: int) -> bool:
    """Return whether the word at an index is the last one of its clause."""
    return sentence.tokens.get(index + 1).tag in ("EN", "PU", "QT")


class QuestionTag(NamedTuple):
    """A question tag: *don't you?* in "You like fish, don't you?".

    Attributes:
        verb: The token of the auxiliary.
        negation: The token of the negation; None if there is none.
    """

    verb: Token
    negation: Token | None


def question_tag(sentence: SentenceDraft, group: VerbGroup) -> QuestionTag | None:
    """Return the question tag of a clause.

    Args:
        sentence: The sentence.
        group: The verb group of the clause.

    Returns:
        The tag at the end of the sentence, or None if there is none or its pronoun does not refer to the
        subject of the clause.
    """
    tokens = sentence.tokens
    end = tokens.run_start(sentence.sentence_bounds(group.first)[1], ("EN",))
    if not end or group.subject is None or not tokens.get(end).text.startswith("?"):
        return None
    index = end - 2
    negation = tokens[index] if index > 0 and tokens[index].tag == "NEG" else None
    index -= negation is not None
    if index <= group.main or tokens[index - 1].text != "," or not _is_auxiliary(tokens[index]):
        return None
    pronoun, subject = tokens[end - 1].lower, tokens[group.subject[1] - 1].lower
    # The pronoun may repeat the subject or, as in "Tom likes fish, doesn't he?", refer to a noun.
    third = pronoun in _THIRD and subject not in ("i", "you", "we", *_THIRD)
    return QuestionTag(tokens[index], negation) if pronoun == subject or third else None


def turn_tag(sentence: SentenceDraft, tag: QuestionTag) -> None:
    """Change the polarity of a question tag: "do you?" <-> "don't you?".

    Args:
        sentence: The sentence, edited in place.
        tag: The question tag.

    Raises:
        RealisationError: The auxiliary cannot be contracted with *n't* (``unclear-clause``): "am I?".
    """
    verb = tag.verb
    if tag.negation is not None:
        sentence.tokens.remove(tag.negation)
        sentence.rewrite(verb, EXPANDED.get(verb.lower, verb.text))
    elif (stem := contracted_stem(verb.text)) is None:
        raise RealisationError("unclear-clause", f"the question tag's {verb.text} takes no n't")
    else:
        sentence.rewrite(verb, stem)
        sentence.insert(sentence.tokens.index_of(verb) + 1, Token("n't", "NEG"))


def is_tag_pronoun(sentence: SentenceDraft, token: Token) -> bool:
    """Return whether a token is the pronoun of a question tag.

    Args:
        sentence: The sentence.
        token: The token of a pronoun.

    Returns:
        True for *you* in "..., do you?".
    """
    tokens, index = sentence.tokens, sentence.tokens.index_of(token)
    verb = index - 2 if index > 1 and tokens[index - 1].tag == "NEG" else index - 1
    ends = tokens.get(index + 1).text[:1] in ("?", ",")
    return ends and verb > 0 and _is_auxiliary(tokens[verb]) and tokens[verb - 1].text == ","


def _is_auxiliary(token: Token) -> bool:
    """Return whether a token can be the verb of a question tag."""
    return token.tag == "MD" or token.expanded in BE | DO | HAVE or token.lower in EXPANDED
