"""The words of a subtree go; a new predicate goes above a sentence."""

from __future__ import annotations

from graphneg.decoders.surface.agreement import PEOPLE, agree_with, is_subject
from graphneg.decoders.surface.clauses import Group, straighten
from graphneg.decoders.surface.draft import Token, new
from graphneg.decoders.surface.forms import (
    SUBJECT,
    agree,
    article,
    may_be_bare,
    pronoun,
    pronoun_cases,
)
from graphneg.decoders.surface.grafts import splice
from graphneg.decoders.surface.mood import assertion, end_plain, strip_to_base, uninvert
from graphneg.decoders.surface.sentence import Phrase, RealisationError, Sentence, phrase
from graphneg.english.noun_kinds import lexeme
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_set

# The words of a subtree go, with the preposition, conjunction or commas that led to it.


def drop(sentence: Sentence, k: int) -> None:
    """Takes the words of a subtree out, with the preposition, conjunction or commas that led to it.

    An argument that its verb can't miss leaves ``something`` or ``someone``.

    Raises:
        RealisationError: ``no-alignment``; ``unclear-clause``, what is left would have no verb.
    """
    node = sentence.node(k)
    if node.role is not None and node.role.startswith("snt"):
        _drop_sentence(sentence, k)
        return
    target = phrase(sentence, k)
    if target.kind == "determiner":
        _drop_determiner(sentence, target)
        return
    if node.role == "condition" and not _subordinate(sentence, target):
        raise RealisationError("unclear-clause", "no clause with if was found")
    main = target.kind in ("predicate", "clause")
    if main and not (_conjunct(sentence, target) or _subordinate(sentence, target)):
        raise RealisationError("unclear-clause", "the main clause can't go")
    if target.kind == "possessive":
        sentence.rewrite(sentence.tokens[target.start], "the", "DT")
        return
    if target.kind == "nominal" and _inner_head(sentence, k, target):
        raise RealisationError("unclear-clause", "the word is the head of its phrase")
    if target.kind in ("nominal", "verb") and _argument(sentence, k, target):
        return
    _remove(sentence, target, (node.role or "").startswith("op"))


def _inner_head(sentence: Sentence, k: int, target: Phrase) -> bool:
    """Whether what the node modifies stands before it in the same noun phrase (``boa constrictors``)."""
    up = sentence.node(k).up
    above = sentence.indices(up) if up is not None else []
    return bool(above) and target.start <= above[0] < target.head


def _drop_determiner(sentence: Sentence, target: Phrase) -> None:
    """``this tale`` becomes ``the tale``, ``six years`` ``years``, ``no idea`` an idea."""
    tokens = sentence.tokens
    token = tokens[target.start]
    end = target.end
    while end < len(tokens) and tokens[end].tag in ("JJ", "RB", "CD", "DT", "VBN", "VBG", *NOUNS):
        end += 1
    head = tokens[end - 1]
    before = tokens[target.start - 1] if target.start else None
    determined = before is not None and before.tag in ("DT", "PS", "POS")
    if token.low in ("a", "an", "the", "such", "what", "which") or end == target.end:
        raise RealisationError("unclear-clause", f"{token.text} can't be left out")
    followed = tokens[target.end].tag in ("DT", "PS")
    if (
        head.tag in ("NNS", "NNP")
        or determined
        or followed
        or (may_be_bare(head.low) and token.low not in _POINTING)
    ):
        if token.low in _POINTING:
            sentence.rewrite(token, "the", "DT")
        else:
            sentence.cut(target.start, target.end)
    elif token.low in (*_POINTING, "every", "each", "all", "both", "another", "either"):
        sentence.rewrite(token, "the", "DT")
    else:
        sentence.rewrite(token, article(tokens[target.end].text), "DT")


_POINTING = ("this", "that", "these", "those")


def _drop_sentence(sentence: Sentence, k: int) -> None:
    indices = [index for one in range(k, sentence.node(k).last + 1) for index in sentence.indices(one)]
    if not indices:
        raise RealisationError("no-alignment", "no word stands for the sentence")
    indices.sort()
    start, end = sentence.sentence_bounds(indices[len(indices) // 2])
    if end - start >= len([token for token in sentence.tokens if token.tag not in ("QT",)]):
        raise RealisationError("unclear-clause", "the sentence is all there is")
    sentence.cut(start, end)


def _conjunct(sentence: Sentence, target: Phrase) -> bool:
    return bool(target.start) and sentence.tokens[target.start - 1].tag == "CC"


def _subordinate(sentence: Sentence, target: Phrase) -> bool:
    return bool(target.start) and sentence.tokens[target.start - 1].tag in ("SC", "WP")


def _argument(sentence: Sentence, k: int, target: Phrase) -> bool:
    """Subjects and objects leave an indefinite pronoun; True when that was done."""
    tokens = sentence.tokens
    before = tokens[target.start - 1] if target.start else None
    subject = is_subject(sentence, tokens[target.head])
    tag = before.tag if before is not None else "EN"
    if target.kind == "verb":
        if tag == "TO" and target.start > 1 and tokens[target.start - 2].tag in VERBS:
            tokens[target.start - 1 : target.end] = [new("something", "PN")]
            return True
        return False
    if target.end < len(tokens) and tokens[target.end].tag == "POS":
        keeps = tokens[target.start].tag in ("PS", "DT") and target.start < target.head
        sentence.cut(target.start + keeps, target.end + 1)
        return True
    objective = tag in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "AX", "NEG", "PRO")
    if not subject and not objective:
        return False
    if any(token.tag == "CC" for token in tokens[target.end : target.end + 1]) or tag == "CC":
        return False
    replacement = new("someone" if _is_person(sentence, k, target) else "something", "PN")
    splice(sentence, target, [replacement])
    if subject:
        agree_with(sentence, replacement)
    return True


def _is_person(sentence: Sentence, k: int, target: Phrase) -> bool:
    head = sentence.tokens[target.head]
    known = pronoun_cases(head.text)
    return sentence.node(k).concept == "person" or head.low in PEOPLE or (bool(known) and known[0][0] != "it")


def _remove(sentence: Sentence, target: Phrase, conjunct: bool) -> None:
    tokens = sentence.tokens
    start, end = target.start, target.end
    _check_copula(sentence, target)
    if target.kind not in ("adjective", "modifier", "adverb"):
        while start and tokens[start - 1].tag in ("IN", "TO", "SC", "WP"):
            start -= 1
    if (
        target.kind == "nominal"
        and end + 1 < len(tokens)
        and tokens[end].tag == "IN"
        and tokens[end + 1].tag == "PRO"
    ):
        end += 2
    while target.kind in ("verb", "clause", "predicate") and end < len(tokens) and tokens[end].tag == "PRO":
        end += 1
    if conjunct and _last_of_list(sentence, start, end):
        return
    if (
        conjunct
        and start
        and tokens[start - 1].tag == "CC"
        and (end >= len(tokens) or tokens[end].tag != "CC")
    ):
        start -= 1
    elif (
        conjunct
        and end < len(tokens)
        and tokens[end].tag == "CC"
        and start
        and tokens[start - 1].tag not in ("PU", "EN")
    ):
        end += 1
    if (
        start
        and tokens[start - 1].text == ","
        and end < len(tokens)
        and tokens[end].text in (",", ".", "!", "?")
    ):
        start -= 1
    elif (
        end < len(tokens)
        and tokens[end].text == ","
        and (start == 0 or tokens[start - 1].tag in ("EN", "QT", "CC", "PU"))
    ):
        end += 1
    if start == 0 and end >= len(tokens) - 1:
        raise RealisationError("unclear-clause", "nothing would be left")
    sentence.cut(start, end)


def _last_of_list(sentence: Sentence, start: int, end: int) -> bool:
    """``a, b, and c`` without c is ``a and b``."""
    tokens = sentence.tokens
    if start < 3 or tokens[start - 1].low not in ("and", "or"):
        return False
    cut = start - 2 if tokens[start - 2].text == "," else start - 1
    comma = next((p for p in range(cut - 1, max(-1, cut - 8), -1) if tokens[p].text == ","), None)
    between = tokens[comma + 1 : cut] if comma is not None else []
    if comma is None or any(token.tag in (*VERBS, "IN", "SC", "QT") for token in between):
        return False
    joint = tokens[start - 1].text
    sentence.cut(cut, end)
    tokens[comma].text, tokens[comma].tag, tokens[comma].home = joint, "CC", -1
    return True


def _check_copula(sentence: Sentence, target: Phrase) -> None:
    """A linking verb can't lose its complement."""
    if target.kind not in ("adjective", "adverb", "other", "nominal"):
        return
    tokens = sentence.tokens
    index = target.start
    while index and (tokens[index - 1].tag in ("RB", "NEG") or tokens[index - 1].text == ","):
        index -= 1
    after = tokens[target.end] if target.end < len(tokens) else None
    complete = after is not None and after.tag in ("JJ", "VBN", "VBG", "DT", "PS", "NN", "NNS", "PRO", "CD")
    group = next((one for one in sentence.groups() if index - 1 in one.chain and one.main == index - 1), None)
    if group is not None and tokens[group.main].lemma in _LINKING and not complete:
        raise RealisationError("unclear-clause", "the verb would have no predicate")


_LINKING = word_set("be is am are was were 's become seem")


# A new predicate goes above a sentence: ``I agree that``, ``I refuse to``, ``I doubt that``.


_LEAD_ADVERBS = frozenset({"so", "then", "now", "therefore", "however", "thus", "well", "for"})
_ANSWERS = word_set("yes yeah yep yup no nope sorry thanks thank please hello hi hey okay ok sure")
_OPEN_CLAUSE = frozenset({"IN", "SC", "WP", "RB", "DT", "PS", "PRS", "PRO", "VBG", "NNP", "CD"})
_CLAUSE_OPENERS = {
    "refuse-01": "refuse to accept that",
    "doubt-01": "doubt that",
    "order-01": "order that",
    "command-02": "command that",
    "demand-01": "demand that",
    "wonder-01": "wonder whether",
    "ask-01": "ask whether",
    "possible-01": "possible",
    "obligate-01": "necessary",
    "reject-01": "reject the idea that",
    "disagree-01": "disagree that",
    "accept-01": "accept that",
    "promise-01": "promise that",
}
_SUBJUNCTIVE = frozenset({"order-01", "command-02", "demand-01", "recommend-01", "suggest-01", "propose-01"})


def wrap(sentence: Sentence, concept: str, person: str) -> None:
    """Puts ``I agree that`` and its like above the sentence; ``person`` is the new subject.

    Raises:
        RealisationError: ``unclear-clause``, the sentence has no clause that can stand under a verb.
    """
    group = _first_clause(sentence, assertion(sentence, 0))
    tokens = sentence.tokens
    start, _ = sentence.sentence_bounds(group.first)
    asks = group.inverted and not group.quotative
    if asks and any(token.tag == "WP" for token in tokens[start : group.first]):
        raise RealisationError("unclear-clause", "a question with a question word can't stand under a verb")
    index = start
    while index < group.first and tokens[index].tag in ("CC", "UH", "PU", "QT"):
        index += 1
    while (
        index < group.first
        and tokens[index].low in _LEAD_ADVERBS
        and tokens[index + 1].tag not in ("SC", "JJ", "RB")
    ):
        index += 1
        index += tokens[index].text == ","
    _refuse_fragment(tokens, start, index, group)
    opener = _opener(concept, person)
    if group.quotative and index == group.first:
        straighten(tokens, group)
    if asks and group.subject is not None:
        uninvert(sentence, group)
        end_plain(sentence, tokens[index])
    elif group.kind == "imperative":
        _order_under(sentence, group, concept, person)
        return
    elif concept in _SUBJUNCTIVE:
        if group.subject is None or group.quotative:
            raise RealisationError("unclear-clause", "no subject that could be ordered")
        strip_to_base(sentence, group)
    elif concept == "refuse-01" and group.subject is not None and _same_person(tokens, group, person):
        subject = tokens[group.subject[0] : group.subject[1]]
        if len(group.chain) > 1 and tokens[group.main].tag == "VBG":
            raise RealisationError("unsupported-edit", "nobody refuses what he is doing")
        strip_to_base(sentence, group)
        for token in subject:
            tokens.remove(token)
        opener = [*opener[:2], new("to", "TO")]
    sentence.insert(index, *opener)


def _refuse_fragment(tokens: list[Token], start: int, index: int, group: Group) -> None:
    """Raises where yes, sorry, thanks or a half sentence comes before the clause: nobody doubts these.

    Raises:
        RealisationError: ``unclear-clause``.
    """
    refuse = RealisationError("unclear-clause", "something that is no clause can't stand under a verb")
    if any(token.low in _ANSWERS for token in tokens[start : index + 1]) or tokens[index].tag == "TO":
        raise refuse
    if group.subject is not None and not group.quotative and group.subject[0] > index:
        between = tokens[index : group.subject[0]]
        if between[0].tag not in _OPEN_CLAUSE and any(token.tag in ("PU", "EN") for token in between):
            raise refuse
    if any(is_dangling(tokens, one) for one in range(index, len(tokens))):
        raise refuse


def is_dangling(tokens: list[Token], index: int) -> bool:
    """``I'd love to, ...``: an infinitive whose verb was said before, by somebody else perhaps."""
    following = tokens[index + 1 : index + 2]
    return tokens[index].tag == "TO" and all(
        token.tag in ("EN", "PU", "QT", "CC", "SC") for token in following
    )


def _first_clause(sentence: Sentence, found: Group) -> Group:
    """The first main clause of the sentence: the one that an opener stands before."""
    start, end = sentence.sentence_bounds(found.first)
    for group in sentence.groups():
        if start <= group.first < end and group.kind in ("finite", "imperative"):
            opens = group.subject[0] if group.subject else group.first
            if opens == start or sentence.tokens[opens - 1].tag not in ("SC", "WP"):
                return group
    return found


def _same_person(tokens: list[Token], group: Group, person: str) -> bool:
    assert group.subject is not None
    start, end = group.subject
    return end - start == 1 and tokens[start].low == person and not group.negations and end == group.first


def _opener(concept: str, person: str) -> list[Token]:
    phrase = _CLAUSE_OPENERS.get(concept, f"{lexeme(concept)} that")
    if concept in ("possible-01", "obligate-01"):
        return [new("it", "PRS"), new("is", "AX"), new(phrase, "JJ"), new("that", "SC")]
    verb, *rest = phrase.split(" ")
    return [
        new(pronoun(person, SUBJECT), "PRS"),
        new(agree(verb, "VBP", person), "VBP"),
        *(new(word, "SC" if word == "that" else "TO" if word == "to" else "NN") for word in rest),
    ]


def _order_under(sentence: Sentence, group: Group, concept: str, person: str) -> None:
    """``I order you to draw a sheep``, ``I refuse to draw a sheep``, ``I agree that you should``."""
    tokens = sentence.tokens
    index = group.first
    negations = [tokens[p] for p in group.negations]
    main = tokens[group.main]
    if main.low == "let" and tokens[index + 1].low in ("'s", "us"):
        raise RealisationError("unclear-clause", "let us can't stand under a verb")
    verb = lexeme(concept).split(" ")[0]
    subject = new(pronoun(person, SUBJECT), "PRS")
    finite = new(agree(verb, "VBP", person), "VBP")
    if negations:
        for token in negations:
            tokens.remove(token)
        if tokens[index].low == "do" and tokens[index] is not main:
            tokens.remove(tokens[index])
    if main.low == "please":
        raise RealisationError("unclear-clause", "please is no order")
    no = [new("not", "NEG")] if negations else []
    if concept in ("order-01", "command-02", "ask-02", "tell-01", "advise-01"):
        sentence.insert(index, subject, finite, new("you", "PRO"), *no, new("to", "TO"))
    elif concept in ("refuse-01", "promise-01"):
        sentence.insert(index, subject, finite, *no, new("to", "TO"))
    else:
        sentence.insert(index, *_opener(concept, person), new("you", "PRS"), new("should", "MD"), *no)
