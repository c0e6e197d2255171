"""Progress of long work, reported to an object that the caller injects; the library prints nothing."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the state of one piece of work after another."""

    def start(self, label: str, total: int | None, unit: str) -> None:
        """A piece of work begins; ``total`` is in ``unit`` or unknown."""

    def advance(self, amount: int) -> None:
        """``amount`` more units are done."""

    def finish(self) -> None:
        """The piece of work is over."""


class NoProgress(Progress):
    """Reports nothing."""
