"""Writes what loaders yield to a store: in batches, each in one transaction, none of it twice.

A batch holds whole dialogues (or whole graphs, opposites, frames) and is there entirely or not
at all. What is in the store already is looked up in the same transaction and left out, so a load
that was killed is completed by running it again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor

from graphneg.errors import PenmanError
from graphneg.interpreter import fewer_collections, sooner_switches
from graphneg.loading.batches import Batch, ReadGraph, write_batch
from graphneg.loading.matching import Grouping, placed
from graphneg.loading.report import LoadReport
from graphneg.loading.rows import GOLD, amr_id, digest, utterance_id
from graphneg.loading.sentences import sentence_row
from graphneg.model import Dialogue, GraphText, Opposite, Record, Rejected, Sentence
from graphneg.penman_codec import metadata, parse_graph
from graphneg.store import Store

MAX_ROWS = 5_000
MAX_BYTES = 4_000_000
MAX_DIALOGUE_BYTES = 12_000_000
MAX_KEY = 500
_NODE_BYTES = 300
GRAPH_CHUNK = 400


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
        self._batch = Batch()
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
        batch, self._batch = self._batch, Batch()
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
        graphs: list[ReadGraph] = []
        for utterance in dialogue.utterances:
            if utterance.amr is not None:
                at = utterance_id(dialogue.id, utterance.turn)
                graph = self._read(utterance.amr, at, dialogue.place)
                if graph is not None:
                    graphs.append(graph)
        rows = 1 + len(dialogue.utterances) + len(dialogue.responses) + sum(one.weight for one in graphs)
        size = sum(len(one.text) * 3 + 200 for one in (*dialogue.utterances, *dialogue.responses))
        size += sum(_NODE_BYTES * graph.weight for graph in graphs)
        if size > MAX_DIALOGUE_BYTES:
            reason = (
                f"a dialogue of {size / 1e6:.0f} MB is over the limit of {MAX_DIALOGUE_BYTES / 1e6:.0f} MB"
            )
            self._report.reject(dialogue.id, reason)
            return
        self._room(rows, size)
        self._batch.add_dialogue(dialogue)
        for graph in graphs:
            self._batch.add_graph(graph)

    def _add_sentence(self, sentence: Sentence) -> None:
        if sentence.id in self._batch.sentences or not self._fits(sentence.id, sentence.id, sentence.source):
            return
        row = sentence_row(sentence)
        self._room(1 + len(row["terms"]), 400 + 2 * len(sentence.text))
        self._batch.sentences[sentence.id] = row

    def _read(self, penman: str, utterance: str, dialogue: str | None) -> ReadGraph | None:
        """The graph of an utterance that came with it, or in a file of graphs that were made dialogues."""
        place = self._grouping.places.pop(utterance, None)
        if place is not None:
            return self._parsed(penman, utterance, place, _first_line(place))
        return self._parsed(penman, utterance, dialogue or utterance, 1)

    def _add_graph(self, utterance: str, text: GraphText) -> None:
        graph = self._parsed(text.penman, utterance, text.place, _first_line(text.place))
        if graph is not None:
            self._room(graph.weight, _NODE_BYTES * graph.weight)
            self._batch.add_graph(graph)

    def _parsed(self, penman: str, utterance: str, place: str, first_line: int) -> ReadGraph | None:
        try:
            graph = parse_graph(penman, amr_id(utterance, GOLD), first_line)
        except PenmanError as error:
            id = metadata([line for line in penman.splitlines() if line.startswith("#")]).get("id", utterance)
            which = "" if id == place else f" {id}"
            self._report.reject(place, f"malformed AMR graph{which}: {error}")
            return None
        return ReadGraph(utterance, graph, digest(penman.strip()))

    def _fits(self, place: str, *keys: str) -> bool:
        """Whether all keys are short enough for the servers' indexes."""
        if all(len(key.encode()) <= MAX_KEY for key in keys):
            return True
        self._report.reject(place[:80], f"an id or term of over {MAX_KEY} bytes")
        return False

    def _room(self, rows: int, size: int) -> None:
        if not self._batch.takes(rows, size, MAX_ROWS, MAX_BYTES):
            self._flush()
        self._batch.grow(rows, size)

    def _write(self, batch: Batch) -> None:
        outcome = self._store.write(lambda tx: write_batch(tx, batch))
        self._report.written += outcome.written
        self._report.present += outcome.present
        for place, reason in outcome.rejected:
            self._report.reject(place, reason)


def _first_line(place: str) -> int:
    """The line of a place in a file (``graphs.amr:12``); 1 where it is no such place."""
    line = place.rpartition(":")[2]
    return int(line) if line.isdecimal() else 1
