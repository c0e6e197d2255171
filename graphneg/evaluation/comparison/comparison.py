"""Several sources of wrong responses compared: the same ranker trained on each, with several seeds.

In: contexts to learn from and to be tested on, and a plan. Out: a row of figures for each source, with
intervals of a bootstrap over contexts and seeds: each draw takes as many contexts as there are, the same ones
for all runs, and as many seeds of each source as it has.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from graphneg.datasets.groups import Choices, Group
from graphneg.datasets.pair_sampler import RANDOM
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import ADVERSARIAL, BankFile, Data
from graphneg.evaluation.comparison.runs import RankerRun, RankerSettings, Runs
from graphneg.evaluation.comparison.sources import (
    HUMAN,
    Budget,
    NegativeCache,
    NegativeRequest,
    NegativeSource,
    OpenGraph,
    groups_of_file,
    human_groups,
    plain_groups,
)
from graphneg.hashing import fingerprint, number
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import RunNote
from graphneg.statistics import THRESHOLD, interval, resampled_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray


RECALL, BALANCED, AUC = "recall_at_1", "balanced_accuracy", "auc"
MEASURES = (RECALL, BALANCED, AUC)
RESAMPLES = 1000


class Figure(NamedTuple):
    """A value, and the ends of its interval."""

    value: float
    low: float
    high: float


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

    def figure(self) -> Figure:
        """The figure with its interval."""
        return Figure(self.whole, *interval(self.drawn))


def tallies(
    contexts: Sequence[Choices],
    scores: Sequence[Sequence[float]],
    kind: str,
    threshold: float = THRESHOLD,
) -> Tallies:
    """What scores come to for one kind of wrong responses; contexts without any of it do not count."""
    import numpy as np

    pairs = [_scores_of(one, some, kind) for one, some in zip(contexts, scores, strict=True)]
    wrong = [right_and_wrong[1] for right_and_wrong in pairs]
    flat = np.concatenate(wrong)
    ends = np.cumsum([len(some) for some in wrong])
    wins = np.zeros((len(pairs), len(pairs)), dtype=np.int32)
    firsts = np.zeros(len(pairs))
    for at, (right, own) in enumerate(pairs):
        won = (2 * (right[:, None] > flat) + (right[:, None] == flat)).sum(axis=0)
        wins[at] = np.diff(np.concatenate([[0], np.cumsum(won)])[np.concatenate([[0], ends])])
        firsts[at] = sum(bool((one > own).all()) for one in right)
    return Tallies(
        right=np.array([len(right) for right, _ in pairs]),
        wrong=np.array([len(some) for some in wrong]),
        firsts=firsts,
        held=np.array([(right > threshold).sum() for right, _ in pairs]),
        refused=np.array([(some < threshold).sum() for some in wrong]),
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

        each = np.stack([_measured(measure, one, self._weights) for one in runs.values()])
        seeds = resampled_counts(len(runs), self._resamples, number(self._seed, "seeds"))
        drawn = (each[:, 1:] * seeds.T).sum(axis=0) / len(runs)
        return Draws(float(each[:, 0].mean()), drawn)


def closed(draws: Draws, nothing: Draws, everything: Draws) -> Figure | None:
    """The share of the gap between two sources that a third closes; none where there is no gap."""
    import numpy as np

    if everything.whole <= nothing.whole:
        return None
    gap = everything.drawn - nothing.drawn
    there = gap > 0
    shares = (draws.drawn - nothing.drawn)[there] / gap[there]
    whole = (draws.whole - nothing.whole) / (everything.whole - nothing.whole)
    return Draws(whole, np.asarray(shares)).figure()


def kinds_of(contexts: Iterable[Choices]) -> list[str]:
    """The kinds of wrong responses, in the order in which they come up."""
    return list(dict.fromkeys(kind for one in contexts for kind in one.negatives))


def _scores_of(one: Choices, scores: Sequence[float], kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A context's scores of right responses, and of wrong ones of a kind; none of both where it has none."""
    import numpy as np

    at = len(one.positives)
    for other, texts in one.negatives.items():
        if other == kind and texts and one.positives:
            return np.array(scores[: len(one.positives)]), np.array(scores[at : at + len(texts)])
        at += len(texts)
    return np.zeros(0), np.zeros(0)


def _measured(measure: str, of: Tallies, weights: NDArray[Any]) -> NDArray[Any]:
    """A measure for each row of ``weights``, of shape (draws, contexts); NaN where a draw has none."""
    import numpy as np

    right, wrong = weights @ of.right, weights @ of.wrong
    with np.errstate(invalid="ignore"):
        if measure == RECALL:
            return (weights @ of.firsts) / right
        if measure == BALANCED:
            return ((weights @ of.held) / right + (weights @ of.refused) / wrong) / 2
        return ((weights @ of.wins) * weights).sum(axis=1) / 2 / (right * wrong)


HeldOut = Literal["right", "nothing"]
HELD_OUT: tuple[HeldOut, ...] = ("right", "nothing")
GAPS = (RECALL, BALANCED)
"""Measures of which the share of the gap is told."""
_NOTE = "comparison.json"
_PARTS = ("results", "models", "negatives")


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """What is compared: sources and seeds, the ranker and what it sees, and what negatives are made with.

    ``options`` are those of generators and recipes, by source; ``banks`` what they may retrieve from beside
    the contexts to learn from. ``held_out`` says which texts are never learned from: those of the ``right``
    responses of test contexts, or ``nothing``, where what people say everywhere ("Yes, sure.") may stay.
    """

    sources: Sequence[NegativeSource]
    ranker: RankerSettings
    seeds: Sequence[int] = (0,)
    budget: Budget = field(default_factory=Budget)
    banks: Sequence[BankFile] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    held_out: HeldOut = "right"
    keep_models: bool = False

    def __post_init__(self) -> None:
        names = [source.name for source in self.sources]
        if not names or not self.seeds:
            raise InputError("a comparison needs at least one source and one seed")
        if self.held_out not in HELD_OUT:
            raise InputError(f"held out {self.held_out!r}: choose one of {', '.join(HELD_OUT)}")
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"source {name} is named twice")
        for name in self.options:
            if name not in names:
                raise InputError(f"options are given for {name!r}, which is no source of this comparison")

    def facts(self) -> list[object]:
        """What two comparisons of one folder have in common; sources and seeds may come later."""
        return [self.ranker.facts(), asdict(self.budget), self.held_out]


@dataclass(frozen=True, slots=True)
class SourceResult:
    """One source: figures by kind of wrong response and measure, and the shares of the gap by measure.

    ``closed`` lacks what has no gap: without the sources random and human, say. ``shortfall`` counts
    the wrong responses that an epoch had too few.
    """

    source: str
    seeds: tuple[int, ...]
    figures: Mapping[str, Mapping[str, Figure]]
    closed: Mapping[str, Figure]
    shortfall: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows in the order of the sources, over so many contexts each."""

    train: int
    test: int
    rows: Sequence[SourceResult]

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {"train": self.train, "test": self.test, "rows": [_plain(row) for row in self.rows]}


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
    runs = trained(
        data, plan, out, open_graph=open_graph, overwrite=overwrite, progress=progress, on_run=on_run
    )
    return compared(data, runs)


def trained(
    data: Data,
    plan: ComparisonPlan,
    out: str | Path,
    *,
    open_graph: OpenGraph | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    on_run: Callable[[RankerRun], None] | None = None,
) -> dict[str, dict[int, RankerRun]]:
    """The runs of `compare`, by source and seed."""
    folder = Path(out)
    _open(RunNote(folder / _NOTE, fingerprint([data.fingerprint, plan.facts()])), overwrite)
    held_out = data.tested if plan.held_out == "right" else ()
    runs = Runs(folder, data, plan.ranker, plan.budget, held_out, plan.keep_models)
    bar = progress or NoProgress()
    done: dict[str, dict[int, RankerRun]] = {}
    wanted = NegativeRequest(plan.budget.of_each_context, 0, plan.options)
    with NegativeCache(folder / "negatives", data, plan.banks, wanted, open_graph, bar) as cache:
        for source, groups in _groups(data, plan, cache):
            for seed in plan.seeds:
                run, new = runs.of(source, groups, seed, bar)
                done.setdefault(source.name, {})[seed] = run
                if new and on_run is not None:
                    on_run(run)
    return done


def compared(data: Data, runs: Mapping[str, Mapping[int, RankerRun]]) -> Comparison:
    """The table of runs, by source and seed."""
    kinds = kinds_of(data.test)
    bootstrap = Bootstrap(len(data.test))
    draws = {
        name: {
            kind: _draws(bootstrap, {at: tallies(data.test, run.scores, kind) for at, run in some.items()})
            for kind in kinds
        }
        for name, some in runs.items()
    }
    rows = [
        SourceResult(
            name,
            tuple(some),
            {kind: {measure: one.figure() for measure, one in draws[name][kind].items()} for kind in kinds},
            dict(_closed(name, draws)),
            max(sum(run.shortfall.values()) for run in some.values()),
        )
        for name, some in runs.items()
    ]
    return Comparison(len(data.train), len(data.test), rows)


def _groups(
    data: Data, plan: ComparisonPlan, cache: NegativeCache
) -> Iterator[tuple[NegativeSource, list[Group]]]:
    """What is learned from of each source; files are read first, so that a wrong one is told at once."""
    ready = {source.name: _at_hand(data, source) for source in plan.sources}
    for source in plan.sources:
        groups = ready.pop(source.name)
        yield source, groups or groups_of_file(data.train, source, cache.made(source))


def _at_hand(data: Data, source: NegativeSource) -> list[Group] | None:
    """The groups of a source that need not be made."""
    if source.kind == "random":
        return plain_groups(data.train)
    if source.kind == "human":
        return human_groups(data.train)
    return groups_of_file(data.train, source, source.path) if source.path is not None else None


def _draws(bootstrap: Bootstrap, runs: Mapping[int, Tallies]) -> dict[str, Draws]:
    return {measure: bootstrap.measured(measure, runs) for measure in MEASURES}


def _closed(
    name: str, draws: Mapping[str, Mapping[str, Mapping[str, Draws]]]
) -> Iterator[tuple[str, Figure]]:
    if name in (RANDOM, HUMAN) or RANDOM not in draws or HUMAN not in draws:
        return
    if ADVERSARIAL not in draws[name]:
        return
    for measure in GAPS:
        of = {one: draws[one][ADVERSARIAL][measure] for one in (name, RANDOM, HUMAN)}
        share = closed(of[name], of[RANDOM], of[HUMAN])
        if share is not None:
            yield measure, share


def _open(note: RunNote, overwrite: bool) -> None:
    """Make the folder a comparison's, or find that it is this one's.

    Raises:
        InputError: it holds another comparison, or is none.
    """
    folder, state = note.path.parent, note.state
    try:
        if state == "none" and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: there is something else in it; choose another folder")
        if state != "none" and overwrite:
            for part in _PARTS:
                shutil.rmtree(folder / part, ignore_errors=True)
            note.remove()
        elif state == "other":
            raise InputError(
                f"{folder}: another comparison is in it, of other contexts, ranker or budget; "
                "choose another folder, or begin anew with --overwrite"
            )
        for part in _PARTS:
            (folder / part).mkdir(parents=True, exist_ok=True)
        note.write()
    except OSError as error:
        raise InputError(f"{folder}: can't be used as a folder for results ({error})") from error


def _plain(row: SourceResult) -> dict[str, Any]:
    return {
        "source": row.source,
        "seeds": list(row.seeds),
        "figures": {
            kind: {measure: one._asdict() for measure, one in some.items()}
            for kind, some in row.figures.items()
        },
        "closed": {measure: one._asdict() for measure, one in row.closed.items()},
        "lacking": row.shortfall,
    }
