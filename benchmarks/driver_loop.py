"""Measure how fast a minimal loop with the official Neo4j driver writes, for comparison with graphneg.

The loop creates AMR nodes in batches of 5,000 rows and does nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from neo4j import ManagedTransaction

from benchmarks.corpus import Corpus
from benchmarks.instances import Instance
from graphneg.amr.penman import parse_graph
from graphneg.ingest.rows import GraphRows, Row

BATCH = 5_000
"""Number of rows per transaction."""
CREATE = "UNWIND $rows AS row CREATE (n:AmrNode) SET n = row"
REMOVE = "UNWIND $graphs AS amr MATCH (n:AmrNode {amr: amr}) DETACH DELETE n"


def node_rows(corpus: Corpus, amount: int, name: str = "bare") -> list[Row]:
    """Return a given number of rows of AMR nodes, from as many copies of the corpus as necessary.

    Args:
        corpus: The corpus to copy.
        amount: Number of rows.
        name: Prefix of the copies' names.

    Returns:
        The rows, each with the properties of one node.
    """
    rows: list[Row] = []
    for dialogue in corpus.copies(0, amount, name):
        for utterance in dialogue.utterances:
            made = GraphRows()
            id = f"{dialogue.id}#{utterance.turn}"
            made.add(parse_graph(utterance.amr or "", id), id, "bare", "")
            rows.extend(made.nodes)
            if len(rows) >= amount:
                return rows[:amount]
    return rows


def nodes_per_second(instance: Instance, rows: Sequence[Row]) -> float:
    """Create nodes, measure the rate, and delete the nodes.

    Args:
        instance: The server.
        rows: Rows of AMR nodes.

    Returns:
        The number of nodes created per second.
    """
    with instance.driver.session(database=instance.database) as session:
        began = time.perf_counter()
        for batch in batches(rows):
            session.execute_write(_run, CREATE, rows=batch)
        seconds = time.perf_counter() - began
        for batch in batches(sorted({row["amr"] for row in rows}), 500):
            session.execute_write(_run, REMOVE, graphs=batch)
    return len(rows) / seconds


def batches(rows: Sequence[Any], size: int = BATCH) -> Iterator[Sequence[Any]]:
    """Split rows into batches.

    Args:
        rows: The rows.
        size: Maximum number of rows per batch.

    Yields:
        The batches in order.
    """
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


def _run(transaction: ManagedTransaction, query: str, **parameters: Any) -> None:
    transaction.run(query, parameters).consume()  # type: ignore[arg-type]
