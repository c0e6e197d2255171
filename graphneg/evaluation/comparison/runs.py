"""Plan a comparison of sources of negatives, and run it.

A `ComparisonPlan` lists the sources, the seeds, the ranker and its budget. A run trains the ranker on one
source with one seed and scores the test contexts. `Runs` keeps the results in a folder, so that an
interrupted comparison continues where it stopped.

Example:
    A plan with the sources ``random`` and ``contradiction`` and the seeds 0, 1 and 2 has six runs. The result
    of the first is ``results/random-0-HASH.json``.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from graphneg import __version__
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import BankFile, Data
from graphneg.evaluation.comparison.sources import Budget, NegativeSource
from graphneg.evaluation.ranking import scored
from graphneg.hashing import fingerprint
from graphneg.json_input import parse_typed, read_input
from graphneg.nn.embedders import model_name
from graphneg.nn.models import locate
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import write_atomically

if TYPE_CHECKING:
    from graphneg.datasets.groups import Group

HeldOut = Literal["right", "nothing"]
"""Which texts are never used for training: the right responses of test contexts, or none."""
HELD_OUT: tuple[HeldOut, ...] = ("right", "nothing")


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """The ranker that is trained on every source.

    Attributes:
        model: Name or folder of the pretrained encoder.
        kind: The kind of ranker.
        options: Options of that kind of ranker.
        arguments: Keyword arguments of ``transformers.TrainingArguments``.
        offline: Do not download models.
    """

    model: str | Path
    kind: str = "cross-encoder"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    offline: bool = False

    def facts(self) -> list[object]:
        """Return what the results depend on, including a hash of the pretrained weights.

        A missing encoder raises `ModelError`.

        Returns:
            Plain values for a fingerprint.
        """
        folder = locate(self.model, offline=self.offline)
        files = [file for form in ("*.safetensors", "pytorch_model*.bin") for file in folder.glob(form)]
        started = model_name(folder.name, files)
        return [self.kind, started, sorted(self.options.items()), sorted(self.arguments.items())]


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """What to compare, and how.

    Attributes:
        sources: The sources of negatives.
        ranker: The ranker to train.
        seeds: The seeds; each source is trained once per seed.
        budget: The number of responses that a ranker sees.
        banks: Corpora that generators and recipes may retrieve from, in addition to the training contexts.
        options: Options of generators and recipes, by source.
        held_out: Texts that are never used for training: ``right`` (right responses of test contexts) or
            ``nothing``, which keeps frequent responses such as "Yes, sure." in the training data.
        keep_models: Keep the trained models of the runs.
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
        """Check that the plan is complete and consistent.

        Raises:
            InputError: Sources or seeds are missing, a source is named twice, or options belong to no source.
        """
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
                raise InputError(f"options are given for {name!r}, which is not a source of this comparison")

    def facts(self) -> list[object]:
        """Return what all comparisons in one folder must have in common.

        Sources and seeds are not included because a later call may add some.

        Returns:
            Plain values for a fingerprint.
        """
        return [self.ranker.facts(), asdict(self.budget), self.held_out]


@dataclass(frozen=True, slots=True)
class RankerRun:
    """The result of training the ranker on one source with one seed.

    Attributes:
        source: The name of the source.
        seed: The seed.
        fingerprint: A hash of everything that the result depends on.
        scores: For each test context, one score per response.
        pairs: Number of training pairs, by source.
        shortfall: Number of responses that an epoch lacked, by source.
        loss: The training loss.
        seconds: Duration of training and scoring in seconds.
    """

    source: str
    seed: int
    fingerprint: str
    scores: Sequence[Sequence[float]]
    pairs: Mapping[str, int]
    shortfall: Mapping[str, int]
    loss: float
    seconds: float


class Runs:
    """The runs of a comparison in a folder.

    A result is a JSON file in ``results``, named by source, seed and fingerprint. Trained models are in
    ``models``. They are deleted when the result is written, unless the plan keeps them.
    """

    def __init__(self, folder: Path, data: Data, plan: ComparisonPlan) -> None:
        """Initialize the runs of a plan.

        Args:
            folder: The folder of the comparison.
            data: The training and test contexts.
            plan: The plan.
        """
        self._folder, self._data, self._plan = folder, data, plan
        self._held_out = data.tested if plan.held_out == "right" else []
        facts = [data.fingerprint, plan.ranker.facts(), asdict(plan.budget), self._held_out]
        self._facts = fingerprint([__version__, *facts])

    def of(
        self, source: NegativeSource, groups: Sequence[Group], seed: int, progress: Progress | None = None
    ) -> tuple[RankerRun, bool]:
        """Return the result of one run, and train the ranker if there is none.

        Args:
            source: The source.
            groups: The training contexts with right responses and the source's wrong responses.
            seed: The seed.
            progress: Receives progress updates.

        Returns:
            The result, and whether it is new.
        """
        learned = [
            [
                group.id,
                [answer.text for answer in group.positives],
                [[answer.text, answer.category, answer.context] for answer in group.negatives],
            ]
            for group in groups
        ]
        # The responses themselves are included: if the negatives change, the run is repeated.
        mark = fingerprint([self._facts, source.drawn_as, seed, fingerprint(learned)])
        name = f"{source.name}-{seed}-{mark[:12]}"
        result, model = self._folder / "results" / f"{name}.json", self._folder / "models" / name
        if (run := _read(result, mark)) is not None:
            return run, False
        run = self._trained(source, groups, seed, mark, model, progress or NoProgress())
        result.parent.mkdir(parents=True, exist_ok=True)
        # The file is whole or missing, so an existing result is complete.
        write_atomically(result, json.dumps(asdict(run)))
        if not self._plan.keep_models:
            shutil.rmtree(model)
        return run, True

    def _trained(
        self,
        source: NegativeSource,
        groups: Sequence[Group],
        seed: int,
        mark: str,
        folder: Path,
        progress: Progress,
    ) -> RankerRun:
        """Train the ranker and score the test contexts."""
        from graphneg.rankers.base import new_ranker
        from graphneg.training.rankers import train_ranker

        began = time.monotonic()
        # The folder has a finished model but no result: an earlier run stopped between the two. Train again.
        if (folder / "config.json").is_file() and not (folder / "checkpoints").exists():
            shutil.rmtree(folder)
        settings, budget = self._plan.ranker, self._plan.budget
        options = {"seed": seed, "offline": settings.offline, **settings.options}
        ranker = new_ranker(settings.kind, settings.model, **options)
        report = train_ranker(
            ranker,
            groups,
            folder,
            mix=budget.mix(source),
            epochs=budget.epochs,
            held_out=self._held_out,
            seed=seed,
            progress=progress,
            **settings.arguments,
        )
        return RankerRun(
            source=source.name,
            seed=seed,
            fingerprint=mark,
            scores=scored(ranker, self._data.test, progress),
            pairs=dict(report.pairs),
            shortfall=dict(report.shortfall.responses),
            loss=report.loss,
            seconds=round(time.monotonic() - began, 1),
        )


def _read(result: Path, mark: str) -> RankerRun | None:
    """Return a saved result, or None if there is none or it has another fingerprint."""
    if not result.is_file():
        return None
    try:
        run = parse_typed(read_input(result), RankerRun, str(result))
    except InputError as error:
        raise InputError(
            f"{result}: this result can't be read; remove it and run the command again"
        ) from error
    # The file name has only the first digits of the fingerprint.
    return run if run.fingerprint == mark else None
