"""Plan a comparison of sources of negatives, and train the rankers for it.

A `ComparisonPlan` lists the sources, the seeds, the ranker, and the number of responses for training. In each
run, the ranker is trained on the negatives of one source with one seed, and scores the responses to the test
contexts. `Runs` keeps the results in a folder, so that an interrupted comparison can be continued.

Example:
    A plan with the sources ``random`` and ``contradiction`` and the seeds 0, 1 and 2 has six runs. The result
    of the first run is stored in the file ``results/random-0-HASH.json``.
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
from graphneg.evaluation.ranking import score_contexts
from graphneg.hashing import fingerprint, with_model_digests
from graphneg.json_input import parse_typed, read_input
from graphneg.nn.models import locate
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import write_atomically

if TYPE_CHECKING:
    from graphneg.datasets.groups import Group

HeldOut = Literal["right", "nothing"]
"""The texts that are never used for training: the correct responses to test contexts, or no texts."""
HELD_OUT: tuple[HeldOut, ...] = ("right", "nothing")


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """The settings for the ranker that is trained on each source.

    Attributes:
        model: Path or Hugging Face hub id of the pretrained encoder.
        kind: The kind of ranker, such as ``cross-encoder``.
        options: Further arguments of `graphneg.rankers.base.new_ranker` for this kind of ranker.
        arguments: Keyword arguments of ``transformers.TrainingArguments``.
        offline: Whether to use only local files, without downloading models.
    """

    model: str | Path
    kind: str = "cross-encoder"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    offline: bool = False

    def facts(self) -> list[object]:
        """Return the settings on which the results depend, including a digest of the encoder's files.

        Raises `ModelError` if the encoder is missing.

        Returns:
            Values from which a fingerprint can be computed.
        """
        folder = locate(self.model, offline=self.offline)
        # Use the name of the model's folder instead of its path, so that a comparison can be continued on
        # another machine, where the path may differ.
        digest = str(with_model_digests(folder)).rpartition("@")[2]
        options = sorted(with_model_digests(self.options).items())
        return [self.kind, f"{folder.name}@{digest}", options, sorted(self.arguments.items())]


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """The sources, the ranker and the settings of a comparison.

    Attributes:
        sources: The sources of negatives to compare.
        ranker: The settings for the ranker to train.
        seeds: The seeds. For each source, one ranker is trained per seed.
        budget: The numbers of responses and epochs for training each ranker.
        banks: Corpora from which generators and recipes may take texts, in addition to the training contexts.
        options: Options for generators and recipes, keyed by the name of the source.
        held_out: The texts that are never used for training: ``right`` (the correct responses to test
            contexts) or ``nothing``. With ``nothing``, a frequent response such as "Yes, sure." may be used
            for training even if it is also a correct response to a test context.
        keep_models: Whether to keep the trained models of the runs.
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
            InputError: There are no sources or no seeds, a source is named twice, ``held_out`` has an unknown
                value, or options are given for a source that is not compared.
        """
        names = [source.name for source in self.sources]
        if not names or not self.seeds:
            raise InputError("a comparison needs at least one source and one seed")
        if self.held_out not in HELD_OUT:
            raise InputError(
                f"unknown value {self.held_out!r} of held_out; choose one of {', '.join(HELD_OUT)}"
            )
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"source {name} is named twice")
        for name in self.options:
            if name not in names:
                raise InputError(f"options are given for {name!r}, which is not a source of this comparison")

    def facts(self) -> list[object]:
        """Return the settings that must not change when a comparison in a folder is continued.

        Sources and seeds are not included, because a later call may add further sources and seeds.

        Returns:
            Values from which a fingerprint can be computed.
        """
        return [self.ranker.facts(), asdict(self.budget), self.held_out]


@dataclass(frozen=True, slots=True)
class RankerRun:
    """The result of training the ranker on one source of negatives with one seed.

    Attributes:
        source: The name of the source.
        seed: The seed for training.
        fingerprint: A hash of everything on which the result depends.
        scores: For each test context, one score per response.
        pairs: Number of training pairs, keyed by the source of the response.
        shortfall: Number of responses that the budget requires but that were missing in an epoch, keyed by
            the source of the response.
        loss: The mean training loss.
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
    """The runs of a comparison, whose results are stored in a folder.

    Each result is a JSON file in the subfolder ``results``. The file name contains the source, the seed and a
    fingerprint. Trained models are in the subfolder ``models``. A model is deleted when its result has been
    written, unless the plan of the comparison requests that models are kept.
    """

    def __init__(self, folder: Path, data: Data, plan: ComparisonPlan) -> None:
        """Initialize the runs of a comparison, without starting any.

        Args:
            folder: The folder of the comparison.
            data: The training and test contexts.
            plan: The plan of the comparison.
        """
        self._folder, self._data, self._plan = folder, data, plan
        self._held_out = data.tested if plan.held_out == "right" else []
        facts = [data.fingerprint, plan.ranker.facts(), asdict(plan.budget), self._held_out]
        self._facts = fingerprint([__version__, *facts])

    def run_or_load(
        self, source: NegativeSource, groups: Sequence[Group], seed: int, progress: Progress | None = None
    ) -> tuple[RankerRun, bool]:
        """Return the result of one run. If the result is not stored yet, train and test the ranker.

        Args:
            source: The source of negatives.
            groups: The training contexts with correct responses and the wrong responses of the source.
            seed: The seed for training.
            progress: Progress display, which is advanced by the training steps and then by the scored
                contexts.

        Returns:
            The result, and True if the ranker was trained in this call.
        """
        learned = [
            [
                group.id,
                [answer.text for answer in group.positives],
                [[answer.text, answer.category, answer.context] for answer in group.negatives],
            ]
            for group in groups
        ]
        # The fingerprint includes the texts of the responses, so that the run is repeated if the negatives of
        # the source change.
        mark = fingerprint([self._facts, source.source_field, seed, fingerprint(learned)])
        name = f"{source.name}-{seed}-{mark[:12]}"
        result, model = self._folder / "results" / f"{name}.json", self._folder / "models" / name
        if (run := _read(result, mark)) is not None:
            return run, False
        run = self._trained(source, groups, seed, mark, model, progress or NoProgress())
        result.parent.mkdir(parents=True, exist_ok=True)
        # Write the file atomically, so that an existing file always contains a complete result.
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
        """Train the ranker, score the responses to the test contexts, and return the result of the run."""
        from graphneg.rankers.base import new_ranker
        from graphneg.training.rankers import train_ranker

        began = time.monotonic()
        # If the folder has a trained model but the result is missing, an earlier run was interrupted after
        # the training. Remove the model and train again.
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
            scores=score_contexts(ranker, self._data.test, progress),
            pairs=dict(report.pairs),
            shortfall=dict(report.shortfall.responses),
            loss=report.loss,
            seconds=round(time.monotonic() - began, 1),
        )


def _read(result: Path, mark: str) -> RankerRun | None:
    """Return the result of a run from its file; None if it is missing or from other data or settings."""
    if not result.is_file():
        return None
    try:
        run = parse_typed(read_input(result), RankerRun, str(result))
    except InputError as error:
        raise InputError(
            f"{result}: this result can't be read; remove it and run the command again"
        ) from error
    # The name of the file contains only the first 12 digits of the fingerprint. So also compare the whole
    # fingerprint, which is stored in the file: a result for other data must not be used.
    return run if run.fingerprint == mark else None
