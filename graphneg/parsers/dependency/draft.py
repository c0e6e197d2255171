"""A graph that is being written, and how it is closed into a well-formed one.

The rules write drafts, the learned parts revise them. A draft is not yet a tree: it holds nodes, directed
arcs (always head to argument, never an inverse role) and the top of each sentence.

>>> draft = GraphDraft("", [])
>>> sleep = draft.concept("sleep-01", None, "verb", ARG0="boy")
>>> [(draft.nodes[arc.head].label, arc.role, draft.nodes[arc.dep].label) for arc in draft.arcs]
[('sleep-01', 'ARG0', 'boy')]

`assemble` makes one graph of the drafts of a text: one top, connected, inverse roles, reentrancies. The tree
that is written is the one with the fewest inverse roles, then the shallowest (Goodman 2020 calls a choice of
it a layout): the cheapest paths from the top, by Dijkstra's algorithm. Arcs that it leaves out become
reentrancies.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from graphneg.amr.penman import is_atom, is_inverted
from graphneg.english.tokens import tokenize
from graphneg.model import AmrGraph, AmrNode, Mention
from graphneg.parsers.dependency.text import Word


@dataclass(slots=True)
class DraftNode:
    """A concept (``concept``) or a constant (``value``), and the words that it comes from.

    ``token`` is the index in :attr:`GraphDraft.words` of the word that it stands for, ``None`` where no
    word does; ``start`` and ``end`` are its characters in the text, -1 where there are none.
    ``rule`` names the rule that made it. A node that is ``gone`` has been deleted.
    ``mentions`` are further words that mean the same.
    """

    concept: str | None
    value: str | None
    token: int | None
    start: int
    end: int
    sentence: int
    rule: str
    gone: bool = False
    mentions: list[int] = field(default_factory=list[int])

    @property
    def label(self) -> str:
        """The concept, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


@dataclass(slots=True)
class DraftArc:
    """``head`` and ``dep`` number nodes; the role is never inverse; ``rule`` made it."""

    head: int
    dep: int
    role: str
    rule: str


@dataclass(slots=True)
class GraphDraft:
    """The draft of one piece of text. ``tops`` gives the top node of each sentence, in order."""

    text: str
    words: Sequence[Word]
    nodes: list[DraftNode] = field(default_factory=list[DraftNode])
    arcs: list[DraftArc] = field(default_factory=list[DraftArc])
    tops: dict[int, int] = field(default_factory=dict[int, int])
    warnings: list[str] = field(default_factory=list[str])

    def concept(
        self,
        concept: str,
        token: int | None,
        rule: str,
        sentence: int = 0,
        last: int | None = None,
        **arguments: int | str,
    ) -> int:
        """Adds a concept for the words ``token`` to ``last``, with its arguments; returns its number.

        An argument is the number of a node, or the name of a new concept, which stands for the same word.
        """
        head = self._add(DraftNode(concept, None, token, -1, -1, sentence, rule), last)
        for role, dep in arguments.items():
            number = dep if isinstance(dep, int) else self.concept(dep, token, rule, sentence)
            self.link(head, role, number, rule)
        return head

    def constant(
        self, value: str, token: int | None, rule: str, sentence: int = 0, last: int | None = None
    ) -> int:
        """Adds a constant as it will be written: ``-``, ``3``, ``"Paris"``."""
        return self._add(DraftNode(None, value, token, -1, -1, sentence, rule), last)

    def _add(self, node: DraftNode, last: int | None) -> int:
        if node.token is not None:
            word = self.words[node.token]
            node.start, node.end = word.start, (word if last is None else self.words[last]).end
            node.sentence = word.sentence
        self.nodes.append(node)
        return len(self.nodes) - 1

    def link(self, head: int, role: str, dep: int, rule: str) -> None:
        """Adds an arc, unless it leads to its own head; the assembler drops what stands twice."""
        if head != dep:
            self.arcs.append(DraftArc(head, dep, role, rule))

    def roles(self, head: int) -> dict[str, int]:
        """The argument of each role that a node has; of several, the last."""
        return {arc.role: arc.dep for arc in self.arcs if arc.head == head}

    def redirect(self, old: int, new: int) -> None:
        """Lets all arcs of one node, and the tops that it was, be another's; it is gone then."""
        for arc in self.arcs:
            arc.head = new if arc.head == old else arc.head
            arc.dep = new if arc.dep == old else arc.dep
        self.arcs = [arc for arc in self.arcs if arc.head != arc.dep]
        gone, kept = self.nodes[old], self.nodes[new]
        gone.gone = True
        if gone.token is not None and gone.start >= 0:
            kept.mentions.append(gone.token)
        kept.mentions.extend(gone.mentions)
        self.tops = {sentence: new if top == old else top for sentence, top in self.tops.items()}

    def merge(self, key: Callable[[DraftNode], object]) -> None:
        """Makes one node of those with the same key, the first of them; a key of None stands alone."""
        first: dict[object, int] = {}
        for k, node in enumerate(self.nodes):
            same = None if node.gone else key(node)
            if same is not None and first.setdefault(same, k) != k:
                self.redirect(k, first[same])

    def drop(self, node: int) -> None:
        """Deletes a node and its arcs; other nodes keep their numbers."""
        self.nodes[node].gone = True
        self.arcs = [arc for arc in self.arcs if arc.head != node and arc.dep != node]


_SINGLE = frozenset({"polarity", "mode", "wiki", "quant", "value"})


def repair(draft: GraphDraft) -> None:
    """Makes labels writable and drops what the guidelines forbid, in place.

    A node has one ``:polarity``, one ``:mode``, … the first one. A name without ``:op`` gets one: its words.
    """
    nodes = draft.nodes
    for node in nodes:
        if node.concept is not None:
            node.concept = writable_concept(node.concept)
        elif not is_atom(node.value or "") or re.fullmatch(r"[a-z]\d*", node.value or ""):
            node.value = quoted(node.value or "")
    draft.arcs = [arc for arc in draft.arcs if nodes[arc.head].value is None]
    taken: dict[tuple[int, str], DraftArc] = {}
    for arc in list(draft.arcs):
        if arc.role in _SINGLE and taken.setdefault((arc.head, arc.role), arc) is not arc:
            if nodes[arc.dep].value is not None:
                draft.drop(arc.dep)
            else:
                draft.arcs.remove(arc)
    linked = {arc.dep for arc in draft.arcs}
    headed = {arc.head for arc in draft.arcs if arc.role.startswith("op")}
    for k, node in enumerate(nodes[:]):
        if node.value is not None and k not in linked:
            node.gone = True
        elif node.concept == "name" and not node.gone and k not in headed:
            words = draft.text[node.start : node.end] if node.start >= 0 else "name"
            draft.link(k, "op1", draft.constant(quoted(words), node.token, "repair", node.sentence), "repair")


def writable_concept(text: str) -> str:
    """The text as a concept that PENMAN can write.

    >>> writable_concept("and/or"), writable_concept("(")
    ('and-or', 'symbol')
    """
    if is_atom(text) and not text.startswith('"'):
        return text
    return re.sub(r'[\s"()/:~#\\]+', "-", text).strip("-") or "symbol"


def quoted(text: str) -> str:
    """The text as a PENMAN string.

    >>> quoted('say "hi"')
    '"say \\\\"hi\\\\""'
    """
    inner = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


DEEPEST = 100
_NUMBERED = re.compile(r"(op|snt)(\d+)\Z")
_ARGUMENT = re.compile(r"ARG\d\Z")
_INVERSES = {"mod": "domain", "domain": "mod"}
_USUALLY_INVERSE = frozenset({"part"})
_AWAY = 1000
"""What it costs to reach a node through another sentence than its own."""
_Branch = tuple[str, int, bool]
"""A role that the tree writes under a node, the node that it leads to, and whether that stands elsewhere."""


@dataclass(slots=True)
class _Pool:
    """Nodes and arcs (head, argument, role) of one or several drafts, numbered through. ``homes`` are the
    tops of the sentences that nodes are of."""

    nodes: list[DraftNode] = field(default_factory=list[DraftNode])
    arcs: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    tops: list[int] = field(default_factory=list[int])
    homes: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, node: DraftNode) -> int:
        """Adds a node; returns its number."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def add_top(self, concept: str) -> int:
        """Adds a concept that stands for no word."""
        return self.add(DraftNode(concept, None, None, -1, -1, 0, "top"))


def assemble(drafts: Sequence[GraphDraft], text: str) -> AmrGraph:
    """One well-formed graph for the drafts of a text, sentences under ``multi-sentence``.

    Spans are ranges over the tokens of :func:`graphneg.english.tokens.tokenize`.
    """
    pool = _Pool()
    for draft in drafts:
        repair(draft)
        _add_draft(pool, draft)
    if not pool.tops:
        pool.tops.append(pool.add_top("amr-empty"))
    top = pool.tops[0]
    if len(pool.tops) > 1:
        top = pool.add_top("multi-sentence")
        pool.arcs.extend((top, sentence, f"snt{n}") for n, sentence in enumerate(pool.tops, 1))
    branches, depths = _tree(pool, top)
    while len(depths) < len(pool.nodes):
        _link_loose(pool, top, depths)
        branches, depths = _tree(pool, top)
    return _layout(pool, top, branches, text)


def _add_draft(pool: _Pool, draft: GraphDraft) -> None:
    """Adds a draft's nodes, arcs and tops to the pool, without what stands twice."""
    numbers = {k: pool.add(node) for k, node in enumerate(draft.nodes) if not node.gone}
    spare = next((k for k in numbers.values() if pool.nodes[k].concept is not None), None)
    homes: dict[int, int] = {}
    for sentence in sorted(draft.tops):
        top = numbers.get(draft.tops[sentence], spare)
        if top is not None:
            homes[sentence] = top
            if top not in pool.tops:
                pool.tops.append(top)
    for number in numbers.values():
        if pool.nodes[number].sentence in homes:
            pool.homes[number] = homes[pool.nodes[number].sentence]
    seen: set[tuple[int, int, str]] = set()
    for arc in draft.arcs:
        if arc.head in numbers and arc.dep in numbers:
            head, dep = numbers[arc.head], numbers[arc.dep]
            key = head, dep, arc.role if _ARGUMENT.match(arc.role) else ""
            if head != dep and pool.nodes[head].concept is not None and key not in seen:
                seen.add(key)
                pool.arcs.append((head, dep, arc.role))


def _tree(pool: _Pool, top: int) -> tuple[list[list[_Branch]], dict[int, int]]:
    """The branches below each node, and the depth of every node that was reached."""
    ways = _ways(pool)
    branches: list[list[_Branch]] = [[] for _ in pool.nodes]
    depths: dict[int, int] = {}
    used: set[int] = set()
    numbers = count()
    queue: list[tuple[int, int, int, int, int, str, int, int | None]] = []
    heappush(queue, (0, 0, next(numbers), -1, top, "", -1, None))
    while queue:
        cost, depth, _, up, node, role, arc, home = heappop(queue)
        if node in depths:
            continue
        depths[node] = depth
        if up >= 0:
            used.add(arc)
            branches[up].append((role, node, False))
        if depth >= DEEPEST:
            continue
        home = node if role.startswith("snt") else home
        for to, way, price, n in ways[node]:
            if to not in depths:
                away = _AWAY if home is not None and pool.homes.get(to, home) != home else 0
                heappush(queue, (cost + price + away, depth + 1, next(numbers), node, to, way, n, home))
    for n, (head, dep, role) in enumerate(pool.arcs):
        if n not in used and head in depths and dep in depths and pool.nodes[dep].concept is not None:
            if role in _USUALLY_INVERSE:
                head, dep, role = dep, head, inverse(role)
            branches[head].append((role, dep, True))
    return branches, depths


def _ways(pool: _Pool) -> list[list[tuple[int, str, int, int]]]:
    """From each node, the arcs that lead on: to where, by which role, at what cost, and their numbers. An
    inverse role costs 2, and 3 at a node that is shared."""
    ways: list[list[tuple[int, str, int, int]]] = [[] for _ in pool.nodes]
    above = Counter(dep for _, dep, _ in pool.arcs)
    for n, (head, dep, role) in enumerate(pool.arcs):
        usual = role not in _USUALLY_INVERSE
        ways[head].append((dep, role, 0 if usual else 2, n))
        if pool.nodes[dep].concept is not None:
            ways[dep].append((head, inverse(role), (2 if usual else 0) + (above[dep] > 1), n))
    return ways


def inverse(role: str) -> str:
    """The role read from the other side.

    >>> inverse("ARG0"), inverse("mod"), inverse("consist-of"), inverse("ARG0-of")
    ('ARG0-of', 'domain', 'consist-of-of', 'ARG0')
    """
    if role in _INVERSES:
        return _INVERSES[role]
    return role[:-3] if is_inverted(role) else f"{role}-of"


def _link_loose(pool: _Pool, top: int, depths: dict[int, int]) -> None:
    """Links what no arc reaches to the top of its sentence, one node of each loose part. Part heads come
    first: those that are no other's argument, in order of the text."""
    below = {dep for head, dep, _ in pool.arcs if head not in depths}
    loose = [k for k in range(len(pool.nodes)) if k not in depths]
    links: dict[int, list[int]] = {}
    for head, dep, _ in pool.arcs:
        links.setdefault(head, []).append(dep)
        links.setdefault(dep, []).append(head)
    reached = set(depths)
    for k in sorted(loose, key=lambda k: (k in below, pool.nodes[k].value is not None, k)):
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
    """The graph with its nodes in the order of the tree. Variables are the first letters of concepts,
    numbered from the second on: ``b``, ``b2``, …."""
    order: list[int] = []
    nodes: list[AmrNode] = []
    mentions: list[tuple[int, str, int, int]] = []
    letters: Counter[str] = Counter()

    def write(k: int, up: int | None, role: str | None, pos: int) -> None:
        concept, number, variable = pool.nodes[k].concept, len(nodes), None
        if concept is not None:
            letter = concept[0].lower() if concept[0].isascii() and concept[0].isalpha() else "x"
            letters[letter] += 1
            variable = letter if letters[letter] == 1 else f"{letter}{letters[letter]}"
        order.append(k)
        nodes.append(AmrNode(number, number, variable, concept, pool.nodes[k].value, up, role, pos))
        for n, (name, to, is_mention) in enumerate(_renumbered(sorted(branches[k], key=_rank))):
            if is_mention:
                mentions.append((number, name, n, to))
            else:
                write(to, number, name, n)
        nodes[number] = nodes[number]._replace(last=len(nodes) - 1)

    write(top, None, None, 0)
    numbers = {k: number for number, k in enumerate(order)}
    named = [Mention(up, role, pos, numbers[to]) for up, role, pos, to in mentions]
    named.sort(key=lambda mention: (mention.up, mention.pos))
    spans = token_spans(text, [(pool.nodes[k].start, pool.nodes[k].end) for k in order])
    return AmrGraph("", tuple(nodes), tuple(named), (), spans)


def _rank(branch: _Branch) -> tuple[int, str]:
    """Arguments and numbered roles stand first, by number; the rest as they came."""
    match = _NUMBERED.match(branch[0])
    if match:
        return 1, match[1] + match[2].zfill(6)
    return (0, branch[0]) if _ARGUMENT.match(branch[0]) else (2, "")


def _renumbered(branches: list[_Branch]) -> list[_Branch]:
    """The branches with ``:opN`` and ``:sntN`` counted up from 1; from 2 where *And …* lacks the first."""
    matches = [_NUMBERED.match(role) for role, _, _ in branches]
    operands = [int(match[2]) for match in matches if match and match[1] == "op"]
    counts = {"op": count(2 if operands and min(operands) == 2 else 1), "snt": count(1)}
    return [
        (f"{match[1]}{next(counts[match[1]])}" if match else role, to, is_mention)
        for match, (role, to, is_mention) in zip(matches, branches, strict=True)
    ]


def token_spans(text: str, places: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """The token range of each place ``(start, end)`` in characters; -1 has none.

    >>> token_spans("I can't go.", [(0, 1), (5, 7), (-1, -1)])
    {0: (0, 1), 1: (2, 3)}
    """
    tokens = tokenize(text)
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    ranges = (
        (k, (bisect_right(ends, start), bisect_left(starts, end)))
        for k, (start, end) in enumerate(places)
        if start >= 0
    )
    return {k: (first, behind) for k, (first, behind) in ranges if first < behind}
