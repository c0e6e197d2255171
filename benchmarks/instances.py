"""Servers under measurement: fresh ones on request, each with the plain driver beside the store."""

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
    """A running, empty server. ``target`` and ``environment`` open it from another process."""

    name: str
    store: Store
    driver: Driver
    database: str | None
    target: str
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@contextmanager
def neo4j_instance(directory: Path) -> Generator[Instance]:
    with neo4j_server(directory) as server, server.open() as store:
        wipe(store)
        credentials = {"NEO4J_USERNAME": server.username, "NEO4J_PASSWORD": server.password}
        if server.database:
            credentials["NEO4J_DATABASE"] = server.database
        with GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
            yield Instance("Neo4j", store, driver, server.database, server.uri, credentials)


@contextmanager
def embedded_instance(directory: Path) -> Generator[Instance]:
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


class Host:
    """Starts instances of one kind in ``directory``, one at a time; ``name`` is the kind's in tables."""

    def __init__(self, kind: str, directory: Path) -> None:
        self.kind = kind
        self.name = NAMES[kind]
        self.directory = directory
        self._running = ExitStack()
        self._instance: Instance | None = None
        self._copies: int | None = None
        self._started = 0

    def fresh(self) -> Instance:
        """An empty server, just started; the one before it stops."""
        self.close()
        self._started += 1
        place = self.directory / f"{self.kind}{self._started}"
        self._running.callback(shutil.rmtree, place, ignore_errors=True)
        self._instance = self._running.enter_context(KINDS[self.kind](place))
        return self._instance

    def loaded(self, corpus: Corpus, copies: int) -> Instance:
        """A server that holds the corpus in so many copies, and its resources; it may have been in use."""
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
        """Stop what runs."""
        self._running.close()
        self._running = ExitStack()
        self._instance = None
        self._copies = None
