"""Verbs agree with their subjects: finds what a word is the subject of, and inflects it anew."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.alignment.words import word_set
from graphneg.decoders.surface.clauses import BE, DO, HAVE, Group
from graphneg.decoders.surface.draft import Cell
from graphneg.decoders.surface.forms import agree, finite_tag, pronoun_cases, verb_lemma
from graphneg.decoders.surface.sentence import Sentence
from graphneg.decoders.surface.tag_tables import NOUNS

_CLITIC = {"am": "'m", "are": "'re", "is": "'s", "have": "'ve", "has": "'s"}
_HAS_AFTER = word_set("been got had become come gone made given done seen")
_PLURAL = frozenset({"these", "those", "many", "few", "several", "both", "others", "people"})

PEOPLE = word_set(
    "man men woman women boy girl child children people person king queen prince princess friend "
    "friends mother father brother sister teacher doctor mom dad husband wife son daughter boss guy "
    "guys lady gentleman"
)


def is_subject(sentence: Sentence, cell: Cell) -> bool:
    """Whether a pronoun or noun is (part of) the subject of a finite verb."""
    place = sentence.draft.place(cell)
    return any(_heads(sentence.cells, group, place) for group in sentence.groups())


def _heads(cells: Sequence[Cell], group: Group, place: int) -> bool:
    if group.subject is None or not group.subject[0] <= place < group.subject[1] or group.kind != "finite":
        return False
    start, end = group.subject
    head = head_of(cells, start, end)
    return (
        place == head or any(cells[one].low in ("and", "or") for one in range(start, end)) or end - start == 1
    )


def head_of(cells: Sequence[Cell], start: int, end: int) -> int:
    """The head noun of a noun phrase: the last noun before any preposition or relative."""
    stop = next(
        (
            p
            for p in range(start + 1, end)
            if cells[p].tag in ("IN", "TO", "WP", "SC") or cells[p].text == ","
        ),
        end,
    )
    if cells[start].tag in ("PN", "PRS", "PRO"):
        return start
    nouns = [p for p in range(start, stop) if cells[p].tag in NOUNS | {"PN", "PRS", "PRO", "CD", "EX"}]
    return nouns[-1] if nouns else stop - 1


def person_of(cells: Sequence[Cell]) -> str:
    """The person of a noun phrase, as a pronoun; ``he`` for any singular."""
    if any(cell.low == "and" for cell in cells):
        return "we" if any(cell.low in ("i", "me") for cell in cells) else "they"
    if not cells:
        return "he"
    head = cells[head_of(cells, 0, len(cells))]
    known = pronoun_cases(head.text)
    if known and head.tag in ("PRS", "PRO", "PN"):
        return known[0][0]
    return "they" if head.tag == "NNS" or head.low in _PLURAL else "he"


def agree_with(sentence: Sentence, cell: Cell) -> None:
    """Inflects the finite verbs whose subject holds the cell, for that subject's person."""
    place = sentence.draft.place(cell)
    for group in sentence.groups():
        if group.subject is not None and _heads(sentence.cells, group, place):
            subject = sentence.cells[group.subject[0] : group.subject[1]]
            if subject[0].tag != "EX":
                inflect_finite(sentence, group, person_of(subject))


def inflect_finite(sentence: Sentence, group: Group, person: str) -> None:
    """The finite verb of a group for a person; modals and pasts stay as they are."""
    cells = sentence.cells
    verb = cells[group.first]
    low = verb.low
    if verb.tag == "MD" or low in ("'d", "'ll") or low == "ai":
        return
    following = cells[group.chain[1]].low if len(group.chain) > 1 else ""
    if low == "'s":
        lemma = "have" if following in _HAS_AFTER else "be"
        form = agree(lemma, "VBZ", person)
    elif low in BE:
        form = agree("be", finite_tag(low), person)
    elif low in HAVE or low in DO:
        form = agree("have" if low in HAVE else "do", finite_tag(low), person)
    elif verb.tag in ("VBZ", "VBP"):
        form = agree(verb_lemma(verb.text), verb.tag, person)
    else:
        return
    if low.startswith("'") and form in _CLITIC:
        subject = cells[group.subject[0]] if group.subject else None
        clitic = _CLITIC[form]
        if clitic == "'s" or (subject is not None and subject.tag in ("PRS", "PRO", "PN")):
            form = clitic
    if form != low:
        sentence.draft.rewrite(verb, form)


def agree_relative(sentence: Sentence, cells: Sequence[Cell]) -> None:
    """``the stars that belong``: a relative clause agrees with what it follows."""
    after = sentence.draft.place(cells[-1]) + 1
    for group in sentence.groups():
        if group.subject == (after, after + 1) and sentence.cells[after].low in ("who", "which", "that"):
            inflect_finite(sentence, group, person_of(cells))
