"""The shipped Cypher files by name, and running them in a transaction that the caller has opened.

In: a name (``load/terms`` is ``cypher/load/terms.cypher``) and parameters. Out: its text or its rows.
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
    """The text of a shipped Cypher file: ``cypher_text("edit/apply")`` reads ``cypher/edit/apply.cypher``.

    Raises `FileNotFoundError`: there is no such file.
    """
    return resources.files("graphneg.cypher").joinpath(f"{name}.cypher").read_text(encoding="utf-8")


@cache
def shipped_texts() -> frozenset[str]:
    """Return the texts of the shipped transforms and named queries."""
    folders = (resources.files("graphneg.cypher").joinpath(name) for name in ("transforms", "explore"))
    files = (file for folder in folders for file in folder.iterdir() if file.name.endswith(".cypher"))
    return frozenset(file.read_text(encoding="utf-8") for file in files)


def read_header(name: str, text: str) -> tuple[str, list[str]] | None:
    """The comment lines that a Cypher file opens with: what follows ``// NAME:``, and the other lines.

    An indented line goes on the one before. ``None`` where the file does not open with its name.

    >>> read_header("hubs", "// hubs: topics\\n// $limit (20): rows\\n//   at most\\nRETURN 1")
    ('topics', ['$limit (20): rows at most'])
    """
    lines: list[str] = []
    for line in takewhile(lambda line: line.startswith("//"), text.splitlines()):
        content = line.removeprefix("//").removeprefix(" ")
        if content.startswith(" ") and lines:
            lines[-1] += f" {content.strip()}"
        else:
            lines.append(content.strip())
    if not lines or not lines[0].startswith(f"{name}:"):
        return None
    return lines[0].partition(":")[2].strip(), lines[1:]


def as_literal(text: str) -> LiteralString:
    """The driver wants its queries literal, which the texts of files are not to a type checker."""
    return cast(LiteralString, text)


def statements(text: str) -> list[str]:
    """The statements of a Cypher script: comment lines dropped, split at semicolons."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    return [statement.strip() for statement in code.split(";") if statement.strip()]


def in_transactions(
    items: Iterable[T], most: int, rows: Callable[[T], int] = lambda _: 1
) -> Iterator[list[T]]:
    """Items in groups, one for each transaction: of ``most`` rows in all, or a single item of more.

    >>> list(in_transactions("abcde", 2)), list(in_transactions([2, 1, 5, 1], 3, rows=int))
    ([['a', 'b'], ['c', 'd'], ['e']], [[2, 1], [5], [1]])
    """
    group: list[T] = []
    size = 0
    for item in items:
        own = rows(item)
        if group and size + own > most:
            yield group
            group, size = [], 0
        group.append(item)
        size += own
    if group:
        yield group


def run(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> list[Record]:
    """All rows of the shipped statement ``name`` (``load/terms`` is ``cypher/load/terms.cypher``)."""
    return send(transaction, name, **parameters).records()


def run_counted(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> SummaryCounters:
    """What the shipped statement ``name`` wrote, counted by the server."""
    return send(transaction, name, **parameters).finish().counters


def send(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> Sent:
    """Hand the shipped statement ``name`` to the server, which works on it while the next one is made ready.

    Read the result before the transaction ends: what failed on the server is raised then, or when the
    next statement is sent.
    """
    return send_text(transaction, cypher_text(name), parameters)


def send_text(transaction: ManagedTransaction, text: str, parameters: Mapping[str, Any]) -> Sent:
    """Hand a statement to the server; its lists of rows go when its result is read.

    The driver's transaction and its results hold each other, and what was sent: some ten thousand
    rows would stay in memory until the collector looks for such circles.
    """
    named = {
        name: _Rows(cast("list[Any]", value)) if isinstance(value, list) else value
        for name, value in parameters.items()
    }
    rows = [value for value in named.values() if isinstance(value, _Rows)]
    return Sent(transaction.run(as_literal(text), named), rows)


class Sent:
    """A statement that the server works on. Read it once, by one of the three."""

    __slots__ = ("_result", "_rows")

    def __init__(self, result: Result, rows: Sequence[_Rows]) -> None:
        self._result = result
        self._rows = rows

    def records(self) -> list[Record]:
        """All rows of the result."""
        records = list(self._result)
        self.finish()
        return records

    def eager(self, most: int | None = None) -> EagerResult:
        """Return the first ``most`` rows, or all, with the summary and the keys.

        Raises:
            StoreError: The first ``most`` rows have more than `MOST_RESULT_SIZE` letters and values.
        """
        keys = list(self._result.keys())
        records = list(self._result) if most is None else list(self._first(most))
        return EagerResult(records, self.finish(), keys)

    def _first(self, most: int) -> Iterator[Record]:
        size = 0
        for number, record in enumerate(islice(self._result, most), 1):
            size += sum(map(_size, record.values()))
            if size > MOST_RESULT_SIZE:
                raise StoreError(
                    f"the result has more than {MOST_RESULT_SIZE:,} letters and values in {number:,} "
                    f"row{'s' if number > 1 else ''}: return less of each, or fewer rows"
                )
            yield record

    def finish(self) -> ResultSummary:
        """Wait until the server is done; rows are left out."""
        summary = self._result.consume()
        for rows in self._rows:
            rows.clear()
        return summary


class _Rows(list[Any]):
    """A parameter's rows, named by their number. The driver writes out all parameters of a statement for its
    log, whether anybody reads that or not: for five thousand rows that takes most of the time of packing
    them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self):,} rows>"


MOST_RESULT_SIZE = 10_000_000
"""Letters and values that are fetched of a result that was asked for in part: they are shown to somebody."""


def _size(value: Any) -> int:
    """Count the letters and values of a value.

    Nodes, relationships and paths count by their properties.
    """
    size = 0
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
