"""Compare sources of negatives: train the same ranker on each source, with several seeds, and test it.

The result has one row of measures per source. Confidence intervals come from a bootstrap over test contexts
and seeds: each bootstrap sample resamples the contexts (in the same way for all runs) and the seeds of each
source.

Training on human-written adversarial responses usually gives a better ranker than training on random
negatives. The difference is called the gap, and the result states for each source what share of the gap the
source closes.

Example:
    Recall at 1 on adversarial responses is 0.60 after training on ``random``, 0.80 after training on
    ``human`` and 0.75 after training on ``contradiction``. So the source ``contradiction`` closes 75% of the
    gap.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphneg.datasets.groups import LabelledContext
from graphneg.datasets.pair_sampler import RANDOM
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import ADVERSARIAL, Data
from graphneg.evaluation.comparison.runs import ComparisonPlan, RankerRun, Runs
from graphneg.evaluation.comparison.sources import (
    HUMAN,
    NegativeCache,
    OpenGraph,
    existing_groups,
    groups_of_file,
)
from graphneg.evaluation.ranking import kinds_of, scores_of_kind
from graphneg.hashing import fingerprint, number
from graphneg.progress import NoProgress, Progress
from graphneg.records.locks import refuse_links
from graphneg.records.runs import RunNote, read_own_note
from graphneg.statistics import THRESHOLD, Estimate, interval, resampled_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray


RECALL, BALANCED, AUC = "recall_at_1", "balanced_accuracy", "auc"
MEASURES = (RECALL, BALANCED, AUC)
GAPS = (RECALL, BALANCED)
"""The measures for which the share of the gap that a source closes is reported."""
RESAMPLES = 1000
"""Number of bootstrap samples."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """The numbers of correct decisions that one ranker makes for each test context.

    All arrays have the shape (contexts,), except ``wins``.

    Attributes:
        right: Number of correct responses.
        wrong: Number of wrong responses.
        top_ranked: Number of correct responses that score higher than all wrong responses to their context.
        accepted: Number of correct responses with a score above the threshold.
        rejected: Number of wrong responses with a score below the threshold.
        wins: Integer array of shape (contexts, contexts). The value in row i and column j compares the
            correct responses to context i with the wrong responses to context j: it is the sum of 2 for each
            pair in which the correct response scores higher, and 1 for each pair with equal scores.
    """

    right: NDArray[Any]
    wrong: NDArray[Any]
    top_ranked: NDArray[Any]
    accepted: NDArray[Any]
    rejected: NDArray[Any]
    wins: NDArray[Any]


class BootstrapEstimate(NamedTuple):
    """A measure and its bootstrap distribution.

    Attributes:
        value: The measure on all test contexts.
        samples: The measure in each bootstrap sample, an array of shape (resamples,).
    """

    value: float
    samples: NDArray[Any]

    def figure(self) -> Estimate:
        """Return the value that was computed on all test contexts, with its 95% confidence interval."""
        return Estimate(self.value, *interval(self.samples))


def tallies(
    contexts: Sequence[LabelledContext],
    scores: Sequence[Sequence[float]],
    kind: str,
    threshold: float = THRESHOLD,
) -> Tallies:
    """Count the correct decisions of a ranker for one kind of wrong response.

    Args:
        contexts: The test contexts.
        scores: For each context, one score per response.
        kind: The kind of wrong response, such as ``adversarial``. For a context without wrong responses of
            this kind, all counts are 0.
        threshold: A response with a score above the threshold is predicted to be correct, a response with a
            score below the threshold to be wrong.

    Returns:
        The counts, with one value per context in each array.
    """
    import numpy as np

    pairs = [scores_of_kind(context, own, kind) for context, own in zip(contexts, scores, strict=True)]
    flat = np.concatenate([wrong for _, wrong in pairs])
    ends = np.cumsum([0, *(len(wrong) for _, wrong in pairs)])
    wins = np.zeros((len(pairs), len(pairs)), dtype=np.int32)
    for at, (right, _) in enumerate(pairs):
        # `won` has one number for each wrong response to any context: 2 points for each correct response to
        # this context that scores higher, and 1 point for each with an equal score. `wins[at]` adds up the
        # points of the wrong responses to each context.
        won = (2 * (right[:, None] > flat) + (right[:, None] == flat)).sum(axis=0)
        wins[at] = np.diff(np.concatenate([[0], np.cumsum(won)])[ends])
    return Tallies(
        right=np.array([len(right) for right, _ in pairs]),
        wrong=np.diff(ends),
        top_ranked=np.array(
            [(right[:, None] > wrong).all(axis=1).sum() for right, wrong in pairs], dtype=float
        ),
        accepted=np.array([(right > threshold).sum() for right, _ in pairs]),
        rejected=np.array([(wrong < threshold).sum() for _, wrong in pairs]),
        wins=wins,
    )


class Bootstrap:
    """Bootstrap samples of the test contexts.

    All measures, training runs and sources of negatives share the same samples. Differences between sources
    are therefore tested on the same contexts (a paired bootstrap).
    """

    def __init__(self, contexts: int, seed: int = 0, resamples: int = RESAMPLES) -> None:
        """Draw the bootstrap samples.

        Args:
            contexts: Number of test contexts.
            seed: Seed for drawing the samples.
            resamples: Number of bootstrap samples.
        """
        import numpy as np

        self._seed = seed
        self._resamples = resamples
        drawn = resampled_counts(contexts, resamples, number(seed, "contexts"))
        # Each row contains the number of times that each context occurs in a sample. Row 0 stands for the
        # original data, with each context once; each later row is one bootstrap sample.
        self._weights = np.concatenate([np.ones((1, contexts)), drawn])

    def measured(self, measure: str, runs: Mapping[int, Tallies]) -> BootstrapEstimate:
        """Return a measure for one source, averaged over its seeds.

        Args:
            measure: One of `MEASURES`.
            runs: The counts of the source's runs, keyed by seed.

        Returns:
            The measure and its bootstrap distribution.
        """
        import numpy as np

        weights = self._weights

        def values(of: Tallies) -> NDArray[Any]:
            """Return the measure on all contexts, followed by the measure in each bootstrap sample."""
            # A weight is the number of times that a context occurs in a bootstrap sample. The weighted sum of
            # the contexts' counts is thus the sum over the sample, without copying any data.
            right, wrong = weights @ of.right, weights @ of.wrong
            # A sample without correct or wrong responses gives 0 / 0. Return NaN for it without a warning.
            with np.errstate(invalid="ignore"):
                if measure == RECALL:
                    return (weights @ of.top_ranked) / right
                if measure == BALANCED:
                    return ((weights @ of.accepted) / right + (weights @ of.rejected) / wrong) / 2
                # AUC: the share of the pairs of a correct and a wrong response in which the correct response
                # scores higher. In a bootstrap sample, a pair occurs as often as the product of the weights
                # of its two contexts. Divide by 2, because `wins` counts 2 for each such pair.
                return ((weights @ of.wins) * weights).sum(axis=1) / 2 / (right * wrong)

        each = np.stack(list(map(values, runs.values())))
        # Resample the seeds as well, so that the intervals also reflect the variation between seeds.
        seeds = resampled_counts(len(runs), self._resamples, number(self._seed, "seeds"))
        drawn = (each[:, 1:] * seeds.T).sum(axis=0) / len(runs)
        return BootstrapEstimate(float(each[:, 0].mean()), drawn)


def gap_closed(
    estimate: BootstrapEstimate, lower: BootstrapEstimate, upper: BootstrapEstimate
) -> Estimate | None:
    """Return the share of the gap between two other sources that a source closes.

    For example, if recall at 1 is 0.60 for ``lower``, 0.80 for ``upper`` and 0.75 for ``estimate``, the
    share is 0.75.

    Args:
        estimate: The measure for the source to compare.
        lower: The measure for the source that counts as 0, such as ``random``.
        upper: The measure for the source that counts as 1, such as ``human``.

    Returns:
        The share with its confidence interval, or None if ``upper`` is not above ``lower``. The share
        can be negative or above 1.
    """
    if upper.value <= lower.value:
        return None
    gap = upper.samples - lower.samples
    # Ignore bootstrap samples in which ``upper`` is not above ``lower``, because the share of a gap of
    # zero is undefined.
    there = gap > 0
    shares = (estimate.samples - lower.samples)[there] / gap[there]
    whole = (estimate.value - lower.value) / (upper.value - lower.value)
    return BootstrapEstimate(whole, shares).figure()


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The results of one source of negatives.

    Attributes:
        source: The name of the source.
        seeds: The seeds of the runs for this source.
        figures: The measures, keyed by the kind of wrong response and then by the name of the measure.
        gap_closed: The share of the gap between ``random`` and ``human`` that the source closes, keyed by the
            name of the measure. Empty for these two sources themselves, if one of the two was not compared,
            or if there is no gap.
        shortfall: Number of responses that the budget requires but that were missing in an epoch; the maximum
            over the runs.
    """

    source: str
    seeds: tuple[int, ...]
    figures: Mapping[str, Mapping[str, Estimate]]
    gap_closed: Mapping[str, Estimate]
    shortfall: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results of a comparison.

    Attributes:
        train: Number of training contexts.
        test: Number of test contexts.
        rows: The results of each source, in the order in which the sources were given.
        runs: The training runs, keyed by the name of the source and then by seed.
    """

    train: int
    test: int
    rows: Sequence[SourceResult]
    runs: Mapping[str, Mapping[int, RankerRun]] = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the results as a dict that can be written as JSON."""
        rows = [
            {
                "source": row.source,
                "seeds": list(row.seeds),
                "figures": {kind: _plain(figures) for kind, figures in row.figures.items()},
                "closed": _plain(row.gap_closed),
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

    Results are kept in ``out``. If a call was interrupted, repeating the call continues the comparison. A
    later call may add sources or seeds; the ranker is then trained only for these. On a CPU, the same plan
    gives the same results. Raises `InputError` if the data lack the needed responses, ``out`` contains
    another comparison, or negatives cannot be made, and `ModelError` if the encoder is missing.

    Args:
        data: The training and test contexts.
        plan: The sources, seeds and settings.
        out: The folder for results, models and negatives.
        open_graph: A function that opens a dialogue graph in a folder, such as ``graphneg.open``. Required if
            a source is a generator or recipe, whose negatives are made from stores in ``out``.
        overwrite: Whether to delete the results in ``out`` and start again.
        progress: Progress display for making negatives, training and scoring.
        on_run: A function that is called with the result of each new training run.

    Returns:
        The results, with one row per source.
    """
    folder, bar = Path(out), progress or NoProgress()
    _open(RunNote(folder / "comparison.json", fingerprint([data.fingerprint, plan.facts()])), overwrite)
    runs = Runs(folder, data, plan)
    done: dict[str, dict[int, RankerRun]] = {}
    with ExitStack() as stores:
        cache = NegativeCache(
            folder / "negatives",
            data,
            plan.budget.negatives_per_context,
            stores,
            banks=plan.banks,
            options=plan.options,
            open_graph=open_graph,
            progress=bar,
        )
        # Read all files of negatives before the first ranker is trained, so that an unusable file is reported
        # at once.
        at_hand = {source.name: existing_groups(data.train, source) for source in plan.sources}
        for source in plan.sources:
            groups = at_hand.pop(source.name)
            groups = groups or groups_of_file(data.train, source, cache.made(source))
            for seed in plan.seeds:
                run, new = runs.run_or_load(source, groups, seed, bar)
                done.setdefault(source.name, {})[seed] = run
                if new and on_run is not None:
                    on_run(run)
    return compared(data, done)


def compared(data: Data, runs: Mapping[str, Mapping[int, RankerRun]]) -> Comparison:
    """Compute the results of a comparison from its runs.

    Args:
        data: The training and test contexts.
        runs: The training runs, keyed by the name of the source and then by seed.

    Returns:
        The results, with one row per source.
    """
    kinds = kinds_of(data.test)
    bootstrap = Bootstrap(len(data.test))
    draws: dict[str, dict[str, dict[str, BootstrapEstimate]]] = {}
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
    name: str, adversarial: Mapping[str, Mapping[str, BootstrapEstimate] | None]
) -> Iterator[tuple[str, Estimate]]:
    """Yield, for each measure, the score of a source between those of random and human-written negatives.

    With a share of 0, the source is as good as random negatives. With a share of 1, it is as good as
    human-written negatives.

    Args:
        name: Name of the source of negatives.
        adversarial: Results on adversarial responses, keyed by source and measure.

    Yields:
        Pairs of a measure and a share. Nothing if the share is undefined.
    """
    own, nothing, everything = (adversarial.get(source) for source in (name, RANDOM, HUMAN))
    # A source closes a share of the gap between the results of "random" and "human". The gap is unknown if
    # one of these two sources was not compared.
    if name in (RANDOM, HUMAN) or own is None or nothing is None or everything is None:
        return
    for measure in GAPS:
        if (share := gap_closed(own[measure], nothing[measure], everything[measure])) is not None:
            yield measure, share


_PARTS = ("results", "models", "negatives")
"""The folders in the folder of a comparison."""


def _open(note: RunNote, overwrite: bool) -> None:
    """Create the folder of a comparison, or check that an existing folder has the same contexts and plan."""
    # Raise an error if another program wrote `comparison.json`. Otherwise, `overwrite` would delete the
    # folders `results`, `models` and `negatives` of that program.
    read_own_note(note.path)
    folder, state = note.path.parent, note.state
    refuse_links(folder / part for part in _PARTS)
    try:
        # Without the file `comparison.json`, the folder was not made by a comparison. Refuse a folder that is
        # not empty.
        if state == "none" and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: the folder contains other files; choose another folder")
        if state == "other" and not overwrite:
            raise InputError(
                f"{folder}: the folder contains a comparison with other contexts, another ranker or another "
                "budget; "
                "choose another folder, or start again with --overwrite"
            )
        if overwrite:
            note.remove()
        for part in _PARTS:
            if overwrite:
                shutil.rmtree(folder / part, ignore_errors=True)
            (folder / part).mkdir(parents=True, exist_ok=True)
        note.write()
    except OSError as error:
        raise InputError(f"{folder}: can't be used as a folder for results ({error})") from error
