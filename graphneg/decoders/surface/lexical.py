"""One word for another, inflected as the old one was: opposites, other concepts, other values.

In: a node and its new concept (``set_concept``) or constant (``set_value``). The words of the node change in
place, with their particles, articles and the verbs that agree with them.
"""

from __future__ import annotations

import re

from graphneg.decoders.surface.agreement import agree_relative, agree_with, person_of
from graphneg.decoders.surface.draft import Token
from graphneg.decoders.surface.forms import (
    BE,
    HAVE,
    adjective_form,
    adverb_of,
    agree,
    degree,
    may_be_bare,
    noun_form,
    verb_form,
    verb_lemma,
)
from graphneg.decoders.surface.lexical_fit import is_adjectival, is_nominal, refuse_out_of_place, refuse_unfit
from graphneg.decoders.surface.sentence import RealisationError, Sentence
from graphneg.english.noun_kinds import OTHER, is_frame, kind_of, lexeme
from graphneg.english.numbers import MONTHS, NUMBERS, ORDINALS, WEEKDAYS
from graphneg.english.tagging import CLOSED, NOUNS, VERBS
from graphneg.english.words import lemmas, readings, word_class, word_map

_CAPITALS = frozenset((*WEEKDAYS, *MONTHS))
_DEGREE_FIXED = ("little", "bit")
_AGENTS = ("er", "or", "ers", "ors")
_TENSES = {"has": "VBZ", "had": "VBD", "does": "VBZ", "did": "VBD", "'s": "VBZ"}
_ROUND = {100: "one hundred", 1000: "one thousand", 1_000_000: "one million"}
_WORDS_OF_NUMBERS = {number: word for word, number in NUMBERS.items()}
_WORDS_OF_ORDINALS = {number: word for word, number in ORDINALS.items()}


def set_concept(sentence: Sentence, k: int, concept: str) -> None:
    """Puts the word of another concept where the words of ``k`` stand.

    Raises:
        RealisationError: ``no-alignment``; ``no-form``, the new word has no form like the old one.
    """
    node, index = sentence.node(k), sentence.head(k)
    token = sentence.tokens[index]
    old, wanted = lexeme(node.concept or node.value or ""), lexeme(concept)
    if _opens_compound(sentence, k, index) and not is_frame(node.concept or ""):
        raise RealisationError("kind-mismatch", f"{token.text} is the first part of a word")
    refuse_out_of_place(sentence, index, old, wanted)
    _drop_rest(sentence, k)
    _drop_particle(sentence, token, old)
    if token.tag in VERBS and token.tag != "MD" and is_frame(concept):
        refuse_unfit(sentence, token, node.concept or "", concept)
    elif token.tag in NOUNS and is_frame(concept) and not is_nominal(concept, wanted):
        raise RealisationError("no-form", f"{wanted} is a verb, and {token.text} is none")
    elif token.tag in NOUNS and is_frame(concept) and kind_of(wanted) == OTHER != kind_of(old):
        raise RealisationError("no-form", f"{wanted} is seldom a noun, and {token.text} mostly is")
    if token.tag == "MD" and "ADJ" in readings(wanted.split(" ")[-1]):
        _modal_to_adjective(sentence, token, wanted)
        return
    words = _inflected(sentence, token, old, wanted, concept).split(" ")
    if words[0].lower() == token.low and len(words) == 1:
        raise RealisationError("unchanged", f"{wanted} and {old} are the same word here")
    _write(sentence, token, words)
    if token.tag == "NN":
        _count(sentence, token, old)
    if token.tag in NOUNS or token.tag in ("PN", "PRS"):
        agree_with(sentence, token)


def _opens_compound(sentence: Sentence, k: int, index: int) -> bool:
    """Whether an argument is the *bank* of a *bank account*, which nothing else stands for."""
    argument = (sentence.node(k).role or "").startswith(("ARG", "op", "location", "destination"))
    return argument and sentence.is_noun(index) and sentence.is_noun(index + 1)


def _modal_to_adjective(sentence: Sentence, token: Token, wanted: str) -> None:
    """``can carry`` becomes ``is unlikely to carry``."""
    index = sentence.tokens.where(token)
    group = next((group for group in sentence.groups() if group.first == index), None)
    if group is None or group.inverted or group.subject is None or len(group.chain) < 2:
        raise RealisationError("unsupported-edit", f"the modal {token.text} can't become {wanted} here")
    tag = "VBD" if token.low in ("could", "might", "would") else "VBP"
    main, person = sentence.tokens[group.chain[1]], person_of(group.said_of)
    sentence.rewrite(token, agree("be", tag, person), "AX")
    sentence.insert(sentence.tokens.where(main), Token(wanted, "JJ"), Token("to", "TO"))


def _count(sentence: Sentence, token: Token, old: str) -> None:
    """A countable noun that takes the place of a mass noun needs an article, and the other way round."""
    tokens, index = sentence.tokens, sentence.tokens.where(token)
    start, end = sentence.noun_phrase(index)
    first, before, following = tokens[start], tokens.at(start - 1), tokens.at(end)
    if any(other.low in word_class("amounts") for other in tokens[start:end]):
        return
    bare = first.tag not in ("DT", "PS", "CD", "POS", "PN") and end == index + 1
    governed = start == 0 or before.tag in (*VERBS, "IN", "RB", "NEG")
    if bare and governed and may_be_bare(old) and not may_be_bare(token.low):
        if following.tag not in ("CC", "POS") or following.low == "but":
            sentence.insert(start, Token("a", "DT"))
    elif first.low in ("a", "an") and token.low in word_class("never-counted"):
        sentence.cut(start, start + 1)


def _drop_rest(sentence: Sentence, k: int) -> None:
    """The further words of a multi-word concept go with the first."""
    for token in [sentence.tokens[index] for index in sentence.indices(k)[1:]]:
        sentence.tokens.remove(token)


def _drop_particle(sentence: Sentence, token: Token, old: str) -> None:
    """``take ... away``: the particle of a phrasal verb goes too."""
    particle = old.rpartition(" ")[2]
    if particle == old or token.tag not in VERBS or particle not in word_class("phrasal-particles"):
        return
    index = sentence.tokens.where(token)
    for other in sentence.tokens[index + 1 : index + 7]:
        if other.low == particle:
            sentence.tokens.remove(other)
            return


def _write(sentence: Sentence, token: Token, words: list[str]) -> None:
    first, *rest = words
    sentence.rewrite(token, first)
    index, verbal = sentence.tokens.where(token) + 1, token.tag in VERBS
    if rest and verbal and sentence.tokens.at(index).tag == "PRO":
        index += 1
    sentence.insert(index, *[Token(word, "RB" if verbal else token.tag) for word in rest])


def _inflected(sentence: Sentence, token: Token, old: str, wanted: str, concept: str) -> str:
    """The new word, or words, in the form that the old one had."""
    tag = token.tag
    wanted = wanted.capitalize() if wanted in _CAPITALS else wanted
    looks_like_verb = tag in ("VB", "VBP") and _follows(sentence, token, BE)  # was open
    participle = tag in ("VBN", "VBG") and not _is_verb(wanted)
    if tag in VERBS and tag != "MD" and not participle and not looks_like_verb:
        if not _is_verb(wanted):
            raise RealisationError("no-form", f"{wanted} is no verb")
        return _verb(wanted, _tense(sentence, token))
    if tag == "MD":
        raise RealisationError("unsupported-edit", f"the modal {token.text} can't become {wanted}")
    if tag == "JJ" or participle or looks_like_verb:
        return _adjective(sentence, token, old, wanted, concept)
    if tag == "RB":
        return _adverb(token, old, wanted)
    if tag in NOUNS:
        return _noun(token, old, wanted, is_frame(concept))
    like = tag in CLOSED.get(wanted, {})
    if not like and not (tag in ("PN", "PRS", "PRO") and "NOUN" in readings(wanted)):
        raise RealisationError("no-form", f"{wanted} can't stand for {token.text}")
    if token.initial or not token.text[:1].isupper():
        return wanted
    shouted = len(token.text) > 1 and token.text.isupper() and token.text.isalpha()
    return wanted.upper() if shouted else wanted[:1].upper() + wanted[1:]


def _is_verb(wanted: str) -> bool:
    known = readings(wanted.split(" ")[0])
    return "VERB" in known or not known


def _tense(sentence: Sentence, token: Token) -> str:
    if token.tag == "VBD" and _follows(sentence, token, HAVE):
        return "VBN"
    return _TENSES.get(token.low, "VBP") if token.tag == "AX" else token.tag


def _follows(sentence: Sentence, token: Token, verbs: frozenset[str]) -> bool:
    """Whether one of the verbs is right before a word, adverbs between them left out: *has just received*."""
    index = sentence.tokens.back(sentence.tokens.where(token), ("RB", "NEG"))
    return sentence.tokens.at(index - 1).full in verbs


def _verb(wanted: str, tag: str) -> str:
    first, _, rest = wanted.partition(" ")
    return f"{verb_form(first, tag)} {rest}".strip()


def _adjective(sentence: Sentence, token: Token, old: str, wanted: str, concept: str) -> str:
    head, frame = wanted.split(" ")[-1], is_frame(concept)
    known, shown = readings(head), "JJ" if token.low == old else degree(token.text)
    index = sentence.tokens.where(token)
    modifies = sentence.is_noun(index + 1)
    if token.low in _DEGREE_FIXED and sentence.tokens.at(index - 1).low == "a" and not modifies:
        raise RealisationError("no-form", f"a {token.text} is a fixed phrase here")
    if "JJ" not in CLOSED.get(head, {"JJ": 0.0}):
        raise RealisationError("no-form", f"{wanted} is no adjective")
    if frame and shown == "JJ" and not is_adjectival(concept, wanted) and "VERB" in known:
        return _verb(wanted, "VBN")
    if "ADJ" in known or not known:
        return adjective_form(wanted, shown)
    if "VERB" in known and frame:
        return _verb(wanted, "VBN" if token.tag == "VBN" or token.low.endswith(("ed", "en")) else "VBG")
    if "NOUN" in known and modifies and kind_of(head) != OTHER:
        return wanted
    raise RealisationError("no-form", f"{wanted} has no form like {token.text}")


def _adverb(token: Token, old: str, wanted: str) -> str:
    if readings(wanted.split(" ")[-1]).keys().isdisjoint(("ADV", "ADJ")) and "RB" not in CLOSED.get(
        wanted, {}
    ):
        raise RealisationError("no-form", f"{wanted} is no adverb")
    if token.low.endswith("ly") and not old.endswith("ly"):
        return adverb_of(wanted)
    return adjective_form(wanted, "JJ" if token.low == old else degree(token.text))


def _noun(token: Token, old: str, wanted: str, frame: bool) -> str:
    known, name = readings(wanted.split(" ")[-1]), wanted[:1].isupper()
    nominal = known.keys() & ({"NOUN", "PROPN", "VERB"} if frame else {"NOUN"})
    if known and not nominal and not name:
        raise RealisationError("no-form", f"{wanted} is no noun")
    plural = token.low != old and token.low == noun_form(old, "NNS")
    tag = "NNS" if token.tag == "NNS" or plural else "NN"
    if tag == "NNS" and wanted in word_class("no-plural"):
        raise RealisationError("no-form", f"{wanted} has no plural")
    if name:
        return wanted
    if not frame or (old.split(" ")[-1] in lemmas(token.text) and "NOUN" in known):
        return noun_form(wanted, tag)
    derived = _derived(token.low, verb_lemma(wanted), tag)
    if derived is not None:
        return derived
    if "NOUN" in readings(wanted) and not token.low.endswith(_AGENTS):
        return noun_form(wanted, tag)
    if "VERB" in readings(wanted.split(" ")[0]) and not token.low.endswith(_AGENTS):
        return noun_form(_verb(wanted, "VBG"), tag)
    raise RealisationError("no-form", f"{wanted} has no noun like {token.text}")


def _derived(model: str, wanted: str, tag: str) -> str | None:
    """``teacher`` for teach gives ``learner`` for learn: the same suffix, where such a word exists."""
    bare = model[:-1] if tag == "NNS" and model.endswith("s") else model
    stems = (re.sub(r"(?:e|y)$", "", wanted), wanted, wanted + wanted[-1:], wanted[:-1] + "i")
    for ending, suffixes in word_map("suffixes-alike").items():
        if bare.endswith(ending):
            candidates = (stem + suffix for suffix in suffixes.split("/") for stem in stems)
            known = next((word for word in candidates if kind_of(word) != OTHER), None)
            if known is not None:
                return noun_form(known, tag)
    return None


def set_value(sentence: Sentence, k: int, value: str) -> None:
    """Puts another constant where that of ``k`` stands: a name, a number, a month, an ordinal.

    Raises:
        RealisationError: ``no-alignment``; ``unsupported-edit`` for constants that are no words.
    """
    node = sentence.node(k)
    token = sentence.tokens[sentence.head(k)]
    bare = value.strip('"')
    if not bare or bare in ("-", "+"):
        raise RealisationError("unsupported-edit", f"{value} is no word")
    if re.search(r"[0-9a-z]-[a-z]", token.low) and any(part not in NUMBERS for part in token.low.split("-")):
        raise RealisationError("no-form", f"the number is a part of {token.text}")
    parent = "" if node.up is None else sentence.node(node.up).label
    shown = _value_words(token, bare, node.role or "", parent)
    _drop_rest(sentence, k)
    _write(sentence, token, shown.split(" "))
    if node.role in ("quant", "op1") and re.fullmatch(r"\d+", bare):
        _agree_number(sentence, token, int(bare))


def _value_words(token: Token, bare: str, role: str, parent: str) -> str:
    """A constant as the words that it takes the place of are written: in digits or letters, long or short."""
    if parent == "date-entity" and role == "month" and bare.isdigit() and not token.text.isdigit():
        month = MONTHS[(int(bare) - 1) % 12].capitalize()
        return month[:3] if len(token.text) == 3 and token.low != "may" else month
    if parent == "ordinal-entity":
        word = _WORDS_OF_ORDINALS.get(int(bare)) if re.match(r"-?\d+$", bare) else None
        if word is None:
            raise RealisationError("no-form", f"no ordinal for {bare}")
        if token.tag == "RB" and int(bare) not in (1, -1):
            raise RealisationError("no-form", f"{word} is no adverb")
        return word
    if not re.fullmatch(r"\d+", bare) or token.text[0].isdigit():
        return bare
    if token.low in ("once", "twice"):
        return {1: "once", 2: "twice"}.get(int(bare), f"{_number_words(int(bare))} times")
    return _number_words(int(bare))


def _number_words(number: int) -> str:
    """The number in words where these are few: *six*, *thirty-two*, *one hundred*."""
    words = _WORDS_OF_NUMBERS
    if number in words:
        return words[number]
    return (
        f"{words[number - number % 10]}-{words[number % 10]}"
        if number < 100
        else _ROUND.get(number, str(number))
    )


def _agree_number(sentence: Sentence, token: Token, number: int) -> None:
    """``six years`` and ``one year``."""
    noun = sentence.tokens.at(sentence.tokens.over(sentence.tokens.where(token) + 1, ("JJ", "CD", "RB")))
    if noun.tag not in ("NN", "NNS"):
        return
    singular = readings(noun.low).get("NOUN", (noun.low,))[0]
    wanted = singular if number == 1 else noun_form(singular, "NNS")
    if noun.low != wanted and (number == 1) == (noun.tag == "NNS"):
        sentence.rewrite(noun, wanted, "NN" if number == 1 else "NNS")
        agree_with(sentence, noun)
        agree_relative(sentence, [noun])
