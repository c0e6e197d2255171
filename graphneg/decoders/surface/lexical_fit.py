"""Whether a word can stand where another one stood: what the words around it say, and what a verb takes.

PropBank's annotated examples say what a verb goes with: *give me a book* but not *receive me a book*, *stay
awake* but not *move awake*. A verb without examples is taken to fit.
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphneg.amr.concept_words import NEGATIVE_PREFIX
from graphneg.decoders.surface.draft import Token
from graphneg.decoders.surface.forms import degree
from graphneg.decoders.surface.refusals import refuse
from graphneg.decoders.surface.sentence import RealisationError, Sentence
from graphneg.english.propbank import FrameEntry, load_frames
from graphneg.english.tagging import NOUNS
from graphneg.english.words import word_class

_PHRASAL = re.compile(r".*[ -].*(?:up|down|out|off|away)")
_DENIAL_REACH = 5
_OPENS_PHRASE = NOUNS | {"DT", "PS", "CD", "PN", "PRO"}
_STRICT = frozenset({"to", "of", "into", "about"})
_ENOUGH = 3
_NEARLY_ALL = 0.8
_NEEDED = {
    "dative": ("dative",),
    "infinitive": ("xcomp_to", "ccomp_to", "advcl_to"),
    "gerund": ("xcomp_vbg", "ccomp_vbg", "advcl_vbg"),
    "clause": ("ccomp",),
}


def refuse_out_of_place(sentence: Sentence, index: int, old: str, wanted: str) -> None:
    """Raises where the words around an index let ``wanted`` not stand there for ``old`` (rules ``fit``).

    Raises:
        RealisationError: ``no-form``, ``kind-mismatch``.
    """
    tokens, token = sentence.tokens, sentence.tokens[index]
    after, after2 = tokens.at(index + 1), tokens.at(index + 2)
    start, _ = sentence.sentence_bounds(index)
    near = tokens[max(start, index - _DENIAL_REACH) : index]
    refuse(
        "fit",
        tokens,
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


def refuse_unfit(sentence: Sentence, token: Token, old: str, concept: str) -> None:
    """Raises where the verb of ``concept`` can't take what follows ``token``; ``old`` is the concept before.

    Raises:
        RealisationError: ``no-form``, with what the verb does not take.
    """
    frame = load_frames().frames.get(concept)
    if frame is None:
        return
    if not frame.verbal:
        raise RealisationError("no-form", f"{concept} is no verb's")
    lemma = concept.rpartition("-")[0].replace("-", "_")
    taken, before = _signatures(lemma), _signatures(old.rpartition("-")[0].replace("-", "_"))
    complements = _complements(sentence, token)
    if not complements and _needs_object(frame) and not _has_object_elsewhere(sentence, token):
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


def _needs_object(frame: FrameEntry) -> bool:
    """Whether nearly all annotated examples have an object, or are passive."""
    with_object = sum(sum(frame.seen.get(form, {}).values()) for form in ("dobj", "nsubjpass"))
    return frame.examples >= _ENOUGH and with_object >= _NEARLY_ALL * frame.examples


def _has_object_elsewhere(sentence: Sentence, token: Token) -> bool:
    """A passive, or an object that stands before the verb: *what did you say*, *the book that I read*."""
    if token.tag in ("VBN", "VBG", "NN", "NNS", "JJ"):
        return True
    before = sentence.tokens[: sentence.tokens.where(token)]
    return any(other.low in ("what", "which", "who", "whom", "that") for other in before)


def _complements(sentence: Sentence, token: Token) -> list[str]:
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
    usual = complement in _STRICT or f"prep_{complement}" in before
    return f"prep_{complement}" in taken or not usual


@lru_cache(maxsize=4096)
def _signatures(lemma: str) -> frozenset[str]:
    """What annotated examples of any of the verb's frames show beside it."""
    table = load_frames()
    frames = (table.frames[id] for id in table.candidates(lemma, "v"))
    return frozenset(form for frame in frames for form in frame.seen)
