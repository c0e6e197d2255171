"""Teaches arcs: which nodes of a draft are which nodes of the gold graph, and what holds between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.arcs import scored_pairs
from graphneg.parsers.dependency.learned.features import DraftFeatures, expand, plain_role, stem_of
from graphneg.parsers.dependency.learned.meanings import Meanings
from graphneg.parsers.dependency.training.gold import GoldGraph


@dataclass(slots=True)
class PairSentence:
    """A sentence's features: of its nodes, and of its pairs with their roles ("" is none)."""

    nodes: list[list[str]]
    heads: list[int]
    deps: list[int]
    pairs: list[list[str]]
    roles: list[str]
    weight: float
    top: int
    lost: int


def match_nodes(draft: Draft, gold: GoldGraph) -> dict[int, int]:
    """Draft nodes to gold nodes: of the same word by label, stem, then any; of other words by label."""
    mine: defaultdict[int | None, list[int]] = defaultdict(list)
    theirs: defaultdict[int | None, list[int]] = defaultdict(list)
    for i, node in enumerate(draft.nodes):
        if not node.gone:
            mine[node.token].append(i)
    for j, node in enumerate(gold.nodes):
        theirs[node.token].append(j)
    found: dict[int, int] = {}
    used: set[int] = set()

    def pair(left: list[int], right: list[int], key: int) -> None:
        for i in left:
            for j in right:
                a, b = draft.nodes[i], gold.nodes[j]
                if i in found or j in used or (a.value is None) != (b.value is None):
                    continue
                same = a.label == b.label if key == 0 else stem_of(a.label) == stem_of(b.label)
                if same or (key == 2 and a.value is None):
                    found[i] = j
                    used.add(j)

    for key in range(2):
        for token, left in mine.items():
            pair(left, theirs[token], key)
    rest = sorted(i for group in mine.values() for i in group if i not in found)
    others = [j for j in range(len(gold.nodes)) if j not in used]
    far: list[tuple[int, int, int]] = []
    for i in rest:
        for j in others:
            a, b = draft.nodes[i], gold.nodes[j]
            if a.label == b.label and (a.value is None) == (b.value is None):
                gap = 50 if a.token is None or b.token is None else abs(a.token - b.token)
                far.append((gap, i, j))
    for _, i, j in sorted(far):
        if i not in found and j not in used:
            found[i] = j
            used.add(j)
    for token, left in mine.items():
        pair(left, theirs[token], 2)
    return found


def pair_sentence(draft: Draft, gold: GoldGraph, meanings: Meanings, weight: float) -> PairSentence:
    """The features and the right roles of one draft."""
    match = match_nodes(draft, gold)
    roles = {(h, d): plain_role(role) for h, role, d in sorted(gold.arcs)}
    seen = DraftFeatures(draft, meanings)
    place = {i: n for n, i in enumerate(seen.alive)}
    heads: list[int] = []
    deps: list[int] = []
    pairs: list[list[str]] = []
    right: list[str] = []
    for h, d in scored_pairs(seen):
        heads.append(place[h])
        deps.append(place[d])
        groups, single = seen.pair(h, d)
        pairs.append([*single, *(feature for group in groups for feature in expand(group))])
        right.append(roles.get((match[h], match[d]), "") if h in match and d in match else "")
    tops = [place[i] for i, j in match.items() if j == gold.top and i in place]
    lost = len(gold.arcs) - sum(role != "" for role in right)
    return PairSentence(
        [seen.node(i) for i in seen.alive], heads, deps, pairs, right, weight, tops[0] if tops else -1, lost
    )


def all_roles(sentences: list[PairSentence], at_least: int) -> Iterator[str]:
    """Roles that are frequent enough to be learned, none first."""
    counts: defaultdict[str, int] = defaultdict(int)
    for one in sentences:
        for role in one.roles:
            counts[role] += 1
    yield ""
    yield from sorted((r for r, n in counts.items() if r and n >= at_least), key=lambda r: (-counts[r], r))
