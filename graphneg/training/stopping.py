"""Early stopping: a part of the contexts that nothing is learned from says when to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.training.groups import Place

if TYPE_CHECKING:
    from transformers import TrainerCallback

_ALL = 1 << 64


@dataclass(frozen=True, slots=True)
class Validation:
    """``fraction`` of the contexts are held back, chosen by their words.

    Their loss is taken once an epoch, or every ``eval_steps``. After ``patience`` times without a lower
    one the run stops, and the best model is kept.
    """

    fraction: float = 0.1
    patience: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.fraction < 1 or self.patience < 1:
            raise InputError("validation takes a fraction between 0 and 1, and patience of 1 or more")

    def holds_back(self, place: Place) -> bool:
        """Whether a context is of the part that is held back: the same one in whatever data it comes."""
        return number(0, "validation", *place.context) < self.fraction * _ALL

    def learns(self, place: Place) -> bool:
        """Whether a context is of the other part."""
        return not self.holds_back(place)

    def check(self, groups: Sequence[Place]) -> None:
        """Raises `InputError` where one of the parts is empty."""
        held_back = sum(map(self.holds_back, groups))
        if not 0 < held_back < len(groups):
            raise InputError(
                f"validation: {held_back} of {len(groups)} contexts would be held back; "
                "give more contexts or another fraction"
            )

    def arguments(self, pairs: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """``TrainingArguments`` for a run whose epochs have so many pairs; ``given`` are the caller's."""
        batch = int(given.get("per_device_train_batch_size", 8))
        step = batch * int(given.get("gradient_accumulation_steps", 1))
        every = given.get("eval_steps", max(1, -(-pairs // step)))
        return {
            "per_device_eval_batch_size": batch,
            **given,
            "eval_strategy": "steps",
            "eval_steps": every,
            "save_steps": every,
            "load_best_model_at_end": True,
            "metric_for_best_model": "loss",
            "greater_is_better": False,
            "restore_callback_states_from_checkpoint": True,
        }

    def callback(self) -> TrainerCallback:
        """What stops the trainer."""
        from transformers import EarlyStoppingCallback

        return EarlyStoppingCallback(early_stopping_patience=self.patience)
