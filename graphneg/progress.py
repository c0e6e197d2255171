"""Define the interface through which long tasks report their progress. The library itself prints nothing.

The caller passes an object that implements `Progress`. For each task, the library calls `Progress.start`,
then `Progress.advance` any number of times, and finally `Progress.finish`.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Interface of a progress display, which shows one task after the other."""

    def start(self, label: str, total: int | None, unit: str) -> None:
        """Begin a task.

        Args:
            label: Name of the task.
            total: Number of units that the task consists of, or None if it is not known.
            unit: Name of the unit in the plural, such as ``dialogues``.
        """

    def advance(self, amount: int) -> None:
        """Count units that were finished since the last call.

        Args:
            amount: Number of newly finished units.
        """

    def finish(self) -> None:
        """End the task."""


class NoProgress(Progress):
    """Progress display that ignores all calls."""
