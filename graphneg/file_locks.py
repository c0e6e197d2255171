"""Lock open files. The operating system releases a lock when all processes that hold it have ended.

Locks prevent two servers from using the same store directory, and two runs from writing the same output file.
This module imports only the standard library, because the process that supervises an embedded server runs
without other packages, and because commands import this module at startup.

>>> with open("x.lock", "wb") as lock:        # doctest: +SKIP
...     if not lock_exclusively(lock):
...         print("another process is at work")
"""

from __future__ import annotations

import sys
import time
from typing import IO

POLL_SECONDS = 0.02
"""Number of seconds between two attempts of `await_lock` to get a lock on Windows."""


def lock_exclusively(lock: IO[bytes]) -> bool:
    """Try to lock a file without waiting.

    The lock is released when the file is closed in this process and in all processes that have inherited it.

    Args:
        lock: The open file to lock.

    Returns:
        Whether the file is now locked; False if another process holds the lock.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            # Windows locks ranges of bytes. Lock the first byte only: all users of the file lock this byte.
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
        lock: The open file to lock.
    """
    if sys.platform == "win32":
        while not lock_exclusively(lock):
            time.sleep(POLL_SECONDS)
    else:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
