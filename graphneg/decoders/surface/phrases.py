"""Whole subtrees change places: their words, as a phrase, go in for another phrase, or go."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphneg.decoders.surface.agreement import agree_with, head_of, is_subject, person_of
from graphneg.decoders.surface.clauses import BE, Group
from graphneg.decoders.surface.draft import Cell, is_quote, new
from graphneg.decoders.surface.forms import (
    OBJECT,
    OWN,
    POSSESSIVE,
    SUBJECT,
    finite_tag,
    full_form,
    pronoun,
    pronoun_cases,
    verb_form,
    verb_lemma,
)
from graphneg.decoders.surface.pronouns import case_of, rewrite_pronoun
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.decoders.surface.tag_tables import NOUNS, VERBS

_NOMINAL = NOUNS | {"PN", "PRS", "PRO", "CD", "DT"}
_WORDLESS = re.compile(r"^(?:and|or|person|thing|name|.*-(?:entity|quantity|91))$")
_VERBAL = frozenset({"verb", "clause", "predicate"})
_COUNT_FROM = 1_000_000


@dataclass(slots=True)
class Phrase:
    """The words of a subtree: their places, what kind of phrase they are, and its head."""

    start: int
    end: int
    kind: str
    head: int


def phrase(sentence: Sentence, k: int) -> Phrase:
    """The contiguous words of the subtree at ``k``, with the determiners and modifiers that go with it.

    Raises:
        Unrealised: ``no-alignment``, no word stands for any node of the subtree.
    """
    head = _head(sentence, k)
    group = next((one for one in sentence.groups() if head in one.chain), None)
    tag = sentence.cells[head].tag
    if tag in ("PRS", "PRO") or (tag == "PN" and pronoun_cases(sentence.cells[head].text)):
        return Phrase(head, head + 1, "nominal", head)
    low, high = _trimmed(sentence, head, *_window(sentence, k, head))
    if group is not None and tag not in NOUNS:
        return _verb_phrase(sentence, k, group, low, high, head)
    if tag == "PS":
        return Phrase(head, head + 1, "possessive", head)
    if tag in _NOMINAL:
        start, end = sentence.noun_phrase(head)
        start = _own_start(sentence, k, start, head)
        low, high = min(low, start), max(high, end)
        kind = "nominal"
    elif tag in ("JJ", "VBN", "VBG"):
        while low and sentence.cells[low - 1].tag == "RB" and sentence.cells[low - 1].low in ("very", "so", "too", "quite"):
            low -= 1
        kind = "adjective"
    elif tag in ("RB", "WP"):
        kind = "adverb"
    else:
        kind = "other"
    return Phrase(low, high, kind, head)


def _head(sentence: Sentence, k: int) -> int:
    places = sentence.places(k)
    if places:
        if sentence.cells[places[-1]].tag in NOUNS and places[-1] - places[0] == len(places) - 1:
            return places[-1]
        return places[0]
    for child in sentence.graph.children(k) if _WORDLESS.match(sentence.node(k).label) else []:
        if sentence.places(child.k):
            return sentence.places(child.k)[0]
    raise Unrealised("no-alignment", f"no word stands for {sentence.node(k).label}")


def _own_start(sentence: Sentence, k: int, start: int, head: int) -> int:
    """Modifiers left of the head that belong to nodes outside the subtree stay out of the phrase."""
    owners, last = sentence.owners(), sentence.node(k).last
    for place in range(head - 1, start - 1, -1):
        owner = owners.get(place)
        outside = owner is not None and not k <= owner <= last
        if outside and sentence.cells[place].tag not in ("PS", "DT") and not _is_ancestor(sentence, owner, k):
            return place + 1
    return start


def _is_ancestor(sentence: Sentence, other: int | None, k: int) -> bool:
    return other is not None and other <= k <= sentence.node(other).last


def _window(sentence: Sentence, k: int, head: int) -> tuple[int, int]:
    """Grows from the head over words of the subtree, as long as nothing foreign stands between."""
    owners, last = sentence.owners(), sentence.node(k).last
    outside = _predicated(sentence, k)
    inside = sorted(p for p, owner in owners.items() if k <= owner <= last and owner not in outside)
    low, high = head, head + 1
    for place in reversed([one for one in inside if one < head]):
        if not _clear(sentence, owners, place + 1, low):
            break
        low = place
    for place in [one for one in inside if one >= head]:
        if not _clear(sentence, owners, high, place):
            break
        high = max(high, place + 1)
    return low, high


def _predicated(sentence: Sentence, k: int) -> set[int]:
    """What a noun or adjective is said of, and its negation, are no part of its phrase."""
    return {
        node.k
        for child in sentence.graph.children(k)
        if child.role in ("domain", "polarity", "mode")
        for node in sentence.graph.subtree(child.k)
    }


def _trimmed(sentence: Sentence, head: int, low: int, high: int) -> tuple[int, int]:
    """A phrase takes the whole of the noun phrases at its edges, and no preposition left hanging."""
    cells = sentence.cells
    if low < head:
        while low and cells[low - 1].tag in ("DT", "PS", "JJ") and cells[low].tag in (*NOUNS, "JJ", "CD"):
            low -= 1
        if low and cells[low - 1].tag == "IN" and cells[head].tag in VERBS:
            low -= 1
    while high - 1 > head and cells[high - 1].tag in ("IN", "TO", "SC", "WP", "CC", "PU", "AX", "MD", "DT", "PS"):
        high -= 1
    return low, high


def _clear(sentence: Sentence, owners: dict[int, int], start: int, end: int) -> bool:
    between = sentence.cells[start:end]
    if len(between) > 6 or any(cell.tag == "EN" or is_quote(cell) for cell in between):
        return False
    marks = [place for place in range(start, end) if sentence.cells[place].tag == "PU"]
    if marks and not any(cell.tag == "CC" for cell in sentence.cells[max(0, start - 8) : end + 8]):
        return False
    return not any(
        place in owners and sentence.cells[place].tag not in ("PS", "DT", "PRS", "PRO", "CC", "NEG", "MD", "AX")
        for place in range(start, end)
    )


def _verb_phrase(sentence: Sentence, k: int, group: Group, low: int, high: int, head: int) -> Phrase:
    last = sentence.node(k).last
    low, high = min(low, group.first), max(high, group.main + 1)
    if group.kind == "finite" and group.subject is not None:
        start, end = group.subject
        owners = sentence.owners()
        mine = any(k <= owners.get(place, -1) <= last for place in range(start, end))
        if mine or sentence.cells[start].tag in ("PRS", "EX", "PN"):
            low = min(low, start)
            return Phrase(low, max(high, end), "clause", head)
    kind = {"infinitive": "verb", "bare": "verb", "gerund": "verb", "participle": "adjective"}.get(group.kind, "predicate")
    return Phrase(group.first if kind == "verb" else low, high, kind, head)


def copied(sentence: Sentence, span: Phrase, serial: int) -> list[Cell]:
    """Copies of a phrase's cells, spaced among themselves as in their own text."""
    found: list[Cell] = []
    for place in range(span.start, span.end):
        cell = sentence.cells[place]
        home = _COUNT_FROM * (serial + 1) + place
        text = cell.text
        if cell.initial and cell.tag != "NNP" and text != "I" and place == span.start:
            text = text[:1].lower() + text[1:]
        found.append(Cell(text, cell.tag, home, cell.gap))
    return found


def replace_with(sentence: Sentence, k: int, source: Sentence, from_k: int, serial: int) -> None:
    """Puts the words of a subtree of another sentence where the subtree at ``k`` has its words.

    Raises:
        Unrealised: ``no-alignment``; ``kind-mismatch``, a noun phrase for a clause and the like.
    """
    target, given = phrase(sentence, k), phrase(source, from_k)
    cells = copied(source, given, serial)
    if [cell.low for cell in cells] == [cell.low for cell in sentence.cells[target.start : target.end]]:
        raise Unrealised("unchanged", "both phrases have the same words")
    if target.kind in ("nominal", "possessive") and given.kind in ("nominal", "possessive"):
        _replace_nominal(sentence, k, target, cells, source, given)
    elif target.kind == given.kind and target.kind not in ("verb", "predicate"):
        _splice(sentence, target, cells)
    elif target.kind in _VERBAL and given.kind in _VERBAL:
        _replace_verb(sentence, target, source, given, serial)
    else:
        raise Unrealised("kind-mismatch", f"a phrase of kind {given.kind} can't stand for {target.kind}")


def _splice(sentence: Sentence, target: Phrase, cells: list[Cell]) -> None:
    initial = sentence.cells[target.start].initial
    sentence.cells[target.start : target.end] = cells
    if initial and cells:
        cells[0].home = -1


def _replace_nominal(
    sentence: Sentence, k: int, target: Phrase, cells: list[Cell], source: Sentence, given: Phrase
) -> None:
    head = sentence.cells[target.head]
    person = sentence.node(k).concept or ""
    case = case_of(sentence, head, person) if pronoun_cases(head.text) else None
    others = [sentence.cells[place] for place in sentence.places(k) if sentence.cells[place] is not head]
    subject = is_subject(sentence, head)
    lone = cells[0] if len(cells) == 1 and pronoun_cases(cells[0].text) and cells[0].tag in ("PRS", "PRO", "PS", "PN") else None
    new_person = pronoun_cases(lone.text)[0][0] if lone is not None else person_of(cells)
    if target.kind == "possessive" or case in (POSSESSIVE, OWN):
        if lone is None and len(cells) > 1:
            start, end = source.noun_phrase(given.head)
            cells = copied(source, Phrase(start, end, given.kind, given.head), 1)
        cells = _possessive(cells, lone)
    elif given.kind == "possessive" or lone is not None:
        form = pronoun(new_person, SUBJECT if subject else OBJECT)
        cells = [new(form, "PRS" if subject else "PRO")]
    else:
        cells = _with_article(source, given, cells)
    _splice(sentence, target, cells)
    _follow(sentence, others, person, new_person if lone is not None else _third(cells, person))
    if subject:
        agree_with(sentence, cells[head_of(cells, 0, len(cells))])


def _possessive(cells: list[Cell], lone: Cell | None) -> list[Cell]:
    if lone is not None:
        return [new(pronoun(pronoun_cases(lone.text)[0][0], POSSESSIVE), "PS")]
    last = cells[-1]
    if last.tag == "POS" or last.low == "'s":
        return cells
    return [*cells, new("'" if last.tag == "NNS" and last.low.endswith("s") else "'s", "POS")]


def _with_article(source: Sentence, given: Phrase, cells: list[Cell]) -> list[Cell]:
    """A singular noun taken from inside a compound gets an article."""
    following = source.cells[given.end] if given.end < len(source.cells) else None
    first = cells[0]
    if following is not None and following.tag in ("NN", "NNS") and first.tag in ("NN", "JJ"):
        return [new("the", "DT"), *cells]
    return cells


def _third(cells: list[Cell], person: str) -> str:
    if not cells:
        return person
    found = person_of(cells)
    if found in ("they", "we"):
        return found
    if cells[head_of(cells, 0, len(cells))].low in _PEOPLE:
        return person if person in ("he", "she") else "he"
    return person if person in ("he", "she", "it") else "it"


def _follow(sentence: Sentence, cells: list[Cell], old: str, person: str) -> None:
    """The other mentions of a replaced pronoun take the new one's person."""
    if old == person:
        return
    for cell in cells:
        if sentence.draft.place(cell) < 0:
            continue
        case = case_of(sentence, cell, old)
        if case is not None:
            rewrite_pronoun(sentence, cell, person, case)
            if case == SUBJECT:
                agree_with(sentence, cell)


def _replace_verb(sentence: Sentence, target: Phrase, source: Sentence, given: Phrase, serial: int) -> None:
    """A verb phrase takes the place of another: the new verb in the old one's form, subjects left out."""
    group = next(one for one in source.groups() if given.head in one.chain)
    if any(source.cells[place].tag in ("WP", "SC") for place in range(given.start, group.main)):
        raise Unrealised("kind-mismatch", "the clause has a question word")
    old = next(one for one in sentence.groups() if target.head in one.chain)
    start = _content_start(sentence, old)
    rest_start = _content_start(source, group)
    rest = copied(source, Phrase(rest_start, max(given.end, rest_start + 1), given.kind, rest_start), serial)
    wanted = _form(sentence.cells[start])
    lemma = verb_lemma(full_form(rest[0].text))
    rest[0].text, rest[0].tag = verb_form("be" if full_form(rest[0].text) in BE else lemma, wanted), wanted
    if any(cell.tag == "EN" for cell in sentence.cells[start : target.end]):
        raise Unrealised("unclear-clause", "the phrase goes over the end of a sentence")
    _splice(sentence, Phrase(start, max(target.end, old.main + 1), target.kind, start), rest)
    if wanted in ("VBP", "VBZ"):
        agree_with(sentence, sentence.cells[old.subject[0]]) if old.subject else None


def _content_start(sentence: Sentence, group: Group) -> int:
    """The first verb that says something: the main one, or the be of a passive or progressive."""
    if len(group.chain) > 1 and full_form(sentence.cells[group.chain[-2]].text) in BE | {"'s"}:
        return group.chain[-2]
    return group.main


def _form(cell: Cell) -> str:
    if cell.tag in ("AX", "MD"):
        return finite_tag(cell.text)
    return cell.tag if cell.tag in ("VB", "VBG", "VBN", "VBD", "VBZ", "VBP") else "VB"


def drop(sentence: Sentence, k: int) -> None:
    """Takes the words of a subtree out, with the preposition, conjunction or commas that led to it.

    An argument that its verb can't miss leaves ``something`` or ``someone``.

    Raises:
        Unrealised: ``no-alignment``; ``unclear-clause``, what is left would have no verb.
    """
    node = sentence.node(k)
    if node.role is not None and node.role.startswith("snt"):
        _drop_sentence(sentence, k)
        return
    target = phrase(sentence, k)
    if target.kind in ("predicate", "clause") and not _conjunct(sentence, target):
        if not _subordinate(sentence, target):
            raise Unrealised("unclear-clause", "the main clause can't go")
    if target.kind == "possessive":
        sentence.draft.rewrite(sentence.cells[target.start], "the", "DT")
        return
    if target.kind in ("nominal", "verb") and _argument(sentence, target):
        return
    _remove(sentence, target)


def _drop_sentence(sentence: Sentence, k: int) -> None:
    places = [place for one in range(k, sentence.node(k).last + 1) for place in sentence.places(one)]
    if not places:
        raise Unrealised("no-alignment", "no word stands for the sentence")
    places.sort()
    start, end = sentence.sentence_bounds(places[len(places) // 2])
    if end - start >= len([cell for cell in sentence.cells if cell.tag not in ("QT",)]):
        raise Unrealised("unclear-clause", "the sentence is all there is")
    sentence.draft.cut(start, end)


def _conjunct(sentence: Sentence, target: Phrase) -> bool:
    return bool(target.start) and sentence.cells[target.start - 1].tag == "CC"


def _subordinate(sentence: Sentence, target: Phrase) -> bool:
    return bool(target.start) and sentence.cells[target.start - 1].tag in ("SC", "WP")


def _argument(sentence: Sentence, target: Phrase) -> bool:
    """Subjects and objects leave an indefinite pronoun; True when that was done."""
    cells = sentence.cells
    before = cells[target.start - 1] if target.start else None
    subject = is_subject(sentence, cells[target.head])
    tag = before.tag if before is not None else "EN"
    if target.kind == "verb":
        if tag == "TO" and target.start > 1 and cells[target.start - 2].tag in VERBS:
            cells[target.start - 1 : target.end] = [new("something", "PN")]
            return True
        return False
    objective = tag in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "AX", "NEG", "PRO")
    if not subject and not objective:
        return False
    if any(cell.tag == "CC" for cell in cells[target.end : target.end + 1]) or tag == "CC":
        return False
    word = "someone" if cells[target.head].low in _PEOPLE or pronoun_cases(cells[target.head].text)[:1] and not (
        pronoun_cases(cells[target.head].text)[0][0] == "it"
    ) else "something"
    replacement = new(word, "PN")
    _splice(sentence, target, [replacement])
    if subject:
        agree_with(sentence, replacement)
    return True


_PEOPLE = frozenset(
    "man men woman women boy girl child children people person king queen prince princess friend friends mother "
    "father brother sister teacher doctor mom dad husband wife son daughter boss guy guys lady gentleman".split()
)


def _remove(sentence: Sentence, target: Phrase) -> None:
    cells = sentence.cells
    start, end = target.start, target.end
    while start and cells[start - 1].tag in ("IN", "TO", "SC", "WP") and target.kind != "adjective":
        start -= 1
    if start and cells[start - 1].tag == "CC" and (end >= len(cells) or cells[end].tag != "CC"):
        start -= 1
    elif end < len(cells) and cells[end].tag == "CC" and start and cells[start - 1].tag not in ("PU", "EN"):
        end += 1
    if start and cells[start - 1].text == "," and end < len(cells) and cells[end].text in (",", ".", "!", "?"):
        start -= 1
    elif end < len(cells) and cells[end].text == "," and (start == 0 or cells[start - 1].tag in ("EN", "QT", "CC", "PU")):
        end += 1
    if start == 0 and end >= len(cells) - 1:
        raise Unrealised("unclear-clause", "nothing would be left")
    copula = cells[start - 1] if start else None
    if copula is not None and copula.tag == "AX" and target.kind in ("adjective", "adverb", "other"):
        if end >= len(cells) or cells[end].tag in ("EN", "PU", "QT", "CC", "SC", "IN"):
            raise Unrealised("unclear-clause", "the copula would have no predicate")
    sentence.draft.cut(start, end)
