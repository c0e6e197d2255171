"""Show the progress of transformers' ``Trainer``, and stop a training run cleanly at Ctrl-C.

Import this module only inside functions, because it imports transformers, which takes seconds. The other
modules in ``nn`` import transformers only when they need it.

Example:
    Train with a progress display::

        steps = StepCallback(progress)
        trainer = Trainer(model=model, args=arguments, train_dataset=rows, callbacks=[steps])
        with steps.listening():
            trainer.train()
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
    """Reports each step of a training run to a progress display.

    If a run is resumed, the display starts at the step of the checkpoint. In a `listening` block, the first
    Ctrl-C ends the run after the current step and saves a checkpoint. A second Ctrl-C ends the run
    immediately.

    Args:
        progress: The progress display.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stopping = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the progress display. If the run is resumed, the display starts at the current step.

        Args:
            args: The training arguments.
            state: The state of the trainer.
            control: The control flags of the trainer.
            **_: Ignored.
        """
        self._progress.start("training", state.max_steps, "steps")
        self._progress.advance(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Report a finished step. If Ctrl-C was pressed, stop the run.

        Args:
            args: The training arguments.
            state: The state of the trainer.
            control: The control flags of the trainer. After Ctrl-C, they are set so that the trainer saves a
                checkpoint and stops.
            **_: Ignored.
        """
        self._progress.advance(1)
        if self._stopping:
            # Save a checkpoint, so that the same call can resume the run later.
            control.should_save = control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """End the progress display.

        Args:
            args: The training arguments.
            state: The state of the trainer.
            control: The control flags of the trainer.
            **_: Ignored.
        """
        self._progress.finish()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Return a context manager in which Ctrl-C stops the run after its current step.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed once. The exception is raised at the end of the ``with``
                block, when the checkpoint has been saved.
        """
        # Do not change how Ctrl-C is handled if the caller has installed a handler, or outside the main
        # thread, where Python does not allow signal handlers to be set.
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
        """Handle Ctrl-C: the first Ctrl-C sets a flag, the second Ctrl-C raises KeyboardInterrupt."""
        if self._stopping:
            signal.default_int_handler(number, frame)
        self._stopping = True
        self._progress.start("stopping after this step; Ctrl-C again stops now", None, "steps")
