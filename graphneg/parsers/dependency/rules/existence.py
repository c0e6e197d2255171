"""*There is no dog barking*: no dog is barking, however the dependency parser took *barking*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphneg.alignment.words import readings
from graphneg.parsers.dependency.lemmas import lemma_of
from graphneg.parsers.dependency.rules.closed_classes import COLOURS
from graphneg.parsers.dependency.rules.retying import raise_over, retie
from graphneg.parsers.dependency.words import Word, subtree

_DETERMINERS = frozenset({"no", "a", "an", "some"})
_LOOSE = frozenset({"attr", "advcl", "acomp", "xcomp", "ccomp"})


def mend_existence(words: Sequence[Word], be: Word) -> None:
    """Changes heads and relations in place, where *be* says that somebody is there who does something."""
    there = next((words[k] for k in be.kids if words[k].dep == "expl" and words[k].tag == "EX"), None)
    noun = next((words[k] for k in be.kids if words[k].dep == "attr"), None)
    if there is None or noun is None:
        return
    if _is_doing(noun):
        _split_compound(words, be, noun)
        return
    if noun.tag[:2] != "NN":
        return
    _free_doing(words, noun)
    verb = next(_verbs(words, be, noun), None)
    if verb is not None:
        _let_do(words, be, noun, verb)


def _verbs(words: Sequence[Word], be: Word, noun: Word) -> Iterator[Word]:
    """What the noun may do, the surest first: its own participle, *be*'s, one behind the noun's phrase."""
    for k in noun.kids:
        if words[k].dep == "acl" and (words[k].tag == "VBG" or _has_being(words, words[k])):
            yield words[k]
    for k in be.kids:
        apart = any(words[i].tag in {",", ":"} for i in range(noun.i, k))
        if k > noun.i and words[k].dep in _LOOSE and words[k].tag == "VBG" and not apart:
            yield words[k]
    if any(words[k].lower == "no" for k in noun.kids):
        for i in sorted(subtree(words, noun.i)):
            over = words[words[i].head]
            is_behind = over.dep == "pobj" and words[over.head].head == noun.i
            if words[i].tag == "VBG" and words[i].dep == "acl" and is_behind:
                yield words[i]


def _let_do(words: Sequence[Word], be: Word, noun: Word, verb: Word) -> None:
    """The verb becomes the head, the noun its subject, and *no* denies what it does."""
    no = next((words[k] for k in noun.kids if words[k].lower == "no"), None)
    if verb.head not in {noun.i, be.i}:
        retie(words, verb, noun.i, "acl")
    raise_over(words, verb, be)
    if noun.head != verb.i:
        retie(words, noun, verb.i, "nsubj")
    noun.dep = "nsubj" if verb.tag == "VBG" else "nsubjpass"
    be.dep = "aux"
    if no is not None:
        retie(words, no, verb.i, "neg")


def _is_doing(word: Word) -> bool:
    """Whether the word is a participle that was taken for a noun: *dancing*, but no *building*."""
    known = readings(word.lower)
    return word.tag == "VBG" or (
        word.tag == "NN" and word.lower.endswith("ing") and "VERB" in known and "NOUN" not in known
    )


def _split_compound(words: Sequence[Word], be: Word, doing: Word) -> None:
    """*no panda climbing*: the panda is no kind of climbing, but climbs."""
    noun = words[doing.i - 1]
    if noun.head != doing.i and not (noun.head == be.i and noun.dep == "attr"):
        return
    articles = [k for k in (*doing.kids, *noun.kids) if words[k].lower in _DETERMINERS and k < noun.i]
    if noun.tag[:2] != "NN" or not articles:
        return
    for k in [k for k in doing.kids if k < noun.i]:
        retie(words, words[k], noun.i, words[k].dep)
    _make_participle(doing)
    _let_do(words, be, noun, doing)


def _free_doing(words: Sequence[Word], noun: Word) -> None:
    """*a girl in white dancing*, *a girl in a pub singing*: where she is, and what she does."""
    for preposition in [words[k] for k in noun.kids if words[k].dep == "prep"]:
        for doing in [words[k] for k in preposition.kids if words[k].dep == "pobj"]:
            place = words[doing.i - 1]
            inner = [words[k] for k in doing.kids if k < place.i]
            named = place.tag[:2] == "NN" and any(one.dep in {"det", "poss"} for one in inner)
            if _is_doing(doing) and place.head == doing.i and (named or place.lower in COLOURS):
                for one in inner:
                    retie(words, one, place.i, one.dep)
                retie(words, place, preposition.i, "pobj")
                retie(words, doing, noun.i, "acl")
                _make_participle(doing)


def _make_participle(word: Word) -> None:
    word.tag, word.pos, word.lemma = "VBG", "VERB", lemma_of(word.lower, "VBG")


def _has_being(words: Sequence[Word], verb: Word) -> bool:
    return any(words[k].lower == "being" for k in verb.kids)
