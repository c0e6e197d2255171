"""Ends a process when the process that started this one is gone: ``python watchdog.py PID``.

The supervisor holds the other end of standard input. If that closes without a word, the supervisor was
killed, and what it kept is killed too; if it says ``done`` first, there is nothing left to end.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


def main() -> None:
    """Wait for the supervisor's end, then end the process it kept."""
    if sys.stdin.buffer.read() != b"done":
        with contextlib.suppress(OSError):
            os.kill(int(sys.argv[1]), getattr(signal, "SIGKILL", signal.SIGTERM))


if __name__ == "__main__":
    main()
