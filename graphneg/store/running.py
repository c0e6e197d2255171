"""Shipped statements run inside a transaction that the caller has opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, LiteralString, cast

from neo4j import ManagedTransaction, Record, Result, SummaryCounters

from graphneg.store.statements import cypher_text


def run(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> list[Record]:
    """All rows of the shipped statement ``name`` (``load/terms`` is ``cypher/load/terms.cypher``)."""
    return list(send(transaction, name, **parameters))


def run_counted(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> SummaryCounters:
    """What the shipped statement ``name`` wrote, counted by the server."""
    return send(transaction, name, **parameters).consume().counters


def send(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> Result:
    """Hand the shipped statement ``name`` to the server, which works on it while the next one is made ready.

    Read the result before the transaction ends: what failed on the server is raised then, or when the
    next statement is sent.
    """
    return transaction.run(cast(LiteralString, cypher_text(name)), shortly_named(parameters))


def shortly_named(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters whose lists are named by their length wherever they are written out.

    The driver writes out all parameters of a statement for its log, whether anybody reads that or not:
    for five thousand rows that takes most of the time of packing them.
    """
    return {
        name: _Rows(cast("list[Any]", value)) if isinstance(value, list) else value
        for name, value in parameters.items()
    }


class _Rows(list[Any]):
    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self):,} rows>"
