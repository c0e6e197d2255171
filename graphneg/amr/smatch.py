"""Compute Smatch and its fine-grained sub-scores, with confidence intervals.

Smatch (Cai and Knight 2013, "Smatch: an Evaluation Metric for Semantic Feature Structures") is computed by
the package ``smatch``. The sub-scores are those of Damonte, Cohen and Satta (2017, "An Incremental Parser for
Abstract Meaning Representation", section 5), as their ``amr-evaluation`` computes them, with one departure:
in the reentrancy score, ``mod`` is not read as the inverse of ``domain``, because every modified noun would
then have two parents.

This module uses the package only for the matching, and not for reading graphs. The PENMAN reader of the
package loses constants under ``:mod`` and under inverse roles, and all but the first word of a string. If a
graph contains a triple twice, the package counts the triple four times. As a result, two different graphs can
score 1.0, and a graph can score 1.5 against itself. `smatch_triples` returns each triple once:

>>> smatch_triples(parse_graph("(g / good-02 :mod (v / very) :mod expressive)")).attributes
[('mod', 'g', 'expressive'), ('TOP', 'g', 'top')]

The package keeps its matches in global variables, draws random numbers without a seed, and installs a
top-level module ``amr``. Therefore the function that `matcher` creates is meant for worker processes (see
`graphneg.workers`). The function seeds the package for each pair of graphs and clears the global variables.
It takes pairs of graphs and returns counts of triples, from which `score` and `measured` compute precision,
recall and F1.
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
"""The names of all measures: Smatch and its sub-scores."""

Triple = tuple[str, str, str]
"""A triple: ``(instance, node, concept)``, ``(role, node, constant)`` or ``(role, node, node)``."""

_SENSE = re.compile(r"-\d+$")
_TOP = "TOP"
# Number of bootstrap resamples to draw at a time. A small number limits the memory needed.
_CHUNK = 100


class Tally(NamedTuple):
    """The numbers of triples from which the scores of one pair of graphs are computed.

    Most measures count triples. The measures of concepts, named entities and negation count concepts.

    Attributes:
        matched: Number of triples or concepts that both graphs contain.
        predicted: Number of triples or concepts in the predicted graph.
        gold: Number of triples or concepts in the gold graph.
    """

    matched: int
    predicted: int
    gold: int


class GraphPair(NamedTuple):
    """A predicted and a gold graph, each in PENMAN notation on one line.

    Attributes:
        number: The index of the pair. Together with a seed it determines the random choices of the matching.
        predicted: The predicted graph; None if it is missing.
        gold: The gold graph.
    """

    number: int
    predicted: str | None
    gold: str


class Triples(NamedTuple):
    """A graph as lists of triples, which is the input format of the package ``smatch``.

    Attributes:
        instances: Triples ``(instance, node, concept)``.
        attributes: Triples ``(role, node, constant)``.
        relations: Triples ``(role, node, node)``.
    """

    instances: Sequence[Triple] = ()
    attributes: Sequence[Triple] = ()
    relations: Sequence[Triple] = ()

    @property
    def size(self) -> int:
        """The number of triples of the graph."""
        return len(self.instances) + len(self.attributes) + len(self.relations)

    @property
    def concepts(self) -> Mapping[str, str]:
        """The concept of each node, keyed by the name of the node."""
        return {node: concept for _, node, concept in self.instances}


class Compared(NamedTuple):
    """The result of comparing one pair of graphs.

    Attributes:
        number: Index of the pair in the input.
        tallies: For each measure, the numbers of matched, predicted and gold triples, keyed by the name of
            the measure; None if the gold graph cannot be parsed.
        unread: The error messages of the graphs that cannot be parsed; the keys are ``predicted`` and
            ``gold``.
    """

    number: int
    tallies: Mapping[str, Tally] | None
    unread: Mapping[str, str]


def matcher(seed: int, measures: Sequence[str] = MEASURES) -> Callable[[Sequence[GraphPair]], list[Compared]]:
    """Create a function that compares pairs of graphs.

    Raises `InputError` if the package ``smatch`` is not installed.

    Args:
        seed: Seed for the random choices of the matching. The same seed gives the same results.
        measures: The names of the measures to compute.

    Returns:
        A function that takes pairs of graphs and returns one result per pair, in the same order.
    """
    package = _Package(seed, measures)
    return lambda pairs: [package.compared(pair) for pair in pairs]


def smatch_triples(graph: AmrGraph) -> Triples:
    """Return the triples of a graph, with ``mod`` read as the inverse of ``domain`` as Smatch does.

    The two ends of an inverse role (``ARG0-of``) are exchanged, unless the target is a constant. If the graph
    contains a triple twice, the result contains it once.

    Args:
        graph: The graph to convert.

    Returns:
        The triples of the graph. The names of the nodes are their variables.
    """
    return _triples(graph, {"mod": "domain"})


def _triples(graph: AmrGraph, inverses: Mapping[str, str]) -> Triples:
    """Return the triples of a graph.

    An inverse role such as ``ARG0-of`` is replaced with ``ARG0``, and the ends of the triple are exchanged.
    The same is done for the roles in ``inverses``: for ``{"mod": "domain"}``, ``mod`` is replaced with
    ``domain``.
    """
    names = [node.var or "" for node in graph.nodes]
    instances = [
        ("instance", node.var or "", node.concept) for node in graph.nodes if node.concept is not None
    ]
    branches = [
        (node.parent, node.branch, node.role or "", node) for node in graph.nodes if node.parent is not None
    ]
    branches += [
        (mention.parent, mention.branch, mention.role, graph.nodes[mention.target])
        for mention in graph.mentions
    ]
    attributes: list[Triple] = []
    relations: list[Triple] = []
    for up, _, role, target in sorted(branches, key=lambda branch: branch[:2]):
        inverse = role.removesuffix("-of") if is_inverted(role) else inverses.get(role)
        # The role ``mod`` is the inverse of ``domain``, but in ``:mod expressive`` the target is a constant.
        # A constant cannot be the source of a triple, so the role is not inverted.
        if target.value is not None:
            attributes.append((role, names[up], target.value))
        elif inverse is not None:
            relations.append((inverse, names[target.position], names[up]))
        else:
            relations.append((role, names[up], names[target.position]))
    attributes.append((_TOP, names[0], "top"))
    return Triples(instances, [*dict.fromkeys(attributes)], [*dict.fromkeys(relations)])


class _Package:
    """Wrapper around the module ``smatch`` that makes its results reproducible and hides its messages."""

    def __init__(self, seed: int, measures: Sequence[str]) -> None:
        """Import the package ``smatch``, and replace the random generator and the log that it uses.

        Raises:
            InputError: The package is not installed.
        """
        try:
            import amr
            import smatch
        except ImportError as error:
            raise InputError(
                f"computing Smatch needs the package smatch, which can't be imported ({error}): "
                "pip install 'graphneg[evaluation]'"
            ) from error
        self._seed = seed
        self._measures = measures
        self._random = random.Random()
        self._smatch: Any = smatch
        # The package smatch seeds the module ``random`` from the clock. Replace ``smatch.random`` with a
        # generator that is seeded for each pair of graphs, so that results are reproducible.
        self._smatch.random = SimpleNamespace(seed=lambda: None, randint=self._random.randint)
        for module in (amr, smatch):
            vars(module)["ERROR_LOG"] = io.StringIO()

    def compared(self, pair: GraphPair) -> Compared:
        """Compare one pair of graphs. A predicted graph that is missing or unreadable counts as empty."""
        try:
            gold = _both_triples(pair.gold)
        except PenmanError as error:
            return Compared(pair.number, None, {"gold": str(error)})
        predicted, unread = (Triples(), Triples()), dict[str, str]()
        try:
            if pair.predicted is not None:
                predicted = _both_triples(pair.predicted)
        except PenmanError as error:
            unread["predicted"] = str(error)
        tallies = {name: self._count_triples(pair.number, name, predicted, gold) for name in self._measures}
        return Compared(pair.number, tallies, unread)

    def _count_triples(
        self, pair: int, measure: str, predicted: tuple[Triples, Triples], gold: tuple[Triples, Triples]
    ) -> Tally:
        """Count the matched, predicted and gold triples of a pair of graphs for one measure."""
        reading = measure == REENTRANCY
        if measure in _LABELS:
            labels, others = (_LABELS[measure](graphs[reading]) for graphs in (predicted, gold))
            return Tally(len(labels & others), len(labels), len(others))
        ours, theirs = (_PARTS[measure](graphs[reading]) for graphs in (predicted, gold))
        # If one graph has no triples, nothing can match, so do not call the smatch package.
        if not ours.size or not theirs.size:
            return Tally(0, ours.size, theirs.size)
        self._smatch.match_triple_dict.clear()
        self._random.seed(number(self._seed, str(pair), measure))
        _, matched = self._smatch.get_best_match(
            *_renamed(ours, "a"), *_renamed(theirs, "b"), prefix1="a", prefix2="b"
        )
        return Tally(matched, ours.size, theirs.size)


def _both_triples(line: str) -> tuple[Triples, Triples]:
    """Return two lists of the triples of a graph: with ``mod`` read as inverse ``domain``, and without."""
    graph = parse_graph(line)
    return smatch_triples(graph), _triples(graph, {})


def unlabelled(graph: Triples) -> Triples:
    """Replace all roles of a graph with the same name, to compare graphs regardless of their roles.

    Args:
        graph: The triples of a graph.

    Returns:
        The triples, with ``role`` in place of all roles except ``TOP``. Of equal triples, one is kept.
    """
    attributes = ((role if role == _TOP else "role", node, value) for role, node, value in graph.attributes)
    relations = (("role", source, target) for _, source, target in graph.relations)
    return Triples(graph.instances, [*dict.fromkeys(attributes)], [*dict.fromkeys(relations)])


def without_senses(graph: Triples) -> Triples:
    """Remove the sense numbers from the frames of a graph: ``like-02`` becomes ``like``.

    Args:
        graph: The triples of a graph.

    Returns:
        The triples, with concepts that have no sense number.
    """
    bare = [(kind, node, _SENSE.sub("", concept)) for kind, node, concept in graph.instances]
    return Triples(bare, graph.attributes, graph.relations)


def reentrancies(graph: Triples) -> Triples:
    """Select the relations to nodes that have more than one parent.

    Args:
        graph: The triples of a graph.

    Returns:
        The selected relations, and the instances of the nodes at both ends.
    """
    parents = Counter(target for _, _, target in graph.relations)
    return _subgraph(graph, [relation for relation in graph.relations if parents[relation[2]] > 1])


def arguments(graph: Triples) -> Triples:
    """Select the relations whose role is ``ARG0``, ``ARG1`` or another numbered argument.

    Args:
        graph: The triples of a graph.

    Returns:
        The selected relations, and the instances of the nodes at both ends.
    """
    return _subgraph(graph, [relation for relation in graph.relations if relation[0].startswith("ARG")])


def named(graph: Triples) -> set[str]:
    """Return the concepts of all nodes with a name, for example ``person`` and ``city``.

    Args:
        graph: The triples of a graph.

    Returns:
        The set of these concepts.
    """
    return {graph.concepts[source] for role, source, _ in graph.relations if role == "name"}


def negated(graph: Triples) -> set[str]:
    """Return the concepts of all nodes with a ``:polarity``, which is ``-`` or ``amr-unknown``.

    Args:
        graph: The triples of a graph.

    Returns:
        The set of these concepts.
    """
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


def _subgraph(graph: Triples, relations: Sequence[Triple]) -> Triples:
    """Return the part of a graph that consists of the given relations and the nodes that they connect."""
    ends = {node for _, source, target in relations for node in (source, target)}
    return Triples([instance for instance in graph.instances if instance[1] in ends], (), relations)


def _renamed(graph: Triples, prefix: str) -> Iterable[list[Triple]]:
    """Rename nodes as the smatch package requires: to ``a0``, ``a1`` and so on for the prefix ``a``.

    Yields:
        The list of instances, the list of attributes and the list of relations.
    """
    names = {node: f"{prefix}{i}" for i, (_, node, _) in enumerate(graph.instances)}
    yield [(kind, names[node], concept) for kind, node, concept in graph.instances]
    yield [(role, names[node], value) for role, node, value in graph.attributes]
    yield [(role, names[source], names[target]) for role, source, target in graph.relations]


class Score(NamedTuple):
    """Precision, recall and F1, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class MeasureScores:
    """The scores of one measure over all pairs.

    The confidence intervals of F1 are percentile bootstrap intervals over the pairs. Resamples without any
    triples are ignored.

    Attributes:
        pairs: The number of pairs in which at least one graph has a triple that the measure counts.
        micro: The score computed from the summed counts of all pairs.
        macro: The mean of the scores of these pairs.
        micro_interval: Lower and upper bound of the confidence interval of the micro F1.
        macro_interval: Lower and upper bound of the confidence interval of the macro F1.
    """

    pairs: int
    micro: Score
    macro: Score
    micro_interval: tuple[float, float]
    macro_interval: tuple[float, float]


def score(tally: Tally) -> Score:
    """Compute precision, recall and F1 from counts.

    Args:
        tally: The numbers of matched, predicted and gold triples, of one pair or of several pairs.

    Returns:
        The scores. A score whose denominator is 0 is 0.

    Example:
        >>> score(Tally(1, 2, 1))
        Score(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    matched, predicted, gold = tally
    precision = matched / predicted if predicted else 0.0
    recall = matched / gold if gold else 0.0
    return Score(precision, recall, 2 * matched / (predicted + gold) if predicted + gold else 0.0)


def measured(tallies: Sequence[Tally], resamples: int, seed: int) -> MeasureScores:
    """Compute the scores of one measure over many pairs, with bootstrap intervals.

    Args:
        tallies: For each pair, its numbers of matched, predicted and gold triples.
        resamples: Number of bootstrap resamples; 0 computes no intervals.
        seed: Seed for drawing the resamples.

    Returns:
        The scores of the measure. If there are no pairs or no resamples, the intervals are ``(0.0, 0.0)``.
    """
    import numpy as np

    present = [tally for tally in tallies if tally.predicted or tally.gold]
    total = Tally(*map(sum, zip((0, 0, 0), *present, strict=True)))
    columns = zip((0.0, 0.0, 0.0), *map(score, present), strict=True)
    mean = Score(*(sum(column) / max(1, len(present)) for column in columns))
    if not tallies or not resamples:
        return MeasureScores(len(present), score(total), mean, (0.0, 0.0), (0.0, 0.0))
    # Make a table with one row for each pair of graphs, and sum its columns over each resample. Column 0
    # divided by column 2 is the micro F1 (twice the matched triples, divided by the triples of both graphs).
    # Column 1 divided by column 3 is the macro F1 (the F1 of each pair, divided by the number of pairs with
    # triples).
    counts = [(2 * t.matched, score(t).f1, t.predicted + t.gold, t.predicted + t.gold > 0) for t in tallies]
    table = np.array(counts, dtype=float)
    random = np.random.default_rng(seed)
    sums = np.concatenate(
        # Draw the resamples in chunks, so that the memory needed does not grow with the number of resamples.
        [
            resampled_counts(len(tallies), min(_CHUNK, resamples - start), random).astype(float) @ table
            for start in range(0, resamples, _CHUNK)
        ]
    )
    below = sums[:, 2:]
    low, high = percentile_interval(np.divide(sums[:, :2], below, out=below * np.nan, where=below > 0))
    micro, macro = ((float(low[at]), float(high[at])) for at in (0, 1))
    return MeasureScores(len(present), score(total), mean, micro, macro)
