"""Train a model with transformers' ``Trainer``, and resume a run that was stopped.

`open_run` checks the output folder, and `fit` trains the model and saves it there. A run keeps its
checkpoints beside a digest of everything that determines the run. The same call finds them and resumes; a
call with other data or settings is refused. The checkpoints are removed when the model has been saved.

The losses for pairs of a context and a response are here, too: `weighted_cross_entropy` looks at each pair
alone, and `pairs_and_lists` also compares each right pair with the wrong pairs of its group.

Example:
    Train a model whose ``save`` method writes it to a folder::

        run = open_run("my-model", facts=[settings, examples])
        trained = fit(run, learner, rows, collate, seed=0, arguments={"num_train_epochs": 3})
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.nn.models import INSTALL
from graphneg.progress import NoProgress, Progress
from graphneg.records.runs import RunNote, noted_facts

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import TrainerCallback

IN_ORDER: Mapping[str, Any] = {"num_train_epochs": 1, "train_sampling_strategy": "sequential"}
"""Training arguments for rows that already hold all epochs, in the order in which they are learned."""
_DEFAULTS: Mapping[str, Any] = {
    "num_train_epochs": 1,
    "per_device_train_batch_size": 8,
    "learning_rate": 5e-5,
    "warmup_steps": 0.05,
    "save_strategy": "steps",
    "save_steps": 200,
    "save_total_limit": 1,
}
"""The default training arguments. Checkpoints are frequent, so that little is lost if a run is stopped."""
_CONFIG = "config.json"
_MODULES = "modules.json"
_OF_MODELS = ("model_type", "architectures", "graphneg")
"""Keys of which a model's ``config.json`` has at least one."""
# Files that transformers, sentence-transformers and tokenizers write. Other files in a folder are never
# removed.
_FILES = f"""
{_CONFIG} generation_config.json training_args.bin chat_template.jinja
model*.safetensors model.safetensors.index.json pytorch_model*.bin pytorch_model.bin.index.json
tokenizer* special_tokens_map.json added_tokens.json vocab.txt vocab.json merges.txt
spiece.model sentencepiece.bpe.model amrlib_meta.json held_out.amr
{_MODULES} sentence_bert_config.json config_sentence_transformers.json poly_encoder.safetensors
""".split()
# Folders in the folder of a model: the settings of its pooling, and the second encoder of a bi-encoder with
# separate towers.
_POOLING, _TOWER = "1_Pooling", "response"


def training_arguments(checkpoints: Path, seed: int, device: str, arguments: Mapping[str, Any]) -> Any:
    """Return ``TrainingArguments`` with the defaults of graphneg and the caller's values.

    On CUDA the run uses bf16 if the device supports it and the caller chooses no precision.

    Args:
        checkpoints: The folder of checkpoints.
        seed: Seed of the run and of the order of rows.
        device: The type of the model's device: ``cpu``, ``cuda`` or ``mps``.
        arguments: The caller's arguments of ``TrainingArguments``.

    Returns:
        The arguments.

    Raises:
        InputError: An argument is unknown, arguments contradict each other, or a logger in ``report_to`` or
            the package accelerate is not installed.
    """
    import torch
    from transformers import TrainingArguments

    own = {
        "output_dir": str(checkpoints),
        "seed": seed,
        "data_seed": seed,
        # graphneg shows its own progress.
        "disable_tqdm": True,
        # The collators read rows that the models do not know.
        "remove_unused_columns": False,
    }
    known = {field.name for field in fields(TrainingArguments)} - {*own, "resume_from_checkpoint"}
    if strange := sorted(set(arguments) - known):
        raise InputError(
            f"training takes no argument {', '.join(strange)}; see transformers' TrainingArguments"
        )
    settings: dict[str, Any] = {
        "use_cpu": device == "cpu",
        "report_to": "none",
        "bf16": not {"bf16", "fp16"} & set(arguments)
        and device == "cuda"
        and torch.cuda.is_bf16_supported(including_emulation=False),
        **_DEFAULTS,
        **arguments,
    }
    loggers = settings["report_to"]
    if "tensorboard" in ([loggers] if isinstance(loggers, str) else loggers) and not (
        find_spec("tensorboard") or find_spec("tensorboardX")
    ):  # The Trainer would notice this only after the model has been moved to its device.
        raise InputError("report_to=tensorboard: tensorboard is not installed; run: pip install tensorboard")
    try:
        return TrainingArguments(**own, **settings)
    except (ValueError, TypeError) as error:
        raise InputError(f"these training arguments do not go together: {error}") from error
    except ImportError as error:
        raise InputError(f"training needs accelerate: {INSTALL}") from error


def check_epochs(epochs: int, arguments: Mapping[str, Any]) -> None:
    """Check the number of epochs of a run, and that no training argument contradicts it.

    Args:
        epochs: Number of epochs.
        arguments: The caller's arguments of ``TrainingArguments``.

    Raises:
        InputError: The number is below 1, or an argument sets the length of the run.
    """
    if epochs < 1:
        raise InputError(f"epochs {epochs:g}: must be at least 1")
    if taken := {"num_train_epochs", "max_steps"} & set(arguments):
        raise InputError(f"{', '.join(sorted(taken))}: epochs set the length of a run; give epochs instead")


@dataclass(frozen=True, slots=True)
class Run:
    """The output folder of a training run, with its checkpoints.

    Attributes:
        folder: The folder in which the model is saved.
        fingerprint: A digest of everything that determines the run.
    """

    folder: Path
    fingerprint: str

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.folder / "checkpoints"

    @property
    def note(self) -> RunNote:
        """The note that says to which run the checkpoints belong."""
        return RunNote(self.checkpoints / "run.json", self.fingerprint)

    @property
    def last(self) -> Path | None:
        """The newest complete checkpoint; None if there is none. The trainer writes its state file last."""
        written = [state.parent for state in self.checkpoints.glob("checkpoint-*/trainer_state.json")]
        return max(written, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def begin(self) -> None:
        """Remove what is to be overwritten, and note to which run the checkpoints belong.

        Raises:
            InputError: The folder cannot be created.
        """
        # The checkpoints belong to this run: resume it.
        if self.note.state == "same":
            return
        if self.checkpoints.exists():
            shutil.rmtree(self.checkpoints)
        if (self.folder / _CONFIG).exists():
            _remove_model(self.folder)
        try:
            self.note.write()
        except OSError as error:
            reason = f"a model can't be saved there: {error.strerror}"
            raise InputError(f"{self.folder}: {reason}") from error


def open_run(folder: str | Path, facts: Sequence[Any], overwrite: bool = False) -> Run:
    """Check the output folder of a run. Nothing is written or removed before the run begins.

    Args:
        folder: The folder in which the model is saved.
        facts: Everything that determines the run, so that no run resumes another one.
        overwrite: Whether to replace a model, or the checkpoints of a run with other facts. A run with the
            same facts is resumed in any case.

    Returns:
        The run.

    Raises:
        InputError: The folder holds a model, or checkpoints of a run with other facts.
    """
    run = Run(Path(folder), fingerprint(facts))
    state = run.note.state
    if state == "same":
        return run
    if (state == "other" or run.last is not None) and not overwrite:
        raise InputError(
            f"{folder}: a run with other examples or settings was stopped here; "
            "repeat that run, choose another folder, or overwrite it"
        )
    if (run.folder / _CONFIG).exists():
        if not overwrite:
            raise InputError(
                f"{folder}: the folder has a model already; choose another folder, or overwrite it"
            )
        _model_config(run.folder)
    return run


def _model_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of a model; refuse a folder that holds something else."""
    config = folder / _CONFIG
    read = noted_facts(config)
    if not any(key in read for key in _OF_MODELS):
        raise InputError(
            f"{config}: not the file of a model, so nothing is overwritten; choose another folder"
        )
    return read


def _remove_model(folder: Path) -> None:
    """Remove the files of a model, including a second encoder for responses, and no other files."""
    noted: Any = _model_config(folder).get("graphneg")
    # A bi-encoder with separate towers keeps its encoder of responses in a folder of its own.
    separate = isinstance(noted, dict) and cast(dict[str, Any], noted).get("towers") == "separate"
    for part in (folder / _TOWER, folder) if separate else (folder,):
        if (part / _MODULES).is_file():
            (part / _POOLING / _CONFIG).unlink(missing_ok=True)
            _remove_empty(part / _POOLING)
        for path in [path for pattern in _FILES for path in part.glob(pattern) if path.is_file()]:
            path.unlink()
        if part != folder:
            _remove_empty(part)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training run.

    Attributes:
        folder: The folder of the model.
        steps: Number of optimizer steps.
        loss: Mean training loss.
        share: Share of the rows that were learned, from 0 to 1. It is below 1 if the run stopped early.
    """

    folder: Path
    steps: int
    loss: float
    share: float


def fit(
    run: Run,
    learner: Any,
    rows: Any,
    collate: Callable[[Any], Any],
    *,
    seed: int,
    arguments: Mapping[str, Any],
    progress: Progress | None = None,
    callbacks: Sequence[TrainerCallback] = (),
    **trainer: Any,
) -> Trained:
    """Train a model in place, and save it in the folder of the run.

    The run prints nothing but its progress. A run that was stopped resumes at its last checkpoint if the same
    call is made again. On a CPU the same seed gives the same model.

    Ctrl-C ends the run after its current step, with a checkpoint. A second Ctrl-C ends it at once. A run that
    ends before its first checkpoint leaves no files.

    Args:
        run: The output folder.
        learner: Has the transformers model as ``model``, and a method ``save`` that takes a folder.
        rows: The training data set.
        collate: Returns the batch for a list of rows.
        seed: Seed of the run.
        arguments: Arguments of ``TrainingArguments``. ``report_to`` switches on loggers such as TensorBoard.
        progress: A progress display.
        callbacks: Further callbacks of the trainer.
        **trainer: Further arguments of ``Trainer``.

    Returns:
        The result of the run.
    """
    from graphneg.nn.callbacks import StepCallback

    model = learner.model
    settings = training_arguments(run.checkpoints, seed, next(model.parameters()).device.type, arguments)
    run.begin()
    model.train()
    try:
        steps = StepCallback(progress or NoProgress())
        data = {"train_dataset": rows, "data_collator": collate, **trainer}
        loop = _trainer(run, [steps, *callbacks], model=model, args=settings, **data)
        with steps.listening():
            done = loop.train(resume_from_checkpoint=str(run.last) if run.last else None)
    except BaseException:
        if run.last is None:  # There is no checkpoint to resume from.
            shutil.rmtree(run.checkpoints, ignore_errors=True)
            _remove_empty(run.folder)
        raise
    model.eval()
    learner.save(run.folder)
    # The model has been saved, so the checkpoints are not needed any more.
    shutil.rmtree(run.checkpoints)
    # The trainer counts a fraction of an epoch if it was stopped early.
    share = float(done.metrics.get("epoch", 0)) / (float(settings.num_train_epochs) or 1)
    return Trained(run.folder, int(done.global_step), float(done.training_loss), share)


def _trainer(run: Run, callbacks: Sequence[Any], **options: Any) -> Any:
    """Return a ``Trainer`` that prints nothing and keeps its TensorBoard data beside the model."""
    from transformers import Trainer
    from transformers.integrations.integration_utils import TensorBoardCallback
    from transformers.trainer_callback import PrinterCallback

    make: Any = Trainer
    try:
        loop = make(callbacks=list(callbacks), **options)
    except ValueError as error:
        raise InputError(f"these training arguments do not go together: {error}") from error
    loop.remove_callback(PrinterCallback)
    for callback in loop.callback_handler.callbacks:
        if isinstance(callback, TensorBoardCallback) and callback.logging_dir is None:
            # A resumed run continues its curves; another run has curves of its own.
            callback.logging_dir = str(run.folder / "runs" / run.fingerprint[:12])
    return loop


def weighted_cross_entropy(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """Return the weighted cross-entropy of the pairs, divided by the number of pairs in the step.

    Args:
        outputs: The model's output, with ``logits`` of shape (pairs, 1).
        labels: Tensor of shape (pairs, columns). The first two columns are the label and the weight.
        num_items_in_batch: Number of labels, over all columns, in all batches of the step. It differs from
            that of this batch if gradients are accumulated.

    Returns:
        A scalar.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    losses = binary_cross_entropy_with_logits(
        outputs.logits[:, 0].float(), labels[:, 0], weight=labels[:, 1], reduction="sum"
    )
    return losses / pairs_in_step(labels, num_items_in_batch)


def pairs_and_lists(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """Add a listwise loss to `weighted_cross_entropy`.

    The listwise loss is the cross-entropy of each right pair against the wrong pairs of its group in the
    batch. The pairs of a group differ in little else, so the model learns sooner what makes a pair right.

    Args:
        outputs: The model's output, with ``logits`` of shape (pairs, 1).
        labels: Tensor of shape (pairs, 3): label, weight, and number of the group.
        num_items_in_batch: As in `weighted_cross_entropy`.

    Returns:
        A scalar.
    """
    import torch

    of_pairs = weighted_cross_entropy(outputs, labels, num_items_in_batch)
    logits, (targets, _, groups) = outputs.logits[:, 0].float(), labels.unbind(dim=1)
    right = targets > 0.5
    # rivals[i, j] is True if pair j is a wrong one of the same group as the right pair i.
    rivals = (groups[right][:, None] == groups[None, :]) & ~right[None, :]
    has_rivals = rivals.any(dim=1)
    if not has_rivals.any():
        return of_pairs
    own = logits[right][has_rivals]
    others = logits[None, :].masked_fill(~rivals[has_rivals], float("-inf"))
    of_lists = (torch.cat([own[:, None], others], dim=1).logsumexp(dim=1) - own).mean()
    # The mean is that of this batch. Scale it to the pairs of the whole step.
    return of_pairs + of_lists * len(labels) / pairs_in_step(labels, num_items_in_batch)


def pairs_in_step(labels: Tensor, num_items_in_batch: Any = None) -> Any:
    """Return the number of pairs in a step.

    Args:
        labels: Labels of one batch of the step, tensor of shape (pairs, columns).
        num_items_in_batch: Number of labels, over all columns, in the step; None if the step has one batch.

    Returns:
        The number of pairs.
    """
    # The trainer counts labels over all columns.
    return len(labels) if num_items_in_batch is None else num_items_in_batch / labels.shape[1]
