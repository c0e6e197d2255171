"""Shipped statements run inside a transaction that the caller has opened."""

from __future__ import annotations

from typing import Any, LiteralString, cast

from neo4j import ManagedTransaction, Record, SummaryCounters

from graphneg.store.statements import cypher_text


def run(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> list[Record]:
    """All rows of the shipped statement ``name`` (``load/terms`` is ``cypher/load/terms.cypher``)."""
    return list(transaction.run(cast(LiteralString, cypher_text(name)), parameters))


def run_counted(transaction: ManagedTransaction, name: str, /, **parameters: Any) -> SummaryCounters:
    """What the shipped statement ``name`` wrote, counted by the server."""
    return transaction.run(cast(LiteralString, cypher_text(name)), parameters).consume().counters
