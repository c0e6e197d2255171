"""Puts right what the dependency parser often gets wrong, before any rule reads it."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.alignment.words import readings
from graphneg.parsers.dependency.lemmas import lemma_of
from graphneg.parsers.dependency.rules.closed_classes import COLOURS
from graphneg.parsers.dependency.rules.existence import mend_existence
from graphneg.parsers.dependency.rules.quotations import mend_quotation
from graphneg.parsers.dependency.rules.retying import raise_over, retie
from graphneg.parsers.dependency.rules.speech import SPEECH
from graphneg.parsers.dependency.rules.word_sets import word_set
from graphneg.parsers.dependency.words import Word

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})
_TAGS = frozenset({"right", "huh", "eh", "okay", "ok", "yeah"})
_AUXILIARIES = word_set(
    "is are was were do does did have has had can could will would should must wo ca ai am"
)
_TURNS = word_set("turn go keep bear veer swerve steer look head")
_ONES = frozenset({"a", "an", "my", "your", "his", "her", "our", "their", "some", "every"})
_QUOTES = frozenset({'"', "\u201c", "\u201d", "''", "``"})


def mend(words: Sequence[Word]) -> None:
    """Changes heads and relations in place."""
    for word in words:
        if word.lower == "there" and word.tag[:2] == "NN":
            _mend_there(words, word)
        elif word.lemma in SPEECH and word.tag[:2] == "VB":
            mend_quotation(words, word)
        elif word.lower == "like" and word.tag == "IN":
            if any(words[k].dep in _SUBJECTS for k in word.kids):
                word.tag, word.pos = "VBP", "VERB"
        elif word.lemma == "be" and word.tag[:2] == "VB":
            mend_existence(words, word)
        elif word.dep == "conj" and word.lower in COLOURS:
            _mend_colours(words, word)
        elif word.lower == "so" and word.tag in {"RB", "IN", "CC"}:
            _mend_result(words, word)
        elif word.lower == "left" and word.tag[:2] in {"VB", "JJ"} and word.dep != "amod" and word.i:
            _mend_direction(words, words[word.i - 1], word)
        elif word.dep == "conj" and word.tag in {"NN", "JJ"} and not word.kids:
            _mend_joined_verb(words, word)
        elif word.lemma in {"seem", "appear"} and word.tag[:2] == "VB":
            _mend_seeming(words, word)
        elif word.tag in {"NNP", "NNPS"} and word.i:
            _mend_title(words, word)
        elif word.lower == "for" and word.tag == "IN" and word.dep == "prep":
            _mend_for(words, word)
        elif word.text == "?":
            _mend_tag(words, word.i)


def _mend_seeming(words: Sequence[Word], seem: Word) -> None:
    """*She seemed tired*: what seems so is that she was tired."""
    kids = [words[k] for k in seem.kids]
    subject = next((one for one in kids if one.dep == "nsubj"), None)
    state = next((one for one in kids if one.dep in {"oprd", "acomp"} and one.tag[:2] in {"JJ", "VB"}), None)
    if subject is not None and state is not None:
        retie(words, subject, state.i, "nsubj" if state.tag[:2] == "JJ" else "nsubjpass")
        state.dep = "ccomp"


def _mend_title(words: Sequence[Word], word: Word) -> None:
    """*my Ambassador*, *a Minister*: a capital makes no name of what somebody is."""
    before = words[word.i - 1]
    after = words[word.i + 1] if word.i + 1 < len(words) else before
    alone = before.lower in _ONES and after.tag not in {"NNP", "NNPS", "CD"}
    if alone and word.text[1:].islower() and "NOUN" in readings(word.lower):
        word.tag, word.pos = ("NNS" if word.tag == "NNPS" else "NN"), "NOUN"
        word.lemma = lemma_of(word.lower, word.tag)


def _mend_for(words: Sequence[Word], word: Word) -> None:
    """*…, for he was tired*, *For it was late.*: a *for* with nothing below it marks the next clause."""
    if any(
        words[k].dep in {"pobj", "pcomp"} and words[k].tag[:2] in {"NN", "PR", "DT", "VB", "CD"}
        for k in word.kids
    ):
        return
    subject = next((one for one in words[word.i + 1 :] if one.dep in _SUBJECTS), None)
    between = words[word.i + 1 : subject.i] if subject is not None else ()
    if subject is None or any(one.tag[:2] == "VB" or one.tag in {".", ":"} for one in between):
        return
    verb = words[subject.head]
    if verb.tag[:2] != "VB" or verb.i < subject.i or any(words[k].tag == "TO" for k in verb.kids):
        return
    if verb.dep == "conj":
        verb.dep = "advcl"
    retie(words, word, verb.i, "mark")


def _mend_there(words: Sequence[Word], word: Word) -> None:
    """*Class There is …*: a capital makes no name of it."""
    after = words[word.i + 1] if word.i + 1 < len(words) else word
    is_expletive = after.lemma == "be" and after.tag[:2] == "VB" and word.head != word.i
    if is_expletive and not word.kids:
        word.tag, word.pos, word.lemma = "EX", "PRON", "there"
        retie(words, word, after.i, "expl")
    else:
        word.tag, word.pos, word.lemma = "RB", "ADV", "there"


def _mend_direction(words: Sequence[Word], turn: Word, left: Word) -> None:
    """*Turn left*: left is where to, and nobody leaves."""
    verb = lemma_of(turn.lower, "VBD")
    named = any(words[k].dep in {"det", "poss", "amod", "compound"} for k in turn.kids)
    if verb not in _TURNS or turn.tag[:2] not in {"VB", "NN"} or named:
        return
    if turn.tag[:2] == "NN":
        turn.tag, turn.pos, turn.lemma = "VB", "VERB", verb
    if turn.head == left.i:
        raise_over(words, turn, left)
    elif left.head != turn.i:
        retie(words, left, turn.i, "advmod")
    for k in list(left.kids):
        retie(words, words[k], turn.i, words[k].dep)
    left.tag, left.pos, left.dep, left.lemma = "RB", "ADV", "advmod", "left"


def _mend_joined_verb(words: Sequence[Word], word: Word) -> None:
    """*can sing or dance*: a bare word joined to an infinitive is another one."""
    first = words[word.head]
    known = readings(word.lower)
    if word.i - 2 != first.i or first.tag != "VB" or "VERB" not in known:
        return
    if word.tag == "JJ" and "ADJ" in known:
        return
    if any(words[k].dep == "aux" for k in first.kids):
        word.tag, word.pos, word.lemma = "VB", "VERB", lemma_of(word.lower, "VB")


def _mend_tag(words: Sequence[Word], end: int) -> None:
    """*…, isn't it?*: the tag is none of the clause, which is the root again."""
    start = end - 1
    while start > 0 and words[start].text != "," and end - start < 5:
        start -= 1
    tag = words[start + 1 : end]
    forms = [word.lower for word in tag]
    short = words[start].text == "," and 1 <= len(tag) <= 3
    if not short or not (forms[0] in _TAGS or (forms[0] in _AUXILIARIES and tag[-1].tag == "PRP")):
        return
    inside = {word.i for word in tag}
    for word in tag:
        outside = [
            k for k in word.kids if k not in inside and k < start and words[k].dep in {"ccomp", "parataxis"}
        ]
        if word.head == word.i and outside:
            _crown(words, word, words[outside[0]])
    if all(word.head != word.i for word in tag):
        for word in tag:
            word.tag, word.dep = "_SP", "tag"


def _mend_colours(words: Sequence[Word], word: Word) -> None:
    """*black and white dog*: each colour is the dog's."""
    first = words[word.head]
    if first.lower in COLOURS and first.dep == "amod":
        for k in [k for k in first.kids if words[k].dep in {"cc", "conj"}]:
            retie(words, words[k], first.head, "amod" if words[k].dep == "conj" else "punct")


def _mend_result(words: Sequence[Word], so: Word) -> None:
    """*I was tired, so I left*: what comes before *so* is the main clause."""
    result = words[so.head]
    if result.head != result.i or so.i > result.i or result.tag[:2] not in {"VB", "MD"}:
        return
    before = next((words[k] for k in result.kids if words[k].dep == "ccomp" and k < so.i), None)
    if before is None or any(mark.text in _QUOTES for mark in words[before.i : so.i]):
        return
    _crown(words, result, before)
    result.dep, so.dep, so.tag = "advcl", "mark", "IN"


def _crown(words: Sequence[Word], old: Word, new: Word) -> None:
    """Makes ``new`` the root in the place of ``old``, which then hangs on it."""
    old.kids.remove(new.i)
    for k in [k for k in old.kids if k < new.i or words[k].dep == "punct"]:
        retie(words, words[k], new.i, words[k].dep)
    new.head, new.dep = new.i, "ROOT"
    old.head, old.dep = new.i, "dep"
    new.kids = sorted([*new.kids, old.i])
