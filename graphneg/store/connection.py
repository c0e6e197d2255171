"""Send queries to an open store.

A `Store` wraps the official Neo4j driver. It behaves in the same way on Neo4j and on the embedded ArcadeDB
server: it retries transactions where a retry can help, and it turns each error of the driver into one
`StoreError` that says what is wrong, where, and what to do.

Queries fall into two groups:

- Queries that graphneg ships are trusted. `Store.read`, `Store.stream` and `Store.write` run them.
- Queries from users, web pages and transform files are untrusted. `Store.query_read` runs them, and the
  server refuses to write (see `graphneg.store.reading`).

Example:
    Count the dialogues of a store::

        with open_store("graphneg-store") as store:
            [row] = store.read("MATCH (d:Dialogue) RETURN count(d) AS amount")
            print(row["amount"])
"""

from __future__ import annotations

import logging
import secrets
import ssl
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from random import uniform
from typing import Any, Protocol, TypeVar

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    Auth,
    Driver,
    EagerResult,
    GraphDatabase,
    ManagedTransaction,
    NotificationMinimumSeverity,
    Record,
    Result,
    ResultSummary,
    Session,
    unit_of_work,
)
from neo4j.exceptions import (
    ClientError,
    ConfigurationError,
    ConstraintError,
    CypherSyntaxError,
    DriverError,
    Forbidden,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from graphneg.errors import StoreError, first_line
from graphneg.store.reading import Reader, check_summary, only_reading
from graphneg.store.statements import as_literal, cypher_text, run, send_text
from graphneg.store.stopping import Cancellation, stoppable

# The driver declares its options as untyped keyword arguments.
# pyright: reportUnknownMemberType=false


# The driver logs each retry as a warning. Python prints warnings of libraries if the program has configured
# no logging.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


def connect(uri: str, auth: Auth | None) -> Driver:
    """Return a driver that gives up on a silent server after a few seconds.

    No data is sent yet. The driver's own retries are switched off, and `Store` retries instead: the driver
    doubles its pauses until its time is up, and it cannot see that the process of an embedded server has
    ended.

    Args:
        uri: The Bolt address, such as ``neo4j://localhost:7687``.
        auth: The credentials; None to connect without authentication.

    Returns:
        A driver, which the caller closes.
    """
    return GraphDatabase.driver(
        uri,
        auth=auth,
        connection_timeout=5.0,
        connection_acquisition_timeout=6.0,
        max_transaction_retry_time=0.0,
        initial_retry_delay=0.0,
        notifications_min_severity=NotificationMinimumSeverity.OFF,
    )


def ask(driver: Driver, database: str | None) -> ResultSummary:
    """Send a trivial query to a server, without retries.

    Args:
        driver: A driver for the server.
        database: The name of the database; None for the default database of the user.

    Returns:
        The summary of the query, which names the server and the database.
    """
    with driver.session(database=database) as session:
        return session.run("RETURN 1").consume()


def server_agent(uri: str, driver: Driver, auth: Auth | None) -> str:
    """Return the name and version that a server reports, such as ``Neo4j/5.26.30``.

    Args:
        uri: The address of the server.
        driver: A driver for this address.
        auth: The credentials of the driver.

    Returns:
        The agent string of the server.
    """
    try:
        return driver.get_server_info().agent
    except ServiceUnavailable as error:
        refusal = error
    # Outside of the except clause, so that the error of the router does not become the cause of the new one.
    if uri.lower().startswith("neo4j"):
        # The routing error gives no reason. A direct connection to the same address fails with the real one,
        # such as wrong credentials.
        with connect("bolt" + uri[len("neo4j") :].partition("?")[0], auth) as direct:
            direct.get_server_info()
    raise refusal


ADVICE_ON_SILENCE = (
    "check that Neo4j runs there, its host and Bolt port (7687 by default), "
    "and whether it wants TLS (neo4j+s://)"
)
"""What to do if a Neo4j server cannot be reached when the store is opened."""
ADVICE_IN_USE = (
    "check that the server runs; what was acknowledged is kept, and the same command continues from there"
)
"""What to do if a server stops answering while the store is in use."""
ADVICE = {
    "Neo.ClientError.Security.Unauthorized": (
        "{server} refuses these credentials: set NEO4J_USERNAME and NEO4J_PASSWORD, "
        "or pass username and password"
    ),
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        "{server} refuses more attempts after too many wrong passwords: wait a few seconds, then try again"
    ),
    "Neo.ClientError.Security.CredentialsExpired": (
        "{server} wants a new password first: run ALTER CURRENT USER SET PASSWORD FROM 'OLD' TO 'NEW' "
        "on its database system"
    ),
    "Neo.ClientError.Database.DatabaseNotFound": (
        "{server} has no such database ({message}): name one that exists with NEO4J_DATABASE, "
        "or leave it unset"
    ),
    **dict.fromkeys(
        (
            "Neo.DatabaseError.Transaction.TransactionLogError",
            "Neo.DatabaseError.Transaction.TransactionStartFailed",
        ),
        "{server} can't write (its disk is full, most often; it says: {message}): make room there, restart "
        "it, and run the same command again; what was acknowledged is kept",
    ),
}
"""Messages by Neo4j error code. They say what to do, unlike the messages of the server."""
REFUSALS: Mapping[type[Neo4jError], str] = {
    Forbidden: "{server} does not allow this to your user: {message}",
    CypherSyntaxError: "the query is not valid Cypher for {server}: {message}",
    ConstraintError: "{server} refuses a write that breaks a constraint: {message}",
    ClientError: "{server} refuses the query: {message}",
}
"""Messages by error class, from the special to the general. The first class that fits is used."""


OF_THE_QUERY = tuple(
    f"Neo.ClientError.{kind}." for kind in ("Statement", "Schema", "Security", "Procedure", "Database")
)
"""Prefixes of error codes that the query or the user's rights cause, never a failure of the server."""
LONGEST_MESSAGE = 300
"""Maximum length of a server message that is quoted, in characters."""

Trouble = Callable[[], str | None]
"""Looks for a visible failure of a server. Returns what is wrong and what to do, or None if nothing is
visible."""


def no_trouble() -> None:
    """Report no trouble: a server that graphneg did not start can be judged by its answers only."""


@contextmanager
def explained(
    server: str, if_silent: str = ADVICE_ON_SILENCE, trouble: Trouble = no_trouble
) -> Generator[None]:
    """Turn the driver's errors inside the block into a `StoreError`.

    Args:
        server: The server as users know it, for the message.
        if_silent: Advice for the case that the server does not answer.
        trouble: Looks for a visible failure of the server, such as a full disk.

    Raises:
        StoreError: The driver raised an error inside the block.
    """
    try:
        yield
    except (Neo4jError, DriverError) as error:
        # A syntax error is the user's, even if the disk is full. For any other error, a visible failure
        # explains more.
        seen = None if _is_of_the_query(error) else trouble()
        raise StoreError(f"{server}: {seen}" if seen else _explain(error, server, if_silent)) from error


def _is_of_the_query(error: Neo4jError | DriverError) -> bool:
    return isinstance(error, Neo4jError) and (error.code or "").startswith(OF_THE_QUERY)


def _explain(error: Neo4jError | DriverError, server: str, if_silent: str) -> str:
    """Return one sentence that says what was wrong, where, and what to do."""
    if isinstance(error, Neo4jError):
        fitting = (sentence for kind, sentence in REFUSALS.items() if isinstance(error, kind))
        sentence = ADVICE.get(error.code or "") or next(fitting, "{server} failed: {message} [{code}]")
        message = (error.message or str(error)).strip()
        # The further lines of a syntax error show its place in the query. Those of other errors are noise.
        if not isinstance(error, CypherSyntaxError):
            message = message.partition("\n")[0].rstrip()[:LONGEST_MESSAGE]
        return sentence.format(server=server, message=message, code=error.code)
    if isinstance(error, ConfigurationError):
        return f"can't open {server}: {first_line(error)}"
    if not isinstance(error, ServiceUnavailable | SessionExpired):
        return f"{server}: {first_line(error)}"
    cause: BaseException = error
    # The driver wraps the cause of a failed connection several times. The innermost error tells a TLS problem
    # from a closed port.
    while True:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"the certificate of {server} is not trusted ({cause.verify_message}): "
                "install its authority, or use bolt+ssc:// or neo4j+ssc:// for a self-signed one"
            )
        if isinstance(cause, ssl.SSLError):
            return f"{server} does not speak TLS: use bolt:// or neo4j://, or switch TLS on at the server"
        origin = cause.__cause__ or cause.__context__
        # A router fails with a group of errors, one for each address that it tried.
        if isinstance(cause, BaseExceptionGroup):
            origin = cause.exceptions[0]
        if origin is None:
            return f"{server} does not answer ({first_line(cause)}): {if_silent}"
        cause = origin


T = TypeVar("T")


class WriteConflict(StoreError):
    """A transaction conflicts with another one that is in progress. `Store.write` retries it."""


SILENCE_SECONDS = 20.0
"""Seconds for which a silent server is retried. The last attempt can take up to 6 s more."""
CONFLICT_SECONDS = 120.0
"""Seconds for which conflicting transactions are retried: deadlocks on Neo4j, or leftovers of a killed
process."""
CONSTRAINT_SECONDS = 1.0
"""Seconds for which a violated constraint is retried. Short, because the query itself is often the cause."""
SILENCE = (ServiceUnavailable, SessionExpired)
"""Errors of the driver that mean that the server did not answer."""
CONFLICTS = ("Neo.TransientError.Transaction.DeadlockDetected",)
"""Error codes that mean that two transactions waited for each other."""
MOST_LEVELS = 500
"""Maximum nesting depth of lists and maps in a parameter of a user's query."""
PAUSES = (0.02, 1.0)
"""Seconds between two attempts: the first pause, and the longest one. Pauses double in between."""
VERSION_SLOTS = 16
"""Number of nodes that hold the version of the content. Each store draws one of them, so that two stores that
write at the same time wait for each other only if they drew the same node."""


NOT_OF_CONTENT = ("Neo.ClientError.Security.", "Neo.ClientError.Database.", "Neo.ClientError.Cluster.")
"""Prefixes of error codes that do not depend on the data that is written."""


def is_of_content(error: StoreError) -> bool:
    """Return whether a write failed because of the data that was written.

    A caller can then write a part of the data instead. If the server is out of reach, out of memory or disk,
    or allows no writes at all, a smaller write would fail, too.

    Args:
        error: The error of the write.

    Returns:
        True if writing less may succeed.
    """
    cause = error.__cause__
    if isinstance(cause, Neo4jError):
        code = cause.code or ""
        return not (cause.is_retryable() or code in ADVICE or code.startswith(NOT_OF_CONTENT))
    return isinstance(cause, OverflowError | UnicodeError | RecursionError | ValueError | TypeError)


def _patience(error: Exception) -> float:
    """Return the number of seconds for which a transaction with this error is retried."""
    if isinstance(error, ConstraintError):
        return CONSTRAINT_SECONDS
    if isinstance(error, WriteConflict) or getattr(error, "code", None) in CONFLICTS:
        return CONFLICT_SECONDS
    return SILENCE_SECONDS if isinstance(error, DriverError | Neo4jError) and error.is_retryable() else 0.0


BATCH, SMALL_BATCH = 1_000, 20
"""Records that the server sends at once: for whole results, and for results that are cut off."""


class OwnServer(Protocol):
    """A server that graphneg started for a store, unlike a Neo4j server that somebody else runs."""

    def alive(self) -> bool:
        """Return whether the server still runs."""
        ...

    def end_if_alone(self) -> None:
        """Ask the server to end, unless other processes use it, too."""
        ...


class Store(AbstractContextManager["Store"]):
    """An open store.

    Close it with `close`, or use it in a ``with`` statement. Several threads may use one store. Each method
    that sends a query raises `StoreError` if the server cannot be reached or refuses the query.

    Args:
        driver: The driver with the credentials of the store's owner.
        database: The name of the database; None for the default database of the user.
        description: The store as messages name it, such as ``embedded store at /data/store``.
        resources: Everything that `close` closes.
        reader: Checks and runs untrusted queries.
        trouble: Looks for a visible failure of the server.
        turn: Returns a context manager that is held during each write transaction. Embedded servers use it to
            let one process write at a time.
        server: The server, if graphneg started it for this store.
    """

    def __init__(
        self,
        driver: Driver,
        database: str | None,
        description: str,
        resources: ExitStack,
        *,
        reader: Reader,
        trouble: Trouble = no_trouble,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
        server: OwnServer | None = None,
    ) -> None:
        """Initialize the store with an open driver."""
        self.description = description
        self.reader = reader
        """Checks untrusted queries, and holds the driver that runs them."""
        self._trouble = trouble
        self._turn = turn
        self._server = server
        self._silent_since: float | None = None
        self._driver = driver
        self._database = database
        self._resources = resources
        self._bookmarks = GraphDatabase.bookmark_manager()
        self._version_slot = str(secrets.randbelow(VERSION_SLOTS))

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Run a trusted query in a read transaction, and retry it if that can help.

        Args:
            query: The Cypher text.
            **parameters: Values of the query's parameters.

        Returns:
            All rows.
        """

        def work(transaction: ManagedTransaction) -> list[Record]:
            with _sendable():
                return send_text(transaction, query, parameters).records()

        return self._in_transaction(READ_ACCESS, work)

    def stream(self, query: str, /, **parameters: Any) -> Iterator[Record]:
        """Run a trusted query and yield its rows in constant memory.

        Unlike `read`, the query is not retried: rows may already have been used.

        Args:
            query: The Cypher text.
            **parameters: Values of the query's parameters.

        Yields:
            The rows, one by one.
        """
        with self._session(READ_ACCESS, self._driver) as session:
            with _sendable():
                result = session.run(as_literal(query), parameters)
            yield from result

    def write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Change the content in one write transaction.

        The transaction also changes the version of the content, by which a resumed run notices the write. If
        the server reports that nothing was changed, the version stays.

        ``work`` may be called several times, so it must be idempotent. If another transaction writes the same
        key at the same time, the write fails with a constraint error or a `WriteConflict`; the next attempt
        sees the key and succeeds.

        Args:
            work: Runs the statements in the transaction that it is given.

        Returns:
            The result of ``work``.
        """
        return self._in_transaction(WRITE_ACCESS, partial(self._raising_version, work))

    def write_derived(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Write data that is computed from the content, in one transaction that keeps the content's version.

        Making negatives writes such data: variants, their edits, and sentences of the stored dialogues. If it
        changed the version, a run that is resumed would mistake its own results for a change of the corpus.

        Args:
            work: Runs the statements in the transaction that it is given. It must be idempotent.

        Returns:
            The result of ``work``.
        """
        return self._in_transaction(WRITE_ACCESS, work)

    def raise_version(self, transaction: ManagedTransaction) -> None:
        """Mark the content as changed, in the transaction that changes it.

        A random token is written instead of a counter. Two transactions that read the same counter would both
        write the same next value, and a run that starts between the two commits would miss the second one.

        Args:
            transaction: A write transaction of this store.
        """
        run(transaction, "store/raise_version", slot=self._version_slot, token=secrets.token_hex(8))

    def _raising_version(self, work: Callable[[ManagedTransaction], T], transaction: ManagedTransaction) -> T:
        """Run ``work``, and change the version if it changed nodes or relationships."""
        results = _watch(transaction)
        done = work(transaction)
        if any(_changes_data(result.consume()) for result in results):
            self.raise_version(transaction)
        return done

    def query_read(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        most: int | None = None,
        seconds: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> EagerResult:
        """Run an untrusted query. The server refuses anything but reading.

        A query that would write, load a file or call an administration command raises `OnlyReading`. A query
        that was stopped raises `QueryStopped`.

        Args:
            text: The Cypher text.
            parameters: Values of the query's parameters.
            most: Maximum number of records to fetch; all of them by default. If it is given, a result larger
                than `MOST_RESULT_SIZE` is refused.
            seconds: Seconds after which the server stops the query; None for no limit.
            cancellation: Lets another thread stop the query on the server.

        Returns:
            The records, the summary and the keys.
        """

        @unit_of_work(timeout=seconds)
        def work(transaction: ManagedTransaction) -> EagerResult:
            with stoppable(transaction, self._terminate, self._end_runaway, seconds, cancellation):
                with _sendable():
                    checked = self.reader.check(transaction, text)
                result = _run_eagerly(transaction, checked, parameters, most)
            check_summary(result.summary, text)
            return result

        # If the caller stops early, the driver still receives the rest of the current batch: keep it small.
        batch = BATCH if most is None else SMALL_BATCH
        with only_reading(text):
            return self._in_transaction(READ_ACCESS, work, self.reader.driver, batch)

    def _terminate(self, connection: str) -> None:
        """Stop what runs on a connection of the server."""
        # If this fails, most often because the server has gone, the query itself fails, too, and its error is
        # reported.
        with suppress(DriverError, Neo4jError), self._driver.session(database=self._database) as session:
            session.run(as_literal(cypher_text("stop/terminate")), {"connection": connection}).consume()

    def _end_runaway(self) -> None:
        """End a server that does not stop a query, unless other processes use it."""
        if self._server:
            self._server.end_if_alone()

    @property
    def has_ended(self) -> bool:
        """Whether the store's own server has ended, so that the store must be opened again.

        It is always False for a Neo4j server, because the driver reconnects to it.
        """
        return self._server is not None and not self._server.alive()

    def query_write(self, text: str, parameters: Mapping[str, Any] | None = None) -> EagerResult:
        """Run a user's own query in one write transaction.

        If the query is not valid or fails, nothing is written.

        Args:
            text: The Cypher text.
            parameters: Values of the query's parameters.

        Returns:
            The records, the summary and the keys.
        """
        return self.write(partial(_run_eagerly, text=text, parameters=parameters))

    def close(self) -> None:
        """Close the connections. It is safe to call this twice.

        An embedded server stops when its last user closes the store.
        """
        self._resources.close()

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def __repr__(self) -> str:
        """Return the description of the store in angle brackets."""
        return f"<Store: {self.description}>"

    def _in_transaction(
        self,
        access: str,
        work: Callable[[ManagedTransaction], T],
        driver: Driver | None = None,
        batch: int = BATCH,
    ) -> T:
        """Run ``work`` in one transaction, and retry it while its error allows that."""
        pause, failed = PAUSES[0], 0.0
        with self._session(access, driver or self._driver, batch) as session:
            execute = session.execute_read if access == READ_ACCESS else session.execute_write
            while True:
                try:
                    with self._turn() if access == WRITE_ACCESS else nullcontext():
                        done = execute(work)
                    self._silent_since = None
                    return done
                except (DriverError, Neo4jError, WriteConflict) as error:
                    now = time.monotonic()
                    failed = failed or now
                    since = self._silence(now) if isinstance(error, SILENCE) else failed
                    # Retries end early if the server has visibly failed, or if any thread has found it silent
                    # for too long.
                    if now - since >= _patience(error) or self._trouble():
                        raise
                # Random pauses keep two conflicting transactions from meeting again.
                time.sleep(uniform(0.5, 1.5) * pause)
                pause = min(2 * pause, PAUSES[1])

    def _silence(self, now: float) -> float:
        """Return when the current silence of the server began."""
        since = self._silent_since
        # Nobody asked for a while: an earlier silence says nothing about this one.
        if since is None or now - since > 3 * SILENCE_SECONDS:
            since = self._silent_since = now
        return since

    @contextmanager
    def _session(self, access: str, driver: Driver, batch: int = BATCH) -> Generator[Session]:
        """Open a session that sees all earlier writes of this store, on any member of a cluster."""
        options = {"default_access_mode": access, "bookmark_manager": self._bookmarks, "fetch_size": batch}
        with (
            explained(self.description, ADVICE_IN_USE, self._trouble),
            driver.session(database=self._database, **options) as session,
        ):
            yield session


def _watch(transaction: ManagedTransaction) -> list[Result]:
    """Collect the results of all statements that a transaction runs from now on."""
    results: list[Result] = []
    original = transaction.run

    def watched(*given: Any, **named: Any) -> Result:
        result = original(*given, **named)
        results.append(result)
        return result

    # Replace the method on the object. Callers recognize a transaction by its class, which a wrapper would
    # hide.
    transaction.run = watched
    return results


def _changes_data(summary: ResultSummary) -> bool:
    """Return whether a statement changed nodes or relationships."""
    # Changes of the schema do not count: Neo4j refuses to write data in a transaction that created an index.
    counters = summary.counters
    return counters.contains_updates and not (
        counters.indexes_added
        or counters.indexes_removed
        or counters.constraints_added
        or counters.constraints_removed
    )


def _run_eagerly(
    transaction: ManagedTransaction,
    text: str,
    parameters: Mapping[str, Any] | None,
    most: int | None = None,
) -> EagerResult:
    """Run a query of a user and fetch its result."""
    with _sendable():
        _refuse_deep(parameters)
        return send_text(transaction, text, parameters or {}).eager(most)


def _refuse_deep(value: Any) -> None:
    """Raise `RecursionError` for lists and maps that are nested deeper than any server accepts."""
    # The driver would send them, and each server fails in its own way. Go level by level, since recursion
    # would fail here, too.
    level = [value or {}]
    for _ in range(MOST_LEVELS):
        if not level:
            return
        parts = [part.values() if isinstance(part, Mapping) else part for part in level]
        level = [one for part in parts for one in part if isinstance(one, Mapping | list | tuple)]
    raise RecursionError("nested too deeply")


@contextmanager
def _sendable() -> Generator[None]:
    """Turn the errors of values that the Bolt protocol cannot encode into a `StoreError`."""
    try:
        yield
    except (OverflowError, UnicodeError, RecursionError, ValueError, TypeError) as error:
        raise StoreError(
            f"the query or a parameter of it can't be sent to a store ({first_line(error)}): numbers have 64 "
            "bits, text is Unicode without surrogates, lists and maps are at most some hundred levels deep"
        ) from error
