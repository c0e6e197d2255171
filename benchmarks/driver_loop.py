"""The yardstick: a bare loop over the official driver, batches of 5,000 rows, nothing else."""

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
CREATE = "UNWIND $rows AS row CREATE (n:AmrNode) SET n = row"
REMOVE = "UNWIND $graphs AS amr MATCH (n:AmrNode {amr: amr}) DETACH DELETE n"


def node_rows(corpus: Corpus, amount: int, name: str = "bare") -> list[Row]:
    """Rows of the corpus's nodes, from as many copies as it takes."""
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
    """Create the nodes, timed, and remove them again."""
    with instance.driver.session(database=instance.database) as session:
        began = time.perf_counter()
        for batch in batches(rows):
            session.execute_write(_run, CREATE, rows=batch)
        seconds = time.perf_counter() - began
        for batch in batches(sorted({row["amr"] for row in rows}), 500):
            session.execute_write(_run, REMOVE, graphs=batch)
    return len(rows) / seconds


def batches(rows: Sequence[Any], size: int = BATCH) -> Iterator[Sequence[Any]]:
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


def _run(transaction: ManagedTransaction, query: str, **parameters: Any) -> None:
    transaction.run(query, parameters).consume()  # type: ignore[arg-type]
