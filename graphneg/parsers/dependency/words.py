"""The words of a text as the rules see them: plain Python, read once from spaCy's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from graphneg.parsers.dependency.lemmas import lemma_of

_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})
_POS = {
    **dict.fromkeys(("NN", "NNS"), "NOUN"),
    **dict.fromkeys(("NNP", "NNPS"), "PROPN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    **dict.fromkeys(("JJ", "JJR", "JJS", "AFX"), "ADJ"),
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB"), "ADV"),
    **dict.fromkeys(("PRP", "PRP$", "WP", "WP$", "EX"), "PRON"),
    **dict.fromkeys(("DT", "PDT", "WDT"), "DET"),
    **dict.fromkeys(("IN", "RP"), "ADP"),
    **dict.fromkeys(("CC",), "CCONJ"),
    **dict.fromkeys(("CD",), "NUM"),
    **dict.fromkeys(("MD",), "AUX"),
    **dict.fromkeys(("TO", "POS"), "PART"),
    **dict.fromkeys(("UH",), "INTJ"),
    **dict.fromkeys(("FW", "XX", "ADD", "GW", "LS", "NIL"), "X"),
    **dict.fromkeys(("SYM", "$", "#"), "SYM"),
    **dict.fromkeys(("_SP",), "SPACE"),
}


@dataclass(slots=True)
class Word:
    """A token of spaCy's. ``head`` is an index into the same list, its own where it is a root.

    ``start`` and ``end`` are characters of the text; ``kids`` are in order of the text.
    """

    i: int
    text: str
    lower: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int
    start: int
    end: int
    sentence: int
    kids: list[int] = field(default_factory=list[int])


def read_words(doc: Any, offset: int = 0, places: Sequence[int] | None = None) -> list[Word]:
    """The words of a spaCy ``Doc``.

    ``offset`` is the place of the document's text in the whole text; ``places`` says where each of
    its characters stood, where that is not where it stands.
    """
    strings = doc.vocab.strings
    rows = doc.to_array(["TAG", "DEP", "HEAD", "SENT_START"]).tolist()
    words: list[Word] = []
    sentence = -1
    for token, (tag_id, dep_id, head, starts) in zip(doc, rows, strict=True):
        if starts == 1 or sentence < 0:
            sentence += 1
        i, text = token.i, token.text
        head = head - (1 << 64) if head >= 1 << 63 else head
        tag, dep = strings[tag_id], strings[dep_id]
        lower = text.lower().replace("’", "'")
        lemma = lemma_of(lower, tag)
        start = token.idx
        end = start + len(text)
        if places is not None:
            start, end = places[start], places[end - 1] + 1
        words.append(
            Word(
                i,
                text,
                lower,
                lemma,
                tag,
                _pos(tag, dep, lemma),
                dep,
                i + head,
                start + offset,
                end + offset,
                sentence,
            )
        )
    for word in words:
        if word.head != word.i:
            words[word.head].kids.append(word.i)
    return words


def _pos(tag: str, dep: str, lemma: str) -> str:
    """The universal part of speech; of auxiliaries, only those that depend as such, and ``be``."""
    if tag in _VERBS and (lemma == "be" or dep in {"aux", "auxpass"}):
        return "AUX"
    if tag == "IN" and dep == "mark":
        return "SCONJ"
    return _POS.get(tag, "PUNCT")


def subtree(words: Sequence[Word], i: int) -> list[int]:
    """The indices of a word and all under it, in no order."""
    found = [i]
    for one in found:
        found.extend(words[one].kids)
    return found
