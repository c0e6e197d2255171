"""The callback of transformers' Trainer: its steps as progress, and Ctrl-C that ends a run after its step.

This module alone in ``nn`` imports transformers at its top, so it is imported inside functions.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from transformers import TrainerCallback

from graphneg.progress import Progress


class StepCallback(TrainerCallback):
    """Tells ``progress`` of each step; a run that goes on starts where it was.

    Inside of `listening`, at the first Ctrl-C the step ends, a checkpoint is written, and only then does the
    run stop; a second one ends it at once.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stopping = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The run begins, or goes on where it was."""
        self._progress.start("training", state.max_steps, "steps")
        self._progress.advance(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """One step is done; after Ctrl-C it is the last one."""
        self._progress.advance(1)
        if self._stopping:
            control.should_save = control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """The run has ended."""
        self._progress.finish()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Raises KeyboardInterrupt at the end where Ctrl-C was pressed; the checkpoint is there then.

        Handlers of others are left alone, and so are other threads than the main one, which no signal
        reaches: Ctrl-C does there what it did before.
        """
        ours = threading.current_thread() is threading.main_thread()
        ours = ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if ours:
            signal.signal(signal.SIGINT, self._stop)
        try:
            yield
        finally:
            if ours:
                signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._stopping:
            raise KeyboardInterrupt

    def _stop(self, number: int, frame: Any) -> None:
        if self._stopping:
            signal.default_int_handler(number, frame)
        self._stopping = True
        self._progress.start("stopping after this step; Ctrl-C again stops now", None, "steps")
