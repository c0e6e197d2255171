"""Finds the verb groups of a sentence: auxiliaries, main verb, negation, subject.

``had not been seen`` is one group; ``Do you know`` is one group too, with its subject inside.
Built from tags alone, so that it can be done again after each edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from graphneg.decoders.surface.draft import Cell, after_determiner, is_quote
from graphneg.decoders.surface.forms import full_form, is_participle, verb_form, verb_lemma
from graphneg.english.tagging import FINITE, NOUNS
from graphneg.english.words import word_set

Kind = Literal["finite", "imperative", "infinitive", "bare", "gerund", "participle"]
BE = word_set("be am is are was were been being 'm 're ai")
HAVE = frozenset({"have", "has", "had", "having", "'ve"})
DO = frozenset({"do", "does", "did"})
_OBJECTS = frozenset({"it", "him", "her", "them", "me", "us", "you"})
_SKIP = frozenset({"RB", "NEG"})
_NP = NOUNS | {"JJ", "DT", "PS", "CD", "POS", "PN", "PRS", "PRO", "EX"}
TIME_NOUNS = frozenset({"yesterday", "today", "tomorrow", "tonight"})
_BARE_AFTER = word_set("make let help see hear watch feel have do")
_SUBORDINATE = frozenset({"SC", "WP"})


@dataclass(slots=True)
class Group:
    """Places of one verb group. ``chain`` has its verbs, the main one last."""

    kind: Kind
    chain: list[int]
    negations: list[int] = field(default_factory=list[int])
    subject: tuple[int, int] | None = None
    inverted: bool = False
    quotative: bool = False
    to: int | None = None

    @property
    def first(self) -> int:
        return self.chain[0]

    @property
    def main(self) -> int:
        return self.chain[-1]


def groups(cells: Sequence[Cell]) -> list[Group]:
    """The verb groups, in order. Retags verbs by the auxiliary before them (``was/AX read/VBN``)."""
    found: list[Group] = []
    place = 0
    while place < len(cells):
        group = _group_at(cells, place, found)
        if group is None:
            place += 1
            continue
        found.append(group)
        place = group.main + 1
    for group in found:
        if group.subject is None and group.kind == "finite":
            group.subject = _subject_before(cells, group, found)
    return found


def _group_at(cells: Sequence[Cell], place: int, before: list[Group]) -> Group | None:
    _retag_conjunct(cells, place, before)
    tag = cells[place].tag
    if tag in FINITE and not (tag == "VBP" and after_determiner(cells, place)):
        return _finite(cells, place)
    if tag == "TO" or (tag == "NEG" and _tag(cells, place + 1) == "TO"):
        to = place if tag == "TO" else place + 1
        verb = _skip(cells, to + 1)
        if _tag(cells, verb) == "VB":
            group = Group(
                "infinitive", [verb], [place] if tag == "NEG" else _negations(cells, to, verb), to=to
            )
            _extend(cells, group)
            return group
        return None
    if tag == "VB" and not after_determiner(cells, place):
        group = Group("imperative" if _opens_clause(cells, place, before) else "bare", [place])
        if cells[place].low == "do" and _tag(cells, place + 1) == "NEG":
            verb = _skip(cells, place + 2)
            if _tag(cells, verb) in ("VB", "VBP"):
                cells[verb].tag = "VB"
                return Group("imperative", [place, verb], [place + 1])
        _extend(cells, group)
        return group
    if tag in ("VBG", "VBN"):
        negation = [place - 1] if place and cells[place - 1].tag == "NEG" else []
        group = Group("gerund" if tag == "VBG" else "participle", [place], negation)
        _extend(cells, group)
        return group
    return None


def _retag_conjunct(cells: Sequence[Cell], place: int, before: list[Group]) -> None:
    """``sat down and put``: after ``and`` a form that shows no tense has the tense of the verb before.

    So is ``I only have`` finite, after a subject and its adverb.
    """
    start = place
    while start and cells[start - 1].tag in _SKIP:
        start -= 1
    if cells[place].tag == "VB" and 0 < start < place and cells[start - 1].tag == "PRS":
        cells[place].tag = "VBP"
    if not before or not start or cells[start - 1].low not in ("and", "or", "but"):
        return
    earlier = before[-1]
    main = cells[earlier.main].tag
    if earlier.kind != "finite" or len(earlier.chain) > 1:
        return
    low, tag = cells[place].low, cells[place].tag
    if tag in ("VBN", "VB", "VBP") and main == "VBD" and verb_form(verb_lemma(low), "VBD") == low:
        cells[place].tag = "VBD"
    elif tag == "VB" and main == "VBP":
        cells[place].tag = "VBP"


def _finite(cells: Sequence[Cell], place: int) -> Group:
    group = Group("finite", [place])
    cell = cells[place]
    if cell.low == "do" and _tag(cells, place + 1) == "NEG" and _clause_start(cells, place):
        verb = _skip(cells, place + 2)
        if _tag(cells, verb) in ("VB", "VBP", "AX") and cells[verb].low not in ("you", "they", "we", "i"):
            cells[verb].tag = "VB"
            return Group("imperative", [place, verb], [place + 1])
    if cell.tag in ("AX", "MD") and _inverts(cells, place):
        start = place + 1
        while start < len(cells) and cells[start].tag in ("NEG",):
            group.negations.append(start)
            start += 1
        end = noun_phrase_end(cells, start)
        if end > start and (cell.tag == "MD" or _inversion_fits(cells, place, end)):
            group.subject, group.inverted = (start, end), True
            _extend(cells, group, end)
            return group
        group.negations.clear()
    if cell.tag in ("VBD", "VBZ") and place and (is_quote(cells[place - 1]) or cells[place - 1].text == ","):
        end = noun_phrase_end(cells, place + 1)
        if end > place + 1 and _tag(cells, end) in ("EN", "PU", "IN", "RB", "TO", "QT", "CC"):
            group.subject, group.inverted, group.quotative = (place + 1, end), True, True
            return group
    _extend(cells, group)
    return group


def straighten(cells: list[Cell], group: Group) -> None:
    """``said the king`` becomes ``the king said``."""
    if not group.quotative or group.subject is None:
        return
    verb, end = group.first, group.subject[1]
    cells.insert(end - 1, cells.pop(verb))
    group.chain = [end - 1]
    group.subject = (verb, end - 1)
    group.inverted = group.quotative = False


def _inversion_fits(cells: Sequence[Cell], place: int, end: int) -> bool:
    """After be anything may follow the subject; do and have need their verb."""
    low = full_form(cells[place].text)
    following = _tag(cells, _skip(cells, end))
    if low in DO:
        return following in ("VB", "VBP")
    if low in HAVE:
        opens = place == 0 or cells[place - 1].tag in ("EN", "QT", "WP")
        return following in ("VBN", "VBD", "VBG") or (opens and following in ("DT", "NN", "NNS", "CD", "PN"))
    return True


def _inverts(cells: Sequence[Cell], place: int) -> bool:
    """Whether a finite auxiliary may stand before its subject here."""
    start = _skip(cells, place + 1)
    if _tag(cells, start) not in ("PRS", "PRO", "DT", "PS", "NNP", "NNS", "PN", "EX", "CD", "NN", "JJ"):
        return False
    previous = cells[place - 1] if place else None
    if previous is None or is_quote(previous) or previous.tag in ("EN", "PU", "CC", "UH"):
        return True
    if previous.tag == "WP" or previous.low in (
        "how",
        "why",
        "never",
        "nor",
        "here",
        "what",
        "which",
        "where",
        "when",
    ):
        return True
    if _tag(cells, start) == "PRS" or (
        cells[start].low in ("you", "it", "i", "he", "we") and previous.tag != "PRS"
    ):
        return previous.tag not in ("PRS", "PN", "EX", "SC")
    sentence = place
    while sentence and cells[sentence - 1].tag not in ("EN", "QT", "PU"):
        sentence -= 1
    return cells[sentence].low in ("what", "which", "whose", "how") and previous.tag in NOUNS | {"JJ", "RB"}


def _extend(cells: Sequence[Cell], group: Group, after: int | None = None) -> None:
    """Adds the verbs that the last auxiliary of the group governs."""
    place = (group.main if after is None else after - 1) + 1
    while True:
        verb = _skip(cells, place)
        last = full_form(cells[group.main].text)
        needed = _governed(last, cells[group.main].tag, cells, verb)
        if needed is None:
            group.negations += _negations(cells, group.main if after is None else after - 1, verb)
            return
        if needed == "TO":
            group.negations += _negations(cells, place - 1, verb + 1)
            group.chain.append(verb + 1)
        else:
            cells[verb].tag = needed
            group.negations += _negations(cells, place - 1, verb)
            group.chain.append(verb)
        after = None
        place = group.main + 1


def _governed(last: str, tag: str, cells: Sequence[Cell], verb: int) -> str | None:
    """The tag that the next verb must take, if the one at hand can."""
    at = _tag(cells, verb)
    if last == "ought" and at == "TO" and _tag(cells, verb + 1) == "VB":
        return "TO"
    if tag == "MD" or last in DO:
        low = cells[verb].low if verb < len(cells) else ""
        plain = (
            at in ("VB", "VBP")
            or (at == "AX" and low in ("have", "do"))
            or (at == "VBD" and verb_lemma(low) == low)
        )
        return "VB" if plain else None
    if last in HAVE or last == "'ve":
        # An adjective stands before its noun, and before no pronoun: ``have tired eyes``, ``have tried it``.
        noun = _tag(cells, verb + 1) in NOUNS | {"JJ"} and cells[verb + 1].low not in _OBJECTS
        if at == "JJ" and is_participle(cells[verb].low) and not noun:
            return "VBN"
        return "VBN" if at in ("VBN", "VBD") else None
    if last in BE or last == "'s":
        return at if at in ("VBN", "VBG") else ("VBN" if at == "VBD" else None)
    if last == "'d":
        return "VB" if at in ("VB", "VBP") else "VBN" if at in ("VBN", "VBD") else None
    return None


def _negations(cells: Sequence[Cell], start: int, end: int) -> list[int]:
    return [place for place in range(start + 1, min(end, len(cells))) if cells[place].tag == "NEG"]


def _skip(cells: Sequence[Cell], place: int) -> int:
    while place < len(cells) and cells[place].tag in _SKIP:
        place += 1
    return place


def _tag(cells: Sequence[Cell], place: int) -> str:
    return cells[place].tag if 0 <= place < len(cells) else "EN"


def _clause_start(cells: Sequence[Cell], place: int) -> bool:
    return place == 0 or cells[place - 1].tag in ("EN", "QT", "PU", "CC", "UH")


def _opens_clause(cells: Sequence[Cell], place: int, before: list[Group]) -> bool:
    """Whether a plain verb form is an imperative: nothing before it in its clause governs it."""
    start = place
    while start and cells[start - 1].tag in ("RB", "UH", "CC") and cells[start - 1].low not in ("and", "or"):
        start -= 1
    if _clause_start(cells, start) and (not start or cells[start - 1].low not in ("and", "or")):
        return True
    if start and cells[start - 1].low in ("and", "or"):
        return (
            start < 2
            or (bool(before) and before[-1].kind == "imperative")
            or cells[start - 2].tag in ("EN", "QT")
        )
    return False


def noun_phrase_end(cells: Sequence[Cell], start: int) -> int:
    """The end of the simple noun phrase that starts here; ``start`` where there is none."""
    place, head = start, False
    while place < len(cells):
        tag = cells[place].tag
        if tag in ("PRS", "PRO", "EX", "PN") and place == start:
            return place + 1
        if (
            (tag in ("DT", "PS", "CD", "POS") and not head)
            or (tag == "RB" and _tag(cells, place + 1) in ("JJ", "CD"))
            or (tag in ("JJ", "VBN", "VBG") and not head and place > start - (tag == "JJ"))
        ):
            place += 1
        elif tag in NOUNS:
            head = True
            place += 1
        elif tag == "POS" and head:
            head = False
            place += 1
        elif hyphen(cells, place) and place > start:
            place += 1
        elif head and cells[place].low == "of":
            inner = noun_phrase_end(cells, place + 1)
            return inner if inner > place + 1 else place
        else:
            break
    return place if head else start


def hyphen(cells: Sequence[Cell], place: int) -> bool:
    """A hyphen inside a word, written apart as in ``grown - ups``; two of them are a dash."""
    around = (cells[place - 1].text if place else "", cells[place + 1].text if place + 1 < len(cells) else "")
    return cells[place].text == "-" and all(text[:1].isalnum() for text in around)


def _subject_before(cells: Sequence[Cell], group: Group, known: list[Group]) -> tuple[int, int] | None:
    """The noun phrase left of a finite verb, over adverbs and what stands between commas."""
    end = group.first
    while end and cells[end - 1].tag in _SKIP:
        end -= 1
    if end >= 3 and cells[end - 1].text == ",":
        opening = next((p for p in range(end - 2, max(-1, end - 14), -1) if cells[p].text == ","), None)
        if opening is not None and opening and cells[opening - 1].tag in _NP:
            end = opening
    if end and cells[end - 1].tag == "WP":
        return (end - 1, end)
    start = noun_phrase_start(cells, end)
    if start < end:
        return (start, end)
    return _shared_subject(cells, group, known)


def _shared_subject(cells: Sequence[Cell], group: Group, known: list[Group]) -> tuple[int, int] | None:
    """``He sat and panted``: a verb after ``and`` has the subject of the one before."""
    start = group.first
    while start and cells[start - 1].tag in _SKIP:
        start -= 1
    if start and (cells[start - 1].tag == "CC" or cells[start - 1].text == ","):
        earlier = [other for other in known if other.first < group.first and other.kind == "finite"]
        return earlier[-1].subject if earlier else None
    return None


def noun_phrase_start(cells: Sequence[Cell], end: int) -> int:
    """The start of the noun phrase that ends here, prepositional phrases and relatives included."""
    place = end
    seen_head = False
    while place:
        cell, tag = cells[place - 1], cells[place - 1].tag
        if tag in ("PRS", "PRO", "PN", "EX") and not seen_head:
            place -= 1
            return _joined(cells, place)
        if tag in NOUNS and cell.low not in TIME_NOUNS:
            seen_head = True
            place -= 1
        elif (
            (seen_head and tag in ("JJ", "CD", "POS"))
            or (
                seen_head
                and tag in ("VBN", "VBG")
                and place > 1
                and _tag(cells, place - 2) in ("DT", "PS", "JJ", "RB")
            )
            or (seen_head and tag == "RB" and _tag(cells, place) in ("JJ", "CD", "VBN"))
        ):
            place -= 1
        elif seen_head and hyphen(cells, place - 1) and place > 1:
            place -= 2
        elif seen_head and tag in ("DT", "PS"):
            place -= 1
            if place and cells[place - 1].tag in ("DT",):
                place -= 1
            if place and cells[place - 1].tag == "POS":
                continue
            return _joined(cells, place)
        else:
            break
    return _joined(cells, place) if seen_head else end


def _joined(cells: Sequence[Cell], place: int) -> int:
    """Goes on to the left over ``X of``, ``X in`` and ``X and``."""
    if place >= 2 and cells[place - 1].tag == "IN" and cells[place - 2].tag in NOUNS | {"PN", "CD"}:
        start = noun_phrase_start(cells, place - 1)
        if cells[place - 1].low == "of" or _clause_start(cells, start) or cells[start].tag in ("DT", "PS"):
            return start
    if (
        place >= 2
        and cells[place - 1].low in ("and", "or")
        and cells[place - 2].tag in NOUNS | {"PN", "PRS", "PRO"}
    ):
        start = noun_phrase_start(cells, place - 1)
        if _clause_start(cells, start):
            return start
    return place
