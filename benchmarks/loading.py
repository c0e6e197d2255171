"""Measure how fast dialogues are loaded, compared with a bare driver loop that sends the same rows."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString, cast

from neo4j import ManagedTransaction

from benchmarks.corpus import Corpus, store_records, write_jsonl
from benchmarks.instances import Host, Instance
from benchmarks.results import Goal, Result, Table, sample, verdict
from benchmarks.sizes import Sizes
from graphneg.amr.penman import parse_graph
from graphneg.dialogue_graph import DialogueGraph
from graphneg.ingest.rows import GOLD, DialogueRows, GraphRows, amr_id, digest, term_row, utterance_id
from graphneg.model import Dialogue
from graphneg.store.statements import cypher_text

BATCH = 5_000
"""Maximum number of rows per transaction of the bare loop."""
GROWTH = 10
"""Size of the large file, relative to the file whose loading is repeated."""
WANTED = 0.8
"""Goal: minimum rate of loading a file, relative to the bare loop."""
SLACK = 1.1
"""Factor by which the time may grow faster than the file."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The rows of one transaction.

    Attributes:
        dialogues: Rows of dialogues and utterances.
        graphs: Rows of AMR graphs.
    """

    dialogues: DialogueRows
    graphs: GraphRows

    @property
    def rows(self) -> int:
        """The number of nodes and relationships that the batch creates, not counting terms."""
        d, g = self.dialogues, self.graphs
        created = len(d.dialogues) + 2 * len(d.utterances) + len(d.next)
        return created + len(g.nodes) + len(g.roles) + 3 * len(g.amrs) + sum(map(len, g.lexemes.values()))


def run(host: Host, corpus: Corpus, sizes: Sizes) -> Result:
    """Load dialogues alternately in three ways: with the bare driver loop, from memory and from a file.

    Args:
        host: Starts the servers, either Neo4j or embedded ones.
        corpus: The dialogues to measure with.
        sizes: Numbers of dialogues, sentences, repetitions and so on to measure with.

    Returns:
        The tables and goals for this kind of server.
    """
    instance = host.fresh()
    copies = sizes.load_copies
    folder = host.directory
    _bare(instance, _batches(corpus.copies(0, copies, "warm-bare")))
    _file(instance, write_jsonl(corpus.copies(0, copies, "warm-file"), folder / "warm.jsonl"))
    seconds: dict[str, list[float]] = {"bare": [], "records": [], "file": []}
    rows = nodes = 0
    for repeat in range(sizes.repeats):
        batches = _batches(corpus.copies(0, copies, f"bare{repeat}-"))
        rows, nodes = sum(batch.rows for batch in batches), sum(len(batch.graphs.nodes) for batch in batches)
        seconds["bare"].append(_bare(instance, batches))
        del batches
        records = list(corpus.copies(0, copies, f"records{repeat}-"))
        seconds["records"].append(_records(instance, records))
        del records
        path = write_jsonl(corpus.copies(0, copies, f"file{repeat}-"), folder / "load.jsonl")
        seconds["file"].append(_file(instance, path))
    path = write_jsonl(corpus.copies(0, copies * GROWTH, "large-"), folder / "load.jsonl")
    large = _file(instance, path)
    return _result(instance, seconds, rows, nodes, large)


def _result(
    instance: Instance, seconds: dict[str, list[float]], rows: int, nodes: int, large: float
) -> Result:
    labels = {
        "bare": "bare driver loop, prepared rows",
        "records": "dialogues in memory",
        "file": "a JSON Lines file",
    }
    bare = sample(seconds["bare"]).median
    table = Table(
        "Loading",
        f"Each run loads {rows:,} nodes and relationships, of which {nodes:,} are AMR nodes. The store "
        "already contains other dialogues. graphneg reads and validates the dialogues, parses their PENMAN "
        "graphs, and asks the store which of them exist. The bare driver loop shows how fast the server is "
        "without this work: it sends prepared rows with the same statements, in transactions of up to "
        f"{BATCH:,} rows. Runs of graphneg and of the bare loop alternate. Values are medians, with their "
        "range. The last column divides the rate by the rate of the bare loop.",
        ("server", "from", "seconds", "rows/s", "nodes/s", "rate to the bare loop's"),
        tuple(
            (
                instance.name,
                labels[method],
                sample(taken).shown(2),
                sample(rows / one for one in taken).shown(),
                f"{nodes / sample(taken).median:,.0f}",
                f"{bare / sample(taken).median:.2f}",
            )
            for method, taken in seconds.items()
        ),
    )
    file = sample(seconds["file"]).median
    ratio = bare / file
    growth = large / file
    larger = Table(
        "Loading: growth with the file",
        "Ten times as many dialogues as in the table above are loaded from a file. The last column divides "
        "the time by the median time for the file in the table above.",
        ("server", "from", "seconds", "times the time"),
        ((instance.name, f"a JSON Lines file of {GROWTH} times the size", f"{large:.2f}", f"{growth:.2f}"),),
    )
    goals = (
        Goal(
            "load rate to the bare loop's",
            instance.name,
            f"{ratio:.2f}",
            f">= {WANTED}",
            verdict(ratio >= WANTED),
        ),
        Goal(
            f"loading {GROWTH} times the data",
            instance.name,
            f"{growth:.2f} times the time",
            f"<= {GROWTH * SLACK:.0f}",
            verdict(growth <= GROWTH * SLACK),
        ),
    )
    return Result((table, larger), goals)


def _records(instance: Instance, records: Iterable[Dialogue]) -> float:
    gc.collect()
    began = time.perf_counter()
    store_records(instance.store, iter(records))
    return time.perf_counter() - began


def _file(instance: Instance, path: Path) -> float:
    gc.collect()
    began = time.perf_counter()
    DialogueGraph(instance.store).load("dialogues", path)
    return time.perf_counter() - began


def _bare(instance: Instance, batches: list[Batch]) -> float:
    gc.collect()
    began = time.perf_counter()
    with instance.driver.session(database=instance.database) as session:
        for batch in batches:
            session.execute_write(_send, batch)
    return time.perf_counter() - began


def _send(transaction: ManagedTransaction, batch: Batch) -> None:
    dialogues, graphs = batch.dialogues, batch.graphs
    lexemes = graphs.lexeme_rows()
    _run_statement(
        transaction,
        "load/dialogues",
        dialogues=dialogues.dialogues,
        utterances=dialogues.utterances,
        next=dialogues.next,
    )
    _run_statement(
        transaction, "load/terms", terms=[term_row(row["text"], graphs.lexicon) for row in lexemes]
    )
    _run_statement(transaction, "load/graphs", nodes=graphs.nodes, lexemes=lexemes, roles=graphs.roles)
    _run_statement(transaction, "load/meanings", amrs=graphs.amrs)


def _run_statement(transaction: ManagedTransaction, name: str, **parameters: Any) -> None:
    list(transaction.run(cast(LiteralString, cypher_text(name)), parameters))


def _batches(dialogues: Iterator[Dialogue]) -> list[Batch]:
    """Divide dialogues into batches of at most 5,000 rows, as graphneg does. No dialogue is split."""
    batches = [Batch(DialogueRows(), GraphRows())]
    filled = 0
    for dialogue in dialogues:
        graphs = {utterance_id(dialogue.id, one.turn): one.amr or "" for one in dialogue.utterances}
        parsed = {of: parse_graph(text, amr_id(of, GOLD)) for of, text in graphs.items()}
        weight = 1 + len(graphs) + sum(2 + 2 * len(g.nodes) + len(g.mentions) for g in parsed.values())
        if filled and filled + weight > BATCH:
            batches.append(Batch(DialogueRows(), GraphRows()))
            filled = 0
        filled += weight
        batches[-1].dialogues.add(dialogue)
        for of, graph in parsed.items():
            batches[-1].graphs.add(graph, of, GOLD, digest(graphs[of].strip()))
    return batches
