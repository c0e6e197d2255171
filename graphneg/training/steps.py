"""The trainer's steps, reported as progress."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from graphneg.progress import Progress


class ReportsProgress(TrainerCallback):
    """Tells ``progress`` of each step; a run that goes on starts where it was."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._progress.start("training", state.max_steps, "steps")
        self._progress.advance(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._progress.advance(1)

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._progress.finish()
