"""What a negation of a clause reaches: words that only a negative clause holds, set phrases, question tags.

In: a verb group, or the index of a negation. Out: refusals where a clause can't be denied or a negation can't
go (rules ``undeniable`` and ``set-phrase``), and the words around it put as a negative or an affirmative
clause says them: ``some`` and ``any``, ``already`` and ``yet``, ``…, do you?`` and ``…, don't you?``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from graphneg.decoders.surface.clauses import Group
from graphneg.decoders.surface.draft import Token
from graphneg.decoders.surface.forms import BE, CONTRACTED, DO, EXPANDED, HAVE, NEVER_CONTRACTED
from graphneg.decoders.surface.refusals import refuse
from graphneg.decoders.surface.sentence import RealisationError, Sentence
from graphneg.english.tagging import NOUNS
from graphneg.english.words import word_class, word_map

NEGATIVE_WORDS = word_class("negative-words")
POSITIVE = word_map("positive")
"""What stands for a negative word, or one of negative clauses, in an affirmative clause."""
OUTSIDE_NOT = word_class("outside-not")
"""Adverbs that stand before a negation, not behind it: *it obviously does not depend on that*."""
SCOPE_ENDS = frozenset({"EN", "SC", "WP", "QT"})
_ASSERTIVE = {"some": "any", "something": "anything", "someone": "anyone", "somebody": "anybody"}
_THIRD = frozenset({"he", "she", "it", "they"})
_LEFT_OUT = {
    **dict.fromkeys((("at", "all"), ("any", "more"), ("any", "longer")), 2),
    **dict.fromkeys(("ever", "even", "yet", "anymore"), 1),
}
"""Words that an affirmative clause does without, and how many they are."""


def denied_group(sentence: Sentence, group: Group | None) -> Group | None:
    """``going to need``, ``have to go``: what is denied is the verb before."""
    if group is None or not group.to:
        return group
    raised = sentence.tokens[group.to - 1].low in word_class("before-to")
    return (sentence.finite(group) or group) if raised else group


def refuse_undeniable(sentence: Sentence, group: Group, label: str) -> None:
    """Raises where the clause of a verb group can't be denied; ``label`` names its node.

    Raises:
        RealisationError: ``unclear-clause``, it is a relative one; ``already-negative``;
            ``unsupported-edit``, it is a phrase that has no negative.
    """
    tokens, main = sentence.tokens, sentence.tokens[group.main]
    start, end = sentence.sentence_bounds(group.first)
    earlier = [other for other in sentence.groups() if start <= other.first < group.first]
    after, after2 = tokens.at(group.main + 1), tokens.at(group.main + 2)
    around = tokens[max(0, group.first - 1) : group.main + 2]
    degrees = around if main.is_be else tokens[max(0, group.first - 1) : group.main + 1]
    subject = group.subject[0] if group.subject else None
    alone = len(group.chain) == 1
    refuse(
        "undeniable",
        label=label,
        kind=group.kind,
        before=tokens.at(group.first - 1),
        main=main,
        after=after,
        before_subject=tokens.at(-1 if subject is None else subject - 1),
        contact=_in_contact_clause(sentence, group, earlier),
        negative=_has_negative(sentence, group) or any(token.low in ("only", "rather") for token in around),
        part=sentence.finite(group) is not None,
        contrasted=_is_followed_by_not(tokens[group.main + 1 : end]),
        offers=sentence.offers(group),
        alone=alone,
        ends=after.tag in ("EN", "PU"),
        presented=group.asks,
        # Shall I come and fetch it?
        asked=subject is None
        and group.kind != "imperative"
        and tokens[end - 1].text == "?"
        and any(other.asks for other in earlier),
        regrets=after.low == "afraid" and bool(after2.text) and after2.low not in ("of", "to"),
        degree=any(token.low in word_class("undenied") and token.tag == "RB" for token in degrees),
        stands_for_more=alone and _is_pro_verb(main, after),
    )


def refuse_answer(sentence: Sentence, index: int) -> None:
    """Raises where yes or no opens the sentence around ``index``: what follows can't say or ask the opposite.

    Raises:
        RealisationError: ``unclear-clause``.
    """
    before = sentence.tokens[sentence.sentence_bounds(index)[0] : index]
    opening = next((token for token in before if token.tag not in ("QT", "PU")), None)
    if sum(token.is_quote for token in before) > 1 or opening is None:
        return
    if opening.low in word_class("answers") and opening.tag == "UH":
        raise RealisationError("unclear-clause", f"{opening.text} says already what is so")


def _is_followed_by_not(after: list[Token]) -> bool:
    """``He likes me but not her``: *he does not like me but not her* says nothing."""
    return any(
        token.low == "not" and (before.low in ("but", "and") or before.text == ",")
        for before, token in pairwise(after)
    )


def _is_pro_verb(main: Token, after: Token) -> bool:
    """``I did back in school``, ``I am too``: the verb stands for what was said before."""
    if main.full in BE and after.low == "too":
        return True
    return main.full in DO and (after.tag == "IN" or after.low in ("back", "before", "so"))


def _in_contact_clause(sentence: Sentence, group: Group, earlier: list[Group]) -> bool:
    """``the best we can do``: a relative clause without a pronoun, its noun right before its subject."""
    if group.subject is None or group.inverted:
        return False
    start = group.subject[0]
    headed = sentence.tokens.at(start - 1).tag in ("NN", "NNS", "JJ") and sentence.tokens[start].tag == "PRS"
    return headed and any(other.first < start and other.kind == "finite" for other in earlier)


def _has_negative(sentence: Sentence, group: Group) -> bool:
    """Whether the clause of a verb group is negated, or says a word such as *never* or *nothing*."""
    tokens = sentence.tokens
    start, end = group.subject[0] if group.subject else group.first, group.main + 1
    while end < len(tokens) and tokens[end].tag not in SCOPE_ENDS and tokens[end].text != ",":
        end += 1
    said = any(token.low in NEGATIVE_WORDS for token in tokens[max(0, start - 1) : end])
    return said or bool(group.negations)


def to_negative(sentence: Sentence, first: int, main: int) -> None:
    """``some`` becomes ``any``, ``already`` ``yet``, a last ``too`` ``either``, around a verb group."""
    tokens = sentence.tokens
    for token in tokens[max(0, first - 1) : main + 2]:
        if token.low == "already":
            sentence.rewrite(token, "yet")
    for index in range(main + 1, len(tokens)):
        token = tokens[index]
        if token.tag in SCOPE_ENDS or token.tag in ("PU", "AX", "MD", "VBD", "VBZ", "VBP"):
            return
        if token.low in _ASSERTIVE:
            sentence.rewrite(token, _ASSERTIVE[token.low])
        elif token.low in ("too", "also") and _is_last(sentence, index):
            sentence.rewrite(token, "either")


def drop_also(sentence: Sentence, group: Group) -> None:
    """``That is also a job``, ``I can also swim``: what is not so is not so besides; *also* goes."""
    if group.kind != "finite" or group.inverted:
        return
    for index in range(group.first + 1, min(group.main + 2, len(sentence.tokens))):
        if sentence.tokens[index].low == "also":
            sentence.cut(index, index + 1)
            group.chain[:] = [verb - (verb > index) for verb in group.chain]
            return


def and_for_but(sentence: Sentence, negation: int, group: Group | None) -> None:
    """``likes me but not her``: what is no longer denied is joined by *and*; a quality may still contrast.

    ``group`` is the verb group that is denied, if one is.

    Raises:
        RealisationError: ``unclear-clause``, an adverb alone is denied, *but not often*, or a thing for the
            sake of another one, *not tea but coffee*.
    """
    _refuse_rather(sentence, negation)
    but = sentence.tokens.at((negation if group is None else min(negation, group.first)) - 1)
    following = sentence.tokens.at(negation + 1).tag
    if but.low != "but" or sentence.tokens[0] is but:
        return
    if group is None and following in ("RB", "EN"):
        raise RealisationError("unclear-clause", "but not denies an adverb alone")
    if not following.startswith("JJ"):
        sentence.rewrite(but, "and", "CC")


def _refuse_rather(sentence: Sentence, negation: int) -> None:
    """``not tea but coffee``, ``I don't, but he does``: affirmed, nothing is left that *but* sets apart."""
    tokens = sentence.tokens
    _, end = sentence.sentence_bounds(negation)
    for index in range(negation + 1, end - 1):
        if tokens[index].low != "but":
            continue
        clause = any(index < group.first < end for group in sentence.groups())
        if not clause and tokens[index + 1].tag in (*NOUNS, "DT", "CD", "PS"):
            raise RealisationError("unclear-clause", "the other side of but is no clause")
        words = [token for token in tokens[index + 1 : end] if token.tag not in ("EN", "PU")]
        if words and (words[-1].full in BE | DO or words[-1].tag in ("AX", "MD")):
            raise RealisationError("unclear-clause", "the other side of but says what is denied here")


def phrase_end(sentence: Sentence, index: int) -> int:
    """Where the noun phrase ends that goes on at ``index``: *no right or wrong answers*."""
    tokens, words = sentence.tokens, ("JJ", "RB", "CD", "VBN", "VBG", *NOUNS)
    while index < len(tokens):
        following = tokens[index + 1].tag if index + 1 < len(tokens) else ""
        described = not sentence.is_noun(index - 1) and following in words
        joins = tokens[index].low in ("or", "and") and (described or following == "JJ")
        if not joins and tokens[index].tag not in words:
            break
        index += 1
    return index


def refuse_set_phrase(sentence: Sentence, index: int) -> None:
    """Raises where the negation at ``index`` can't be taken out: *I'm afraid not*, *can't wait*, *not until*.

    Raises:
        RealisationError: ``unsupported-edit``.
    """
    tokens, after, end = sentence.tokens, sentence.tokens.at(index + 1), index + 1
    while end < len(tokens) and (tokens[end].tag not in SCOPE_ENDS or tokens[end].low == "until"):
        end += 1
    refuse(
        "set-phrase",
        before=tokens.at(index - 1),
        negation=tokens[index],
        after=after,
        ends=_is_last(sentence, index) or after.tag == "SC",
        until=any(token.low in ("until", "till") for token in tokens[index + 1 : end]),
    )


def no_longer(sentence: Sentence, group: Group) -> bool:
    """``I still live there`` is denied by ``I no longer live there``."""
    if group.kind != "finite" or group.subject is None or group.inverted:
        return False
    linked = sentence.tokens[group.main].full in BE
    for index in range(group.subject[1], min(group.main + 1 + linked, len(sentence.tokens))):
        if sentence.tokens[index].low == "still":
            sentence.rewrite(sentence.tokens[index], "no", "NEG")
            sentence.insert(index + 1, Token("longer", "RB"))
            return True
    return False


def to_affirmative(sentence: Sentence, start: int) -> None:
    """``any``, ``ever``, ``at all``, ``much``: put as an affirmative clause says them, or left out."""
    tokens, index = sentence.tokens, max(start, 0)
    while index < len(tokens) and tokens[index].tag not in SCOPE_ENDS:
        low = tokens[index].low
        count = _LEFT_OUT.get(low) or _LEFT_OUT.get((low, tokens.at(index + 1).low), 0)
        sentence.cut(index, index + count)
        index += not count
    index = max(start, 0)
    while index < len(tokens) and tokens[index].tag not in SCOPE_ENDS:
        token, following = tokens[index], tokens.at(index + 1).low
        if token.low in ("anything", "anyone", "anybody") and following in ("but", "except"):
            sentence.rewrite(token, "everything" if token.low == "anything" else "everyone")
        elif token.low in POSITIVE and token.low.startswith("any"):
            sentence.rewrite(token, POSITIVE[token.low])
        elif token.low == "either" and _is_last(sentence, index):
            sentence.rewrite(token, "too")
        elif token.low == "much" and index and tokens[index - 1].low not in word_class("before-much"):
            _write_a_lot(sentence, index)
        index += 1


def _write_a_lot(sentence: Sentence, index: int) -> None:
    """``I don't follow it much``: ``I follow it a lot``; ``much time``: ``a lot of time``."""
    noun = sentence.is_noun(index + 1)
    if noun or _is_last(sentence, index):
        sentence.rewrite(sentence.tokens[index], "lot", "NN")
        sentence.insert(index, Token("a", "DT"))
    if noun:
        sentence.insert(index + 2, Token("of", "IN"))


def _is_last(sentence: Sentence, index: int) -> bool:
    return sentence.tokens.at(index + 1).tag in ("EN", "PU", "QT")


@dataclass(frozen=True, slots=True)
class QuestionTag:
    """The verb of a tag, and what negates it: ``You like fish, don't you?`` is negative where the clause that
    it asks about is not."""

    verb: Token
    negation: Token | None


def question_tag(sentence: Sentence, group: Group) -> QuestionTag | None:
    """The tag at the end of the sentence, where it asks about the subject of this clause."""
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
    third = pronoun in _THIRD and subject not in ("i", "you", "we", *_THIRD)
    return QuestionTag(tokens[index], negation) if pronoun == subject or third else None


def turn_tag(sentence: Sentence, tag: QuestionTag) -> None:
    """``…, do you?`` for ``…, don't you?``, and the other way round.

    Raises:
        RealisationError: ``unclear-clause``, the tag's verb takes no n't.
    """
    verb = tag.verb
    if tag.negation is not None:
        sentence.tokens.remove(tag.negation)
        sentence.rewrite(verb, EXPANDED.get(verb.low, verb.text))
    elif verb.low in NEVER_CONTRACTED:
        raise RealisationError("unclear-clause", f"the question tag's {verb.text} takes no n't")
    else:
        sentence.rewrite(verb, CONTRACTED.get(verb.low, verb.text))
        sentence.insert(sentence.tokens.where(verb) + 1, Token("n't", "NEG"))


def is_tag_pronoun(sentence: Sentence, token: Token) -> bool:
    """Whether this is the *you* of ``…, do you?``."""
    tokens, index = sentence.tokens, sentence.tokens.where(token)
    verb = index - 2 if index > 1 and tokens[index - 1].tag == "NEG" else index - 1
    ends = tokens.at(index + 1).text.startswith("?")
    return ends and verb > 0 and _is_auxiliary(tokens[verb]) and tokens[verb - 1].text == ","


def _is_auxiliary(token: Token) -> bool:
    return token.tag == "MD" or token.full in BE | DO | HAVE or token.low in EXPANDED
