"""The training loop: a model, rows and a folder in, a trained model out, by transformers' ``Trainer``.

A run keeps its checkpoints beside a digest of all that decides how it goes: the same call finds them and
goes on where it was stopped, another one is refused. Once the model is saved they go. Pairs are learned
by a loss of each by itself, and of right ones against wrong ones of the same group.
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
"""Arguments of a run whose rows are those of all epochs, in the order in which they are learned."""
_DEFAULTS: Mapping[str, Any] = {
    "num_train_epochs": 1,
    "per_device_train_batch_size": 8,
    "learning_rate": 5e-5,
    "warmup_steps": 0.05,
    "save_strategy": "steps",
    "save_steps": 200,
    "save_total_limit": 1,
}
_CONFIG = "config.json"
_MODULES = "modules.json"
_OF_MODELS = ("model_type", "architectures", "graphneg")
# What transformers, sentence-transformers and tokenizers write; a folder may hold more, which stays.
_FILES = f"""
{_CONFIG} generation_config.json training_args.bin chat_template.jinja
model*.safetensors model.safetensors.index.json pytorch_model*.bin pytorch_model.bin.index.json
tokenizer* special_tokens_map.json added_tokens.json vocab.txt vocab.json merges.txt
spiece.model sentencepiece.bpe.model amrlib_meta.json held_out.amr
{_MODULES} sentence_bert_config.json config_sentence_transformers.json poly_encoder.safetensors
""".split()
# Folders inside a model's: a pooling's settings, and the tower of responses, an encoder of its own.
_POOLING, _TOWER = "1_Pooling", "response"


def training_arguments(checkpoints: Path, seed: int, device: str, arguments: Mapping[str, Any]) -> Any:
    """``TrainingArguments`` from graphneg's defaults and the caller's.

    ``device`` is the kind that the model is on: ``cpu``, ``cuda``, ``mps``. On ``cuda`` the run is in
    bf16 where the device has it and the caller names no precision.

    Raises `InputError`: there is no such argument, they do not go together, or a logger of ``report_to`` is
    not installed.
    """
    import torch
    from transformers import TrainingArguments

    own = {
        "output_dir": str(checkpoints),
        "seed": seed,
        "data_seed": seed,
        "disable_tqdm": True,
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
    ):  # the Trainer says so only when the model is built and on its device
        raise InputError("report_to=tensorboard: tensorboard is not installed; run: pip install tensorboard")
    try:
        return TrainingArguments(**own, **settings)
    except (ValueError, TypeError) as error:
        raise InputError(f"these training arguments do not go together: {error}") from error
    except ImportError as error:
        raise InputError(f"training needs accelerate: {INSTALL}") from error


def check_epochs(epochs: int, arguments: Mapping[str, Any]) -> None:
    """A run is as long as its epochs say, whatever the caller gives to ``TrainingArguments``.

    Raises `InputError`: there is no epoch, or an argument says how long a run is.
    """
    if epochs < 1:
        raise InputError("at least one epoch, please")
    if taken := {"num_train_epochs", "max_steps"} & set(arguments):
        raise InputError(f"{', '.join(sorted(taken))}: a run is as long as its epochs; give epochs")


@dataclass(frozen=True, slots=True)
class Run:
    """A folder that a model will be saved in, and the checkpoints of the run that makes it.

    ``fingerprint`` tells the run from others.
    """

    folder: Path
    fingerprint: str

    @property
    def checkpoints(self) -> Path:
        """Where the trainer writes."""
        return self.folder / "checkpoints"

    @property
    def note(self) -> RunNote:
        """Says of which run the checkpoints are."""
        return RunNote(self.checkpoints / "run.json", self.fingerprint)

    @property
    def last(self) -> Path | None:
        """The newest checkpoint that was written to its end: the trainer's state is written last."""
        written = [state.parent for state in self.checkpoints.glob("checkpoint-*/trainer_state.json")]
        return max(written, key=lambda path: int(path.name.rpartition("-")[2]), default=None)

    def begin(self) -> None:
        """Make room: what is to be overwritten goes, and a note says whose the checkpoints are.

        Raises `InputError`: the folder can't be made.
        """
        if self.note.state == "same":
            return
        if self.checkpoints.exists():
            shutil.rmtree(self.checkpoints)
        if (self.folder / _CONFIG).exists():
            _remove_model(self.folder)
        try:
            self.note.write()
        except OSError as error:
            reason = f"no folder that a model can go into: {error.strerror}"
            raise InputError(f"{self.folder}: {reason}") from error


def open_run(folder: str | Path, facts: Sequence[Any], overwrite: bool = False) -> Run:
    """The run of a folder; ``facts`` are all that decides how it goes, so that none goes on as another.

    Nothing is written or removed before the run begins. With ``overwrite`` a model that is there goes then,
    and so does a run with other facts that was stopped; a run with the same facts goes on all the same.

    Raises `InputError`: the folder holds a model, or a run with other facts; with ``overwrite``, its
    ``config.json`` is not a model's.
    """
    run = Run(Path(folder), fingerprint(facts))
    state = run.note.state
    if state == "same":
        return run
    if (state == "other" or run.last is not None) and not overwrite:
        raise InputError(
            f"{folder}: a run with other examples or settings was stopped here; "
            "repeat it as it was, choose another folder, or overwrite it"
        )
    if (run.folder / _CONFIG).exists():
        if not overwrite:
            raise InputError(
                f"{folder}: there is a model in it already; choose another folder, or overwrite it"
            )
        _model_config(run.folder)
    return run


def _model_config(folder: Path) -> dict[str, Any]:
    """A model's settings; refused where they are something else's."""
    config = folder / _CONFIG
    read = noted_facts(config)
    if not any(key in read for key in _OF_MODELS):
        raise InputError(f"{config}: not a model's, so nothing is overwritten; choose another folder")
    return read


def _remove_model(folder: Path) -> None:
    """Remove the files of a model, those of a tower of responses inside it as well, and no others."""
    noted: Any = _model_config(folder).get("graphneg")
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
    """A run that ended: optimiser ``steps``, the mean ``loss``, and the share of the rows that was learned.

    A run that stopped early has learned less than 1 of its rows.
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
    """Train ``learner.model`` in place on ``rows``, and ``learner.save`` it into the run's folder.

    ``collate`` makes batches. ``arguments`` go to ``TrainingArguments`` over graphneg's defaults, ``trainer``
    to ``Trainer``. It is silent but for ``progress``; ``report_to`` switches loggers such as TensorBoard on.
    A run that was stopped goes on from its last checkpoint when the same call is made again; on a CPU the
    same seed gives the same model.

    Ctrl-C ends it after the step that it is in, with a checkpoint; a second one ends it at once. A run
    that ends before its first checkpoint leaves nothing behind.

    Raises `InputError`: the arguments are none of ``TrainingArguments``, or do not go together, or the folder
    can't be made.
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
        if run.last is None:  # there is nothing to go on from
            shutil.rmtree(run.checkpoints, ignore_errors=True)
            _remove_empty(run.folder)
        raise
    model.eval()
    learner.save(run.folder)
    shutil.rmtree(run.checkpoints)
    share = float(done.metrics.get("epoch", 0)) / (float(settings.num_train_epochs) or 1)
    return Trained(run.folder, int(done.global_step), float(done.training_loss), share)


def _trainer(run: Run, callbacks: Sequence[Any], **options: Any) -> Any:
    """A silent ``Trainer``; what TensorBoard shows lies beside the model, and stays when checkpoints go."""
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
            # a run that goes on adds to its curves, another one has its own
            callback.logging_dir = str(run.folder / "runs" / run.fingerprint[:12])
    return loop


def weighted_cross_entropy(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """The sum over pairs of weighted cross-entropies, over the number of pairs in the step.

    ``outputs.logits`` have shape (pairs, 1); ``labels`` shape (pairs, columns), and begin with label and
    weight. Where gradients are accumulated ``num_items_in_batch`` counts the labels, all columns, of all
    batches of the step.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    losses = binary_cross_entropy_with_logits(
        outputs.logits[:, 0].float(), labels[:, 0], weight=labels[:, 1], reduction="sum"
    )
    return losses / pairs_in_step(labels, num_items_in_batch)


def pairs_and_lists(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """`weighted_cross_entropy`, and that of each right pair against the wrong ones of its group in the batch.

    ``labels`` have shape (pairs, 3): label, weight, number of the group. What makes a pair right is learned
    sooner where all else is the same.
    """
    import torch

    of_pairs = weighted_cross_entropy(outputs, labels, num_items_in_batch)
    logits, (targets, _, groups) = outputs.logits[:, 0].float(), labels.unbind(dim=1)
    right = targets > 0.5
    rivals = (groups[right][:, None] == groups[None, :]) & ~right[None, :]
    has_rivals = rivals.any(dim=1)
    if not has_rivals.any():
        return of_pairs
    own = logits[right][has_rivals]
    others = logits[None, :].masked_fill(~rivals[has_rivals], float("-inf"))
    of_lists = (torch.cat([own[:, None], others], dim=1).logsumexp(dim=1) - own).mean()
    return of_pairs + of_lists * len(labels) / pairs_in_step(labels, num_items_in_batch)


def pairs_in_step(labels: Tensor, num_items_in_batch: Any = None) -> Any:
    """How many pairs a step has, of labels of shape (pairs, columns) of one of its batches."""
    return len(labels) if num_items_in_batch is None else num_items_in_batch / labels.shape[1]
