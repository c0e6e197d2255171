"""One word for another, inflected as the old one was: opposites, other concepts, other values."""

from __future__ import annotations

import re

from graphneg.decoders.surface.agreement import agree_relative, agree_with, person_of
from graphneg.decoders.surface.clauses import BE, HAVE
from graphneg.decoders.surface.draft import Cell, new
from graphneg.decoders.surface.forms import (
    adjective_form,
    adverb_of,
    agree,
    degree,
    full_form,
    has_plural,
    is_form_of,
    match_case,
    may_be_bare,
    never_counted,
    noun_form,
    verb_form,
    verb_lemma,
)
from graphneg.decoders.surface.lexical_fit import is_adjectival, is_nominal, refuse_out_of_place, refuse_unfit
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.english.noun_kinds import OTHER, is_frame, kind_of, lexeme
from graphneg.english.numbers import MONTHS, NUMBERS, ORDINALS
from graphneg.english.tagging import CLOSED, NOUNS, VERBS
from graphneg.english.words import readings, word_set

_PARTICLES = word_set("up down out off away back over in on about around through along")
_CAPITALS = frozenset(
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
) | frozenset(MONTHS)
_AMOUNTS = word_set("little much more less enough most many few such own same")
_ENDINGS = (
    ("ation", ("ation", "ion", "ment", "al", "ance", "ence", "ing")),
    ("ion", ("ion", "ation", "ment", "al", "ance", "ence", "ing")),
    ("ment", ("ment", "ion", "ation", "al", "ing")),
    ("er", ("er", "or", "r", "ist", "ian")),
    ("or", ("or", "er", "r", "ist")),
    ("ness", ("ness", "ity", "ty", "ce")),
    ("ity", ("ity", "ness", "ty")),
    ("able", ("able", "ible")),
    ("ful", ("ful", "ous")),
    ("al", ("al", "ion", "ment", "ing")),
)


def set_concept(sentence: Sentence, k: int, concept: str) -> None:
    """Puts the word of another concept where the words of ``k`` stand.

    Raises:
        Unrealised: ``no-alignment``; ``no-form``, the new word has no form like the old one.
    """
    node = sentence.node(k)
    place = sentence.head(k)
    cell = sentence.cells[place]
    old = lexeme(node.concept or node.value or "")
    wanted = lexeme(concept)
    if _opens_compound(sentence, k, place) and not is_frame(node.concept or ""):
        raise Unrealised("kind-mismatch", f"{cell.text} is the first part of a word")
    refuse_out_of_place(sentence, place, old, wanted)
    if len(sentence.places(k)) > 1:
        _drop_rest(sentence, k)
    _drop_particle(sentence, cell, old)
    if cell.tag in VERBS and cell.tag != "MD" and is_frame(concept):
        refuse_unfit(sentence, cell, node.concept or "", concept)
    elif cell.tag in NOUNS and is_frame(concept) and not is_nominal(concept, wanted):
        raise Unrealised("no-form", f"{wanted} is a verb, and {cell.text} is none")
    elif cell.tag in NOUNS and is_frame(concept) and kind_of(wanted) == OTHER != kind_of(old):
        raise Unrealised("no-form", f"{wanted} is seldom a noun, and {cell.text} mostly is")
    if cell.tag == "MD" and "ADJ" in readings(wanted.split(" ")[-1]):
        _modal_to_adjective(sentence, cell, wanted)
        return
    words = _inflected(sentence, cell, old, wanted, concept).split(" ")
    if words[0].lower() == cell.low and len(words) == 1:
        raise Unrealised("unchanged", f"{wanted} and {old} are the same word here")
    _write(sentence, cell, words)
    if cell.tag == "NN":
        _count(sentence, cell, old)
    if cell.tag in NOUNS or cell.tag in ("PN", "PRS"):
        agree_with(sentence, cell)


def _opens_compound(sentence: Sentence, k: int, place: int) -> bool:
    """Whether an argument is the *bank* of a *bank account*, which nothing else stands for."""
    following = sentence.cells[place + 1 : place + 2]
    argument = (sentence.node(k).role or "").startswith(("ARG", "op", "location", "destination"))
    return argument and sentence.cells[place].tag in NOUNS and any(one.tag in NOUNS for one in following)


def _modal_to_adjective(sentence: Sentence, cell: Cell, wanted: str) -> None:
    """``can carry`` becomes ``is unlikely to carry``."""
    place = sentence.draft.place(cell)
    group = next((one for one in sentence.groups() if one.first == place), None)
    if group is None or group.inverted or group.subject is None or len(group.chain) < 2:
        raise Unrealised("unsupported-edit", f"the modal {cell.text} can't become {wanted} here")
    subject = sentence.cells[group.subject[0] : group.subject[1]]
    past = cell.low in ("could", "might", "would")
    main = sentence.cells[group.chain[1]]
    sentence.draft.rewrite(cell, agree("be", "VBD" if past else "VBP", person_of(subject)), "AX")
    sentence.draft.insert(sentence.draft.place(main), new(wanted, "JJ"), new("to", "TO"))


def _count(sentence: Sentence, cell: Cell, old: str) -> None:
    """A countable noun that takes the place of a mass noun needs an article, and the other way round."""
    start, end = sentence.noun_phrase(sentence.draft.place(cell))
    first = sentence.cells[start]
    following = sentence.cells[end] if end < len(sentence.cells) else None
    bare = first.tag not in ("DT", "PS", "CD", "POS", "PN") and end == sentence.draft.place(cell) + 1
    if any(one.low in _AMOUNTS for one in sentence.cells[start:end]):
        return
    governed = (start > 0 and sentence.cells[start - 1].tag in (*VERBS, "IN", "RB", "NEG")) or start == 0
    if bare and governed and may_be_bare(old) and not may_be_bare(cell.low):
        if following is None or following.tag not in ("CC", "POS") or following.low == "but":
            sentence.draft.insert(start, new("a", "DT"))
    elif first.low in ("a", "an") and never_counted(cell.low):
        sentence.draft.cut(start, start + 1)


def _drop_rest(sentence: Sentence, k: int) -> None:
    """The further words of a multi-word concept go with the first."""
    cells = [sentence.cells[place] for place in sentence.places(k)]
    places = sentence.places(k)
    if places[-1] - places[0] == len(places) - 1:
        del sentence.cells[places[0] + 1 : places[-1] + 1]
    else:
        for cell in cells[1:]:
            sentence.cells.remove(cell)


def _drop_particle(sentence: Sentence, cell: Cell, old: str) -> None:
    """``take ... away``: the particle of a phrasal verb goes too."""
    parts = old.split(" ")
    if len(parts) < 2 or cell.tag not in VERBS:
        return
    place = sentence.draft.place(cell)
    for other in sentence.cells[place + 1 : place + 7]:
        if other.low == parts[-1] and other.low in _PARTICLES:
            sentence.cells.remove(other)
            return


def _write(sentence: Sentence, cell: Cell, words: list[str]) -> None:
    tag = cell.tag
    first, *rest = words
    sentence.draft.rewrite(cell, first, tag)
    place = sentence.draft.place(cell) + 1
    following = sentence.cells[place] if place < len(sentence.cells) else None
    if rest and tag in VERBS and following is not None and following.tag == "PRO":
        place += 1
    sentence.draft.insert(place, *[new(word, "RB" if tag in VERBS else tag) for word in rest])


def _inflected(sentence: Sentence, cell: Cell, old: str, wanted: str, concept: str) -> str:
    tag = cell.tag
    if wanted in _CAPITALS:
        wanted = wanted.capitalize()
    if tag in ("VB", "VBP") and _after_any(sentence, cell, BE):
        return _adjective(sentence, cell, old, wanted, concept)  # was open, which a verb looks like
    if tag in VERBS and tag != "MD" and not (tag in ("VBN", "VBG") and not _is_verb(wanted)):
        if not _is_verb(wanted):
            raise Unrealised("no-form", f"{wanted} is no verb")
        return _verb(wanted, _tense(sentence, cell))
    if tag == "MD":
        raise Unrealised("unsupported-edit", f"the modal {cell.text} can't become {wanted}")
    if tag in ("JJ", "VBN", "VBG"):
        return _adjective(sentence, cell, old, wanted, concept)
    if tag == "RB":
        return _adverb(cell, old, wanted)
    if tag in NOUNS:
        return _noun(cell, old, wanted, is_frame(concept))
    like = tag in CLOSED.get(wanted, {})
    stands_for_noun = tag in ("PN", "PRS", "PRO") and "NOUN" in readings(wanted)
    if not like and not stands_for_noun:
        raise Unrealised("no-form", f"{wanted} can't stand for {cell.text}")
    return match_case(wanted, cell.text) if not cell.initial else wanted


def _is_verb(wanted: str) -> bool:
    first = wanted.split(" ")[0]
    return "VERB" in readings(first) or not readings(first)


def _tense(sentence: Sentence, cell: Cell) -> str:
    if cell.tag == "VBD" and _after_any(sentence, cell, HAVE):
        return "VBN"
    if cell.tag != "AX":
        return cell.tag
    return {"has": "VBZ", "had": "VBD", "does": "VBZ", "did": "VBD", "'s": "VBZ"}.get(cell.low, "VBP")


def _after_any(sentence: Sentence, cell: Cell, verbs: frozenset[str]) -> bool:
    """Whether one of the verbs is right before a word, adverbs between them left out: *has just received*."""
    place = sentence.draft.place(cell) - 1
    while place >= 0 and sentence.cells[place].tag in ("RB", "NEG"):
        place -= 1
    return place >= 0 and full_form(sentence.cells[place].text) in verbs


def _verb(wanted: str, tag: str) -> str:
    first, _, rest = wanted.partition(" ")
    form = verb_form(first, tag)
    return f"{form} {rest}" if rest else form


def _adjective(sentence: Sentence, cell: Cell, old: str, wanted: str, concept: str) -> str:
    head, frame = wanted.split(" ")[-1], is_frame(concept)
    wanted_degree = degree(cell.text) if not is_same_lemma(cell, old) else "JJ"
    place = sentence.draft.place(cell)
    following = sentence.cells[place + 1] if place + 1 < len(sentence.cells) else None
    modifies = following is not None and following.tag in NOUNS
    if cell.low in ("little", "bit") and place and sentence.cells[place - 1].low == "a" and not modifies:
        raise Unrealised("no-form", f"a {cell.text} is a fixed phrase here")
    if "JJ" not in CLOSED.get(head, {"JJ": 0.0}):
        raise Unrealised("no-form", f"{wanted} is no adjective")
    if frame and wanted_degree == "JJ" and not is_adjectival(concept, wanted) and "VERB" in readings(head):
        return _verb(wanted, "VBN")
    if "ADJ" in readings(head) or not readings(head):
        return adjective_form(wanted, wanted_degree)
    if "VERB" in readings(head) and frame:
        return _verb(wanted, "VBN" if cell.tag == "VBN" or cell.low.endswith(("ed", "en")) else "VBG")
    if "NOUN" in readings(head) and modifies and kind_of(head) != OTHER:
        return wanted
    raise Unrealised("no-form", f"{wanted} has no form like {cell.text}")


def is_same_lemma(cell: Cell, old: str) -> bool:
    return cell.low == old


def _adverb(cell: Cell, old: str, wanted: str) -> str:
    head = wanted.split(" ")[-1]
    if "ADV" not in readings(head) and "ADJ" not in readings(head) and "RB" not in CLOSED.get(wanted, {}):
        raise Unrealised("no-form", f"{wanted} is no adverb")
    if cell.low.endswith("ly") and not old.endswith("ly"):
        return adverb_of(wanted)
    shown = degree(cell.text)
    if shown != "JJ" and cell.low != old:
        return adjective_form(wanted, shown)
    return wanted


def _noun(cell: Cell, old: str, wanted: str, frame: bool) -> str:
    head = old.split(" ")[-1]
    known = readings(wanted.split(" ")[-1])
    if known and not known.keys() & {"NOUN", "PROPN", "VERB"} and not wanted[:1].isupper():
        raise Unrealised("no-form", f"{wanted} is no noun")
    if not frame and "NOUN" not in known and known and not wanted[:1].isupper():
        raise Unrealised("no-form", f"{wanted} is no noun")
    plural = cell.low != old and cell.low == noun_form(old, "NNS")
    tag = "NNS" if cell.tag == "NNS" or plural else "NN"
    if tag == "NNS" and not has_plural(wanted):
        raise Unrealised("no-form", f"{wanted} has no plural")
    if wanted[:1].isupper():
        return wanted
    if not frame or (is_form_of(cell.text, head) and "NOUN" in known):
        return noun_form(wanted, tag)
    derived = _derived(cell.low, verb_lemma(wanted), tag)
    if derived is not None:
        return derived
    if "NOUN" in readings(wanted) and not cell.low.endswith(("er", "or", "ers", "ors")):
        return noun_form(wanted, tag)
    if "VERB" in readings(wanted.split(" ")[0]) and not cell.low.endswith(("er", "or", "ers", "ors")):
        return noun_form(_verb(wanted, "VBG"), tag)
    raise Unrealised("no-form", f"{wanted} has no noun like {cell.text}")


def _derived(model: str, wanted: str, tag: str) -> str | None:
    """``teacher`` for teach gives ``learner`` for learn: the same suffix, where such a word exists."""
    bare = model[:-1] if tag == "NNS" and model.endswith("s") else model
    stem = re.sub(r"(?:e|y)$", "", wanted)
    for ending, tried in _ENDINGS:
        if bare.endswith(ending):
            for suffix in tried:
                for base in (stem, wanted, wanted + wanted[-1:], wanted[:-1] + "i"):
                    if kind_of(base + suffix) != OTHER:
                        return noun_form(base + suffix, tag)
    return None


def set_value(sentence: Sentence, k: int, value: str) -> None:
    """Puts another constant where that of ``k`` stands: a name, a number, a month, an ordinal.

    Raises:
        Unrealised: ``no-alignment``; ``unsupported-edit`` for constants that are no words.
    """
    node = sentence.node(k)
    place = sentence.head(k)
    cell = sentence.cells[place]
    bare = value.strip('"')
    if not bare or bare in ("-", "+"):
        raise Unrealised("unsupported-edit", f"{value} is no word")
    if re.search(r"[0-9a-z]-[a-z]", cell.low) and _value_of(cell.low) is None:
        raise Unrealised("no-form", f"the number is a part of {cell.text}")
    parent = sentence.node(node.up) if node.up is not None else None
    shown = _value_word(cell, bare, node.role or "", parent.label if parent is not None else "")
    if len(sentence.places(k)) > 1:
        _drop_rest(sentence, k)
    _write(sentence, cell, shown.split(" "))
    if node.role in ("quant", "op1") and re.fullmatch(r"\d+", bare):
        _agree_number(sentence, cell, int(bare))


def _value_of(word: str) -> int | None:
    """The number that ``twenty-two`` is; ``None`` for ``ten-minute``."""
    parts = word.split("-")
    return sum(NUMBERS[one] for one in parts) if all(one in NUMBERS for one in parts) else None


def _value_word(cell: Cell, bare: str, role: str, parent: str) -> str:
    if parent == "date-entity" and role == "month" and bare.isdigit() and not cell.text.isdigit():
        month = MONTHS[(int(bare) - 1) % 12].capitalize()
        return month[:3] if len(cell.text) == 3 and cell.low != "may" else month
    if parent == "ordinal-entity":
        words = {number: word for word, number in ORDINALS.items()}
        if not re.match(r"-?\d+$", bare) or int(bare) not in words:
            raise Unrealised("no-form", f"no ordinal for {bare}")
        if cell.tag == "RB" and int(bare) not in (1, -1):
            raise Unrealised("no-form", f"{words[int(bare)]} is no adverb")
        return words[int(bare)]
    if re.fullmatch(r"\d+", bare) and cell.low in ("once", "twice"):
        return {1: "once", 2: "twice"}.get(
            int(bare), f"{_value_word(new('one', 'CD'), bare, role, parent)} times"
        )
    if re.fullmatch(r"\d+", bare) and not cell.text[0].isdigit():
        words = {number: word for word, number in NUMBERS.items()}
        spelled = _number_words(int(bare), words)
        return spelled if spelled is not None else bare
    return bare


def _number_words(number: int, words: dict[int, str]) -> str | None:
    if number in words:
        return words[number]
    if number < 100:
        return f"{words[number - number % 10]}-{words[number % 10]}"
    if number in (100, 1000, 1_000_000):
        return {100: "one hundred", 1000: "one thousand", 1_000_000: "one million"}[number]
    return None


def _agree_number(sentence: Sentence, cell: Cell, number: int) -> None:
    """``six years`` and ``one year``."""
    place = sentence.draft.place(cell) + 1
    cells = sentence.cells
    while place < len(cells) and cells[place].tag in ("JJ", "CD", "RB") and cells[place].tag != "EN":
        place += 1
    if place >= len(cells) or cells[place].tag not in ("NN", "NNS"):
        return
    noun = cells[place]
    known = readings(noun.low).get("NOUN", (noun.low,))
    wanted = known[0] if number == 1 else noun_form(known[0], "NNS")
    if noun.low != wanted and (number == 1) == (noun.tag == "NNS"):
        sentence.draft.rewrite(noun, wanted, "NN" if number == 1 else "NNS")
        agree_with(sentence, noun)
        agree_relative(sentence, [noun])
