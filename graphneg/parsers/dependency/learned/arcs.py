"""Which pairs of nodes are scored."""

from __future__ import annotations

from collections.abc import Iterator

from graphneg.parsers.dependency.learned.features import DraftFeatures

_NEAR = 24


def scored_pairs(seen: DraftFeatures) -> Iterator[tuple[int, int]]:
    """Ordered pairs of a draft's nodes that may be head and argument: of one sentence, not far apart.

    Constants head nothing; the parts of names and dates keep the arcs that the rules gave them.
    """
    nodes = seen.draft.nodes
    alive = [i for i in sorted(seen.alive, key=lambda i: seen.order[i]) if i not in seen.settled]
    for at, a in enumerate(alive):
        for b in alive[at + 1 : at + _NEAR]:
            if nodes[a].sentence != nodes[b].sentence or not seen.related(a, b):
                continue
            if nodes[a].concept is not None and nodes[a].concept != "name":
                yield a, b
            if nodes[b].concept is not None and nodes[b].concept != "name":
                yield b, a
