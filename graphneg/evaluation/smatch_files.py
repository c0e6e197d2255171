"""Compare a file of predicted AMR graphs with a gold file by Smatch.

Graphs are paired by their ids if both files have the same ids, otherwise by their order. The result contains
Smatch and its sub-scores with bootstrap confidence intervals, and a list of the graphs that cannot be parsed.

Example:
    gold.txt:      ``# ::id 1`` and ``(w / want-01 :ARG0 (b / boy))``
    predicted.txt: ``# ::id 1`` and ``(w / want-01 :ARG1 (b / boy))``

    Each graph has four triples: one for its top, two for its concepts and one for its role. Only the triples
    of the role differ, so Smatch is 0.75.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from graphneg.amr.penman import flat_graph, parse_graph
from graphneg.amr.smatch import MEASURES, Compared, GraphPair, MeasureScores, Tally, measured
from graphneg.amr.wellformed import file_blocks
from graphneg.errors import InputError, PenmanError
from graphneg.progress import NoProgress, Progress
from graphneg.workers import Workers

RESAMPLES = 1000
"""Default number of bootstrap samples for the confidence intervals."""
# Number of graph pairs that a worker process matches in one task.
_CHUNK = 8
_MATCHER = "graphneg.amr.smatch:matcher"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The error report for a graph that cannot be parsed.

    Attributes:
        place: The location of the error, as ``FILE:LINE``.
        id: The id of the graph, or None if the graph has no id.
        reason: Why the graph cannot be parsed.
    """

    place: str
    id: str | None
    reason: str


class GraphRecord(NamedTuple):
    """A graph in a PENMAN file.

    Attributes:
        place: The location of the graph, as ``FILE:LINE``. If the graph cannot be parsed, the location of the
            error.
        id: The id of the graph, or None if the graph has no id.
        penman: The graph in PENMAN notation on one line, or None if the graph cannot be parsed.
        reason: Why the graph cannot be parsed; empty if it can be parsed.
    """

    place: str
    id: str | None
    penman: str | None
    reason: str = ""

    def unreadable(self, reason: str = "") -> Unreadable:
        """Return an error report for this graph.

        Args:
            reason: Why the graph cannot be parsed. Defaults to the attribute ``reason``.

        Returns:
            The report with the location of the error, the id of the graph and the reason.
        """
        return Unreadable(self.place, self.id, reason or self.reason)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of comparing a file of predicted graphs with a file of gold graphs.

    A predicted graph that cannot be parsed counts as a graph without triples. If a gold graph cannot be
    parsed, the pair of this graph is left out.

    Attributes:
        pairs: Number of pairs that were compared.
        paired_by: How graphs were paired: by their ids (``id``) or by their order (``order``).
        seed: Seed for the random restarts of the matcher and for drawing bootstrap samples.
        resamples: Number of bootstrap samples.
        measures: The scores, keyed by the name of the measure, in the order of
            `graphneg.amr.smatch.MEASURES`.
        unreadable: An error report for each graph that cannot be parsed.
    """

    pairs: int
    paired_by: str
    seed: int
    resamples: int
    measures: Mapping[str, MeasureScores]
    unreadable: Sequence[Unreadable]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dict that can be written as JSON."""
        measures = {
            name: {
                "pairs": scores.pairs,
                "micro": {**scores.micro._asdict(), "interval": list(scores.micro_interval)},
                "macro": {**scores.macro._asdict(), "interval": list(scores.macro_interval)},
            }
            for name, scores in self.measures.items()
        }
        return {**asdict(self), "measures": measures}


def read_graphs(path: str | Path) -> list[GraphRecord]:
    """Read the graphs of a PENMAN file, including malformed graphs.

    Raises `InputError` if the file cannot be read, is not UTF-8 or contains no graph.

    Args:
        path: The PENMAN file.

    Returns:
        The graphs in the order of the file. A malformed graph has a ``reason``, and its ``penman`` is None.
    """
    graphs: list[GraphRecord] = []
    for line, id, block in file_blocks(path):
        try:
            graphs.append(GraphRecord(f"{path}:{line}", id, flat_graph(parse_graph(block, first_line=line))))
        except PenmanError as error:
            graphs.append(GraphRecord(f"{path}:{error.line}", id, None, str(error)))
    return graphs


def pair_graphs(gold: str | Path, predicted: str | Path) -> tuple[list[tuple[GraphRecord, GraphRecord]], str]:
    """Pair the graphs of two files.

    Args:
        gold: The file of gold graphs.
        predicted: The file of predicted graphs.

    Returns:
        Pairs of a gold and a predicted graph, and how they were paired: ``id`` if all graphs have unique ids
        and both files have the same ids; ``order`` if ids are missing or repeated, or no id is in both files.

    Raises:
        InputError: All graphs have unique ids, but only some of the ids are in both files. Or graphs have to
            be paired by order, but the files have different numbers of graphs.
    """
    left, right = read_graphs(gold), read_graphs(predicted)
    left_ids, right_ids = ({graph.id: graph for graph in graphs if graph.id} for graphs in (left, right))
    # Ids can pair the graphs only if all graphs in both files have ids and no id is repeated within a file.
    every = (len(left_ids), len(right_ids)) == (len(left), len(right))
    if every and left_ids.keys() & right_ids.keys():
        # The files have ids in common, so they probably describe the same sentences. If an id is missing in
        # one file, raise an error instead of pairing the graphs by their order.
        for ids, others, has, lacks in (
            (left_ids, right_ids, gold, predicted),
            (right_ids, left_ids, predicted, gold),
        ):
            if missing := [id for id in ids if id not in others]:
                raise InputError(
                    f"{lacks}: {len(missing):,} of {len(ids):,} ids of {has} are missing, such "
                    f"as {missing[0]!r}: both files must contain graphs of the same sentences"
                )
        return [(graph, right_ids[id]) for id, graph in left_ids.items()], "id"
    if len(left) != len(right):
        raise InputError(
            f"{gold} has {len(left):,} graphs and {predicted} {len(right):,}: without common ids, graphs are "
            "paired in order, so both files must have the same number of graphs"
        )
    return list(zip(left, right, strict=True)), "order"


def evaluate_smatch(
    gold: str | Path,
    predicted: str | Path,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    processes: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Compare two PENMAN files by Smatch and its sub-scores.

    The same seed gives the same scores and intervals for any number of processes. Raises `InputError` if a
    file cannot be read, the graphs cannot be paired, or the package ``smatch`` is not installed.

    Args:
        gold: The file of gold graphs.
        predicted: The file of predicted graphs.
        seed: Seed for the random restarts of the matcher and for drawing bootstrap samples.
        resamples: Number of bootstrap samples for the confidence intervals.
        processes: Maximum number of worker processes, or None for the number of CPU cores.
        progress: Progress display, which is advanced by the number of matched pairs.

    Returns:
        The scores of each measure, and error reports for the graphs that cannot be parsed.
    """
    bar = progress or NoProgress()
    graphs, paired_by = pair_graphs(gold, predicted)
    unreadable = [graph.unreadable() for pair in graphs for graph in pair if graph.penman is None]
    pairs = [
        # If a predicted graph could not be parsed, its PENMAN text is None. The matcher then compares the
        # gold graph with a graph without triples.
        GraphPair(i, ours.penman, theirs.penman)
        for i, (theirs, ours) in enumerate(graphs)
        if theirs.penman is not None
    ]
    chunks = (pairs[start : start + _CHUNK] for start in range(0, len(pairs), _CHUNK))
    # Start at most one process per task, because more processes would have nothing to do.
    count = max(1, min(processes or os.cpu_count() or 1, len(pairs) // _CHUNK))
    bar.start("matching", len(pairs), "pairs")
    tallies: list[Mapping[str, Tally]] = []
    with Workers[Sequence[GraphPair], list[Compared]](_MATCHER, (seed,), count) as workers:
        for chunk in workers.map(chunks):
            for compared in chunk:
                # The smatch package parses the graphs with its own parser. Report the graphs that it refuses,
                # although graphneg could read them.
                for side, reason in compared.unread.items():
                    unreadable.append(graphs[compared.number][side == "predicted"].unreadable(reason))
                if compared.tallies is not None:
                    tallies.append(compared.tallies)
            bar.advance(len(chunk))
    bar.finish()
    measures = {name: measured([pair[name] for pair in tallies], resamples, seed) for name in MEASURES}
    return Evaluation(len(tallies), paired_by, seed, resamples, measures, unreadable)
