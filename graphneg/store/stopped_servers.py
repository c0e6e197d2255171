"""End the queries of a server that is stopped, so that nobody waits for its answer forever.

A process that received SIGSTOP keeps its connections open and answers nothing. The driver has no time limit
for answers, because a query may take hours. So a thread watches the server's Java. If Java has been stopped
for `SILENT_SECONDS`, the thread shuts down the connections of this process to it, and each query that waits
there fails at once::

    with watched(java=4711, port=41523):
        driver.execute_query("MATCH (n) RETURN count(n)")    # ends after `kill -STOP 4711`

Whoever opens the next connection finds the server as it is: still stopped, or continued.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

SILENT_SECONDS = 10.0
"""Seconds after which a server that is known to be stopped is given up."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at a server."""


def is_stopped(process: int) -> bool:
    """Return whether a process is stopped by a signal (SIGSTOP). Only Linux can tell.

    Args:
        process: The process id.

    Returns:
        True if it is stopped and has not been continued.
    """
    try:
        status = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    # /proc/PID/stat is "PID (name) state ...". The name may contain spaces and parentheses, so split at the
    # last ")".
    return status.rpartition(b")")[2].split()[:1] == [b"T"]


@contextmanager
def watched(java: int, port: int) -> Generator[None]:
    """Shut down this process's connections to a server while the server is stopped.

    Args:
        java: The process id of the server.
        port: The server's port on this machine.

    Yields:
        Nothing.
    """
    has_left = threading.Event()
    # A daemon: the watch must not keep the program from ending.
    arguments = (java, port, has_left)
    threading.Thread(target=_watch, args=arguments, name="graphneg-watch", daemon=True).start()
    try:
        yield
    finally:
        has_left.set()


def _watch(java: int, port: int, has_left: threading.Event) -> None:
    """Look at a server until its user has left."""
    stopped_looks = 0
    while not has_left.wait(LOOK_SECONDS):
        # Count looks instead of time. If this process was stopped, too, for example together with its
        # container, time has passed without a look, and Java may be continued a moment later.
        stopped_looks = stopped_looks + 1 if is_stopped(java) else 0
        # Repeat it: a thread may have opened a connection meanwhile, for example to cancel a query.
        if stopped_looks * LOOK_SECONDS >= SILENT_SECONDS:
            _shut_down_connections(port)


def _shut_down_connections(port: int) -> None:
    """Shut down all connections of this process to a port of this machine.

    The driver offers no way to end the waiting of another thread, so the sockets are found through ``/proc``.
    """
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if not os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                continue
            # Examine a duplicate: the number may be given to another file at any moment.
            with socket.socket(fileno=os.dup(int(number))) as connection:
                if connection.getpeername()[:2] == ("127.0.0.1", port):
                    connection.shutdown(socket.SHUT_RDWR)
