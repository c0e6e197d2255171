"""Queries that nobody has checked, and what makes sure that they only read.

Such a query comes from a user, from a page or from somebody's transform file. Its text does not tell
whether it writes: in ``WITH 1 AS as CREATE (:Term)`` the clause looks like a name. So the server decides:

- The embedded server runs it as an account that may read records and nothing else.
- Neo4j runs it in a transaction of READ access, after it has shown the plan of the query (`PlanCheck`). READ
  access alone would let ``LOAD CSV`` and ``CALL dbms.listConfig()`` pass.
- Any other server that speaks Neo4j's protocol needs an account that may only read: it may not enforce READ
  access.

`write_clause` looks at the text. Only the wording of a refusal, and how early it comes, depend on it.
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
    """How a server is asked a query that nobody has checked.

    Attributes:
        driver: Signs in as an account that may only read, where the server has one.
        check: Given the transaction and the text, returns the text to send, or raises `OnlyReading`.
    """

    driver: Driver
    check: Callable[[ManagedTransaction, str], str]


def leave_to_account(transaction: ManagedTransaction, text: str) -> str:
    """Check nothing: the account of the `Reader` may do nothing but read.

    Returns:
        The text with ``EXPLAIN`` or ``PROFILE`` first: the embedded server overlooks them behind a comment.
    """
    return "".join(_mode_and_query(text))


def refuse_all(transaction: ManagedTransaction, text: str) -> str:
    """Refuse any query: the server enforces no READ access, and there is no account that may only read.

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
"""The procedures of Neo4j that read this database and nothing else, in lower case."""
_COMMANDS = frozenset(("ShowConstraints", "ShowFunctions", "ShowIndexes", "ShowProcedures"))
"""The operators of commands that describe this database or the language."""
_NOT_READING = re.compile(r"LoadCSV|Procedure|Command|Administration|^Show|^Terminate", re.IGNORECASE)
_MOST_PASSED = 1_000
"""Number of texts to remember."""
_MODE = re.compile(r"(?:\s+|//[^\r\n]*[\r\n]|/\*.*?\*/)*(EXPLAIN|PROFILE)\b", re.IGNORECASE | re.DOTALL)


class PlanCheck:
    """Checks queries by the plans that one Neo4j server makes of them.

    The plan of a long query takes a second or more, and Neo4j does not keep it. So each text is planned once,
    and the queries that graphneg ships are never planned. Like all others, they run with READ access.
    """

    def __init__(self) -> None:
        self._passed: set[str] = set()

    def __call__(self, transaction: ManagedTransaction, text: str) -> str:
        """Have Neo4j plan a query, and check that the plan only reads this database.

        Args:
            transaction: A transaction of READ access, which the query runs in afterwards.
            text: The query. It may begin with ``EXPLAIN`` or ``PROFILE``.

        Returns:
            The text to send: the same query, in the same mode.

        Raises:
            OnlyReading: The plan writes, loads files, runs an administration command, or calls a procedure
                that is not one of those that are known to read.
        """
        mode, query = _mode_and_query(text)
        if query not in self._passed and query not in shipped_texts():
            _check_plan(transaction, query)
            if len(self._passed) >= _MOST_PASSED:
                self._passed.clear()
            self._passed.add(query)
        # The plan is that of `query`, so this is what runs. The text before it only looked like comments.
        return mode + query


def _check_plan(transaction: ManagedTransaction, query: str) -> None:
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
    # "s" is a change of the schema or the server, or a procedure of the server such as dbms.components.
    if not operators or not (summary.query_type == "r" or (summary.query_type == "s" and calls)):
        raise _would_write(query)


def _mode_and_query(text: str) -> tuple[str, str]:
    """Split ``EXPLAIN`` or ``PROFILE`` off; the mode is empty where a query has none."""
    found = _MODE.match(text)
    return (f"{found[1]} ", text[found.end() :]) if found else ("", text)


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name of each operator of a plan, and that of the procedure that it calls, in lower case."""
    if plan:
        # "ProcedureCall@neo4j", "db.labels() :: (label :: STRING)"
        details = str(plan.get("args", {}).get("Details", ""))
        yield str(plan["operatorType"]).partition("@")[0], details.partition("(")[0].lower()
        for child in plan.get("children", ()):
            yield from _operators(child)


def check_summary(summary: ResultSummary, text: str) -> None:
    """Check that a query read, by what the server says after it ran; the transaction is still open.

    The embedded server calls ``MATCH (n:None) SET n.a = 1`` a write, though there is nothing that it could
    refuse. Plans and profiles always count as writes there, so their counters decide.

    Raises:
        OnlyReading: The query wrote, or is one that writes.
    """
    is_plan = summary.plan is not None or summary.profile is not None
    if summary.counters.contains_updates or ("w" in (summary.query_type or "") and not is_plan):
        raise _would_write(text)


_REFUSED = ("Neo.ClientError.Security.Forbidden", "Neo.ClientError.Statement.AccessMode")


@contextmanager
def only_reading(text: str) -> Generator[None]:
    """Say what was wrong where the server refuses a query because it does not only read.

    Args:
        text: The query that is sent inside.

    Raises:
        OnlyReading: The server refused the query, or its text shows that it would.
    """
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
_AFTER_NAME = frozenset((",", ")", ".", ":", "=", "]", "}", "|", ""))


def write_clause(query: str) -> str | None:
    """Return the clause by which a query seems to write, in capitals; None where there seems to be none.

    Strings, comments and quoted names are skipped, and so are names that look like a clause (``n.set``,
    ``:Create``, ``{merge: 1}``, ``RETURN set``). This is a hint for messages: a query can hide a clause.

    >>> write_clause("MATCH (n:Set) WHERE n.text = 'CREATE' SET n.text = 'b'")
    'SET'
    >>> write_clause("MATCH (n:Set) RETURN n.create AS set ORDER BY set DESC")
    """
    tokens = [token for token in _TOKEN.finditer(query) if token.lastgroup != "skip"]
    words = ["", *("'" if token.lastgroup == "quoted" else token[0].upper() for token in tokens), ""]
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        if word in _WRITE_WORDS and before not in _BEFORE_NAME and after not in _AFTER_NAME:
            return word
    return None
