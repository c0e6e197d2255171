"""Start empty servers for the benchmarks, each with a graphneg store and a plain Neo4j driver."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from neo4j import Driver, GraphDatabase

from benchmarks.corpus import Corpus, store_records
from graphneg.store import embedded
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from graphneg.store.supervisor import DATABASE, OWNER
from tests.servers import neo4j_server, wipe


@dataclass(frozen=True, slots=True)
class Instance:
    """A running server.

    Attributes:
        name: Name of the kind of server, as the tables show it.
        store: The store of graphneg on this server.
        driver: A plain Neo4j driver for the same server, for comparison.
        database: Name of the database; None for the default one.
        target: Address with which another process opens the store.
        environment: Environment variables that the other process needs, such as the password.
    """

    name: str
    store: Store
    driver: Driver
    database: str | None
    target: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@contextmanager
def neo4j_instance(directory: Path) -> Generator[Instance]:
    """Start Neo4j, or use the server that NEO4J_URI names, and delete all nodes of the server.

    Args:
        directory: Folder for the server's data.

    Yields:
        The server.
    """
    with neo4j_server(directory) as server, server.open() as store:
        wipe(store)
        credentials = {"NEO4J_USERNAME": server.username, "NEO4J_PASSWORD": server.password}
        if server.database:
            credentials["NEO4J_DATABASE"] = server.database
        with GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
            yield Instance("Neo4j", store, driver, server.database, server.uri, credentials)


@contextmanager
def embedded_instance(directory: Path) -> Generator[Instance]:
    """Open an embedded store.

    Args:
        directory: Folder of the store.

    Yields:
        The server.
    """
    with open_store(directory) as store, ExitStack() as open_things:
        membership = embedded.join(directory)
        open_things.callback(membership.leave)
        driver = open_things.enter_context(
            GraphDatabase.driver(
                f"bolt://127.0.0.1:{membership.bolt_port}", auth=(OWNER, membership.password)
            )
        )
        yield Instance("embedded", store, driver, DATABASE, str(directory))


KINDS: Mapping[str, Callable[[Path], AbstractContextManager[Instance]]] = {
    "neo4j": neo4j_instance,
    "embedded": embedded_instance,
}


NAMES = {"neo4j": "Neo4j", "embedded": "embedded"}
"""Names of the kinds of servers, as the tables show them."""


class Host:
    """Starts servers of one kind. Only one of them runs at a time."""

    def __init__(self, kind: str, directory: Path) -> None:
        """Initialize a host.

        Args:
            kind: Kind of server, a key of `KINDS`.
            directory: Folder for the servers' data.
        """
        self.kind = kind
        self.name = NAMES[kind]
        self.directory = directory
        self._running = ExitStack()
        self._instance: Instance | None = None
        self._copies: int | None = None
        self._started = 0

    def fresh(self) -> Instance:
        """Stop the current server and start an empty one.

        Returns:
            The new server.
        """
        self.close()
        self._started += 1
        place = self.directory / f"{self.kind}{self._started}"
        self._running.callback(shutil.rmtree, place, ignore_errors=True)
        self._instance = self._running.enter_context(KINDS[self.kind](place))
        return self._instance

    def loaded(self, corpus: Corpus, copies: int) -> Instance:
        """Return a server that contains a given number of copies of the corpus, and the corpus's resources.

        The current server is reused if it contains at most that number of copies. It may also contain
        variants from earlier runs.

        Args:
            corpus: The corpus to load.
            copies: Number of copies.

        Returns:
            The server.
        """
        # Copies are never removed from a running server, so a smaller number of copies needs a new server.
        if self._instance is None or self._copies is None or self._copies > copies:
            self.fresh()
            self._copies = 0
            assert self._instance
            store_records(self._instance.store, corpus.resources)
        assert self._instance
        store_records(self._instance.store, corpus.copies(self._copies, copies))
        self._copies = copies
        return self._instance

    def close(self) -> None:
        """Stop the current server."""
        self._running.close()
        self._running = ExitStack()
        self._instance = None
        self._copies = None
