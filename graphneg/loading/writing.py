"""Writes what loaders yield to a store: in batches, each in one transaction, none of it twice.

A batch holds whole dialogues (or whole graphs, opposites, frames) and is there entirely or not
at all. What is in the store already is looked up in the same transaction and left out, so a load
that was killed is completed by running it again.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from operator import itemgetter
from typing import Any

from neo4j import ManagedTransaction

from graphneg.errors import PenmanError, StoreError
from graphneg.interpreter import fewer_collections, sooner_switches
from graphneg.loading.matching import Grouping, placed
from graphneg.loading.report import LoadReport
from graphneg.loading.rows import (
    DialogueRows,
    GraphRows,
    amr_id,
    dialogue_digest,
    digest,
    frame_row,
    opposite_row,
    utterance_id,
)
from graphneg.loading.sentences import mention_rows, sentence_row
from graphneg.model import AmrGraph, Dialogue, Frame, GraphText, Opposite, Record, Rejected, Sentence
from graphneg.penman_codec import metadata, parse_graph
from graphneg.store import Store
from graphneg.store.running import run, run_counted

MAX_ROWS = 5_000
MAX_BYTES = 4_000_000
MAX_DIALOGUE_BYTES = 12_000_000
MAX_KEY = 500
_NODE_BYTES = 300
GOLD = "penman"
GRAPH_CHUNK = 400


class _Batch:
    """Records of one transaction, parsed and measured."""

    def __init__(self) -> None:
        self.dialogues: list[Dialogue] = []
        self.graphs: list[tuple[str, AmrGraph, str]] = []
        self.opposites: list[Opposite] = []
        self.frames: list[Frame] = []
        self.sentences: dict[str, dict[str, Any]] = {}
        self.rows = 0
        self.bytes = 0

    def takes(self, rows: int, size: int) -> bool:
        return not self.rows or (self.rows + rows <= MAX_ROWS and self.bytes + size <= MAX_BYTES)

    def grow(self, rows: int, size: int) -> None:
        self.rows += rows
        self.bytes += size


def write_records(
    store: Store, records: Iterable[Record], report: LoadReport, grouping: Grouping
) -> LoadReport:
    """Write records to the store and count them in ``report``.

    ``grouping`` says what becomes of graphs that belong to no utterance of the store. The reading of
    one batch overlaps with the writing of the batch before. On an interrupt, what was handed to the
    store is finished first.

    Raises:
        StoreError: the store is gone.
    """
    began = time.monotonic()
    writer = _Writer(store, report, grouping)
    try:
        with fewer_collections(), sooner_switches():
            for record in records:
                writer.add(record)
            writer.finish()
    finally:
        writer.close()
        report.seconds = time.monotonic() - began
    return report


class _Writer:
    def __init__(self, store: Store, report: LoadReport, grouping: Grouping) -> None:
        self._store = store
        self._grouping = grouping
        self._texts: list[GraphText] = []
        self._unsettled = False
        self._report = report
        self._batch = _Batch()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="graphneg-load")
        self._pending: Future[None] | None = None

    def add(self, record: Record) -> None:
        if isinstance(record, Dialogue):
            self._unsettled = True
            self._add_dialogue(record)
        elif isinstance(record, GraphText):
            self._texts.append(record)
            if len(self._texts) == GRAPH_CHUNK:
                self._place_texts()
        elif isinstance(record, Rejected):
            self._report.reject(record.place, record.reason)
        elif isinstance(record, Opposite):
            if self._fits(record.start, f"{record.start} {record.relation}", record.end):
                self._room(1, 200)
                self._batch.opposites.append(record)
        elif isinstance(record, Sentence):
            self._add_sentence(record)
        elif self._fits(record.id, record.id, record.lemma):
            self._room(1, 200 + sum(map(len, record.descriptions)))
            self._batch.frames.append(record)

    def finish(self) -> None:
        """Write all that was added."""
        self._place_texts()
        for dialogue in self._grouping.rest():
            self._add_dialogue(dialogue)
        self._flush()

    def _place_texts(self) -> None:
        """Tie the waiting graphs to utterances: of the store, so what came before is written first."""
        texts, self._texts = self._texts, []
        if not texts:
            return
        if self._unsettled:
            self._flush()
            self._settle()
            self._unsettled = False
        for item in placed(texts, self._store, self._grouping):
            if isinstance(item, Dialogue):
                self._add_dialogue(item)
            else:
                self._add_graph(*item)

    def _flush(self) -> None:
        """Hand the batch to the writing thread, once the one before is written."""
        batch, self._batch = self._batch, _Batch()
        self._settle()
        if batch.rows:
            self._pending = self._pool.submit(self._write, batch)

    def close(self) -> None:
        """Wait for what is being written."""
        try:
            self._settle()
        finally:
            self._pool.shutdown()

    def _settle(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def _add_dialogue(self, dialogue: Dialogue) -> None:
        if not self._fits(dialogue.id, dialogue.id):
            return
        graphs: list[tuple[str, AmrGraph, str]] = []
        for utterance in dialogue.utterances:
            if utterance.amr is not None:
                at = utterance_id(dialogue.id, utterance.turn)
                graph = self._read(utterance.amr, at, dialogue.place)
                if graph is not None:
                    graphs.append(graph)
        rows = 1 + len(dialogue.utterances) + len(dialogue.responses) + sum(map(_weight, graphs))
        size = sum(len(one.text) * 3 + 200 for one in (*dialogue.utterances, *dialogue.responses))
        size += sum(_NODE_BYTES * _weight(graph) for graph in graphs)
        if size > MAX_DIALOGUE_BYTES:
            reason = (
                f"a dialogue of {size / 1e6:.0f} MB is over the limit of {MAX_DIALOGUE_BYTES / 1e6:.0f} MB"
            )
            self._report.reject(dialogue.id, reason)
            return
        self._room(rows, size)
        self._batch.dialogues.append(dialogue)
        self._batch.graphs.extend(graphs)

    def _add_sentence(self, sentence: Sentence) -> None:
        if sentence.id in self._batch.sentences or not self._fits(sentence.id, sentence.id, sentence.source):
            return
        row = sentence_row(sentence)
        self._room(1 + len(row["terms"]), 400 + 2 * len(sentence.text))
        self._batch.sentences[sentence.id] = row

    def _read(self, penman: str, utterance: str, dialogue: str | None) -> tuple[str, AmrGraph, str] | None:
        """The graph of an utterance that came with it, or in a file of graphs that were made dialogues."""
        place = self._grouping.places.pop(utterance, None)
        if place is not None:
            return self._parsed(penman, utterance, place, _first_line(place))
        return self._parsed(penman, utterance, dialogue or utterance, 1)

    def _add_graph(self, utterance: str, text: GraphText) -> None:
        graph = self._parsed(text.penman, utterance, text.place, _first_line(text.place))
        if graph is not None:
            self._room(_weight(graph), _NODE_BYTES * _weight(graph))
            self._batch.graphs.append(graph)

    def _parsed(
        self, penman: str, utterance: str, place: str, first_line: int
    ) -> tuple[str, AmrGraph, str] | None:
        try:
            graph = parse_graph(penman, amr_id(utterance, GOLD), first_line)
        except PenmanError as error:
            id = metadata([line for line in penman.splitlines() if line.startswith("#")]).get("id", utterance)
            which = "" if id == place else f" {id}"
            self._report.reject(place, f"malformed AMR graph{which}: {error}")
            return None
        return utterance, graph, digest(penman.strip())

    def _fits(self, place: str, *keys: str) -> bool:
        """Whether all keys are short enough for the servers' indexes."""
        if all(len(key.encode()) <= MAX_KEY for key in keys):
            return True
        self._report.reject(place[:80], f"an id or term of over {MAX_KEY} bytes")
        return False

    def _room(self, rows: int, size: int) -> None:
        if not self._batch.takes(rows, size):
            self._flush()
        self._batch.grow(rows, size)

    def _write(self, batch: _Batch) -> None:
        outcome = self._store.write(lambda tx: _write_batch(tx, batch))
        self._report.written += outcome.written
        self._report.present += outcome.present
        for place, reason in outcome.rejected:
            self._report.reject(place, reason)


class _Outcome:
    """What one attempt at a batch did; booked only when its transaction is committed."""

    def __init__(self) -> None:
        self.written: Counter[str] = Counter()
        self.present: Counter[str] = Counter()
        self.rejected: list[tuple[str, str]] = []

    def count(self, kind: str, new: int, given: int) -> None:
        self.written[kind] += new
        self.present[kind] += given - new


def _write_batch(tx: ManagedTransaction, batch: _Batch) -> _Outcome:
    outcome = _Outcome()
    refused = _write_dialogues(tx, batch.dialogues, outcome) if batch.dialogues else set[str]()
    graphs = [graph for graph in batch.graphs if graph[0].rpartition("#")[0] not in refused]
    if graphs:
        _write_graphs(tx, graphs, outcome)
    if batch.opposites:
        terms = sorted({text for one in batch.opposites for text in (one.start, one.end)})
        run(tx, "load/terms", terms=terms)
        rows = sorted(map(opposite_row, batch.opposites), key=_edge_key)
        new = run_counted(tx, "load/opposites", opposites=rows).relationships_created
        outcome.count("opposites", new, len(rows))
    if batch.frames:
        rows = sorted(map(frame_row, batch.frames), key=itemgetter("id"))
        run(tx, "load/terms", terms=sorted({row["term"] for row in rows}))
        new = run_counted(tx, "load/frames", frames=rows).nodes_created
        outcome.count("frames", new, len(rows))
    if batch.sentences:
        _write_sentences(tx, batch.sentences, outcome)
    return outcome


def _write_sentences(tx: ManagedTransaction, rows: dict[str, dict[str, Any]], outcome: _Outcome) -> None:
    stored = {row["id"]: row["text"] for row in run(tx, "load/stored_sentences", ids=sorted(rows))}
    for id, text in stored.items():
        if text != rows[id]["text"]:
            outcome.rejected.append((id, "a sentence with this id and another text is in the store"))
        else:
            outcome.present["sentences"] += 1
    new = [row for id, row in sorted(rows.items()) if id not in stored]
    mentions = mention_rows(new)
    if new:
        run(tx, "load/terms", terms=[row["text"] for row in mentions])
        run(tx, "load/sentences", sentences=new, mentions=mentions)
    outcome.written["sentences"] += len(new)


def _write_dialogues(tx: ManagedTransaction, dialogues: list[Dialogue], outcome: _Outcome) -> set[str]:
    """Write the dialogues that are new; returns the ids of those refused."""
    ids = [dialogue.id for dialogue in dialogues]
    stored = {row["id"]: row["digest"] for row in run(tx, "load/stored", ids=ids)}
    rows, refused = DialogueRows(), set[str]()
    for dialogue in dialogues:
        if dialogue.id not in stored:
            rows.add(dialogue)
        elif stored[dialogue.id] == dialogue_digest(dialogue):
            outcome.present["dialogues"] += 1
        else:
            refused.add(dialogue.id)
            reason = "a dialogue with this id and other content is in the store; load it under another --name"
            outcome.rejected.append((dialogue.id, reason))
    if rows.dialogues:
        run(tx, "load/dialogues", dialogues=rows.dialogues, utterances=rows.utterances, next=rows.next)
        outcome.written["dialogues"] += len(rows.dialogues)
        outcome.written["utterances"] += len(rows.utterances)
    if rows.responses:
        run(tx, "load/responses", responses=rows.responses)
        outcome.written["responses"] += len(rows.responses)
    return refused


def _write_graphs(tx: ManagedTransaction, graphs: list[tuple[str, AmrGraph, str]], outcome: _Outcome) -> None:
    stored = {
        row["id"]: row["digest"] for row in run(tx, "load/stored_graphs", ids=[g.id for _, g, _ in graphs])
    }
    rows = GraphRows()
    for utterance, graph, content in graphs:
        if graph.id not in stored:
            rows.add(graph, utterance, GOLD, content)
        elif stored[graph.id] == content:
            outcome.present["graphs"] += 1
        else:
            reason = "another AMR graph of this utterance is in the store; it stays as it is"
            outcome.rejected.append((utterance, reason))
    if rows.amrs:
        lexemes = rows.lexeme_rows()
        run(tx, "load/terms", terms=[row["text"] for row in lexemes])
        run(tx, "load/graphs", nodes=rows.nodes, lexemes=lexemes, roles=rows.roles)
        tied = run(tx, "load/meanings", amrs=rows.amrs)[0]["amrs"]
        if tied != len(rows.amrs):
            raise StoreError(
                f"{len(rows.amrs) - tied} utterances went while their graphs were written; run again"
            )
        outcome.written["graphs"] += len(rows.amrs)
        outcome.written["nodes"] += len(rows.nodes)


def _first_line(place: str) -> int:
    """The line of a place in a file (``graphs.amr:12``); 1 where it is no such place."""
    line = place.rpartition(":")[2]
    return int(line) if line.isdecimal() else 1


def _weight(graph: tuple[str, AmrGraph, str]) -> int:
    return 2 + 2 * len(graph[1].nodes) + len(graph[1].mentions)


def _edge_key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["start"], row["end"], row["relation"]
