"""From scores of roles between pairs of nodes to a connected graph, and what each *no* denies.

In: a draft with its concepts, and networks. Out: the draft with new arcs and tops. Arcs that are more likely
than not are taken, the likeliest first; then each loose part is joined by its best arc, as Flanigan et al.
(2014, section 4) do with their maximum spanning connected subgraph. *no* denies the noun (*there is no man*),
or what the noun does (*no man is running*), by a logistic regression over the sentence's words: annotators
and parsers write both for *There is no man running*.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

import numpy as np

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.features import DraftFeatures, plain_role
from graphneg.parsers.dependency.learned.tables import GroupSums, Meanings, Model
from graphneg.parsers.dependency.rules.state import SUBJECTS
from graphneg.parsers.dependency.text import Word

_NEAR = 24
_MOST = 14
SURE_DENIAL, SURE_OF_NEW_VERB = 0.25, 1.5
"""Lower log odds, either way, leave the polarity where the arcs have it; they know more of verbs that were
never seen with a *no*."""


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


_ONCE = frozenset(
    {"polarity", "mode", "name", "unit", "ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARG5", "quant", "ord"}
)


class ScoredArc(NamedTuple):
    """A possible arc with its log odds against no arc."""

    score: float
    head: int
    dep: int
    role: str


def decode(
    nodes: Sequence[int], arcs: Sequence[ScoredArc], constants: frozenset[int], enough: float, loose: float
) -> tuple[list[ScoredArc], list[int]]:
    """The arcs to keep, and the single nodes that hang on nothing.

    Arcs that score ``enough`` are taken whatever they join; others only if they join two parts. A single node
    that no arc above ``loose`` joins to the rest is given up. One that stands forbids others: between its
    nodes, of a role that its head has once, to a constant or a polarity that it leads to.
    """
    from networkx.utils import UnionFind

    parts: Any = UnionFind(nodes)
    taken: list[ScoredArc] = []
    roles, pairs = set[tuple[int, str]](), set[tuple[int, int]]()
    headed, asked = set[int](), set[int]()

    def take(arcs: Iterable[ScoredArc]) -> None:
        for arc in arcs:
            single = arc.role == "polarity" or arc.dep in constants or arc.dep in asked
            if (
                not pairs.isdisjoint({(arc.head, arc.dep), (arc.dep, arc.head)})
                or (arc.role in _ONCE and (arc.head, arc.role) in roles)
                or (single and arc.dep in headed)
            ):
                continue
            taken.append(arc)
            roles.add((arc.head, arc.role))
            pairs.add((arc.head, arc.dep))
            headed.add(arc.dep)
            if arc.role == "polarity":
                asked.add(arc.dep)
            parts.union(arc.head, arc.dep)

    ordered = sorted(arcs, key=lambda arc: (-arc.score, arc.head, arc.dep, arc.role))
    take(takewhile(lambda arc: arc.score >= enough, ordered))
    likely = takewhile(lambda arc: arc.score >= loose, ordered)
    take(arc for arc in likely if parts[arc.head] != parts[arc.dep])
    members: dict[int, list[int]] = {}
    for i in nodes:
        members.setdefault(parts[i], []).append(i)
    largest = max(members.values(), key=len, default=[])
    given_up = {group[0] for group in members.values() if len(group) == 1 and group is not largest}
    rest = (arc for arc in ordered if given_up.isdisjoint({arc.head, arc.dep}))
    take(arc for arc in rest if parts[arc.head] != parts[arc.dep])
    return taken, sorted(given_up)


ENOUGH = -0.9
"""The log odds from which an arc is taken: in favour of arcs, for F1."""
LOOSE = -4.0
"""Single nodes whose best arc has lower log odds are dropped."""
TRUST = 0.25
"""What is added to the log odds of the rules' arcs: they know more kinds of text than the networks."""
_OPENING = frozenset({"and", "or"})
"""With one operand, the other is in the sentence before: *And …*"""
_LEAST, _OTHERS = -9.0, -2.5


def link_nodes(meanings: Meanings, model: Model, sums: GroupSums, draft: GraphDraft) -> None:
    """Links the draft's nodes anew, drops single nodes that hang on nothing, and chooses tops."""
    seen = DraftFeatures(draft, meanings)
    pairs = list(scored_pairs(seen))
    odds, tops = _scores(model, sums, seen, pairs)
    arcs = _possible(odds, seen, pairs, model.classes[1:])
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
    # The top of each sentence is its concept with the highest score; a sentence of none has no top.
    best: dict[int, int] = {}
    for i in sorted(scored, key=lambda i: (-tops[i], i)):
        node = draft.nodes[i]
        if not node.gone and node.concept is not None and node.sentence in draft.tops:
            best.setdefault(node.sentence, i)
    draft.tops = best


def _scores(
    model: Model, sums: GroupSums, seen: DraftFeatures, pairs: Sequence[tuple[int, int]]
) -> tuple[Any, dict[int, float]]:
    """Log odds of each role against none, float32 ``[len(pairs), roles]``; each node's score as the top."""
    arrays, rows = model.arrays, {i: n for n, i in enumerate(seen.alive)}
    nodes = model.sums("node", "node", [seen.node(i) for i in seen.alive])
    states = np.maximum(nodes + arrays["node_bias"], 0)
    tops = dict(zip(seen.alive, (states @ arrays["top"]).tolist(), strict=True))
    if not pairs:
        return np.zeros((0, len(model.classes) - 1), np.float32), tops
    features = [seen.pair(h, d) for h, d in pairs]
    between = sums.sums([groups for groups, _ in features])
    between = between + model.sums("pair", "pair", [single for _, single in features])
    heads, deps = states @ arrays["head"], states @ arrays["dep"]
    hidden = heads[[rows[h] for h, _ in pairs]] + deps[[rows[d] for _, d in pairs]] + between + arrays["bias"]
    logits = np.maximum(hidden, 0) @ arrays["out"] + arrays["out_bias"]
    return np.clip(logits[:, 1:] - logits[:, :1], -30, 30), tops


def _possible(
    odds: Any, seen: DraftFeatures, pairs: Sequence[tuple[int, int]], roles: Sequence[str]
) -> list[ScoredArc]:
    """The likeliest role of each pair, and others that are likely; the rules' own arcs are trusted more."""
    if not pairs:
        return []
    number = {role: n for n, role in enumerate(roles)}
    for row, pair in enumerate(pairs):
        role = plain_role(seen.rule_arcs.get(pair, ("", ""))[0])
        if role in number:
            odds[row, number[role]] += TRUST
    likely = odds > _OTHERS
    likely[np.arange(len(pairs)), odds.argmax(axis=1)] = True
    rows, columns = np.nonzero(likely & (odds > _LEAST))
    return [
        ScoredArc(score, *pairs[row], roles[column])
        for score, row, column in zip(
            odds[rows, columns].tolist(), rows.tolist(), columns.tolist(), strict=True
        )
    ]


def _write(draft: GraphDraft, taken: Sequence[ScoredArc]) -> None:
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


class NegatedSubject(NamedTuple):
    """A *no*, its noun, and the verb that the noun is the subject of."""

    no: Word
    noun: Word
    verb: Word


def denials(words: Sequence[Word]) -> Iterator[NegatedSubject]:
    """Each *no* that stands beside a subject."""
    for word in words:
        if word.lower != "no" or word.dep not in {"det", "neg"}:
            continue
        head = word.parent
        if word.dep == "neg":
            noun = next((kid for kid in head.children(*SUBJECTS) if kid.i > word.i), None)
            if noun is not None and head.tag[:2] == "VB":
                yield NegatedSubject(word, noun, head)
        elif head.dep in SUBJECTS and head.parent.tag[:2] == "VB" and head.parent.lemma != "be":
            yield NegatedSubject(word, head, head.parent)


def denial_features(denial: NegatedSubject) -> list[str]:
    """What the regression looks at."""
    no, noun, verb = denial
    behind = [word for word in verb.subtree() if word.i > no.i and word.tag[0].isalpha()]
    kids = [kid for kid in verb.children() if kid.i > noun.i]
    deps = "+".join(sorted({kid.dep for kid in kids} & {"dobj", "prep", "advmod", "conj", "prt", "advcl"}))
    size = len(behind)
    bag = ["1", f"n={noun.lemma}", f"v={verb.lemma}", f"vt={verb.tag}", f"k={deps}", f"e={no.dep}"]
    bag += [f"nm={noun.child('amod', 'compound') is not None}", f"l={min(size, _MOST)}"]
    bag += [f"l>{n}" for n in range(3, _MOST) if size > n]
    bag += [f"kd={kid.dep}" for kid in kids]
    for kid in kids:
        if kid.dep == "dobj":
            bag += [f"od={determiner.lower}" for determiner in kid.children("det")] + [f"ot={kid.tag}"]
    bag += [f"w={word.lower}" for word in behind]
    bag += [f"b={a.lower}_{b.lower}" for a, b in pairwise(behind)]
    return bag


def move_negation(model: Model, draft: GraphDraft) -> None:
    """Moves the polarity of each such *no* to where it most likely stands."""
    for denial in denials(draft.words):
        nos, nouns, verbs = (
            [k for k, node in enumerate(draft.nodes) if node.token == word.i and not node.gone]
            for word in denial
        )
        minuses = [k for k in nos if draft.nodes[k].value == "-"]
        concepts = [[k for k in group if draft.nodes[k].concept] for group in (nouns, verbs)]
        if [len(group) for group in (minuses, *concepts)] == [1, 1, 1]:
            score = float(model.sums("denial", "denial", [denial_features(denial)])[0, 0])
            known = f"v={denial.verb.lemma}" in model.features["denial"]
            if abs(score) >= (SURE_DENIAL if known else SURE_OF_NEW_VERB):
                _move_polarity(draft, minuses[0], concepts[0][0], concepts[1][0], score)


def _move_polarity(draft: GraphDraft, minus: int, noun: int, verb: int, score: float) -> None:
    """To the verb, or to the noun; then the verbs that are joined to this one lose theirs by the rules."""
    chosen, other = (verb, noun) if score > 0 else (noun, verb)
    draft.arcs = [arc for arc in draft.arcs if arc.dep != minus]
    if "polarity" not in draft.roles(chosen):
        draft.link(chosen, "polarity", minus, "denial")
    if chosen == noun:
        joint = _above(draft, verb)[-1]
        group = {arc.dep for arc in draft.arcs if arc.head == joint and arc.role.startswith("op")}
        for arc in list(draft.arcs):
            node = draft.nodes[arc.dep]
            if arc.role == "polarity" and arc.head in group and node.token is None and node.value == "-":
                draft.drop(arc.dep)
    sentence = draft.nodes[verb].sentence
    if draft.tops.get(sentence) in _above(draft, other):
        draft.tops[sentence] = _above(draft, chosen)[-1]


def _above(draft: GraphDraft, node: int) -> list[int]:
    """The node, and the conjunction that it is under."""
    over = [arc.head for arc in draft.arcs if arc.dep == node and arc.role.startswith("op")]
    return [node, *over[:1]]
