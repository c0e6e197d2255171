"""Report the steps of transformers' ``Trainer`` as progress, and stop a run cleanly at Ctrl-C.

Import this module only inside functions. It is the only module in ``nn`` that imports transformers when it is
imported itself, which takes seconds.

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
    """Reports each step of a run to a progress display.

    The display of a resumed run starts at the step of its checkpoint. In a `listening` block, the first
    Ctrl-C stops the run after the current step, with a checkpoint. A second Ctrl-C stops it immediately.

    Args:
        progress: The progress display.
    """

    def __init__(self, progress: Progress) -> None:
        """Initialize with a progress display."""
        self._progress = progress
        self._stopping = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Start the display, at the current step if the run is resumed.

        Args:
            args: The training arguments.
            state: The state of the trainer.
            control: The control flags of the trainer.
            **_: Ignored.
        """
        self._progress.start("training", state.max_steps, "steps")
        self._progress.advance(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Report a step, and stop the run if Ctrl-C was pressed.

        Args:
            args: The training arguments.
            state: The state of the trainer.
            control: The control flags of the trainer. After Ctrl-C they are set to save a checkpoint and
                stop.
            **_: Ignored.
        """
        self._progress.advance(1)
        if self._stopping:
            # Save a checkpoint, so that the same call can resume the run later.
            control.should_save = control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """End the display.

        Args:
            args: The training arguments.
            state: The state of the trainer.
            control: The control flags of the trainer.
            **_: Ignored.
        """
        self._progress.finish()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Stop the run after its current step if Ctrl-C is pressed in the block.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed. It is raised at the end of the block, when the checkpoint
                has been written.
        """
        # Install a handler only in the main thread, where Python allows it, and only if the caller has not
        # installed one. Otherwise Ctrl-C works as before.
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
        """Handle Ctrl-C: record the first one; pass the second one to Python's default handler."""
        if self._stopping:
            signal.default_int_handler(number, frame)
        self._stopping = True
        self._progress.start("stopping after this step; Ctrl-C again stops now", None, "steps")
