"""Sentences that say nothing when they are said again later, in another place of the dialogue."""

from __future__ import annotations

from graphneg.alignment.words import word_set
from graphneg.decoders.surface.clauses import DO, HAVE
from graphneg.decoders.surface.forms import full_form, verb_lemma
from graphneg.decoders.surface.sentence import Sentence, Unrealised

_SUPPOSING = word_set("think hope guess suppose believe expect say imagine fear do afraid")
_PARTS = word_set("if because as when while whenever unless until till since although though once whether")


def refuse_unsaid(source: Sentence) -> None:
    """Raises where a sentence can't be said again on its own.

    A question asks for something else there; *I think so* stands for what was said
    before it; *as long as it rains* is a part of another clause.

    Raises:
        Unrealised: ``unclear-clause``.
    """
    opening = source.cells[0]
    asks = opening.tag in ("WP", "MD") or (opening.tag == "AX" and opening.low != "do")
    marks = [cell.text for cell in source.cells if cell.tag == "EN"]
    if asks or marks[-1:] == ["?"]:
        raise Unrealised("unclear-clause", "a question is not said again")
    if any(_stands_for_more(source, place) for place in range(len(source.cells))):
        raise Unrealised("unclear-clause", "what would be said again stands for what was said before")
    if opening.tag == "TO" or _breaks_off(source):
        raise Unrealised("unclear-clause", "what would be said again is no whole clause")
    clauses = [one for one in source.groups() if one.kind in ("finite", "imperative")]
    if not clauses:
        raise Unrealised("unclear-clause", "what would be said again is no clause")
    if len(clauses) == 1 and opening.low in _PARTS and clauses[0].subject is not None:
        raise Unrealised("unclear-clause", "what would be said again is a part of another clause")


def _breaks_off(source: Sentence) -> bool:
    """``that you all do``, ``if you can``: the verb was said before."""
    words = [cell for cell in source.cells if cell.tag not in ("EN", "QT")]
    last, before = words[-1], words[-2:-1]
    if last.low == "not" or last.tag == "NEG":
        last, before = before[-1], words[-3:-2]
    named = any(cell.tag in ("PRS", "NNP", "RB", "DT", "PN", "JJ") for cell in before)
    asks = any(cell.tag == "WP" for cell in words)
    return named and not asks and (last.tag == "MD" or full_form(last.text) in DO | HAVE)


def _stands_for_more(source: Sentence, place: int) -> bool:
    cell, following = source.cells[place], source.cells[place + 1 : place + 2]
    if not place or cell.low not in ("so", "not") or any(one.tag not in ("EN", "PU") for one in following):
        return False
    return verb_lemma(source.cells[place - 1].text) in _SUPPOSING
