"""The plan of a comparison, and its runs: a ranker trained on a source with a seed, and its scores."""

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
HELD_OUT: tuple[HeldOut, ...] = ("right", "nothing")


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """The ranker that every source trains: its ``kind``, the encoder to start from, and how it learns.

    ``arguments`` are transformers' ``TrainingArguments``, ``options`` those of the kind of ranker.
    """

    model: str | Path
    kind: str = "cross-encoder"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    offline: bool = False

    def facts(self) -> list[object]:
        """What tells it from another, the weights it starts from among them.

        Raises `ModelError`: there is no such encoder.
        """
        folder = locate(self.model, offline=self.offline)
        files = [file for form in ("*.safetensors", "pytorch_model*.bin") for file in folder.glob(form)]
        started = model_name(folder.name, files)
        return [self.kind, started, sorted(self.options.items()), sorted(self.arguments.items())]


@dataclass(frozen=True, slots=True)
class ComparisonPlan:
    """What is compared: sources and seeds, the ranker and what it sees, and what negatives are made with.

    ``options`` are those of generators and recipes, by source; ``banks`` what they may retrieve from beside
    the contexts to learn from. ``held_out`` says which texts are never learned from: those of the ``right``
    responses of test contexts, or ``nothing``, where what people say everywhere ("Yes, sure.") may stay.
    Models of the runs are kept if ``keep_models`` is set.
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
class RankerRun:
    """What one run came to. ``scores`` has for each test context a number for each of its responses.

    ``pairs`` counts what was learned from by source, ``shortfall`` the responses that an epoch had too few.
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
    """The runs of a comparison in their folders: done ones are read, stopped ones go on.

    A result is a small JSON file of ``results``, named by source, seed and a fingerprint of all that it
    depends on. Models lie in ``models`` while they are needed, or for good if the plan keeps them.
    """

    def __init__(self, folder: Path, data: Data, plan: ComparisonPlan) -> None:
        self._folder, self._data, self._plan = folder, data, plan
        self._held_out = data.tested if plan.held_out == "right" else []
        facts = [data.fingerprint, plan.ranker.facts(), asdict(plan.budget), self._held_out]
        self._facts = fingerprint([__version__, *facts])

    def of(
        self, source: NegativeSource, groups: Sequence[Group], seed: int, progress: Progress | None = None
    ) -> tuple[RankerRun, bool]:
        """The run of a source and seed, and whether it is new; trained where it is not there."""
        learned = [
            [
                group.id,
                [answer.text for answer in group.positives],
                [[answer.text, answer.category, answer.context] for answer in group.negatives],
            ]
            for group in groups
        ]
        mark = fingerprint([self._facts, source.drawn_as, seed, fingerprint(learned)])
        name = f"{source.name}-{seed}-{mark[:12]}"
        result, model = self._folder / "results" / f"{name}.json", self._folder / "models" / name
        if (run := _read(result, mark)) is not None:
            return run, False
        run = self._trained(source, groups, seed, mark, model, progress or NoProgress())
        result.parent.mkdir(parents=True, exist_ok=True)
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
        from graphneg.rankers.base import new_ranker
        from graphneg.training.rankers import train_ranker

        began = time.monotonic()
        if (folder / "config.json").is_file() and not (folder / "checkpoints").exists():
            shutil.rmtree(folder)  # trained, and stopped before its result was written
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
    """The result that is there; none where there is none, or that of another run."""
    if not result.is_file():
        return None
    try:
        run = parse_typed(read_input(result), RankerRun, str(result))
    except InputError as error:
        raise InputError(f"{result}: this result can't be read; remove it, and it is made again") from error
    return run if run.fingerprint == mark else None
