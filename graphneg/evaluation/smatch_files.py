"""Smatch of a file of graphs against a gold file.

In: two PENMAN files, whose graphs are paired by their ids where both have them, else by their order. Out:
scores by measure, and the graphs that can't be read.
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
_CHUNK = 8
_MATCHER = "graphneg.amr.smatch:matcher"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A graph that can't be read: ``place`` is FILE:LINE."""

    place: str
    id: str | None
    reason: str


class FileGraph(NamedTuple):
    """A graph of a file, at FILE:LINE; ``penman``, on one line, or the ``reason`` why it can't be read."""

    place: str
    id: str | None
    penman: str | None
    reason: str = ""

    def unreadable(self, reason: str = "") -> Unreadable:
        """What is told of it."""
        return Unreadable(self.place, self.id, reason or self.reason)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Scores by measure, in the order of ``MEASURES``.

    ``paired_by`` is ``id`` or ``order``. A predicted graph that can't be read counts as one without
    triples; a pair whose gold graph can't be read is left out.
    """

    pairs: int
    paired_by: str
    seed: int
    resamples: int
    measures: Mapping[str, MeasureScores]
    unreadable: Sequence[Unreadable]

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
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
    """The graphs of a PENMAN file, in order, those that can't be read among them.

    Raises `InputError`: the file can't be read, is not UTF-8, or holds no graph.
    """
    graphs: list[FileGraph] = []
    for line, id, block in file_blocks(path):
        try:
            graphs.append(FileGraph(f"{path}:{line}", id, flat_graph(parse_graph(block, first_line=line))))
        except PenmanError as error:
            graphs.append(FileGraph(f"{path}:{error.line}", id, None, str(error)))
    return graphs


def paired(gold: str | Path, predicted: str | Path) -> tuple[list[tuple[FileGraph, FileGraph]], str]:
    """Gold graphs, each with the graph predicted for it, and by what they are paired.

    That is ``id`` where every graph has one of its own and both files have the same, ``order`` where they
    have none in common, and are as many.

    Raises `InputError`: a file can't be read, or the files do not fit each other.
    """
    left, right = read_graphs(gold), read_graphs(predicted)
    left_ids, right_ids = ({graph.id: graph for graph in graphs if graph.id} for graphs in (left, right))
    every = (len(left_ids), len(right_ids)) == (len(left), len(right))
    if every and left_ids.keys() & right_ids.keys():
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

    ``processes`` is the number of worker processes, one a core where not given. The same seed
    gives the same scores and intervals, whatever that number.

    Raises `InputError`: a file can't be read, they do not fit each other, or ``smatch`` is not installed.
    """
    bar = progress or NoProgress()
    graphs, paired_by = paired(gold, predicted)
    unreadable = [graph.unreadable() for pair in graphs for graph in pair if graph.penman is None]
    pairs = [
        GraphPair(i, ours.penman, theirs.penman)
        for i, (theirs, ours) in enumerate(graphs)
        if theirs.penman is not None
    ]
    chunks = (pairs[start : start + _CHUNK] for start in range(0, len(pairs), _CHUNK))
    count = max(1, min(processes or os.cpu_count() or 1, len(pairs) // _CHUNK))
    bar.start("matching", len(pairs), "pairs")
    tallies: list[Mapping[str, Tally]] = []
    with Workers[Sequence[GraphPair], list[Compared]](_MATCHER, (seed,), count) as workers:
        for chunk in workers.map(chunks):
            for compared in chunk:
                for side, reason in compared.unread.items():
                    unreadable.append(graphs[compared.number][side == "predicted"].unreadable(reason))
                if compared.tallies is not None:
                    tallies.append(compared.tallies)
            bar.advance(len(chunk))
    bar.finish()
    measures = {name: measured([pair[name] for pair in tallies], resamples, seed) for name in MEASURES}
    return Evaluation(len(tallies), paired_by, seed, resamples, measures, unreadable)
