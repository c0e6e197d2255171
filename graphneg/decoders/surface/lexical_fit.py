"""Whether a word can stand where another one stood: what the words around it say, and what a verb takes."""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface.clauses import BE
from graphneg.decoders.surface.draft import Cell
from graphneg.decoders.surface.forms import degree, full_form, verb_lemma
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.english.frames import FrameEntry, load_frames
from graphneg.english.noun_kinds import kind_of
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_set

# Whether a word can stand where another one stood: what the words around it say, whatever its form.


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


# Whether a verb can stand where another one stood: what follows must be what it takes.
#
# PropBank's annotated examples say what a verb goes with: *give me a book* but not *receive me a book*, *stay
# awake* but not *move awake*. A verb without examples is taken to fit.


_OPENS_PHRASE = NOUNS | {"DT", "PS", "CD", "PN", "PRO"}
_GOVERNED = word_set("to from of into about off onto toward towards against with for on at")
_STRICT = frozenset({"to", "of", "into", "about"})
_TIMES = word_set(
    """
    half quarter noon night midnight dawn all least last first once times
    one two three four five six seven eight nine ten eleven twelve
    """
)
_PARTICLES_VALENCY = word_set("up down out off away back over")
_ENOUGH = 3
_NEARLY_ALL = 0.8
_NEEDED = {
    "dative": ("dative",),
    "infinitive": ("xcomp_to", "ccomp_to", "advcl_to"),
    "gerund": ("xcomp_vbg", "ccomp_vbg", "advcl_vbg"),
    "clause": ("ccomp",),
}


def refuse_unfit(sentence: Sentence, cell: Cell, old: str, concept: str) -> None:
    """Raises where the verb of ``concept`` can't take what follows ``cell``; ``old`` is the concept before.

    Raises:
        Unrealised: ``no-form``, with what the verb does not take.
    """
    table = load_frames()
    frame = table.frames.get(concept)
    if frame is None:
        return
    if not frame.verbal:
        raise Unrealised("no-form", f"{concept} is no verb's")
    lemma = concept.rpartition("-")[0].replace("-", "_")
    taken, before = _forms(lemma), _forms(old.rpartition("-")[0].replace("-", "_"))
    complements = _complements(sentence, cell)
    if not complements and _needs_object(frame) and not _has_object_elsewhere(sentence, cell):
        raise Unrealised("no-form", f"{lemma} takes an object")
    if "at" in complements and frame.functions.get("4") == "GOL":
        raise Unrealised("no-form", f"one does not {lemma} at a place")
    for found in complements:
        if not _takes(found, frame, taken, before):
            raise Unrealised("no-form", f"{lemma} takes no {found}")


def _needs_object(frame: FrameEntry) -> bool:
    """Whether nearly all annotated examples have an object, or are passive."""
    with_object = sum(sum(frame.seen.get(form, {}).values()) for form in ("dobj", "nsubjpass"))
    return frame.examples >= _ENOUGH and with_object >= _NEARLY_ALL * frame.examples


def _has_object_elsewhere(sentence: Sentence, cell: Cell) -> bool:
    """A passive, or an object that stands before the verb: *what did you say*, *the book that I read*."""
    if cell.tag in ("VBN", "VBG", "NN", "NNS", "JJ"):
        return True
    before = sentence.cells[: sentence.draft.place(cell)]
    return any(one.low in ("what", "which", "who", "whom", "that") for one in before)


def is_nominal(concept: str, word: str) -> bool:
    """Whether a frame is also that of the noun ``word``; what is no frame with a verb is."""
    table = load_frames()
    frame = table.frames.get(concept)
    return frame is None or not frame.verbal or ("n", word) in table.aliases


def is_adjectival(concept: str, word: str) -> bool:
    """Whether a frame is that of the adjective ``word``, or of no verb: *clean-04* is, *close-01* is not."""
    table = load_frames()
    return concept in table.candidates(word, "j") or concept not in table.candidates(word, "v")


def _complements(sentence: Sentence, cell: Cell) -> list[str]:
    """What follows the verb, nearest first: ``object``, ``dative``, ``adjective``, ``to``, …"""
    cells = sentence.cells
    place = sentence.draft.place(cell) + 1
    while (
        place < len(cells)
        and cells[place].tag in ("RB", "NEG")
        and cells[place].low not in _PARTICLES_VALENCY
    ):
        place += 1
    following = cells[place : place + 3]
    tags = [one.tag for one in following] + ["", "", ""]
    if not following:
        return []
    low = following[0].low
    if low == "out" and following[1:2] and following[1].low == "of":
        return ["particle out"]
    if low in _PARTICLES_VALENCY and tags[1] not in _OPENS_PHRASE | {"IN"}:
        return [f"particle {low}"]
    if tags[0] == "TO" and tags[1] == "VB":
        return ["infinitive"]
    if tags[0] == "VBG":
        return ["gerund"]
    if tags[0] == "SC" and low in ("that", "whether", "if"):
        return ["clause"] if low != "if" else []
    if tags[0] in ("IN", "TO"):
        when = low == "at" and (tags[1] == "CD" or (len(following) > 1 and following[1].low in _TIMES))
        return [low] if low in _GOVERNED and not when else []
    if tags[0] == "JJ":
        return ["object"] if _before_noun(cells, place) else ["adjective"]
    if tags[0] not in _OPENS_PHRASE:
        return []
    found = ["dative"] if tags[0] == "PRO" and tags[1] in ("DT", "PS", "CD", "PN") else ["object"]
    if tags[0] == "PRO" and tags[1] == "TO" and tags[2] == "VB":
        found.append("infinitive")
    if tags[0] == "PRO" and following[1:2] and following[1].low in _PARTICLES_VALENCY and tags[2] != "DT":
        found.append(f"particle {following[1].low}")
    return found


def _before_noun(cells: list[Cell], place: int) -> bool:
    while place < len(cells) and cells[place].tag in ("JJ", "CC"):
        place += 1
    return place < len(cells) and cells[place].tag in NOUNS


def _takes(found: str, frame: FrameEntry, taken: frozenset[str], before: frozenset[str]) -> bool:
    if found == "object":
        return "1" in frame.functions and (frame.functions.get("0") == "PAG" or "dobj" in frame.seen)
    if found == "adjective":
        return "PRD" in frame.functions.values() or not {"acomp", "oprd"}.isdisjoint(frame.seen)
    if not taken:
        return True
    if found.startswith("particle "):
        return False
    if found in _NEEDED:
        return any(form.startswith(_NEEDED[found]) for form in taken)
    if found in _STRICT:
        return f"prep_{found}" in taken
    return f"prep_{found}" in taken or f"prep_{found}" not in before


@lru_cache(maxsize=4096)
def _forms(lemma: str) -> frozenset[str]:
    """What annotated examples of any of the verb's frames show beside it."""
    table = load_frames()
    frames = (table.frames[one] for one in table.candidates(lemma, "v"))
    return frozenset(form for frame in frames for form in frame.seen)
