"""Tests of a store on both servers: reading, writing, schema versions and errors of the connection."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from neo4j import ManagedTransaction
from neo4j.exceptions import ConfigurationError, DriverError, Neo4jError, ServiceUnavailable

from graphneg import __version__
from graphneg.amr.facts import facts_fingerprint
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import StoreError
from graphneg.snapshots import Snapshot
from graphneg.store.connection import Diagnosis, Store, WriteConflict, no_failure, translate_driver_errors
from graphneg.store.opening import (
    OLDEST_EXPORTABLE,
    SCHEMA_VERSION,
    SCHEMES,
    apply_schema,
    check_target,
    open_store,
    server_version,
)
from graphneg.store.statements import cypher_text, run, statements
from tests.servers import Neo4jServer, wipe
from tests.toy_parser import ToyParser

Reopen = Callable[[], Store]


@pytest.fixture
def reopen(store: Store, request: pytest.FixtureRequest) -> Reopen:
    """Return a function that opens the same store again."""
    if "neo4j" in request.node.callspec.params.values():
        return request.getfixturevalue("neo4j_instance").open
    return lambda: open_store(store.description.removeprefix("embedded store at "))


@pytest.fixture
def empty(store: Store) -> Store:
    wipe(store)
    return store


def add_terms(*texts: str) -> Callable[[ManagedTransaction], None]:
    def work(transaction: ManagedTransaction) -> None:
        transaction.run("UNWIND $texts AS text MERGE (t:Term {text: text})", texts=list(texts)).consume()

    return work


def terms(store: Store) -> list[str]:
    return [row["text"] for row in store.read("MATCH (t:Term) RETURN t.text AS text ORDER BY text")]


def test_written_rows_can_be_read(empty: Store) -> None:
    empty.write(add_terms("tea", "coffee"))
    assert terms(empty) == ["coffee", "tea"]
    assert empty.read("MATCH (t:Term {text: $text}) RETURN t.text", text="tea")[0][0] == "tea"


def test_a_stream_yields_every_row(store: Store) -> None:
    rows = store.stream("UNWIND range(1, $last) AS n RETURN n", last=25_000)
    assert next(rows)["n"] == 1
    assert sum(row["n"] for row in rows) == 25_000 * 25_001 // 2 - 1


def test_a_stream_can_be_closed_early(store: Store) -> None:
    rows = store.stream("UNWIND range(1, 25000) AS n RETURN n")
    assert next(rows)["n"] == 1
    rows.close()  # type: ignore[attr-defined]
    assert store.read("RETURN 1 AS one")[0]["one"] == 1


def test_write_returns_the_result_of_the_function(store: Store) -> None:
    assert store.write(lambda transaction: transaction.run("RETURN 7 AS n").single(strict=True)["n"]) == 7


def test_a_transaction_with_a_conflict_is_repeated(empty: Store) -> None:
    attempts = iter([False, False, True])

    def work(transaction: ManagedTransaction) -> None:
        add_terms("once")(transaction)
        if not next(attempts):
            raise WriteConflict("another one writes the same")

    empty.write(work)
    assert terms(empty) == ["once"]


def test_a_failed_transaction_writes_nothing(empty: Store) -> None:
    def work(transaction: ManagedTransaction) -> None:
        add_terms("lost")(transaction)
        raise LookupError("a reason of the caller's")

    with pytest.raises(LookupError, match="of the caller's"):
        empty.write(work)
    assert terms(empty) == []


def test_a_key_is_stored_once(empty: Store) -> None:
    with pytest.raises(StoreError):
        empty.query_write("CREATE (:Term {text: 'tea'}) CREATE (:Term {text: 'tea'})")
    assert terms(empty) == []


def test_threads_may_share_a_store(empty: Store) -> None:
    def work(n: int) -> None:
        empty.write(add_terms(*(f"t{n}-{i}" for i in range(50))))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert len(terms(empty)) == 200


def test_processes_may_merge_the_same_keys_at_once(empty: Store) -> None:
    def work(_: int) -> None:
        for n in range(20):
            empty.write(add_terms(*(f"t{n}-{i}" for i in range(20))))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert len(terms(empty)) == 400


def test_a_users_query_comes_with_its_keys(store: Store) -> None:
    result = store.query_read("UNWIND $ns AS n RETURN n, n * 2 AS twice", {"ns": [1, 2]})
    assert result.keys == ["n", "twice"]
    assert [row.values() for row in result.records] == [[1, 2], [2, 4]]
    assert store.query_read("MATCH (n:Nothing) RETURN n.id AS id").records == []


def test_an_invalid_query_is_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match=r"not valid Cypher for .*RETURN"):
        store.query_read("MATCH (n:Dialogue RETURN n")
    with pytest.raises(StoreError, match="name"):
        store.query_read("RETURN $name")


def test_a_query_may_write_when_asked_to(empty: Store) -> None:
    empty.query_write("CREATE (:Term {text: $text})", {"text": "x"})
    assert terms(empty) == ["x"]


# Schema


def test_opening_again_finds_the_schema_and_leaves_it(store: Store, reopen: Reopen) -> None:
    before = {row["name"] for row in store.read("SHOW CONSTRAINTS YIELD name RETURN name")}
    assert len(before) == cypher_text("schema").count("CREATE CONSTRAINT")
    with reopen() as again:
        apply_schema(again)
        assert {row["name"] for row in again.read("SHOW CONSTRAINTS YIELD name RETURN name")} == before


@pytest.mark.parametrize(
    ("version", "writer", "advice"),
    [
        (SCHEMA_VERSION + 1, "9.1", "upgrade graphneg"),
        (
            OLDEST_EXPORTABLE - 1,
            "0.0.9",
            "export it with graphneg 0.0.9, `graphneg export .*`, and load .* `graphneg load dialogues .*`",
        ),
        (OLDEST_EXPORTABLE - 1, None, "load its files into a new store.*`graphneg export FILE.amr`"),
        (3, None, "load its files into a new store"),
    ],
)
def test_another_schema_version_is_refused(
    store: Store, reopen: Reopen, version: int, writer: str | None, advice: str
) -> None:
    note = "MATCH (s:GraphnegSchema) SET s.version = $version, s.graphneg = $writer"
    store.query_write(note, {"version": version, "writer": writer})
    try:
        with pytest.raises(StoreError, match=f"schema version {version}.*{advice}") as refused:
            reopen()
        assert "\n" not in str(refused.value)
    finally:
        store.query_write(note, {"version": SCHEMA_VERSION, "writer": __version__})


def test_a_store_with_facts_of_another_version_is_read_and_neither_written_nor_edited(
    store: Store, reopen: Reopen, tmp_path: Path
) -> None:
    DialogueGraph(store).load("everyday")
    note = "MATCH (s:GraphnegSchema) SET s.facts = $facts"
    store.query_write(note, {"facts": "of other tables"})
    try:
        with reopen() as again:
            graph = DialogueGraph(again)
            assert graph.info().corpora
            assert graph.export(tmp_path / "all.jsonl", format="dialogues")
            for use in (
                lambda: graph.load("everyday"),
                lambda: graph.parse(ToyParser()),
                lambda: next(iter(graph.negatives("all"))),
                lambda: next(iter(graph.generate("overlap"))),
                lambda: Snapshot.write(again, tmp_path / "all.snapshot"),
                lambda: again.write(lambda tx: run(tx, "load/terms", terms=[])),
            ):
                with pytest.raises(StoreError, match=r"only be read: .*`graphneg export .*`graphneg load"):
                    use()
            again.query_write(note, {"facts": facts_fingerprint()})
    finally:
        store.query_write(note, {"facts": facts_fingerprint()})
        wipe(store)


def test_scripts_split_into_statements() -> None:
    assert statements("// one; two\nRETURN 1;\n// three\nRETURN\n2;\n") == ["RETURN 1", "RETURN\n2"]


def test_the_rows_of_a_statement_are_not_written_out_for_the_drivers_log(
    empty: Store, caplog: pytest.LogCaptureFixture
) -> None:
    words = [f"word {n}" for n in range(1500)]
    with caplog.at_level(logging.DEBUG, logger="neo4j"):
        rows = empty.write(lambda tx: run(tx, "load/terms", terms=[{"text": word} for word in words]))
    assert rows[0]["terms"] == 1500
    assert "<1,500 rows>" in caplog.text and "word 7" not in caplog.text


def test_cypher_files_are_found_by_name() -> None:
    assert "CREATE CONSTRAINT" in cypher_text("schema")
    with pytest.raises(FileNotFoundError):
        cypher_text("no/such/file")


# Neo4j


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_neo4j_opens_directly_and_through_routing(neo4j_instance: Neo4jServer, scheme: str) -> None:
    uri = f"{scheme}://{neo4j_instance.uri.partition('://')[2]}"
    with open_store(uri, username=neo4j_instance.username, password=neo4j_instance.password) as store:
        assert store.read("RETURN 1 AS one")[0]["one"] == 1
        assert store.description.startswith("Neo4j ")
        assert uri in store.description


def test_the_environment_names_the_server(
    neo4j_instance: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", neo4j_instance.uri)
    monkeypatch.setenv("NEO4J_USERNAME", neo4j_instance.username)
    monkeypatch.setenv("NEO4J_PASSWORD", neo4j_instance.password)
    with open_store() as store:
        assert neo4j_instance.uri in store.description


def test_a_wrong_password_is_an_error(neo4j_instance: Neo4jServer) -> None:
    with pytest.raises(StoreError, match=r"refuses these credentials.*NEO4J_PASSWORD"):
        open_store(neo4j_instance.uri, username=neo4j_instance.username, password="wrong")


def test_an_unknown_database_is_an_error(neo4j_instance: Neo4jServer) -> None:
    with pytest.raises(StoreError, match=r"no such database.*nowhere.*NEO4J_DATABASE"):
        open_store(
            neo4j_instance.uri,
            username=neo4j_instance.username,
            password=neo4j_instance.password,
            database="nowhere",
        )


@pytest.mark.parametrize("scheme", ["bolt+s", "neo4j+ssc"])
def test_a_server_without_tls_is_an_error(neo4j_instance: Neo4jServer, scheme: str) -> None:
    with pytest.raises(StoreError, match="does not use TLS"):
        open_store(f"{scheme}://{neo4j_instance.uri.partition('://')[2]}", password="unused")


@pytest.fixture
def silent_port() -> Generator[int]:
    """Return a port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_silent_server_times_out_in_seconds(silent_port: int) -> None:
    with pytest.raises(StoreError, match=r"does not answer.*Bolt port"):
        open_store(f"bolt://127.0.0.1:{silent_port}")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_an_unreachable_server_is_an_error(scheme: str) -> None:
    with pytest.raises(StoreError, match=r"does not answer.*refused.*Bolt port"):
        open_store(f"{scheme}://127.0.0.1:1")


NO_ADDRESS = [
    *("http://localhost:7474", "bolt://", "bolt://localhost:99999", "bolt://localhost:bolt", "neo4j://["),
    *("bolt://a..b", f"bolt://{'a' * 300}", "bolt://\ud800", "bolt://h\u2100t", "localhost:7687"),
]


@pytest.mark.parametrize("uri", NO_ADDRESS, ids=ascii)
def test_an_invalid_address_is_an_error(uri: str) -> None:
    with pytest.raises(StoreError, match="not a Neo4j address"):
        open_store(uri)


@pytest.mark.parametrize(
    "address",
    [
        *("neo4j://me:{}@localhost", "neo4j://me:{}/x@host", "bolt://me:{}#?@host:1", "neo4j://me:a@{}/@h"),
        *("me:{}@localhost", "neo4j:{}/x@localhost:7687", "neo4j:x@{}@localhost"),
    ],
)
def test_a_password_in_the_address_is_refused_and_not_shown(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match="NEO4J_PASSWORD") as refusal:
        open_store(address.format("s3cr3t"))
    assert "s3cr3t" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


@given(st.sampled_from([*SCHEMES, "http"]), st.text())
def test_any_text_is_an_address_or_refused_in_one_line(scheme: str, rest: str) -> None:
    try:
        check_target(f"{scheme}://{rest}")
    except StoreError:
        return
    assert "@" not in rest and scheme != "http"


def test_a_directory_that_is_called_like_an_address_is_one(tmp_path: Path) -> None:
    check_target(str(tmp_path / "me:word@host"))
    check_target("./me:word@host")


@pytest.mark.parametrize(
    "value",
    [1 << 63, "a\ud800", {"a": [{"\udfff": 1}]}, [1, object()]],
    ids=["long", "text", "key", "object"],
)
def test_an_unsupported_parameter_is_an_error(store: Store, value: object) -> None:
    query = "RETURN $value AS value"
    for ask in (store.query_read, store.query_write):
        with pytest.raises(StoreError, match="can't be sent"):
            ask(query, {"value": value})
    with pytest.raises(StoreError, match="can't be sent"):
        store.read(query, value=value)
    with pytest.raises(StoreError, match="can't be sent"):
        next(store.stream(query, value=value))
    assert store.read(query, value=(1 << 63) - 1)[0]["value"] == (1 << 63) - 1


def test_a_too_deeply_nested_parameter_is_an_error(store: Store) -> None:
    nested: list[object] = []
    for _ in range(3000):
        nested = [nested]
    with pytest.raises(StoreError, match="can't be sent"):
        store.query_read("RETURN $nested", {"nested": nested})
    with pytest.raises(StoreError, match="can't be sent"):
        store.query_read("RETURN 'a\ud800'")
    assert store.query_read("RETURN 1 AS one").records[0]["one"] == 1


@pytest.mark.parametrize("agent", ["Neo4j/5.26.0", "Neo4j/5.27-aura", "Neo4j/2025.10.1"])
def test_supported_servers_are_named(agent: str) -> None:
    assert server_version(agent, "bolt://host") == agent.replace("/", " ")


@pytest.mark.parametrize("agent", ["Neo4j/5.25.1", "Neo4j/4.4.40", "Something/1.0"])
def test_servers_that_are_too_old_are_refused(agent: str) -> None:
    with pytest.raises(StoreError, match=r"needs Neo4j 5\.26"):
        server_version(agent, "bolt://host")


# Messages for errors of the driver


def told(error: Exception, if_silent: str = "start it", trouble: Diagnosis = no_failure) -> str:
    with pytest.raises(StoreError) as raised, translate_driver_errors("Neo4j at home", if_silent, trouble):
        raise error
    assert raised.value.__cause__ is error
    return str(raised.value)


def silence(*causes: Exception) -> ServiceUnavailable:
    """Return the error for an unreachable server, with a chain of causes."""
    outer: Exception = ServiceUnavailable("Couldn't connect")
    error = outer
    for cause in causes:
        error.__cause__ = cause
        error = cause
    assert isinstance(outer, ServiceUnavailable)
    return outer


def answer(code: str) -> Neo4jError:
    """Return the error that the driver raises for a status code of the server."""
    return Neo4jError._hydrate_neo4j(code=f"Neo.{code}", message=" because ")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (answer("ClientError.Security.Forbidden"), "does not permit this to your user: because"),
        (
            answer("ClientError.Schema.ConstraintValidationFailed"),
            "that breaks a constraint: because",
        ),
        (answer("ClientError.Statement.ArgumentError"), "refuses the query: because"),
        (answer("ClientError.Statement.SyntaxError"), "not valid Cypher for Neo4j at home: because"),
        (answer("ClientError.Security.CredentialsExpired"), "requires a new password first: run ALTER"),
        (answer("ClientError.Security.AuthenticationRateLimit"), "wait a few seconds, then try again"),
        (
            answer("ClientError.Database.DatabaseNotFound"),
            "has no such database (because): set NEO4J_DATABASE",
        ),
        (answer("DatabaseError.General.Unknown"), "failed: because [Neo.DatabaseError.General.Unknown]"),
        (ConfigurationError("no such option\nat line 1"), "can't open Neo4j at home: no such option"),
        (DriverError("closed"), "Neo4j at home: closed"),
        (
            answer("DatabaseError.Transaction.TransactionLogError"),
            "can't write, usually because its disk is full",
        ),
    ],
)
def test_what_a_server_or_the_driver_says_is_one_sentence(error: Exception, sentence: str) -> None:
    said = told(error)
    assert sentence in said and "Neo4j at home" in said and "\n" not in said


def test_the_error_of_a_silent_server_has_its_address_and_advice() -> None:
    refused = ConnectionRefusedError(111, "Connection refused")
    said = told(silence(OSError("a router"), refused))
    assert said == "Neo4j at home does not answer ([Errno 111] Connection refused): start it"


def test_the_error_of_a_silent_cluster_has_the_address_of_a_member() -> None:
    refused = ConnectionRefusedError(111, "Connection refused")
    assert "([Errno 111] Connection refused)" in told(
        silence(ExceptionGroup("all failed", [silence(refused)]))
    )


def test_tls_errors_differ_from_those_of_a_silent_server() -> None:
    untrusted = ssl.SSLCertVerificationError("self-signed")
    untrusted.verify_message = "self-signed certificate"
    assert "is not trusted (self-signed certificate)" in told(silence(untrusted))
    assert "does not use TLS" in told(silence(ssl.SSLError("wrong version"), OSError("closed")))


def test_only_a_line_of_a_server_message_is_shown() -> None:
    query = "".join(f"MATCH (n{line})\n" for line in range(28))
    failure = Neo4jError._hydrate_neo4j(code="Neo.DatabaseError.General.Unknown", message=f"Error: {query}")
    assert told(failure).count("\n") == 0 and "MATCH (n1)" not in told(failure)
    failure = Neo4jError._hydrate_neo4j(code="Neo.DatabaseError.General.Unknown", message="long " * 999)
    assert len(told(failure)) < 500


def test_the_state_of_a_server_explains_its_errors_except_query_errors() -> None:
    for error in (silence(OSError("closed")), answer("ClientError.Transaction.TransactionNotFound")):
        assert told(error, trouble=lambda: "its disk is full") == "Neo4j at home: its disk is full"
    for code in ("Statement.SyntaxError", "Schema.ConstraintValidationFailed", "Security.Forbidden"):
        assert "because" in told(answer(f"ClientError.{code}"), trouble=lambda: "its disk is full")


def test_other_errors_are_not_changed() -> None:
    with pytest.raises(LookupError), translate_driver_errors("Neo4j at home"):
        raise LookupError
