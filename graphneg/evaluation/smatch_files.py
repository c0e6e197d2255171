"""Compare a file of predicted AMR graphs with a gold file by Smatch.

Graphs are paired by their ids if both files have the same ids, otherwise by their order. The result has
Smatch and its sub-scores with bootstrap intervals, and a list of the graphs that cannot be read.

Example:
    gold.txt:      ``# ::id 1`` and ``(w / want-01 :ARG0 (b / boy))``
    predicted.txt: ``# ::id 1`` and ``(w / want-01 :ARG1 (b / boy))``

    Each graph has four triples: its top, two concepts and a role. They share all but the role, so Smatch is
    0.75.
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
"""Default number of bootstrap samples for the intervals."""
# Graph pairs per task of a worker process.
_CHUNK = 8
_MATCHER = "graphneg.amr.smatch:matcher"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A graph that cannot be read.

    Attributes:
        place: The place of the error, as ``FILE:LINE``.
        id: The id of the graph, if it has one.
        reason: Why the graph cannot be read.
    """

    place: str
    id: str | None
    reason: str


class FileGraph(NamedTuple):
    """A graph of a file.

    Attributes:
        place: The place of the graph, as ``FILE:LINE``.
        id: The id of the graph, if it has one.
        penman: The graph on one line, or None if it cannot be read.
        reason: Why the graph cannot be read, if it cannot.
    """

    place: str
    id: str | None
    penman: str | None
    reason: str = ""

    def unreadable(self, reason: str = "") -> Unreadable:
        """Return the report on a graph that cannot be read.

        Args:
            reason: Why it cannot be read. Defaults to the reason found when the file was read.

        Returns:
            The place, the id and the reason.
        """
        return Unreadable(self.place, self.id, reason or self.reason)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of comparing two files.

    A predicted graph that cannot be read counts as a graph without triples. A pair whose gold graph cannot be
    read is left out.

    Attributes:
        pairs: Number of pairs that were compared.
        paired_by: How graphs were paired: ``id`` or ``order``.
        seed: Seed of the matcher's restarts and of the bootstrap.
        resamples: Number of bootstrap samples.
        measures: Scores by measure, in the order of ``MEASURES``.
        unreadable: The graphs that cannot be read.
    """

    pairs: int
    paired_by: str
    seed: int
    resamples: int
    measures: Mapping[str, MeasureScores]
    unreadable: Sequence[Unreadable]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        measures = {
            name: {
                "pairs": scores.pairs,
                "micro": {**scores.micro._asdict(), "interval": list(scores.micro_interval)},
                "macro": {**scores.macro._asdict(), "interval": list(scores.macro_interval)},
            }
            for name, scores in self.measures.items()
        }
        return {**asdict(self), "measures": measures}


def read_graphs(path: str | Path) -> list[FileGraph]:
    """Read the graphs of a PENMAN file, including those that are malformed.

    A file that cannot be read, is not UTF-8 or contains no graph raises `InputError`.

    Args:
        path: The PENMAN file.

    Returns:
        The graphs in the order of the file. A malformed graph has a reason instead of a text.
    """
    graphs: list[FileGraph] = []
    for line, id, block in file_blocks(path):
        try:
            graphs.append(FileGraph(f"{path}:{line}", id, flat_graph(parse_graph(block, first_line=line))))
        except PenmanError as error:
            graphs.append(FileGraph(f"{path}:{error.line}", id, None, str(error)))
    return graphs


def paired(gold: str | Path, predicted: str | Path) -> tuple[list[tuple[FileGraph, FileGraph]], str]:
    """Pair the graphs of two files.

    Args:
        gold: The file of gold graphs.
        predicted: The file of predicted graphs.

    Returns:
        Pairs of a gold and a predicted graph, and how they were paired. ``id``: all graphs have unique ids,
        and both files have the same ids. ``order``: ids are missing or have nothing in common, and the files
        have the same number of graphs.

    Raises:
        InputError: The files have some ids in common but not all, or graphs must be paired by order and the
            files have different numbers of graphs.
    """
    left, right = read_graphs(gold), read_graphs(predicted)
    left_ids, right_ids = ({graph.id: graph for graph in graphs if graph.id} for graphs in (left, right))
    # True if each graph has an id of its own.
    every = (len(left_ids), len(right_ids)) == (len(left), len(right))
    if every and left_ids.keys() & right_ids.keys():
        # Files that share some ids belong together, so a missing id is an error and no reason to pair by
        # order.
        for ids, others, has, lacks in (
            (left_ids, right_ids, gold, predicted),
            (right_ids, left_ids, predicted, gold),
        ):
            if missing := [id for id in ids if id not in others]:
                raise InputError(
                    f"{lacks}: {len(missing):,} of {len(ids):,} ids of {has} are not in it, "
                    f"{missing[0]!r} first: both files must hold graphs of the same sentences"
                )
        return [(graph, right_ids[id]) for id, graph in left_ids.items()], "id"
    if len(left) != len(right):
        raise InputError(
            f"{gold} has {len(left):,} graphs and {predicted} {len(right):,}: without ids in common "
            "graphs are paired by their order, and there must be as many"
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

    The same seed gives the same scores and intervals for any number of processes. Files that cannot be read
    or do not fit each other, and a missing package ``smatch``, raise `InputError`.

    Args:
        gold: The file of gold graphs.
        predicted: The file of predicted graphs.
        seed: Seed of the matcher's restarts and of the bootstrap.
        resamples: Number of bootstrap samples for the intervals.
        processes: Number of worker processes. Defaults to one per core.
        progress: Receives progress updates.

    Returns:
        The scores by measure, and the graphs that cannot be read.
    """
    bar = progress or NoProgress()
    graphs, paired_by = paired(gold, predicted)
    unreadable = [graph.unreadable() for pair in graphs for graph in pair if graph.penman is None]
    pairs = [
        # A predicted graph that cannot be read is None, and is compared as a graph without triples.
        GraphPair(i, ours.penman, theirs.penman)
        for i, (theirs, ours) in enumerate(graphs)
        if theirs.penman is not None
    ]
    chunks = (pairs[start : start + _CHUNK] for start in range(0, len(pairs), _CHUNK))
    # There is no use for more processes than chunks.
    count = max(1, min(processes or os.cpu_count() or 1, len(pairs) // _CHUNK))
    bar.start("matching", len(pairs), "pairs")
    tallies: list[Mapping[str, Tally]] = []
    with Workers[Sequence[GraphPair], list[Compared]](_MATCHER, (seed,), count) as workers:
        for chunk in workers.map(chunks):
            for compared in chunk:
                # The matcher parses the graphs again, and may fail where the first parse did not.
                for side, reason in compared.unread.items():
                    unreadable.append(graphs[compared.number][side == "predicted"].unreadable(reason))
                if compared.tallies is not None:
                    tallies.append(compared.tallies)
            bar.advance(len(chunk))
    bar.finish()
    measures = {name: measured([pair[name] for pair in tallies], resamples, seed) for name in MEASURES}
    return Evaluation(len(tallies), paired_by, seed, resamples, measures, unreadable)
