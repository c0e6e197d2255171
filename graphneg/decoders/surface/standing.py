"""Whether a word can stand where another one stood: what the words around it say, whatever its form."""

from __future__ import annotations

import re

from graphneg.alignment.concepts import NEGATIVE_PREFIX
from graphneg.alignment.words import word_set
from graphneg.decoders.surface.clauses import BE
from graphneg.decoders.surface.forms import degree, full_form, verb_lemma
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.decoders.surface.tag_tables import NOUNS, VERBS
from graphneg.kinds import kind_of

_ON = word_set(
    "street road avenue beach island farm bridge coast hill mountain floor planet campus corner roof "
    "balcony terrace square way path platform shore bank field pavement motorway highway stage ship moon"
)
_PARTICLES = ("up", "down", "out", "off", "away")
_LEARNING = word_set("learn study")
_SEEMING = word_set("sound look seem feel smell taste appear")
_NEW = word_set(
    "york jersey zealand orleans mexico hampshire england delhi haven caledonia guinea year years"
)
_NEAR = 5
"""Words before an adverb in which a negation of its clause stands."""


def refuse_out_of_place(sentence: Sentence, place: int, old: str, wanted: str) -> None:
    """Raises where the words around a place let ``wanted`` not stand there for ``old``.

    So for what says an amount (*so little water*), a degree of *un-* (*almost unsure*), a bare noun behind
    *sounds*, a part of *step by step*, a verb and its particle for an adjective, a person for a thing, and
    a place that nothing is on.

    Raises:
        Unrealised: ``no-form``, ``kind-mismatch``.
    """
    cell = sentence.cells[place]
    before = sentence.cells[place - 1] if place else None
    following = sentence.cells[place + 1 : place + 2]
    _refuse_part(sentence, place, wanted)
    if before is None:
        return
    linked = cell.tag not in ("VBN", "VBG") and (full_form(before.text) in BE or before.low == "'s")
    if (linked or cell.tag == "JJ") and re.split(r"[ -]", wanted)[1:] and wanted.endswith(_PARTICLES):
        raise Unrealised("no-form", f"{cell.text} is an adjective, {wanted} is none")
    amount = cell.low == "little" and before.tag in ("RB", "IN", *VERBS)
    if amount and any(one.tag == "NN" for one in following):
        raise Unrealised("no-form", "little is an amount here")
    if before.low in ("almost", "nearly") and NEGATIVE_PREFIX.match(wanted):
        raise Unrealised("no-form", f"nothing is {before.low} {wanted}")
    beside = sentence.cells[place + 1 : place + 3]
    if len(beside) == 2 and beside[0].low in ("by", "to", "after") and beside[1].low == cell.low:
        raise Unrealised("no-form", f"{cell.text} {beside[0].text} {beside[1].text} is a fixed phrase")
    if before.low in ("by", "to", "after") and place > 1 and sentence.cells[place - 2].low == cell.low:
        raise Unrealised("no-form", f"{cell.text} {before.text} {cell.text} is a fixed phrase")
    if cell.tag in NOUNS and before.tag in ("NN", "NNP") and not before.initial:
        raise Unrealised("kind-mismatch", f"{before.text} {cell.text} is one word")
    counted = before.tag == "CD" and cell.tag == "NNS"
    persons = (kind_of(old) == "person", kind_of(wanted) == "person")
    if cell.tag in NOUNS and persons[0] != persons[1] and (counted or persons[0]):
        raise Unrealised("kind-mismatch", f"{old} and {wanted}: one is a person")
    start, _ = sentence.noun_phrase(place)
    if start and cell.tag in NOUNS and verb_lemma(sentence.cells[start - 1].text) in _LEARNING:
        raise Unrealised("kind-mismatch", f"{wanted} is nothing to {sentence.cells[start - 1].text}")
    on = start > 0 and sentence.cells[start - 1].low == "on"
    if on and kind_of(cell.low) == kind_of(wanted) == "place" and wanted not in _ON:
        raise Unrealised("no-form", f"nothing is on a {wanted}")
    if cell.low in ("asleep", "awake") and verb_lemma(before.text) in ("fall", "stay", "keep"):
        raise Unrealised("no-form", f"{before.text} {cell.text} is a fixed phrase")
    if cell.tag in ("NN", "NNS") and verb_lemma(before.text) in _SEEMING and before.tag in VERBS:
        raise Unrealised("no-form", f"{before.text} takes no {wanted} without an article")


def _refuse_part(sentence: Sentence, place: int, wanted: str) -> None:
    """Raises where a word says how much or how often, or begins a name: *most days*, *a little cooler*, *not
    often*, *new york*."""
    cells, low = sentence.cells, sentence.cells[place].low
    following = cells[place + 1] if place + 1 < len(cells) else None
    if (
        following is not None
        and low in ("most", "least")
        and (following.low == "of" or following.tag == "NNS")
    ):
        raise Unrealised("no-form", f"{low} {following.text} says how many")
    compared = following is not None and (following.tag in ("RBR", "JJR") or degree(following.text) == "JJR")
    if low == "little" and place and cells[place - 1].low == "a" and compared:
        raise Unrealised("no-form", "a little is a fixed phrase here")
    if following is not None and low == "new" and following.low in _NEW:
        raise Unrealised("kind-mismatch", f"new {following.text} is a name")
    if wanted in ("rarely", "seldom"):
        start, _ = sentence.sentence_bounds(place)
        if any(cell.low in ("not", "n't") for cell in cells[max(start, place - _NEAR) : place]):
            raise Unrealised("no-form", f"{low} is denied, and not {wanted} is hardly said")
