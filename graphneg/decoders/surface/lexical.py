"""One word for another, inflected as the old one was: opposites, other concepts, other values.

In: a node and its new concept (``set_concept``) or constant (``set_value``). The words of the node change in
place, with their particles, articles and the verbs that agree with them.

Whether a word can stand there is a question of the words around it, and of what a verb takes. PropBank's
annotated examples say what a verb goes with: *give me a book* but not *receive me a book*, *stay awake* but
not *move awake*. A verb without examples is taken to fit.
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface import forms
from graphneg.decoders.surface.agreement import agree_relative, agree_with, person_of
from graphneg.decoders.surface.draft import Token
from graphneg.decoders.surface.forms import BE, HAVE, degree, may_be_bare, noun_form
from graphneg.decoders.surface.sentence import RealisationError, SentenceDraft
from graphneg.english.noun_kinds import OTHER, is_frame, kind_of, lexeme
from graphneg.english.numbers import MONTHS, NUMBERS, ORDINALS, WEEKDAYS
from graphneg.english.propbank import FrameEntry, load_frames
from graphneg.english.tagging import CLOSED, NOUNS, VERBS
from graphneg.english.words import lemmas, readings, word_class, word_map

_CAPITALS = frozenset((*WEEKDAYS, *MONTHS))
_AGENTS = ("er", "or", "ers", "ors")
_TENSES = {"has": "VBZ", "had": "VBD", "does": "VBZ", "did": "VBD", "'s": "VBZ"}
_WORDS_OF_NUMBERS = {
    **{number: word for word, number in NUMBERS.items()},
    **{100: "one hundred", 1000: "one thousand", 1_000_000: "one million"},
}
_WORDS_OF_ORDINALS = {number: word for word, number in ORDINALS.items()}
_PHRASAL = re.compile(r".*[ -].*(?:up|down|out|off|away)")
_DENIAL_REACH = 5
_OPENS_PHRASE = NOUNS | {"DT", "PS", "CD", "PN", "PRO"}
_ENOUGH = 3
_NEARLY_ALL = 0.8
_NEEDED = {
    "dative": ("dative",),
    "infinitive": ("xcomp_to", "ccomp_to", "advcl_to"),
    "gerund": ("xcomp_vbg", "ccomp_vbg", "advcl_vbg"),
    "clause": ("ccomp",),
}


def set_concept(sentence: SentenceDraft, k: int, concept: str) -> None:
    """Puts the word of another concept where those of ``k`` stand; raises ``no-form`` where none fits."""
    node, index, tokens = sentence.node(k), sentence.head(k), sentence.tokens
    token, frame = tokens[index], is_frame(concept)
    old, wanted = lexeme(node.label), lexeme(concept)
    # The bank of a bank account is an argument that nothing else stands for.
    argument = (node.role or "").startswith(("ARG", "op", "location", "destination"))
    compound = argument and sentence.is_noun(index) and sentence.is_noun(index + 1)
    if compound and not is_frame(node.concept or ""):
        raise RealisationError("kind-mismatch", f"{token.text} is the first part of a word")
    _refuse_out_of_place(sentence, index, old, wanted)
    _drop_rest(sentence, k)
    particle = old.rpartition(" ")[2]
    if particle != old and token.tag in VERBS and particle in word_class("phrasal-particles"):
        index = tokens.where(token)  # take ... away: the particle of a phrasal verb goes too
        for other in [other for other in tokens[index + 1 : index + 7] if other.low == particle][:1]:
            tokens.remove(other)
    if token.tag in VERBS and token.tag != "MD" and frame:
        _refuse_unfit(sentence, token, node.concept or "", concept)
    elif token.tag in NOUNS and frame and not is_nominal(concept, wanted):
        raise RealisationError("no-form", f"{wanted} is a verb, and {token.text} is none")
    elif token.tag in NOUNS and frame and kind_of(wanted) == OTHER != kind_of(old):
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


def _modal_to_adjective(sentence: SentenceDraft, token: Token, wanted: str) -> None:
    """``can carry`` becomes ``is unlikely to carry``."""
    index = sentence.tokens.where(token)
    group = next((group for group in sentence.groups() if group.first == index), None)
    if group is None or group.inverted or group.subject is None or len(group.chain) < 2:
        raise RealisationError("unsupported-edit", f"the modal {token.text} can't become {wanted} here")
    tag = "VBD" if token.low in ("could", "might", "would") else "VBP"
    second = group.second
    sentence.rewrite(token, forms.agree("be", tag, person_of(group.said_of)), "AX")
    sentence.insert(sentence.tokens.where(second), Token(wanted, "JJ"), Token("to", "TO"))


def _count(sentence: SentenceDraft, token: Token, old: str) -> None:
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


def _drop_rest(sentence: SentenceDraft, k: int) -> None:
    """The further words of a multi-word concept go with the first."""
    for token in [sentence.tokens[index] for index in sentence.indices(k)[1:]]:
        sentence.tokens.remove(token)


def _write(sentence: SentenceDraft, token: Token, words: list[str]) -> None:
    first, *rest = words
    sentence.rewrite(token, first)
    index, verbal = sentence.tokens.where(token) + 1, token.tag in VERBS
    if rest and verbal and sentence.tokens.at(index).tag == "PRO":
        index += 1
    sentence.insert(index, *[Token(word, "RB" if verbal else token.tag) for word in rest])


def _inflected(sentence: SentenceDraft, token: Token, old: str, wanted: str, concept: str) -> str:
    """The new word, or words, in the form that the old one had."""
    tag = token.tag
    wanted = wanted.capitalize() if wanted in _CAPITALS else wanted
    looks_like_verb = tag in ("VB", "VBP") and _follows(sentence, token, BE)  # was open
    participle = tag in ("VBN", "VBG") and not _is_verb(wanted)
    if tag in VERBS and tag != "MD" and not participle and not looks_like_verb:
        if not _is_verb(wanted):
            raise RealisationError("no-form", f"{wanted} is no verb")
        perfect = tag == "VBD" and _follows(sentence, token, HAVE)
        return _verb(wanted, "VBN" if perfect else _TENSES.get(token.low, "VBP") if tag == "AX" else tag)
    if tag == "MD":
        raise RealisationError("unsupported-edit", f"the modal {token.text} can't become {wanted}")
    if tag == "JJ" or participle or looks_like_verb:
        return _adjective(sentence, token, old, wanted, concept)
    if tag == "RB":
        known = readings(wanted.split(" ")[-1])
        if known.keys().isdisjoint(("ADV", "ADJ")) and "RB" not in CLOSED.get(wanted, {}):
            raise RealisationError("no-form", f"{wanted} is no adverb")
        if token.low.endswith("ly") and not old.endswith("ly"):
            return forms.adverb_of(wanted)
        return forms.adjective_form(wanted, "JJ" if token.low == old else degree(token.text))
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


def _follows(sentence: SentenceDraft, token: Token, verbs: frozenset[str]) -> bool:
    """Whether one of the verbs is right before a word, adverbs between them left out: *has just received*."""
    index = sentence.tokens.back(sentence.tokens.where(token), ("RB", "NEG"))
    return sentence.tokens.at(index - 1).full in verbs


def _verb(wanted: str, tag: str) -> str:
    first, _, rest = wanted.partition(" ")
    return f"{forms.verb_form(first, tag)} {rest}".strip()


def _adjective(sentence: SentenceDraft, token: Token, old: str, wanted: str, concept: str) -> str:
    head, frame = wanted.split(" ")[-1], is_frame(concept)
    known, shown = readings(head), "JJ" if token.low == old else degree(token.text)
    index = sentence.tokens.where(token)
    modifies = sentence.is_noun(index + 1)
    if token.low in ("little", "bit") and sentence.tokens.at(index - 1).low == "a" and not modifies:
        raise RealisationError("no-form", f"a {token.text} is a fixed phrase here")
    if "JJ" not in CLOSED.get(head, {"JJ": 0.0}):
        raise RealisationError("no-form", f"{wanted} is no adjective")
    if frame and shown == "JJ" and not is_adjectival(concept, wanted) and "VERB" in known:
        return _verb(wanted, "VBN")
    if "ADJ" in known or not known:
        return forms.adjective_form(wanted, shown)
    if "VERB" in known and frame:
        return _verb(wanted, "VBN" if token.tag == "VBN" or token.low.endswith(("ed", "en")) else "VBG")
    if "NOUN" in known and modifies and kind_of(head) != OTHER:
        return wanted
    raise RealisationError("no-form", f"{wanted} has no form like {token.text}")


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
    derived = _derived(token.low, forms.verb_lemma(wanted), tag)
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


def set_value(sentence: SentenceDraft, k: int, value: str) -> None:
    """Puts another constant where that of ``k`` stands: a name, a number, a month, an ordinal."""
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
    if node.role not in ("quant", "op1") or not re.fullmatch(r"\d+", bare):
        return
    tokens, number = sentence.tokens, int(bare)
    noun = tokens.at(tokens.over(tokens.where(token) + 1, ("JJ", "CD", "RB")))
    if noun.tag in ("NN", "NNS") and (number == 1) == (noun.tag == "NNS"):  # six years, one year
        singular = readings(noun.low).get("NOUN", (noun.low,))[0]
        tag = "NN" if number == 1 else "NNS"
        if (form := noun_form(singular, tag)) != noun.low:
            sentence.rewrite(noun, form, tag)
            agree_with(sentence, noun)
            agree_relative(sentence, [noun])


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
    # In words where these are few: six, thirty-two, one hundred.
    number, words = int(bare), _WORDS_OF_NUMBERS
    said = words.get(number, str(number) if number >= 100 else "")
    said = said or f"{words[number - number % 10]}-{words[number % 10]}"
    if token.low in ("once", "twice"):
        return {1: "once", 2: "twice"}.get(number, f"{said} times")
    return said


def _refuse_out_of_place(sentence: SentenceDraft, index: int, old: str, wanted: str) -> None:
    """Raises ``no-form`` or ``kind-mismatch`` where ``wanted`` can't stand at an index (rules ``fit``)."""
    tokens, token = sentence.tokens, sentence.tokens[index]
    after, after2 = tokens.at(index + 1), tokens.at(index + 2)
    start, _ = sentence.sentence_bounds(index)
    near = tokens[max(start, index - _DENIAL_REACH) : index]
    sentence.refuse(
        "fit",
        index,
        governor=tokens.at(sentence.noun_phrase(index)[0] - 1),
        old=old,
        wanted=wanted,
        compared=after.tag in ("RBR", "JJR") or degree(after.text) == "JJR",
        denied=any(other.low in ("not", "n't") for other in near),
        phrasal=_PHRASAL.fullmatch(wanted) is not None,
        prefixed=NEGATIVE_PREFIX.match(wanted) is not None,
        repeated=after2.low == token.low,
        repeats=tokens.at(index - 2).low == token.low,
    )


def _refuse_unfit(sentence: SentenceDraft, token: Token, old: str, concept: str) -> None:
    """Raises ``no-form`` where the verb of ``concept`` can't take what follows; ``old`` is the one before."""
    frame = load_frames().frames.get(concept)
    if frame is None:
        return
    if not frame.verbal:
        raise RealisationError("no-form", f"{concept} is no verb's")
    lemma = concept.rpartition("-")[0].replace("-", "_")
    taken, before = _signatures(lemma), _signatures(old.rpartition("-")[0].replace("-", "_"))
    complements = _complements(sentence, token)
    # Nearly all annotated examples have an object, or are passive.
    with_object = sum(sum(frame.seen.get(form, {}).values()) for form in ("dobj", "nsubjpass"))
    needs_object = frame.examples >= _ENOUGH and with_object >= _NEARLY_ALL * frame.examples
    # A passive has it elsewhere; so have what did you say, the book that I read.
    before_verb = sentence.tokens[: sentence.tokens.where(token)]
    elsewhere = token.tag in ("VBN", "VBG", "NN", "NNS", "JJ") or any(
        other.low in ("what", "which", "who", "whom", "that") for other in before_verb
    )
    if not complements and needs_object and not elsewhere:
        raise RealisationError("no-form", f"{lemma} takes an object")
    if "at" in complements and frame.functions.get("4") == "GOL":
        raise RealisationError("no-form", f"one does not {lemma} at a place")
    for complement in complements:
        if not _takes(complement, frame, taken, before):
            raise RealisationError("no-form", f"{lemma} takes no {complement}")


def is_nominal(concept: str, word: str) -> bool:
    """Whether a frame is also that of the noun ``word``; what is no frame with a verb is."""
    frame = load_frames().frames.get(concept)
    return frame is None or not frame.verbal or ("n", word) in load_frames().aliases


def is_adjectival(concept: str, word: str) -> bool:
    """Whether a frame is that of the adjective ``word``, or of no verb: *clean-04* is, *close-01* is not."""
    table = load_frames()
    return concept in table.candidates(word, "j") or concept not in table.candidates(word, "v")


def _complements(sentence: SentenceDraft, token: Token) -> list[str]:
    """What follows the verb, nearest first: ``object``, ``dative``, ``adjective``, ``to``, …"""
    tokens, particles = sentence.tokens, word_class("verb-particles")
    index = tokens.where(token) + 1
    while tokens.at(index).tag in ("RB", "NEG") and tokens[index].low not in particles:
        index += 1
    low, following = tokens.at(index).low, tokens.at(index + 1)
    first, second, third = (tokens.at(index + step).tag for step in range(3))
    if low == "out" and following.low == "of":
        return ["particle out"]
    if low in particles and second not in _OPENS_PHRASE | {"IN"}:
        return [f"particle {low}"]
    if first == "SC" and low in ("that", "whether"):
        return ["clause"]
    if first == "VBG" or (first == "TO" and second == "VB"):
        return ["gerund" if first == "VBG" else "infinitive"]
    if first in ("IN", "TO"):
        when = low == "at" and (second == "CD" or following.low in word_class("times-of-day"))
        return [low] if low in word_class("governed-prepositions") and not when else []
    if first == "JJ":
        return ["object" if sentence.is_noun(tokens.over(index, ("JJ", "CC"))) else "adjective"]
    if first != "PRO":
        return ["object"] if first in _OPENS_PHRASE else []
    complements = ["dative" if second in ("DT", "PS", "CD", "PN") else "object"]
    if second == "TO" and third == "VB":
        complements.append("infinitive")
    if following.low in particles and third != "DT":
        complements.append(f"particle {following.low}")
    return complements


def _takes(complement: str, frame: FrameEntry, taken: frozenset[str], before: frozenset[str]) -> bool:
    if complement == "object":
        return "1" in frame.functions and (frame.functions.get("0") == "PAG" or "dobj" in frame.seen)
    if complement == "adjective":
        return "PRD" in frame.functions.values() or not {"acomp", "oprd"}.isdisjoint(frame.seen)
    if not taken or complement.startswith("particle "):
        return not taken
    if complement in _NEEDED:
        return any(form.startswith(_NEEDED[complement]) for form in taken)
    usual = complement in ("to", "of", "into", "about") or f"prep_{complement}" in before
    return f"prep_{complement}" in taken or not usual


@lru_cache(maxsize=4096)
def _signatures(lemma: str) -> frozenset[str]:
    """What annotated examples of any of the verb's frames show beside it."""
    table = load_frames()
    frames = (table.frames[id] for id in table.candidates(lemma, "v"))
    return frozenset(form for frame in frames for form in frame.seen)
