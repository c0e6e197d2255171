"""The words of a subtree, as a phrase: where it starts and ends, of what kind it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphneg.alignment.words import word_set
from graphneg.decoders.surface.clauses import Group
from graphneg.decoders.surface.draft import is_quote
from graphneg.decoders.surface.forms import pronoun_cases
from graphneg.decoders.surface.sentence import Sentence, Unrealised
from graphneg.decoders.surface.tag_tables import FINITE, NOUNS, VERBS

_NOMINAL = NOUNS | {"PN", "CD"}
_RELATIVE = frozenset({"WP", "SC", "PRS", "NEG", "RB", "AX", "MD"})
_DEGREES = word_set("very so too quite rather extremely really more most")
_WORDLESS = re.compile(r"^(?:and|or|person|thing|name|.*-(?:entity|quantity|91))$")


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
    if sentence.node(k).concept in ("and", "or"):
        return _coordination(sentence, k)
    if sentence.node(k).concept == "name" and (own := sentence.places(k)):
        return Phrase(own[0], own[-1] + 1, "nominal", own[-1])
    head = _head(sentence, k)
    group = next((one for one in sentence.groups() if head in one.chain), None)
    cell = sentence.cells[head]
    tag = cell.tag
    if tag in ("PRS", "PRO") or (tag == "PN" and pronoun_cases(cell.text)):
        return Phrase(head, head + 1, "nominal", head)
    if tag == "DT" or (tag == "CD" and _is_noun(sentence, head + 1)):
        return Phrase(head, head + 1, "determiner", head)
    if tag == "PS":
        return Phrase(head, head + 1, "possessive", head)
    low, high = _trimmed(sentence, head, *_window(sentence, k, head))
    if group is not None and tag not in NOUNS:
        return _verb_phrase(sentence, k, group, low, high, head)
    if tag in _NOMINAL:
        if _is_noun(sentence, head + 1) and sentence.owners().get(head + 1, k) < k:
            return Phrase(head, head + 1, "modifier", head)
        start, end = sentence.noun_phrase(head)
        if all(one.tag in ("JJ", "VBN", "VBG", "RB", "CD", *NOUNS) for one in sentence.cells[low:start]):
            start = min(start, low)
        return Phrase(_own_start(sentence, k, start, head), max(high, end), "nominal", head)
    if tag in ("JJ", "VBN", "VBG"):
        low = head
        while low and sentence.cells[low - 1].low in _DEGREES:
            low -= 1
        attributive = _is_noun(sentence, high) or (
            high < len(sentence.cells) and sentence.cells[high].tag == "JJ"
        )
        if attributive:
            return Phrase(low, max(head + 1, high), "modifier", head)
        return Phrase(low, high, "adjective", head)
    return Phrase(low, high, "adverb" if tag in ("RB", "WP") else "other", head)


def _is_noun(sentence: Sentence, place: int) -> bool:
    return place < len(sentence.cells) and sentence.cells[place].tag in NOUNS


def _coordination(sentence: Sentence, k: int) -> Phrase:
    """All the conjuncts from the first to the last, of the kind that the first one is."""
    parts: list[Phrase] = []
    for child in sentence.graph.children(k):
        if child.role is not None and child.role.startswith("op"):
            parts.append(phrase(sentence, child.k))
    if not parts:
        raise Unrealised("no-alignment", f"no word stands for the parts of {sentence.node(k).label}")
    start, end = min(part.start for part in parts), max(part.end for part in parts)
    if any(cell.tag == "EN" for cell in sentence.cells[start:end]):
        raise Unrealised("unclear-clause", "the parts stand in several sentences")
    kinds = {part.kind for part in parts}
    return Phrase(start, end, parts[0].kind if len(kinds) == 1 else "other", parts[0].head)


def _head(sentence: Sentence, k: int) -> int:
    places = sentence.places(k)
    if places:
        if sentence.cells[places[-1]].tag in NOUNS and places[-1] - places[0] == len(places) - 1:
            return places[-1]
        return places[0]
    if _WORDLESS.match(sentence.node(k).label):
        found = [places[0] for child in sentence.graph.children(k) if (places := sentence.places(child.k))]
        found.sort(key=lambda place: sentence.cells[place].tag in ("DT", "CD"))
        if found:
            return found[0]
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
    inside = sorted({p for one in range(k, last + 1) if one not in outside for p in sentence.places(one)})
    owners = {place: owner for place, owner in owners.items() if place not in inside}
    low, high = head, head + 1
    for place in reversed([one for one in inside if one < head]):
        if not _clear(sentence, owners, place + 1, low):
            break
        if any(one.tag == "PU" and one.text != "-" for one in sentence.cells[place + 1 : low]):
            break
        low = place
    nominal = sentence.cells[head].tag in NOUNS
    for place in [one for one in inside if one >= head]:
        if not _clear(sentence, owners, high, place):
            break
        apart = any(one.tag == "PU" and one.text != "-" for one in sentence.cells[high:place])
        if apart and not _listed(sentence, k, place):
            break
        if nominal and sentence.cells[place].tag in FINITE and sentence.cells[place - 1].tag not in _RELATIVE:
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
    while high - 1 > head and cells[high - 1].tag in (
        "IN",
        "TO",
        "SC",
        "WP",
        "CC",
        "PU",
        "AX",
        "MD",
        "DT",
        "PS",
    ):
        high -= 1
    return low, high


def _listed(sentence: Sentence, k: int, place: int) -> bool:
    """Whether the word stands for a conjunct inside the subtree: such words may follow a comma."""
    cell = sentence.cells[place]
    for one in range(k + 1, sentence.node(k).last + 1):
        if any(cell is other for other in sentence.owned.get(one, ())):
            at: int | None = one
            while at is not None and at > k:
                if re.match(r"op\d", sentence.node(at).role or ""):
                    return cell.tag not in ("PRS", "PRO")
                at = sentence.node(at).up
    return False


def _clear(sentence: Sentence, owners: dict[int, int], start: int, end: int) -> bool:
    between = sentence.cells[start:end]
    if len(between) > 6 or any(cell.tag == "EN" or is_quote(cell) for cell in between):
        return False
    return not any(
        place in owners
        and sentence.cells[place].tag not in ("PS", "DT", "PRS", "PRO", "CC", "NEG", "MD", "AX")
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
    kind = {"infinitive": "verb", "bare": "verb", "gerund": "verb", "participle": "adjective"}.get(
        group.kind, "predicate"
    )
    return Phrase(group.first if kind == "verb" else low, high, kind, head)
