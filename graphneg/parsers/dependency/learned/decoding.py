"""From scores of roles between all pairs of nodes to a connected graph.

Arcs that are more likely than not are taken, the likeliest first; then each loose part is joined by its best arc,
as Flanigan et al. (2014, section 4) do with their maximum spanning connected subgraph.
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


def decode(
    nodes: Sequence[int], arcs: Sequence[ScoredArc], enough: float, constants: frozenset[int]
) -> list[ScoredArc]:
    """The arcs to keep. ``enough`` is the score from which an arc is taken though it joins nothing new."""
    taken: list[ScoredArc] = []
    roles: set[tuple[int, str]] = set()
    pairs: set[tuple[int, int]] = set()
    headed: set[int] = set()
    parts = _Parts({i: i for i in nodes})
    ordered = sorted(arcs, key=lambda one: (-one.score, one.head, one.dep, one.role))
    for joining in (False, True):
        for one in ordered:
            if not joining and one.score < enough:
                break
            if joining and parts.find(one.head) == parts.find(one.dep):
                continue
            if (one.head, one.dep) in pairs or (one.dep, one.head) in pairs:
                continue
            if one.role in _ONCE and (one.head, one.role) in roles:
                continue
            if one.dep in constants and one.dep in headed:
                continue
            taken.append(one)
            roles.add((one.head, one.role))
            pairs.add((one.head, one.dep))
            headed.add(one.dep)
            parts.join(one.head, one.dep)
    return taken
