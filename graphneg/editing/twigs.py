"""A graph taken apart for editing: nodes and mentions as a tree of twigs, and back again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from graphneg.lexeme import lexeme
from graphneg.model import AmrGraph, AmrNode, Mention

_LETTER = re.compile(r"[a-z]")


class Twig:
    """A mutable node, or (``target`` set) a mention of one, while edits are at work."""

    __slots__ = (
        "align", "below", "concept", "key", "role", "role_align", "span", "target", "up", "value", "var",
    )  # fmt: skip

    def __init__(
        self,
        role: str | None,
        concept: str | None = None,
        value: str | None = None,
        var: str | None = None,
        align: str | None = None,
        role_align: str | None = None,
        key: tuple[str, int] | None = None,
        span: tuple[int, int] | None = None,
        target: Twig | None = None,
    ) -> None:
        self.role = role
        self.concept = concept
        self.value = value
        self.var = var
        self.align = align
        self.role_align = role_align
        self.key = key
        self.span = span
        self.target = target
        self.up: Twig | None = None
        self.below: list[Twig] = []

    def attach(self, child: Twig, at: int | None = None) -> None:
        child.up = self
        self.below.insert(len(self.below) if at is None else at, child)

    def detach(self) -> int:
        """Take the twig off its parent; returns where it stood."""
        assert self.up is not None
        at = next(i for i, sibling in enumerate(self.up.below) if sibling is self)
        del self.up.below[at]
        self.up = None
        return at

    def walk(self) -> Iterator[Twig]:
        """The twigs at and under this one, in written order."""
        pending: list[Twig] = [self]
        while pending:
            twig = pending.pop()
            yield twig
            pending.extend(reversed(twig.below))


def as_twigs(graph: AmrGraph, origin: str) -> dict[tuple[str, int], Twig]:
    """The graph as twigs, by (graph id, k)."""
    spans = graph.spans
    twigs = [
        Twig(role, concept, value, var, align, role_align, (origin, k), spans.get(k))
        for k, _, var, concept, value, _, role, _, align, role_align in graph.nodes
    ]
    for node, twig in zip(graph.nodes, twigs, strict=True):
        if node.up is not None:
            twig.up = twigs[node.up]
            twig.up.below.append(twig)
    _attach_mentions(graph, twigs)
    return {(origin, k): twig for k, twig in enumerate(twigs)}


def _attach_mentions(graph: AmrGraph, twigs: Sequence[Twig]) -> None:
    """Mentions of nodes at their places among what else stands below their node."""
    places = {id(twigs[node.k]): node.pos for node in graph.nodes} if graph.mentions else {}
    for mention in graph.mentions:
        twig = Twig(mention.role, align=mention.align, role_align=mention.role_align)
        twig.target, twig.up = twigs[mention.target], twigs[mention.up]
        places[id(twig)] = mention.pos
        twig.up.below.append(twig)
    for k in {mention.up for mention in graph.mentions}:
        twigs[k].below.sort(key=lambda twig: places[id(twig)])


def copied(twig: Twig) -> Twig:
    copy = Twig(twig.role, twig.concept, twig.value)
    for child in twig.below:
        if child.target is None:
            copy.attach(copied(child))
    return copy


def frozen(original: AmrGraph, top: Twig) -> tuple[AmrGraph, dict[tuple[str, int], int]]:
    """Twigs as an immutable graph: order made sound, variables filled in, everything numbered."""
    top.role, top.role_align = None, None
    placed, mentioned = _numbered(top)
    _name_anew([twig for twig, _, _ in placed])
    lasts = list(range(len(placed)))
    for k in range(len(placed) - 1, 0, -1):
        up = placed[k][1] or 0
        lasts[up] = max(lasts[up], lasts[k])
    nodes = tuple(
        AmrNode(
            k, lasts[k], twig.var, twig.concept, twig.value, up, twig.role, pos, twig.align, twig.role_align
        )
        for k, (twig, up, pos) in enumerate(placed)
    )
    numbers = {id(twig): k for k, (twig, _, _) in enumerate(placed)} if mentioned else {}
    mentions = tuple(
        Mention(up, twig.role or "", pos, numbers[id(twig.target)], twig.align, twig.role_align)
        for twig, up, pos in mentioned
    )
    places = {twig.key: k for k, (twig, _, _) in enumerate(placed) if twig.key is not None}
    spans = {k: twig.span for k, (twig, _, _) in enumerate(placed) if twig.span is not None}
    return AmrGraph(original.id, nodes, mentions, (), spans), places


def _numbered(top: Twig) -> tuple[list[tuple[Twig, int | None, int]], list[tuple[Twig, int, int]]]:
    """Nodes and mentions in written order, each with the number of its parent and its place there."""
    placed: list[tuple[Twig, int | None, int]] = []
    mentioned: list[tuple[Twig, int, int]] = []
    pending: list[tuple[Twig, int | None, int]] = [(top, None, 0)]
    while pending:
        one = pending.pop()
        twig, k = one[0], len(placed)
        placed.append(one)
        below = twig.below
        for pos in range(len(below) - 1, -1, -1):
            if below[pos].target is None:
                pending.append((below[pos], k, pos))
            else:
                mentioned.append((below[pos], k, pos))
    mentioned.sort(key=_spot)
    return placed, mentioned


def _spot(mentioned: tuple[Twig, int, int]) -> tuple[int, int]:
    return mentioned[1:]


def _name_anew(twigs: Sequence[Twig]) -> None:
    """A fresh variable for each node that has none, or one that a constant looks like."""
    constants = {twig.value for twig in twigs if twig.value is not None}
    taken = {twig.var or "" for twig in twigs} | constants
    for twig in twigs:
        if twig.value is None and (twig.var is None or twig.var in constants):
            twig.var = _fresh(twig.concept or "", taken)
            taken.add(twig.var)


def letter(concept: str) -> str:
    """The first letter of a concept's lemma: annotators begin variables with it."""
    found = _LETTER.search(lexeme(concept))
    return found[0] if found else "x"


def _fresh(concept: str, taken: set[str]) -> str:
    """A variable by the concept's first letter, as annotators write them."""
    first = letter(concept)
    if first not in taken:
        return first
    number = 2
    while f"{first}{number}" in taken:
        number += 1
    return f"{first}{number}"
