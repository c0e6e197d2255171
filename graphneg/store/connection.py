"""Send queries to an open store.

A `Store` wraps the official Neo4j driver. It behaves in the same way on Neo4j and on the embedded ArcadeDB
server. If a transaction fails and a retry can help, the transaction is retried. Errors of the driver are
converted into a `StoreError`, whose message says what is wrong, where, and what to do.

There are two groups of queries:

- Queries that graphneg ships are trusted. `Store.read`, `Store.stream` and `Store.write` run them.
- Queries from users, web pages and transform files are untrusted. `Store.query_read` runs them so that the
  server refuses any write (see `graphneg.store.reading`).

Example:
    Count the dialogues of a store::

        with open_store("graphneg-store") as store:
            [row] = store.read("MATCH (d:Dialogue) RETURN count(d) AS amount")
            print(row["amount"])
"""

from __future__ import annotations

import asyncio
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

from graphneg.errors import QueryStopped, StoreError, first_line
from graphneg.store.reading import Reader, check_summary, only_reading
from graphneg.store.statements import as_literal, cypher_text, run, send_text, shipped_texts
from graphneg.store.stopping import Cancellation, stoppable

# The driver declares its options as untyped keyword arguments, so pyright would report each call.
# pyright: reportUnknownMemberType=false


# The driver logs each retry as a warning. Without this handler, Python would print the warnings in programs
# that have not configured logging.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


def connect(uri: str, auth: Auth | None) -> Driver:
    """Return a driver whose connection attempts time out after a few seconds.

    This function does not connect yet. The driver's own retries are switched off, and `Store` retries
    instead, because the driver cannot see that the process of an embedded server has ended, and would retry
    until its time limit.

    Args:
        uri: The Bolt address, such as ``neo4j://localhost:7687``.
        auth: The credentials; None to connect without authentication.

    Returns:
        The driver. The caller has to close it.
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


def probe(driver: Driver, database: str | None) -> ResultSummary:
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
    # Continue outside the except clause. Inside the clause, Python would record the routing error as the
    # context of any further error.
    if uri.lower().startswith("neo4j"):
        # The routing error does not say why it occurred. Connect directly to the same address: if this fails,
        # too, its error gives the actual reason, such as wrong credentials.
        with connect("bolt" + uri[len("neo4j") :].partition("?")[0], auth) as direct:
            direct.get_server_info()
    raise refusal


ADVICE_ON_SILENCE = (
    "check that Neo4j runs there, its host and Bolt port (7687 by default), "
    "and whether it requires TLS (neo4j+s://)"
)
"""Advice to the user if a Neo4j server cannot be reached when the store is opened."""
ADVICE_IN_USE = (
    "check that the server is running; all acknowledged writes are kept, and the same command continues "
    "from there"
)
"""Advice to the user if a server stops answering while the store is in use."""
ADVICE = {
    "Neo.ClientError.Security.Unauthorized": (
        "{server} refuses these credentials: set NEO4J_USERNAME and NEO4J_PASSWORD, "
        "or pass username and password"
    ),
    "Neo.ClientError.Security.AuthenticationRateLimit": (
        "{server} refuses more attempts after too many wrong passwords: wait a few seconds, then try again"
    ),
    "Neo.ClientError.Security.CredentialsExpired": (
        "{server} requires a new password first: run ALTER CURRENT USER SET PASSWORD FROM 'OLD' TO 'NEW' "
        "on its database system"
    ),
    "Neo.ClientError.Database.DatabaseNotFound": (
        "{server} has no such database ({message}): set NEO4J_DATABASE to an existing database, or leave it "
        "unset"
    ),
    **dict.fromkeys(
        (
            "Neo.DatabaseError.Transaction.TransactionLogError",
            "Neo.DatabaseError.Transaction.TransactionStartFailed",
        ),
        "{server} can't write, usually because its disk is full ({message}): free some space, restart the "
        "server, and run the same command again; all acknowledged writes are kept",
    ),
}
"""Error messages, keyed by Neo4j error code. Unlike the server's own messages, they say what to do."""
REFUSALS: Mapping[type[Neo4jError], str] = {
    Forbidden: "{server} does not permit this to your user: {message}",
    CypherSyntaxError: "the query is not valid Cypher for {server}: {message}",
    ConstraintError: "{server} refuses a write that breaks a constraint: {message}",
    ClientError: "{server} refuses the query: {message}",
}
"""Error messages, keyed by error class. Subclasses come before their base classes, because the first class of
which an error is an instance is used."""


OF_THE_QUERY = tuple(
    f"Neo.ClientError.{kind}." for kind in ("Statement", "Schema", "Security", "Procedure", "Database")
)
"""Prefixes of error codes whose cause is the query or missing rights of the user, not a failing server."""
LONGEST_MESSAGE = 300
"""Maximum number of characters that are quoted from a server message."""

Diagnosis = Callable[[], str | None]
"""A function that checks a server for a visible failure, such as a full disk. It returns a message that says
what is wrong and what to do, or None if it finds nothing."""


def no_failure() -> None:
    """Report no failure, because graphneg cannot inspect a server that it did not start."""


@contextmanager
def translate_driver_errors(
    server: str, if_silent: str = ADVICE_ON_SILENCE, diagnose: Diagnosis = no_failure
) -> Generator[None]:
    """Convert errors that the driver raises inside the block into a `StoreError`.

    Args:
        server: Description of the server for the message, such as its address.
        if_silent: Advice for the message if the server does not answer.
        diagnose: Function that checks the server for a visible failure, such as a full disk.

    Raises:
        StoreError: The driver raised an error inside the block.
    """
    try:
        yield
    except (Neo4jError, DriverError) as error:
        # If the query is wrong, report its error. For any other error, first check the server, for example
        # for a full disk, because this explains more than the error of the driver.
        seen = None if _is_of_the_query(error) else diagnose()
        raise StoreError(f"{server}: {seen}" if seen else _explain(error, server, if_silent)) from error


def _is_of_the_query(error: Neo4jError | DriverError) -> bool:
    return isinstance(error, Neo4jError) and (error.code or "").startswith(OF_THE_QUERY)


def _explain(error: Neo4jError | DriverError, server: str, if_silent: str) -> str:
    """Return an error message that says what went wrong on which server, and what to do."""
    if isinstance(error, Neo4jError):
        fitting = (sentence for kind, sentence in REFUSALS.items() if isinstance(error, kind))
        sentence = ADVICE.get(error.code or "") or next(fitting, "{server} failed: {message} [{code}]")
        message = (error.message or str(error)).strip()
        # The lines of a syntax error show its position in the query, so keep all of them. For other errors,
        # only the first line is useful.
        if not isinstance(error, CypherSyntaxError):
            message = message.partition("\n")[0].rstrip()[:LONGEST_MESSAGE]
        return sentence.format(server=server, message=message, code=error.code)
    if isinstance(error, ConfigurationError):
        return f"can't open {server}: {first_line(error)}"
    if not isinstance(error, ServiceUnavailable | SessionExpired):
        return f"{server}: {first_line(error)}"
    cause: BaseException = error
    # Go through the chain of causes, because the driver wraps the cause of a failed connection several times.
    # Only the innermost error shows whether TLS failed or the port is closed.
    while True:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"the certificate of {server} is not trusted ({cause.verify_message}): "
                "install the certificate of its authority, or use bolt+ssc:// or neo4j+ssc:// for a "
                "self-signed one"
            )
        if isinstance(cause, ssl.SSLError):
            return f"{server} does not use TLS: use bolt:// or neo4j://, or switch TLS on at the server"
        origin = cause.__cause__ or cause.__context__
        # If routing fails, the cause is a group of errors, one for each address that was tried. Report the
        # first error.
        if isinstance(cause, BaseExceptionGroup):
            origin = cause.exceptions[0]
        if origin is None:
            return f"{server} does not answer ({first_line(cause)}): {if_silent}"
        cause = origin


T = TypeVar("T")


class WriteConflict(StoreError):
    """The transaction conflicts with another transaction in progress. `Store.write` retries it."""


SILENCE_SECONDS = 20.0
"""Seconds for which a transaction is retried if the server does not answer. The last attempt can take up to 6
s more."""
CONFLICT_SECONDS = 120.0
"""Seconds for which a transaction is retried if it conflicts with another one: after a deadlock on Neo4j, or
while the transaction of a killed process still blocks it."""
CONSTRAINT_SECONDS = 1.0
"""Seconds for which a transaction is retried if it violates a constraint. The time is short, because the
cause is often an error in the query."""
SILENCE = (ServiceUnavailable, SessionExpired)
"""Errors of the driver that mean that the server did not answer."""
CONFLICTS = ("Neo.TransientError.Transaction.DeadlockDetected",)
"""Error codes of a deadlock, in which two transactions wait for each other."""
MAX_NESTING = 500
"""Maximum nesting depth of lists and maps in a parameter of a user's query."""
PAUSES = (0.02, 1.0)
"""Seconds between two attempts to run a transaction: the first pause, which doubles each time, and the
maximum."""
VERSION_SLOTS = 16
"""Number of nodes that store the content version. Each `Store` object chooses one of them at random, so that
two objects that write at the same time have to wait for each other only if they chose the same node."""


NOT_OF_CONTENT = ("Neo.ClientError.Security.", "Neo.ClientError.Database.", "Neo.ClientError.Cluster.")
"""Prefixes of the error codes of failed writes whose cause is not the data that were written."""


class _ConnectionAbandoned(asyncio.CancelledError):
    """An exception that ends a transaction without sending another message to the server.

    After any other exception, the driver rolls the transaction back and keeps the connection. After a
    ``CancelledError``, it closes the connection, even in code that does not use asyncio.
    """


def is_of_content(error: StoreError) -> bool:
    """Return whether a transaction failed because of its query or of the data that were sent.

    If a write failed in this way, a caller can try again with a part of the data. Trying again does not help,
    for example, if the server cannot be reached, has no memory or disk space left, or allows no writes at
    all.

    Args:
        error: The error that the transaction raised.

    Returns:
        True if another query, or a part of the data, may succeed.
    """
    cause = error.__cause__
    if isinstance(cause, Neo4jError):
        code = cause.code or ""
        return not (cause.is_retryable() or code in ADVICE or code.startswith(NOT_OF_CONTENT))
    return isinstance(cause, OverflowError | UnicodeError | RecursionError | ValueError | TypeError)


def _patience(error: Exception) -> float:
    """Return the number of seconds for which a transaction that fails with a given error is retried."""
    if isinstance(error, ConstraintError):
        return CONSTRAINT_SECONDS
    if isinstance(error, WriteConflict) or getattr(error, "code", None) in CONFLICTS:
        return CONFLICT_SECONDS
    return SILENCE_SECONDS if isinstance(error, DriverError | Neo4jError) and error.is_retryable() else 0.0


FETCH_SIZE, PREVIEW_FETCH_SIZE = 1_000, 20
"""Number of records that the server sends in one batch: the first for complete results, the second for
results with a maximum number of rows."""


class OwnServer(Protocol):
    """An embedded server, which graphneg starts and stops itself, unlike a Neo4j server."""

    def alive(self) -> bool:
        """Return whether the server is still running."""
        ...

    def end_if_alone(self) -> None:
        """Ask the server to exit, unless other processes use it as well."""
        ...


class Store(AbstractContextManager["Store"]):
    """An open store.

    Close it with `close`, or use it in a ``with`` statement. Several threads may use one store. Each method
    that sends a query raises `StoreError` if the server cannot be reached or refuses the query.

    Args:
        driver: The driver with the credentials of the store's owner.
        database: The name of the database; None for the default database of the user.
        description: Description of the store for messages, such as ``embedded store at /data/store``.
        resources: The connections and other resources that `close` releases.
        reader: The check and the driver for untrusted queries.
        diagnose: Function that checks the server for a visible failure, such as a full disk.
        turn: Function that returns a context manager, which is entered for each write transaction. For an
            embedded server, this context manager lets only one process write at a time.
        server: The embedded server; None for a Neo4j server.
    """

    def __init__(
        self,
        driver: Driver,
        database: str | None,
        description: str,
        resources: ExitStack,
        *,
        reader: Reader,
        diagnose: Diagnosis = no_failure,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
        server: OwnServer | None = None,
    ) -> None:
        self.description = description
        self.reader = reader
        """The check and the driver for untrusted queries."""
        self.foreign_facts = ""
        """Error message of `check_facts` if a different version of graphneg computed the facts in the store,
        that is, the node properties that transforms match; otherwise empty."""
        self._trouble = diagnose
        self._turn = turn
        self._server = server
        self._silent_since: float | None = None
        self._driver = driver
        self._database = database
        self._resources = resources
        self._bookmarks = GraphDatabase.bookmark_manager()
        self._version_slot = str(secrets.randbelow(VERSION_SLOTS))

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """Run a trusted query in a read transaction. The query is retried if it fails and a retry can help.

        Args:
            query: The Cypher text.
            **parameters: Values of the query's parameters.

        Returns:
            All rows of the result.
        """

        def work(transaction: ManagedTransaction) -> list[Record]:
            with _sendable():
                return send_text(transaction, query, parameters).records()

        return self._in_transaction(READ_ACCESS, work)

    def stream(self, query: str, /, **parameters: Any) -> Iterator[Record]:
        """Run a trusted query and yield its rows in constant memory.

        Unlike in `read`, the query is not retried, because the caller may already have used some rows.

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
        """Change the content of the store in one write transaction.

        The transaction also changes the content version, so that a run that is resumed notices the change. If
        the server reports that no data were changed, the content version is not changed either.

        ``work`` is called again if the transaction has to be retried, so it must be idempotent. For example,
        if another transaction writes the same key at the same time, the first attempt fails with a constraint
        error or a `WriteConflict`. The next attempt finds the key in the store and succeeds.

        Args:
            work: Function that runs the statements, in the transaction that is passed to it.

        Returns:
            The value that ``work`` returns.
        """
        self.check_facts()
        return self._in_transaction(WRITE_ACCESS, partial(self._raising_version, work))

    def write_derived(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Write data that are computed from the content, without changing the content version.

        Such data are written while negatives are made: variants, their edits, and sentences of the stored
        dialogues. If they changed the content version, a run that is resumed would mistake its own results
        for a change of the corpus.

        Args:
            work: Function that runs the statements, in the transaction that is passed to it. It must be
                idempotent.

        Returns:
            The value that ``work`` returns.
        """
        self.check_facts()
        return self._in_transaction(WRITE_ACCESS, work)

    def check_facts(self) -> None:
        """Check that the installed version of graphneg computed the facts in the store.

        Facts are node properties that graphneg computes when it writes a graph. Transforms match them.
        Reading a store needs no check. Writing would mix facts of two versions, and transforms would match
        facts that have a different meaning.

        Raises:
            StoreError: A different version computed the facts. The message names the commands that export the
                content of the store and load it into a new one.
        """
        if self.foreign_facts:
            raise StoreError(self.foreign_facts)

    def change_version(self, transaction: ManagedTransaction) -> None:
        """Change the content version, in the same transaction that changes the content.

        The new version is a random token instead of an incremented counter. Two transactions that read the
        same counter would both write the same next value, and a run that starts between their commits would
        not notice the second change.

        Args:
            transaction: A write transaction of this store.
        """
        run(transaction, "store/raise_version", slot=self._version_slot, token=secrets.token_hex(8))

    def _raising_version(self, work: Callable[[ManagedTransaction], T], transaction: ManagedTransaction) -> T:
        """Call ``work``. If it changed nodes or relationships, change the content version as well."""
        results = _record_results(transaction)
        done = work(transaction)
        if any(_changes_data(result.consume()) for result in results):
            self.change_version(transaction)
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
        """Run an untrusted query, which must not write.

        Raises `OnlyReading` if the query would write, load a file or run an administration command, and
        `QueryStopped` if the query was stopped.

        Args:
            text: The Cypher text.
            parameters: Values of the query's parameters.
            most: Maximum number of records to fetch; None for all records. If it is given, the query also
                fails if the size of the result exceeds `MOST_RESULT_SIZE`.
            seconds: Seconds after which the server stops the query; None for no limit.
            cancellation: Object with which another thread can stop the query; None if no thread needs to.

        Returns:
            The records, the summary and the column names.
        """
        text = shipped_texts().get(text, text)

        @unit_of_work(timeout=seconds)
        def work(transaction: ManagedTransaction) -> EagerResult:
            try:
                with stoppable(transaction, self._terminate, self._end_runaway, seconds, cancellation):
                    with _sendable():
                        checked = self.reader.check(transaction, text)
                    result = _run_eagerly(transaction, checked, parameters, most)
            except QueryStopped as error:
                # Let the driver close the connection. After a query was stopped, the embedded server
                # sometimes leaves one of the next messages on its connection without an answer, so the next
                # query would wait for ever.
                raise _ConnectionAbandoned from error
            check_summary(result.summary, text)
            return result

        # With a maximum number of records, use small batches: the driver always receives a whole batch, even
        # if fewer records are needed.
        batch = FETCH_SIZE if most is None else PREVIEW_FETCH_SIZE
        with only_reading(text):
            try:
                return self._in_transaction(READ_ACCESS, work, self.reader.driver, batch)
            except _ConnectionAbandoned as abandoned:
                raise abandoned.__cause__ or abandoned from None

    def _terminate(self, connection: str) -> None:
        # Ignore errors here. Usually they mean that the server is gone. Then the query fails as well, and its
        # error is reported.
        with suppress(DriverError, Neo4jError), self._driver.session(database=self._database) as session:
            session.run(as_literal(cypher_text("stop/terminate")), {"connection": connection}).consume()

    def _end_runaway(self) -> None:
        """End the embedded server, because it cannot stop a query. Do nothing if other processes use it."""
        if self._server:
            self._server.end_if_alone()

    @property
    def has_ended(self) -> bool:
        """Whether the embedded server has ended, so that the store must be opened again.

        For a Neo4j server, the value is always False, because the driver reconnects automatically.
        """
        return self._server is not None and not self._server.alive()

    def query_write(self, text: str, parameters: Mapping[str, Any] | None = None) -> EagerResult:
        """Run a user's query in one write transaction.

        If the query is invalid or fails, nothing is written.

        Args:
            text: The Cypher text.
            parameters: Values of the query's parameters.

        Returns:
            The records, the summary and the column names.
        """
        # `check_facts` is not called: a user's query does not recompute the properties of graph nodes, so it
        # may run even if another version of graphneg computed the stored properties.
        work = partial(self._raising_version, partial(_run_eagerly, text=text, parameters=parameters))
        return self._in_transaction(WRITE_ACCESS, work)

    def close(self) -> None:
        """Close the connections. Further calls have no effect.

        An embedded server stops when the last process that uses it has closed the store.
        """
        self._resources.close()

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    def __repr__(self) -> str:
        """Return a text such as ``<Store: embedded store at /data/store>``."""
        return f"<Store: {self.description}>"

    def _in_transaction(
        self,
        access: str,
        work: Callable[[ManagedTransaction], T],
        driver: Driver | None = None,
        batch: int = FETCH_SIZE,
    ) -> T:
        """Call ``work`` in a transaction. If it fails, retry it for a time that depends on the error."""
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
                    # Give up after a time limit, or if the cause is known, such as a full disk. If the server
                    # does not answer, the time counts from the first failure in any thread of this store.
                    if now - since >= _patience(error) or self._trouble():
                        raise
                # Randomize the pause, so that two conflicting transactions do not collide again.
                time.sleep(uniform(0.5, 1.5) * pause)
                pause = min(2 * pause, PAUSES[1])

    def _silence(self, now: float) -> float:
        """Return the time at which a thread of this store first noticed that the server does not answer."""
        since = self._silent_since
        # A time more than `3 * SILENCE_SECONDS` ago belongs to an earlier failure. The server has probably
        # answered since then, so measure the silence from now.
        if since is None or now - since > 3 * SILENCE_SECONDS:
            since = self._silent_since = now
        return since

    @contextmanager
    def _session(self, access: str, driver: Driver, batch: int = FETCH_SIZE) -> Generator[Session]:
        """Open a session that sees all earlier writes of this store, on any member of a cluster."""
        options = {"default_access_mode": access, "bookmark_manager": self._bookmarks, "fetch_size": batch}
        with (
            translate_driver_errors(self.description, ADVICE_IN_USE, self._trouble),
            driver.session(database=self._database, **options) as session,
        ):
            yield session


def _record_results(transaction: ManagedTransaction) -> list[Result]:
    """Return a list to which the result of each further statement of a transaction is added."""
    results: list[Result] = []
    original = transaction.run

    def watched(*given: Any, **named: Any) -> Result:
        result = original(*given, **named)
        results.append(result)
        return result

    # Replace the method of this transaction object. Wrapping the object would change its class, which callers
    # check.
    transaction.run = watched
    return results


def _changes_data(summary: ResultSummary) -> bool:
    # Ignore statements that changed the schema: after such statements, Neo4j would refuse to write the
    # content version in the same transaction.
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
    with _sendable():
        _refuse_deep(parameters)
        return send_text(transaction, text, parameters or {}).fetch_all(most)


# Types of values that contain no other values.
_PLAIN = frozenset({str, int, float, bool, bytes, type(None)})


def _refuse_deep(value: Any) -> None:
    """Raise `RecursionError` for lists and maps that are nested deeper than any server accepts."""
    # The driver would send values that are nested too deeply, and the server would fail in unexpected ways.
    # The loop visits one level of nesting after the other. A recursive function would itself exceed Python's
    # recursion limit.
    level = [value or {}]
    for _ in range(MAX_NESTING):
        if not level:
            return
        parts = [part.values() if isinstance(part, Mapping) else part for part in level]
        # Most values are texts and numbers, and the check of the type is much faster than `isinstance`.
        nested = [one for part in parts for one in part if type(one) not in _PLAIN]
        level = [one for one in nested if isinstance(one, Mapping | list | tuple)]
    raise RecursionError("nested too deeply")


@contextmanager
def _sendable() -> Generator[None]:
    """Convert the errors for values that the Bolt protocol cannot encode into a `StoreError`."""
    try:
        yield
    except (OverflowError, UnicodeError, RecursionError, ValueError, TypeError) as error:
        raise StoreError(
            f"the query or one of its parameters can't be sent to a store ({first_line(error)}): numbers "
            "have 64 "
            "bits, text is Unicode without surrogates, lists and maps are at most a few hundred levels deep"
        ) from error
