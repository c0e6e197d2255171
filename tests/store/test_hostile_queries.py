"""Tests that thousands of hostile queries change nothing, read no file and open no connection.

The tests compare the state of the store before and after, and ignore errors. They bypass the text check
(`write_clause`), so that the servers themselves must refuse the writes.
"""

from __future__ import annotations

import hashlib
import re
import socket
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from neo4j import READ_ACCESS, ManagedTransaction, Session
from neo4j.exceptions import DriverError, Neo4jError

from graphneg.errors import GraphnegError, OnlyReading
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from graphneg.store.statements import as_literal
from tests.servers import wipe
from tests.store.hostile import Baits, hostile_queries

SECRET = "canary-7f3a91"
SAMPLE = """
UNWIND range(1, 20) AS i
CREATE (:Dialogue {id: 'd' + i, corpus: 'own'})-[:HAS_TURN {turn: i}]->(u:Utterance {id: 'u' + i, text: 'a'})
CREATE (u)-[:MENTIONS]->(:Term {text: CASE i WHEN 1 THEN 'tea' ELSE 'term' + i END})
CREATE (:Term {text: 'alone' + i})
"""
HARMLESS_TO_THE_SERVER = re.compile(
    r"^(?!.*\b(?:USER|DATABASE|INDEX|CONSTRAINT|SESSION)\b)", re.DOTALL | re.IGNORECASE
)
BATCH = 500
FETCHED = 3


@pytest.fixture
def listener() -> Generator[tuple[str, list[object]]]:
    """Return a local address, and a list of the connections to it, which must be empty."""
    seen: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, address = server.accept()
                    seen.append(address)
                    connection.close()

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/x.csv", seen
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def baits(tmp_path: Path, listener: tuple[str, list[object]]) -> Baits:
    secret, folder = tmp_path / "secret.csv", tmp_path / "watched"
    secret.write_text(f"{SECRET},1\n")
    folder.mkdir()
    return Baits(str(secret), listener[0], str(folder))


def state(store: Store) -> Mapping[str, Sequence[str]]:
    """Return all that a query could change: graph, indexes, schema, accounts and databases."""
    asked = {
        "nodes": "MATCH (n) RETURN labels(n) AS l, properties(n) AS p",
        "relationships": "MATCH (a)-[r]->(b) RETURN type(r) AS t, properties(r) AS p, a.id AS a, b.id AS b",
        "incoming": "MATCH (b)<-[r]-(a) RETURN count(*) AS n",
        "found by index": "UNWIND ['tea', 'hacked', 'x'] AS t MATCH (n:Term {text: t}) RETURN t, n.text AS x",
        "counts": "MATCH (n) UNWIND labels(n) AS l RETURN l, count(*) AS n",
        "labels": "CALL db.labels()",
        "types": "CALL db.relationshipTypes()",
        "keys": "CALL db.propertyKeys()",
        "indexes": "SHOW INDEXES YIELD name, labelsOrTypes, properties RETURN *",
        "constraints": "SHOW CONSTRAINTS YIELD name, labelsOrTypes, properties RETURN *",
        "users": "SHOW USERS",
        "databases": "SHOW DATABASES",
    }  # fmt: skip
    # The embedded server returns more columns of SHOW INDEXES than requested, so keep the named ones.
    names = ("l", "p", "t", "a", "b", "n", "x", "label", "relationshipType", "propertyKey", "name", "user")
    return {
        what: sorted(repr({key: row[key] for key in names if key in row.keys()}) for row in store.read(query))  # noqa: SIM118
        for what, query in asked.items()
    }


def directory_state(directory: Path) -> Mapping[str, str]:
    """Return digests of the schema files of an embedded store, and the list of its databases."""
    schemas = directory.rglob("schema.json")
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in schemas} | {
        "databases": repr(sorted(file.name for file in (directory / "arcadedb" / "databases").iterdir()))
    }


def send(session: Session, store: Store, query: str, parameters: Mapping[str, object], alone: bool) -> str:
    """Run a query as `Store.query_read` does, or `alone` in a transaction of its own; return its rows."""

    def work(transaction: ManagedTransaction) -> str:
        checked = store.reader.check(transaction, query)
        return repr(transaction.run(as_literal(checked), dict(parameters)).fetch(FETCHED))

    with suppress(Neo4jError, DriverError, OnlyReading):
        if alone:
            return repr(session.run(as_literal(query), dict(parameters)).fetch(FETCHED))
        return session.execute_read(work)
    return ""


def attack(store: Store, queries: Iterator[str], baits: Baits, amount: int, alone_every: int) -> None:
    """Send queries and compare the state after each batch of them."""
    wipe(store)
    store.query_write(SAMPLE)
    before, parameters = state(store), baits.parameters()
    for batch in range(0, amount, BATCH):
        sent = list(islice(queries, BATCH))
        with store.reader.driver.session(database="neo4j", default_access_mode=READ_ACCESS) as session:
            for number, query in enumerate(sent):
                alone = alone_every > 0 and number % alone_every == 0
                assert SECRET not in send(session, store, query, parameters, alone), query
        assert state(store) == before, f"one of the queries from {batch} on"
        assert not list(Path(baits.folder).iterdir()), f"one of the queries from {batch} on"
    assert store.query_read("MATCH (n:Term {text: 'tea'}) RETURN count(n) AS n").records[0]["n"] == 1


def test_ten_thousand_hostile_queries_change_nothing_on_the_embedded_server(
    embedded: Store, baits: Baits, listener: tuple[str, list[object]]
) -> None:
    directory = Path(embedded.description.removeprefix("embedded store at "))
    wipe(embedded)
    embedded.query_write(SAMPLE)
    before = directory_state(directory)
    # The read-only account must refuse writes in auto-commit transactions, too.
    attack(embedded, hostile_queries(34, baits), baits, 10_000, alone_every=2)
    assert directory_state(directory) == before
    assert listener[1] == []
    with open_store(directory) as again:
        assert state(again) == state(embedded)


def test_thousands_of_hostile_queries_change_nothing_on_neo4j(
    neo4j: Store, baits: Baits, listener: tuple[str, list[object]]
) -> None:
    attack(neo4j, hostile_queries(35, baits), baits, 2_000, alone_every=0)
    assert listener[1] == []


def test_the_same_queries_would_do_harm_with_an_account_that_may_write(tmp_path: Path, baits: Baits) -> None:
    """Check the generator: at least 15 of 100 queries change the graph with an account that may write."""
    harmful = 0
    with open_store(tmp_path / "own") as store:
        store.query_write(SAMPLE)
        before = state(store)["nodes"]
        for query in islice(hostile_queries(36, baits), 100):
            if HARMLESS_TO_THE_SERVER.search(query):
                with suppress(GraphnegError):
                    store.query_write(query, baits.parameters())
            if state(store)["nodes"] != before:
                harmful += 1
                wipe(store)
                store.query_write(SAMPLE)
    assert harmful >= 15
