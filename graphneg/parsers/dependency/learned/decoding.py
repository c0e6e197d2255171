"""From scores of roles between all pairs of nodes to a connected graph.

Arcs that are more likely than not are taken, the likeliest first; then each loose part is joined by its
best arc, as Flanigan et al. (2014, section 4) do with their maximum spanning connected subgraph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

_ONCE = frozenset(
    {"polarity", "mode", "name", "unit", "ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARG5", "quant", "ord"}
)


class ScoredArc(NamedTuple):
    """A possible arc with its log odds against no arc."""

    score: float
    head: int
    dep: int
    role: str


@dataclass(slots=True)
class _Parts:
    """Which nodes are connected: a union-find over node numbers."""

    up: dict[int, int]

    def find(self, i: int) -> int:
        while self.up[i] != i:
            self.up[i] = self.up[self.up[i]]
            i = self.up[i]
        return i

    def join(self, a: int, b: int) -> None:
        self.up[self.find(a)] = self.find(b)


class _Taken:
    """The arcs taken so far, and what they rule out."""

    def __init__(self, nodes: Sequence[int], constants: frozenset[int]) -> None:
        self.arcs: list[ScoredArc] = []
        self.parts = _Parts({i: i for i in nodes})
        self._constants = constants
        self._roles: set[tuple[int, str]] = set()
        self._pairs: set[tuple[int, int]] = set()
        self._headed: set[int] = set()
        self._asked: set[int] = set()

    def joins(self, arc: ScoredArc) -> bool:
        """Whether the arc would connect two parts."""
        return self.parts.find(arc.head) != self.parts.find(arc.dep)

    def take(self, arc: ScoredArc) -> None:
        """Takes the arc unless one that stands forbids it."""
        if (arc.head, arc.dep) in self._pairs or (arc.dep, arc.head) in self._pairs:
            return
        if arc.role in _ONCE and (arc.head, arc.role) in self._roles:
            return
        single = arc.role == "polarity" or arc.dep in self._constants or arc.dep in self._asked
        if single and arc.dep in self._headed:
            return
        self.arcs.append(arc)
        self._roles.add((arc.head, arc.role))
        self._pairs.add((arc.head, arc.dep))
        self._headed.add(arc.dep)
        if arc.role == "polarity":
            self._asked.add(arc.dep)
        self.parts.join(arc.head, arc.dep)


def decode(
    nodes: Sequence[int], arcs: Sequence[ScoredArc], constants: frozenset[int], enough: float, loose: float
) -> tuple[list[ScoredArc], list[int]]:
    """The arcs to keep, and the single nodes that hang on nothing.

    Arcs that score ``enough`` are taken whatever they join; others only if they join two parts. A single node
    that no arc above ``loose`` joins to the rest is given up.
    """
    taken = _Taken(nodes, constants)
    ordered = sorted(arcs, key=lambda one: (-one.score, one.head, one.dep, one.role))
    for arc in ordered:
        if arc.score < enough:
            break
        taken.take(arc)
    for arc in ordered:
        if arc.score < loose:
            break
        if taken.joins(arc):
            taken.take(arc)
    members: dict[int, list[int]] = {}
    for i in nodes:
        members.setdefault(taken.parts.find(i), []).append(i)
    largest = max(members.values(), key=len, default=[])
    given_up = {group[0] for group in members.values() if len(group) == 1 and group is not largest}
    for arc in ordered:
        if arc.head not in given_up and arc.dep not in given_up and taken.joins(arc):
            taken.take(arc)
    return taken.arcs, sorted(given_up)
