"""Closes drafts into a well-formed graph: one top, connected, inverse roles, reentrancies.

In: the drafts of a text, one a piece. Out: one `AmrGraph`. The tree that is written is the one with the
fewest inverse roles, then the shallowest (Goodman 2020 calls a choice of it a layout): the cheapest
paths from the top, by Dijkstra's algorithm. Arcs that it leaves out become reentrancies.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from graphneg.amr.penman import is_inverted
from graphneg.english.tokens import tokenize
from graphneg.model import AmrGraph, AmrNode, Mention
from graphneg.parsers.dependency.draft import Draft, repair

DEEPEST = 100
_NUMBERED = re.compile(r"(op|snt)\d+\Z")
_INVERSES = {"mod": "domain", "domain": "mod"}
_USUALLY_INVERSE = frozenset({"part"})
_AWAY = 1000
"""What it costs to reach a node through another sentence than its own."""
_ARGUMENT = re.compile(r"ARG\d\Z")


class _Branch(NamedTuple):
    """A role that the tree writes under a node: to a new node, or naming one again."""

    order: tuple[int, str, int]
    role: str
    to: int
    is_mention: bool


class _Way(NamedTuple):
    """An arc as seen from one of its ends; ``arc`` numbers it."""

    to: int
    role: str
    cost: int
    arc: int


class _Step(NamedTuple):
    """A way to a node from ``up``, in the sentence whose top is ``home``."""

    up: int
    way: _Way
    home: int | None


@dataclass(slots=True)
class _Pool:
    """Nodes and arcs of one or several drafts, numbered through.

    ``homes`` are the tops of the sentences that nodes are of.
    """

    concepts: list[str | None] = field(default_factory=list[str | None])
    values: list[str | None] = field(default_factory=list[str | None])
    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    arcs: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    tops: list[int] = field(default_factory=list[int])
    homes: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, concept: str | None, value: str | None = None, span: tuple[int, int] = (-1, -1)) -> int:
        """Adds a node; returns its number."""
        self.concepts.append(concept)
        self.values.append(value)
        self.places.append(span)
        return len(self.concepts) - 1


def assemble(drafts: Sequence[Draft], text: str) -> AmrGraph:
    """One well-formed graph for the drafts of a text, sentences under ``multi-sentence``.

    Spans are ranges over the tokens of :func:`graphneg.english.tokens.tokenize`.
    """
    pool = _Pool()
    for draft in drafts:
        repair(draft)
        _add_draft(pool, draft)
    if not pool.tops:
        pool.tops.append(pool.add("amr-empty"))
    top = pool.tops[0]
    if len(pool.tops) > 1:
        top = pool.add("multi-sentence")
        pool.arcs.extend((top, sentence, f"snt{n}") for n, sentence in enumerate(pool.tops, 1))
    branches, depths = _tree(pool, top)
    while len(depths) < len(pool.concepts):
        _link_loose(pool, top, depths)
        branches, depths = _tree(pool, top)
    return _layout(pool, top, branches, text)


def _add_draft(pool: _Pool, draft: Draft) -> None:
    """Adds a draft's nodes, arcs and tops to the pool, without what stands twice."""
    numbers: dict[int, int] = {}
    for k, node in enumerate(draft.nodes):
        if not node.gone:
            numbers[k] = pool.add(node.concept, node.value, (node.start, node.end))
    spare = next((k for k in numbers.values() if pool.concepts[k] is not None), None)
    homes: dict[int, int] = {}
    for sentence in sorted(draft.tops):
        top = numbers.get(draft.tops[sentence], spare)
        if top is not None:
            homes[sentence] = top
            if top not in pool.tops:
                pool.tops.append(top)
    for k, number in numbers.items():
        home = homes.get(draft.nodes[k].sentence)
        if home is not None:
            pool.homes[number] = home
    seen: set[tuple[int, int, str]] = set()
    for arc in draft.arcs:
        if arc.head in numbers and arc.dep in numbers:
            head, dep = numbers[arc.head], numbers[arc.dep]
            key = head, dep, arc.role if _ARGUMENT.match(arc.role) else ""
            if head != dep and pool.concepts[head] is not None and key not in seen:
                seen.add(key)
                pool.arcs.append((head, dep, arc.role))


def _tree(pool: _Pool, top: int) -> tuple[list[list[_Branch]], dict[int, int]]:
    """The branches below each node, and the depth of every node that was reached."""
    ways = _ways(pool)
    branches: list[list[_Branch]] = [[] for _ in pool.concepts]
    depths: dict[int, int] = {}
    used: set[int] = set()
    numbers = count()
    queue = [(0, 0, next(numbers), _Step(-1, _Way(top, "", 0, -1), None))]
    while queue:
        cost, depth, _, (up, (node, role, _, arc), home) = heappop(queue)
        if node in depths:
            continue
        depths[node] = depth
        if up >= 0:
            used.add(arc)
            _branch(branches[up], role, node, False)
        if depth >= DEEPEST:
            continue
        home = node if role.startswith("snt") else home
        for way in ways[node]:
            if way.to not in depths:
                away = _AWAY if home is not None and pool.homes.get(way.to, home) != home else 0
                heappush(queue, (cost + way.cost + away, depth + 1, next(numbers), _Step(node, way, home)))
    for n, (head, dep, role) in enumerate(pool.arcs):
        if n not in used and head in depths and dep in depths and pool.concepts[dep] is not None:
            if role in _USUALLY_INVERSE:
                head, dep, role = dep, head, inverse(role)
            _branch(branches[head], role, dep, True)
    return branches, depths


def _ways(pool: _Pool) -> list[list[_Way]]:
    """From each node, the arcs that lead on; an inverse role costs 2, and 3 at a node that is shared."""
    ways: list[list[_Way]] = [[] for _ in pool.concepts]
    above = Counter(dep for _, dep, _ in pool.arcs)
    for n, (head, dep, role) in enumerate(pool.arcs):
        usual = role not in _USUALLY_INVERSE
        ways[head].append(_Way(dep, role, 0 if usual else 2, n))
        if pool.concepts[dep] is not None:
            ways[dep].append(_Way(head, inverse(role), (2 if usual else 0) + (above[dep] > 1), n))
    return ways


def _branch(branches: list[_Branch], role: str, to: int, is_mention: bool) -> None:
    """Adds a branch: arguments and numbered roles stand first, by number; the rest as they came."""
    match, n = _NUMBERED.match(role), len(branches)
    order = (2, "", n)
    if _ARGUMENT.match(role):
        order = (0, role, n)
    elif match:
        order = (1, match[1] + role[len(match[1]) :].zfill(6), n)
    branches.append(_Branch(order, role, to, is_mention))


def inverse(role: str) -> str:
    """The role read from the other side.

    >>> inverse("ARG0"), inverse("mod"), inverse("consist-of"), inverse("ARG0-of")
    ('ARG0-of', 'domain', 'consist-of-of', 'ARG0')
    """
    if role in _INVERSES:
        return _INVERSES[role]
    return role[:-3] if is_inverted(role) else f"{role}-of"


def _link_loose(pool: _Pool, top: int, depths: dict[int, int]) -> None:
    """Links what no arc reaches to the top of its sentence, one node of each loose part.

    Part heads come first: those that are no other's argument, in order of the text.
    """
    below = {dep for head, dep, _ in pool.arcs if head not in depths}
    loose = [k for k in range(len(pool.concepts)) if k not in depths]
    links: dict[int, list[int]] = {}
    for head, dep, _ in pool.arcs:
        links.setdefault(head, []).append(dep)
        links.setdefault(dep, []).append(head)
    reached = set(depths)
    for k in sorted(loose, key=lambda k: (k in below, pool.values[k] is not None, k)):
        if k in reached:
            continue
        home = pool.homes.get(k, top)
        pool.arcs.append((home if home in depths and depths[home] < DEEPEST else top, k, "mod"))
        part = [k]
        reached.add(k)
        for member in part:
            new = [other for other in links.get(member, ()) if other not in reached]
            reached.update(new)
            part.extend(new)


def _layout(pool: _Pool, top: int, branches: list[list[_Branch]], text: str) -> AmrGraph:
    """The graph with its nodes in the order of the tree."""
    numbers: dict[int, int] = {}
    order: list[tuple[int, int | None, str | None, int]] = []
    last: dict[int, int] = {}
    stack: list[tuple[int, int | None, str | None, int]] = [(top, None, None, 0)]
    mentions: list[tuple[int, str, int, int]] = []
    while stack:
        k, up, role, pos = stack.pop()
        if k < 0:
            last[~k] = len(order) - 1
            continue
        numbers[k] = len(order)
        order.append((k, up, role, pos))
        stack.append((~k, None, None, 0))
        below = _renumbered(sorted(branches[k], key=lambda branch: branch.order))
        for n, (branch, name) in reversed(list(enumerate(below))):
            if branch.is_mention:
                mentions.append((k, name, n, branch.to))
            else:
                stack.append((branch.to, k, name, n))
    variables = _variables([pool.concepts[k] for k, *_ in order])
    nodes: list[AmrNode] = []
    for number, (k, up, role, pos) in enumerate(order):
        concept, value = pool.concepts[k], pool.values[k]
        end, above = (number if value is not None else last[k]), (None if up is None else numbers[up])
        nodes.append(AmrNode(number, end, variables[number], concept, value, above, role, pos))
    named = [Mention(numbers[k], role, pos, numbers[to]) for k, role, pos, to in mentions]
    spans = token_spans(text, [pool.places[k] for k, *_ in order])
    named.sort(key=lambda mention: (mention.up, mention.pos))
    return AmrGraph("", tuple(nodes), tuple(named), (), spans)


def _renumbered(branches: list[_Branch]) -> list[tuple[_Branch, str]]:
    """The branches with ``:opN`` and ``:sntN`` counted up from 1; from 2 where *And …* lacks the first."""
    operands = [int(branch.role[2:]) for branch in branches if re.fullmatch(r"op\d+", branch.role)]
    counts = {"op": 1 if operands and min(operands) == 2 else 0, "snt": 0}
    named: list[tuple[_Branch, str]] = []
    for branch in branches:
        match = _NUMBERED.match(branch.role)
        if match:
            counts[match[1]] += 1
        named.append((branch, f"{match[1]}{counts[match[1]]}" if match else branch.role))
    return named


def _variables(concepts: Sequence[str | None]) -> list[str | None]:
    """``b``, ``b2``, …: the concept's first letter, numbered from the second on; constants have none."""
    counts: Counter[str] = Counter()
    variables: list[str | None] = []
    for concept in concepts:
        if concept is None:
            variables.append(None)
            continue
        letter = concept[0].lower() if concept[0].isascii() and concept[0].isalpha() else "x"
        counts[letter] += 1
        variables.append(letter if counts[letter] == 1 else f"{letter}{counts[letter]}")
    return variables


def token_spans(text: str, places: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """The token range of each place ``(start, end)`` in characters; -1 has none.

    >>> token_spans("I can't go.", [(0, 1), (5, 7), (-1, -1)])
    {0: (0, 1), 1: (2, 3)}
    """
    tokens = tokenize(text)
    starts = [token.start for token in tokens]
    ends = [token.end for token in tokens]
    spans: dict[int, tuple[int, int]] = {}
    for k, (start, end) in enumerate(places):
        if start < 0:
            continue
        first, behind = bisect_right(ends, start), bisect_left(starts, end)
        if first < behind:
            spans[k] = (first, behind)
    return spans
