"""A training run in a folder: transformers' ``Trainer``, which goes on where it was stopped.

A run keeps its checkpoints beside a digest of all that decides how it goes; the same call finds
them and goes on, another one is refused. Once the model is saved they go.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.progress import NoProgress, Progress

if TYPE_CHECKING:
    from transformers import TrainerCallback

_CHECKPOINTS = "checkpoints"
_RUN = "run.json"
_DEFAULTS: Mapping[str, Any] = {
    "num_train_epochs": 1,
    "per_device_train_batch_size": 8,
    "learning_rate": 5e-5,
    "warmup_steps": 0.05,
    "save_strategy": "steps",
    "save_steps": 200,
    "save_total_limit": 1,
}
# What the Trainer is told by graphneg itself.
_TAKEN = ("output_dir", "seed", "data_seed", "disable_tqdm", "remove_unused_columns")


@dataclass(frozen=True, slots=True)
class Run:
    """A folder that a model will be saved in, and the checkpoints of the run that makes it."""

    folder: Path
    checkpoints: Path

    @property
    def last(self) -> Path | None:
        """The newest checkpoint that was written to its end: the trainer's state is written last."""
        found = [
            path for path in self.checkpoints.glob("checkpoint-*") if (path / "trainer_state.json").is_file()
        ]
        return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def finish(self) -> None:
        """Remove the checkpoints; the model is saved."""
        shutil.rmtree(self.checkpoints)


def open_run(folder: str | Path, facts: Sequence[Any]) -> Run:
    """The run of a folder; ``facts`` are all that decides how it goes, so that none goes on as another.

    Raises:
        InputError: the folder holds a model, or a run with other facts.
    """
    run = Run(Path(folder), Path(folder) / _CHECKPOINTS)
    fingerprint = hashlib.sha256(json.dumps(facts, default=str).encode("utf-8", "surrogatepass")).hexdigest()
    note = run.checkpoints / _RUN
    if note.is_file():
        if json.loads(note.read_text(encoding="utf-8"))["fingerprint"] != fingerprint:
            raise InputError(
                f"{folder}: a run with other examples or settings was stopped here; "
                "repeat it as it was, choose another folder, or remove this one"
            )
        return run
    if (run.folder / "config.json").exists():
        raise InputError(f"{folder}: there is a model in it already; choose another folder")
    run.checkpoints.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps({"fingerprint": fingerprint}), encoding="utf-8")
    return run


def train(
    run: Run,
    model: Any,
    rows: Any,
    collate: Any,
    *,
    seed: int,
    arguments: Mapping[str, Any],
    progress: Progress | None = None,
    callbacks: Sequence[TrainerCallback] = (),
    **trainer: Any,
) -> Any:
    """Train ``model`` in place on ``rows``, batches made by ``collate``; what ``Trainer.train`` returns.

    ``arguments`` go to ``TrainingArguments`` over graphneg's defaults, ``trainer`` to ``Trainer``. It is
    silent but for ``progress``; ``report_to`` switches loggers such as TensorBoard on.

    Raises:
        InputError: the arguments are none of ``TrainingArguments``, or do not go together.
    """
    from transformers import Trainer
    from transformers.trainer_callback import PrinterCallback

    from graphneg.training.steps import ReportsProgress

    make: Any = Trainer
    made = make(
        model=model,
        args=training_arguments(run.checkpoints, seed, str(model.device), arguments),
        train_dataset=rows,
        data_collator=collate,
        callbacks=[ReportsProgress(progress or NoProgress()), *callbacks],
        **trainer,
    )
    made.remove_callback(PrinterCallback)
    last = run.last
    return made.train(resume_from_checkpoint=str(last) if last else None)


def training_arguments(checkpoints: Path, seed: int, device: str, arguments: Mapping[str, Any]) -> Any:
    """``TrainingArguments`` from graphneg's defaults and the caller's.

    Raises:
        InputError: there is no such argument, or they do not go together.
    """
    from dataclasses import fields

    from transformers import TrainingArguments

    known = {field.name for field in fields(TrainingArguments)} - set(_TAKEN)
    strange = sorted(set(arguments) - known)
    if strange:
        raise InputError(
            f"training takes no argument {', '.join(strange)}; see transformers' TrainingArguments"
        )
    settings: dict[str, Any] = {"use_cpu": device == "cpu", "report_to": "none", **_DEFAULTS, **arguments}
    try:
        return TrainingArguments(
            output_dir=str(checkpoints),
            seed=seed,
            data_seed=seed,
            disable_tqdm=True,
            remove_unused_columns=False,
            **settings,
        )
    except (ValueError, TypeError) as error:
        raise InputError(f"these training arguments do not go together: {error}") from error
    except ImportError as error:
        from graphneg.language_models.finding import INSTALL

        raise InputError(f"training needs accelerate: {INSTALL}") from error
