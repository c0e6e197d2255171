"""Smatch of a file of graphs against a gold file: what ``graphneg evaluate smatch`` prints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphneg.evaluation.matching import MEASURES, Compared, Pair, Tally
from graphneg.evaluation.pairs import FileGraph, paired
from graphneg.evaluation.scores import Measured, measured
from graphneg.progress import NoProgress, Progress
from graphneg.workers import Workers

RESAMPLES = 1000
_CHUNK = 8
_MATCHER = "graphneg.evaluation.matching:matcher"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A graph that can't be read: ``place`` is FILE:LINE."""

    place: str
    id: str | None
    reason: str


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
    measures: Mapping[str, Measured]
    unreadable: Sequence[Unreadable]

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        plain = asdict(self)
        plain["measures"] = {name: _plain(one) for name, one in self.measures.items()}
        return plain


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

    Raises:
        InputError: a file can't be read, they do not fit each other, or ``smatch`` is not installed.
    """
    bar = progress or NoProgress()
    pairing = paired(gold, predicted)
    unreadable = [
        Unreadable(graph.place, graph.id, graph.reason)
        for pair in pairing.pairs
        for graph in pair
        if graph.penman is None
    ]
    pairs = [
        Pair(i, ours.penman, theirs.penman)
        for i, (theirs, ours) in enumerate(pairing.pairs)
        if theirs.penman is not None
    ]
    bar.start("matching", len(pairs), "pairs")
    tallies: list[Mapping[str, Tally]] = []
    with Workers[Sequence[Pair], list[Compared]](
        _MATCHER, (seed,), _processes(processes, len(pairs))
    ) as workers:
        for chunk in workers.map(_chunks(pairs)):
            for compared in chunk:
                unreadable.extend(_unreadable(pairing.pairs[compared.number], compared))
                if compared.tallies is not None:
                    tallies.append(compared.tallies)
            bar.advance(len(chunk))
    bar.finish()
    measures = {name: measured([one[name] for one in tallies], resamples, seed) for name in MEASURES}
    return Evaluation(len(tallies), pairing.by, seed, resamples, measures, unreadable)


def _processes(asked: int | None, pairs: int) -> int:
    return max(1, min(asked or os.cpu_count() or 1, pairs // _CHUNK))


def _chunks(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    return (pairs[start : start + _CHUNK] for start in range(0, len(pairs), _CHUNK))


def _unreadable(pair: tuple[FileGraph, FileGraph], compared: Compared) -> Iterator[Unreadable]:
    graphs: dict[str, FileGraph] = dict(zip(("gold", "predicted"), pair, strict=True))
    return (
        Unreadable(graphs[side].place, graphs[side].id, reason) for side, reason in compared.unread.items()
    )


def _plain(one: Measured) -> dict[str, Any]:
    return {
        "pairs": one.pairs,
        "micro": {**one.micro._asdict(), "interval": list(one.micro_interval)},
        "macro": {**one.macro._asdict(), "interval": list(one.macro_interval)},
    }
