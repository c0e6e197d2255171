"""Smatch and its sub-scores: pairs of graphs in, tallies of triples and F1 with intervals out.

Smatch (Cai and Knight 2013, "Smatch: an Evaluation Metric for Semantic Feature Structures") is the package
``smatch``. The sub-scores are those of Damonte, Cohen and Satta (2017, "An Incremental Parser for Abstract
Meaning Representation", section 5), as their ``amr-evaluation`` counts them, with one departure: ``mod``
stays a role of its own where re-entrancies are looked for, because read as the inverse of ``domain`` it
would give every modified noun two parents.

The package only matches here. Its own reader of PENMAN loses constants under ``:mod`` and inverse roles and
all but the first word of a string, and counts a triple that is stated twice four times, so that two different
graphs score 1.0 and a graph scores 1.5 against itself. `smatch_triples` reads the same triples without loss:

>>> smatch_triples(parse_graph("(g / good-02 :mod (v / very) :mod expressive)")).attributes
[('mod', 'g', 'expressive'), ('TOP', 'g', 'top')]

The package keeps what it has matched in module globals, draws at random without a seed, and installs a top-
level module ``amr``. So `matcher` runs in processes of its own (see :mod:`graphneg.workers`), where it
seeds the package for each pair and clears it.
"""

from __future__ import annotations

import io
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

from graphneg.amr.penman import is_inverted, parse_graph
from graphneg.errors import InputError, PenmanError
from graphneg.hashing import number
from graphneg.model import AmrGraph
from graphneg.statistics import percentile_interval, resampled_counts

SMATCH, UNLABELLED, NO_SENSES = "Smatch", "unlabelled", "no senses"
CONCEPTS, NAMES, NEGATION = "concepts", "named entities", "negation"
REENTRANCY, SRL = "reentrancy", "SRL"
MEASURES = (SMATCH, UNLABELLED, NO_SENSES, CONCEPTS, NAMES, NEGATION, REENTRANCY, SRL)

Triple = tuple[str, str, str]

_SENSE = re.compile(r"-\d+$")
_TOP = "TOP"
_CHUNK = 100


class Tally(NamedTuple):
    """Triples, or concepts, of one pair of graphs: matched, in the predicted one, in the gold one."""

    matched: int
    predicted: int
    gold: int


class GraphPair(NamedTuple):
    """A predicted and a gold graph, each on one line; ``predicted`` is None where there is none."""

    number: int
    predicted: str | None
    gold: str


class Triples(NamedTuple):
    """A graph as the package sees it: (instance, node, concept), (role, node, value), (role, node, node)."""

    instances: Sequence[Triple] = ()
    attributes: Sequence[Triple] = ()
    relations: Sequence[Triple] = ()

    @property
    def size(self) -> int:
        """How many triples there are."""
        return len(self.instances) + len(self.attributes) + len(self.relations)

    @property
    def concepts(self) -> Mapping[str, str]:
        """The concept of each node."""
        return {node: concept for _, node, concept in self.instances}


class Compared(NamedTuple):
    """A pair's tally by each measure, none where its gold graph can't be read.

    ``unread`` has the reason, by side (``predicted`` or ``gold``), of a graph that can't be.
    """

    number: int
    tallies: Mapping[str, Tally] | None
    unread: Mapping[str, str]


def matcher(seed: int, measures: Sequence[str] = MEASURES) -> Callable[[Sequence[GraphPair]], list[Compared]]:
    """A function that compares pairs by these measures; the same seed gives the same tallies.

    Raises `InputError`: the package ``smatch`` is not installed.
    """
    package = _Package(seed, measures)
    return lambda pairs: [package.compared(pair) for pair in pairs]


def smatch_triples(graph: AmrGraph) -> Triples:
    """Return the triples of a graph, with ``mod`` read as the inverse of ``domain`` as Smatch does.

    A role that ends in ``-of`` is turned around where its target is a node. A triple that the graph states
    twice counts once.

    Args:
        graph: The graph to read.

    Returns:
        Its triples; nodes keep the names of their variables.
    """
    return _triples(graph, {"mod": "domain"})


def _triples(graph: AmrGraph, inverses: Mapping[str, str]) -> Triples:
    """Read triples; ``inverses`` maps roles that are inverse without ``-of`` to the role that they invert."""
    names = [node.var or "" for node in graph.nodes]
    instances = [
        ("instance", node.var or "", node.concept) for node in graph.nodes if node.concept is not None
    ]
    branches = [(node.up, node.pos, node.role or "", node) for node in graph.nodes if node.up is not None]
    branches += [
        (mention.up, mention.pos, mention.role, graph.nodes[mention.target]) for mention in graph.mentions
    ]
    attributes: list[Triple] = []
    relations: list[Triple] = []
    for up, _, role, target in sorted(branches, key=lambda branch: branch[:2]):
        inverse = role.removesuffix("-of") if is_inverted(role) else inverses.get(role)
        if target.value is not None:
            # ":mod expressive": a constant is no node that could have the inverse role.
            attributes.append((role, names[up], target.value))
        elif inverse is not None:
            relations.append((inverse, names[target.k], names[up]))
        else:
            relations.append((role, names[up], names[target.k]))
    attributes.append((_TOP, names[0], "top"))
    return Triples(instances, [*dict.fromkeys(attributes)], [*dict.fromkeys(relations)])


class _Package:
    """The module ``smatch``, made repeatable and silent."""

    def __init__(self, seed: int, measures: Sequence[str]) -> None:
        try:
            import amr
            import smatch
        except ImportError as error:
            raise InputError(
                f"Smatch is the package smatch, which can't be imported ({error}): "
                "pip install 'graphneg[evaluation]'"
            ) from error
        self._seed = seed
        self._measures = measures
        self._random = random.Random()
        self._smatch: Any = smatch
        # The package asks to be seeded by the clock: nothing is done then.
        self._smatch.random = SimpleNamespace(seed=lambda: None, randint=self._random.randint)
        for module in (amr, smatch):
            vars(module)["ERROR_LOG"] = io.StringIO()

    def compared(self, pair: GraphPair) -> Compared:
        """The pair's tallies; a predicted graph that can't be read counts as one without triples."""
        try:
            gold = _readings(pair.gold)
        except PenmanError as error:
            return Compared(pair.number, None, {"gold": str(error)})
        predicted, unread = (Triples(), Triples()), dict[str, str]()
        try:
            if pair.predicted is not None:
                predicted = _readings(pair.predicted)
        except PenmanError as error:
            unread["predicted"] = str(error)
        tallies = {name: self._tally(pair.number, name, predicted, gold) for name in self._measures}
        return Compared(pair.number, tallies, unread)

    def _tally(
        self, pair: int, measure: str, predicted: tuple[Triples, Triples], gold: tuple[Triples, Triples]
    ) -> Tally:
        reading = measure == REENTRANCY
        if measure in _LABELS:
            labels, others = (_LABELS[measure](graphs[reading]) for graphs in (predicted, gold))
            return Tally(len(labels & others), len(labels), len(others))
        ours, theirs = (_PARTS[measure](graphs[reading]) for graphs in (predicted, gold))
        if not ours.size or not theirs.size:
            return Tally(0, ours.size, theirs.size)
        self._smatch.match_triple_dict.clear()
        self._random.seed(number(self._seed, str(pair), measure))
        _, matched = self._smatch.get_best_match(
            *_renamed(ours, "a"), *_renamed(theirs, "b"), prefix1="a", prefix2="b"
        )
        return Tally(matched, ours.size, theirs.size)


def _readings(line: str) -> tuple[Triples, Triples]:
    """Read a graph as Smatch does, and with ``mod`` as a role of its own."""
    graph = parse_graph(line)
    return smatch_triples(graph), _triples(graph, {})


def unlabelled(graph: Triples) -> Triples:
    """The graph with one role for all; what then stands there twice counts once. The top stays marked."""
    attributes = ((role if role == _TOP else "role", node, value) for role, node, value in graph.attributes)
    relations = (("role", source, target) for _, source, target in graph.relations)
    return Triples(graph.instances, [*dict.fromkeys(attributes)], [*dict.fromkeys(relations)])


def without_senses(graph: Triples) -> Triples:
    """The graph with ``like-02`` as ``like``."""
    bare = [(kind, node, _SENSE.sub("", concept)) for kind, node, concept in graph.instances]
    return Triples(bare, graph.attributes, graph.relations)


def reentrancies(graph: Triples) -> Triples:
    """The relations that lead to nodes with more than one, and the nodes at both of their ends."""
    parents = Counter(target for _, _, target in graph.relations)
    return _part(graph, [relation for relation in graph.relations if parents[relation[2]] > 1])


def arguments(graph: Triples) -> Triples:
    """The relations ``ARG0``, ``ARG1``, ... and the nodes at both of their ends."""
    return _part(graph, [relation for relation in graph.relations if relation[0].startswith("ARG")])


def named(graph: Triples) -> set[str]:
    """The concepts that have a name: ``person``, ``city``."""
    return {graph.concepts[source] for role, source, _ in graph.relations if role == "name"}


def negated(graph: Triples) -> set[str]:
    """The concepts that have a polarity, be it ``-`` or that of a question."""
    branches = (*graph.attributes, *graph.relations)
    return {graph.concepts[source] for role, source, _ in branches if role == "polarity"}


_PARTS: Mapping[str, Callable[[Triples], Triples]] = {
    SMATCH: lambda graph: graph,
    UNLABELLED: unlabelled,
    NO_SENSES: without_senses,
    REENTRANCY: reentrancies,
    SRL: arguments,
}
_LABELS: Mapping[str, Callable[[Triples], set[str]]] = {
    CONCEPTS: lambda graph: set(graph.concepts.values()),
    NAMES: named,
    NEGATION: negated,
}


def _part(graph: Triples, relations: Sequence[Triple]) -> Triples:
    ends = {node for _, source, target in relations for node in (source, target)}
    return Triples([instance for instance in graph.instances if instance[1] in ends], (), relations)


def _renamed(graph: Triples, prefix: str) -> Iterable[list[Triple]]:
    """The triples with nodes called ``a0``, ``a1``, ..., which is what the package counts on."""
    names = {node: f"{prefix}{i}" for i, (_, node, _) in enumerate(graph.instances)}
    yield [(kind, names[node], concept) for kind, node, concept in graph.instances]
    yield [(role, names[node], value) for role, node, value in graph.attributes]
    yield [(role, names[source], names[target]) for role, source, target in graph.relations]


class Score(NamedTuple):
    """Each from 0 to 1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class MeasureScores:
    """One measure over all pairs.

    ``micro`` sums the triples of all pairs, ``macro`` is the mean over the ``pairs`` in which there
    is anything to find. The intervals are of F1: percentile bootstrap over pairs, leaving out the
    resamples in which there is nothing to find.
    """

    pairs: int
    micro: Score
    macro: Score
    micro_interval: tuple[float, float]
    macro_interval: tuple[float, float]


def score(tally: Tally) -> Score:
    """Precision, recall and F1; 0 where they are not defined.

    >>> score(Tally(1, 2, 1))
    Score(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    matched, predicted, gold = tally
    precision = matched / predicted if predicted else 0.0
    recall = matched / gold if gold else 0.0
    return Score(precision, recall, 2 * matched / (predicted + gold) if predicted + gold else 0.0)


def measured(tallies: Sequence[Tally], resamples: int, seed: int) -> MeasureScores:
    """The scores of many pairs, with intervals from ``resamples`` draws of as many pairs."""
    import numpy as np

    present = [tally for tally in tallies if tally.predicted or tally.gold]
    total = Tally(*map(sum, zip((0, 0, 0), *present, strict=True)))
    columns = zip((0.0, 0.0, 0.0), *map(score, present), strict=True)
    mean = Score(*(sum(column) / max(1, len(present)) for column in columns))
    if not tallies or not resamples:
        return MeasureScores(len(present), score(total), mean, (0.0, 0.0), (0.0, 0.0))
    counts = [(2 * t.matched, score(t).f1, t.predicted + t.gold, t.predicted + t.gold > 0) for t in tallies]
    table = np.array(counts, dtype=float)
    random = np.random.default_rng(seed)
    sums = np.concatenate(
        [  # a chunk of resamples at a time keeps memory flat
            resampled_counts(len(tallies), min(_CHUNK, resamples - start), random).astype(float) @ table
            for start in range(0, resamples, _CHUNK)
        ]
    )
    below = sums[:, 2:]
    low, high = percentile_interval(np.divide(sums[:, :2], below, out=below * np.nan, where=below > 0))
    micro, macro = ((float(low[at]), float(high[at])) for at in (0, 1))
    return MeasureScores(len(present), score(total), mean, micro, macro)
