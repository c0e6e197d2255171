"""A store in use: the driver's sessions behind five calls, the same on every server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    Driver,
    EagerResult,
    GraphDatabase,
    ManagedTransaction,
    Record,
    Session,
)
from neo4j.exceptions import ConstraintError

from graphneg.store.driver import as_literal, open_session
from graphneg.store.failures import Place, explained
from graphneg.store.guard import refuse_writes
from graphneg.store.running import send_text

T = TypeVar("T")

KEY_REPEATS = 5
KEY_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a server can do, where servers differ."""

    enforces_read_access: bool
    """The server itself refuses a write in a session opened for reading."""


class Store:
    """An open store. Close it, or use it in a ``with`` statement.

    Calls may come from several threads. Each raises ``StoreError`` where the server can't be
    reached or refuses the query.
    """

    def __init__(
        self,
        driver: Driver,
        database: str | None,
        capabilities: Capabilities,
        place: Place,
        resources: ExitStack,
    ) -> None:
        self.capabilities = capabilities
        self.description = place.name
        self._place = place
        self._driver = driver
        self._database = database
        self._resources = resources
        self._bookmarks = GraphDatabase.bookmark_manager()

    def read(self, query: str, /, **parameters: Any) -> list[Record]:
        """All rows of a query, in a read transaction that is retried where that can help."""

        def work(transaction: ManagedTransaction) -> list[Record]:
            return send_text(transaction, query, parameters).records()

        with explained(self._place), self._session(READ_ACCESS) as session:
            return session.execute_read(work)

    def stream(self, query: str, /, **parameters: Any) -> Iterator[Record]:
        """The rows of a query one by one, in flat memory. Not retried once it has begun."""
        with explained(self._place), self._session(READ_ACCESS) as session:
            yield from session.run(as_literal(query), parameters)

    def write(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Do ``work`` in one write transaction. It may be called again, so it must be idempotent.

        A key that another transaction wrote since ``work`` looked for it breaks a constraint; the next
        attempt sees that key.
        """
        with explained(self._place), self._session(WRITE_ACCESS) as session:
            for repeat in range(KEY_REPEATS):
                try:
                    return session.execute_write(work)
                except ConstraintError:
                    time.sleep(KEY_SECONDS * 2**repeat)
            return session.execute_write(work)

    def query_read(self, text: str, parameters: Mapping[str, Any] | None = None) -> EagerResult:
        """A user's own query: records, summary and keys. Nothing is written.

        Raises:
            StoreError: the query would write, is not valid, or fails.
        """
        refuse_writes(text, self.capabilities.enforces_read_access)
        with explained(self._place), self._session(READ_ACCESS) as session:
            return session.execute_read(run_eagerly, text, parameters)

    def query_write(self, text: str, parameters: Mapping[str, Any] | None = None) -> EagerResult:
        """A user's own query that may write, in one transaction: records, summary and keys.

        Raises:
            StoreError: the query is not valid or fails; then nothing is written.
        """
        with explained(self._place), self._session(WRITE_ACCESS) as session:
            return session.execute_write(run_eagerly, text, parameters)

    def close(self) -> None:
        """Close the connections; an embedded server stops with its last user. May be called twice."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store: {self.description}>"

    def _session(self, access: str) -> Session:
        return open_session(self._driver, self._database, access, self._bookmarks)


def run_eagerly(
    transaction: ManagedTransaction, text: str, parameters: Mapping[str, Any] | None
) -> EagerResult:
    return transaction.run(as_literal(text), dict(parameters or {})).to_eager_result()
