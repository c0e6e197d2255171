"""Decide what a negation reaches: words that depend on polarity, set phrases, and question tags.

Denying a clause takes more than *not*. *Some* becomes *any*, *already* becomes *yet*, and a question tag
changes its polarity: "You like some fish, don't you?" -> "You don't like any fish, do you?". Some clauses
cannot be denied at all ("Here you are", "He likes me but not her"). Some negations cannot be removed ("I'm
afraid not"). The rule sets ``undeniable`` and ``set-phrase`` of ``refusals.tsv`` list these.

Input: a verb group, or the index of a negation. Output: a refusal, or the surrounding words in the form that
the new polarity needs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from graphneg.decoders.surface.clauses import VerbGroup
from graphneg.decoders.surface.draft import EDGE, Token
from graphneg.decoders.surface.forms import BE, DO, EXPANDED, HAVE, before_nt
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.tagging import NOUNS
from graphneg.english.words import word_class, word_map

# Words that make a clause negative without *not*: "Nobody came".
NEGATIVE_WORDS = word_class("negative-words")
POSITIVE = word_map("positive")
"""Affirmative counterparts of negative words and of words that only negative clauses contain.

Examples: *nothing* -> *something*, *any* -> *some*.
"""
# Tags at which the scope of a negation ends: end marks, subordinators, question words, quotation marks.
SCOPE_ENDS = frozenset({"EN", "SC", "WP", "QT"})
# Counterparts for negative clauses: *some* -> *any*.
_ASSERTIVE = word_map("assertive")
# Words that only negative clauses contain and that have no counterpart: *at all*, *ever*.
_LEFT_OUT = word_class("left-out")
_THIRD = frozenset({"he", "she", "it", "they"})


def refuse_undeniable(sentence: SentenceDraft, group: VerbGroup, label: str) -> None:
    """Refuse to deny a clause if the rules of the set ``undeniable`` say so.

    Args:
        sentence: The sentence.
        group: The verb group of the clause.
        label: The label of the group's node, for the message.
    """
    tokens, main, first = sentence.tokens, group.main, group.first
    bounds = sentence.sentence_bounds(first)
    earlier = [other for other in sentence.groups() if bounds[0] <= other.first < first]
    around, narrow = (tokens[max(0, first - 1) : end] for end in (main + 2, main + 1))
    start = group.subject[0] if group.subject else first
    scope = tokens[max(0, start - 1) : _scope_end(sentence, main + 1, ",")]
    only = any(token.low in ("only", "rather") for token in around)
    # "He likes me but not her" -> "He does not like me but not her" makes no sense.
    contrasted = any(
        token.low == "not" and (before.low in ("but", "and") or before.text == ",")
        for before, token in pairwise(tokens[main + 1 : bounds[1]])
    )
    sentence.refuse(
        "undeniable",
        main,
        label=label,
        kind=group.kind,
        before=tokens.at(first - 1),
        modal=group.verb if group.verb.tag == "MD" else EDGE,
        behind=tokens.at(first + 1),
        subject=tokens[start] if group.subject else EDGE,
        before_subject=tokens.at(start - 1) if group.subject else EDGE,
        last=tokens[bounds[1] - 1],
        inverted=group.inverted,
        clause_before=any(other.first < start and other.kind == "finite" for other in earlier),
        question_before=any(other.asks for other in earlier),
        # "Only I saw it", "I would rather stay", "Nobody saw it": the clause is negative or has a word that
        # *not* would change.
        negative=only or bool(group.negations) or any(token.low in NEGATIVE_WORDS for token in scope),
        part=sentence.finite(group) is not None,
        contrasted=contrasted,
        # In "I waited, and look at it now" *look* depends on no verb, but *dance* in "I can sing and dance"
        # does.
        ordered=group.kind == "bare"
        and tokens.at(first - 1).low in ("and", "or")
        and bool(earlier)
        and earlier[-1].kind == "finite"
        and len(earlier[-1].chain) == 1
        and earlier[-1].verb.tag != "MD",
        offers=sentence.offers(group),
        alone=len(group.chain) == 1,
        presented=group.asks,
        presents=sentence.presents(group),
        degree=any(
            token.low in word_class("undenied") and token.tag == "RB"
            for token in (around if tokens[main].is_be else narrow)
        ),
    )


def _scope_end(sentence: SentenceDraft, index: int, *marks: str) -> int:
    """Return the index where a clause ends: at a tag of `SCOPE_ENDS` or at one of the marks."""
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
        RealisationError: The sentence begins with an answer (``unclear-clause``). "Yes, I did not see it"
            would contradict itself.
    """
    before = sentence.tokens[sentence.sentence_bounds(index)[0] : index]
    opening = next((token for token in before if token.tag not in ("QT", "PU")), None)
    # 'He said "yes" and left': a quoted word is not an answer.
    if sum(token.is_quote for token in before) > 1 or opening is None:
        return
    if opening.low in word_class("answers") and opening.tag == "UH":
        raise RealisationError("unclear-clause", f"{opening.text} says already what is so")


def to_negative(sentence: SentenceDraft, group: VerbGroup) -> None:
    """Replace the words of a clause that a negative clause does not contain.

    *Some* becomes *any* and a following *and* becomes *or*; *already* becomes *yet*; a final *too* becomes
    *either*. *Also* is removed.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause, whose indices are adjusted.

    Example:
        In "I saw it too." this changes *too* into *either*, for "I did not see it either."
    """
    tokens = sentence.tokens
    if group.kind == "finite" and not group.inverted:
        # "I can also swim" -> "I cannot swim".
        start = group.subject[1] if group.subject else group.first + 1
        near = range(start, min(group.main + 2, len(tokens)))
        for index in [index for index in near if tokens[index].low == "also"][:1]:
            tokens.pop(index)
            group.chain[:] = [verb - (verb > index) for verb in group.chain]
    for token in tokens[max(0, group.first - 1) : group.main + 2]:
        # "I have already seen it" -> "I have not yet seen it".
        if token.low == "already":
            sentence.rewrite(token, "yet")
    is_any = False
    for index in range(group.main + 1, len(tokens)):
        token = tokens[index]
        # "I like it, too", "I saw some birds, some cats and a dog": the clause goes on behind the comma.
        added = tokens.at(index + 1).low in ("too", "also") and _is_last(sentence, index + 1)
        if token.text == "," and (added or (is_any and sentence.inside_list(index))):
            continue
        # Another clause begins.
        if token.low == "but" or token.tag in SCOPE_ENDS | {"PU", "AX", "MD", "VBD", "VBZ", "VBP"}:
            return
        if token.low in _ASSERTIVE:
            sentence.rewrite(token, _ASSERTIVE[token.low])
            is_any = True
        elif is_any and token.low == "and" and tokens.at(index + 1).tag in (*NOUNS, "DT", "PS", "JJ"):
            # "I like some tea and cake" -> "I do not like any tea or cake".
            sentence.rewrite(token, "or")
        elif token.low in ("too", "also") and _is_last(sentence, index):
            # "I saw it too" -> "I did not see it either".
            sentence.rewrite(token, "either")


def and_for_but(sentence: SentenceDraft, negation: int, group: VerbGroup | None) -> None:
    """Replace *but* by *and* before a negation that is removed.

    "He likes her but not me" -> "He likes her and me". An adjective can still contrast: "small but not cheap"
    -> "small but cheap".

    Args:
        sentence: The sentence, edited in place.
        negation: The index of the negation.
        group: The verb group that is denied, if there is one.

    Raises:
        RealisationError: The sentence needs its contrast (``unclear-clause``): "but not often", "not tea but
            coffee", "I don't, but he does".
    """
    tokens = sentence.tokens
    _, end = sentence.sentence_bounds(negation)
    for index in range(negation + 1, end - 1):
        if tokens[index].low != "but":
            continue
        clause = any(index < group.first < end for group in sentence.groups())
        # "not tea but coffee": without *not* there is nothing to contrast.
        if not clause and tokens[index + 1].tag in (*NOUNS, "DT", "CD", "PS"):
            raise RealisationError("unclear-clause", "the other side of but is no clause")
        words = [token for token in tokens[index + 1 : end] if token.tag not in ("EN", "PU")]
        # "I don't, but he does": the other clause states what this one denies.
        if words and (words[-1].full in BE | DO or words[-1].tag in ("AX", "MD")):
            raise RealisationError("unclear-clause", "the other side of but says what is denied here")
    # The *but* before the negation or before the verb group: "but not her", "but he does not".
    but = tokens.at((negation if group is None else min(negation, group.first)) - 1)
    following = tokens.at(negation + 1).tag
    if but.low != "but" or tokens[0] is but:
        return
    if group is None and following in ("RB", "EN"):
        raise RealisationError("unclear-clause", "but not denies an adverb alone")
    if not following.startswith("JJ"):
        sentence.rewrite(but, "and", "CC")


def refuse_set_phrase(sentence: SentenceDraft, index: int, group: VerbGroup | None = None) -> None:
    """Refuse to remove a negation that belongs to a set phrase (rules ``set-phrase``).

    Examples are "I'm afraid not" and "I can't help it". "Never have I seen it" has its verb before its
    subject. In "A little snow never hurt anyone" *hurt* may be past or present, but "A little snow hurt
    someone" tells of one event.

    Args:
        sentence: The sentence being edited.
        index: The index of the negation.
        group: The verb group of the clause that is denied, if one is known.
    """
    tokens, end = sentence.tokens, _scope_end(sentence, index + 1)
    # "I did not leave until he came" is about when, not whether.
    while tokens.at(end).low == "until":
        end = _scope_end(sentence, end + 1)
    until = any(token.low in ("until", "till") for token in tokens[index + 1 : end])
    verb = group.verb if group is not None else EDGE
    subject = group.said_of[-1] if group is not None and group.said_of else EDGE
    third = subject.low in ("he", "she", "it") or subject.tag in ("NN", "NNP")
    # The verb has the same form in all tenses ("hurt", "put") and does not show a present *-s*.
    timeless = third and verb.tag not in ("AX", "MD") and verb.low == verb.lemma == verb.form("VBD")
    inverted = group is not None and group.asks and index < group.first
    sentence.refuse("set-phrase", index, until=until, verb=verb, timeless=timeless, inverted=inverted)


def no_longer(sentence: SentenceDraft, group: VerbGroup) -> bool:
    """Deny a clause with *still* by *no longer*.

    Args:
        sentence: The sentence, edited in place.
        group: The verb group of the clause.

    Returns:
        True if the clause was denied.

    Example:
        "I still live there." becomes "I no longer live there."
    """
    if group.kind != "finite" or group.subject is None or group.inverted:
        return False
    linked = sentence.tokens[group.main].full in BE
    for index in range(group.subject[1], min(group.main + 1 + linked, len(sentence.tokens))):
        if sentence.tokens[index].low == "still":
            sentence.rewrite(sentence.tokens[index], "no", "NEG")
            sentence.insert(index + 1, Token("longer", "RB"))
            return True
    return False


def to_affirmative(sentence: SentenceDraft, start: int) -> None:
    """Replace the words of a clause that an affirmative clause does not contain.

    *Any* becomes *some*, *much* becomes *a lot*, *ever* and *at all* are removed.

    Args:
        sentence: The sentence, edited in place.
        start: The index where the clause or the rest of it begins.

    Example:
        In "I see any birds at all." this gives "I see some birds."
    """
    tokens, index = sentence.tokens, max(start, 0)
    while index < _scope_end(sentence, index):
        low = tokens[index].low
        # *at all* and *any more* are two tokens.
        count = 1 if low in _LEFT_OUT else 2 * (f"{low}_{tokens.at(index + 1).low}" in _LEFT_OUT)
        sentence.cut(index, index + count)
        index += not count
    for token in tokens[max(start, 0) : index]:
        index = tokens.where(token)
        following, last = tokens.at(index + 1).low, _is_last(sentence, index)
        # "I don't like anyone but her" -> "I like everyone but her".
        if token.low in ("anything", "anyone", "anybody") and following in ("but", "except"):
            sentence.rewrite(token, "everything" if token.low == "anything" else "everyone")
        elif token.low in POSITIVE and token.low.startswith("any"):
            sentence.rewrite(token, POSITIVE[token.low])
        elif token.low == "either" and last:
            # "I don't like it either" -> "I like it too".
            sentence.rewrite(token, "too")
        elif token.low == "much" and index and tokens[index - 1].low not in word_class("before-much"):
            # "I don't follow it much" -> "I follow it a lot"; "I don't have much time" -> "I have a lot of
            # time".
            noun = sentence.is_noun(index + 1)
            if noun:
                sentence.insert(index + 1, Token("of", "IN"))
            if noun or last:
                sentence.rewrite(token, "lot", "NN")
                sentence.insert(index, Token("a", "DT"))


def _is_last(sentence: SentenceDraft, index: int) -> bool:
    """Return whether a word ends its clause or sentence."""
    return sentence.tokens.at(index + 1).tag in ("EN", "PU", "QT")


class QuestionTag(NamedTuple):
    """A question tag: *don't you?* in "You like fish, don't you?".

    Attributes:
        verb: The auxiliary of the tag.
        negation: The negation of the tag, or None.
    """

    verb: Token
    negation: Token | None


def question_tag(sentence: SentenceDraft, group: VerbGroup) -> QuestionTag | None:
    """Return the question tag of a clause.

    Args:
        sentence: The sentence.
        group: The verb group of the clause.

    Returns:
        The tag at the end of the sentence if its pronoun refers to the subject of the clause, else None.
    """
    tokens = sentence.tokens
    end = tokens.back(sentence.sentence_bounds(group.first)[1], ("EN",))
    if not end or group.subject is None or not tokens.at(end).text.startswith("?"):
        return None
    index = end - 2
    negation = tokens[index] if index > 0 and tokens[index].tag == "NEG" else None
    index -= negation is not None
    if index <= group.main or tokens[index - 1].text != "," or not _is_auxiliary(tokens[index]):
        return None
    pronoun, subject = tokens[end - 1].low, tokens[group.subject[1] - 1].low
    # "Tom likes fish, doesn't he?"
    third = pronoun in _THIRD and subject not in ("i", "you", "we", *_THIRD)
    return QuestionTag(tokens[index], negation) if pronoun == subject or third else None


def turn_tag(sentence: SentenceDraft, tag: QuestionTag) -> None:
    """Change the polarity of a question tag: "do you?" <-> "don't you?".

    Args:
        sentence: The sentence, edited in place.
        tag: The question tag.

    Raises:
        RealisationError: The auxiliary of the tag takes no *n't* (``unclear-clause``): "am I?".
    """
    verb = tag.verb
    if tag.negation is not None:
        sentence.tokens.remove(tag.negation)
        sentence.rewrite(verb, EXPANDED.get(verb.low, verb.text))
    elif (stem := before_nt(verb.text)) is None:
        raise RealisationError("unclear-clause", f"the question tag's {verb.text} takes no n't")
    else:
        sentence.rewrite(verb, stem)
        sentence.insert(sentence.tokens.where(verb) + 1, Token("n't", "NEG"))


def is_tag_pronoun(sentence: SentenceDraft, token: Token) -> bool:
    """Return whether a token is the pronoun of a question tag.

    Args:
        sentence: The sentence.
        token: The token of a pronoun.

    Returns:
        True for *you* in "..., do you?".
    """
    tokens, index = sentence.tokens, sentence.tokens.where(token)
    verb = index - 2 if index > 1 and tokens[index - 1].tag == "NEG" else index - 1
    ends = tokens.at(index + 1).text[:1] in ("?", ",")
    return ends and verb > 0 and _is_auxiliary(tokens[verb]) and tokens[verb - 1].text == ","


def _is_auxiliary(token: Token) -> bool:
    """Return whether a token can be the verb of a question tag."""
    return token.tag == "MD" or token.full in BE | DO | HAVE or token.low in EXPANDED
