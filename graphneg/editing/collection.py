"""Python's cyclic garbage collector, slowed down while batches are at work.

A batch makes some hundred thousand small objects that all live until it is finished; to look
through them again and again took a fifth of the client's time.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

YOUNG = 100_000
"""New objects between two collections."""

_lock = Lock()
_users = 0
_before: tuple[int, int, int] = (0, 0, 0)


@contextmanager
def fewer_collections() -> Generator[None]:
    """Collect seldom inside the block; a collector that is off, or slower already, stays as it is."""
    global _users, _before
    with _lock:
        if _users == 0:
            _before = gc.get_threshold()
            if 0 < _before[0] < YOUNG:
                gc.set_threshold(YOUNG, *_before[1:])
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                gc.set_threshold(*_before)
