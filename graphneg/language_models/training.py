"""Training a language model on pairs of a source and a target, by transformers' ``Trainer``.

Only the target's tokens are learned. A run that was stopped goes on from its last checkpoint
when the same call is made again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphneg.errors import InputError
from graphneg.language_models.causal import CausalLM
from graphneg.language_models.finding import INSTALL
from graphneg.language_models.model import Direction, Item, LanguageModel
from graphneg.progress import NoProgress, Progress

_CHECKPOINTS = "checkpoints"
_RUN = "run.json"
_DEFAULTS: dict[str, Any] = {
    "num_train_epochs": 1,
    "per_device_train_batch_size": 8,
    "learning_rate": 5e-5,
    "warmup_steps": 0.05,
    "save_strategy": "steps",
    "save_steps": 200,
    "save_total_limit": 1,
}
# What the Trainer is told by graphneg itself.
_TAKEN = ("output_dir", "seed", "data_seed", "report_to", "disable_tqdm", "remove_unused_columns")


@dataclass(frozen=True, slots=True)
class Example:
    """One pair to learn: the target is written, the source is only read. Without one: plain text."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """``loss`` is the mean over the run, ``validation_loss`` (nats a token) None where nothing was held out.

    ``skipped`` counts examples without a target or with one that is longer than the model reads,
    ``shortened`` those whose source lost its beginning.
    """

    folder: Path
    examples: int
    skipped: int
    shortened: int
    steps: int
    loss: float
    validation_loss: float | None


def fine_tune(
    model: LanguageModel,
    examples: Sequence[Example],
    out: str | Path,
    *,
    validation: Sequence[Example] = (),
    seed: int = 0,
    direction: Direction | None = None,
    longest: int = 512,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` in place on the examples, and save it into the folder ``out``.

    ``arguments`` go to transformers' ``TrainingArguments`` as they are (``num_train_epochs``,
    ``learning_rate``, ``max_steps``, ``gradient_accumulation_steps``, ...). ``longest`` is the most
    tokens of source and target together. With ``direction`` ``backward`` a causal model learns to read
    and write from the end, and says so when it is loaded again. The same seed gives the same
    weights on the same machine.

    Raises:
        InputError: no example is left, ``out`` holds a model or another run already, or the
            arguments are none of ``TrainingArguments``.
    """
    folder = Path(out)
    if direction is not None:
        _turn(model, direction)
    limit = min(longest, model.longest or longest)
    items = _items(model, examples, limit)
    if not items.kept:
        raise InputError(
            f"none of {len(examples)} examples can be learned: their targets are empty or too long"
        )
    checkpoints = _prepared(folder, _fingerprint(model, examples, seed, longest, arguments))
    trainer = _trainer(model, items.kept, checkpoints, seed, progress or NoProgress(), arguments)
    last = _last_checkpoint(checkpoints)
    done = trainer.train(resume_from_checkpoint=str(last) if last else None)
    model.model.eval()
    model.save(folder)
    shutil.rmtree(checkpoints)
    return TrainingReport(
        folder=folder,
        examples=len(items.kept),
        skipped=items.skipped,
        shortened=items.shortened,
        steps=int(done.global_step),
        loss=float(done.training_loss),
        validation_loss=_validated(model, _items(model, validation, limit).kept),
    )


@dataclass(frozen=True, slots=True)
class _Items:
    kept: list[Item]
    skipped: int
    shortened: int


def _turn(model: LanguageModel, direction: Direction) -> None:
    if direction == "backward" and not isinstance(model, CausalLM):
        raise InputError("only a causal language model can be trained backward")
    model.direction = direction


def _items(model: LanguageModel, examples: Sequence[Example], limit: int) -> _Items:
    kept: list[Item] = []
    shortened = 0
    for place, example in enumerate(examples):
        source, target = model.source_tokens(example.source), model.target_tokens(example.target)
        if not example.target.strip() or len(target) >= limit:
            continue
        room = limit - len(target)
        shortened += len(source) > room
        kept.append(Item(place, source[-room:], target))
    return _Items(kept, len(examples) - len(kept), shortened)


def _fingerprint(
    model: LanguageModel, examples: Sequence[Example], seed: int, longest: int, arguments: dict[str, Any]
) -> str:
    """A digest of all that decides how a run goes, so that no run goes on as another one."""
    facts = [
        str(model.place), model.direction, seed, longest, sorted(arguments.items()),
        [(example.source, example.target) for example in examples],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts, default=str).encode("utf-8", "surrogatepass")).hexdigest()


def _prepared(folder: Path, fingerprint: str) -> Path:
    """The folder of checkpoints; refused where it belongs to another run or the model is there."""
    checkpoints = folder / _CHECKPOINTS
    run = checkpoints / _RUN
    if run.is_file():
        if json.loads(run.read_text(encoding="utf-8"))["fingerprint"] != fingerprint:
            raise InputError(
                f"{folder}: a run with other examples or settings was stopped here; "
                "repeat it as it was, choose another folder, or remove this one"
            )
        return checkpoints
    if (folder / "config.json").exists():
        raise InputError(f"{folder}: there is a model in it already; choose another folder")
    checkpoints.mkdir(parents=True, exist_ok=True)
    run.write_text(json.dumps({"fingerprint": fingerprint}), encoding="utf-8")
    return checkpoints


def _last_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end: the trainer's state is written last."""
    found = [path for path in folder.glob("checkpoint-*") if (path / "trainer_state.json").is_file()]
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def _trainer(
    model: LanguageModel,
    items: list[Item],
    checkpoints: Path,
    seed: int,
    progress: Progress,
    arguments: dict[str, Any],
) -> Any:
    from transformers import Trainer
    from transformers.trainer_callback import PrinterCallback

    from graphneg.language_models.collation import Collation, Rows
    from graphneg.language_models.training_progress import ReportsProgress

    make: Any = Trainer
    trainer = make(
        model=model.model,
        args=_training_arguments(checkpoints, seed, str(model.device), arguments),
        train_dataset=Rows(items),
        data_collator=Collation(model),
        callbacks=[ReportsProgress(progress)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _training_arguments(checkpoints: Path, seed: int, device: str, arguments: dict[str, Any]) -> Any:
    from dataclasses import fields

    from transformers import TrainingArguments

    known = {field.name for field in fields(TrainingArguments)} - set(_TAKEN)
    strange = sorted(set(arguments) - known)
    if strange:
        raise InputError(
            f"training takes no argument {', '.join(strange)}; see transformers' TrainingArguments"
        )
    settings: dict[str, Any] = {"use_cpu": device == "cpu", **_DEFAULTS, **arguments}
    try:
        return TrainingArguments(
            output_dir=str(checkpoints),
            seed=seed,
            data_seed=seed,
            report_to="none",
            disable_tqdm=True,
            remove_unused_columns=False,
            **settings,
        )
    except (ValueError, TypeError) as error:
        raise InputError(f"these training arguments do not go together: {error}") from error
    except ImportError as error:
        raise InputError(f"training needs accelerate: {INSTALL}") from error


def _validated(model: LanguageModel, items: list[Item]) -> float | None:
    """The mean loss of held-out examples, each weighing the same."""
    from graphneg.decoders.t5.batching import in_batches

    losses = [loss for _, loss in in_batches(items, model.batch_size, model.losses) if loss is not None]
    return sum(losses) / len(losses) if losses else None
