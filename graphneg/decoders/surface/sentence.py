"""A sentence being edited together with its graph: from a node to its words, verb group or phrase."""

from __future__ import annotations

from collections.abc import Sequence

from graphneg.alignment.words import word_set
from graphneg.decoders.surface.clauses import BE, TIME_NOUNS, Group, groups, noun_phrase_start
from graphneg.decoders.surface.draft import Cell, Draft, is_quote
from graphneg.decoders.surface.forms import verb_lemma
from graphneg.decoders.surface.reading import Reading, Readings
from graphneg.decoders.surface.tag_tables import NOUNS
from graphneg.model import AmrGraph, AmrNode

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
