"""Choose the arcs and tops of an unfinished graph (draft), and the node that each *no* negates.

A network scores each role for each pair of nodes. `decode` turns the scores into a connected graph. It first
takes all arcs above a threshold, highest score first, and then joins each separate part with its best arc.
Flanigan et al. (2014, section 4) use a similar method to find a maximum spanning connected subgraph.

In *There is no man running*, the negation can be attached to the noun (``man :polarity -``) or to the verb
(``run-02 :polarity -``). Annotators do not agree on this, and neither do parsers. A logistic regression over
the words of the sentence decides between noun and verb.
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

_MAX_DISTANCE = 24
"""Maximum distance between the two nodes of a scored pair, counted in nodes in text order."""
_MAX_WORDS_AFTER_NO = 14
"""Maximum value of the feature that counts the words after *no*."""
SURE_DENIAL, SURE_OF_NEW_VERB = 0.25, 1.5
"""Minimum absolute log odds for moving a negation. `SURE_DENIAL` is for verbs that occurred with *no* in the
training data. `SURE_OF_NEW_VERB` is for all other verbs. `SURE_OF_NEW_VERB` is higher, because for these
verbs the arcs of the network are more reliable than the regression.
"""


def scored_pairs(seen: DraftFeatures) -> Iterator[tuple[int, int]]:
    """Yield the pairs of nodes that may be linked as head and argument.

    Both nodes must be in the same sentence and close to each other. The head must not be a constant or a
    ``name``. Nodes inside names and dates are left out, because their arcs are not changed.

    Args:
        seen: Features of the graph under construction.

    Yields:
        The index of the head node and the index of the argument node.
    """
    nodes = seen.draft.nodes
    # Pair each node only with the next nodes in text order, so that distant words form no pairs.
    alive = [i for i in sorted(seen.live_nodes, key=lambda i: seen.order[i]) if i not in seen.fixed_nodes]
    for at, a in enumerate(alive):
        for b in alive[at + 1 : at + _MAX_DISTANCE]:
            if nodes[a].sentence != nodes[b].sentence or not seen.related(a, b):
                continue
            if nodes[a].concept is not None and nodes[a].concept != "name":
                yield a, b
            if nodes[b].concept is not None and nodes[b].concept != "name":
                yield b, a


_ONCE = frozenset(
    {"polarity", "mode", "name", "unit", "ARG0", "ARG1", "ARG2", "ARG3", "ARG4", "ARG5", "quant", "ord"}
)
"""Roles that a node can have at most once."""


class ScoredArc(NamedTuple):
    """An arc that the network has scored.

    Attributes:
        score: Log odds of the arc compared with no arc.
        head: Index of the head node.
        dep: Index of the argument node.
        role: The role; ``op`` stands for ``op1``, ``op2`` and so on, which are numbered later.
    """

    score: float
    head: int
    dep: int
    role: str


def decode(
    nodes: Sequence[int],
    arcs: Sequence[ScoredArc],
    constants: frozenset[int],
    arc_threshold: float,
    link_threshold: float,
) -> tuple[list[ScoredArc], list[int]]:
    """Choose the arcs, by their scores, that join the nodes into one connected graph.

    Each arc with a score of at least ``arc_threshold`` is taken. An arc with a lower score is taken only if
    it joins two separate parts of the graph. An isolated node is deleted unless an arc with a score of at
    least ``link_threshold`` joins it to another node.

    Each taken arc excludes other arcs with lower scores: arcs between the same two nodes, arcs with a role
    that the head can have only once, such as ``:ARG0``, and further arcs to a constant or to the argument of
    ``:polarity``.

    Args:
        nodes: Indices of the nodes to connect.
        arcs: The scored arcs to choose from.
        constants: Indices of the nodes that are constants.
        arc_threshold: Minimum score of the arcs that are always taken.
        link_threshold: Minimum score of an arc that saves an isolated node from deletion.

    Returns:
        The chosen arcs, and the indices of the isolated nodes to delete.
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
    # Take the arcs in three passes over the same list. The first pass takes the likely arcs. The second pass
    # takes arcs above the lower threshold that join separate parts. The third pass joins the remaining parts
    # with their best arcs, whatever the score. It does not join isolated nodes.
    take(takewhile(lambda arc: arc.score >= arc_threshold, ordered))
    likely = takewhile(lambda arc: arc.score >= link_threshold, ordered)
    take(arc for arc in likely if parts[arc.head] != parts[arc.dep])
    members: dict[int, list[int]] = {}
    for i in nodes:
        members.setdefault(parts[i], []).append(i)
    largest = max(members.values(), key=len, default=[])
    given_up = {group[0] for group in members.values() if len(group) == 1 and group is not largest}
    rest = (arc for arc in ordered if given_up.isdisjoint({arc.head, arc.dep}))
    take(arc for arc in rest if parts[arc.head] != parts[arc.dep])
    return taken, sorted(given_up)


ARC_THRESHOLD = -0.9
"""Minimum log odds of an arc that is always taken. A threshold below 0 gives more arcs and a better F1."""
LINK_THRESHOLD = -4.0
"""Minimum log odds of the best arc of an isolated node. If the best arc scores less, the node is deleted."""
RULE_BONUS = 0.25
"""Bonus in log odds for arcs that the rules wrote. The rules cover more kinds of text than the training data.
"""
_CONJUNCTIONS = frozenset({"and", "or"})
"""Conjunctions that may have a single operand. The first operand of *And I left.* is in an earlier sentence.
"""
_MIN_BEST_ROLE, _MIN_OTHER_ROLE = -9.0, -2.5
"""Minimum log odds of an arc that is considered. `_MIN_BEST_ROLE` is for the best role of a pair of nodes,
`_MIN_OTHER_ROLE` for the other roles of the pair.
"""


def link_nodes(meanings: Meanings, model: Model, sums: GroupSums, draft: GraphDraft) -> None:
    """Choose the arcs and tops of a draft with the network, and delete isolated nodes without a likely arc.

    Args:
        meanings: Tables with frames and word clusters.
        model: The network that scores arcs.
        sums: Cache of the feature sums of the network.
        draft: The graph under construction; it is changed in place.
    """
    seen = DraftFeatures(draft, meanings)
    pairs = list(scored_pairs(seen))
    odds, tops = _scores(model, sums, seen, pairs)
    arcs = _likely_arcs(odds, seen, pairs, model.classes[1:])
    scored = [i for i in seen.live_nodes if i not in seen.fixed_nodes]
    kept = [arc for arc in draft.arcs if arc.dep in seen.fixed_nodes]
    named = {arc.head for arc in kept}
    constants = frozenset(i for i in scored if draft.nodes[i].value is not None)
    taken, loose = decode(scored, arcs, constants, ARC_THRESHOLD, LINK_THRESHOLD)
    draft.arcs = kept
    _write(draft, taken)
    for i in loose:
        if i not in named:
            draft.drop(i)
    # In each sentence, the concept with the highest score becomes the top.
    best: dict[int, int] = {}
    for i in sorted(scored, key=lambda i: (-tops[i], i)):
        node = draft.nodes[i]
        if not node.deleted and node.concept is not None and node.sentence in draft.tops:
            best.setdefault(node.sentence, i)
    draft.tops = best


def _scores(
    model: Model, sums: GroupSums, seen: DraftFeatures, pairs: Sequence[tuple[int, int]]
) -> tuple[Any, dict[int, float]]:
    """Return the log odds of each role for each pair of nodes, and the score of each node as a top."""
    arrays, rows = model.arrays, {i: n for n, i in enumerate(seen.live_nodes)}
    nodes = model.sums("node", "node", [seen.node(i) for i in seen.live_nodes])
    states = np.maximum(nodes + arrays["node_bias"], 0)
    tops = dict(zip(seen.live_nodes, (states @ arrays["top"]).tolist(), strict=True))
    if not pairs:
        return np.zeros((0, len(model.classes) - 1), np.float32), tops
    # Class 0 means that there is no arc. Subtract its score from the scores of the other classes to get log
    # odds.
    features = [seen.pair(h, d) for h, d in pairs]
    between = sums.sums([groups for groups, _ in features])
    between = between + model.sums("pair", "pair", [single for _, single in features])
    heads, deps = states @ arrays["head"], states @ arrays["dep"]
    hidden = heads[[rows[h] for h, _ in pairs]] + deps[[rows[d] for _, d in pairs]] + between + arrays["bias"]
    logits = np.maximum(hidden, 0) @ arrays["out"] + arrays["out_bias"]
    return np.clip(logits[:, 1:] - logits[:, :1], -30, 30), tops


def _likely_arcs(
    odds: Any, seen: DraftFeatures, pairs: Sequence[tuple[int, int]], roles: Sequence[str]
) -> list[ScoredArc]:
    """Return the arcs with high scores.

    The parser's rules have written a first graph. Each arc of this graph gets a bonus on its score.
    """
    if not pairs:
        return []
    number = {role: n for n, role in enumerate(roles)}
    for row, pair in enumerate(pairs):
        role = plain_role(seen.rule_arcs.get(pair, ("", ""))[0])
        if role in number:
            odds[row, number[role]] += RULE_BONUS
    likely = odds > _MIN_OTHER_ROLE
    likely[np.arange(len(pairs)), odds.argmax(axis=1)] = True
    rows, columns = np.nonzero(likely & (odds > _MIN_BEST_ROLE))
    return [
        ScoredArc(score, *pairs[row], roles[column])
        for score, row, column in zip(
            odds[rows, columns].tolist(), rows.tolist(), columns.tolist(), strict=True
        )
    ]


def _write(draft: GraphDraft, taken: Sequence[ScoredArc]) -> None:
    """Add arcs to an unfinished graph. Number the operands of a conjunction (``op1``, ``op2``)."""
    operands: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for arc in taken:
        if arc.role == "op":
            token = draft.nodes[arc.dep].token
            operands[arc.head].append((-1 if token is None else token, arc.dep))
        else:
            draft.link(arc.head, arc.role, arc.dep, "learned")
    for head, deps in operands.items():
        # In "And I left", the first operand is in the previous sentence, so the only operand is :op2.
        first = 2 if len(deps) == 1 and draft.nodes[head].concept in _CONJUNCTIONS else 1
        for n, (_, dep) in enumerate(sorted(deps), first):
            draft.link(head, f"op{n}", dep, "learned")


class NegatedSubject(NamedTuple):
    """A *no* in a subject, such as *no man is running*.

    Attributes:
        no: The word *no*.
        noun: The head noun of the subject.
        verb: The verb to which the subject belongs.
    """

    no: Word
    noun: Word
    verb: Word


def denials(words: Sequence[Word]) -> Iterator[NegatedSubject]:
    """Yield each *no* that belongs to a subject, with its noun and verb.

    Args:
        words: The words of the text.

    Yields:
        The word *no* with its noun and verb: *no*, *man* and *running* in *no man is running*.
    """
    for word in words:
        if word.lower != "no" or word.dep not in {"det", "neg"}:
            continue
        head = word.parent
        # In "there is no man running", the module `rules.trees` has attached "no" to the verb by the relation
        # "neg". In "no man is running", "no" is a determiner of the noun.
        if word.dep == "neg":
            noun = next((kid for kid in head.children(*SUBJECTS) if kid.i > word.i), None)
            if noun is not None and head.tag[:2] == "VB":
                yield NegatedSubject(word, noun, head)
        elif head.dep in SUBJECTS and head.parent.tag[:2] == "VB" and head.parent.lemma != "be":
            yield NegatedSubject(word, head, head.parent)


def denial_features(denial: NegatedSubject) -> list[str]:
    """Return the features from which the regression decides whether *no* negates the noun or the verb.

    Args:
        denial: The word *no* with its noun and verb.

    Returns:
        Names of the features, such as ``n=man`` and ``v=run`` for the lemmas of the noun and the verb.
    """
    no, noun, verb = denial
    behind = [word for word in verb.subtree() if word.i > no.i and word.tag[0].isalpha()]
    kids = [kid for kid in verb.children() if kid.i > noun.i]
    deps = "+".join(sorted({kid.dep for kid in kids} & {"dobj", "prep", "advmod", "conj", "prt", "advcl"}))
    size = len(behind)
    bag = ["1", f"n={noun.lemma}", f"v={verb.lemma}", f"vt={verb.tag}", f"k={deps}", f"e={no.dep}"]
    bag += [f"nm={noun.child('amod', 'compound') is not None}", f"l={min(size, _MAX_WORDS_AFTER_NO)}"]
    bag += [f"l>{n}" for n in range(3, _MAX_WORDS_AFTER_NO) if size > n]
    bag += [f"kd={kid.dep}" for kid in kids]
    for kid in kids:
        if kid.dep == "dobj":
            bag += [f"od={determiner.lower}" for determiner in kid.children("det")] + [f"ot={kid.tag}"]
    bag += [f"w={word.lower}" for word in behind]
    bag += [f"b={a.lower}_{b.lower}" for a, b in pairwise(behind)]
    return bag


def move_negation(model: Model, draft: GraphDraft) -> None:
    """Decide for each *no* in a subject whether it negates the noun or the verb, and move its polarity there.

    For *No man is running*, the graph gets ``:polarity -`` either at ``man`` or at ``run-02``.

    Args:
        model: Logistic regression that chooses between the noun and the verb.
        draft: The graph under construction; it is changed in place.
    """
    for denial in denials(draft.words):
        nos, nouns, verbs = (
            [k for k, node in enumerate(draft.nodes) if node.token == word.i and not node.deleted]
            for word in denial
        )
        minuses = [k for k in nos if draft.nodes[k].value == "-"]
        concepts = [[k for k in group if draft.nodes[k].concept] for group in (nouns, verbs)]
        # Change nothing if "no", the noun or the verb has no node or several nodes, because it is then
        # unclear which nodes to link.
        if [len(group) for group in (minuses, *concepts)] == [1, 1, 1]:
            score = float(model.sums("denial", "denial", [denial_features(denial)])[0, 0])
            known = f"v={denial.verb.lemma}" in model.features["denial"]
            if abs(score) >= (SURE_DENIAL if known else SURE_OF_NEW_VERB):
                _move_polarity(draft, minuses[0], concepts[0][0], concepts[1][0], score)


def _move_polarity(draft: GraphDraft, minus: int, noun: int, verb: int, score: float) -> None:
    """Move the ``:polarity -`` of *no* to the verb if ``score`` is above 0, else to the noun.

    Args:
        draft: The graph under construction; it is changed in place.
        minus: Index of the node ``-``.
        noun: Index of the node of the noun, such as ``man`` in *no man is running*.
        verb: Index of the node of the verb, such as ``run-02``.
        score: Score of the model that chooses between the noun and the verb.
    """
    chosen, other = (verb, noun) if score > 0 else (noun, verb)
    draft.arcs = [arc for arc in draft.arcs if arc.dep != minus]
    if "polarity" not in draft.roles(chosen):
        draft.link(chosen, "polarity", minus, "denial")
    # In "no man is singing and playing", the rules have also negated the second verb. If the noun is now
    # negated instead, delete the copies of the negation below the other verbs.
    if chosen == noun:
        joint = _with_conjunction(draft, verb)[-1]
        group = {arc.dep for arc in draft.arcs if arc.head == joint and arc.role.startswith("op")}
        for arc in list(draft.arcs):
            node = draft.nodes[arc.dep]
            if arc.role == "polarity" and arc.head in group and node.token is None and node.value == "-":
                draft.drop(arc.dep)
    # The negated node becomes the top of the sentence: in "There is no man running", run-02 if the verb is
    # negated, and "man" if the noun is negated. If the node is in a conjunction, the conjunction is the top.
    sentence = draft.nodes[verb].sentence
    if draft.tops.get(sentence) in _with_conjunction(draft, other):
        draft.tops[sentence] = _with_conjunction(draft, chosen)[-1]


def _with_conjunction(draft: GraphDraft, node: int) -> list[int]:
    """Return a node and, if it is an operand of a conjunction, the node of the conjunction."""
    over = [arc.head for arc in draft.arcs if arc.dep == node and arc.role.startswith("op")]
    return [node, *over[:1]]
