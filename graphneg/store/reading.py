"""Run untrusted queries so that they can only read.

Untrusted queries come from users, web pages and transform files. The text of a query does not reliably show
whether it writes: in ``WITH 1 AS as CREATE (:Term)`` the clause ``CREATE`` looks like a name. So the decision
is left to the server, in one of three ways:

- On the embedded server, the query runs with an account that may only read records. The procedures and
  functions that it calls are checked first (see `called_procedures` and `called_functions`): a procedure can
  run another query that stops the queries of other users, and a function can wait or fill the server's
  memory.
- On Neo4j, the plan of the query is checked first (see `PlanCheck`). Then the query runs in a transaction
  with READ access. READ access alone would allow ``LOAD CSV`` and ``CALL dbms.listConfig()``.
- Other servers with the same protocol might not enforce READ access. On them, the query runs with an account
  that may only read, or is refused if no such account is configured.

`write_clause` does look at the text, but only to refuse obvious writes early and with a clear message.

Example:
    `graphneg.store.connection.Store.query_read` refuses a query that writes::

        store.query_read("CREATE (:Term)")
        # OnlyReading: this query would write (CREATE), and only reading is allowed here
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from neo4j import Driver, ManagedTransaction, ResultSummary
from neo4j.exceptions import Neo4jError

from graphneg.english.words import table_rows
from graphneg.errors import OnlyReading, StoreError
from graphneg.store.statements import as_literal, shipped_texts


@dataclass(frozen=True, slots=True)
class Reader:
    """The driver and the check that a store uses for untrusted queries.

    Attributes:
        driver: The driver that runs the queries. If an account that may only read is configured, the driver
            uses this account.
        check: Function that takes a transaction and the text of a query. It returns the text to send to the
            server, or raises `OnlyReading`.
    """

    driver: Driver
    check: Callable[[ManagedTransaction, str], str]


def accept_listed_procedures(transaction: ManagedTransaction, text: str) -> str:
    """Accept a query if it calls only procedures that are known to read only.

    Other parts of the query are not checked, because the query runs with an account that may only read.

    Args:
        transaction: The transaction in which the query will run.
        text: The Cypher text.

    Returns:
        The query. If a comment precedes ``EXPLAIN`` or ``PROFILE``, the comment is removed, because the
        embedded server recognizes these words only at the very beginning.

    Raises:
        OnlyReading: The query calls a procedure that is not known to read only. For example,
            ``CALL do.when(true, $q, '', {})`` runs the query that the parameter contains. Or the query calls
            a function such as ``util.sleep`` that is not known to be harmless, or is an administration
            command such as ``SHOW TRANSACTIONS``.
    """  # noqa: DOC502
    return _checked_text(text)


# A run uses the same few queries thousands of times.
@lru_cache(maxsize=256)
def _checked_text(text: str) -> str:
    """Check a query as described in `accept_listed_procedures`, and return the text to run."""
    if command := administration_command(text):
        raise OnlyReading(
            f"{command} is an administration command, and only reading is allowed here; SHOW CONSTRAINTS, "
            "FUNCTIONS, INDEXES and PROCEDURES are allowed"
        )
    if unknown := next((name for name in called_procedures(text) if name not in _PROCEDURES), None):
        raise _procedure_refusal(unknown)
    if name := next((name for name in called_functions(text) if not is_listed_function(name)), None):
        raise OnlyReading(
            f"the function {name} is not among the functions that are allowed here: it could wait, or fill "
            "the server's memory"
        )
    return "".join(_mode_and_query(text))


def refuse(transaction: ManagedTransaction, text: str) -> str:
    """Refuse any query on a server that might not enforce READ access, if there is no read-only account.

    Args:
        transaction: The transaction in which the query would run.
        text: The Cypher text.

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
"""The names, in lower case, of procedures that only read the database."""
_COMMANDS = frozenset(("ShowConstraints", "ShowFunctions", "ShowIndexes", "ShowProcedures"))
"""Plan operators of the SHOW commands that are allowed, because they only describe the database or the query
language."""
_NOT_READING = re.compile(r"LoadCSV|Procedure|Command|Administration|^Show|^Terminate", re.IGNORECASE)
"""Pattern of plan operators that may do more than read the database."""
_MOST_PASSED = 1_000
"""Maximum number of accepted queries that are remembered."""
_MODE = re.compile(r"(?:\s+|//[^\r\n]*[\r\n]|/\*.*?\*/)*(EXPLAIN|PROFILE)\b", re.IGNORECASE | re.DOTALL)


class PlanCheck:
    """Checks whether a query only reads, by looking at its execution plan on a Neo4j server.

    Planning a long query takes a second or more, and Neo4j does not cache the plan. So accepted
    queries are remembered and not planned again. Queries that graphneg ships are accepted without a plan. All
    queries run with READ access in addition to this check.
    """

    def __init__(self) -> None:
        self._passed: set[str] = set()

    def __call__(self, transaction: ManagedTransaction, text: str) -> str:
        """Request the plan of a query from Neo4j, and check that it only reads this database.

        Raises `OnlyReading` if the plan writes, loads files, runs an administration command, or calls a
        procedure that is not known to be harmless.

        Args:
            transaction: A transaction with READ access, in which the query runs afterwards.
            text: The query. It may begin with ``EXPLAIN`` or ``PROFILE``.

        Returns:
            The text to send: the same query in the same mode.
        """
        mode, query = _mode_and_query(text)
        if query not in self._passed and query not in shipped_texts():
            _check_plan(transaction, query)
            # Forget all accepted queries when there are too many. Otherwise, memory would grow with each
            # distinct query.
            if len(self._passed) >= _MOST_PASSED:
                self._passed.clear()
            self._passed.add(query)
        # Send exactly the text whose plan was checked, without the comments at its beginning. If the comments
        # were added again, Neo4j might execute something that this module mistook for a comment.
        return mode + query


def _check_plan(transaction: ManagedTransaction, query: str) -> None:
    """Refuse a query if its plan has an operator that may do more than read."""
    summary = transaction.run(as_literal(f"EXPLAIN {query}")).consume()
    operators = list(_operators(summary.plan or {}))
    calls = [name for kind, name in operators if kind == "ProcedureCall"]
    for kind, procedure in operators:
        if kind == "ProcedureCall":
            if procedure not in _PROCEDURES:
                raise _procedure_refusal(procedure)
        elif kind not in _COMMANDS and _NOT_READING.search(kind):
            raise _write_refusal(query, kind)
    # A query of type "r" only reads. A query of type "s" either changes the schema or the server, or calls a
    # server procedure such as dbms.components. So accept type "s" only if the plan has a procedure call. The
    # loop above has already refused plans with an operator that changes something.
    if not operators or not (summary.query_type == "r" or (summary.query_type == "s" and calls)):
        raise _write_refusal(query)


def _procedure_refusal(name: str) -> OnlyReading:
    return OnlyReading(f"the procedure {name} is not known to read only, and only reading is allowed here")


def _mode_and_query(text: str) -> tuple[str, str]:
    """Split a query into its mode (``EXPLAIN``, ``PROFILE`` or empty) and the rest."""
    found = _MODE.match(text)
    return (f"{found[1]} ", text[found.end() :]) if found else ("", text)


def _operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the details of each operator in an execution plan.

    The details are in lower case and end before the first parenthesis. For example, the details of a
    ``ProcedureCall`` are the name of the procedure, such as ``db.labels``.
    """
    if plan:
        # Example of an operator: its `operatorType` is "ProcedureCall@neo4j", and its details are
        # "db.labels() :: (label :: STRING)".
        details = str(plan.get("args", {}).get("Details", ""))
        yield str(plan["operatorType"]).partition("@")[0], details.partition("(")[0].lower()
        for child in plan.get("children", ()):
            yield from _operators(child)


def check_summary(summary: ResultSummary, text: str) -> None:
    """Check the summary of a query, which shows whether the query wrote.

    The caller must run the check inside the transaction of the query, so that a write is rolled back.

    Args:
        summary: The summary that the driver returned.
        text: The text of the query.

    Raises:
        OnlyReading: The query wrote, or is of a type that writes.
    """  # noqa: DOC501, DOC502
    # Refuse a query if its counters show that it wrote something. Refuse it as well if its type is "write",
    # because it may have changed nothing by chance: "MATCH (n:None) SET n.a = 1" matches nothing, so the
    # embedded server does not refuse it. Ignore the type of plans and profiles, which the embedded server
    # always reports as writes.
    is_plan = summary.plan is not None or summary.profile is not None
    if summary.counters.contains_updates or ("w" in (summary.query_type or "") and not is_plan):
        raise _write_refusal(text)


_REFUSED = ("Neo.ClientError.Security.Forbidden", "Neo.ClientError.Statement.AccessMode")
"""Error codes with which a server refuses to write."""


@contextmanager
def only_reading(text: str) -> Generator[None]:
    """Raise `OnlyReading` if the query that runs in the block writes.

    An obvious write is refused before the block runs. If the server refuses the query as a write, the
    server's error is converted into `OnlyReading`.

    Args:
        text: The text of the query.

    Yields:
        None.

    Raises:
        OnlyReading: The query writes.
        StoreError: The query failed for another reason.
    """  # noqa: DOC501
    # Refuse a query with a clause that writes, such as CREATE, without sending it to the server.
    if write_clause(text):
        raise _write_refusal(text)
    if stops_queries(text):
        raise OnlyReading("this query would stop queries of others (TERMINATE TRANSACTIONS)")
    try:
        yield
    except StoreError as error:
        refusal = error.__cause__
        if isinstance(refusal, Neo4jError) and refusal.code in _REFUSED:
            raise _write_refusal(text, (refusal.message or "").strip()) from refusal
        raise


def _write_refusal(text: str, reason: str = "") -> OnlyReading:
    clause = write_clause(text)
    if clause:
        return OnlyReading(f"this query would write ({clause}), and only reading is allowed here")
    return OnlyReading("this query does not only read" + (f" ({reason})" if reason else ""))


# Matches the command TERMINATE TRANSACTIONS, with white space or comments between the two words.
_STOP = re.compile(r"TERMINATE(?:\s|/\*.*?\*/|//[^\r\n]*)+TRANSACTIONS?", re.IGNORECASE | re.DOTALL)
_ESCAPE = re.compile(r"\\u+([0-9a-fA-F]{4})")


@lru_cache(maxsize=256)
def stops_queries(query: str) -> bool:
    """Return whether a query may contain the command ``TERMINATE TRANSACTIONS``.

    The embedded server lets each account stop its own queries, and all users share one read-only account. So
    only this check, together with `called_procedures`, prevents a user from stopping another user's queries.
    The check searches the whole text, including strings and comments, because a query could make another
    lexer believe that the command is inside a string.

    Args:
        query: The Cypher text.

    Returns:
        True if the two words follow each other anywhere, with only white space or comments between them.

    >>> stops_queries("SHOW TRANSACTIONS YIELD transactionId AS or TERMINATE /* x */ TRANSACTION or")
    True
    >>> stops_queries("MATCH (n:Terminate) RETURN n.transactions")
    False
    """
    return _STOP.search(_without_escapes(query)) is not None


def _without_escapes(query: str) -> str:
    """Replace each Unicode escape by its character. Neo4j does the same before it reads a query."""
    return _ESCAPE.sub(lambda code: chr(int(code[1], 16)), query)


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
"""Tokens after which a word such as ``set`` is a name and not a clause, as in ``n.set`` or ``AS set``."""
_AFTER_NAME = frozenset((",", ")", ".", ":", "=", "]", "}", "|", ""))
"""Tokens before which a word such as ``set`` is a name and not a clause, as in ``set,`` or ``{set: 1}``. The
empty string represents the end of the query."""


def leading_comments(query: str) -> str:
    r"""Return the comments and the white space at the beginning of a query.

    Args:
        query: The Cypher text.

    Returns:
        The part of the query before its first clause.

    >>> leading_comments("// all\n\nRETURN 1 // one")
    '// all\n\n'
    """
    first = next((token for token in _TOKEN.finditer(query) if token.lastgroup != "skip"), None)
    return query if first is None else query[: first.start()]


def without_comments(query: str) -> str:
    r"""Return a query without comments, with a space between all tokens.

    Two queries that differ only in comments and white space give the same text. The result can be compared,
    but not executed, because an operator such as ``<=`` becomes ``< =``.

    Args:
        query: The Cypher text.

    Returns:
        The tokens, separated by spaces. Strings and quoted names are unchanged.

    >>> without_comments("MATCH (n)  // all\nRETURN n.text = 'a  // b'")
    "MATCH ( n ) RETURN n . text = 'a  // b'"
    """
    return " ".join(token[0] for token in _TOKEN.finditer(query) if token.lastgroup != "skip")


@lru_cache(maxsize=256)
def write_clause(query: str) -> str | None:
    """Return the first clause of a query that seems to write.

    Strings, comments and quoted names are skipped, and also names that look like a clause: ``n.set``,
    ``:Create``, ``{merge: 1}``, ``RETURN set``. The result is not reliable, since a query can hide a clause.
    It is only used to refuse obvious writes early, and for messages.

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
        # After RETURN ("RETURN set") and before "=" ("set = 1"), a word such as "set" is only a name.
        if word in _WRITE_WORDS and before not in _BEFORE_NAME and after not in _AFTER_NAME:
            return word
    return None


_AFTER_VARIABLE = frozenset(
    (
        *("AND", "CALL", "CONTAINS", "ELSE", "IN", "LIMIT", "MATCH", "OFFSET"),
        *("OR", "RETURN", "SKIP", "THEN", "WHEN", "WHERE", "WITH", "XOR"),
    )
)
"""Words that can stand between a variable named ``call`` and a parenthesis, as in ``call IN (…)``."""
_NO_NAME = frozenset(r"""'"()[]{},;.:|&!=<>+-*/%^""")
"""Characters that cannot begin the name of a procedure."""


def called_procedures(query: str) -> Iterator[str]:
    """Find the procedures that a query calls.

    The query is split into tokens almost as the embedded server splits it. If the tokens differ, the server
    refuses the query, or the result contains additional names. A call that the server makes is never left
    out. A subquery such as ``CALL (n) {…}`` calls no procedure.

    Args:
        query: The Cypher text.

    Yields:
        The name of each procedure, in lower case and without quotes. A query that uses ``call`` as an
        unquoted name could yield something else, such as ``size``, but no call is left out.

    >>> list(called_procedures("MATCH (n) CALL `Do` /* x */ . when(true, $q) YIELD value RETURN n.call"))
    ['do.when']
    >>> list(called_procedures("MATCH (call) CALL (call) { RETURN 'CALL do.when()' AS x } RETURN call"))
    []
    """
    # A server may decode Unicode escapes before or after it splits the text into tokens. So read the text in
    # both ways.
    for text in dict.fromkeys((query, _without_escapes(query))):
        tokens = [token for token in _TOKEN.finditer(text) if token.lastgroup != "skip"]
        for number, token in enumerate(tokens):
            # In "n.call", ":Call" and "$call", the word is a name and does not call a procedure.
            is_name = number > 0 and tokens[number - 1][0] in {".", ":", "$"}
            if token[0].upper() == "CALL" and not is_name:
                yield from _procedure_at(tokens, number + 1)


def _procedure_at(tokens: Sequence[re.Match[str]], start: int) -> Iterator[str]:
    """Yield the procedure name after the word CALL, such as ``do.when``; nothing if "call" is a name."""
    # In "call = 1", in "call, n" and at the end of a query, "call" is a name. In "CALL (n) {", it begins a
    # subquery.
    if start == len(tokens) or tokens[start][0][0] in _NO_NAME:
        return
    parts, end = [tokens[start][0]], start + 1
    while end + 1 < len(tokens) and tokens[end][0] == ".":
        parts.append(tokens[end + 1][0])
        end += 2
    is_called = end < len(tokens) and tokens[end][0] == "(" and parts[0].upper() not in _AFTER_VARIABLE
    is_word = tokens[start].lastgroup in {"word", "quoted"}
    # Yield a name with a dot ("do.when"), and any name before a parenthesis ("CALL eval('1 = 1')"), but not
    # another word, such as ORDER in "RETURN call ORDER BY n.x". Yield everything that is not a word, because
    # characters such as an invisible space could hide a name.
    if len(parts) > 1 or is_called or not is_word:
        yield ".".join(_without_backticks(part) for part in parts).lower()


_ALLOWED_SHOW = re.compile(
    r"SHOW (?:(?:ALL|RANGE|FULLTEXT|TEXT|POINT|LOOKUP|VECTOR|UNIQUE|UNIQUENESS|NODE|RELATIONSHIP|REL|KEY"
    r"|PROPERTY|TYPE|EXIST|EXISTENCE) )*(?:CONSTRAINTS?|FUNCTIONS?|INDEX|INDEXES|PROCEDURES?)(?= |$)"
)
"""Pattern of the SHOW commands that only describe the database or the query language, as in `_COMMANDS`."""


def administration_command(query: str) -> str | None:
    r"""Return the beginning of a SHOW command that describes users, databases or running queries.

    All readers of an embedded store share an account, so ``SHOW TRANSACTIONS`` would show each reader the
    texts of the others' queries. The embedded server accepts SHOW only as the first word of a query or after
    ``USE database``. It decodes no Unicode escapes outside strings, so SHOW cannot be spelled differently.

    Args:
        query: The Cypher text.

    Returns:
        The first two words in capitals. None for any other query, also for SHOW commands that are harmless,
        such as ``SHOW INDEXES``.

    >>> administration_command("// all\nshow /* x */ transactions YIELD currentQuery")
    'SHOW TRANSACTIONS'
    >>> administration_command("USE neo4j SHOW TRANSACTIONS")
    'SHOW TRANSACTIONS'
    >>> administration_command("SHOW RANGE INDEXES YIELD name")
    >>> administration_command("MATCH (show) RETURN show")
    """
    _, rest = _mode_and_query(query)
    words = without_comments(rest).upper()
    if words.startswith("USE "):
        # The name of the database may contain blanks: "USE `my db` SHOW USERS".
        words = "SHOW " + words.partition(" SHOW ")[2] if " SHOW " in words else ""
    if not words.startswith("SHOW ") or _ALLOWED_SHOW.match(words):
        return None
    return " ".join(words.split(" ")[:2])


def called_functions(query: str) -> Iterator[str]:
    """Find the functions with a dot in their names that a query calls, such as ``text.join``.

    The server has a limit neither for the time that a function takes nor for the length of its result. The
    server does not stop ``util.sleep``, so a few queries with this function could block all further queries
    from the web pages. ``text.random(2000000000)`` exhausts the server's memory. Functions without a dot
    belong to Cypher. None of them waits or makes a long text from a number.

    Args:
        query: The Cypher text.

    Yields:
        The names of the functions, in lower case and without quotes, and also the names of called
        procedures.

    >>> list(called_functions("RETURN apoc . util.`Sleep` /* ms */ (60000)"))
    ['apoc.util.sleep']
    >>> list(called_functions("MATCH (n) WHERE n.sleep IN [1..size(n.list)] RETURN size(n.x)"))
    []
    """
    for text in dict.fromkeys((query, _without_escapes(query))):
        # Leave out characters that are neither words nor operators, such as an invisible space, because the
        # server may skip them.
        words = [
            token[0]
            for token in _TOKEN.finditer(text)
            if token.lastgroup in {"word", "quoted", "number"}
            or (token.lastgroup == "sign" and _is_sign(token[0]))
        ]
        for number in (number for number, word in enumerate(words) if word == "("):
            parts, at = list[str](), number - 1
            while at >= 2 and words[at - 1] == "." and words[at - 2] != ".":
                parts, at = [words[at], *parts], at - 2
            if parts:
                yield ".".join(_without_backticks(part) for part in (words[at], *parts)).lower()


def _is_sign(character: str) -> bool:
    return character.isascii() and character.isprintable()


def is_listed_function(name: str) -> bool:
    """Return whether a function of the embedded server is harmless.

    A harmless function does not wait, and the length of its result is limited.

    Args:
        name: Name of the function, as `called_functions` yields it. The name of a procedure that only reads
            is listed, too.

    Returns:
        True if the function is in the table ``functions.tsv``.

    >>> is_listed_function("apoc.text.join"), is_listed_function("text.random")
    (True, False)
    """
    short = name.removeprefix("apoc.")
    return name in _PROCEDURES or not _listed_functions().isdisjoint((short, f"{short.rpartition('.')[0]}.*"))


@cache
def _listed_functions() -> frozenset[str]:
    return frozenset(name for [name] in table_rows("graphneg.store", "functions.tsv"))


def _without_backticks(name: str) -> str:
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
