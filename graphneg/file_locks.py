"""Lock open files. The system releases a lock when the processes that hold it have ended.

Locks prevent two servers from using one store directory, and two runs from writing one output file. This
module imports only the standard library: the supervisor of an embedded server runs without other packages,
and commands import this module at startup.

>>> with open("x.lock", "wb") as lock:        # doctest: +SKIP
...     if not lock_exclusively(lock):
...         print("another process is at work")
"""

from __future__ import annotations

import sys
import time
from typing import IO

POLL_SECONDS = 0.02
"""Seconds between two attempts to get a lock on Windows, which `await_lock` polls."""


def lock_exclusively(lock: IO[bytes]) -> bool:
    """Try to lock a file without waiting. The lock lasts until all processes that inherited the file end.

    Args:
        lock: The open file.

    Returns:
        True if the lock was free and is now held.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            # Windows locks ranges of bytes, so the first byte is locked in place of the whole file.
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def await_lock(lock: IO[bytes]) -> None:
    """Lock a file as `lock_exclusively` does, but wait until the lock is free.

    Args:
        lock: The open file.
    """
    if sys.platform == "win32":
        while not lock_exclusively(lock):
            time.sleep(POLL_SECONDS)
    else:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
