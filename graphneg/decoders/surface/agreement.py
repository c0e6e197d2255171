"""Verbs agree with their subjects, and pronouns change person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphneg.decoders.surface.clauses import BE, DO, HAVE, Group
from graphneg.decoders.surface.draft import Cell
from graphneg.decoders.surface.forms import (
    OBJECT,
    OWN,
    POSSESSIVE,
    REFLEXIVE,
    SUBJECT,
    agree,
    finite_tag,
    full_form,
    pronoun,
    pronoun_cases,
    verb_lemma,
)
from graphneg.decoders.surface.negation_scope import is_tag_pronoun
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.english.tagging import NOUNS, VERBS
from graphneg.english.words import word_set

# Verbs agree with their subjects: finds what a word is the subject of, and inflects it anew.


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


# Pronouns change person: each mention in its own case, and the verbs with it.


_MAKING = word_set("make keep let help want ask")
_COMING = word_set("being that when how since if because")
_GROUPS = word_set("guys folks people two three both boys girls ladies gentlemen kids")
_TAGS = {SUBJECT: "PRS", OBJECT: "PRO", POSSESSIVE: "PS", OWN: "PN", REFLEXIVE: "PRO"}


def set_pronouns(sentence: Sentence, persons: Mapping[int, str]) -> None:
    """Gives pronoun nodes other persons, all at once, so that I and you can change places.

    Raises:
        Unrealised: ``no-alignment``, none of the nodes has a word (the subject of an imperative).
    """
    changes: list[tuple[Cell, str, int]] = []
    for k, person in persons.items():
        old = sentence.node(k).concept or ""
        for cell in [sentence.cells[place] for place in sentence.places(k)]:
            case = case_of(sentence, cell, old)
            if case is not None:
                changes.append((cell, person, case))
    for cell, _, _ in changes:
        refuse_expletive(sentence, cell)
        _refuse_group(sentence, cell)
    if not changes:
        raise Unrealised("no-alignment", "no pronoun of these nodes is written")
    for cell, person, _ in changes:
        _address(sentence, cell, person)
    for cell, person, case in changes:
        rewrite_pronoun(sentence, cell, person, case)
    for cell, _, case in changes:
        if case == SUBJECT and not _agree_before(sentence, cell):
            agree_with(sentence, cell)


def _agree_before(sentence: Sentence, cell: Cell) -> bool:
    """``does it have to be``: do agrees with the pronoun behind it, whatever the verb looks like."""
    place = sentence.draft.place(cell)
    verb = sentence.cells[place - 1] if place else None
    if verb is None or verb.low not in DO or verb.low == "done" or verb.tag != "AX":
        return False
    form = agree("do", finite_tag(verb.low), person_of([cell]))
    if form != verb.low:
        sentence.draft.rewrite(verb, form)
    return True


def _address(sentence: Sentence, cell: Cell, person: str) -> None:
    """``Let's go`` said of you is ``Go``: let goes, and the pronoun with it."""
    place = sentence.draft.place(cell)
    if person == "you" and place > 0 and cell.low in ("'s", "us") and sentence.cells[place - 1].low == "let":
        opened = sentence.cells[place - 1].initial
        sentence.draft.cut(place - 1, place + 1)
        if opened and place - 1 < len(sentence.cells):
            sentence.cells[place - 1].home = -1


def refuse_expletive(sentence: Sentence, cell: Cell) -> None:
    """Raises for *it's hard work being a nurse*, *it is a while since*, *take it easy*, where *it* is none.

    Raises:
        Unrealised: ``kind-mismatch``.
    """
    if cell.low not in ("it", "its"):
        return
    place = sentence.draft.place(cell)
    if cell.low == "its" and not _is_owner(sentence, place):
        raise Unrealised("kind-mismatch", "its is written for it is")
    _, end = sentence.sentence_bounds(place)
    after = sentence.cells[place + 1 : end]
    easy = bool(after) and after[0].low == "easy"
    linked = bool(after) and (full_form(after[0].text) in BE or after[0].low == "'s")
    if easy or (linked and any(one.tag == "TO" or one.low in _COMING for one in after[1:7])):
        raise Unrealised("kind-mismatch", "it stands for what follows")


def _is_owner(sentence: Sentence, place: int) -> bool:
    """``its new roof``, not ``its awesome`` or ``its called off``."""
    start = place + 1
    while start < len(sentence.cells) and sentence.cells[start].tag in ("JJ", "RB", "CD"):
        start += 1
    return start < len(sentence.cells) and sentence.cells[start].tag in NOUNS


def _refuse_group(sentence: Sentence, cell: Cell) -> None:
    """Raises for ``you guys`` and ``we two``, which no other pronoun can stand in.

    Raises:
        Unrealised: ``kind-mismatch``.
    """
    place = sentence.draft.place(cell)
    following = sentence.cells[place + 1 : place + 2]
    if cell.low in ("you", "we", "us") and any(one.low in _GROUPS for one in following):
        raise Unrealised("kind-mismatch", f"{cell.text} {following[0].text} goes together")


def rewrite_pronoun(sentence: Sentence, cell: Cell, person: str, case: int) -> None:
    form = pronoun(person, case)
    if cell.low == "'s":
        cell.home = -1
    if form == "yourself" and cell.low in ("ourselves", "themselves"):
        form = "yourselves"
    sentence.draft.rewrite(cell, form, _TAGS[case])


def case_of(sentence: Sentence, cell: Cell, person: str) -> int | None:
    """The case a pronoun stands in; forms that look alike are told apart by their place."""
    if cell.low == "'s":
        return OBJECT
    known = [case for one, case in pronoun_cases(cell.text) if one == person]
    if not known:
        return None
    if len(known) == 1:
        return known[0]
    if POSSESSIVE in known:
        return POSSESSIVE if cell.tag == "PS" else OBJECT if OBJECT in known else OWN
    if is_tag_pronoun(sentence, cell):
        return SUBJECT
    place = sentence.draft.place(cell)
    after = sentence.cells[place + 1 : place + 2]
    if place and any(cell.tag in ("MD", "VBZ") or full_form(cell.text) in BE - {"be"} for cell in after):
        return SUBJECT  # I know you will
    if (
        place
        and sentence.cells[place - 1].tag in VERBS
        and verb_lemma(sentence.cells[place - 1].text) in _MAKING
    ):
        return OBJECT  # it makes you concerned
    if place and sentence.cells[place - 1].tag in ("VB", "VBG"):
        return OBJECT
    found = is_subject(sentence, cell) or _opens_clause(sentence, cell) or _is_inverted(sentence, cell)
    return SUBJECT if found else OBJECT


def _is_inverted(sentence: Sentence, cell: Cell) -> bool:
    """``How much would it be?``, ``…, don't you?``: an auxiliary before it, its verb or nothing behind it."""
    place = sentence.draft.place(cell)
    after = sentence.cells[place + 1] if place + 1 < len(sentence.cells) else None
    place -= 1
    while place > 0 and sentence.cells[place].tag == "NEG":
        place -= 1
    if place < 0 or after is None:
        return False
    verb = sentence.cells[place]
    if verb.tag != "MD" and full_form(verb.text) not in BE | DO | HAVE:
        return False
    if full_form(verb.text) in HAVE and after.tag in ("VBN", "VBD", "AX"):
        return True
    if full_form(verb.text) in BE and after.tag in ("VBG", "VBN", "JJ"):
        return True
    asks = place > 0 and sentence.cells[place - 1].text == "," and after.tag == "EN"
    return asks or (after.tag == "VB" and (verb.tag == "MD" or full_form(verb.text) in DO))


def _opens_clause(sentence: Sentence, cell: Cell) -> bool:
    """``if you please``, ``Has it any?``: between a sign that a clause begins and its verb."""
    place = sentence.draft.place(cell)
    before = sentence.cells[place - 1] if place else None
    after = sentence.cells[place + 1] if place + 1 < len(sentence.cells) else None
    if before is None or after is None:
        return before is None
    if (before.low in ("has", "have") and after.tag in ("DT", "NN", "NNS", "CD") and place == 1) or (
        place > 1
        and before.low in ("has", "have")
        and sentence.cells[place - 2].tag in ("EN", "QT", "WP", "PU")
    ):
        return True
    opens = before.tag in ("SC", "EN", "QT", "WP") or before.low in ("if", "when", "while", "that", "because")
    return opens and after.tag not in ("EN", "PU", "QT", "IN")
