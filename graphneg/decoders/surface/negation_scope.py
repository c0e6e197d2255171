"""What a negation of a clause reaches: words that only a negative clause holds, set phrases, question tags.

In: a verb group, or the index of a negation. Out: refusals where a clause can't be denied or a negation can't
go (rules ``undeniable`` and ``set-phrase``), and the words around it put as a negative or an affirmative
clause says them: ``some`` and ``any``, ``already`` and ``yet``, ``…, do you?`` and ``…, don't you?``.
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

NEGATIVE_WORDS = word_class("negative-words")
POSITIVE = word_map("positive")
"""What stands for a negative word, or one of negative clauses, in an affirmative clause."""
SCOPE_ENDS = frozenset({"EN", "SC", "WP", "QT"})
_ASSERTIVE = word_map("assertive")
_LEFT_OUT = word_class("left-out")
_THIRD = frozenset({"he", "she", "it", "they"})


def refuse_undeniable(sentence: SentenceDraft, group: VerbGroup, label: str) -> None:
    """Raises where the clause of a group can't be denied (rules ``undeniable``); ``label`` is its node's."""
    tokens, main, first = sentence.tokens, group.main, group.first
    bounds = sentence.sentence_bounds(first)
    earlier = [other for other in sentence.groups() if bounds[0] <= other.first < first]
    around, narrow = (tokens[max(0, first - 1) : end] for end in (main + 2, main + 1))
    start = group.subject[0] if group.subject else first
    scope = tokens[max(0, start - 1) : _scope_end(sentence, main + 1, ",")]
    only = any(token.low in ("only", "rather") for token in around)
    # He likes me but not her: he does not like me but not her says nothing.
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
        negative=only or bool(group.negations) or any(token.low in NEGATIVE_WORDS for token in scope),
        part=sentence.finite(group) is not None,
        contrasted=contrasted,
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
    """Where the clause that goes on at an index ends: at a tag of `SCOPE_ENDS`, or at one of the marks."""
    tokens = sentence.tokens
    while index < len(tokens) and tokens[index].tag not in SCOPE_ENDS and tokens[index].text not in marks:
        index += 1
    return index


def refuse_answer(sentence: SentenceDraft, index: int) -> None:
    """Raises ``unclear-clause`` where yes or no opens the sentence: what follows can't say the opposite."""
    before = sentence.tokens[sentence.sentence_bounds(index)[0] : index]
    opening = next((token for token in before if token.tag not in ("QT", "PU")), None)
    if sum(token.is_quote for token in before) > 1 or opening is None:
        return
    if opening.low in word_class("answers") and opening.tag == "UH":
        raise RealisationError("unclear-clause", f"{opening.text} says already what is so")


def to_negative(sentence: SentenceDraft, group: VerbGroup) -> None:
    """``some`` becomes ``any``, with ``or`` for ``and``, ``already`` ``yet``, a last ``too`` ``either``.

    *Also* goes, ``That is also a job``, ``I can also swim``: what is not so is not so besides.
    """
    tokens = sentence.tokens
    if group.kind == "finite" and not group.inverted:
        start = group.subject[1] if group.subject else group.first + 1
        near = range(start, min(group.main + 2, len(tokens)))
        for index in [index for index in near if tokens[index].low == "also"][:1]:
            tokens.pop(index)
            group.chain[:] = [verb - (verb > index) for verb in group.chain]
    for token in tokens[max(0, group.first - 1) : group.main + 2]:
        if token.low == "already":
            sentence.rewrite(token, "yet")
    is_any = False
    for index in range(group.main + 1, len(tokens)):
        token = tokens[index]
        if token.low == "but" or token.tag in SCOPE_ENDS | {"PU", "AX", "MD", "VBD", "VBZ", "VBP"}:
            return
        if token.low in _ASSERTIVE:
            sentence.rewrite(token, _ASSERTIVE[token.low])
            is_any = True
        elif is_any and token.low == "and" and tokens.at(index + 1).tag in (*NOUNS, "DT", "PS", "JJ"):
            sentence.rewrite(token, "or")  # not any tea or cake
        elif token.low in ("too", "also") and _is_last(sentence, index):
            sentence.rewrite(token, "either")


def and_for_but(sentence: SentenceDraft, negation: int, group: VerbGroup | None) -> None:
    """``likes me but not her``: what is no longer denied is joined by *and*; a quality may still contrast.

    ``group`` is the verb group that is denied, if one is. Raises ``unclear-clause`` where an adverb alone is
    denied, *but not often*, or nothing is left that *but* sets apart: *not tea but coffee*, *I don't, but he
    does*.
    """
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
    but = tokens.at((negation if group is None else min(negation, group.first)) - 1)
    following = tokens.at(negation + 1).tag
    if but.low != "but" or tokens[0] is but:
        return
    if group is None and following in ("RB", "EN"):
        raise RealisationError("unclear-clause", "but not denies an adverb alone")
    if not following.startswith("JJ"):
        sentence.rewrite(but, "and", "CC")


def refuse_set_phrase(sentence: SentenceDraft, index: int, group: VerbGroup | None = None) -> None:
    """Raise `RealisationError` where a negation can't go: *I'm afraid not* (rules ``set-phrase``).

    "Never have I seen it" has its verb before its subject. In "A little snow never hurt anyone" *hurt* may be
    past or present: "A little snow hurt someone" tells of one event.

    Args:
        sentence: The sentence being edited.
        index: The index of the negation.
        group: The verb group of the clause that is denied, if one is known.
    """
    tokens, end = sentence.tokens, _scope_end(sentence, index + 1)
    while tokens.at(end).low == "until":
        end = _scope_end(sentence, end + 1)
    until = any(token.low in ("until", "till") for token in tokens[index + 1 : end])
    verb = group.verb if group is not None else EDGE
    subject = group.said_of[-1] if group is not None and group.said_of else EDGE
    third = subject.low in ("he", "she", "it") or subject.tag in ("NN", "NNP")
    timeless = third and verb.tag not in ("AX", "MD") and verb.low == verb.lemma == verb.form("VBD")
    inverted = group is not None and group.asks and index < group.first
    sentence.refuse("set-phrase", index, until=until, verb=verb, timeless=timeless, inverted=inverted)


def no_longer(sentence: SentenceDraft, group: VerbGroup) -> bool:
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


def to_affirmative(sentence: SentenceDraft, start: int) -> None:
    """``any``, ``ever``, ``at all``, ``much``: put as an affirmative clause says them, or left out."""
    tokens, index = sentence.tokens, max(start, 0)
    while index < _scope_end(sentence, index):
        low = tokens[index].low
        count = 1 if low in _LEFT_OUT else 2 * (f"{low}_{tokens.at(index + 1).low}" in _LEFT_OUT)
        sentence.cut(index, index + count)
        index += not count
    for token in tokens[max(start, 0) : index]:
        index = tokens.where(token)
        following, last = tokens.at(index + 1).low, _is_last(sentence, index)
        if token.low in ("anything", "anyone", "anybody") and following in ("but", "except"):
            sentence.rewrite(token, "everything" if token.low == "anything" else "everyone")
        elif token.low in POSITIVE and token.low.startswith("any"):
            sentence.rewrite(token, POSITIVE[token.low])
        elif token.low == "either" and last:
            sentence.rewrite(token, "too")
        elif token.low == "much" and index and tokens[index - 1].low not in word_class("before-much"):
            # I don't follow it much: I follow it a lot; much time: a lot of time.
            noun = sentence.is_noun(index + 1)
            if noun:
                sentence.insert(index + 1, Token("of", "IN"))
            if noun or last:
                sentence.rewrite(token, "lot", "NN")
                sentence.insert(index, Token("a", "DT"))


def _is_last(sentence: SentenceDraft, index: int) -> bool:
    return sentence.tokens.at(index + 1).tag in ("EN", "PU", "QT")


class QuestionTag(NamedTuple):
    """The verb of a tag, and what negates it: *You like fish, don't you?* asks of an affirmative clause."""

    verb: Token
    negation: Token | None


def question_tag(sentence: SentenceDraft, group: VerbGroup) -> QuestionTag | None:
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


def turn_tag(sentence: SentenceDraft, tag: QuestionTag) -> None:
    """*do you?* for *don't you?* and back; raises ``unclear-clause`` where the verb takes no n't."""
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
    """Whether this is the *you* of ``…, do you?``."""
    tokens, index = sentence.tokens, sentence.tokens.where(token)
    verb = index - 2 if index > 1 and tokens[index - 1].tag == "NEG" else index - 1
    ends = tokens.at(index + 1).text[:1] in ("?", ",")
    return ends and verb > 0 and _is_auxiliary(tokens[verb]) and tokens[verb - 1].text == ","


def _is_auxiliary(token: Token) -> bool:
    return token.tag == "MD" or token.full in BE | DO | HAVE or token.low in EXPANDED
