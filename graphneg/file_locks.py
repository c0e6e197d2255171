"""Locks on open files, which the system releases when the processes that hold them are gone.

They keep two servers off one store directory, and two runs off one output file. This module imports the
standard library alone: the supervisor of a server runs isolated, and commands import it at start.

>>> with open("x.lock", "wb") as lock:        # doctest: +SKIP
...     if not lock_exclusively(lock):
...         print("another process is at work")
"""

from __future__ import annotations

import sys
import time
from typing import IO

POLL_SECONDS = 0.02


def lock_exclusively(lock: IO[bytes]) -> bool:
    """Take a lock without waiting. It lasts until every process that inherited the file is gone.

    Args:
        lock: The open file.

    Returns:
        Whether the lock was free.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def await_lock(lock: IO[bytes]) -> None:
    """Take a lock as `lock_exclusively` does, and wait until it is free.

    Args:
        lock: The open file.
    """
    if sys.platform == "win32":
        while not lock_exclusively(lock):
            time.sleep(POLL_SECONDS)
    else:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
