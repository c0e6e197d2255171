"""Read the Cypher files that graphneg ships, and run them in an open transaction.

A file is named by its path below ``cypher/`` without the suffix: ``load/terms`` is the file
``cypher/load/terms.cypher``.

Example:
    Run a shipped statement inside `Store.write`::

        store.write(lambda tx: run(tx, "load/terms", terms=rows))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import islice, takewhile
from typing import Any, LiteralString, TypeVar, cast

from neo4j import EagerResult, ManagedTransaction, Record, Result, ResultSummary, SummaryCounters
from neo4j.graph import Entity, Path

from graphneg.errors import StoreError

T = TypeVar("T")


@cache
def cypher_text(name: str) -> str:
    """Return the text of a Cypher file that graphneg ships.

    Args:
        name: The name of the file: ``edit/apply`` is ``cypher/edit/apply.cypher``.

    Returns:
        The text of the file, including comments.
    """
    return resources.files("graphneg.cypher").joinpath(f"{name}.cypher").read_text(encoding="utf-8")


@cache
def shipped_texts() -> Mapping[str, str]:
    """Return all shipped transforms and named queries without comment lines, keyed by their full text.

    Queries are sent without comment lines, because the embedded server parses a query each time it runs,
    and comments are up to two thirds of a query. Each text without comment lines is also a key.
    """
    # `Store.query_read` runs the shipped queries in the folders transforms and explore, and does not check
    # them for unsafe commands. The queries in other folders are never passed to it.
    folders = (resources.files("graphneg.cypher").joinpath(name) for name in ("transforms", "explore"))
    files = (file for folder in folders for file in folder.iterdir() if file.name.endswith(".cypher"))
    sent: dict[str, str] = {}
    for text in (file.read_text(encoding="utf-8") for file in files):
        short = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
        sent[text] = sent[short] = short
    return sent


def read_header(name: str, text: str) -> tuple[str, list[str]] | None:
    r"""Parse the comment lines at the beginning of a Cypher file.

    Args:
        name: The name of the file. The first line of the file must begin with ``// NAME:``.
        text: The text of the file.

    Returns:
        The summary in the first line, and a list of the other lines. An indented line is joined to the line
        before it. None if the first line does not begin with the name.

    >>> read_header("hubs", "// hubs: topics\n// $limit (20): rows\n//   at most\nRETURN 1")
    ('topics', ['$limit (20): rows at most'])
    """
    lines: list[str] = []
    for line in takewhile(lambda line: line.startswith("//"), text.splitlines()):
        content = line.removeprefix("//").removeprefix(" ")
        # An indented line continues the previous line.
        if content.startswith(" ") and lines:
            lines[-1] += f" {content.strip()}"
        else:
            lines.append(content.strip())
    if not lines or not lines[0].startswith(f"{name}:"):
        return None
    return lines[0].partition(":")[2].strip(), lines[1:]


def as_literal(text: str) -> LiteralString:
    """Mark a text as literal for the type checker.

    The type hints of the driver only accept literal strings as queries, as a protection against injection.
    But queries that are read from files are ordinary strings.

    Args:
        text: The text of a query.

    Returns:
        The same text.
    """
    return cast(LiteralString, text)


def statements(text: str) -> list[str]:
    """Split a Cypher script into its statements.

    Args:
        text: The script: statements that end with semicolons, and comment lines.

    Returns:
        The statements, without comment lines and semicolons.
    """
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    # Splitting at semicolons is correct, because no shipped script has a semicolon in a string.
    return [statement.strip() for statement in code.split(";") if statement.strip()]


def in_transactions(
    items: Iterable[T], most: int, rows: Callable[[T], int] = lambda _: 1
) -> Iterator[list[T]]:
    """Divide items into groups whose rows fit into one transaction.

    Args:
        items: The items to divide.
        most: Maximum number of rows in a group. An item with more rows forms a group by itself.
        rows: Function that returns the number of rows that an item needs. By default, each item needs one.

    Yields:
        The groups of items, in order.

    >>> list(in_transactions("abcde", 2)), list(in_transactions([2, 1, 5, 1], 3, rows=int))
    ([['a', 'b'], ['c', 'd'], ['e']], [[2, 1], [5], [1]])
    """
    group: list[T] = []
    size = 0
    for item in items:
        own = rows(item)
        # If the first item alone has more than `most` rows, the group before it is empty. Do not yield an
        # empty group.
        if group and size + own > most:
            yield group
            group, size = [], 0
        group.append(item)
        size += own
    if group:
        yield group


def run(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> list[Record]:
    """Run a shipped statement and return the rows of its result.

    Args:
        transaction: An open transaction.
        name: The name of the statement's file, such as ``load/terms``.
        **parameters: Values of the statement's parameters.

    Returns:
        All rows of the result.
    """
    return send(transaction, name, **parameters).records()


def run_counted(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> SummaryCounters:
    """Run a Cypher statement that graphneg ships, and return what it changed in the store.

    Args:
        transaction: An open transaction.
        name: The name of the statement's file, such as ``load/terms``.
        **parameters: Values of the statement's parameters.

    Returns:
        The counters that the server reported, such as the number of created nodes.
    """
    return send(transaction, name, **parameters).finish().counters


def send(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> RunningStatement:
    """Send a Cypher statement that graphneg ships, without waiting for its result.

    The server executes the statement while the caller prepares the next one. Call a method of the returned
    object before the transaction ends. If the server reports an error, it is raised by that method, or when
    the next statement is sent.

    Args:
        transaction: An open transaction.
        name: The name of the statement's file, such as ``load/terms``.
        **parameters: Values of the statement's parameters.

    Returns:
        The statement that was sent, which provides its result.
    """
    return send_text(transaction, cypher_text(name), parameters)


def send_text(transaction: ManagedTransaction, text: str, parameters: Mapping[str, Any]) -> RunningStatement:
    """Send a statement without waiting for its result.

    Args:
        transaction: An open transaction.
        text: The Cypher text of the statement.
        parameters: Values of the statement's parameters. The caller's lists are not changed.

    Returns:
        The statement that was sent, which provides its result.
    """
    # Copy the lists into objects that are emptied when the result has been read. The driver's transaction and
    # results refer to each other and to the parameters. If the lists were not emptied, ten thousand rows
    # could stay in memory until the garbage collector finds this cycle.
    named = {
        name: _Rows(cast("list[Any]", value)) if isinstance(value, list) else value
        for name, value in parameters.items()
    }
    rows = [value for value in named.values() if isinstance(value, _Rows)]
    return RunningStatement(transaction.run(as_literal(text), named), rows)


class RunningStatement:
    """A statement that was sent to the server. Call exactly one of its methods, once, to get the result.

    Args:
        result: The result object of the driver.
        rows: The lists of rows that were sent. They are emptied when the result has been read.
    """

    __slots__ = ("_result", "_rows")

    def __init__(self, result: Result, rows: Sequence[_Rows]) -> None:
        self._result = result
        self._rows = rows

    def records(self) -> list[Record]:
        """Return all rows of the result."""
        records = list(self._result)
        self.finish()
        return records

    def fetch_all(self, most: int | None = None) -> EagerResult:
        """Return the rows, the summary and the column names of the result.

        Raises `StoreError` if ``most`` is given and the size of the rows exceeds `MOST_RESULT_SIZE`.

        Args:
            most: Maximum number of rows; None for all rows, without a limit on their size.

        Returns:
            The rows, the summary and the column names.
        """
        keys = list(self._result.keys())
        records = list(self._result) if most is None else list(self._first(most))
        return EagerResult(records, self.finish(), keys)

    def _first(self, most: int) -> Iterator[Record]:
        """Yield the first ``most`` rows. Raise `StoreError` if they have too many characters and values."""
        size = 0
        for number, record in enumerate(islice(self._result, most), 1):
            # Check the size while rows arrive, so that a large result does not fill the memory.
            size += sum(map(_size, record.values()))
            if size > MOST_RESULT_SIZE:
                raise StoreError(
                    f"the result has more than {MOST_RESULT_SIZE:,} characters and values in {number:,} "
                    f"row{'s' if number > 1 else ''}: return fewer columns or fewer rows"
                )
            yield record

    def finish(self) -> ResultSummary:
        """Wait until the statement has finished, discard its remaining rows, and return the summary."""
        summary = self._result.consume()
        for rows in self._rows:
            rows.clear()
        return summary


class _Rows(list[Any]):
    """A list of rows with a short ``repr``."""

    __slots__ = ()

    def __repr__(self) -> str:
        # The driver calls `repr` on all parameters for its log, even if logging is off. For 5,000 rows,
        # a complete `repr` would take longer than sending them.
        return f"<{len(self):,} rows>"


MOST_RESULT_SIZE = 10_000_000
"""Maximum size of a result that is shown to the user: the sum of the numbers of values and of characters."""


def _size(value: Any) -> int:
    """Return the size of a nested value: the characters of its strings, plus 1 for each other value."""
    size = 0
    # Use a stack instead of recursion, because the results of a user's query may be nested deeply.
    waiting: list[Any] = [value]
    while waiting and size <= MOST_RESULT_SIZE:
        part = waiting.pop()
        size += len(part) if isinstance(part, str | bytes) else 1
        if isinstance(part, list | tuple):
            waiting.extend(cast("list[Any]", part))
        elif isinstance(part, Mapping):
            waiting.extend(cast("Mapping[str, Any]", part).values())
        elif isinstance(part, Path):
            waiting.extend((*part.nodes, *part.relationships))
        elif isinstance(part, Entity):
            waiting.extend(part.values())
    return size
