"""Run untrusted queries in such a way that they can only read.

Untrusted queries come from users, web pages and transform files. The text of a query does not reveal whether
it writes: in ``WITH 1 AS as CREATE (:Term)`` the clause ``CREATE`` looks like a name. So the server has to
decide, in one of three ways:

- The embedded server runs the query with an account that may only read records.
- Neo4j first shows the plan of the query (see `PlanCheck`) and then runs it in a transaction with READ
  access. READ access alone would permit ``LOAD CSV`` and ``CALL dbms.listConfig()``.
- Other servers that speak the same protocol may not enforce READ access, so they need an account that may
  only read.

`write_clause` looks at the text. It only decides how early a refusal comes and how it is worded.

Example:
    `graphneg.store.connection.Store.query_read` refuses a query that writes::

        store.query_read("CREATE (:Term)")
        # OnlyReading: this query would write (CREATE), and only reading is allowed here
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from neo4j import Driver, ManagedTransaction, ResultSummary
from neo4j.exceptions import Neo4jError

from graphneg.errors import OnlyReading, StoreError
from graphneg.store.statements import as_literal, shipped_texts


@dataclass(frozen=True, slots=True)
class Reader:
    """The way in which a server runs untrusted queries.

    Attributes:
        driver: The driver that runs them, with an account that may only read if the server has one.
        check: Takes a transaction and the text of a query, and returns the text to send or raises
            `OnlyReading`.
    """

    driver: Driver
    check: Callable[[ManagedTransaction, str], str]


def leave_to_account(transaction: ManagedTransaction, text: str) -> str:
    """Check nothing, because the account of the `Reader` may only read.

    Args:
        transaction: The transaction in which the query will run.
        text: The query.

    Returns:
        The query with ``EXPLAIN`` or ``PROFILE`` at its very beginning: the embedded server does not
        recognize them after a comment.
    """
    return "".join(_mode_and_query(text))


def refuse_all(transaction: ManagedTransaction, text: str) -> str:
    """Refuse any query, because the server has no account that may only read and ignores READ access.

    Args:
        transaction: The transaction in which the query would run.
        text: The query.

    Raises:
        OnlyReading: Always.
    """
    raise OnlyReading(
        "this server does not enforce read-only access: set NEO4J_READER_USERNAME and NEO4J_READER_PASSWORD "
        "to an account that may only read"
    )


_PROCEDURES = frozenset(
    f"db.{name}"
    for name in (
        "index.fulltext.querynodes",
        "index.fulltext.queryrelationships",
        "index.vector.querynodes",
        "index.vector.queryrelationships",
        "info",
        "labels",
        "ping",
        "propertykeys",
        "relationshiptypes",
        "schema.nodetypeproperties",
        "schema.reltypeproperties",
        "schema.visualization",
    )
) | {"dbms.components"}
"""Neo4j procedures, in lower case, that only read this database."""
_COMMANDS = frozenset(("ShowConstraints", "ShowFunctions", "ShowIndexes", "ShowProcedures"))
"""Plan operators of SHOW commands that describe this database or the language."""
_NOT_READING = re.compile(r"LoadCSV|Procedure|Command|Administration|^Show|^Terminate", re.IGNORECASE)
"""Plan operators that may do more than read the database."""
_MOST_PASSED = 1_000
"""Number of checked queries to remember."""
_MODE = re.compile(r"(?:\s+|//[^\r\n]*[\r\n]|/\*.*?\*/)*(EXPLAIN|PROFILE)\b", re.IGNORECASE | re.DOTALL)


class PlanCheck:
    """Checks queries by the plans that one Neo4j server makes of them.

    Planning a long query takes a second or more, and Neo4j does not cache the plan. So each text is planned
    only once, and queries that graphneg ships are never planned. All of them run with READ access.
    """

    def __init__(self) -> None:
        """Initialize without any checked query."""
        self._passed: set[str] = set()

    def __call__(self, transaction: ManagedTransaction, text: str) -> str:
        """Ask Neo4j for the plan of a query, and check that the plan only reads this database.

        The plan must not write, load files, run an administration command, or call a procedure outside of the
        list of known procedures. Otherwise `OnlyReading` is raised.

        Args:
            transaction: A transaction with READ access, in which the query runs afterwards.
            text: The query. It may begin with ``EXPLAIN`` or ``PROFILE``.

        Returns:
            The text to send: the same query in the same mode.
        """
        mode, query = _mode_and_query(text)
        if query not in self._passed and query not in shipped_texts():
            _check_plan(transaction, query)
            # A program can send any number of different texts.
            if len(self._passed) >= _MOST_PASSED:
                self._passed.clear()
            self._passed.add(query)
        # Send exactly the query that was planned. The text before it may only look like comments.
        return mode + query


def _check_plan(transaction: ManagedTransaction, query: str) -> None:
    """Refuse a query whose plan has an operator that does not only read."""
    summary = transaction.run(as_literal(f"EXPLAIN {query}")).consume()
    operators = list(_operators(summary.plan or {}))
    calls = [name for kind, name in operators if kind == "ProcedureCall"]
    for kind, procedure in operators:
        if kind == "ProcedureCall":
            if procedure not in _PROCEDURES:
                raise OnlyReading(
                    f"the procedure {procedure} is not known to read only, and only reading is allowed here"
                )
        elif kind not in _COMMANDS and _NOT_READING.search(kind):
            raise _would_write(query, kind)
    # Query type "s" is a change of the schema or of the server, but also a call of a server procedure such as
    # dbms.components.
    if not operators or not (summary.query_type == "r" or (summary.query_type == "s" and calls)):
        raise _would_write(query)


def _mode_and_query(text: str) -> tuple[str, str]:
    """Split off ``EXPLAIN`` or ``PROFILE``; the mode is empty if the query has none."""
    found = _MODE.match(text)
    return (f"{found[1]} ", text[found.end() :]) if found else ("", text)


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name of each plan operator, and the procedure that it calls, in lower case."""
    if plan:
        # An operator type is "ProcedureCall@neo4j", and its details are "db.labels() :: (label :: STRING)".
        details = str(plan.get("args", {}).get("Details", ""))
        yield str(plan["operatorType"]).partition("@")[0], details.partition("(")[0].lower()
        for child in plan.get("children", ()):
            yield from _operators(child)


def check_summary(summary: ResultSummary, text: str) -> None:
    """Raise `OnlyReading` if a query wrote, according to its summary; its transaction is still open."""
    # The embedded server reports "MATCH (n:None) SET n.a = 1" as a write, although it matches nothing, so
    # nothing is refused. It always reports plans and profiles as writes; for these the counters decide.
    is_plan = summary.plan is not None or summary.profile is not None
    if summary.counters.contains_updates or ("w" in (summary.query_type or "") and not is_plan):
        raise _would_write(text)


_REFUSED = ("Neo.ClientError.Security.Forbidden", "Neo.ClientError.Statement.AccessMode")
"""Error codes of a server that refuses to write."""


@contextmanager
def only_reading(text: str) -> Generator[None]:
    """Raise `OnlyReading` with a clear message if the server refuses the query in the block as a write."""
    # Refuse an obvious write without asking the server.
    if write_clause(text):
        raise _would_write(text)
    try:
        yield
    except StoreError as error:
        refusal = error.__cause__
        if isinstance(refusal, Neo4jError) and refusal.code in _REFUSED:
            raise _would_write(text, (refusal.message or "").strip()) from refusal
        raise


def _would_write(text: str, reason: str = "") -> OnlyReading:
    """Return the error for a query that does more than read."""
    clause = write_clause(text)
    if clause:
        return OnlyReading(f"this query would write ({clause}), and only reading is allowed here")
    return OnlyReading("this query does not only read" + (f" ({reason})" if reason else ""))


_WRITE_WORDS = frozenset(
    (
        *("ALTER", "CREATE", "DEALLOCATE", "DELETE", "DENY", "DETACH", "DROP", "ENABLE", "FOREACH", "GRANT"),
        *("INSERT", "LOAD", "MERGE", "NODETACH", "REALLOCATE", "REMOVE", "RENAME", "REVOKE", "SET"),
        *("START", "STOP", "TERMINATE"),
    )
)
"""First words of Cypher clauses and commands that change data, the schema or the server."""
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\r\n]*|/\*.*?(?:\*/|\Z))
      |(?P<quoted>'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|`(?:[^`]|``)*(?:`|\Z))
      |(?P<number>\d[\w]*(?:\.\d\w*|\.(?!\.))?)
      |(?P<word>\w+)
      |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_BEFORE_NAME = frozenset(
    (
        *(".", ":", "$", "|", "&", "!", "[", "+", "=", "<", ">"),
        *("AND", "AS", "BY", "DISTINCT", "ELSE", "IN", "NOT", "OR", "RETURN", "THEN", "UNWIND", "WHEN"),
        *("WHERE", "WITH", "XOR", "YIELD"),
    )
)
"""Tokens after which a word is a name, not a clause: ``n.set``, ``:Create``, ``AS set``."""
_AFTER_NAME = frozenset((",", ")", ".", ":", "=", "]", "}", "|", ""))
"""Tokens before which a word is a name, not a clause: ``set,`` or ``{merge: 1}``. The empty string is the
end."""


def write_clause(query: str) -> str | None:
    """Return the clause by which a query seems to write.

    Strings, comments and quoted names are skipped. So are names that look like a clause: ``n.set``,
    ``:Create``, ``{merge: 1}``, ``RETURN set``. The result is a hint for messages only, since a query can
    hide a clause.

    Args:
        query: The Cypher text.

    Returns:
        The first word of the clause in capitals; None if the query seems to read only.

    >>> write_clause("MATCH (n:Set) WHERE n.text = 'CREATE' SET n.text = 'b'")
    'SET'
    >>> write_clause("MATCH (n:Set) RETURN n.create AS set ORDER BY set DESC")
    """
    tokens = [token for token in _TOKEN.finditer(query) if token.lastgroup != "skip"]
    words = ["", *("'" if token.lastgroup == "quoted" else token[0].upper() for token in tokens), ""]
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        # In "RETURN set" the word follows RETURN, and in "set = 1" it precedes "=". Both are names.
        if word in _WRITE_WORDS and before not in _BEFORE_NAME and after not in _AFTER_NAME:
            return word
    return None
