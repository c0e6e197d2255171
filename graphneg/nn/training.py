"""Train a model with transformers' ``Trainer``, and resume a training run that was stopped.

`open_run` checks the output folder, and `fit` trains the model and saves it in this folder. Checkpoints are
stored together with a digest of all data and settings. If a run is stopped, repeating the same call finds the
checkpoints and resumes the run. A call with different data or settings is refused. When the model has been
saved, the checkpoints are removed.

The module also contains two loss functions for pairs of a context and a response. `weighted_cross_entropy`
considers each pair separately. `pairs_and_lists` also compares each correct pair with the wrong pairs of its
group.

Example:
    Train a model whose ``save`` method writes it to a folder::

        run = open_run("my-model", facts=[settings, examples])
        trained = fit(run, learner, rows, collate, seed=0, arguments={"num_train_epochs": 3})
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.nn.models import INSTALL
from graphneg.progress import NoProgress, Progress
from graphneg.records.locks import refuse_links
from graphneg.records.runs import RunNote, read_own_note, read_unverified_note

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import TrainerCallback

IN_ORDER: Mapping[str, Any] = {"num_train_epochs": 1, "train_sampling_strategy": "sequential"}
"""Training arguments for data that already contain the rows of all epochs, in the order for training."""
_DEFAULTS: Mapping[str, Any] = {
    "num_train_epochs": 1,
    "per_device_train_batch_size": 8,
    "learning_rate": 5e-5,
    "warmup_steps": 0.05,
    "save_strategy": "steps",
    "save_steps": 200,
    "save_total_limit": 1,
}
"""The default training arguments. Checkpoints are saved often, so that little work is lost if a run is
stopped."""
_CONFIG = "config.json"
_MODULES = "modules.json"
_MODEL_KEYS = ("model_type", "architectures", "graphneg")
"""A ``config.json`` with at least one of these keys is the configuration of a model."""
# File name patterns of the files that transformers, sentence-transformers and tokenizers write. When a model
# is overwritten, only files that match one of these patterns are removed.
_FILES = f"""
{_CONFIG} generation_config.json training_args.bin chat_template.jinja
model*.safetensors model.safetensors.index.json pytorch_model*.bin pytorch_model.bin.index.json
tokenizer* special_tokens_map.json added_tokens.json vocab.txt vocab.json merges.txt
spiece.model sentencepiece.bpe.model amrlib_meta.json held_out.amr
{_MODULES} sentence_bert_config.json config_sentence_transformers.json poly_encoder.safetensors
""".split()
# Names of two subfolders of a model's folder. "1_Pooling" contains the pooling settings of
# sentence-transformers. "response" contains the response encoder of a bi-encoder that has separate encoders
# for contexts and responses.
_POOLING, _RESPONSE_ENCODER = "1_Pooling", "response"


def training_arguments(checkpoints: Path, seed: int, device: str, arguments: Mapping[str, Any]) -> Any:
    """Create ``TrainingArguments`` from graphneg's defaults and the values that the caller passes.

    On CUDA, bf16 is used if the device supports it, unless the caller sets ``bf16`` or ``fp16``.

    Args:
        checkpoints: The folder in which checkpoints are stored.
        seed: Seed of the run, which also determines the order of the rows.
        device: The type of the model's device: ``cpu``, ``cuda`` or ``mps``.
        arguments: The caller's values, keyed by argument name, which override the defaults.

    Returns:
        The ``TrainingArguments`` object of transformers.

    Raises:
        InputError: An argument is unknown, arguments contradict each other, a logger in ``report_to`` is not
            installed, or the package accelerate is not installed.
    """
    import torch
    from transformers import TrainingArguments

    own = {
        "output_dir": str(checkpoints),
        "seed": seed,
        "data_seed": seed,
        # Switch off the progress bar of transformers, because graphneg has its own progress bar.
        "disable_tqdm": True,
        # By default, the Trainer removes columns that are not parameters of the model. Some collators need
        # such columns, so keep them.
        "remove_unused_columns": False,
        # Without `label_names`, the Trainer looks for labels among the parameters of the model's `forward`.
        # If it found none, as in a poly-encoder, it would pass the labels to `forward`, which does not accept
        # them.
        "label_names": ["labels"],
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
    ):  # Without this check, the Trainer would fail later, when the model is already on the device.
        raise InputError("report_to=tensorboard: tensorboard is not installed; run: pip install tensorboard")
    try:
        return TrainingArguments(**own, **settings)
    except (ValueError, TypeError) as error:
        raise InputError(f"these training arguments contradict each other: {error}") from error
    except ImportError as error:
        raise InputError(f"training needs accelerate: {INSTALL}") from error


def check_epochs(epochs: int, arguments: Mapping[str, Any]) -> None:
    """Check the number of epochs of a run, and that no training argument contradicts this number.

    Args:
        epochs: Number of epochs.
        arguments: The caller's ``TrainingArguments``, keyed by name.

    Raises:
        InputError: ``epochs`` is below 1, or an argument also determines the number of steps or epochs.
    """
    if epochs < 1:
        raise InputError(f"epochs must be at least 1, not {epochs:g}")
    if taken := {"num_train_epochs", "max_steps"} & set(arguments):
        raise InputError(f"{', '.join(sorted(taken))}: epochs set the length of a run; give epochs instead")


@dataclass(frozen=True, slots=True)
class Run:
    """A training run: its output folder and its checkpoints.

    Attributes:
        folder: The folder in which the model is saved.
        fingerprint: A digest of all data and settings that determine the result of the run.
    """

    folder: Path
    fingerprint: str

    @property
    def checkpoints(self) -> Path:
        """The folder in which checkpoints are stored."""
        return self.folder / "checkpoints"

    @property
    def note(self) -> RunNote:
        """A file beside the checkpoints, with the fingerprint of the run that wrote the checkpoints."""
        return RunNote(self.checkpoints / "run.json", self.fingerprint)

    @property
    def last(self) -> Path | None:
        """The path of the newest complete checkpoint; None if no checkpoint is complete."""
        # The trainer writes the state file last, so a checkpoint with a state file is complete.
        written = [state.parent for state in self.checkpoints.glob("checkpoint-*/trainer_state.json")]
        return max(written, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def check_checkpoints(self) -> None:
        """Check that an existing folder of checkpoints was made by a training run.

        Raises:
            InputError: The folder is a file or a link, or it contains files but no ``RunNote`` (a JSON file
                that describes a run).
        """
        folder = self.checkpoints
        if not os.path.lexists(folder):
            return
        # A user may have an unrelated folder called "checkpoints". Accept the folder only if it contains the
        # note file of a training run, or if it is empty because a run was killed before it wrote this file.
        is_folder = folder.is_dir() and not folder.is_symlink()
        if is_folder and (not any(folder.iterdir()) or read_own_note(self.note.path)):
            return
        raise InputError(
            f"{folder}: not made by a training run, so nothing is overwritten; choose another folder"
        )

    def begin(self) -> None:
        """Prepare the output folder: remove old files and write the fingerprint of the run.

        If the checkpoints in the folder belong to this run, nothing is removed, so that the run can be
        resumed.

        Raises:
            InputError: The folder cannot be created, or its folder of checkpoints is not from a training run.
        """
        self.check_checkpoints()
        # Keep checkpoints of a run with the same settings, so that `fit` can resume this run.
        if self.note.state == "same":
            return
        if self.checkpoints.exists():
            shutil.rmtree(self.checkpoints)
        if (self.folder / _CONFIG).exists():
            _remove_model(self.folder)
        try:
            self.note.write()
        except OSError as error:
            reason = f"a model can't be saved in this folder: {error.strerror}"
            raise InputError(f"{self.folder}: {reason}") from error


def open_run(folder: str | Path, facts: Sequence[Any], overwrite: bool = False) -> Run:
    """Check the output folder of a training run.

    This function does not change the folder. `Run.begin` removes old files.

    Args:
        folder: The folder in which the model is saved.
        facts: All data and settings that determine the result of the run. A run is resumed only by a call
            with equal facts.
        overwrite: Whether to replace a model, or the checkpoints of a run with different facts. The
            checkpoints of a run with equal facts are never replaced, because that run is resumed.

    Returns:
        The run, for `fit`.

    Raises:
        InputError: ``overwrite`` is False, and the folder contains a model or the checkpoints of a run with
            different facts. Or ``overwrite`` is True, and the file ``config.json`` in the folder does not
            belong to a model. Or the folder contains a folder ``checkpoints`` that no training run has made.
    """
    run = Run(Path(folder), fingerprint(facts))
    run.check_checkpoints()
    _refuse_links_of_model(run.folder)
    state = run.note.state
    if state == "same":
        return run
    if state == "other" and not overwrite:
        raise InputError(
            f"{folder}: the folder contains an unfinished run with other examples or settings; repeat that "
            "run, choose another folder, or overwrite it"
        )
    if (run.folder / _CONFIG).exists():
        if not overwrite:
            raise InputError(
                f"{folder}: the folder already contains a model; choose another folder, or overwrite it"
            )
        _model_config(run.folder)
    return run


def _refuse_links_of_model(folder: Path) -> None:
    """Raise an error if one of a model's files is a symbolic link.

    Libraries that save a model would follow a link such as ``config.json`` and overwrite its target.
    """
    subfolders = [folder / _POOLING, folder / _RESPONSE_ENCODER]
    refuse_links(subfolders)
    for part in (folder, *subfolders, folder / _RESPONSE_ENCODER / _POOLING):
        if part.is_dir():
            refuse_links(
                path for path in part.iterdir() if any(fnmatch(path.name, pattern) for pattern in _FILES)
            )


def _model_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of a model. Raise an error if ``config.json`` does not describe a model."""
    config = folder / _CONFIG
    read = read_unverified_note(config)
    if not any(key in read for key in _MODEL_KEYS):
        raise InputError(f"{config}: not a model file, so nothing is overwritten; choose another folder")
    return read


def _remove_model(folder: Path) -> None:
    """Remove the files of a model and of its separate response encoder, but no other files."""
    noted: Any = _model_config(folder).get("graphneg")
    # A bi-encoder may have separate encoders for contexts and responses. The response encoder is then in a
    # subfolder, which is also removed.
    separate = isinstance(noted, dict) and cast(dict[str, Any], noted).get("towers") == "separate"
    for part in (folder / _RESPONSE_ENCODER, folder) if separate else (folder,):
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
class TrainingResult:
    """The result of a training run.

    Attributes:
        folder: The folder in which the model was saved.
        steps: Number of optimizer steps.
        loss: Mean training loss.
        share: Fraction of the planned epochs that was completed, from 0 to 1. The fraction is below 1 if the
            run ended early, for example because of ``max_steps``.
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
) -> TrainingResult:
    """Train a model in place, and save it in the folder of the run.

    If a run is stopped, repeating the same call resumes it at the last checkpoint. On a CPU, the same seed
    gives the same model. Only the progress is printed.

    Ctrl-C ends the run after its current step and saves a checkpoint. A second Ctrl-C ends the run
    immediately. If a run ends before its first checkpoint, its files are removed.

    Args:
        run: The run with its output folder, as returned by `open_run`.
        learner: An object with an attribute ``model``, the transformers model, and a method ``save``, which
            takes a folder.
        rows: The training data set.
        collate: Function that converts a list of rows into a batch.
        seed: Seed of the run.
        arguments: ``TrainingArguments``, keyed by name, which override the defaults. For example,
            ``report_to`` switches on loggers such as TensorBoard.
        progress: Progress display; None for no display.
        callbacks: Further callbacks of the trainer.
        **trainer: Further arguments of ``Trainer``.

    Returns:
        The folder of the model, the number of steps, the loss, and the completed fraction of the run.
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
        # A run that stopped before its first checkpoint cannot be resumed, so remove the files of the run.
        if run.last is None:
            shutil.rmtree(run.checkpoints, ignore_errors=True)
            _remove_empty(run.folder)
        raise
    # In mixed precision, the Trainer replaces `forward` by a function that computes in 16 bits. Restore the
    # original `forward`, so that the trained model gives the same scores as the saved model.
    loop.accelerator.unwrap_model(model, keep_fp32_wrapper=False)
    model.eval()
    learner.save(run.folder)
    # The model has been saved, so the checkpoints are no longer needed.
    shutil.rmtree(run.checkpoints)
    # If the run ended early, the trainer reports the number of completed epochs as a fraction, such as 1.5.
    share = float(done.metrics.get("epoch", 0)) / (float(settings.num_train_epochs) or 1)
    return TrainingResult(run.folder, int(done.global_step), float(done.training_loss), share)


def _trainer(run: Run, callbacks: Sequence[Any], **options: Any) -> Any:
    """Return a ``Trainer`` that prints nothing and writes its TensorBoard data to the model's folder."""
    from transformers import Trainer
    from transformers.integrations.integration_utils import TensorBoardCallback
    from transformers.trainer_callback import PrinterCallback

    make: Any = Trainer
    try:
        loop = make(callbacks=list(callbacks), **options)
    except ValueError as error:
        raise InputError(f"these training arguments contradict each other: {error}") from error
    loop.remove_callback(PrinterCallback)
    for callback in loop.callback_handler.callbacks:
        if isinstance(callback, TensorBoardCallback) and callback.logging_dir is None:
            # The folder has the fingerprint of the run in its path. In TensorBoard, a resumed run therefore
            # continues its curves, and a run with different settings starts new curves.
            callback.logging_dir = str(run.folder / "runs" / run.fingerprint[:12])
    return loop


def weighted_cross_entropy(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """Return the weighted binary cross-entropy of the pairs in a batch.

    The sum over the pairs is divided by the number of pairs in the optimizer step.

    Args:
        outputs: The model's output, with ``logits`` of shape (pairs, 1).
        labels: Tensor of shape (pairs, columns). The first column is the label (1 for a correct pair, 0 for a
            wrong pair), the second column is the weight of the pair. Further columns are not used.
        num_items_in_batch: Number of values in ``labels``, summed over all batches of the optimizer step. A
            step has several batches if gradients are accumulated. None if the step has only this batch.

    Returns:
        The loss, a scalar tensor.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    losses = binary_cross_entropy_with_logits(
        outputs.logits[:, 0].float(), labels[:, 0], weight=labels[:, 1], reduction="sum"
    )
    return losses / pairs_in_step(labels, num_items_in_batch)


def pairs_and_lists(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """Return the sum of `weighted_cross_entropy` and a listwise loss.

    The listwise loss is the softmax cross-entropy of each correct pair against the wrong pairs of its group
    in the batch. The pairs of a group usually have the same context, so the model learns faster what makes a
    response correct.

    Args:
        outputs: The model's output, with ``logits`` of shape (pairs, 1).
        labels: Tensor of shape (pairs, 3) with the label, the weight and the group number of each pair.
        num_items_in_batch: Number of values in ``labels``, as in `weighted_cross_entropy`.

    Returns:
        The sum of both losses, a scalar tensor.
    """
    import torch

    of_pairs = weighted_cross_entropy(outputs, labels, num_items_in_batch)
    logits, (targets, _, groups) = outputs.logits[:, 0].float(), labels.unbind(dim=1)
    right = targets > 0.5
    # The rivals of a correct pair are the wrong pairs of its group: rivals[i, j] is True if pair j is a rival
    # of the i-th correct pair.
    rivals = (groups[right][:, None] == groups[None, :]) & ~right[None, :]
    has_rivals = rivals.any(dim=1)
    if not has_rivals.any():
        return of_pairs
    own = logits[right][has_rivals]
    others = logits[None, :].masked_fill(~rivals[has_rivals], float("-inf"))
    of_lists = (torch.cat([own[:, None], others], dim=1).logsumexp(dim=1) - own).mean()
    # The listwise loss is a mean over this batch, but an optimizer step may sum over several batches. So
    # multiply the loss by the fraction of the step's pairs that are in this batch.
    return of_pairs + of_lists * len(labels) / pairs_in_step(labels, num_items_in_batch)


def pairs_in_step(labels: Tensor, num_items_in_batch: Any = None) -> Any:
    """Return the number of pairs in an optimizer step.

    Args:
        labels: Labels of one batch of the step, tensor of shape (pairs, columns).
        num_items_in_batch: Number of values in ``labels``, summed over all batches of the step; None if the
            step has only this batch.

    Returns:
        The number of pairs in all batches of the step.
    """
    # The trainer counts every value in `labels`, so divide by the number of values per pair.
    return len(labels) if num_items_in_batch is None else num_items_in_batch / labels.shape[1]
