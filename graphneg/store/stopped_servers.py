"""Abort queries whose server process has been stopped by SIGSTOP, so that they do not wait forever.

A stopped process keeps its connections open but does not answer. The driver has no time limit for answers,
because a query may take hours. So a thread watches the Java process of the server. If Java has been stopped
for `SILENT_SECONDS`, the thread shuts down all connections to the server, and every query that waits for an
answer fails immediately::

    with watched(java=4711, port=41523):
        driver.execute_query("MATCH (n) RETURN count(n)")    # ends after `kill -STOP 4711`

New connections can be opened afterwards. They work again as soon as the server is continued (SIGCONT).
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

SILENT_SECONDS = 10.0
"""Seconds for which a server must have been stopped before its queries are aborted."""
LOOK_SECONDS = 1.0
"""Seconds between two checks of a server."""


def is_stopped(process: int) -> bool:
    """Return whether a process has been stopped by a signal such as SIGSTOP.

    Args:
        process: The process id.

    Returns:
        True if the process is stopped. Always False on systems other than Linux, which have no ``/proc``.
    """
    try:
        status = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    # The format is "PID (name) state ...". Split at the last ")", because the name may contain spaces and
    # parentheses.
    return status.rpartition(b")")[2].split()[:1] == [b"T"]


@contextmanager
def watched(java: int, port: int) -> Generator[None]:
    """Watch a server during the block. Shut down the connections to it if it is suspended (SIGSTOP).

    Args:
        java: The process id of the server.
        port: The port of the server on this machine.

    Yields:
        Nothing.
    """
    has_left = threading.Event()
    # Watch the server in a daemon thread, which does not keep the program from exiting.
    arguments = (java, port, has_left)
    threading.Thread(target=_watch_process, args=arguments, name="graphneg-watch", daemon=True).start()
    try:
        yield
    finally:
        has_left.set()


def _watch_process(java: int, port: int, has_left: threading.Event) -> None:
    """Check regularly whether a server process is suspended. If it is, shut down the connections to it."""
    stopped_looks = 0
    while not has_left.wait(LOOK_SECONDS):
        # Count checks instead of measuring time. If a container with this process and Java is paused and then
        # continued, Java may continue a moment later than this process. Then only one check finds that Java
        # is stopped, although much time has passed.
        stopped_looks = stopped_looks + 1 if is_stopped(java) else 0
        # Shut down connections repeatedly as long as Java is suspended, because threads may open new ones in
        # the meantime, for example to cancel a query.
        if stopped_looks * LOOK_SECONDS >= SILENT_SECONDS:
            _shut_down_connections(port)


def _shut_down_connections(port: int) -> None:
    """Shut down all connections of this process to a port of this machine.

    The sockets are found in ``/proc``, because the driver has no method that aborts a query on which another
    thread waits.
    """
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if not os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                continue
            # Work with a duplicate of the file descriptor. The original could be closed and its number reused
            # for another file at any moment.
            with socket.socket(fileno=os.dup(int(number))) as connection:
                if connection.getpeername()[:2] == ("127.0.0.1", port):
                    connection.shutdown(socket.SHUT_RDWR)
