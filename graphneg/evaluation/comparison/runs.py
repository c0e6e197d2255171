"""One run of a comparison: a ranker trained on one source with one seed, and how it scores the test."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg import __version__
from graphneg.errors import InputError
from graphneg.evaluation.comparison.data import Data
from graphneg.evaluation.comparison.sources import Budget, NegativeSource
from graphneg.evaluation.ranking import scored
from graphneg.hashing import fingerprint
from graphneg.nn.embedders import model_name
from graphneg.nn.models import locate
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import write_atomically

if TYPE_CHECKING:
    from graphneg.datasets.groups import Group


_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")


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

        Raises:
            ModelError: there is no such encoder.
        """
        folder = locate(self.model, offline=self.offline)
        files = [file for form in _WEIGHTS for file in folder.glob(form)]
        started = model_name(folder.name, files)
        return [self.kind, started, sorted(self.options.items()), sorted(self.arguments.items())]

    def new(self, seed: int) -> Any:
        """A `Ranker` that has learned nothing yet, and is `Trainable`.

        Raises:
            ModelError: there is no such encoder.
            InputError: there is no such kind, or it does not take the options.
        """
        from graphneg.rankers.base import new_ranker

        return new_ranker(self.kind, self.model, seed=seed, offline=self.offline, **self.options)


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
    depends on. No text of ``held_out`` is learned from. Models stay in ``models`` if ``keep_models`` is set.
    """

    def __init__(
        self,
        folder: Path,
        data: Data,
        ranker: RankerSettings,
        budget: Budget,
        held_out: Sequence[str] = (),
        keep_models: bool = False,
    ) -> None:
        self._results = folder / "results"
        self._models = folder / "models"
        self._data = data
        self._ranker = ranker
        self._budget = budget
        self._held_out = held_out
        self._keeps = keep_models
        facts = [__version__, data.fingerprint, ranker.facts(), asdict(budget), list(held_out)]
        self._facts = fingerprint(facts)

    def of(
        self, source: NegativeSource, groups: Sequence[Group], seed: int, progress: Progress | None = None
    ) -> tuple[RankerRun, bool]:
        """The run of a source and seed, and whether it is new; trained where it is not there."""
        mark = fingerprint([self._facts, source.drawn_as, seed, _learned(groups)])
        name = f"{source.name}-{seed}-{mark[:12]}"
        place = self._results / f"{name}.json"
        if (found := _read(place, mark)) is not None:
            return found, False
        run = self._trained(source, groups, seed, mark, self._models / name, progress or NoProgress())
        self._results.mkdir(parents=True, exist_ok=True)
        write_atomically(place, json.dumps(asdict(run)))
        if not self._keeps:
            shutil.rmtree(self._models / name)
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
        from graphneg.training.rankers import train_ranker

        began = time.monotonic()
        if (folder / "config.json").is_file() and not (folder / "checkpoints").exists():
            shutil.rmtree(folder)  # trained, and stopped before its result was written
        ranker = self._ranker.new(seed)
        report = train_ranker(
            ranker,
            groups,
            folder,
            mix=self._budget.mix(source),
            epochs=self._budget.epochs,
            held_out=self._held_out,
            seed=seed,
            progress=progress,
            **self._ranker.arguments,
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


def _learned(groups: Sequence[Group]) -> str:
    return fingerprint(
        [
            [one.id, [answer.text for answer in one.positives], [_answer(answer) for answer in one.negatives]]
            for one in groups
        ]
    )


def _answer(answer: Any) -> list[Any]:
    return [answer.text, answer.category, answer.context]


def _read(place: Path, mark: str) -> RankerRun | None:
    """The result that is there; none where there is none.

    Raises:
        InputError: it can't be read.
    """
    if not place.is_file():
        return None
    try:
        run = RankerRun(**json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{place}: this result can't be read; remove it, and it is made again") from error
    return run if run.fingerprint == mark else None
