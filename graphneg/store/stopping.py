"""Stopping a query that runs on the server: when its time is up, or when nobody waits for it any more.

A query is stopped from another connection. Its transaction first asks the server which connection it uses;
``SHOW TRANSACTIONS … TERMINATE TRANSACTIONS`` then names that connection. The same statements run on Neo4j
and on the embedded server::

    cancellation = Cancellation()
    Thread(target=lambda: store.query_read(text, seconds=30, cancellation=cancellation)).start()
    cancellation.cancel()        # the thread gets `QueryStopped`

Both servers look for a termination between rows. The embedded server does not look inside of one
expression, such as ``reduce(a = 0, i IN range(1, 900000) | …)``. A query that goes on for `GRACE_SECONDS`
after it was stopped is reported as a runaway to whoever can end the server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from secrets import token_hex

from neo4j import ManagedTransaction
from neo4j.exceptions import DriverError, Neo4jError

from graphneg.errors import QueryStopped
from graphneg.store.statements import as_literal, cypher_text

GRACE_SECONDS = 10.0
"""Seconds that a query may go on after it was stopped, before it counts as a runaway."""
AGAIN_SECONDS = 0.3
"""Seconds between two attempts to stop a query."""
CANCELLED = "the query was cancelled"
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
"""The start of Neo4j's codes for a transaction that it ended by its own timeout."""


class Cancellation:
    """Lets one thread stop a query that another thread runs. Used for one query."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[str], None] | None = None
        self.is_cancelled = False

    def cancel(self) -> None:
        """Stop the query, or refuse to start it. Returns at once; may be called from any thread."""
        with self._lock:
            self.is_cancelled = True
            if self._stop:
                self._stop(CANCELLED)

    def connect(self, stop: Callable[[str], None]) -> None:
        """Call ``stop`` with the reason when the query is cancelled, at once if it already is."""
        with self._lock:
            self._stop = stop
            if self.is_cancelled:
                stop(CANCELLED)


@contextmanager
def stoppable(
    transaction: ManagedTransaction,
    terminate: Callable[[str], None],
    runaway: Callable[[], None],
    seconds: float | None,
    cancellation: Cancellation | None,
) -> Generator[None]:
    """Limit what the block runs in a transaction.

    Args:
        transaction: The transaction of the query.
        terminate: Ends what runs on the connection of this id. Called from another thread.
        runaway: Called where the query still runs `GRACE_SECONDS` after it was terminated.
        seconds: Seconds after which the query is stopped; None for no limit.
        cancellation: Stops the query when it is cancelled.

    Raises:
        QueryStopped: The time was up, or the query was cancelled.
    """
    if seconds is None and cancellation is None:
        yield
        return
    if cancellation and cancellation.is_cancelled:
        raise QueryStopped(CANCELLED)
    watch = _Watch(connection_of(transaction), terminate, runaway)
    timer = None
    if seconds is not None:
        timer = threading.Timer(seconds, watch.stop, [f"no answer in {seconds:g} s"])
        timer.daemon = True
        timer.start()
    try:
        if cancellation:
            cancellation.connect(watch.stop)
        yield
    except (Neo4jError, DriverError) as error:  # of the driver, where the server was ended as a runaway's
        if isinstance(error, Neo4jError) and (error.code or "").startswith(TIMED_OUT):
            raise QueryStopped(f"no answer in {seconds:g} s") from error
        if watch.reason:
            raise QueryStopped(watch.reason) from error
        raise
    finally:
        if timer:
            timer.cancel()
        watch.end()


def connection_of(transaction: ManagedTransaction) -> str:
    """Return the id that the server gave to the connection of a transaction.

    The driver does not publish it. The server lists the statement that asks, so a random comment in its text
    tells it from those of others.
    """
    mark = token_hex(16)
    text = f"{cypher_text('stop/connection')}\n// {mark}"
    return transaction.run(as_literal(text), {"mark": mark}).single(strict=True)["connection"]


class _Watch:
    """Stops the query of one connection, at most once and never after the query has ended."""

    def __init__(
        self, connection: str, terminate: Callable[[str], None], runaway: Callable[[], None]
    ) -> None:
        self.reason = ""
        self._connection = connection
        self._terminate = terminate
        self._runaway = runaway
        self._terminating = threading.Lock()
        self._has_ended = threading.Event()

    def stop(self, reason: str) -> None:
        """Stop the query in a thread of its own."""
        threading.Thread(target=self._stop, args=[reason], name="graphneg-stop", daemon=True).start()

    def _stop(self, reason: str) -> None:
        until = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < until:
            with self._terminating:
                if self._has_ended.is_set() or (self.reason and self.reason != reason):
                    return
                self.reason = reason
                self._terminate(self._connection)
            # The statement may not have been sent yet; then there was nothing to terminate.
            if self._has_ended.wait(AGAIN_SECONDS):
                return
        self._runaway()

    def end(self) -> None:
        """Note that the query has ended.

        Waits for a termination that is on its way: the connection goes back to the pool, and the next query
        on it must not be hit.
        """
        self._has_ended.set()
        with self._terminating:
            pass
