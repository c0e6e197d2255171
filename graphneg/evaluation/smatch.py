"""Smatch and its sub-scores: pairs of graphs in, tallies of triples and F1 with intervals out.

Smatch (Cai and Knight 2013, "Smatch: an Evaluation Metric for Semantic Feature Structures") is the package
``smatch``. The sub-scores are those of Damonte, Cohen and Satta (2017, "An Incremental Parser for Abstract
Meaning Representation", section 5), as their ``amr-evaluation`` counts them, with one departure: ``mod``
stays a role of its own where re-entrancies are looked for, because read as the inverse of ``domain`` it
would give every modified noun two parents.

The package keeps what it has matched in module globals, draws at random without a seed, and installs a top-
level module ``amr``. So `matcher` runs in processes of its own (see :mod:`graphneg.workers`), where it
seeds the package for each pair and clears it.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.statistics import interval, resampled_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray


SMATCH, UNLABELLED, NO_SENSES = "Smatch", "unlabelled", "no senses"
CONCEPTS, NAMES, NEGATION = "concepts", "named entities", "negation"
REENTRANCY, SRL = "reentrancy", "SRL"
MEASURES = (SMATCH, UNLABELLED, NO_SENSES, CONCEPTS, NAMES, NEGATION, REENTRANCY, SRL)

Triple = tuple[str, str, str]

_SENSE = re.compile(r"-\d+$")
_MODIFIER = re.compile(r":mod(?![\w-])")
_MODIFIER_KEPT = ":mod-kept"
_TOP = "TOP"


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

    instances: Sequence[Triple]
    attributes: Sequence[Triple]
    relations: Sequence[Triple]

    @property
    def size(self) -> int:
        """How many triples there are."""
        return len(self.instances) + len(self.attributes) + len(self.relations)

    @property
    def concepts(self) -> Mapping[str, str]:
        """The concept of each node."""
        return {node: concept for _, node, concept in self.instances}


NOTHING = Triples((), (), ())
"""What a prediction that is missing has."""


class Compared(NamedTuple):
    """A pair's tally by each measure, none where its gold graph can't be read.

    ``unread`` has the reason, by side (``predicted`` or ``gold``), of a graph that can't be.
    """

    number: int
    tallies: Mapping[str, Tally] | None
    unread: Mapping[str, str]


def matcher(seed: int) -> Callable[[Sequence[GraphPair]], list[Compared]]:
    """A function that compares pairs; the same seed gives the same tallies.

    Raises:
        InputError: the package ``smatch`` is not installed.
    """
    package = _Package(seed)
    return lambda pairs: [package.compared(pair) for pair in pairs]


class _Package:
    """The modules ``smatch`` and ``amr``, made repeatable and silent."""

    def __init__(self, seed: int) -> None:
        try:
            import amr
            import smatch
        except ImportError as error:
            raise InputError(
                f"Smatch is the package smatch, which can't be imported ({error}): "
                "pip install 'graphneg[evaluation]'"
            ) from error
        self._seed = seed
        self._draws = _Draws()
        self._smatch: Any = smatch
        self._amr: Any = amr.AMR
        self._smatch.random = self._draws
        self._log = io.StringIO()
        for module in (amr, smatch):
            vars(module)["ERROR_LOG"] = self._log

    def compared(self, pair: GraphPair) -> Compared:
        """The pair's tallies; a predicted graph that can't be read counts as one without triples."""
        try:
            gold = self._read(pair.gold)
        except ValueError as error:
            return Compared(pair.number, None, {"gold": str(error)})
        if pair.predicted is None:
            return Compared(pair.number, self._tallies(pair, NOTHING, gold), {})
        try:
            predicted = self._read(pair.predicted)
        except ValueError as error:
            return Compared(pair.number, self._tallies(pair, NOTHING, gold), {"predicted": str(error)})
        return Compared(pair.number, self._tallies(pair, predicted, gold), {})

    def _tallies(self, pair: GraphPair, predicted: Triples, gold: Triples) -> dict[str, Tally]:
        with_modifiers = (
            self._read(_keep_modifiers(pair.predicted)) if pair.predicted and predicted.size else NOTHING,
            self._read(_keep_modifiers(pair.gold)),
        )
        compared = {
            SMATCH: (predicted, gold),
            UNLABELLED: (unlabelled(predicted), unlabelled(gold)),
            NO_SENSES: (without_senses(predicted), without_senses(gold)),
            REENTRANCY: (reentrancies(with_modifiers[0]), reentrancies(with_modifiers[1])),
            SRL: (arguments(predicted), arguments(gold)),
        }
        found = {name: self._matched(pair, name, *graphs) for name, graphs in compared.items()}
        for name, labels in ((CONCEPTS, all_concepts), (NAMES, named), (NEGATION, negated)):
            found[name] = _shared(labels(predicted), labels(gold))
        return {name: found[name] for name in MEASURES}

    def _read(self, line: str) -> Triples:
        """Raises ValueError where the package can't make a graph of the line."""
        self._log.seek(0)
        self._log.truncate()
        graph = self._amr.parse_AMR_line(line)
        if graph is None:
            said = self._log.getvalue().splitlines()
            raise ValueError(said[0] if said else "the package smatch makes no graph of it")
        return Triples(*(tuple(map(tuple, triples)) for triples in graph.get_triples()))

    def _matched(self, pair: GraphPair, measure: str, predicted: Triples, gold: Triples) -> Tally:
        if not predicted.size or not gold.size:
            return Tally(0, predicted.size, gold.size)
        self._smatch.match_triple_dict.clear()
        self._draws.seed_with(number(self._seed, str(pair.number), measure))
        _, matched = self._smatch.get_best_match(
            *_renamed(predicted, "a"), *_renamed(gold, "b"), prefix1="a", prefix2="b"
        )
        return Tally(matched, predicted.size, gold.size)


class _Draws:
    """What the package uses of ``random``; it asks to be seeded by the clock, and is not."""

    def __init__(self) -> None:
        self._random = random.Random()

    def seed(self) -> None:
        """The package would seed by the clock: nothing is done."""

    def seed_with(self, seed: int) -> None:
        """Begin the draws of one pair anew."""
        self._random.seed(seed)

    def randint(self, low: int, high: int) -> int:
        """A whole number between the two, ends included."""
        return self._random.randint(low, high)


def unlabelled(graph: Triples) -> Triples:
    """The graph with one role for all; what then stands there twice counts once. The top stays marked."""
    attributes = [(role if role == _TOP else "role", node, value) for role, node, value in graph.attributes]
    relations = [("role", source, target) for _, source, target in graph.relations]
    return Triples(graph.instances, _unique(attributes), _unique(relations))


def without_senses(graph: Triples) -> Triples:
    """The graph with ``like-02`` as ``like``."""
    bare = [(kind, node, _SENSE.sub("", concept)) for kind, node, concept in graph.instances]
    return Triples(bare, graph.attributes, graph.relations)


def reentrancies(graph: Triples) -> Triples:
    """The relations that lead to nodes with more than one, and the nodes at both of their ends."""
    leading: dict[str, int] = {}
    for _, _, target in graph.relations:
        leading[target] = leading.get(target, 0) + 1
    return _part(graph, [one for one in graph.relations if leading[one[2]] > 1])


def arguments(graph: Triples) -> Triples:
    """The relations ``ARG0``, ``ARG1``, ... and the nodes at both of their ends."""
    return _part(graph, [one for one in graph.relations if one[0].startswith("ARG")])


def all_concepts(graph: Triples) -> set[str]:
    """Every concept, once."""
    return set(graph.concepts.values())


def named(graph: Triples) -> set[str]:
    """The concepts that have a name: ``person``, ``city``."""
    return {graph.concepts[source] for role, source, _ in graph.relations if role == "name"}


def negated(graph: Triples) -> set[str]:
    """The concepts that have a polarity, be it ``-`` or that of a question."""
    branches = (*graph.attributes, *graph.relations)
    return {graph.concepts[source] for role, source, _ in branches if role == "polarity"}


def _part(graph: Triples, relations: Sequence[Triple]) -> Triples:
    ends = {node for _, source, target in relations for node in (source, target)}
    return Triples([one for one in graph.instances if one[1] in ends], (), relations)


def _unique(triples: Iterable[Triple]) -> list[Triple]:
    return list(dict.fromkeys(triples))


def _shared(predicted: set[str], gold: set[str]) -> Tally:
    return Tally(len(predicted & gold), len(predicted), len(gold))


def _renamed(graph: Triples, prefix: str) -> Iterable[list[Triple]]:
    """The triples with nodes called ``a0``, ``a1``, ..., which is what the package counts on."""
    names = {node: f"{prefix}{i}" for i, (_, node, _) in enumerate(graph.instances)}
    yield [(kind, names[node], concept) for kind, node, concept in graph.instances]
    yield [(role, names[node], value) for role, node, value in graph.attributes]
    yield [(role, names[source], names[target]) for role, source, target in graph.relations]


def _keep_modifiers(line: str) -> str:
    return _MODIFIER.sub(_MODIFIER_KEPT, line)


_CHUNK = 100


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
    present = [tally for tally in tallies if tally.predicted or tally.gold]
    singles = [score(tally) for tally in present]
    total = Tally(*(sum(column) for column in zip(*present, strict=True))) if present else Tally(0, 0, 0)
    mean = [sum(column) / len(present) for column in zip(*singles, strict=True)] or [0.0, 0.0, 0.0]
    micro, macro = _intervals(tallies, resamples, seed)
    return MeasureScores(len(present), score(total), Score(*mean), micro, macro)


def _intervals(
    tallies: Sequence[Tally], resamples: int, seed: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    import numpy as np

    if not tallies or not resamples:
        return (0.0, 0.0), (0.0, 0.0)
    counts = np.array(tallies, dtype=float)
    found = np.array([tally.predicted + tally.gold > 0 for tally in tallies], dtype=float)
    singles = np.array([score(tally).f1 for tally in tallies])
    random = np.random.default_rng(seed)
    micro: list[Any] = []
    macro: list[Any] = []
    for start in range(0, resamples, _CHUNK):
        drawn = resampled_counts(len(tallies), min(_CHUNK, resamples - start), random).astype(float)
        sums = drawn @ counts
        micro.append(_ratio(2 * sums[:, 0], sums[:, 1] + sums[:, 2]))
        macro.append(_ratio(drawn @ (singles * found), drawn @ found))
    return interval(np.concatenate(micro)), interval(np.concatenate(macro))


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
