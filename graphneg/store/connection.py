"""A store in use: the official driver behind five calls that are the same on every server.

In: a query and its parameters. Out: its records; or one `StoreError` that says what was wrong, where, and
what to do. graphneg's own queries (`Store.read`, `Store.stream`, `Store.write`) are trusted. Those of users,
pages and transform files go through `Store.query_read`, which the server keeps from writing (`reading`).
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

# The driver's options are untyped keywords.
# pyright: reportUnknownMemberType=false


# The driver logs each retry as a warning, which Python prints where a program has set up no logging.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


def connect(uri: str, auth: Auth | None) -> Driver:
    """A driver that gives up on a silent server in seconds; nothing is sent yet. `Store` tries again, not the
    driver: its pauses double for as long as it has time left, and it can't see that a server has ended."""
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
    """What a server says of itself and of a database when it is asked a query; it is not retried."""
    with driver.session(database=database) as session:
        return session.run("RETURN 1").consume()


def server_agent(uri: str, driver: Driver, auth: Auth | None) -> str:
    """The name and version that the server gives: ``Neo4j/5.26.30``.

    Where a router fails, its addresses are asked directly: the router's own error gives no reason.
    """
    try:
        return driver.get_server_info().agent
    except ServiceUnavailable as error:
        refusal = error
    if uri.lower().startswith("neo4j"):  # outside of the except clause: else its error would be the cause
        with connect("bolt" + uri[len("neo4j") :].partition("?")[0], auth) as direct:
            direct.get_server_info()
    raise refusal


ADVICE_ON_SILENCE = (
    "check that Neo4j runs there, its host and Bolt port (7687 by default), "
    "and whether it wants TLS (neo4j+s://)"
)
ADVICE_IN_USE = (
    "check that the server runs; what was acknowledged is kept, and the same command goes on from there"
)
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
REFUSALS: Mapping[type[Neo4jError], str] = {
    Forbidden: "{server} does not allow this to your user: {message}",
    CypherSyntaxError: "the query is not valid Cypher for {server}: {message}",
    ConstraintError: "{server} refuses a write that breaks a constraint: {message}",
    ClientError: "{server} refuses the query: {message}",
}
"""From the special to the general: the first that fits counts."""


OF_THE_QUERY = tuple(
    f"Neo.ClientError.{kind}." for kind in ("Statement", "Schema", "Security", "Procedure", "Database")
)
"""Errors that no trouble of the server's can be the cause of."""
LONGEST_MESSAGE = 300

Trouble = Callable[[], str | None]
"""Says what can be seen to be wrong with a server, and what to do; ``None`` where nothing can."""


def no_trouble() -> None:
    """Of a server that is known by its answers alone."""


@contextmanager
def explained(
    server: str, if_silent: str = ADVICE_ON_SILENCE, trouble: Trouble = no_trouble
) -> Generator[None]:
    """Turn what the driver raises inside into a ``StoreError`` about ``server``, as users know it.

    ``if_silent`` says what to do where it does not answer.
    """
    try:
        yield
    except (Neo4jError, DriverError) as error:
        seen = None if _is_of_the_query(error) else trouble()
        raise StoreError(f"{server}: {seen}" if seen else _explain(error, server, if_silent)) from error


def _is_of_the_query(error: Neo4jError | DriverError) -> bool:
    return isinstance(error, Neo4jError) and (error.code or "").startswith(OF_THE_QUERY)


def _explain(error: Neo4jError | DriverError, server: str, if_silent: str) -> str:
    """One sentence: what was wrong, where, and what to do."""
    if isinstance(error, Neo4jError):
        fitting = (sentence for kind, sentence in REFUSALS.items() if isinstance(error, kind))
        sentence = ADVICE.get(error.code or "") or next(fitting, "{server} failed: {message} [{code}]")
        message = (error.message or str(error)).strip()
        if not isinstance(error, CypherSyntaxError):  # which shows the place in the query
            message = message.partition("\n")[0].rstrip()[:LONGEST_MESSAGE]
        return sentence.format(server=server, message=message, code=error.code)
    if isinstance(error, ConfigurationError):
        return f"can't open {server}: {first_line(error)}"
    if not isinstance(error, ServiceUnavailable | SessionExpired):
        return f"{server}: {first_line(error)}"
    cause: BaseException = error
    while True:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"the certificate of {server} is not trusted ({cause.verify_message}): "
                "install its authority, or use bolt+ssc:// or neo4j+ssc:// for a self-signed one"
            )
        if isinstance(cause, ssl.SSLError):
            return f"{server} does not speak TLS: use bolt:// or neo4j://, or switch TLS on at the server"
        origin = cause.__cause__ or cause.__context__
        if isinstance(cause, BaseExceptionGroup):  # of a router: one for each address that it tried
            origin = cause.exceptions[0]
        if origin is None:
            return f"{server} does not answer ({first_line(cause)}): {if_silent}"
        cause = origin


T = TypeVar("T")


class WriteConflict(StoreError):
    """Another transaction got in the way of one that is at work. `Store.write` tries again."""


SILENCE_SECONDS = 20.0
"""So long a server may give no answer; an attempt to reach it takes up to 6 s more."""
CONFLICT_SECONDS = 120.0
"""So long transactions that get in each other's way are tried again: on Neo4j, or after a kill."""
CONSTRAINT_SECONDS = 1.0
"""As long, where it may as well be the query's own fault."""
SILENCE = (ServiceUnavailable, SessionExpired)
CONFLICTS = ("Neo.TransientError.Transaction.DeadlockDetected",)
MOST_LEVELS = 500
"""Levels of lists and maps that a parameter of a user's query may have."""
PAUSES = (0.02, 1.0)
"""Seconds between two attempts: at first, and at most."""
VERSION_SLOTS = 16
"""Number of nodes that hold the version of the content. Two stores that write at once wait for each other
only where they drew the same one."""


NOT_OF_CONTENT = ("Neo.ClientError.Security.", "Neo.ClientError.Database.", "Neo.ClientError.Cluster.")


def is_of_content(error: StoreError) -> bool:
    """Return whether a write failed because of what was written, so that less of it may succeed.

    False if the server could not be reached, is short of memory or disk, or allows no writes at all.
    """
    cause = error.__cause__
    if isinstance(cause, Neo4jError):
        code = cause.code or ""
        return not (cause.is_retryable() or code in ADVICE or code.startswith(NOT_OF_CONTENT))
    return isinstance(cause, OverflowError | UnicodeError | RecursionError | ValueError | TypeError)


def _patience(error: Exception) -> float:
    """For how many seconds after it failed for the first time a transaction that failed so is tried again."""
    if isinstance(error, ConstraintError):
        return CONSTRAINT_SECONDS
    if isinstance(error, WriteConflict) or getattr(error, "code", None) in CONFLICTS:
        return CONFLICT_SECONDS
    return SILENCE_SECONDS if isinstance(error, DriverError | Neo4jError) and error.is_retryable() else 0.0


BATCH, SMALL_BATCH = 1_000, 20
"""Records that the server sends at once."""


class OwnServer(Protocol):
    """A server that was started for its store, unlike a Neo4j server that somebody else runs."""

    def alive(self) -> bool:
        """Return whether the server still runs."""
        ...

    def end_if_alone(self) -> None:
        """Ask the server to end, unless other processes use it too."""
        ...


class Store(AbstractContextManager["Store"]):
    """An open store. Close it, or use it in a ``with`` statement.

    Calls may come from several threads. Each raises ``StoreError`` where the server can't be
    reached or refuses the query.
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
        self.description = description
        self.reader = reader
        """How the server is asked what nobody has checked."""
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
        """All rows of a query, in a read transaction that is retried where that can help."""

        def work(transaction: ManagedTransaction) -> list[Record]:
            with _sendable():
                return send_text(transaction, query, parameters).records()

        return self._in_transaction(READ_ACCESS, work)

    def stream(self, query: str, /, **parameters: Any) -> Iterator[Record]:
        """The rows of a query one by one, in flat memory. Not retried once it has begun."""
        with self._session(READ_ACCESS, self._driver) as session:
            with _sendable():
                result = session.run(as_literal(query), parameters)
            yield from result

    def write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Change the content in one write transaction, which also raises its version.

        The version stays where the server reports that nothing was changed. ``work`` may be called again, so
        it must be idempotent. A key that another transaction wrote since ``work`` looked for it breaks a
        constraint, or ``work`` finds that what it wrote is not all there (`WriteConflict`); the next attempt
        sees that key.

        Args:
            work: Runs the statements in the transaction that it is given.

        Returns:
            What ``work`` returned.

        Raises:
            StoreError: The server can't be reached or refuses a statement.
        """
        return self._in_transaction(WRITE_ACCESS, partial(self._raising_version, work))

    def write_derived(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Write what follows from the content, in one transaction; the content's version stays.

        Making negatives writes so: variants with their edits, and sentences of the dialogues that are there.
        A run that goes on would otherwise take its own traces for a change.

        Args:
            work: As for `write`.

        Returns:
            What ``work`` returned.

        Raises:
            StoreError: The server can't be reached or refuses a statement.
        """
        return self._in_transaction(WRITE_ACCESS, work)

    def raise_version(self, transaction: ManagedTransaction) -> None:
        """Mark the content as changed, in the transaction that changes it.

        A random token is written, not a count: of two transactions that read the same count, both would
        write the next one, and a run that began between them would miss the second.

        Args:
            transaction: A write transaction of this store.
        """
        run(transaction, "store/raise_version", slot=self._version_slot, token=secrets.token_hex(8))

    def _raising_version(self, work: Callable[[ManagedTransaction], T], transaction: ManagedTransaction) -> T:
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
        """Run a query that nobody has checked; the server refuses it whatever else it does than reading.

        Args:
            text: The query.
            parameters: The values of its parameters.
            most: Number of records to fetch; all of them by default. Where it is given, a result of more than
                `MOST_RESULT_SIZE` is refused.
            seconds: Seconds after which the server stops the query; None for no limit.
            cancellation: Lets another thread stop the query on the server.

        Returns:
            Its records, summary and keys.

        Raises:
            OnlyReading: The query would write, load a file, or do anything else than read the graph.
            QueryStopped: The time was up, or the query was cancelled.
            StoreError: The query is not valid, returns too much, or fails.
        """

        @unit_of_work(timeout=seconds)
        def work(transaction: ManagedTransaction) -> EagerResult:
            with stoppable(transaction, self._terminate, self._end_runaway, seconds, cancellation):
                with _sendable():
                    checked = self.reader.check(transaction, text)
                result = _run_eagerly(transaction, checked, parameters, most)
            check_summary(result.summary, text)
            return result

        # A result that is broken off is still received to the end of its batch.
        batch = BATCH if most is None else SMALL_BATCH
        with only_reading(text):
            return self._in_transaction(READ_ACCESS, work, self.reader.driver, batch)

    def _terminate(self, connection: str) -> None:
        # What fails here (the server has gone, most often) fails the query itself too, and is told there.
        with suppress(DriverError, Neo4jError), self._driver.session(database=self._database) as session:
            session.run(as_literal(cypher_text("stop/terminate")), {"connection": connection}).consume()

    def _end_runaway(self) -> None:
        """End a server that does not stop a query, where nobody else works on it."""
        if self._server:
            self._server.end_if_alone()

    @property
    def has_ended(self) -> bool:
        """Whether the store's own server has ended, so that the store must be opened again.

        Never true of a Neo4j server: the driver connects to it again by itself.
        """
        return self._server is not None and not self._server.alive()

    def query_write(self, text: str, parameters: Mapping[str, Any] | None = None) -> EagerResult:
        """A user's own query that may write, in one transaction: records, summary and keys.

        Raises `StoreError`: the query is not valid or fails; then nothing is written.
        """
        return self.write(partial(_run_eagerly, text=text, parameters=parameters))

    def close(self) -> None:
        """Close the connections; an embedded server stops with its last user. May be called twice."""
        self._resources.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store: {self.description}>"

    def _in_transaction(
        self,
        access: str,
        work: Callable[[ManagedTransaction], T],
        driver: Driver | None = None,
        batch: int = BATCH,
    ) -> T:
        """``work`` in one transaction, tried again for as long as that can help: not where the server can be
        seen to have ended, or has been silent for long, whichever thread found that."""
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
                    if now - since >= _patience(error) or self._trouble():
                        raise
                time.sleep(uniform(0.5, 1.5) * pause)  # those who got in each other's way part
                pause = min(2 * pause, PAUSES[1])

    def _silence(self, now: float) -> float:
        """Since when the server has been silent; a silence of long ago is another one."""
        since = self._silent_since
        if since is None or now - since > 3 * SILENCE_SECONDS:
            since = self._silent_since = now
        return since

    @contextmanager
    def _session(self, access: str, driver: Driver, batch: int = BATCH) -> Generator[Session]:
        """A session that sees what earlier ones of the store wrote, on any member of a cluster."""
        options = {"default_access_mode": access, "bookmark_manager": self._bookmarks, "fetch_size": batch}
        with (
            explained(self.description, ADVICE_IN_USE, self._trouble),
            driver.session(database=self._database, **options) as session,
        ):
            yield session


def _watch(transaction: ManagedTransaction) -> list[Result]:
    """Collect the results of all that is run in a transaction from now on."""
    results: list[Result] = []
    original = transaction.run

    def watched(*given: Any, **named: Any) -> Result:
        result = original(*given, **named)
        results.append(result)
        return result

    # On the object itself: callers tell an open transaction by its class, which a wrapper would hide.
    transaction.run = watched
    return results


def _changes_data(summary: ResultSummary) -> bool:
    """Return whether a statement changed nodes or relationships.

    Changes of the schema don't count: Neo4j refuses to write data in a transaction that made an index.
    """
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
        return send_text(transaction, text, parameters or {}).eager(most)


def _refuse_deep(value: Any) -> None:
    """Raise `RecursionError` for lists and maps that are nested deeper than any server takes.

    The driver sends them, and the servers differ in how they fail.
    """
    level = [value or {}]
    for _ in range(MOST_LEVELS):
        if not level:
            return
        parts = [part.values() if isinstance(part, Mapping) else part for part in level]
        level = [one for part in parts for one in part if isinstance(one, Mapping | list | tuple)]
    raise RecursionError("nested too deeply")


@contextmanager
def _sendable() -> Generator[None]:
    """Around a query whose text and parameters may be anything: what Bolt has no form for is told."""
    try:
        yield
    except (OverflowError, UnicodeError, RecursionError, ValueError, TypeError) as error:
        raise StoreError(
            f"the query or a parameter of it can't be sent to a store ({first_line(error)}): numbers have 64 "
            "bits, text is Unicode without surrogates, lists and maps are at most some hundred levels deep"
        ) from error
