"""Runs that are stopped in the middle."""

from __future__ import annotations

from collections.abc import Callable

from graphneg.progress import NoProgress


def interrupt() -> None:
    """As if Ctrl-C were pressed here, whatever handles the signal."""
    raise KeyboardInterrupt


class StopsAt(NoProgress):
    """Does something, or interrupts, when so many units of work are done."""

    def __init__(self, amount: int, act: Callable[[], None] = interrupt) -> None:
        self._left = amount
        self._act = act

    def advance(self, amount: int) -> None:
        self._left -= amount
        if self._left == 0:
            self._act()
