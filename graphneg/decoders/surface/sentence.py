"""A sentence being edited together with its graph: from a node to its words, verb group or phrase."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphneg.decoders.surface.clauses import BE, TIME_NOUNS, Group, groups, noun_phrase_start
from graphneg.decoders.surface.draft import Cell, Draft, Reading, Readings, is_quote
from graphneg.decoders.surface.forms import pronoun_cases, verb_lemma
from graphneg.english.tagging import FINITE, NOUNS, VERBS
from graphneg.english.words import word_set
from graphneg.model import AmrGraph, AmrNode

# A sentence being edited together with its graph: from a node to its words, verb group or phrase.


_LINKING = word_set(
    "be become seem look feel grow get remain stay appear sound turn keep taste smell go make have"
)
_INSIDE_PREDICATE = NOUNS | {
    "JJ",
    "RB",
    "DT",
    "PS",
    "CD",
    "NEG",
    "POS",
    "PRO",
    "VBN",
    "VBG",
    "IN",
    "TO",
    "PN",
}


class Unrealised(Exception):
    """An edit that the words at hand can't express. ``code`` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Sentence:
    """A draft, the graph it says, and the cells of each node (``owned``)."""

    def __init__(self, reading: Reading, readings: Readings) -> None:
        self.reading = reading
        self.readings = readings
        self.graph: AmrGraph = reading.graph
        self.draft: Draft
        self.owned: dict[int, list[Cell]]
        self.draft, self.owned = reading.draft()

    @property
    def cells(self) -> list[Cell]:
        return self.draft.cells

    def groups(self) -> list[Group]:
        return groups(self.draft.cells)

    def node(self, k: int) -> AmrNode:
        if not 0 <= k < len(self.graph.nodes):
            raise Unrealised("unsupported-edit", f"the graph has no node {k}")
        return self.graph.nodes[k]

    def places(self, k: int) -> list[int]:
        """Where the words of a node stand now."""
        return self.draft.places(self.owned.get(k, ()))

    def head(self, k: int) -> int:
        """Where the first word of a node stands.

        Raises:
            Unrealised: ``no-alignment``, the node has no words.
        """
        places = self.places(k)
        if not places:
            raise Unrealised("no-alignment", f"no word stands for {self.node(k).label}")
        return places[0]

    def predicate(self, k: int) -> Group | None:
        """The verb group that asserts a node: its own, or the copula or light verb before it."""
        self.node(k)
        known = self.groups()
        places = self.places(k)
        for place in places:
            for group in known:
                if place in group.chain:
                    return group
        if places:
            return self._governing(places[0], known)
        return self._between_arguments(k, known)

    def finite(self, group: Group | None) -> Group | None:
        """The group itself, or the finite one that an infinitive or a conjoined participle hangs on."""
        if group is None or group.kind in ("finite", "imperative"):
            return group
        start, _ = self.sentence_bounds(group.first)
        before = [one for one in self.groups() if start <= one.first < group.first and one.kind == "finite"]
        if not before or any(
            cell.tag in ("SC", "WP", "QT") for cell in self.cells[before[-1].main : group.first]
        ):
            return None
        return before[-1]

    def offers(self, group: Group) -> bool:
        """``Here you are``, ``Here it is``: what is handed over."""
        if group.subject is None or len(group.chain) > 1 or self.cells[group.main].low not in BE:
            return False
        start, end = group.subject
        pronoun = end - start == 1 and self.cells[start].tag in ("PRS", "PRO")
        return pronoun and start > 0 and self.cells[start - 1].low == "here"

    def conjuncts(self, group: Group) -> list[Cell]:
        """The lone verbs that ``and`` joins to a finite group, under the same subject."""
        _, end = self.sentence_bounds(group.first)
        found: list[Cell] = []
        for other in self.groups():
            if not group.main < other.first < end:
                continue
            start = other.first
            while start and self.cells[start - 1].tag == "RB":
                start -= 1
            shares = other.kind == "bare" or (other.kind == "finite" and other.subject == group.subject)
            if other.kind == "finite" and not shares:
                break
            lone = len(other.chain) == 1 and self.cells[other.first].tag in ("VB", "VBD", "VBZ", "VBP")
            if lone and shares and self.cells[start - 1].low == "and" and not other.negations:
                found.append(self.cells[other.first])
        return found

    def _governing(self, place: int, known: Sequence[Group]) -> Group | None:
        """The linking or light verb whose complement the word at ``place`` is."""
        before = [group for group in known if group.main < place]
        after = [group for group in known if group.main > place]
        if before:
            group = before[-1]
            end = group.subject[1] if group.inverted and group.subject else group.main + 1
            between = self.cells[max(end, group.main + 1) : place]
            fits = all(
                cell.tag in _INSIDE_PREDICATE or cell.text == "," for cell in between
            ) and self._is_light(group, place)
            if fits and place >= end and not self._attributive(place):
                return group
        if after and self.cells[after[0].main].low in BE | {"'s"} and after[0].subject is not None:
            start, end = after[0].subject
            if place < start and (
                place == 0 or self.cells[place - 1].low in ("how", "what", "so", "such", '"')
            ):
                return after[0]
        return None

    def _is_light(self, group: Group, place: int) -> bool:
        """A verb that links, or one that no node of the graph stands for."""
        cell = self.cells[group.main]
        if verb_lemma(cell.text) in _LINKING or cell.low == "'s":
            return True
        owned = any(cell in cells for cells in self.owned.values())
        return not owned and not any(one.tag == "IN" for one in self.cells[group.main + 1 : place])

    def _attributive(self, place: int) -> bool:
        """An adjective before its noun is no predicate of the clause, unless its noun is one."""
        following = self.cells[place + 1].tag if place + 1 < len(self.cells) else "EN"
        return self.cells[place].tag in ("JJ", "VBN", "VBG") and following in NOUNS

    def _between_arguments(self, k: int, known: Sequence[Group]) -> Group | None:
        """For a node without words (most -91 frames): the finite copula nearest to its arguments' words."""
        around = [p for child in self.graph.children(k) for p in self.places(child.k)[:1]]
        around += [p for one in self.graph.mentions if one.up == k for p in self.places(one.target)[:1]]
        fitting = [
            group
            for group in known
            if group.kind in ("finite", "imperative")
            and (
                self.cells[group.main].low in BE | {"'s", "have", "has", "had", "'ve"}
                or not self._owner(group.main)
            )
        ]
        if not around or not fitting:
            return None
        low, high = min(around), max(around)
        best = min(fitting, key=lambda group: max(low - group.main, group.main - high, 0))
        return best if max(low - best.main, best.main - high, 0) <= 3 else None

    def _owner(self, place: int) -> int | None:
        cell = self.cells[place]
        return next((k for k, cells in self.owned.items() if any(one is cell for one in cells)), None)

    def owners(self) -> dict[int, int]:
        """The node of each place; the lowest node where several share a word."""
        index = {id(cell): place for place, cell in enumerate(self.cells)}
        found: dict[int, int] = {}
        for k in sorted(self.owned, reverse=True):
            for cell in self.owned[k]:
                if id(cell) in index:
                    found[index[id(cell)]] = k
        return found

    def sentence_bounds(self, place: int) -> tuple[int, int]:
        """The sentence around a place: from after the last end mark to after the next, quotes included."""
        start = place
        while start and self.cells[start - 1].tag != "EN":
            start -= 1
        while start < place and is_quote(self.cells[start]) and start and self.cells[start - 1].tag == "EN":
            start += 1
        end = place
        while end < len(self.cells) and self.cells[end].tag != "EN":
            end += 1
        while end < len(self.cells) and self.cells[end].tag == "EN":
            end += 1
        return start, end

    def noun_phrase(self, place: int) -> tuple[int, int]:
        """The simple noun phrase around a noun: determiner, modifiers, head."""
        end = place + 1
        while (
            end < len(self.cells) and self.cells[end].tag in NOUNS and self.cells[end].low not in TIME_NOUNS
        ):
            end += 1
        return min(noun_phrase_start_simple(self.cells, end), place), end


def noun_phrase_start_simple(cells: Sequence[Cell], end: int) -> int:
    """The start of the noun phrase that ends here, without going left over prepositions."""
    start = noun_phrase_start(cells, end)
    for place in range(end - 1, start - 1, -1):
        if cells[place].tag in ("IN", "CC", "TO"):
            return place + 1
    return start


# The words of a subtree, as a phrase: where it starts and ends, of what kind it is.


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
