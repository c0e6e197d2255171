"""Stop a query on the server: when its time is up, or when nobody waits for it any more.

A query is stopped through a second connection. Its transaction first asks the server for the id of its own
connection. ``SHOW TRANSACTIONS … TERMINATE TRANSACTIONS`` then ends what runs on that connection. The same
statements work on Neo4j and on the embedded server::

    cancellation = Cancellation()
    Thread(target=lambda: store.query_read(text, seconds=30, cancellation=cancellation)).start()
    cancellation.cancel()        # the thread gets `QueryStopped`

Both servers notice a termination between two rows. The embedded server does not notice it inside a single
expression, such as ``reduce(a = 0, i IN range(1, 900000) | …)``. A query that still runs `GRACE_SECONDS`
after it was stopped is a runaway, and the server itself may have to be ended.
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
"""Seconds after which a query that was stopped and still runs counts as a runaway."""
AGAIN_SECONDS = 0.3
"""Seconds between two attempts to stop a query."""
CANCELLED = "the query was cancelled"
"""The reason in the error of a cancelled query."""
TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
"""Prefix of Neo4j's error codes for a transaction that Neo4j ended by its own timeout."""


class Cancellation:
    """Lets one thread stop a query that another thread runs. Use it for one query only."""

    def __init__(self) -> None:
        """Initialize without a query."""
        self._lock = threading.Lock()
        self._stop: Callable[[str], None] | None = None
        self.is_cancelled = False

    def cancel(self) -> None:
        """Stop the query, or prevent its start. Returns at once, and may be called from any thread."""
        with self._lock:
            self.is_cancelled = True
            if self._stop:
                self._stop(CANCELLED)

    def connect(self, stop: Callable[[str], None]) -> None:
        """Register what stops the query.

        Args:
            stop: Called with the reason when the query is cancelled, and at once if it already is.
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
    """Limit the time of a query that runs in the block, and make it possible to cancel it.

    Args:
        transaction: The transaction of the query.
        terminate: Ends what runs on the connection with the given id. It is called from another thread.
        runaway: Called if the query still runs `GRACE_SECONDS` after it was terminated.
        seconds: Seconds after which the query is stopped; None for no limit.
        cancellation: Stops the query when it is cancelled.

    Raises:
        QueryStopped: The time was up, or the query was cancelled.
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
        # A timer must not keep the program from ending.
        timer.daemon = True
        timer.start()
    try:
        if cancellation:
            cancellation.connect(watch.stop)
        yield
    # DriverError: the server was ended because this query was a runaway.
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


def connection_of(transaction: ManagedTransaction) -> str:
    """Return the id that the server gave to the connection of a transaction.

    Args:
        transaction: An open transaction.

    Returns:
        The id.
    """
    # The driver does not reveal the id, but the server lists it with each running statement. A random comment
    # in this statement tells it apart from those of other connections.
    mark = token_hex(16)
    text = f"{cypher_text('stop/connection')}\n// {mark}"
    return transaction.run(as_literal(text), {"mark": mark}).single(strict=True)["connection"]


class _Watch:
    """Stops the query of one connection, at most once and never after the query has ended."""

    def __init__(
        self, connection: str, terminate: Callable[[str], None], runaway: Callable[[], None]
    ) -> None:
        """Initialize for the connection of the query."""
        self.reason = ""
        self._connection = connection
        self._terminate = terminate
        self._runaway = runaway
        self._terminating = threading.Lock()
        self._has_ended = threading.Event()

    def stop(self, reason: str) -> None:
        """Stop the query in a new thread."""
        threading.Thread(target=self._stop, args=[reason], name="graphneg-stop", daemon=True).start()

    def _stop(self, reason: str) -> None:
        """Terminate the query, and repeat that until it has ended or counts as a runaway."""
        until = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < until:
            with self._terminating:
                # The query has ended, or is being stopped for another reason.
                if self._has_ended.is_set() or (self.reason and self.reason != reason):
                    return
                self.reason = reason
                self._terminate(self._connection)
            # Repeat it: if the query had not been sent yet, there was nothing to terminate.
            if self._has_ended.wait(AGAIN_SECONDS):
                return
        self._runaway()

    def end(self) -> None:
        """Note that the query has ended.

        This waits for a termination that is in progress. Otherwise it could hit the next query, because the
        connection returns to the pool.
        """
        self._has_ended.set()
        with self._terminating:
            pass
