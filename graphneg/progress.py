"""Report the progress of long work to an object that the caller passes in. The library itself prints nothing.

For each piece of work `Progress.start` is called, then `Progress.advance` several times, then
`Progress.finish`.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of one piece of work after another."""

    def start(self, label: str, total: int | None, unit: str) -> None:
        """Begin a piece of work.

        Args:
            label: Name of the work.
            total: Number of units to do, or None if unknown.
            unit: Name of the unit, in the plural.
        """

    def advance(self, amount: int) -> None:
        """Count units that are done.

        Args:
            amount: Number of further units.
        """

    def finish(self) -> None:
        """End the piece of work."""


class NoProgress(Progress):
    """Ignores all progress."""
