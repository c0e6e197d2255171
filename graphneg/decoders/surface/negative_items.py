"""Words and phrases that only a negative clause holds, and what stands for them in an affirmative one."""

from __future__ import annotations

from graphneg.alignment.words import word_set
from graphneg.decoders.surface.clauses import BE, DO, Group
from graphneg.decoders.surface.draft import Cell, new
from graphneg.decoders.surface.forms import full_form
from graphneg.decoders.surface.scope import SCOPE_ENDS
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.decoders.surface.tag_tables import NOUNS

POSITIVE = {
    "nothing": "something", "nobody": "somebody", "none": "some", "nowhere": "somewhere", "neither": "both",
    "nor": "and", "any": "some", "anything": "something", "anyone": "someone", "anybody": "somebody",
    "anywhere": "somewhere", "without": "with", "unless": "if",
}  # fmt: skip
_ASSERTIVE = {"some": "any", "something": "anything", "someone": "anyone", "somebody": "anybody"}
_STANDS_FOR_A_CLAUSE = word_set(
    "afraid hope think guess suppose believe expect why if or whether course maybe perhaps"
)
OUTSIDE_NOT = word_set(
    "certainly probably also obviously clearly definitely apparently evidently presumably surely"
)
"""Adverbs that stand before a negation, not behind it: *it obviously does not depend on that*."""
_ONE_CAN_NOT = word_set("wait help stand")
_NOUNS_OF_ASSURANCE = word_set("problem problems doubt worries wonder")
_MEASURED = word_set("so very too as how that pretty thank thanks")


def to_negative(sentence: Sentence, first: int, main: int) -> None:
    """``some`` becomes ``any``, ``already`` ``yet``, a last ``too`` ``either``, around a verb group."""
    cells = sentence.cells
    for cell in cells[max(0, first - 1) : main + 2]:
        if cell.low == "already":
            sentence.draft.rewrite(cell, "yet")
    for place in range(main + 1, len(cells)):
        cell = cells[place]
        if cell.tag in SCOPE_ENDS or cell.tag in ("PU", "AX", "MD", "VBD", "VBZ", "VBP"):
            return
        if cell.low in _ASSERTIVE:
            sentence.draft.rewrite(cell, _ASSERTIVE[cell.low])
        elif cell.low in ("too", "also") and _is_last(sentence, place):
            sentence.draft.rewrite(cell, "either")


def drop_also(sentence: Sentence, group: Group) -> None:
    """``That is also a job``, ``I can also swim``: what is not so is not so besides; *also* goes."""
    cells = sentence.cells
    if group.kind != "finite" or group.inverted:
        return
    for place in range(group.first + 1, min(group.main + 2, len(cells))):
        if cells[place].low == "also":
            sentence.draft.cut(place, place + 1)
            group.chain[:] = [one - (one > place) for one in group.chain]
            return


def and_for_but(sentence: Sentence, negation: int, group: Group | None) -> None:
    """``likes me but not her``: what is no longer denied is joined by *and*; a quality may still contrast.

    ``group`` is the verb group that is denied, if one is.

    Raises:
        Unrealised: ``unclear-clause``, an adverb alone is denied, *but not often*, or a thing for the sake
            of another one, *not tea but coffee*.
    """
    cells = sentence.cells
    _refuse_rather(sentence, negation)
    place = (negation if group is None else min(negation, group.first)) - 1
    if place < 1 or cells[place].low != "but":
        return
    following = cells[negation + 1].tag if negation + 1 < len(cells) else "EN"
    if group is None and following in ("RB", "EN"):
        raise Unrealised("unclear-clause", "but not denies an adverb alone")
    if not following.startswith("JJ"):
        sentence.draft.rewrite(cells[place], "and", "CC")


def _refuse_rather(sentence: Sentence, negation: int) -> None:
    """``not tea but coffee``, ``I don't, but he does``: affirmed, nothing is left that *but* sets apart."""
    cells = sentence.cells
    _, end = sentence.sentence_bounds(negation)
    for place in range(negation + 1, end - 1):
        if cells[place].low != "but":
            continue
        told = any(place < one.first < end for one in sentence.groups())
        if not told and cells[place + 1].tag in (*NOUNS, "DT", "CD", "PS"):
            raise Unrealised("unclear-clause", "the other side of but is no clause")
        last = next((one for one in reversed(cells[place + 1 : end]) if one.tag not in ("EN", "PU")), None)
        if last is not None and (full_form(last.text) in BE | DO or last.tag in ("AX", "MD")):
            raise Unrealised("unclear-clause", "the other side of but says what is denied here")


def phrase_end(cells: list[Cell], place: int) -> int:
    """Where the noun phrase ends that goes on at ``place``: *no right or wrong answers*."""
    words = ("JJ", "RB", "CD", "VBN", "VBG", *NOUNS)
    while place < len(cells):
        following = cells[place + 1].tag if place + 1 < len(cells) else ""
        described = cells[place - 1].tag not in NOUNS and following in words
        joins = cells[place].low in ("or", "and") and (described or following == "JJ")
        if not joins and cells[place].tag not in words:
            break
        place += 1
    return place


def refuse_set_phrase(sentence: Sentence, place: int) -> None:
    """Raises where the negation at ``place`` can't be taken out: *I'm afraid not*, *can't wait*, *not until*.

    Raises:
        Unrealised: ``unsupported-edit``.
    """
    cells = sentence.cells
    before, after = cells[max(0, place - 1) : place], cells[place + 1 : place + 2]
    alone = _is_last(sentence, place) or cells[place + 1].tag == "SC"
    if alone and any(cell.low in _STANDS_FOR_A_CLAUSE for cell in before):
        raise Unrealised("unsupported-edit", f"{before[0].text} not stands for a clause")
    if any(cell.low in ("only", "just", "yet") for cell in after):
        raise Unrealised("unsupported-edit", f"not {after[0].text} is a phrase of its own")
    able = any(full_form(cell.text) in ("can", "ca", "could") for cell in before)
    if able and any(cell.low in _ONE_CAN_NOT for cell in after):
        raise Unrealised("unsupported-edit", f"nobody says that he can {after[0].text}")
    if cells[place].low == "no" and any(cell.low in _NOUNS_OF_ASSURANCE for cell in after):
        raise Unrealised("unsupported-edit", f"no {after[0].text} is a phrase of its own")
    for cell in cells[place + 1 :]:
        if cell.tag in SCOPE_ENDS and cell.low != "until":
            return
        if cell.low in ("until", "till"):
            raise Unrealised("unsupported-edit", "not until is a phrase of its own")


def no_longer(sentence: Sentence, group: Group) -> bool:
    """``I still live there`` is denied by ``I no longer live there``."""
    if group.kind != "finite" or group.subject is None or group.inverted:
        return False
    linked = full_form(sentence.cells[group.main].text) in BE
    for place in range(group.subject[1], min(group.main + 1 + linked, len(sentence.cells))):
        if sentence.cells[place].low == "still":
            sentence.draft.rewrite(sentence.cells[place], "no", "NEG")
            sentence.draft.insert(place + 1, new("longer", "RB"))
            return True
    return False


def to_affirmative(sentence: Sentence, start: int) -> None:
    """``any``, ``ever``, ``at all``, ``much``: put as an affirmative clause says them, or left out."""
    cells, draft = sentence.cells, sentence.draft
    _leave_out(sentence, max(start, 0))
    place = max(start, 0)
    while place < len(cells) and cells[place].tag not in SCOPE_ENDS:
        cell = cells[place]
        following = cells[place + 1].low if place + 1 < len(cells) else ""
        if cell.low in ("anything", "anyone", "anybody") and following in ("but", "except"):
            draft.rewrite(cell, {"anything": "everything"}.get(cell.low, "everyone"))
        elif cell.low in POSITIVE and cell.low.startswith("any"):
            draft.rewrite(cell, POSITIVE[cell.low])
        elif cell.low == "either" and _is_last(sentence, place):
            draft.rewrite(cell, "too")
        elif cell.low == "much" and place and cells[place - 1].low not in _MEASURED:
            _a_lot(sentence, place)
        place += 1


def _leave_out(sentence: Sentence, place: int) -> None:
    cells = sentence.cells
    while place < len(cells) and cells[place].tag not in SCOPE_ENDS:
        following = cells[place + 1].low if place + 1 < len(cells) else ""
        words = _left_out(cells[place].low, following)
        sentence.draft.cut(place, place + words)
        place += 0 if words else 1


def _left_out(low: str, following: str) -> int:
    """How many words from this one on an affirmative clause does without."""
    if (low, following) in (("at", "all"), ("any", "more"), ("any", "longer")):
        return 2
    return 1 if low in ("ever", "even", "yet", "anymore") else 0


def _a_lot(sentence: Sentence, place: int) -> None:
    """``I don't follow it much``: ``I follow it a lot``; ``much time``: ``a lot of time``."""
    cells, draft = sentence.cells, sentence.draft
    noun = place + 1 < len(cells) and cells[place + 1].tag in NOUNS
    if not noun and not _is_last(sentence, place):
        return
    draft.rewrite(cells[place], "lot", "NN")
    draft.insert(place, new("a", "DT"))
    if noun:
        draft.insert(place + 2, new("of", "IN"))


def _is_last(sentence: Sentence, place: int) -> bool:
    following = sentence.cells[place + 1 : place + 2]
    return all(cell.tag in ("EN", "PU", "QT") for cell in following)
