"""Stop a query on the server when its time limit is reached or when it is cancelled.

Before the query runs, its transaction asks the server for the id of the connection. To stop the query, a
second connection sends ``SHOW TRANSACTIONS … TERMINATE TRANSACTIONS`` with this id. The same statements work
on Neo4j and on the embedded server::

    cancellation = Cancellation()
    Thread(target=lambda: store.query_read(text, seconds=30, cancellation=cancellation)).start()
    cancellation.cancel()        # the thread gets `QueryStopped`

Both servers check for a termination between two rows. The embedded server does not check inside a single
expression, such as ``reduce(a = 0, i IN range(1, 900000) | …)``. If a query still runs `GRACE_SECONDS` after
it was stopped, it counts as a runaway query, and the embedded server itself may have to be ended.
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
"""Seconds for which a query may continue to run after it was stopped, before it counts as a runaway query."""
AGAIN_SECONDS = 0.3
"""Seconds between two attempts to stop the same query."""
RUNAWAY_SECONDS = 5.0
"""Seconds between two attempts to end the server of a runaway query. An attempt has no effect while another
process uses the server."""
CANCELLED = "the query was cancelled"
"""The reason in the error message of a cancelled query."""
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
"""Prefix of the error codes of transactions that Neo4j has ended because of a time limit."""


class Cancellation:
    """Allows one thread to stop a query that another thread runs. Use an instance for one query only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[str], None] | None = None
        self.is_cancelled = False

    def cancel(self) -> None:
        """Stop the query, or prevent it from starting.

        This method may be called from any thread. It returns without waiting for the query to end.
        """
        with self._lock:
            self.is_cancelled = True
            if self._stop:
                self._stop(CANCELLED)

    def connect(self, stop: Callable[[str], None]) -> None:
        """Register the function that stops the query.

        Args:
            stop: Function that stops the query and takes the reason as its argument. It is called when the
                query is cancelled, or immediately if the query was cancelled before.
        """
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
    """Limit the time of a query that runs in the block, and make it possible to cancel the query.

    Args:
        transaction: The transaction of the query.
        terminate: Function that stops the query on the connection with the given id. It is called from
            another thread.
        runaway: Function that is called if the query still runs `GRACE_SECONDS` after it was stopped. It is
            called repeatedly until the query ends.
        seconds: Seconds after which the query is stopped; None for no limit.
        cancellation: Object with which another thread can stop the query; None if no thread needs to.

    Raises:
        QueryStopped: The time limit was reached, or the query was cancelled.
        Neo4jError: The query failed for another reason.
        DriverError: The connection failed for another reason.
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
        # A daemon thread does not prevent the program from exiting.
        timer.daemon = True
        timer.start()
    try:
        if cancellation:
            cancellation.connect(watch.stop)
        yield
    # If the server cannot stop the query, the server itself is ended. Then the driver raises DriverError.
    except (Neo4jError, DriverError) as error:
        if isinstance(error, Neo4jError) and (error.code or "").startswith(TIMED_OUT):
            raise QueryStopped(f"no answer in {seconds:g} s") from error
        if watch.reason:
            raise QueryStopped(watch.reason) from error
        raise
    finally:
        if timer:
            timer.cancel()
        watch.end()
    # Raise an error even if the query ended before it could be stopped, because its transaction cannot be
    # committed any more.
    if watch.reason:
        raise QueryStopped(watch.reason)


def connection_of(transaction: ManagedTransaction) -> str:
    """Return the id that the server assigned to the connection of a transaction.

    Args:
        transaction: An open transaction.

    Returns:
        The id of the connection.
    """
    # The driver does not provide the id of the connection. So ask the server for the list of running
    # statements and their connections. A random comment identifies this statement in the list.
    mark = token_hex(16)
    text = f"{cypher_text('stop/connection')}\n// {mark}"
    return transaction.run(as_literal(text), {"mark": mark}).single(strict=True)["connection"]


class _Watch:
    """Stops the query that runs on one connection. Once the query has ended, `stop` has no effect."""

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
        """Start a thread that stops the query and records the reason."""
        threading.Thread(target=self._stop, args=[reason], name="graphneg-stop", daemon=True).start()

    def _stop(self, reason: str) -> None:
        """Try to stop the query again and again, until it has ended or `GRACE_SECONDS` have passed."""
        until = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < until:
            with self._terminating:
                # Do nothing if the query has ended, or if another thread already stops it for another reason.
                if self._has_ended.is_set() or (self.reason and self.reason != reason):
                    return
                self.reason = reason
                self._terminate(self._connection)
            # If the query has not ended, stop it again. It may not have been sent to the server yet at the
            # previous attempt.
            if self._has_ended.wait(AGAIN_SECONDS):
                return
        # Another process may use the server now but not later, so repeat the attempt to end the server.
        while not self._has_ended.is_set():
            with self._terminating:
                if not self._has_ended.is_set():
                    self._runaway()
            self._has_ended.wait(RUNAWAY_SECONDS)

    def end(self) -> None:
        """Record that the query has ended, so that no further attempt to stop it is made.

        If an attempt to stop the query is in progress, this method waits until the attempt is over. A late
        attempt could stop the next query that uses the same connection from the pool.
        """
        self._has_ended.set()
        with self._terminating:
            pass
