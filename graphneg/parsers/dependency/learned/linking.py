"""Chooses arcs and tops by the network's scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphneg.parsers.dependency.draft import Draft
from graphneg.parsers.dependency.learned.arcs import scored_pairs
from graphneg.parsers.dependency.learned.decoding import ScoredArc, decode
from graphneg.parsers.dependency.learned.features import DraftFeatures, Group, plain_role
from graphneg.parsers.dependency.learned.meanings import Meanings
from graphneg.parsers.dependency.learned.network import GroupSums, Model

ENOUGH = -0.9
"""The log odds from which an arc is taken: in favour of arcs, for F1."""
LOOSE = -4.0
"""Single nodes whose best arc has lower log odds are dropped."""
TRUST = 0.25
"""What is added to the log odds of the rules' arcs: they know more kinds of text than the networks."""
_OPENING = frozenset({"and", "or"})
"""With one operand, the other is in the sentence before: *And …*"""
_LEAST, _OTHERS = -9.0, -2.5


def link_nodes(meanings: Meanings, model: Model, sums: GroupSums, draft: Draft) -> None:
    """Links the draft's nodes anew, drops single nodes that hang on nothing, and chooses tops."""
    seen = DraftFeatures(draft, meanings)
    pairs = list(scored_pairs(seen))
    place = {i: n for n, i in enumerate(seen.alive)}
    nodes = [seen.node(i) for i in seen.alive]
    between = _between(model, sums, [seen.pair(h, d) for h, d in pairs])
    ends = ([place[h] for h, _ in pairs], [place[d] for _, d in pairs])
    odds, tops = _scores(model, nodes, between, ends)
    _trust_rules(odds, seen, pairs, model.classes)
    arcs = _possible(odds, pairs, model.classes)
    scored = [i for i in seen.alive if i not in seen.settled]
    kept = [arc for arc in draft.arcs if arc.dep in seen.settled]
    named = {arc.head for arc in kept}
    constants = frozenset(i for i in scored if draft.nodes[i].value is not None)
    taken, loose = decode(scored, arcs, constants, ENOUGH, LOOSE)
    draft.arcs = kept
    _write(draft, taken)
    for i in loose:
        if i not in named:
            draft.drop(i)
    _choose_tops(draft, {i: float(tops[place[i]]) for i in scored})


def _between(model: Model, sums: GroupSums, found: Sequence[tuple[list[Group], list[str]]]) -> Any:
    """The sums of each pair's features; ``None`` without pairs."""
    if not found:
        return None
    return sums.sums([groups for groups, _ in found]) + model.sums("pair", "pair", [one for _, one in found])


def _trust_rules(
    odds: Any, seen: DraftFeatures, pairs: Sequence[tuple[int, int]], roles: Sequence[str]
) -> None:
    """Raises the log odds of the rules' own arcs, in place."""
    number = {role: n for n, role in enumerate(roles[1:])}
    for row, pair in enumerate(pairs):
        role = plain_role(seen.rule_arcs.get(pair, ("", ""))[0])
        if role in number:
            odds[row, number[role]] += TRUST


def _possible(odds: Any, pairs: Sequence[tuple[int, int]], roles: Sequence[str]) -> list[ScoredArc]:
    """The likeliest role of each pair, and others that are likely; ``roles`` has none first."""
    if not pairs:
        return []
    best = odds.argmax(axis=1)
    found = odds > _OTHERS
    found[np.arange(len(pairs)), best] = True
    found &= odds > _LEAST
    rows, places = np.nonzero(found)
    scores = odds[rows, places].tolist()
    return [
        ScoredArc(score, *pairs[row], roles[place + 1])
        for score, row, place in zip(scores, rows.tolist(), places.tolist(), strict=True)
    ]


def _scores(
    model: Model, nodes: list[list[str]], between: Any, ends: tuple[list[int], list[int]]
) -> tuple[Any, Any]:
    """Log odds of each role against none for each pair, and each node's score as the top."""
    arrays = model.arrays
    states = np.maximum(model.sums("node", "node", nodes) + arrays["node_bias"], 0)
    tops = states @ arrays["top"]
    if between is None:
        return np.zeros((0, len(model.classes) - 1), np.float32), tops
    heads, deps = states @ arrays["head"], states @ arrays["dep"]
    hidden = heads[ends[0]] + deps[ends[1]] + between + arrays["bias"]
    logits = np.maximum(hidden, 0) @ arrays["out"] + arrays["out_bias"]
    return np.clip(logits[:, 1:] - logits[:, :1], -30, 30), tops


def _write(draft: Draft, taken: Sequence[ScoredArc]) -> None:
    """Writes the arcs; operands are numbered in the order of the text."""
    operands: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for arc in taken:
        if arc.role == "op":
            token = draft.nodes[arc.dep].token
            operands[arc.head].append((-1 if token is None else token, arc.dep))
        else:
            draft.link(arc.head, arc.role, arc.dep, "learned")
    for head, deps in operands.items():
        first = 2 if len(deps) == 1 and draft.nodes[head].concept in _OPENING else 1
        for n, (_, dep) in enumerate(sorted(deps), first):
            draft.link(head, f"op{n}", dep, "learned")


def _choose_tops(draft: Draft, scores: dict[int, float]) -> None:
    """The top of each sentence is its concept with the highest score; a sentence of none has no top."""
    best: dict[int, int] = {}
    for i in sorted(scores):
        node = draft.nodes[i]
        if node.gone or node.concept is None or node.sentence not in draft.tops:
            continue
        if node.sentence not in best or scores[i] > scores[best[node.sentence]]:
            best[node.sentence] = i
    draft.tops = best
