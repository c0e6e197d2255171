"""Gold graphs as the trainer sees them: nodes with the words that they come from, arcs from head to argument.

The aligner of :mod:`graphneg.alignment` gives most nodes their words. What it leaves goes to the word that
its label keeps company with over the whole corpus (Brown et al. 1993, model 1, one step), or to a
neighbour's word.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphneg.alignment import align
from graphneg.model import AmrGraph, AmrNode
from graphneg.parsers.dependency.words import Word
from graphneg.penman_codec import is_inverted

UNWORDED = frozenset({"multi-sentence"})
_COMPARED = frozenset({"JJR", "JJS", "RBR", "RBS", "VB"})
_WITH_PARENT = frozenset({"more", "most", "you", "amr-unknown", "ever", "so"})
_BY_PUNCTUATION = frozenset(
    {"and", "amr-unknown", "mode=expressive", "request-confirmation-91", "polarity=amr-unknown"}
)


@dataclass(frozen=True, slots=True)
class GoldNode:
    """A concept or a constant; ``token`` is the index of its word, ``None`` where it has none."""

    concept: str | None
    value: str | None
    token: int | None

    @property
    def label(self) -> str:
        """The concept, or the value of a constant."""
        return self.concept if self.concept is not None else (self.value or "")


@dataclass(frozen=True, slots=True)
class GoldGraph:
    """``arcs`` are (head, role, argument), never inverse; ``domain`` is ``mod`` from the other side."""

    id: str
    text: str
    nodes: tuple[GoldNode, ...]
    arcs: frozenset[tuple[int, str, int]]
    top: int


def plain_arcs(graph: AmrGraph) -> Iterator[tuple[int, str, int]]:
    """The graph's relations as (head, role, argument); wiki links are left out."""
    branches = [(node.up, node.role, node.k) for node in graph.nodes]
    branches += [(mention.up, mention.role, mention.target) for mention in graph.mentions]
    for up, role, down in branches:
        if up is None or role is None or role == "wiki":
            continue
        head, dep = (down, up) if is_inverted(role) else (up, down)
        base = role[:-3] if is_inverted(role) else role
        yield (dep, "mod", head) if base == "domain" else (head, base, dep)


class Anchoring:
    """Gives the nodes of a corpus their words; statistics are taken when it is made."""

    def __init__(self, corpus: Sequence[tuple[AmrGraph, Sequence[Word]]]) -> None:
        self.together: Counter[tuple[str, str]] = Counter()
        self.labels: Counter[str] = Counter()
        self.keys: Counter[str] = Counter()
        self.sentences = len(corpus)
        for graph, words in corpus:
            aligned = align(graph, [word.text for word in words])
            keys = {key for word in words for key in _keys(word)}
            self.keys.update(keys)
            for label in {_label(node) for node in graph.nodes if node.k not in aligned}:
                self.labels[label] += 1
                self.together.update((label, key) for key in keys)

    def gold(self, graph: AmrGraph, text: str, words: Sequence[Word]) -> GoldGraph:
        """One graph with its nodes anchored."""
        spans = align(graph, [word.text for word in words])
        anchors = {k: root_of(words, *span) for k, span in spans.items()}
        around = _around(graph)
        for node in graph.nodes:
            if _is_exclaimed(graph, node, words, anchors):
                anchors[node.k] = anchors[node.up or 0]
            elif node.k not in anchors and node.concept not in UNWORDED:
                near = [anchors[other] for other in around[node.k] if other in anchors]
                found = self._companion(_label(node), words, near)
                if found is not None:
                    anchors[node.k] = found
        _hold(graph, words, anchors)
        for _ in range(4):
            _follow(graph, around, anchors)
        dropped = {node.k for node in graph.nodes if node.role == "wiki"}
        number = {k: i for i, k in enumerate(node.k for node in graph.nodes if node.k not in dropped)}
        nodes = tuple(
            GoldNode(node.concept, node.value, anchors.get(node.k))
            for node in graph.nodes
            if node.k not in dropped
        )
        arcs = frozenset((number[h], role, number[d]) for h, role, d in plain_arcs(graph))
        return GoldGraph(graph.id, text, nodes, arcs, 0)

    def _companion(self, label: str, words: Sequence[Word], near: Sequence[int]) -> int | None:
        best, place = 1.0, None
        for word in words:
            for key in _keys(word):
                both = self.together[label, key]
                if both < 3 or (not any(one.isalnum() for one in key) and label not in _BY_PUNCTUATION):
                    continue
                with_key = both / self.keys[key]
                without = (self.labels[label] - both + 0.5) / (self.sentences - self.keys[key] + 1)
                if with_key < 8 * without:
                    continue
                gap = min((abs(word.i - one) for one in near), default=4) / 4
                score = math.log(with_key / without) * math.sqrt(both / self.labels[label]) - gap / 2
                if score > best:
                    best, place = score, word.i
        return place


def _hold(graph: AmrGraph, words: Sequence[Word], anchors: dict[int, int]) -> None:
    """What somebody is *without* he does not have; where something *is*, *be* says."""
    copulas = [word.i for word in words if word.lemma == "be" and word.dep not in {"aux", "auxpass"}]
    for node in graph.nodes:
        if node.k in anchors:
            continue
        below = {child.role: anchors[child.k] for child in graph.children(node.k) if child.k in anchors}
        denied = below.get("polarity")
        if node.concept == "have-03" and denied is not None and words[denied].lower == "without":
            anchors[node.k] = denied
        elif node.concept == "be-located-at-91":
            place = below.get("ARG2", max(below.values(), default=0))
            before = [i for i in copulas if i < place]
            if before:
                anchors[node.k] = before[-1]


def _is_exclaimed(graph: AmrGraph, node: AmrNode, words: Sequence[Word], anchors: Mapping[int, int]) -> bool:
    """Whether it is the mode of an interjection: that comes from the interjection, not from a mark."""
    return (
        node.value == "expressive"
        and node.up is not None
        and node.up in anchors
        and words[anchors[node.up]].tag == "UH"
    )


def root_of(words: Sequence[Word], start: int, end: int) -> int:
    """The word of a range that depends on none of the others."""
    for i in range(start, end):
        head = words[i].head
        if not start <= head < end or head == i:
            return i
    return end - 1


def _keys(word: Word) -> tuple[str, ...]:
    if word.tag in _COMPARED:
        return (word.lemma, "tag:" + word.tag)
    return (word.lemma,)


def _label(node: AmrNode) -> str:
    return node.concept if node.concept is not None else f"{node.role}={node.value}"


def _around(graph: AmrGraph) -> Mapping[int, list[int]]:
    around: defaultdict[int, list[int]] = defaultdict(list)
    for head, _, dep in plain_arcs(graph):
        around[head].append(dep)
        around[dep].append(head)
    return around


def _follow(graph: AmrGraph, around: Mapping[int, Sequence[int]], anchors: dict[int, int]) -> None:
    """Nodes without a word take that of the first child that has one, constants that of the node above."""
    for node in graph.nodes:
        if node.k in anchors or node.concept in UNWORDED:
            continue
        if node.concept is None or node.concept in _WITH_PARENT:
            if node.up is not None and node.up in anchors:
                anchors[node.k] = anchors[node.up]
            continue
        below = [child.k for child in graph.children(node.k) if child.k in anchors]
        for other in (*below[:1], *around[node.k]):
            if other in anchors:
                anchors[node.k] = anchors[other]
                break
