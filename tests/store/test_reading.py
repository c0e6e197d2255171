"""Tests of read-only queries: servers refuse writes, and a text check refuses obvious ones earlier."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import LiteralString, cast

import pytest
from neo4j import ManagedTransaction, Result

from graphneg.errors import OnlyReading, StoreError
from graphneg.store.connection import Store
from graphneg.store.embedded import join
from graphneg.store.opening import open_store
from graphneg.store.reading import (
    PlanCheck,
    called_functions,
    called_procedures,
    only_reading,
    stops_queries,
    write_clause,
)
from graphneg.store.statements import cypher_text
from tests.servers import Neo4jServer, wipe

SHOWN = {
    "CREATE": "CREATE (n:Term {text: 'x'})",
    "MERGE": "merge (n:Term {text: 'x'}) RETURN n",
    "SET": "MATCH (n:GraphnegSchema) SET n.version = 9",
    "REMOVE": "MATCH (n) /* a comment */ REMOVE n.version",
    "DELETE": "MATCH (n) DELETE (n)",
    "DETACH": "MATCH (n)\nDETACH // and\nDELETE n",
    "FOREACH": "FOREACH (x IN [1] | CREATE (:Term {text: 'x'}))",
    "DROP": "DROP INDEX graphneg_dialogue_corpus",
    "INSERT": "INSERT (n:Term {text: 'x'})",
    "LOAD": "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "TERMINATE": "SHOW TRANSACTIONS YIELD transactionId AS id TERMINATE TRANSACTIONS id",
}
"""Queries whose text shows a write, by the clause that the message names."""
HARDER = {
    "CREATE": "/* /* */ CREATE (n:Term)",
    "SET": "MATCH (n) WHERE n.text = 'a\\'b' SET n.text = 'b'",
    "MERGE": 'MATCH (n:`a``b`)MERGE (m:Term {text: "it\'s"})',
    "DELETE": "MATCH (n) WITH n, 1. AS x DELETE n",
    "REMOVE": "MATCH (n)REMOVE n:Term",
    "DETACH": "RETURN 1 // '\rDETACH DELETE n",
}
STOPPING = [
    "SHOW TRANSACTIONS YIELD transactionId AS or TERMINATE TRANSACTIONS or",
    "SHOW TRANSACTIONS YIELD transactionId AS in, username AS then terminate /* x */ transaction in",
    "WITH 'x' AS with TERMINATE\nTRANSACTIONS with",
    "RETURN '\\' TERMINATE // y\nTRANSACTIONS 'id'",
    "RETURN 1 \\u0054ERMINATE TRANSACTIONS 'id'",
]
"""Queries that stop those of others, with names that hide the clause."""
RUNNING_A_TEXT = [
    "CALL do.when(true, $q, '', {}) YIELD value RETURN value",
    "OPTIONAL CALL do.when(true, 'TERMI' + 'NATE TRANSACTIONS $t', '', {t: 'x'})",
    "call APOC.Do.When(true, $q, '', {}) yield value return value",
    "CALL `do` /* x */ . // y\n `when`(true, $q, '', {}) YIELD value RETURN value",
    "CALL\u00a0do.when(true, $q, '', {}) YIELD value RETURN value",
    "CALL\u200bdo.when(true, $q, '', {}) YIELD value RETURN value",
    "CALL d\\u006f.when(true, $q, '', {}) YIELD value RETURN value",
    "\\u0043ALL do.when(true, $q, '', {}) YIELD value RETURN value",
    "MATCH (n) CALL (n) { CALL do.when(true, $q, '', {}) YIELD value RETURN value } RETURN value",
    "RETURN COLLECT { CALL do.when(true, $q, '', {}) YIELD value RETURN value.x } AS x",
    "RETURN 1. CALL do.when(true, $q, '', {}) YIELD value RETURN value",
    "WITH 1 AS call CALL do.when(true, $q, '', {}) YIELD value RETURN value",
    "RETURN 'a\\\\' CALL do.when(true, $q, '', {}) YIELD value RETURN value //'",
    "RETURN `a\\` CALL do.when(true, $q, '', {}) YIELD value RETURN value //`",
    "CALL eval('1 = 1')",
]
"""Queries that run the text of a string or a parameter, which may be any query."""
ADMINISTRATION = [
    "SHOW TRANSACTIONS",
    "SHOW TRANSACTION YIELD currentQuery",
    "// SHOW INDEXES\n show /* INDEXES */\u00a0transactions yield *;",
    "EXPLAIN SHOW TRANSACTIONS",
    "USE neo4j SHOW TRANSACTIONS",
    "use `neo4j`\n/* x */ show transactions YIELD *",
    "SHOW CURRENT USER",
    "SHOW USERS",
    "SHOW DATABASES",
    "SHOW DATABASE index",
    "SHOW HOME DATABASE",
    "SHOW SETTINGS",
]
"""Commands that describe the server or its users, such as the queries that others run."""
READING = [
    "MATCH (n:Set {create: 'DELETE'}) WHERE n.set = $merge RETURN n.delete AS remove, n.drop",
    "MATCH (n) RETURN n.`SET`, 'CREATE (n)', \"DROP // x\" // DELETE n",
    "MATCH (a)-[:CREATE|MERGE]->(b:Load&!Drop) RETURN a, b /* SET a.x = 1 */",
    "WITH {set: 1, delete: 2} AS map RETURN map.set, map.delete",
    "MATCH (e:Edit) WHERE e.op = 'set' RETURN e.op, count(*) AS n",
    "MATCH p = (a)-[*1..3]->(b) RETURN p LIMIT 3",
    "UNWIND [1, 2] AS set RETURN set",
    "UNWIND [2, 1] AS set WITH set WHERE set > 1 RETURN set ORDER BY set DESC",
    "MATCH (n) RETURN n.created, n.offset, n.dataset",
    "MATCH (n) CALL (n) { MATCH (n)-->(m) RETURN count(m) AS c } RETURN c",
    "MATCH (n) CALL { RETURN 'CALL do.when(true)' AS c } RETURN c // CALL do.when(true)",
    "MATCH (n)-[:CALL]->(call:Call) WHERE call IN [n] AND call.x = 1 RETURN call ORDER BY n.call",
    "UNWIND [1, 2] AS call WITH call WHERE (call > 1) MATCH (n:Term) RETURN call, n.text",
    "CALL db.labels() YIELD label RETURN label",
    "CALL db.labels;",
    "call /* x */ `db`.`labels`() YIELD label RETURN label",
    "MATCH (n) WHERE n.text = 'caf\\u00e9' RETURN n.call, {call: n} AS call",
    "SHOW INDEXES",
    "SHOW ALL INDEXES YIELD name",
    "SHOW CONSTRAINTS",
    "SHOW FUNCTIONS",
    "SHOW PROCEDURES YIELD name",
    "MATCH (show)-[sleep]->() RETURN show AS shown, sleep.sleep, [show IN [1] | show]",
    "EXPLAIN MATCH (n) RETURN n",
    "// a comment\nPROFILE MATCH (n) RETURN n",
]
HIDDEN = [
    "WITH 1 AS as CREATE (:Term {text: 'x'}) RETURN 1",
    "MATCH (n) WITH n AS as DETACH DELETE as",
    "MATCH (n:None) WITH n AS as SET as.text = 'x'",
    "WITH 1 AS as LOAD CSV FROM 'file:///etc/hosts' AS row RETURN row",
    "WITH 1 AS as LOAD CSV FROM 'http://127.0.0.1:1/' AS row RETURN row",
    "WITH 1 AS as FOREACH (x IN [1] | CREATE (:Term {text: 'x'}))",
    "CALL merge.node(['Term'], {text: 'x'}, {}, {}) YIELD node RETURN node",
    "CALL `refactor`.mergeNodes([])",
    "CALL do.when(true, 'CREATE (:Term {text: \"x\"})', '', {}) YIELD value RETURN value",
    "CALL db.labelsAndMore() YIELD label RETURN label",
    "CALL db.createLabel('x')",
    "CALL dbms.listConfig()",
    "CALL dbms.setConfigValue('a', 'b')",
    "CALL dbms.killConnection('bolt-1') YIELD message RETURN message",
    "RETURN COLLECT { CALL dbms.listConfig() YIELD name RETURN name } AS names",
    "MATCH (n) WHERE EXISTS { LOAD CSV FROM 'file:///etc/hosts' AS row RETURN row } RETURN n",
    "SHOW SETTINGS",
    "SHOW USERS",
    "RETURN 1 ; CREATE (n:Term)",
    "BEGIN",
    "COMMIT",
    "PROFILE WITH 1 AS as CREATE (:Term {text: 'x'}) RETURN 1",
    # EXPLAIN and execution must read the same text: here, an escape could be a string for one of them
    # and a clause for the other.
    "// PROFILE RETURN \"\nLOAD CSV FROM 'file:///etc/hosts' AS row RETURN row //\"",
    "// PROFILE RETURN \"\\u000ALOAD CSV FROM 'file:///etc/hosts' AS row RETURN row //\"",
]
"""Queries that do more than read although the text check passes them, or that a server rejects."""
ESCAPED = [
    "RETURN 1 //\\u000ALOAD CSV FROM 'file:///etc/hosts' AS line RETURN line",
    "RETURN 'a\\u0027 CREATE (n:Term) //'",
    "RETURN 'a\\uuu0027 CREATE (n:Term) //'",
    "MATCH (n) \\u0053ET n.text = 'b'",
    "MATCH (n:`a\\u0060) SET n.text = 'b' //`)",
]
"""Neo4j decodes escapes everywhere, so these contain clauses there. Elsewhere, they are parts of strings."""


@pytest.fixture
def kept(store: Store) -> Store:
    wipe(store)
    store.query_write("CREATE (:Term {text: 'tea'})")
    return store


def digest(store: Store) -> list[str]:
    return sorted(repr((row["labels"], row["known"])) for row in store.read(
        "MATCH (n) RETURN labels(n) AS labels, properties(n) AS known"
    ))  # fmt: skip


@pytest.mark.parametrize("query", [*SHOWN.values(), *HARDER.values()])
def test_a_clause_that_writes_is_named(query: str) -> None:
    known = {text: clause for queries in (SHOWN, HARDER) for clause, text in queries.items()}
    assert write_clause(query) == known[query]


@pytest.mark.parametrize("query", READING)
def test_names_strings_and_comments_are_no_clauses(query: str) -> None:
    assert write_clause(query) is None


def test_what_only_reads_runs(kept: Store) -> None:
    for query in READING:
        kept.query_read(query, {"merge": 1})


def test_an_obvious_write_is_refused_by_the_name_of_its_clause(kept: Store) -> None:
    for clause, query in SHOWN.items():
        with pytest.raises(OnlyReading, match=rf"would write \({clause}\), and only reading is allowed here"):
            kept.query_read(query)


@pytest.mark.parametrize("query", HIDDEN)
def test_hidden_writes_are_refused_by_the_server(kept: Store, query: str) -> None:
    before = digest(kept)
    with pytest.raises(StoreError):
        print(kept.query_read(query).records)
    assert digest(kept) == before


def test_escapes_hide_no_clause(kept: Store) -> None:
    before = digest(kept)
    for query in ESCAPED:
        try:
            rows = kept.query_read(query).records
        except StoreError:
            continue
        assert "localhost" not in repr(rows)
    assert digest(kept) == before


def test_a_compatible_server_needs_an_account_that_may_only_read(
    embedded: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The embedded server, opened by its Bolt address, is a "compatible" server that ignores READ mode."""
    membership = join(Path(embedded.description.removeprefix("embedded store at ")))
    uri = f"bolt://127.0.0.1:{membership.bolt_port}"
    with open_store(uri, username="root", password=membership.password) as store:
        assert store.read("RETURN 1 AS one")[0]["one"] == 1
        with pytest.raises(OnlyReading, match="NEO4J_READER_USERNAME"):
            store.query_read("RETURN 1")
    monkeypatch.setenv("NEO4J_READER_USERNAME", "reader")
    monkeypatch.setenv("NEO4J_READER_PASSWORD", membership.reader_password)
    with open_store(uri, username="root", password=membership.password) as store:
        assert store.query_read("RETURN 1 AS one").records[0]["one"] == 1
        with pytest.raises(OnlyReading, match="not allowed"):
            store.query_read(HIDDEN[0])
    membership.leave()


def test_an_account_that_may_only_read_must_be_known(
    neo4j_instance: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_READER_USERNAME", "nobody")
    with pytest.raises(StoreError, match="rejects the read-only account"):
        neo4j_instance.open()


def test_neo4j_plans_each_text_once_and_no_shipped_one(neo4j: Store) -> None:
    planned: list[str] = []

    class Recorder:
        def __init__(self, transaction: ManagedTransaction) -> None:
            self._transaction = transaction

        def run(self, query: LiteralString) -> Result:
            planned.append(query)
            return self._transaction.run(query)

    def work(transaction: ManagedTransaction) -> None:
        check = PlanCheck()
        for text in ("RETURN 1", "RETURN 1", "PROFILE RETURN 2", cypher_text("explore/hubs")):
            check(cast(ManagedTransaction, Recorder(transaction)), text)

    neo4j.write(work)
    assert planned == ["EXPLAIN RETURN 1", "EXPLAIN  RETURN 2"]


@pytest.mark.parametrize("query", STOPPING)
def test_no_name_hides_a_command_that_stops_the_queries_of_others(query: str) -> None:
    with pytest.raises(OnlyReading, match="stop"), only_reading(query):
        pytest.fail("the query would be sent")
    assert not any(map(stops_queries, READING))


@pytest.mark.parametrize("query", RUNNING_A_TEXT)
def test_no_procedure_runs_the_text_of_a_string(store: Store, query: str) -> None:
    with pytest.raises(StoreError):
        print(store.query_read(query, {"q": "RETURN 7 AS x"}).records)


@pytest.mark.parametrize("query", RUNNING_A_TEXT)
def test_a_procedure_that_is_not_known_is_refused_before_the_query_is_sent(
    embedded: Store, query: str
) -> None:
    with pytest.raises(OnlyReading, match=r"the procedure .* is not known to read only"):
        embedded.query_read(query, {"q": "RETURN 7 AS x"})


@pytest.mark.parametrize("query", ADMINISTRATION)
def test_readers_do_not_see_each_others_queries(store: Store, query: str) -> None:
    with pytest.raises(OnlyReading):
        print(store.query_read(query).records)


FORBIDDEN = [
    "util.sleep(600000)",
    "apoc . `util`./* x */`Sleep` (600000)",
    "size(apoc.text.random(2000000000))",
    "text.lpad('a', 2000000000, 'b')",
    "apoc.text.\\u0072pad('a', 2000000000, 'b')",
    "apoc.\u200btext.random\u200b(2000000000)",
    "[x IN [1] | text.format('%2000000000d', [1])]",
    "util.decompress('x', 'gzip')",
    "text.regreplace('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', '(a+)+c', '')",
    "nobody.knows(1)",
]
"""Calls of functions that wait, that can make a text of any length, or that are unknown."""


@pytest.mark.parametrize("call", FORBIDDEN)
def test_functions_that_wait_or_fill_the_memory_are_refused(embedded: Store, call: str) -> None:
    with pytest.raises(OnlyReading, match="is not among the functions that are allowed"):
        embedded.query_read(f"RETURN {call}")


def test_functions_whose_results_are_short_are_allowed(embedded: Store) -> None:
    query = (
        "RETURN apoc.text.join(['a', 'b'], '-') AS a, coll.max([1, 2]) AS b, date.truncate('year', date())"
    )
    [row] = embedded.query_read(query).records
    assert (row["a"], row["b"]) == ("a-b", 2)


def test_properties_and_ranges_are_not_functions() -> None:
    texts = [*READING, "MATCH (n) WHERE n.sleep IN [1..size(n.list)] OR (n.a) IN [(1)] RETURN size(n.x)"]
    assert {name for query in texts for name in called_functions(query)} <= {"db.labels"}


def test_the_called_procedures_are_found_and_nothing_else() -> None:
    assert {name for query in READING for name in called_procedures(query)} == {"db.labels"}


def test_a_parameter_can_not_stop_the_query_of_another_user(embedded: Store) -> None:
    """Both users share an account, so the server would allow them to stop each other's queries."""
    refused = threading.Event()

    def attack() -> None:
        stop = (
            "SHOW TRANSACTIONS YIELD transactionId AS t, currentQuery AS q WHERE q CONTAINS 'victim' "
            "TERMINATE TRANSACTIONS t"
        )
        query = "CALL do.when(true, $q, '', {}) YIELD value RETURN value"
        with pytest.raises(OnlyReading):
            embedded.query_read(query, {"q": stop})
        refused.set()

    attacker = threading.Timer(1, attack)
    attacker.start()
    slow = "UNWIND range(1, 3000) AS a UNWIND range(1, 1000) AS b RETURN count(a + b) AS victim"
    assert embedded.query_read(slow).records[0]["victim"] == 3_000_000
    attacker.join()
    assert refused.is_set()
