"""Generate queries that try to write, read files or connect, in forms that a text check may miss.

Some are invalid on a server; many would write if they were allowed. The same seed gives the same queries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Baits:
    """A file that must not be read, an address that must not be called, a folder that must stay empty."""

    file: str
    address: str
    folder: str

    def parameters(self) -> Mapping[str, object]:
        """Return the values of all parameters that the queries use."""
        return {
            "url": f"file://{self.file}",
            "map": {"text": "hacked"},
            "label": "Hacked",
            "text": "tea",
            "query": "CREATE (:Hacked)",
        }


@dataclass(frozen=True, slots=True)
class Attempt:
    """A query in two parts: the body, and a RETURN clause with the data that the body may have read."""

    body: str
    end: str = "RETURN 1 AS got"


NAMES = (
    *("as", "AS", "set", "create", "delete", "merge", "load", "call", "with", "match", "return", "on"),
    *("n", "x", "_1", "é", "`a b`", "`CREATE`", "`a``b`", "`SET x`", "yield", "in", "foreach", "use"),
)
LABELS = ("", "", ":Term", ":Dialogue", ":Utterance", ":`Term`", ":Term|Dialogue", ":Nobody")
BLANKS = (" ", " ", " ", " ", "\n", "\t", "\r\n", "  ", " /**/ ", " /* x */ ", " // x\n", "/*`*/")
MODES = (
    "",
    "",
    "",
    "",
    "",
    "",
    "PROFILE ",
    "EXPLAIN ",
    "CYPHER 5 ",
    "USE neo4j ",
    "/* */ PROFILE ",
    "// x\n",
)
SUBQUERIES = (
    "CALL {{ {body} {end} }}",
    "CALL () {{ {body} {end} }}",
    "CALL {{ CALL {{ {body} {end} }} RETURN got }}",
    "UNWIND [1, 2] AS i CALL (i) {{ {body} {end} }}",
    "UNWIND [1, 2] AS i CALL (i) {{ {body} {end} }} IN TRANSACTIONS OF 1 ROWS ON ERROR CONTINUE",
    "UNWIND [1, 2] AS i CALL (i) {{ {body} {end} }} IN 2 CONCURRENT TRANSACTIONS OF 1 ROWS",
    "OPTIONAL CALL {{ {body} {end} }}",
    "MATCH (outer:Dialogue) CALL (outer) {{ {body} {end} }}",
    "CALL {{ RETURN 1 AS got UNION {body} {end} }}",
    "WITH 1 AS a {body} WITH 1 AS got",
    "CALL do.when(true, '{quoted}', '', {{}}) YIELD value WITH value AS got",
    "OPTIONAL CALL do.when(true, '{quoted}', '', {{}}) YIELD value WITH value AS got",
    "OPTIONAL CALL apoc.do.when(false, '', '{quoted}', $map) YIELD value WITH value AS got",
    "CALL do.when(true, $query, '', {{}}) YIELD value WITH value AS got",
)
"""What a query may stand in; it returns ``got``."""
EXPRESSIONS = (
    "WITH EXISTS {{ {body} {end} }} AS got",
    "WITH COUNT {{ {body} {end} }} AS got",
    "WITH COLLECT {{ {body} {end} }} AS got",
    "MATCH (m) WHERE EXISTS {{ {body} {end} }} WITH m AS got",
    "WITH [i IN COLLECT {{ {body} {end} }} | i] AS got",
    "WITH sql.eval('{quoted}') AS got",
    "RETURN 1 AS got UNION ALL {body} {end} UNION",
    "RETURN 1; {body} {end};",
    "RETURN 1 //\\u000A{body} {end} \n",
    "RETURN '\\u0027 {body} {end} //'",
    "RETURN 1 // PROFILE\n{body} {end} //",
    '// PROFILE RETURN "\n{body} {end} //"\n',
    "{{sql}} {body}",
    "START TRANSACTION {body} COMMIT",
)
"""The same, mostly not allowed around what writes."""


def hostile_queries(seed: int, baits: Baits) -> Iterator[str]:
    """Yield an endless sequence of queries."""
    random = Random(seed)
    makers: tuple[Callable[[Random, Baits], Attempt], ...] = (
        _write, _write, _write, _write, _write, _load, _procedure, _procedure, _schema, _administration, _sql,
    )  # fmt: skip
    while True:
        attempt = random.choice(makers)(random, baits)
        for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
            query = f"{attempt.body} {attempt.end}"
            quoted = query.replace("\\", "\\\\").replace("'", "\\'")
            outer = random.choice(SUBQUERIES if random.random() < 0.8 else EXPRESSIONS)
            attempt = Attempt(outer.format(body=attempt.body, end=attempt.end, quoted=quoted), "RETURN got")
        yield random.choice(MODES) + _disguised(random, f"{attempt.body} {attempt.end}")


def _disguised(random: Random, query: str) -> str:
    """Return the query with other white space, case and escapes, and possibly with a semicolon."""
    if random.random() < 0.5:
        query = re.sub(r" (?![^']*'(?:[^']*'[^']*')*[^']*$)", lambda _: random.choice(BLANKS), query)
    if random.random() < 0.3:
        query = re.sub(r"\b[A-Z]{2,}\b", lambda word: random.choice((str.lower, str.title))(word[0]), query)
    if random.random() < 0.05:
        query = "".join(f"\\u{ord(one):04x}" if random.random() < 0.1 else one for one in query)
    return query + random.choice(("", "", "", ";", " //"))


def _write(random: Random, _: Baits) -> Attempt:
    name, label = random.choice(NAMES), random.choice(LABELS)
    start = random.choice(
        (
            f"MATCH ({name}{label})",
            f"MATCH (n{label}) WITH n AS {name}",
            f"MATCH (n{label}) WITH *, n AS {name} LIMIT 1",
            f"MATCH ()-[{name}]->()",
            f"MATCH ()-[r]->() WITH r AS {name}",
            f"MATCH (:Term {{text: $text}}), ({name})",
            f"OPTIONAL MATCH ({name}{label})",
            "WITH 1 AS as",
            f"MATCH (n) WITH collect(n) AS all UNWIND all AS {name}",
            f"MATCH (n) WITH [n] AS l WITH head(l) AS {name}",
            f"CALL db.labels() YIELD label AS l MATCH ({name})",
        )
    )
    # A write that needs no matched node can follow other clauses, too.
    if start.startswith("WITH 1"):
        return Attempt(f"{start} {_new(random)}")
    return Attempt(f"{start} {_new(random) if random.random() < 0.3 else _change(random, name)}")


def _new(random: Random) -> str:
    label = random.choice(("Hacked", "Term", "Dialogue", "`Hack ed`", "$($label)"))
    return random.choice(
        (
            f"CREATE (:{label} {{text: 'hacked'}})",
            f"CREATE (new:{label})-[:HACKED]->(new)",
            f"CREATE p = (:{label})-[:NEXT]->(:Term)",
            "CREATE (q $map)",
            f"INSERT (:{label} {{text: 'hacked'}})",
            f"MERGE (new:{label} {{text: 'hacked'}})",
            "MERGE (new:Term {text: 'tea'}) ON MATCH SET new.text = 'hacked'",
            "MERGE (new:Term {text: 'hacked'}) ON CREATE SET new.a = 1",
            f"FOREACH (set IN [1] | CREATE (:{label}))",
            f"FOREACH (a IN [1] | FOREACH (b IN [a] | MERGE (:{label} {{a: b}})))",
        )
    )


def _change(random: Random, name: str) -> str:
    return random.choice(
        (
            f"CREATE ({name})-[:HACKED]->(:Term)",
            f"CREATE ({name})-[:NEXT]->({name})",
            f"MERGE ({name})-[h:HACKED]->({name})",
            f"SET {name}.text = 'hacked'",
            f"SET {name}.hacked = 1",
            f"SET {name}['text'] = 'hacked'",
            f"SET {name} += {{hacked: 1}}",
            f"SET {name} = {{}}",
            f"SET {name} = $map",
            f"SET {name}:Hacked",
            f"SET {name}:Dialogue",
            f"SET ({name}).text = null",
            f"REMOVE {name}.text",
            f"REMOVE {name}:Term",
            f"DELETE {name}",
            f"DETACH DELETE {name}",
            f"NODETACH DELETE {name}",
            f"WITH {name} AS as DETACH DELETE as",
            f"FOREACH (e IN [{name}] | SET e.text = 'hacked')",
            f"FOREACH (e IN [{name}] | DETACH DELETE e)",
        )
    )


def _load(random: Random, baits: Baits) -> Attempt:
    place = random.choice(
        (
            *(f"'file://{baits.file}'", f"'{baits.file}'", f"'FILE://{baits.file}'", "$url"),
            *(
                f"'file:{baits.file}'",
                f"'file://localhost{baits.file}'",
                f"'file:///../../../..{baits.file}'",
            ),
            *(
                f"'{baits.address}'",
                f"'{baits.address}.gz'",
                f"'jar:{baits.address}!/x'",
                "'ftp://127.0.0.1/x'",
            ),
            f"replace('x{baits.file}', 'x', 'file://')",
        )
    )
    name = random.choice(NAMES)
    start = random.choice(
        ("", "", f"WITH 1 AS {name}2", "UNWIND [1] AS as", "MATCH (m:Dialogue) WITH m AS as")
    )
    headers = random.choice(("", "", "WITH HEADERS "))
    return Attempt(f"{start} LOAD CSV {headers}FROM {place} AS {name}", f"RETURN {name} AS got")


PROCEDURES = (
    "merge.node(['Hacked'], {text: 'x'}, {}, {}) YIELD node",
    "merge.node(['Term'], {text: 'tea'}, {}, {hacked: 1}) YIELD node",
    "apoc.merge.node(['Hacked'], $map, {}, {}) YIELD node",
    "db.migrateLegacyTemporals()",
    *("db.createLabel('Hacked')", "db.createProperty('hacked')", "db.createRelationshipType('HACKED')"),
    *("dbms.listConfig() YIELD name, value", "dbms.listConfig('auth') YIELD name, value"),
    *("dbms.killConnection('x')", "dbms.setConfigValue('a', 'b')", "tx.setMetaData({a: 1})"),
    *("db.clearQueryCaches()", "db.checkpoint()", "dbms.upgrade()", "db.stats.clear('QUERIES')"),
    *("sql.query('DELETE FROM Term')", "sql('DELETE FROM Term')", "create.vNode(['Hacked'], {})"),
    *("apoc.cypher.doIt('CREATE (:Hacked)', {})", "apoc.load.csv($url)", "apoc.export.csv.all('x.csv', {})"),
    *("import.csv($url)", "export.database($url)", "load.csv($url)", "backup()"),
)
ON_NODES = (
    "merge.relationship(n, 'HACKED', {}, {}, m, {}) YIELD rel",
    "merge.relationship(n, 'NEXT', {}, {}, n, {}) YIELD rel",
    "refactor.mergeNodes([n, m]) YIELD node",
    "apoc.refactor.mergeNodes([n, m], {properties: 'overwrite'}) YIELD node",
    "refactor.cloneNodesWithRelationships([n]) YIELD output",
    "apoc.refactor.cloneNodesWithRelationships([n, m]) YIELD input, output, error",
    "apoc.create.setProperty(n, 'hacked', 1) YIELD node",
    "db.create.setNodeVectorProperty(n, 'hacked', [1.0])",
)


def _procedure(random: Random, _: Baits) -> Attempt:
    on_nodes = random.random() < 0.5
    call = random.choice(ON_NODES if on_nodes else PROCEDURES)
    got = call.rpartition("YIELD ")[2].rpartition(", ")[2] if "YIELD" in call else "1"
    if random.random() < 0.3:  # `merge`.`node`, merge . node
        name, paren, rest = call.partition("(")
        parts = [f"`{part}`" if random.random() < 0.5 else part for part in name.split(".")]
        call = random.choice((".", " . ", "./**/")).join(parts) + paren + rest
    start = "MATCH (n:Term), (m:Term) WHERE n <> m WITH n, m LIMIT 2" if on_nodes else "WITH 1 AS as"
    return Attempt(
        f"{start} {random.choice(('CALL', 'CALL', 'OPTIONAL CALL'))} {call}", f"RETURN {got} AS got"
    )


INDEXES = ("graphneg_dialogue_corpus", "graphneg_term", "`Term[text]`", "`Dialogue[id]`", "hacked")


def _schema(random: Random, _: Baits) -> Attempt:
    label, key = random.choice(("Term", "Hacked", "`Hack ed`")), random.choice(("text", "hacked"))
    kind = random.choice(("", "RANGE", "TEXT", "FULLTEXT", "VECTOR", "POINT", "LOOKUP"))
    name, quietly = random.choice(("", "hacked", "`h`")), random.choice(("", "IF NOT EXISTS"))
    rule = random.choice(("UNIQUE", "NOT NULL", "NODE KEY", ":: STRING", "TYPED INTEGER"))
    index = random.choice(INDEXES)
    statement = random.choice(
        (
            f"CREATE {kind} INDEX {name} {quietly} FOR (n:{label}) ON (n.{key})",
            f"CREATE {kind} INDEX {name} {quietly} FOR ()-[r:NEXT]-() ON (r.{key})",
            f"CREATE {kind} INDEX {name} FOR (n:{label}) ON EACH [n.{key}]",
            f"CREATE CONSTRAINT {name} {quietly} FOR (n:{label}) REQUIRE n.{key} IS {rule}",
            f"CREATE CONSTRAINT {name} FOR ()-[r:NEXT]-() REQUIRE r.{key} IS {rule}",
            f"DROP INDEX {index} {random.choice(('', 'IF EXISTS'))}",
            f"DROP CONSTRAINT {index} {random.choice(('', 'IF EXISTS'))}",
        )
    )
    return Attempt(statement, "")


def _administration(random: Random, _: Baits) -> Attempt:
    user = random.choice(("root", "reader", "neo4j", "hacked"))
    statement = random.choice(
        (
            f"CREATE USER {user} SET PASSWORD 'hacked-hacked'",
            f"CREATE OR REPLACE USER {user} SET PASSWORD 'hacked-hacked'",
            f"ALTER USER {user} SET PASSWORD 'hacked-hacked'",
            f"ALTER USER {user} SET STATUS SUSPENDED",
            "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'hacked-hacked'",
            f"DROP USER {user} {random.choice(('', 'IF EXISTS'))}",
            f"RENAME USER {user} TO hacked",
            f"GRANT ROLE admin TO {user}",
            "DENY MATCH {*} ON GRAPH * TO PUBLIC",
            "CREATE DATABASE hacked IF NOT EXISTS",
            "DROP DATABASE neo4j IF EXISTS",
            *("STOP DATABASE neo4j", "START DATABASE neo4j"),
            "ALTER DATABASE neo4j SET ACCESS READ ONLY",
            "CREATE ALIAS hacked FOR DATABASE neo4j",
            *("SHOW SETTINGS YIELD name, value RETURN value", "SHOW USERS"),
            "USE system CREATE USER hacked SET PASSWORD 'hacked-hacked'",
            "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
            "ENABLE SERVER 'x'",
            "SESSION SET $a = 1",
            *("START TRANSACTION", "COMMIT", "ROLLBACK", "BEGIN", "SESSION CLOSE"),
        )
    )
    return Attempt(statement, "")


def _sql(random: Random, baits: Baits) -> Attempt:
    folder = baits.folder
    statement = random.choice(
        (
            *("CREATE VERTEX TYPE Hacked", "DROP TYPE Term UNSAFE", "TRUNCATE TYPE Term UNSAFE"),
            *("DELETE FROM Term", "INSERT INTO Term SET text = 'hacked'", "UPDATE Term SET text = 'hacked'"),
            *(f"BACKUP DATABASE file://{folder}/b.zip", f"EXPORT DATABASE file://{folder}/e.jsonl.tgz"),
            *(f"IMPORT DATABASE file://{baits.file}", f"IMPORT DATABASE {baits.address}"),
            "CREATE TRIGGER hacked AFTER CREATE ON Term EXECUTE SQL 'DELETE FROM Term'",
            "DEFINE FUNCTION hacked.f 'DELETE FROM Term' LANGUAGE sql",
            "ALTER DATABASE `arcadedb.dateFormat` 'x'",
            *("RETURN sql.eval('DELETE FROM Term')", "RETURN sql.eval('(INSERT INTO Term SET text = 1)')"),
            *("RETURN hacked.f()", "RETURN file()", "RETURN sql.search_index('Term[text]', 'x')"),
        )
    )
    return Attempt(statement, "")
