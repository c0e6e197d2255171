"""Several sources of wrong responses compared: the same ranker trained on each, with several seeds.

In: contexts to learn from and to be tested on, and a plan. Out: a row of figures for each source, with
intervals of a bootstrap over contexts and seeds: each draw takes as many contexts as there are, the same ones
for all runs, and as many seeds of each source as it has.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.datasets.groups import Choices
from graphneg.datasets.pair_sampler import RANDOM
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import ADVERSARIAL, Data
from graphneg.evaluation.comparison.runs import ComparisonPlan, RankerRun, Runs
from graphneg.evaluation.comparison.sources import (
    HUMAN,
    NegativeCache,
    OpenGraph,
    groups_at_hand,
    groups_of_file,
)
from graphneg.evaluation.ranking import kinds_of, scores_of_kind
from graphneg.hashing import fingerprint, number
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import RunNote
from graphneg.statistics import THRESHOLD, Estimate, interval, resampled_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray


RECALL, BALANCED, AUC = "recall_at_1", "balanced_accuracy", "auc"
MEASURES = (RECALL, BALANCED, AUC)
GAPS = (RECALL, BALANCED)
"""Measures of which the share of the gap is told."""
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Tallies:
    """What one ranker got right, by context: arrays of shape (contexts,), ``wins`` of (contexts, contexts).

    ``firsts`` counts right responses that score higher than each wrong one of their context, ``held``
    those over the threshold, ``refused`` wrong ones under it; ``wins`` twice the pairs of a right response of
    one context and a wrong one of another in which the right one scores higher, a tie as one.
    """

    right: NDArray[Any]
    wrong: NDArray[Any]
    firsts: NDArray[Any]
    held: NDArray[Any]
    refused: NDArray[Any]
    wins: NDArray[Any]


class Draws(NamedTuple):
    """A figure over the draws (shape (draws,)), and as it is over all contexts."""

    whole: float
    drawn: NDArray[Any]

    def figure(self) -> Estimate:
        """The figure with its interval."""
        return Estimate(self.whole, *interval(self.drawn))


def tallies(
    contexts: Sequence[Choices], scores: Sequence[Sequence[float]], kind: str, threshold: float = THRESHOLD
) -> Tallies:
    """What scores come to for one kind of wrong responses; contexts without any of it do not count."""
    import numpy as np

    pairs = [scores_of_kind(context, own, kind) for context, own in zip(contexts, scores, strict=True)]
    flat = np.concatenate([wrong for _, wrong in pairs])
    ends = np.cumsum([0, *(len(wrong) for _, wrong in pairs)])
    wins = np.zeros((len(pairs), len(pairs)), dtype=np.int32)
    for at, (right, _) in enumerate(pairs):
        won = (2 * (right[:, None] > flat) + (right[:, None] == flat)).sum(axis=0)
        wins[at] = np.diff(np.concatenate([[0], np.cumsum(won)])[ends])
    return Tallies(
        right=np.array([len(right) for right, _ in pairs]),
        wrong=np.diff(ends),
        firsts=np.array([(right[:, None] > wrong).all(axis=1).sum() for right, wrong in pairs], dtype=float),
        held=np.array([(right > threshold).sum() for right, _ in pairs]),
        refused=np.array([(wrong < threshold).sum() for _, wrong in pairs]),
        wins=wins,
    )


class Bootstrap:
    """Draws of contexts, the same for all that is measured with it."""

    def __init__(self, contexts: int, seed: int = 0, resamples: int = RESAMPLES) -> None:
        import numpy as np

        self._seed = seed
        self._resamples = resamples
        drawn = resampled_counts(contexts, resamples, number(seed, "contexts"))
        self._weights = np.concatenate([np.ones((1, contexts)), drawn])

    def measured(self, measure: str, runs: Mapping[int, Tallies]) -> Draws:
        """The mean over seeds of a measure; ``runs`` has the tallies of one source by seed."""
        import numpy as np

        weights = self._weights

        def values(of: Tallies) -> NDArray[Any]:
            """A measure over all contexts, then for each draw; NaN where a draw has none."""
            right, wrong = weights @ of.right, weights @ of.wrong
            with np.errstate(invalid="ignore"):
                if measure == RECALL:
                    return (weights @ of.firsts) / right
                if measure == BALANCED:
                    return ((weights @ of.held) / right + (weights @ of.refused) / wrong) / 2
                return ((weights @ of.wins) * weights).sum(axis=1) / 2 / (right * wrong)

        each = np.stack(list(map(values, runs.values())))
        seeds = resampled_counts(len(runs), self._resamples, number(self._seed, "seeds"))
        drawn = (each[:, 1:] * seeds.T).sum(axis=0) / len(runs)
        return Draws(float(each[:, 0].mean()), drawn)


def closed(draws: Draws, nothing: Draws, everything: Draws) -> Estimate | None:
    """The share of the gap between two sources that a third closes; none where there is no gap."""
    if everything.whole <= nothing.whole:
        return None
    gap = everything.drawn - nothing.drawn
    there = gap > 0
    shares = (draws.drawn - nothing.drawn)[there] / gap[there]
    whole = (draws.whole - nothing.whole) / (everything.whole - nothing.whole)
    return Draws(whole, shares).figure()


@dataclass(frozen=True, slots=True)
class SourceResult:
    """One source: figures by kind of wrong response and measure, and the shares of the gap by measure.

    ``closed`` lacks what has no gap: without the sources random and human, say. ``shortfall`` counts
    the wrong responses that an epoch had too few.
    """

    source: str
    seeds: tuple[int, ...]
    figures: Mapping[str, Mapping[str, Estimate]]
    closed: Mapping[str, Estimate]
    shortfall: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows in the order of the sources, over so many contexts each; ``runs`` by source and seed."""

    train: int
    test: int
    rows: Sequence[SourceResult]
    runs: Mapping[str, Mapping[int, RankerRun]] = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The rows as plain values, for JSON."""
        rows = [
            {
                "source": row.source,
                "seeds": list(row.seeds),
                "figures": {kind: _plain(figures) for kind, figures in row.figures.items()},
                "closed": _plain(row.closed),
                "lacking": row.shortfall,
            }
            for row in self.rows
        ]
        return {"train": self.train, "test": self.test, "rows": rows}


def _plain(figures: Mapping[str, Estimate]) -> dict[str, Any]:
    return {measure: figure._asdict() for measure, figure in figures.items()}


def compare(
    data: Data,
    plan: ComparisonPlan,
    out: str | Path,
    *,
    open_graph: OpenGraph | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    on_run: Callable[[RankerRun], None] | None = None,
) -> Comparison:
    """Train the plan's ranker on each source with each seed, test it, and compare.

    ``out`` keeps each result: stopped at any moment, the same call goes on, and one with more sources or
    seeds adds them. Sources whose negatives are made need ``open_graph``, which is ``graphneg.open``: their
    stores lie in ``out``. ``overwrite`` begins anew. ``on_run`` is told each run that was trained. On a CPU
    the same plan gives the same figures.

    Raises:
        InputError: the data have no such responses, ``out`` holds another comparison or other files, or
            negatives can't be made.
        ModelError: there is no such encoder.
    """
    folder, bar = Path(out), progress or NoProgress()
    _open(RunNote(folder / "comparison.json", fingerprint([data.fingerprint, plan.facts()])), overwrite)
    runs = Runs(folder, data, plan)
    done: dict[str, dict[int, RankerRun]] = {}
    with ExitStack() as stores:
        cache = NegativeCache(
            folder / "negatives",
            data,
            plan.budget.of_each_context,
            stores,
            banks=plan.banks,
            options=plan.options,
            open_graph=open_graph,
            progress=bar,
        )
        # Files are read first, so that a wrong one is told at once.
        at_hand = {source.name: groups_at_hand(data.train, source) for source in plan.sources}
        for source in plan.sources:
            groups = at_hand.pop(source.name)
            groups = groups or groups_of_file(data.train, source, cache.made(source))
            for seed in plan.seeds:
                run, new = runs.of(source, groups, seed, bar)
                done.setdefault(source.name, {})[seed] = run
                if new and on_run is not None:
                    on_run(run)
    return compared(data, done)


def compared(data: Data, runs: Mapping[str, Mapping[int, RankerRun]]) -> Comparison:
    """The table of runs, by source and seed."""
    kinds = kinds_of(data.test)
    bootstrap = Bootstrap(len(data.test))
    draws: dict[str, dict[str, dict[str, Draws]]] = {}
    for name, seeds in runs.items():
        draws[name] = {}
        for kind in kinds:
            of = {seed: tallies(data.test, run.scores, kind) for seed, run in seeds.items()}
            draws[name][kind] = {measure: bootstrap.measured(measure, of) for measure in MEASURES}
    rows = [
        SourceResult(
            name,
            tuple(seeds),
            {kind: {measure: one.figure() for measure, one in draws[name][kind].items()} for kind in kinds},
            dict(_closed(name, {source: by_kind.get(ADVERSARIAL) for source, by_kind in draws.items()})),
            max(sum(run.shortfall.values()) for run in seeds.values()),
        )
        for name, seeds in runs.items()
    ]
    return Comparison(len(data.train), len(data.test), rows, runs)


def _closed(
    name: str, adversarial: Mapping[str, Mapping[str, Draws] | None]
) -> Iterator[tuple[str, Estimate]]:
    """Shares of the gap that a source closes, by measure; ``adversarial`` has draws by source and measure."""
    own, nothing, everything = (adversarial.get(source) for source in (name, RANDOM, HUMAN))
    if name in (RANDOM, HUMAN) or own is None or nothing is None or everything is None:
        return
    for measure in GAPS:
        if (share := closed(own[measure], nothing[measure], everything[measure])) is not None:
            yield measure, share


def _open(note: RunNote, overwrite: bool) -> None:
    """Make the folder a comparison's, or find that it is this one's; refused where it is neither."""
    folder, state = note.path.parent, note.state
    try:
        if state == "none" and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: there is something else in it; choose another folder")
        if state == "other" and not overwrite:
            raise InputError(
                f"{folder}: another comparison is in it, of other contexts, ranker or budget; "
                "choose another folder, or begin anew with --overwrite"
            )
        if overwrite:
            note.remove()
        for part in ("results", "models", "negatives"):
            if overwrite:
                shutil.rmtree(folder / part, ignore_errors=True)
            (folder / part).mkdir(parents=True, exist_ok=True)
        note.write()
    except OSError as error:
        raise InputError(f"{folder}: can't be used as a folder for results ({error})") from error
