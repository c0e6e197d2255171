"""Compare sources of negatives: train the same ranker on each, with several seeds, and test it.

The result has one row of measures per source. Intervals come from a bootstrap over contexts and seeds. Each
bootstrap sample draws as many contexts as there are, the same ones for all runs, and as many seeds of each
source as it has.

The gap between training on random and on human-written adversarial responses serves as a scale: a row states
the share of this gap that a source closes.

Example:
    Recall at 1 on adversarial responses is 0.60 after training on ``random``, 0.80 on ``human`` and 0.75 on
    ``contradiction``. The source ``contradiction`` closes 75% of the gap.
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
"""The measures for which the closed share of the gap is reported."""
RESAMPLES = 1000
"""Number of bootstrap samples."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """Counts of correct decisions of one ranker, by context.

    All arrays have the shape (contexts,), except ``wins``.

    Attributes:
        right: Number of right responses.
        wrong: Number of wrong responses.
        firsts: Number of right responses that score higher than every wrong response of their context.
        held: Number of right responses above the threshold.
        refused: Number of wrong responses below the threshold.
        wins: Shape (contexts, contexts). Twice the number of pairs of a right response of the row's context
            and a wrong response of the column's context in which the right response scores higher. A tie
            counts as one, so all values are integers.
    """

    right: NDArray[Any]
    wrong: NDArray[Any]
    firsts: NDArray[Any]
    held: NDArray[Any]
    refused: NDArray[Any]
    wins: NDArray[Any]


class Draws(NamedTuple):
    """A measure and its bootstrap distribution.

    Attributes:
        whole: The measure over all contexts.
        drawn: The measure in each bootstrap sample, of shape (resamples,).
    """

    whole: float
    drawn: NDArray[Any]

    def figure(self) -> Estimate:
        """Return the measure with its 95% interval."""
        return Estimate(self.whole, *interval(self.drawn))


def tallies(
    contexts: Sequence[Choices], scores: Sequence[Sequence[float]], kind: str, threshold: float = THRESHOLD
) -> Tallies:
    """Count the correct decisions of a ranker for one kind of wrong response.

    Args:
        contexts: The test contexts.
        scores: For each context, one score per response.
        kind: The kind of wrong response. Contexts without any of it count as empty.
        threshold: Scores above it count as right, scores below it as wrong.

    Returns:
        The counts by context.
    """
    import numpy as np

    pairs = [scores_of_kind(context, own, kind) for context, own in zip(contexts, scores, strict=True)]
    flat = np.concatenate([wrong for _, wrong in pairs])
    ends = np.cumsum([0, *(len(wrong) for _, wrong in pairs)])
    wins = np.zeros((len(pairs), len(pairs)), dtype=np.int32)
    for at, (right, _) in enumerate(pairs):
        # Count the wins of this context's right responses over every wrong response of the data, then sum
        # them up for each context with differences of the cumulative sums.
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
    """Bootstrap samples of contexts, shared by all measures and runs.

    Sharing the samples makes comparisons between sources paired.
    """

    def __init__(self, contexts: int, seed: int = 0, resamples: int = RESAMPLES) -> None:
        """Draw the samples.

        Args:
            contexts: Number of test contexts.
            seed: Seed of the bootstrap.
            resamples: Number of bootstrap samples.
        """
        import numpy as np

        self._seed = seed
        self._resamples = resamples
        drawn = resampled_counts(contexts, resamples, number(seed, "contexts"))
        # Row 0 counts every context once; each later row has the counts of one bootstrap sample.
        self._weights = np.concatenate([np.ones((1, contexts)), drawn])

    def measured(self, measure: str, runs: Mapping[int, Tallies]) -> Draws:
        """Compute a measure of one source, as the mean over its seeds.

        Args:
            measure: One of `MEASURES`.
            runs: The counts of the source's runs, by seed.

        Returns:
            The measure and its bootstrap distribution.
        """
        import numpy as np

        weights = self._weights

        def values(of: Tallies) -> NDArray[Any]:
            """Return the measure over all contexts, then for each sample (NaN without responses)."""
            # Multiplying the counts by the weights resamples contexts without copying any data.
            right, wrong = weights @ of.right, weights @ of.wrong
            # A sample without responses gives 0 / 0.
            with np.errstate(invalid="ignore"):
                if measure == RECALL:
                    return (weights @ of.firsts) / right
                if measure == BALANCED:
                    return ((weights @ of.held) / right + (weights @ of.refused) / wrong) / 2
                # Both contexts of a pair are weighted. Wins are counted twice, so divide by 2.
                return ((weights @ of.wins) * weights).sum(axis=1) / 2 / (right * wrong)

        each = np.stack(list(map(values, runs.values())))
        # Resample the seeds, too: a source with few seeds gets wider intervals.
        seeds = resampled_counts(len(runs), self._resamples, number(self._seed, "seeds"))
        drawn = (each[:, 1:] * seeds.T).sum(axis=0) / len(runs)
        return Draws(float(each[:, 0].mean()), drawn)


def closed(draws: Draws, nothing: Draws, everything: Draws) -> Estimate | None:
    """Return the share of the gap between two sources that a third one closes.

    Args:
        draws: The measure of the third source.
        nothing: The measure of the source that counts as 0, such as ``random``.
        everything: The measure of the source that counts as 1, such as ``human``.

    Returns:
        The share with its interval, or None if there is no gap. It can be negative or above 1.
    """
    if everything.whole <= nothing.whole:
        return None
    gap = everything.drawn - nothing.drawn
    # In samples without a gap the share is not defined.
    there = gap > 0
    shares = (draws.drawn - nothing.drawn)[there] / gap[there]
    whole = (draws.whole - nothing.whole) / (everything.whole - nothing.whole)
    return Draws(whole, shares).figure()


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The results of one source.

    Attributes:
        source: The name of the source.
        seeds: The seeds of its runs.
        figures: The measures, by kind of wrong response and measure.
        closed: The closed share of the gap between ``random`` and ``human``, by measure. Empty for these two
            sources, if one of them was not compared, or if there is no gap.
        shortfall: Number of wrong responses that an epoch lacked, at most over the runs.
    """

    source: str
    seeds: tuple[int, ...]
    figures: Mapping[str, Mapping[str, Estimate]]
    closed: Mapping[str, Estimate]
    shortfall: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of a comparison.

    Attributes:
        train: Number of training contexts.
        test: Number of test contexts.
        rows: The results by source, in the order of the sources.
        runs: The runs, by source and seed.
    """

    train: int
    test: int
    rows: Sequence[SourceResult]
    runs: Mapping[str, Mapping[int, RankerRun]] = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the rows as plain values for JSON."""
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
    """Train the plan's ranker on each source with each seed, test it, and compare the sources.

    Results are kept in ``out``. An interrupted call continues when it is repeated. A later call with more
    sources or seeds adds them. On a CPU, the same plan gives the same results. Data without the needed
    responses, a folder with another comparison, and negatives that cannot be made raise `InputError`; a
    missing encoder raises `ModelError`.

    Args:
        data: The training and test contexts.
        plan: The sources, seeds and settings.
        out: The folder for results, models and negatives.
        open_graph: Opens a dialogue graph in a folder, such as ``graphneg.open``. Needed for generators and
            recipes; their stores are in ``out``.
        overwrite: Delete the results in ``out`` and start again.
        progress: Receives progress updates.
        on_run: Called after each training run.

    Returns:
        One row per source.
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
        # Read all files before training, so that an unusable file is reported at once.
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
    """Compute the table of a comparison from its runs.

    Args:
        data: The training and test contexts.
        runs: The runs, by source and seed.

    Returns:
        One row per source.
    """
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
    """Yield the closed shares of the gap by measure; ``adversarial`` has draws by source and measure."""
    own, nothing, everything = (adversarial.get(source) for source in (name, RANDOM, HUMAN))
    # The two ends of the gap close nothing, and without either end there is no gap.
    if name in (RANDOM, HUMAN) or own is None or nothing is None or everything is None:
        return
    for measure in GAPS:
        if (share := closed(own[measure], nothing[measure], everything[measure])) is not None:
            yield measure, share


def _open(note: RunNote, overwrite: bool) -> None:
    """Prepare the folder of a comparison, or check that it belongs to this comparison."""
    folder, state = note.path.parent, note.state
    try:
        # Never write into a folder with files of something else.
        if state == "none" and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: the folder has other files; choose another folder")
        if state == "other" and not overwrite:
            raise InputError(
                f"{folder}: the folder has a comparison of other contexts, ranker or budget; "
                "choose another folder, or start again with --overwrite"
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
