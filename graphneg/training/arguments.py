"""transformers' ``TrainingArguments``: graphneg's defaults, the machine's, and the caller's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphneg.errors import InputError

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
_TAKEN = (
    "output_dir",
    "seed",
    "data_seed",
    "disable_tqdm",
    "remove_unused_columns",
    "resume_from_checkpoint",
)
_PRECISIONS = {"bf16", "fp16"}


def training_arguments(checkpoints: Path, seed: int, device: str, arguments: Mapping[str, Any]) -> Any:
    """``TrainingArguments`` from graphneg's defaults and the caller's.

    ``device`` is the kind that the model is on: ``cpu``, ``cuda``, ``mps``. On ``cuda`` the run is in
    bf16 where the device has it and the caller names no precision.

    Raises:
        InputError: there is no such argument, they do not go together, or a logger of ``report_to`` is
            not installed.
    """
    from dataclasses import fields

    from transformers import TrainingArguments

    known = {field.name for field in fields(TrainingArguments)} - set(_TAKEN)
    strange = sorted(set(arguments) - known)
    if strange:
        raise InputError(
            f"training takes no argument {', '.join(strange)}; see transformers' TrainingArguments"
        )
    settings: dict[str, Any] = {
        "use_cpu": device == "cpu",
        "report_to": "none",
        "bf16": not _PRECISIONS & set(arguments) and _has_bf16(device),
        **_DEFAULTS,
        **arguments,
    }
    _check_loggers(settings["report_to"])
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


def check_epochs(epochs: int, arguments: Mapping[str, Any]) -> None:
    """A run is as long as its epochs say, whatever the caller gives to ``TrainingArguments``.

    Raises:
        InputError: there is no epoch, or an argument says how long a run is.
    """
    if epochs < 1:
        raise InputError("at least one epoch, please")
    if taken := {"num_train_epochs", "max_steps"} & set(arguments):
        raise InputError(f"{', '.join(sorted(taken))}: a run is as long as its epochs; give epochs")


def _has_bf16(device: str) -> bool:
    import torch

    return device == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def _check_loggers(names: str | Sequence[str]) -> None:
    """The Trainer says that a logger is missing only when the model is built and on its device."""
    from importlib.util import find_spec

    wanted = [names] if isinstance(names, str) else names
    if "tensorboard" in wanted and not (find_spec("tensorboard") or find_spec("tensorboardX")):
        raise InputError("report_to=tensorboard: tensorboard is not installed; run: pip install tensorboard")
