"""Python's interpreter, set for batches of many small objects that threads make and send side by side.

A batch makes some hundred thousand small objects that all live until it is finished: to look through
them for cycles, again and again, took a fifth of the client's time. And a thread that comes back
from the server waits until the one at work lets go of the interpreter, 5 ms as Python comes: a
load makes thousands of such round trips.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock

YOUNG = 100_000
"""New objects between two collections."""
SWITCH = 0.0005
"""Seconds after which a thread lets another one go on."""


class _Setting:
    """Something of the interpreter that is other while anybody asks for it, and then as it was before."""

    def __init__(self, change: Callable[[], Callable[[], None]]) -> None:
        self._change = change
        self._lock = Lock()
        self._users = 0
        self._restore: Callable[[], None] = lambda: None

    @contextmanager
    def changed(self) -> Generator[None]:
        with self._lock:
            if self._users == 0:
                self._restore = self._change()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._restore()


def _collect_seldom() -> Callable[[], None]:
    before = gc.get_threshold()
    if 0 < before[0] < YOUNG:
        gc.set_threshold(YOUNG, *before[1:])
    return lambda: gc.set_threshold(*before)


def _switch_soon() -> Callable[[], None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH))
    return lambda: sys.setswitchinterval(before)


_collections = _Setting(_collect_seldom)
_switches = _Setting(_switch_soon)


@contextmanager
def fewer_collections() -> Generator[None]:
    """Collect seldom inside the block; a collector that is off, or slower already, stays as it is."""
    with _collections.changed():
        yield


@contextmanager
def sooner_switches() -> Generator[None]:
    """Let threads that wait for the server go on at once inside the block."""
    with _switches.changed():
        yield
