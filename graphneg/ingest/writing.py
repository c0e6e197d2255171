"""Writes what loaders yield to a store: in batches, each in one transaction, none of it twice."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from neo4j import ManagedTransaction

from graphneg.amr.penman import metadata, parse_graph
from graphneg.english.lexicon import Lexicon, english
from graphneg.errors import PenmanError, StoreError
from graphneg.ingest.facts import refresh
from graphneg.ingest.lexicon import entry_rows, finish, judge_antonyms, stored_lexicon, write_terms
from graphneg.ingest.loader import LoadReport
from graphneg.ingest.rows import (
    GOLD,
    DialogueRows,
    GraphRows,
    Row,
    amr_id,
    dialogue_digest,
    digest,
    frame_row,
    mention_rows,
    opposite_row,
    sentence_row,
    utterance_id,
)
from graphneg.ingest.validation import Grouping, placed
from graphneg.model import (
    AmrGraph,
    Dialogue,
    Frame,
    GraphText,
    LexiconEntry,
    Opposite,
    Record,
    Rejected,
    Sentence,
)
from graphneg.store.connection import Store
from graphneg.store.statements import Sent, run, run_counted, send
from graphneg.workers import fewer_collections, sooner_switches

# One batch of a load: its records, their rows, and the transaction that writes what is new of them.


class ReadGraph(NamedTuple):
    """A graph, the utterance that it belongs to, the digest of its PENMAN, and the text that it means."""

    utterance: str
    graph: AmrGraph
    digest: str
    text: str = ""

    @property
    def dialogue(self) -> str:
        """The id of the utterance's dialogue."""
        return self.utterance.rpartition("#")[0]

    @property
    def weight(self) -> int:
        """How many rows it makes."""
        return 2 + 2 * len(self.graph.nodes) + len(self.graph.mentions)


@dataclass(slots=True)
class Batch:
    """Records of one transaction, their number of rows, and about how many bytes they are.

    The rows of dialogues and graphs are made as these are added, while another batch is being written:
    most batches of most loads hold nothing that is in the store already.
    """

    lexicon: Lexicon = field(default_factory=english)
    dialogues: list[Dialogue] = field(default_factory=list[Dialogue])
    graphs: list[ReadGraph] = field(default_factory=list[ReadGraph])
    opposites: list[Opposite] = field(default_factory=list[Opposite])
    frames: list[Frame] = field(default_factory=list[Frame])
    sentences: dict[str, Row] = field(default_factory=dict[str, Row])
    dialogue_rows: DialogueRows = field(default_factory=DialogueRows)
    entries: list[LexiconEntry] = field(default_factory=list[LexiconEntry])
    rows: int = 0
    bytes: int = 0
    graph_rows: GraphRows = field(init=False)

    def __post_init__(self) -> None:
        self.graph_rows = GraphRows(self.lexicon)

    def add_dialogue(self, dialogue: Dialogue) -> None:
        """Add a dialogue and its rows."""
        self.dialogues.append(dialogue)
        self.dialogue_rows.add(dialogue)

    def add_graph(self, graph: ReadGraph) -> None:
        """Add a graph that a corpus brings, and its rows."""
        self.graphs.append(graph)
        self.graph_rows.add(graph.graph, graph.utterance, GOLD, graph.digest, graph.text)

    def takes(self, rows: int, size: int, most_rows: int, most_bytes: int) -> bool:
        """Whether there is room for more; an empty batch takes anything."""
        return not self.rows or (self.rows + rows <= most_rows and self.bytes + size <= most_bytes)

    def grow(self, rows: int, size: int) -> None:
        """Count what was added: its rows, and its size in bytes."""
        self.rows += rows
        self.bytes += size


class Outcome:
    """What one attempt at a batch did; booked only when its transaction is committed."""

    def __init__(self) -> None:
        self.written: Counter[str] = Counter()
        self.present: Counter[str] = Counter()
        self.rejected: list[tuple[str, str]] = []

    def count(self, kind: str, new: int, given: int) -> None:
        """Count records of a kind: ``new`` of the ``given`` were written, the rest was there."""
        self.written[kind] += new
        self.present[kind] += given - new


def write_batch(tx: ManagedTransaction, batch: Batch) -> Outcome:
    """Write what is new of a batch, and tell new from known and from refused.

    Raises:
        StoreError: utterances went while their graphs were written.
    """
    outcome = Outcome()
    if batch.dialogues or batch.graphs:
        _write_conversation(tx, batch, outcome)
    if batch.opposites:
        terms = sorted({text for one in batch.opposites for text in (one.start, one.end)})
        finish(write_terms(tx, terms, batch.lexicon))
        rows = sorted((opposite_row(one, batch.lexicon) for one in batch.opposites), key=_edge_key)
        new = run_counted(tx, "load/opposites", opposites=rows).relationships_created
        judge_antonyms(tx, terms, batch.lexicon)
        outcome.count("opposites", new, len(rows))
    if batch.frames:
        rows = sorted((frame_row(one, batch.lexicon) for one in batch.frames), key=itemgetter("id"))
        finish(write_terms(tx, {row["term"] for row in rows}, batch.lexicon))
        new = run_counted(tx, "load/frames", frames=rows).nodes_created
        judge_antonyms(tx, {one.lemma for one in batch.frames}, batch.lexicon)
        outcome.count("frames", new, len(rows))
    if batch.sentences:
        _write_sentences(tx, batch.sentences, outcome, batch.lexicon)
    if batch.entries:
        rows = entry_rows(batch.entries)
        new = run_counted(tx, "lexicon/write", entries=rows).nodes_created
        outcome.count("lexicon entries", new, len(rows))
    return outcome


def _write_conversation(tx: ManagedTransaction, batch: Batch, outcome: Outcome) -> None:
    """Write dialogues and graphs. What was sent is read at the end: till then the server has work.

    Graphs of a dialogue that is new are new too, and not looked up.
    """
    stored = _digests(tx, "load/stored", [dialogue.id for dialogue in batch.dialogues])
    dialogues, refused = _new_dialogues(batch.dialogues, stored, outcome)
    unseen = {dialogue.id for dialogue in dialogues}
    perhaps = [one.graph.id for one in batch.graphs if one.dialogue not in unseen]
    stored_graphs = _digests(tx, "load/stored_graphs", perhaps)
    graphs = _new_graphs(batch.graphs, stored_graphs, refused, outcome)
    sent: list[Sent] = []
    if dialogues:
        whole = len(dialogues) == len(batch.dialogues)
        sent += _send_dialogues(tx, batch.dialogue_rows if whole else _rows_of_dialogues(dialogues), outcome)
    if graphs:
        whole = len(graphs) == len(batch.graphs)
        sent += _send_graphs(
            tx, batch.graph_rows if whole else _rows_of_graphs(graphs, batch.lexicon), outcome
        )
        tied = sent.pop().records()[0]["amrs"]
        if tied != len(graphs):
            raise StoreError(
                f"{len(graphs) - tied} utterances went while their graphs were written; run again"
            )
    for result in sent:
        result.finish()


def _digests(tx: ManagedTransaction, lookup: str, ids: list[str]) -> dict[str, str]:
    """What the store has of these ids, with digests of its content."""
    return {row["id"]: row["digest"] for row in run(tx, lookup, ids=ids)} if ids else {}


def _new_dialogues(
    dialogues: Sequence[Dialogue], stored: Mapping[str, str], outcome: Outcome
) -> tuple[list[Dialogue], set[str]]:
    """The dialogues that the store does not have, and the ids of those that it has with other content."""
    new, refused = list[Dialogue](), set[str]()
    for dialogue in dialogues:
        if dialogue.id not in stored:
            new.append(dialogue)
        elif stored[dialogue.id] == dialogue_digest(dialogue):
            outcome.present["dialogues"] += 1
        else:
            refused.add(dialogue.id)
            reason = "a dialogue with this id and other content is in the store; load it under another --name"
            outcome.rejected.append((dialogue.id, reason))
    return new, refused


def _new_graphs(
    graphs: Sequence[ReadGraph], stored: Mapping[str, str], refused: Set[str], outcome: Outcome
) -> list[ReadGraph]:
    """The graphs that the store does not have, without those of refused dialogues."""
    new: list[ReadGraph] = []
    for one in graphs:
        if one.dialogue in refused:
            continue
        if one.graph.id not in stored:
            new.append(one)
        elif stored[one.graph.id] == one.digest:
            outcome.present["graphs"] += 1
        else:
            reason = "another AMR graph of this utterance is in the store; it stays as it is"
            outcome.rejected.append((one.utterance, reason))
    return new


def _rows_of_dialogues(dialogues: Iterable[Dialogue]) -> DialogueRows:
    rows = DialogueRows()
    for dialogue in dialogues:
        rows.add(dialogue)
    return rows


def _rows_of_graphs(graphs: Iterable[ReadGraph], lexicon: Lexicon) -> GraphRows:
    rows = GraphRows(lexicon)
    for one in graphs:
        rows.add(one.graph, one.utterance, GOLD, one.digest, one.text)
    return rows


def _send_dialogues(tx: ManagedTransaction, rows: DialogueRows, outcome: Outcome) -> list[Sent]:
    sent = [send(tx, "load/dialogues", dialogues=rows.dialogues, utterances=rows.utterances, next=rows.next)]
    if rows.responses:
        sent.append(send(tx, "load/responses", responses=rows.responses))
        outcome.written["responses"] += len(rows.responses)
    outcome.written["dialogues"] += len(rows.dialogues)
    outcome.written["utterances"] += len(rows.utterances)
    return sent


def _send_graphs(tx: ManagedTransaction, rows: GraphRows, outcome: Outcome) -> list[Sent]:
    """The last result says how many graphs were tied to utterances."""
    lexemes = rows.lexeme_rows()
    outcome.written["graphs"] += len(rows.amrs)
    outcome.written["nodes"] += len(rows.nodes)
    return [
        *write_terms(tx, rows.lexemes, rows.lexicon),
        send(tx, "load/graphs", nodes=rows.nodes, lexemes=lexemes, roles=rows.roles),
        send(tx, "load/meanings", amrs=rows.amrs),
    ]


def _write_sentences(
    tx: ManagedTransaction, rows: Mapping[str, Row], outcome: Outcome, lexicon: Lexicon
) -> None:
    stored = {row["id"]: row["text"] for row in run(tx, "load/stored_sentences", ids=sorted(rows))}
    for id, text in stored.items():
        if text != rows[id]["text"]:
            outcome.rejected.append((id, "a sentence with this id and another text is in the store"))
        else:
            outcome.present["sentences"] += 1
    new = [row for id, row in sorted(rows.items()) if id not in stored]
    mentions = mention_rows(new)
    if new:
        finish(write_terms(tx, (row["text"] for row in mentions), lexicon))
        run(tx, "load/sentences", sentences=new, mentions=mentions)
    outcome.written["sentences"] += len(new)


def _edge_key(row: Row) -> tuple[str, str, str]:
    return row["start"], row["end"], row["relation"]


# Writes what loaders yield to a store: in batches, each in one transaction, none of it twice.
#
# A batch holds whole dialogues (or whole graphs, opposites, frames) and is there entirely or not
# at all. What is in the store already is looked up in the same transaction and left out, so a load
# that was killed is completed by running it again.


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
        self._lexicon = stored_lexicon(store)
        self._entries: list[LexiconEntry] = []
        self._batch = Batch(self._lexicon)
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
        elif isinstance(record, LexiconEntry):
            self._room(len(record.cells[-1].split()), 100 + 2 * len(record.cells[-1]))
            self._batch.entries.append(record)
            self._entries.append(record)
        elif self._fits(record.id, record.id, record.lemma):
            self._room(1, 200 + sum(map(len, record.descriptions)))
            self._batch.frames.append(record)

    def finish(self) -> None:
        """Write all that was added."""
        self._place_texts()
        for dialogue in self._grouping.rest():
            self._add_dialogue(dialogue)
        self._flush()
        if self._entries:
            self._settle()
            refresh(self._store, self._entries)

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
        batch, self._batch = self._batch, Batch(self._lexicon)
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
                graph = self._read(utterance.amr, at, dialogue.place, utterance.text)
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

    def _read(self, penman: str, utterance: str, dialogue: str | None, text: str) -> ReadGraph | None:
        """The graph of an utterance that came with it, or in a file of graphs that were made dialogues."""
        place = self._grouping.places.pop(utterance, None)
        if place is not None:
            return self._parsed(penman, utterance, place, _first_line(place), text)
        return self._parsed(penman, utterance, dialogue or utterance, 1, text)

    def _add_graph(self, utterance: str, text: GraphText) -> None:
        graph = self._parsed(text.penman, utterance, text.place, _first_line(text.place), text.text or "")
        if graph is not None:
            self._room(graph.weight, _NODE_BYTES * graph.weight)
            self._batch.add_graph(graph)

    def _parsed(
        self, penman: str, utterance: str, place: str, first_line: int, text: str
    ) -> ReadGraph | None:
        try:
            graph = parse_graph(penman, amr_id(utterance, GOLD), first_line)
        except PenmanError as error:
            id = metadata([line for line in penman.splitlines() if line.startswith("#")]).get("id", utterance)
            which = "" if id == place else f" {id}"
            self._report.reject(place, f"malformed AMR graph{which}: {error}")
            return None
        return ReadGraph(utterance, graph, digest(penman.strip()), text)

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
