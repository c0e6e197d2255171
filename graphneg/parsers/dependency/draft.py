"""AMR graphs under construction (drafts), and their assembly into one well-formed graph.

The rules write drafts, and the trained models revise them. Unlike a finished graph, a draft is not a tree. It
contains nodes, directed arcs and the top of each sentence. Each arc points from the head to the argument, so
a draft has no inverse roles.

>>> draft = GraphDraft("", [])
>>> sleep = draft.concept("sleep-01", None, "verb", ARG0="boy")
>>> [(draft.nodes[arc.head].label, arc.role, draft.nodes[arc.dep].label) for arc in draft.arcs]
[('sleep-01', 'ARG0', 'boy')]

`assemble` joins the drafts of a text into one connected graph with a single top. PENMAN writes a graph as a
tree with reentrancies (Goodman 2020 calls this a layout). `assemble` takes a spanning tree with as few
inverse roles as possible. Among several such trees, it takes one that is as shallow as possible. Dijkstra's
algorithm finds the tree as the set of cheapest paths from the top. The remaining arcs become reentrancies.
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
    """A concept or a constant of a draft.

    Attributes:
        concept: The concept, such as ``sleep-01``; ``None`` for a constant.
        value: The constant as PENMAN writes it; ``None`` for a concept.
        token: Index in `GraphDraft.words` of the word with which the node is aligned, or ``None``.
        start: Offset in the text of the first character with which the node is aligned; -1 if it is aligned
            with no word.
        end: Offset after the last of these characters; -1 if the node is aligned with no word.
        sentence: Index of the sentence to which the node belongs.
        rule: Name of the rule that created the node.
        deleted: Whether the node has been deleted.
        mentions: Indices of further words that refer to the node, such as *himself*.
    """

    concept: str | None
    value: str | None
    token: int | None
    start: int
    end: int
    sentence: int
    rule: str
    deleted: bool = False
    mentions: list[int] = field(default_factory=list[int])

    @property
    def label(self) -> str:
        """The label of the node: its concept, such as ``want-01``, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


@dataclass(slots=True)
class DraftArc:
    """An arc between two nodes.

    Attributes:
        head: Index of the governing node.
        dep: Index of the argument.
        role: The role without a colon; inverse roles do not occur.
        rule: Name of the rule that created the arc.
    """

    head: int
    dep: int
    role: str
    rule: str


@dataclass(slots=True)
class GraphDraft:
    """The graph of a text while it is built: it need not be a tree, and nodes may be unconnected.

    Attributes:
        text: The text.
        words: The words of the text. A long text has several drafts, each with the words of one part.
        nodes: The nodes. Deleted nodes stay in the list, so that indices remain valid.
        arcs: The arcs between the nodes, in no particular order.
        tops: Index of the top node of each sentence, keyed by the index of the sentence.
        warnings: Warnings to report with the parsed graph.
    """

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
        """Add a concept, and link it to its arguments.

        Args:
            concept: Name of the concept, such as ``sleep-01``.
            token: Index of the word that the concept expresses, or ``None``.
            rule: Name of the rule that adds the concept.
            sentence: Index of the sentence; used only if ``token`` is ``None``.
            last: Index of the last word, if the concept expresses several words.
            **arguments: Arguments of the concept, keyed by role. An argument is the index of an existing
                node, or the name of a new concept to add for the same word.

        Returns:
            The index of the new node.
        """
        head = self._add(DraftNode(concept, None, token, -1, -1, sentence, rule), last)
        for role, dep in arguments.items():
            number = dep if isinstance(dep, int) else self.concept(dep, token, rule, sentence)
            self.link(head, role, number, rule)
        return head

    def constant(
        self, value: str, token: int | None, rule: str, sentence: int = 0, last: int | None = None
    ) -> int:
        """Add a constant, such as ``-`` or ``3``.

        Args:
            value: The constant as PENMAN writes it: ``-``, ``3``, ``"Paris"``.
            token: Index of the word that the constant expresses, or ``None``.
            rule: Name of the rule that adds the constant.
            sentence: Index of the sentence; used only if ``token`` is ``None``.
            last: Index of the last word, if the constant expresses several words.

        Returns:
            The index of the new node.
        """
        return self._add(DraftNode(None, value, token, -1, -1, sentence, rule), last)

    def _add(self, node: DraftNode, last: int | None) -> int:
        """Add a node. Its character range extends from its word to the word ``last``."""
        if node.token is not None:
            word = self.words[node.token]
            node.start, node.end = word.start, (word if last is None else self.words[last]).end
            node.sentence = word.sentence
        self.nodes.append(node)
        return len(self.nodes) - 1

    def link(self, head: int, role: str, dep: int, rule: str) -> None:
        """Add an arc. An arc from a node to itself is ignored.

        Duplicate arcs are allowed; `assemble` removes them.

        Args:
            head: Index of the governing node.
            role: The role, without a colon.
            dep: Index of the argument.
            rule: Name of the rule that adds the arc.
        """
        if head != dep:
            self.arcs.append(DraftArc(head, dep, role, rule))

    def roles(self, head: int) -> dict[str, int]:
        """Return the arguments of a node, keyed by role.

        Args:
            head: Index of the node.

        Returns:
            Indices of the argument nodes, keyed by role. If a role occurs several times, the result contains
            the last argument.
        """
        return {arc.role: arc.dep for arc in self.arcs if arc.head == head}

    def redirect(self, old: int, new: int) -> None:
        """Replace a node with another node in all arcs and tops, and delete the replaced node.

        Args:
            old: Index of the node to delete.
            new: Index of the node that takes over the arcs and words of the deleted node.
        """
        for arc in self.arcs:
            arc.head = new if arc.head == old else arc.head
            arc.dep = new if arc.dep == old else arc.dep
        self.arcs = [arc for arc in self.arcs if arc.head != arc.dep]
        gone, kept = self.nodes[old], self.nodes[new]
        gone.deleted = True
        # The word of the deleted node (`gone`) becomes a further mention of the node that is kept. For
        # example, "himself" becomes a mention of the node of "he".
        if gone.token is not None and gone.start >= 0:
            kept.mentions.append(gone.token)
        kept.mentions.extend(gone.mentions)
        self.tops = {sentence: new if top == old else top for sentence, top in self.tops.items()}

    def merge(self, key: Callable[[DraftNode], object]) -> None:
        """Merge nodes that mean the same, such as all nodes with the concept ``she``.

        Args:
            key: Function that returns the key of a node, such as its concept. Nodes with equal keys are
                merged into the first of them. A node with the key ``None`` is not merged.
        """
        first: dict[object, int] = {}
        for k, node in enumerate(self.nodes):
            same = None if node.deleted else key(node)
            if same is not None and first.setdefault(same, k) != k:
                self.redirect(k, first[same])

    def drop(self, node: int) -> None:
        """Delete a node and its arcs.

        Args:
            node: Index of the node. The indices of the other nodes do not change.
        """
        self.nodes[node].deleted = True
        self.arcs = [arc for arc in self.arcs if arc.head != node and arc.dep != node]


_SINGLE = frozenset({"polarity", "mode", "wiki", "quant", "value"})
"""Roles that a node may have only once."""


def repair(draft: GraphDraft) -> None:
    """Remove from a draft what PENMAN notation cannot express and what the AMR guidelines forbid.

    The draft is changed in place. If a node has several arcs with ``:polarity`` or another role that may
    occur only once, the first arc is kept. A name without ``:op`` roles gets ``:op1`` with the characters
    that the name covers in the text.

    Args:
        draft: The draft to repair.
    """
    nodes = draft.nodes
    for node in nodes:
        if node.concept is not None:
            node.concept = writable_concept(node.concept)
        # PENMAN would read a bare constant such as "b2" as a variable, so quote it.
        elif not is_atom(node.value or "") or re.fullmatch(r"[a-z]\d*", node.value or ""):
            node.value = quoted(node.value or "")
    # A constant cannot have arguments, so arcs from constants are removed.
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
        # A constant without a head, such as a lone "-", cannot be written in PENMAN, so it is deleted.
        if node.value is not None and k not in linked:
            node.deleted = True
        elif node.concept == "name" and not node.deleted and k not in headed:
            words = draft.text[node.start : node.end] if node.start >= 0 else "name"
            draft.link(k, "op1", draft.constant(quoted(words), node.token, "repair", node.sentence), "repair")


def writable_concept(text: str) -> str:
    """Turn a text into a concept that is valid in PENMAN notation.

    >>> writable_concept("and/or"), writable_concept("(")
    ('and-or', 'symbol')

    Args:
        text: Any text.

    Returns:
        The text with forbidden characters replaced by hyphens; ``symbol`` if nothing else is left.
    """
    if is_atom(text) and not text.startswith('"'):
        return text
    return re.sub(r'[\s"()/:~#\\]+', "-", text).strip("-") or "symbol"


def quoted(text: str) -> str:
    r"""Turn a text into a quoted PENMAN string.

    >>> quoted('say "hi"')
    '"say \\"hi\\""'

    Args:
        text: Any text.

    Returns:
        The text in double quotes, with runs of white space replaced by one space and special characters
        escaped.
    """
    inner = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inner}"'


DEEPEST = 100
"""Maximum depth of the tree that `assemble` builds. `_layout` and programs that read PENMAN recurse once per
level.
"""
_NUMBERED = re.compile(r"(op|snt)(\d+)\Z")
_ARGUMENT = re.compile(r"ARG\d\Z")
_INVERSES = {"mod": "domain", "domain": "mod"}
"""Roles whose inverse is not written with ``-of`` but has its own name."""
_USUALLY_INVERSE = frozenset({"part"})
"""Roles for which AMR annotators prefer the inverse: ``:part-of``, not ``:part``."""
_DETOUR_COST = 1000
"""Additional cost of a path that reaches a node through another sentence. It exceeds the cost of every path
within a sentence, so such a detour is taken only if there is no other path.
"""
_Branch = tuple[str, int, bool]
"""A role of a node in the tree, the target node, and whether the role is a reentrancy."""


@dataclass(slots=True)
class _MergedDrafts:
    """The nodes and arcs of all sentences of a text, merged. Indices refer to the list ``nodes``.

    Attributes:
        nodes: The nodes of all sentences, without deleted nodes.
        arcs: Triples of the index of the head, the index of the argument, and the role.
        tops: Indices of the top nodes of the sentences, in text order.
        homes: For each node, the index of the top node of its sentence.
    """

    nodes: list[DraftNode] = field(default_factory=list[DraftNode])
    arcs: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    tops: list[int] = field(default_factory=list[int])
    homes: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, node: DraftNode) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def add_top(self, concept: str) -> int:
        """Add a concept without a word, such as ``multi-sentence``, and return its index."""
        return self.add(DraftNode(concept, None, None, -1, -1, 0, "top"))


def assemble(drafts: Sequence[GraphDraft], text: str) -> AmrGraph:
    """Join the unfinished graphs of the parts of a text into one well-formed graph.

    Args:
        drafts: The unfinished graphs in text order. Each of them is repaired in place.
        text: The whole text.

    Returns:
        The graph. If the text has several sentences, their graphs are joined under ``multi-sentence``. Spans
        are ranges over the tokens of `graphneg.english.tokens.tokenize`.
    """
    pool = _MergedDrafts()
    for draft in drafts:
        repair(draft)
        _add_part(pool, draft)
    if not pool.tops:
        pool.tops.append(pool.add_top("amr-empty"))
    top = pool.tops[0]
    if len(pool.tops) > 1:
        top = pool.add_top("multi-sentence")
        pool.arcs.extend((top, sentence, f"snt{n}") for n, sentence in enumerate(pool.tops, 1))
    branches, depths = _tree(pool, top)
    # Each round attaches the unconnected parts to the top. A part may itself exceed the maximum depth, so its
    # lower nodes are attached in a further round.
    while len(depths) < len(pool.nodes):
        _attach_unconnected(pool, top, depths)
        branches, depths = _tree(pool, top)
    return _layout(pool, top, branches, text)


def _add_part(pool: _MergedDrafts, draft: GraphDraft) -> None:
    """Add the unfinished graph of one part of a text to the nodes and arcs of the whole text.

    Nodes that are marked as deleted and duplicate arcs are left out.
    """
    numbers = {k: pool.add(node) for k, node in enumerate(draft.nodes) if not node.deleted}
    # If the top of a sentence was deleted, the first concept of the draft replaces it.
    first_concept = next((k for k in numbers.values() if pool.nodes[k].concept is not None), None)
    homes: dict[int, int] = {}
    for sentence in sorted(draft.tops):
        top = numbers.get(draft.tops[sentence], first_concept)
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
            # Two nodes may be linked by several ARG roles, as in "he washed himself". Of all other roles
            # between two nodes, only the first is kept.
            key = head, dep, arc.role if _ARGUMENT.match(arc.role) else ""
            if head != dep and pool.nodes[head].concept is not None and key not in seen:
                seen.add(key)
                pool.arcs.append((head, dep, arc.role))


def _tree(pool: _MergedDrafts, top: int) -> tuple[list[list[_Branch]], dict[int, int]]:
    """Return the branches below each node of the spanning tree, and the depth of each node in the tree."""
    ways = _arcs_from(pool)
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
        # After an arc :sntN, prefer paths within that sentence. A path through another sentence would put
        # nodes of this sentence into the subtree of the other sentence.
        home = node if role.startswith("snt") else home
        for to, way, price, n in ways[node]:
            if to not in depths:
                detour = _DETOUR_COST if home is not None and pool.homes.get(to, home) != home else 0
                heappush(queue, (cost + price + detour, depth + 1, next(numbers), node, to, way, n, home))
    for n, (head, dep, role) in enumerate(pool.arcs):
        # An arc that is not part of the tree becomes a reentrancy. A constant has no variable and cannot be
        # the target of a reentrancy, so its arc is dropped.
        if n not in used and head in depths and dep in depths and pool.nodes[dep].concept is not None:
            if role in _USUALLY_INVERSE:
                head, dep, role = dep, head, inverse(role)
            branches[head].append((role, dep, True))
    return branches, depths


def _arcs_from(pool: _MergedDrafts) -> list[list[tuple[int, str, int, int]]]:
    """Return the arcs that can be followed from each node, as tuples of target, role, cost and arc index."""
    ways: list[list[tuple[int, str, int, int]]] = [[] for _ in pool.nodes]
    above = Counter(dep for _, dep, _ in pool.arcs)
    for n, (head, dep, role) in enumerate(pool.arcs):
        # The spanning tree consists of the cheapest paths. Following an arc from head to argument costs 0.
        # From argument to head, it costs 2, because the role must be inverted (:ARG0-of). For :part, which
        # AMR usually inverts, the two costs change places. From an argument with several heads, each step to
        # a head costs 1 more, so that other paths to the head are preferred.
        usual = role not in _USUALLY_INVERSE
        ways[head].append((dep, role, 0 if usual else 2, n))
        if pool.nodes[dep].concept is not None:
            ways[dep].append((head, inverse(role), (2 if usual else 0) + (above[dep] > 1), n))
    return ways


def inverse(role: str) -> str:
    """Return the inverse of a role.

    >>> inverse("ARG0"), inverse("mod"), inverse("consist-of"), inverse("ARG0-of")
    ('ARG0-of', 'domain', 'consist-of-of', 'ARG0')

    Args:
        role: The role, without a colon.

    Returns:
        The role of the reversed arc, which leads from the argument to the head.
    """
    if role in _INVERSES:
        return _INVERSES[role]
    return role[:-3] if is_inverted(role) else f"{role}-of"


def _attach_unconnected(pool: _MergedDrafts, top: int, depths: dict[int, int]) -> None:
    """Attach each unconnected part of the graph to the top of its sentence, with the role ``:mod``."""
    below = {dep for head, dep, _ in pool.arcs if head not in depths}
    loose = [k for k in range(len(pool.nodes)) if k not in depths]
    links: dict[int, list[int]] = {}
    for head, dep, _ in pool.arcs:
        links.setdefault(head, []).append(dep)
        links.setdefault(dep, []).append(head)
    reached = set(depths)
    # Each unconnected part should be attached by its head. So visit the heads first: in the part
    # (s / sleep-01 :ARG0 (b / boy)), visit sleep-01 before "boy", although "boy" is the earlier word.
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


def _layout(pool: _MergedDrafts, top: int, branches: list[list[_Branch]], text: str) -> AmrGraph:
    """Convert the spanning tree into an `AmrGraph`, with its nodes in depth-first order."""
    order: list[int] = []
    nodes: list[AmrNode] = []
    mentions: list[tuple[int, str, int, int]] = []
    letters: Counter[str] = Counter()

    def write(k: int, up: int | None, role: str | None, pos: int) -> None:
        concept, number, variable = pool.nodes[k].concept, len(nodes), None
        if concept is not None:
            # Variables follow the AMR convention: b for the first concept with the initial b, then b2.
            letter = concept[0].lower() if concept[0].isascii() and concept[0].isalpha() else "x"
            letters[letter] += 1
            variable = letter if letters[letter] == 1 else f"{letter}{letters[letter]}"
        order.append(k)
        nodes.append(AmrNode(number, number, variable, concept, pool.nodes[k].value, up, role, pos))
        # Branches are written in AMR's usual order: ARGs first, then numbered roles, then all others.
        for n, (name, to, is_mention) in enumerate(_renumbered(sorted(branches[k], key=_rank))):
            if is_mention:
                mentions.append((number, name, n, to))
            else:
                write(to, number, name, n)
        nodes[number] = nodes[number]._replace(subtree_last=len(nodes) - 1)

    write(top, None, None, 0)
    numbers = {k: number for number, k in enumerate(order)}
    named = [Mention(up, role, pos, numbers[to]) for up, role, pos, to in mentions]
    named.sort(key=lambda mention: (mention.parent, mention.branch))
    spans = token_spans(text, [(pool.nodes[k].start, pool.nodes[k].end) for k in order])
    return AmrGraph("", tuple(nodes), tuple(named), (), spans)


def _rank(branch: _Branch) -> tuple[int, str]:
    """Return the sort key of a branch: first ``:ARGn``, then roles such as ``:op1``, then all other roles."""
    match = _NUMBERED.match(branch[0])
    if match:
        return 1, match[1] + match[2].zfill(6)
    return (0, branch[0]) if _ARGUMENT.match(branch[0]) else (2, "")


def _renumbered(branches: list[_Branch]) -> list[_Branch]:
    """Renumber the ``:opN`` and ``:sntN`` roles of a node without gaps."""
    matches = [_NUMBERED.match(role) for role, _, _ in branches]
    # "And I left" continues an earlier sentence. Its only operand is :op2, so the numbering starts at 2.
    operands = [int(match[2]) for match in matches if match and match[1] == "op"]
    counts = {"op": count(2 if operands and min(operands) == 2 else 1), "snt": count(1)}
    return [
        (f"{match[1]}{next(counts[match[1]])}" if match else role, to, is_mention)
        for match, (role, to, is_mention) in zip(matches, branches, strict=True)
    ]


def token_spans(text: str, bounds: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """Convert character ranges into token ranges.

    >>> token_spans("I can't go.", [(0, 1), (5, 7), (-1, -1)])
    {0: (0, 1), 1: (2, 3)}

    Args:
        text: The text to which the character offsets refer.
        bounds: Character ranges ``(start, end)``. A range with the start -1 is skipped.

    Returns:
        Pairs of the index of the first token and the index after the last token, keyed by the index of the
        character range in ``bounds``. Ranges that cover no token are left out.
    """
    tokens = tokenize(text)
    starts, ends = [token.start for token in tokens], [token.end for token in tokens]
    ranges = (
        (k, (bisect_right(ends, start), bisect_left(starts, end)))
        for k, (start, end) in enumerate(bounds)
        if start >= 0
    )
    return {k: (first, behind) for k, (first, behind) in ranges if first < behind}
