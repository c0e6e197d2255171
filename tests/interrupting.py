"""Stop a run in the middle, by Ctrl-C or by a full disk."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager

from graphneg.progress import NoProgress


def interrupt() -> None:
    """Raise the exception of Ctrl-C, even if another signal handler is installed."""
    raise KeyboardInterrupt


class StopsAt(NoProgress):
    """A progress display that calls a function, by default `interrupt`, after a given amount of work."""

    def __init__(self, amount: int, act: Callable[[], None] = interrupt) -> None:
        self._left = amount
        self._act = act

    def advance(self, amount: int) -> None:
        self._left -= amount
        if self._left == 0:
            self._act()


@contextmanager
def no_room_for_more_than(size: int) -> Generator[None]:
    """Limit the size of files in the block, so that writing beyond ``size`` bytes fails as on a full disk."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        signal.signal(signal.SIGXFSZ, before)
