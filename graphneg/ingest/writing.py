"""Write the records of a loader to a store, in batches of one transaction each.

A batch holds complete dialogues (or graphs, opposites, frames and so on) and is written entirely or not
at all. Records that the store already has are looked up in the same transaction and left out. A load
that was interrupted is therefore completed by running it again.

`load_files` runs a loader by name and writes what it reads. For example, ``load_files(store,
"everyday", [], 8, LoadOptions())`` loads the bundled corpus and returns a `LoadReport` with the numbers
of new, present and rejected records.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

from neo4j import ManagedTransaction

from graphneg.amr.penman import metadata, parse_graph
from graphneg.english.lexicon import Lexicon
from graphneg.errors import InputError, PenmanError, StoreError, first_line
from graphneg.ingest.batches import Batch, ReadGraph
from graphneg.ingest.echoes import dialogue_of, write_echoes
from graphneg.ingest.lexicon import (
    Target,
    entry_rows,
    finish,
    judge_antonyms,
    refresh,
    stored_lexicon,
    write_terms,
)
from graphneg.ingest.loader import LoadOptions, LoadReport, get_loader
from graphneg.ingest.rows import (
    GOLD,
    DialogueRows,
    GraphRows,
    Row,
    amr_id,
    digest,
    frame_row,
    mention_rows,
    opposite_row,
    sentence_row,
    utterance_id,
)
from graphneg.ingest.validation import LONGEST_GRAPH, Grouping, oversized, placed, too_long
from graphneg.model import (
    Dialogue,
    GraphText,
    LexiconEntry,
    Opposite,
    Record,
    Rejected,
    Sentence,
)
from graphneg.shards import Shard
from graphneg.store.connection import WriteConflict, is_of_content
from graphneg.store.statements import Sent, run, run_counted, send
from graphneg.workers import fewer_collections, sooner_switches

MAX_DIALOGUE_BYTES = 12_000_000
"""Maximum estimated size of a dialogue. It goes into one message, and the embedded server takes 16 MB."""
GRAPH_CHUNK = 400
"""Number of graphs that are assigned to utterances at once."""
MOST_REFUSED = 20
"""Maximum number of items that the server may fail at. With more, the items are not the cause."""
_NODE_BYTES = 300
"""Estimated size of the row of a node or role."""
_OTHER_CONTENT = {
    "dialogues": "a dialogue with this id and other content is in the store; load it under another --name",
    "graphs": "another AMR graph of this utterance is in the store, and is kept",
    "sentences": "a sentence with this id and another text is in the store",
}


@dataclass(slots=True)
class Outcome:
    """The result of one attempt to write a batch. It counts only if the transaction is committed.

    Attributes:
        written: The number of new records of each kind.
        present: The number of records of each kind that were in the store before.
        rejected: The name of each rejected record, and the reason.
    """

    written: Counter[str] = field(default_factory=Counter[str])
    present: Counter[str] = field(default_factory=Counter[str])
    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def count(self, kind: str, new: int, given: int) -> None:
        """Count records of one kind.

        Args:
            kind: The kind, such as ``opposites``.
            new: The number of records that were written.
            given: The number of records in the batch. The others were present.
        """
        self.written[kind] += new
        self.present[kind] += given - new

    def is_new(self, kind: str, stored: Mapping[str, str], id: str, content: str, name: str) -> bool:
        """Return whether the store lacks a record; count or reject a record that it has.

        Args:
            kind: The kind, such as ``dialogues``.
            stored: The content, or its digest, of each record in the store, by id.
            id: The id of the record.
            content: Its content or digest.
            name: Its name in the rejection, if the stored content differs.

        Returns:
            True if the id is not in the store.
        """
        if id not in stored:
            return True
        # The same content was loaded before. Other content with the same id is never overwritten.
        if stored[id] == content:
            self.present[kind] += 1
        else:
            self.rejected.append((name, _OTHER_CONTENT[kind]))
        return False


def write_batch(tx: ManagedTransaction, batch: Batch) -> Outcome:
    """Write those records of a batch that the store lacks.

    A record whose id is stored with other content is rejected. `WriteConflict` is raised if a graph
    finds no utterance: the utterance was deleted meanwhile, or another transaction writes it at the
    same time. On the embedded server, neither of two such transactions may see what both write.

    Args:
        tx: The transaction.
        batch: The records.

    Returns:
        What was written, present and rejected.
    """
    outcome, lexicon = Outcome(), batch.lexicon
    if batch.dialogues or batch.graphs:
        _write_conversation(tx, batch, outcome)
    if batch.opposites:
        terms = sorted({text for edge in batch.opposites for text in (edge.start, edge.end)})
        finish(write_terms(tx, terms, lexicon))
        rows = [opposite_row(edge, lexicon) for edge in batch.opposites]
        # Sorted, so that concurrent transactions lock in the same order.
        rows.sort(key=itemgetter("start", "end", "relation"))
        new = run_counted(tx, "load/opposites", opposites=rows).relationships_created
        judge_antonyms(tx, terms, lexicon)
        outcome.count("opposites", new, len(rows))
    if batch.frames:
        rows = sorted((frame_row(frame, lexicon) for frame in batch.frames), key=itemgetter("id"))
        finish(write_terms(tx, {row["term"] for row in rows}, lexicon))
        new = run_counted(tx, "load/frames", frames=rows).nodes_created
        judge_antonyms(tx, {frame.lemma for frame in batch.frames}, lexicon)
        outcome.count("frames", new, len(rows))
    if batch.sentences:
        _write_sentences(tx, batch.sentences, outcome, lexicon)
    if batch.entries:
        rows = entry_rows(batch.entries)
        new = run_counted(tx, "lexicon/write", entries=rows).nodes_created
        outcome.count("lexicon entries", new, len(rows))
    return outcome


def _write_conversation(tx: ManagedTransaction, batch: Batch, outcome: Outcome) -> None:
    """Write dialogues and graphs."""
    stored = _stored(tx, "load/stored", "digest", [dialogue.id for dialogue in batch.dialogues])
    given = zip(batch.dialogues, batch.dialogue_rows.dialogues, strict=True)
    dialogues = [
        dialogue
        for dialogue, row in given
        if outcome.is_new("dialogues", stored, dialogue.id, row["digest"], dialogue.id)
    ]
    # The graphs of a new dialogue are new as well, so they are not looked up.
    refused, unseen = {id for id, _ in outcome.rejected}, {dialogue.id for dialogue in dialogues}
    of = [dialogue_of(read.utterance) for read in batch.graphs]
    perhaps = [read.graph.id for read, id in zip(batch.graphs, of, strict=True) if id not in unseen]
    stored = _stored(tx, "load/stored_graphs", "digest", perhaps)
    graphs = [
        read
        for read, id in zip(batch.graphs, of, strict=True)
        if id not in refused and outcome.is_new("graphs", stored, read.graph.id, read.digest, read.utterance)
    ]
    # Rows refer to each other by index, so the rows of a smaller batch are made again.
    if (len(dialogues), len(graphs)) != (len(batch.dialogues), len(batch.graphs)):
        batch = Batch(batch.lexicon)
        batch.add(dialogues, graphs)
    sent = _send_dialogues(tx, batch.dialogue_rows, outcome) if dialogues else []
    if graphs:
        sent += _send_graphs(tx, batch.graph_rows, outcome)
        tied = sent.pop().records()[0]["amrs"]
        if tied != len(graphs):
            lost = len(graphs) - tied
            raise WriteConflict(f"{lost} utterances were removed while their graphs were written; run again")
    # Results are read last, so that the server always has a statement to run.
    finish(sent)
    # Echoes in new dialogues are in their rows already. Other dialogues may have stored graphs as well.
    elsewhere = {dialogue_of(read.utterance) for read in graphs} - unseen
    if elsewhere:
        write_echoes(tx, elsewhere, batch.graph_rows.said, batch.lexicon)


def _stored(tx: ManagedTransaction, lookup: str, content: str, ids: list[str]) -> dict[str, str]:
    """Return the content, or its digest, of those ids that the store has."""
    return {row["id"]: row[content] for row in run(tx, lookup, ids=ids)} if ids else {}


def _send_dialogues(tx: ManagedTransaction, rows: DialogueRows, outcome: Outcome) -> list[Sent]:
    sent = [send(tx, "load/dialogues", dialogues=rows.dialogues, utterances=rows.utterances, next=rows.next)]
    if rows.responses:
        sent.append(send(tx, "load/responses", responses=rows.responses))
        outcome.written["responses"] += len(rows.responses)
    outcome.written["dialogues"] += len(rows.dialogues)
    outcome.written["utterances"] += len(rows.utterances)
    return sent


def _send_graphs(tx: ManagedTransaction, rows: GraphRows, outcome: Outcome) -> list[Sent]:
    """Send the statements that write graphs; the last one returns how many utterances were found."""
    outcome.written["graphs"] += len(rows.amrs)
    outcome.written["nodes"] += len(rows.nodes)
    return [
        *write_terms(tx, rows.lexemes, rows.lexicon),
        send(tx, "load/graphs", nodes=rows.nodes, lexemes=rows.lexeme_rows(), roles=rows.roles),
        send(tx, "load/meanings", amrs=rows.amrs),
    ]


def _write_sentences(
    tx: ManagedTransaction, rows: Mapping[str, Row], outcome: Outcome, lexicon: Lexicon
) -> None:
    ids = sorted(rows)
    stored = _stored(tx, "load/stored_sentences", "text", ids)
    new = [rows[id] for id in ids if outcome.is_new("sentences", stored, id, rows[id]["text"], id)]
    mentions = mention_rows(new)
    if new:
        finish(write_terms(tx, (row["text"] for row in mentions), lexicon))
        run(tx, "load/sentences", sentences=new, mentions=mentions)
    outcome.written["sentences"] += len(new)


def write_records(
    store: Target, records: Iterable[Record], report: LoadReport, grouping: Grouping
) -> LoadReport:
    """Write records to a store and count them.

    While one batch is written, the next one is read. On an interrupt, the batch that is being written
    is finished first. `StoreError` is raised if the store is no longer there.

    Args:
        store: The store, or the files of a bulk load.
        records: The records of a loader.
        report: Counts the records.
        grouping: Makes dialogues of graphs that belong to no utterance of the store.

    Returns:
        The report.
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


def load_files(
    target: Target,
    corpus: str,
    paths: Sequence[Any],
    turns: int,
    options: LoadOptions,
    on_rejected: Callable[[Rejected], None] | None = None,
    shard: Shard | None = None,
) -> LoadReport:
    """Load files into a store.

    An unknown loader, or a file of another format, raises `InputError`. So does a shard if a graph does
    not name its dialogue. `StoreError` is raised if the store is no longer there.

    Args:
        target: The store, or the files of a bulk load.
        corpus: The name of the loader.
        paths: The files, or Python objects that hold dialogues.
        turns: The number of turns of dialogues that are made of graphs without utterances, at least 1.
            These dialogues belong to the corpus of ``options``, or to one named after the first file.
        options: The options of the load.
        on_rejected: Called with each rejection.
        shard: Loads only the dialogues of this shard, and their graphs.

    Returns:
        The report of the load.

    Raises:
        InputError: ``turns`` is below 1.
    """
    if turns < 1:
        raise InputError("a dialogue has at least one turn: 'turns' must be 1 or more")
    loader = get_loader(corpus)
    given = [Path(path) if isinstance(path, str | PathLike) else path for path in paths]
    report = LoadReport(loader.name, notices=options.notices, on_rejected=on_rejected)
    # A file of graphs named book.amr becomes the corpus "book".
    stem = given[0].stem if given and isinstance(given[0], Path) else corpus
    grouping = Grouping(options.corpus or stem, options.split or "all", turns)
    records = loader.read(given, options)
    return write_records(target, records if shard is None else _held(records, shard), report, grouping)


def _held(records: Iterable[Record], shard: Shard) -> Iterator[Record]:
    """Yield the records without the dialogues of other shards and their graphs."""
    for record in records:
        of = record.id if isinstance(record, Dialogue) else None
        if isinstance(record, GraphText):
            of, address, _ = (record.id or "").rpartition("#")
            if not address:
                raise InputError(
                    f"{record.place}: its ::id, {record.id!r}, is no utterance's (everyday/test/1#3), so no "
                    "shard is known to have it: load it without a shard"
                )
        if of is None or shard.holds(of):
            yield record


class _Writer:
    """Collect records in batches, and write the batches in another thread."""

    def __init__(self, store: Target, report: LoadReport, grouping: Grouping) -> None:
        """Initialize an empty batch with the store's lexicon."""
        self._store = store
        self._grouping = grouping
        self._report = report
        self._texts: list[GraphText] = []
        self._has_unwritten = False
        self._entries: list[LexiconEntry] = []
        self._batch = Batch(stored_lexicon(store))
        # One thread: batches depend on the ones before.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="graphneg-load")
        self._pending: Future[bool] | None = None
        self._refused_by_server = 0

    def add(self, record: Record) -> None:
        """Add a record to the current batch, or reject it.

        Args:
            record: Any record, also a `Rejected`, which is counted.
        """
        if isinstance(record, Dialogue):
            self._has_unwritten = True
            self._add_dialogue(record)
        elif isinstance(record, GraphText):
            if record.id is not None and (reason := too_long("the ::id", record.id)):
                self._report.reject(record.place, reason)
                return
            self._texts.append(record)
            if len(self._texts) == GRAPH_CHUNK:
                self._place_texts()
        elif isinstance(record, Rejected):
            self._report.reject(record.place, record.reason)
        elif isinstance(record, Opposite):
            if self._fits(record.start, record.start, record.relation, record.end):
                self._room(1, 200)
                self._batch.opposites.append(record)
        elif isinstance(record, Sentence):
            row = sentence_row(record)
            # The same sentence may come twice in one batch.
            new = record.id not in self._batch.sentences
            if new and self._fits(record.id, record.id, record.source, *row["terms"]):
                self._room(1 + len(row["terms"]), 400 + 2 * len(record.text))
                self._batch.sentences[record.id] = row
        elif isinstance(record, LexiconEntry):
            if not self._fits(f"{record.table} {record.cells[0]}", *" ".join(record.cells).split()):
                return
            self._room(len(record.cells[-1].split()), 100 + 2 * len(record.cells[-1]))
            self._batch.entries.append(record)
            self._entries.append(record)
        elif self._fits(record.id, record.id, record.lemma):
            self._room(1, 200 + sum(map(len, record.descriptions)))
            self._batch.frames.append(record)

    def finish(self) -> None:
        """Write everything that was added."""
        self._place_texts()
        for dialogue in self._grouping.rest():
            self._add_dialogue(dialogue)
        self._flush()
        # The entries must be in the store before what depends on them is computed.
        if self._entries:
            self._settle()
            refresh(self._store, self._entries)

    def _place_texts(self) -> None:
        """Assign the collected graphs to utterances of the store."""
        texts, self._texts = self._texts, []
        # The utterances may be in dialogues that were not written yet.
        if texts and self._has_unwritten:
            self._flush()
            self._settle()
            self._has_unwritten = False
        for item in placed(texts, self._store, self._grouping) if texts else ():
            if isinstance(item, Dialogue):
                self._add_dialogue(item)
                continue
            utterance, text = item
            read = self._read(text.penman, utterance, text.place, _line_of(text.place), text.text or "")
            if read is not None:
                self._room(read.weight, _NODE_BYTES * read.weight + len(text.penman))
                self._batch.add((), [read])

    def _flush(self) -> None:
        """Pass the batch to the writing thread, after the batch before was written."""
        batch, self._batch = self._batch, Batch(self._batch.lexicon)
        self._settle()
        # At most one batch is waiting, so memory use is bounded.
        if batch.rows:
            self._pending = self._pool.submit(self._write, batch)

    def close(self) -> None:
        """Wait for the batch that is being written."""
        try:
            self._settle()
        finally:
            self._pool.shutdown()

    def _settle(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def _add_dialogue(self, dialogue: Dialogue) -> None:
        names = (dialogue.id, dialogue.corpus, dialogue.split, *(one.speaker for one in dialogue.utterances))
        if not self._fits(dialogue.place or dialogue.id, *names):
            return
        graphs: list[ReadGraph] = []
        for utterance in dialogue.utterances:
            if utterance.amr is not None:
                at = utterance_id(dialogue.id, utterance.turn)
                # Graphs of a PENMAN file have places of their own. Others are part of the dialogue's
                # entry.
                own = self._grouping.places.pop(at, "")
                place = own or dialogue.place or at
                read = self._read(utterance.amr, at, place, _line_of(own), utterance.text)
                graphs += [read] if read is not None else []
        weight = sum(read.weight for read in graphs)
        # UTF-8 takes up to 3 bytes for most characters.
        size = sum(len(said.text) * 3 + 200 for said in (*dialogue.utterances, *dialogue.responses))
        size += _NODE_BYTES * weight
        if size > MAX_DIALOGUE_BYTES:
            reason = f"of {size / 1e6:.0f} MB is over the limit of {MAX_DIALOGUE_BYTES / 1e6:.0f} MB"
            self._report.reject(dialogue.id, f"a dialogue {reason}")
            return
        self._room(1 + len(dialogue.utterances) + len(dialogue.responses) + weight, size)
        self._batch.add([dialogue], graphs)

    def _read(self, penman: str, utterance: str, place: str, line: int, text: str) -> ReadGraph | None:
        """Return the graph of a PENMAN text, or reject it if it is malformed or too long."""
        reason = graph = None
        if len(penman) > LONGEST_GRAPH:
            reason = f"{len(penman):,} characters, and at most {LONGEST_GRAPH:,} are stored"
        else:
            try:
                graph = parse_graph(penman, amr_id(utterance, GOLD), line)
                reason = oversized(graph)
            except PenmanError as error:
                reason = str(error)
        if graph is not None and reason is None:
            return ReadGraph(utterance, graph, digest(penman.strip()), text, place)
        id = metadata([line for line in penman.splitlines() if line.startswith("#")]).get("id", utterance)
        which = "" if id == place else f" {id[:80]}"
        kind = "malformed AMR graph" if graph is None and len(penman) <= LONGEST_GRAPH else "AMR graph"
        self._report.reject(place, f"{kind}{which}: {reason}")
        return None

    def _fits(self, place: str, *keys: str) -> bool:
        """Return whether all keys are short enough for the indexes; otherwise reject the item."""
        reason = next(filter(None, (too_long("the id or term", key) for key in keys)), None)
        if reason is not None:
            self._report.reject(place[:80], reason)
        return reason is None

    def _room(self, rows: int, size: int) -> None:
        while not self._batch.takes(rows, size):
            self._flush()

    def _write(self, batch: Batch) -> bool:
        """Write a batch.

        If the server fails at the content of a batch, the batch is split in halves until the record at
        fault is found. That record is rejected, and the others are written.

        Args:
            batch: The batch.

        Returns:
            True if the server took all of it.

        Raises:
            StoreError: The server cannot be reached, or fails at too many items.
        """

        def work(tx: ManagedTransaction) -> Outcome:
            outcome = write_batch(tx, batch)
            # Loading a file again sets some properties to the values that they have. The server counts
            # that as a change, although nothing is new.
            if outcome.written.total():
                self._store.raise_version(tx)
            return outcome

        try:
            outcome = self._store.write_derived(work)
        except StoreError as error:
            if not is_of_content(error) or self._refused_by_server == MOST_REFUSED:
                raise
            parts = batch.split()
            if not parts:
                self._refused_by_server += 1
                self._report.reject(batch.place, f"the server does not store it: {first_line(error)}")
                return False
            taken = self._write(parts[0])
            # A dialogue that was rejected has no utterances for its graphs, so these are not written.
            return (taken or len(batch.dialogues) != 1) and self._write(parts[1]) and taken
        self._report.written += outcome.written
        self._report.present += outcome.present
        for place, reason in outcome.rejected:
            self._report.reject(place, reason)
        return True


def _line_of(place: str) -> int:
    """Return the line number of a place such as ``graphs.amr:12``, or 1 if it has none."""
    line = place.rpartition(":")[2]
    return int(line) if line.isdecimal() else 1
