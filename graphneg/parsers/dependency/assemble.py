"""Closes a draft into a well-formed graph: one top, connected, inverse roles, reentrancies.

The tree that is written is the one with the fewest inverse roles, then the shallowest
(Goodman 2020 calls a choice of it a layout); what it leaves out become reentrancies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from graphneg.amr.penman import is_inverted
from graphneg.model import AmrGraph, AmrNode, Mention
from graphneg.parsers.dependency.draft import Draft, repair, token_spans

DEEPEST = 100
_NUMBERED = re.compile(r"(op|snt)\d+\Z")
_INVERSES = {"mod": "domain", "domain": "mod"}
_USUALLY_INVERSE = frozenset({"part"})
_AWAY = 1000
_ARGUMENT = re.compile(r"ARG\d\Z")


@dataclass(slots=True)
class _Branch:
    """A role that the tree writes under ``up``: to a new node, or naming one again."""

    up: int
    role: str
    to: int
    is_mention: bool
    order: tuple[int, str, int]


class _Step(NamedTuple):
    """A way to a node: from ``up`` by ``role``, in the sentence whose top is ``home``."""

    node: int
    up: int
    role: str
    arc: int
    home: int | None


class _Way(NamedTuple):
    """An arc as seen from one of its ends; ``arc`` numbers it."""

    to: int
    role: str
    cost: int
    arc: int


@dataclass(slots=True)
class Pool:
    """Nodes and arcs of one or several drafts, numbered through, with one top."""

    concepts: list[str | None] = field(default_factory=list[str | None])
    values: list[str | None] = field(default_factory=list[str | None])
    places: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    arcs: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    tops: list[int] = field(default_factory=list[int])
    homes: dict[int, int] = field(default_factory=dict[int, int])
    """The top that a node falls to when nothing links it."""

    def add(self, concept: str | None, value: str | None, place: tuple[int, int]) -> int:
        """Adds a node; returns its number."""
        self.concepts.append(concept)
        self.values.append(value)
        self.places.append(place)
        return len(self.concepts) - 1


def assemble(drafts: Sequence[Draft], text: str) -> AmrGraph:
    """One well-formed graph for the drafts of a text, sentences under ``multi-sentence``.

    Spans are ranges over the tokens of :func:`graphneg.english.tokens.tokenize`.
    """
    pool = Pool()
    for draft in drafts:
        repair(draft)
        _gather(pool, draft)
    if not pool.tops:
        pool.tops.append(pool.add("amr-empty", None, (-1, -1)))
    top = pool.tops[0]
    if len(pool.tops) > 1:
        top = pool.add("multi-sentence", None, (-1, -1))
        pool.arcs.extend((top, one, f"snt{n}") for n, one in enumerate(pool.tops, 1))
    return _written(pool, top, text)


def _gather(pool: Pool, draft: Draft) -> None:
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
            kind = arc.role if _ARGUMENT.match(arc.role) else ""
            if head != dep and pool.concepts[head] is not None and (head, dep, kind) not in seen:
                seen.add((head, dep, kind))
                pool.arcs.append((head, dep, arc.role))


def _written(pool: Pool, top: int, text: str) -> AmrGraph:
    branches, depths = _tree(pool, top)
    while len(depths) < len(pool.concepts):
        _adopt(pool, top, depths)
        branches, depths = _tree(pool, top)
    return _layout(pool, top, branches, text)


def _tree(pool: Pool, top: int) -> tuple[dict[int, list[_Branch]], dict[int, int]]:
    """The branches below each node, and the depth of every node that was reached."""
    ways = _ways(pool)
    branches: dict[int, list[_Branch]] = {k: [] for k in range(len(pool.concepts))}
    depths: dict[int, int] = {}
    used: set[int] = set()
    queue: list[tuple[int, int, int, _Step]] = [(0, 0, 0, _Step(top, -1, "", -1, None))]
    count = 0
    while queue:
        cost, depth, _, step = heappop(queue)
        node = step.node
        if node in depths:
            continue
        depths[node] = depth
        if step.up >= 0:
            used.add(step.arc)
            _branch(branches, step.up, step.role, node, False)
        if depth >= DEEPEST:
            continue
        home = node if step.role.startswith("snt") else step.home
        for way in ways[node]:
            if way.to not in depths:
                count += 1
                away = _AWAY if home is not None and pool.homes.get(way.to, home) != home else 0
                step = _Step(way.to, node, way.role, way.arc, home)
                heappush(queue, (cost + way.cost + away, depth + 1, count, step))
    for n, (head, dep, role) in enumerate(pool.arcs):
        if n not in used and head in depths and dep in depths and pool.concepts[dep] is not None:
            if role in _USUALLY_INVERSE:
                head, dep, role = dep, head, inverse(role)
            _branch(branches, head, role, dep, True)
    return branches, depths


def _ways(pool: Pool) -> list[list[_Way]]:
    """From each node, the arcs that lead on; an inverse role costs 2, and 3 at a node that is shared."""
    ways: list[list[_Way]] = [[] for _ in pool.concepts]
    above = Counter(dep for _, dep, _ in pool.arcs)
    for n, (head, dep, role) in enumerate(pool.arcs):
        usual = role not in _USUALLY_INVERSE
        ways[head].append(_Way(dep, role, 0 if usual else 2, n))
        if pool.concepts[dep] is not None:
            ways[dep].append(_Way(head, inverse(role), (2 if usual else 0) + (above[dep] > 1), n))
    return ways


def _branch(branches: dict[int, list[_Branch]], up: int, role: str, to: int, is_mention: bool) -> None:
    branches[up].append(_Branch(up, role, to, is_mention, _order(role, len(branches[up]))))


def inverse(role: str) -> str:
    """The role read from the other side.

    >>> inverse("ARG0"), inverse("mod"), inverse("consist-of"), inverse("ARG0-of")
    ('ARG0-of', 'domain', 'consist-of-of', 'ARG0')
    """
    if role in _INVERSES:
        return _INVERSES[role]
    return role[:-3] if is_inverted(role) else f"{role}-of"


def _order(role: str, n: int) -> tuple[int, str, int]:
    """Arguments and numbered roles first, by number; the rest as they came."""
    if _ARGUMENT.match(role):
        return 0, role, n
    match = _NUMBERED.match(role)
    if match:
        return 1, match[1] + role[len(match[1]) :].zfill(6), n
    return 2, "", n


def _adopt(pool: Pool, top: int, depths: dict[int, int]) -> None:
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
        for one in part:
            new = [other for other in links.get(one, ()) if other not in reached]
            reached.update(new)
            part.extend(new)


def _layout(pool: Pool, top: int, branches: dict[int, list[_Branch]], text: str) -> AmrGraph:
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
        below = _numbered(sorted(branches[k], key=lambda one: one.order))
        for n, (branch, name) in reversed(list(enumerate(below))):
            if branch.is_mention:
                mentions.append((k, name, n, branch.to))
            else:
                stack.append((branch.to, k, name, n))
    variables = _variables([pool.concepts[k] for k, *_ in order])
    nodes = tuple(
        AmrNode(
            numbers[k],
            numbers[k] if pool.values[k] is not None else last[k],
            variables[numbers[k]],
            pool.concepts[k],
            pool.values[k],
            None if up is None else numbers[up],
            role,
            pos,
        )
        for k, up, role, pos in order
    )
    named = [Mention(numbers[k], role, pos, numbers[to]) for k, role, pos, to in mentions]
    places = [pool.places[k] for k, *_ in order]
    spans = token_spans(text, places)
    return AmrGraph("", nodes, tuple(sorted(named, key=lambda one: (one.up, one.pos))), (), spans)


def _numbered(branches: list[_Branch]) -> list[tuple[_Branch, str]]:
    """The branches with ``:opN`` and ``:sntN`` counted up from 1."""
    counts = {"op": 1 if _opens_at_two(branches) else 0, "snt": 0}
    named: list[tuple[_Branch, str]] = []
    for branch in branches:
        match = _NUMBERED.match(branch.role)
        if match:
            counts[match[1]] += 1
            named.append((branch, f"{match[1]}{counts[match[1]]}"))
        else:
            named.append((branch, branch.role))
    return named


def _opens_at_two(branches: list[_Branch]) -> bool:
    """Whether the first conjunct is left out, as in *And …*."""
    ops = [branch.role for branch in branches if branch.role.startswith("op") and branch.role[2:].isdigit()]
    return bool(ops) and min(int(role[2:]) for role in ops) == 2


def _variables(concepts: Sequence[str | None]) -> list[str | None]:
    """``b``, ``b2``, …: the concept's first letter, numbered from the second on."""
    counts: dict[str, int] = {}
    found: list[str | None] = []
    for concept in concepts:
        if concept is None:
            found.append(None)
            continue
        letter = concept[0].lower() if concept[0].isascii() and concept[0].isalpha() else "x"
        counts[letter] = counts.get(letter, 0) + 1
        found.append(letter if counts[letter] == 1 else f"{letter}{counts[letter]}")
    return found
