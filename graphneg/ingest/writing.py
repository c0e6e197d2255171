"""Write the records of a loader to a store, in batches of one transaction each.

A batch contains complete dialogues (or graphs, pairs of opposites, frames and so on). It is written
completely or not at all. Records that are already in the store are looked up in the same transaction and
left out. If a load is interrupted, it can therefore be completed by running it again.

`load_files` runs a loader and writes the records that it reads. For example, ``load_files(store, "everyday",
[], 8, LoadOptions())`` loads the bundled corpus. It returns a `LoadReport` with the numbers of records that
are new, already in the store, and rejected.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any

from neo4j import ManagedTransaction

from graphneg.amr.penman import metadata, parse_graph
from graphneg.english.lexicon import Lexicon
from graphneg.errors import InputError, PenmanError, StoreError, first_line
from graphneg.ingest.batches import Batch, ReadGraph
from graphneg.ingest.discourse import dialogue_of, write_discourse
from graphneg.ingest.lexicon import (
    Target,
    entry_rows,
    finish,
    judge_antonyms,
    refresh,
    stored_lexicon,
    write_terms,
)
from graphneg.ingest.loader import (
    Loader,
    LoadOptions,
    LoadReport,
    get_loader,
    read_records,
    require_loader,
)
from graphneg.ingest.rows import (
    GOLD,
    DialogueRows,
    GraphRows,
    Row,
    amr_id,
    frame_row,
    graph_digest,
    is_response,
    mention_rows,
    opposite_row,
    response_id,
    sentence_row,
    utterance_id,
)
from graphneg.ingest.validation import LONGEST_GRAPH, GraphDialogues, assign_graphs, graph_fault, length_fault
from graphneg.model import (
    Dialogue,
    GraphText,
    LexiconEntry,
    Opposite,
    ParserGraph,
    Record,
    Rejected,
    Response,
    Sentence,
    Utterance,
)
from graphneg.shards import Shard
from graphneg.store.connection import WriteConflict, is_of_content
from graphneg.store.statements import RunningStatement, run, run_counted, send
from graphneg.workers import collect_garbage_rarely, shorten_switch_interval

MAX_DIALOGUE_BYTES = 12_000_000
"""Maximum estimated size of a dialogue in bytes. It must fit into one message to the embedded server (16
MB)."""
GRAPH_CHUNK = 400
"""Number of graphs that are assigned to utterances at a time."""
MOST_REFUSED = 20
"""Maximum number of items that the server may fail on. If it fails on more, the items are probably not the
cause, and the load ends with an error.
"""
_NODE_BYTES = 300
"""Estimated size in bytes of the row for a node or role."""
_OTHER_CONTENT = {
    "dialogues": (
        "the store has a dialogue with this id but other content; load the new one under another --name"
    ),
    "graphs": "the store has another AMR graph of this utterance, which is kept",
    "sentences": "the store has a sentence with this id but another text",
}


@dataclass(slots=True)
class Outcome:
    """The result of one attempt to write a batch. The result is used only if the transaction is committed.

    Attributes:
        written: Numbers of new records, keyed by kind, such as ``dialogues``.
        present: Numbers of records that were already in the store, keyed by kind.
        rejected: The name of each rejected record, with the reason for the rejection.
    """

    written: Counter[str] = field(default_factory=Counter[str])
    present: Counter[str] = field(default_factory=Counter[str])
    rejected: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def count(self, kind: str, new: int, existing: int) -> None:
        """Count new and already stored records of one kind.

        Args:
            kind: The kind, such as ``opposites``.
            new: The number of records that have been written, because they were not in the store.
            existing: The number of records of this kind in the batch, both new and already stored ones.
        """
        self.written[kind] += new
        self.present[kind] += existing - new

    def is_new(self, kind: str, stored: Mapping[str, str], id: str, content: str, name: str) -> bool:
        """Return whether a record is new. If its id is already stored, count the record.

        It is counted as present if the stored record has the same content, and as rejected otherwise.

        Args:
            kind: The kind, such as ``dialogues``.
            stored: The content, or its digest, of each stored record, keyed by id.
            id: The id of the record.
            content: The content of the record, or its digest.
            name: The name of the record in the report, if it is rejected.

        Returns:
            True if no stored record has the id.
        """
        if id not in stored:
            return True
        # If the content is the same, the record was loaded before. If it differs, the record is rejected,
        # because stored content is never overwritten.
        if stored[id] == content:
            self.present[kind] += 1
        else:
            self.rejected.append((name, _OTHER_CONTENT[kind]))
        return False


def write_batch(tx: ManagedTransaction, batch: Batch) -> Outcome:
    """Write the records of a batch that are not yet in the store.

    A record is rejected if the store has a record with the same id and other content. Raises `WriteConflict`
    if the utterance of a graph is not found: it was deleted in the meantime, or another transaction is
    writing it at the same time. On the embedded server, two such transactions may not see each other's
    changes.

    Args:
        tx: The open transaction.
        batch: The records to write.

    Returns:
        The numbers of records that were written or already present, and the rejected records.
    """
    outcome, lexicon = Outcome(), batch.lexicon
    if batch.dialogues or batch.graphs:
        _write_conversation(tx, batch, outcome)
    if batch.opposites:
        terms = sorted({text for edge in batch.opposites for text in (edge.start, edge.end)})
        finish(write_terms(tx, terms, lexicon))
        rows = [opposite_row(edge, lexicon) for edge in batch.opposites]
        # Sort the rows, so that concurrent transactions lock them in the same order.
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
    stored = _stored(tx, "load/stored", "digest", [dialogue.id for dialogue in batch.dialogues])
    given = zip(batch.dialogues, batch.dialogue_rows.dialogues, strict=True)
    dialogues = [
        dialogue
        for dialogue, row in given
        if outcome.is_new("dialogues", stored, dialogue.id, row["digest"], dialogue.id)
    ]
    # The graphs of a new dialogue are new as well, so look up only the graphs of stored dialogues.
    refused, unseen = {id for id, _ in outcome.rejected}, {dialogue.id for dialogue in dialogues}
    of = [dialogue_of(read.of) for read in batch.graphs]
    perhaps = [read.graph.id for read, id in zip(batch.graphs, of, strict=True) if id not in unseen]
    stored = _stored(tx, "load/stored_graphs", "digest", perhaps)
    graphs = [
        read
        for read, id in zip(batch.graphs, of, strict=True)
        if id not in refused and outcome.is_new("graphs", stored, read.graph.id, read.digest, read.of)
    ]
    # The rows of a batch refer to each other by index. If some records are left out, the indices are wrong,
    # so compute the rows again.
    if (len(dialogues), len(graphs)) != (len(batch.dialogues), len(batch.graphs)):
        batch = Batch(batch.lexicon)
        batch.add(dialogues, graphs)
    sent = _send_dialogues(tx, batch.dialogue_rows, outcome) if dialogues else []
    if graphs:
        sent += _send_graphs(tx, batch.graph_rows, outcome)
        tied = sum(statement.records()[0]["amrs"] for statement in _send_meanings(tx, batch.graph_rows))
        if tied != len(graphs):
            lost = len(graphs) - tied
            raise WriteConflict(
                f"{lost} texts were removed while their graphs were written; run the command again"
            )
    sent += batch.discourse.send(tx)
    # Send all statements before waiting for the first result, because this is faster.
    finish(sent)
    # For new dialogues, `Batch.add` has computed repetitions, clauses and entities. A dialogue that was
    # already stored may have graphs in the store and in this batch, so compute its repetitions, clauses and
    # entities from both.
    elsewhere = {dialogue_of(read.of) for read in graphs} - unseen
    if elsewhere:
        write_discourse(tx, elsewhere, batch.graph_rows.analyses, batch.lexicon)


def _stored(tx: ManagedTransaction, lookup: str, content: str, ids: list[str]) -> dict[str, str]:
    """Look up records in the store by their ids, and return the contents (or digests) of those found.

    Args:
        tx: The open transaction.
        lookup: Name of the query that looks up records.
        content: Name of the column with the content or its digest.
        ids: The ids to look up.

    Returns:
        The contents or digests, keyed by id.
    """
    return {row["id"]: row[content] for row in run(tx, lookup, ids=ids)} if ids else {}


def _send_dialogues(tx: ManagedTransaction, rows: DialogueRows, outcome: Outcome) -> list[RunningStatement]:
    sent = [send(tx, "load/dialogues", dialogues=rows.dialogues, utterances=rows.utterances, next=rows.next)]
    if rows.responses:
        sent.append(send(tx, "load/responses", responses=rows.responses))
        outcome.written["responses"] += len(rows.responses)
    outcome.written["dialogues"] += len(rows.dialogues)
    outcome.written["utterances"] += len(rows.utterances)
    return sent


def _send_graphs(tx: ManagedTransaction, rows: GraphRows, outcome: Outcome) -> list[RunningStatement]:
    """Send the statements that write graphs. They do not connect the graphs to utterances or responses."""
    outcome.written["graphs"] += len(rows.amrs)
    outcome.written["nodes"] += len(rows.nodes)
    return [
        *write_terms(tx, rows.lexemes, rows.lexicon),
        send(tx, "load/graphs", nodes=rows.nodes, lexemes=rows.lexeme_rows(), roles=rows.roles),
    ]


def _send_meanings(tx: ManagedTransaction, rows: GraphRows) -> list[RunningStatement]:
    """Send the statements that link graphs to utterances and responses. Do not wait for their results."""
    of_responses = [row for row in rows.amrs if is_response(row["of"])]
    of_utterances = [row for row in rows.amrs if not is_response(row["of"])]
    both = (("load/meanings", of_utterances), ("load/response_meanings", of_responses))
    return [send(tx, name, amrs=amrs) for name, amrs in both if amrs]


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
    store: Target, records: Iterable[Record], report: LoadReport, grouping: GraphDialogues
) -> LoadReport:
    """Write records to a store and count them.

    While a batch is being written, the next one is read. After an interrupt, the current batch is completed
    first. Raises `StoreError` if the store no longer exists.

    Args:
        store: The store, or the folder of a bulk load.
        records: The records from a loader.
        report: The report, in which the records are counted.
        grouping: Builder of new dialogues, for graphs that belong to no utterance in the store.

    Returns:
        The object that was passed as ``report``.
    """
    began = time.monotonic()
    writer = _Writer(store, report, grouping)
    try:
        with collect_garbage_rarely(), shorten_switch_interval():
            for record in records:
                writer.add(record)
            writer.finish()
    finally:
        writer.close()
        report.seconds = time.monotonic() - began
    return report


def load_files(
    target: Target,
    corpus: str | Loader,
    paths: Sequence[Any],
    turns: int,
    options: LoadOptions,
    on_rejected: Callable[[Rejected], None] | None = None,
    shard: Shard | None = None,
) -> LoadReport:
    """Load files into a store.

    Raises `InputError` if the loader is unknown, if a file has a different format, or if a shard is given and
    a graph does not name its dialogue. Raises `StoreError` if the store no longer exists.

    Args:
        target: The store, or the folder of a bulk load.
        corpus: A loader or its name.
        paths: The files, or Python objects that contain dialogues.
        turns: The number of turns per dialogue, at least 1, if dialogues are made from graphs that name no
            utterances. These dialogues belong to the corpus in ``options``, or else to a corpus that is named
            after the first file.
        options: Options for loading, such as the corpus and split.
        on_rejected: Function that is called with each rejection.
        shard: The shard whose dialogues are loaded, with their graphs; None to load all.

    Returns:
        The report with the counts of records and the rejected items.

    Raises:
        InputError: ``turns`` is below 1.
    """
    if turns < 1:
        raise InputError(f"turns must be at least 1, not {turns}")
    loader = get_loader(corpus) if isinstance(corpus, str) else require_loader(corpus)
    given = [Path(path) if isinstance(path, str | PathLike) else path for path in paths]
    report = LoadReport(loader.name, notices=options.notices, on_rejected=on_rejected)
    # By default, the graphs of a file book.amr become dialogues of the corpus "book".
    stem = given[0].stem if given and isinstance(given[0], Path) else loader.name
    grouping = GraphDialogues(options.corpus or stem, options.split or "all", turns)
    records = read_records(loader, given, options)
    return write_records(target, records if shard is None else _held(records, shard), report, grouping)


def _held(records: Iterable[Record], shard: Shard) -> Iterator[Record]:
    """Yield the records of dialogues in a shard, and the records that belong to no dialogue."""
    for record in records:
        of = record.id if isinstance(record, Dialogue) else None
        if isinstance(record, GraphText):
            of, address, _ = (record.id or "").rpartition("#")
            if not address:
                raise InputError(
                    f"{record.place}: its ::id, {record.id!r}, is not the id of an utterance (such as "
                    "everyday/test/1#3), so its shard is not known: load the file without a shard"
                )
        if of is None or shard.contains(of):
            yield record


class _Writer:
    """Collects records in batches, and writes the batches in another thread."""

    def __init__(self, store: Target, report: LoadReport, grouping: GraphDialogues) -> None:
        self._store = store
        self._grouping = grouping
        self._report = report
        self._texts: list[GraphText] = []
        self._has_unwritten = False
        self._entries: list[LexiconEntry] = []
        self._batch = Batch(stored_lexicon(store))
        # Use a single thread, so that batches are written in order: the graphs in a batch may belong to
        # dialogues in an earlier batch.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="graphneg-load")
        self._pending: Future[bool] | None = None
        self._refused_by_server = 0

    def add(self, record: Record) -> None:
        """Add a record to the current batch, or reject it.

        Args:
            record: The record. If it is a `Rejected`, it is only counted.
        """
        if self._entries and not isinstance(record, LexiconEntry | Rejected):
            self._apply_entries()
        if isinstance(record, Dialogue):
            self._has_unwritten = True
            self._add_dialogue(record)
        elif isinstance(record, GraphText):
            if record.id is not None and (reason := length_fault("the ::id", record.id)):
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
            # Skip a sentence that is already in the batch.
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
        """Send the remaining records to the writing thread. `close` waits until they are written."""
        self._place_texts()
        for dialogue in self._grouping.remaining_dialogue():
            self._add_dialogue(dialogue)
        self._flush()
        if self._entries:
            self._apply_entries()

    def _apply_entries(self) -> None:
        """Write the collected lexicon entries, and recompute the data that depend on them.

        The entries are written before other records are added, because the node properties of graphs depend
        on them. Otherwise the properties of later graphs would be computed twice.
        """
        self._flush()
        self._settle()
        refresh(self._store, self._entries)
        self._entries = []
        self._batch = Batch(stored_lexicon(self._store))

    def _place_texts(self) -> None:
        """Assign the collected graphs to utterances in the store."""
        texts, self._texts = self._texts, []
        # The utterances that belong to the graphs may be in dialogues that have not been written yet. Write
        # these dialogues first.
        if texts and self._has_unwritten:
            self._flush()
            self._settle()
            self._has_unwritten = False
        for item in assign_graphs(texts, self._store, self._grouping) if texts else ():
            if isinstance(item, Dialogue):
                self._add_dialogue(item)
                continue
            utterance, text = item
            read = self._read(text.penman, utterance, text.place, _line_of(text.place), text.text or "")
            if read is not None:
                self._add_graph(read)

    def _flush(self) -> None:
        """Wait until the previous batch is written, and pass the current batch to the writing thread."""
        batch, self._batch = self._batch, Batch(self._batch.lexicon)
        self._settle()
        # While one batch is written, only one other batch is filled, so memory use is bounded.
        if batch.rows:
            self._pending = self._pool.submit(self._write, batch)

    def close(self) -> None:
        """Wait until the batch in flight is written, and stop the writing thread."""
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
        parses: list[ReadGraph] = []
        for at, said in _texts(dialogue):
            # Error messages name the file and line of a graph. A graph from a PENMAN file has its own line.
            # Any other graph is part of the dialogue's entry, so name the line of the dialogue.
            own = self._grouping.places.pop(at, "")
            place = own or dialogue.place or at
            if said.amr is not None:
                read = self._read(said.amr, at, place, _line_of(own), said.text)
                graphs += [read] if read is not None else []
            found = (self._read(parse.penman, at, place, 1, said.text, parse) for parse in said.parses)
            parses += [read for read in found if read is not None]
        # Estimate 3 bytes per character, because most characters take at most 3 bytes in UTF-8.
        texts = sum(len(said.text) * 3 + 200 for said in (*dialogue.utterances, *dialogue.responses))
        size = texts + _NODE_BYTES * sum(read.row_count for read in (*graphs, *parses))
        # Together, the graphs of a parser may be too large for one transaction. In this case, write them in
        # several transactions, as `graphneg parse` does.
        later: list[ReadGraph] = []
        if size <= MAX_DIALOGUE_BYTES:
            graphs += parses
        else:
            later, size = parses, texts + _NODE_BYTES * sum(read.row_count for read in graphs)
        weight = sum(read.row_count for read in graphs)
        if size > MAX_DIALOGUE_BYTES:
            reason = f"of {size / 1e6:.0f} MB is over the limit of {MAX_DIALOGUE_BYTES / 1e6:.0f} MB"
            self._report.reject(dialogue.id, f"a dialogue {reason}")
            return
        self._room(1 + len(dialogue.utterances) + len(dialogue.responses) + weight, size)
        self._batch.add([dialogue], graphs)
        if later:
            # Write the dialogue before its remaining graphs (`later`). When these graphs are written, they
            # are compared with the turns that are in the store.
            self._flush()
        for read in later:
            self._add_graph(read)

    def _add_graph(self, read: ReadGraph) -> None:
        """Add a graph to the batch. Its dialogue is already in the store or in an earlier batch."""
        self._room(read.row_count, _NODE_BYTES * read.row_count)
        self._batch.add((), [read])

    def _read(
        self, penman: str, of: str, place: str, line: int, text: str, parse: ParserGraph | None = None
    ) -> ReadGraph | None:
        """Read a graph in PENMAN notation. If it is malformed or too long, reject it and return None."""
        reason = graph = None
        if len(penman) > LONGEST_GRAPH:
            reason = f"{len(penman):,} characters; the maximum is {LONGEST_GRAPH:,}"
        else:
            try:
                graph = parse_graph(penman, amr_id(of, GOLD if parse is None else parse.parser), line)
                reason = graph_fault(graph)
            except PenmanError as error:
                reason = str(error)
        if graph is not None and reason is None:
            read = ReadGraph(of, graph, graph_digest(penman), text, place)
            if parse is None:
                return read
            graph = replace(graph, spans=parse.spans)
            return read._replace(graph=graph, source=parse.source, warnings=parse.warnings)
        id = metadata([line for line in penman.splitlines() if line.startswith("#")]).get("id", of)
        which = "" if id == place else f" {id[:80]}"
        kind = "malformed AMR graph" if graph is None and len(penman) <= LONGEST_GRAPH else "AMR graph"
        self._report.reject(place, f"{kind}{which}: {reason}")
        return None

    def _fits(self, place: str, *keys: str) -> bool:
        """Return whether all keys are short enough for the database indexes. If not, reject the item."""
        reason = next(filter(None, (length_fault("the id or term", key) for key in keys)), None)
        if reason is not None:
            self._report.reject(place[:80], reason)
        return reason is None

    def _room(self, rows: int, size: int) -> None:
        while not self._batch.reserve_if_fits(rows, size):
            self._flush()

    def _write(self, batch: Batch) -> bool:
        """Write a batch.

        If the server fails on the content of a batch, the batch is halved repeatedly until the failing record
        is found. That record is rejected, and the others are written.

        Args:
            batch: The batch to write.

        Returns:
            Whether the server accepted the whole batch.

        Raises:
            StoreError: The server cannot be reached, or it fails on too many items.
        """

        def work(tx: ManagedTransaction) -> Outcome:
            outcome = write_batch(tx, batch)
            # If a file is loaded again, some properties are set to the values that they already have, which
            # the server counts as a change. The content is the same, however, so change the content version
            # only if there are new records.
            if outcome.written.total():
                self._store.change_version(tx)
            return outcome

        try:
            outcome = self._store.write_derived(work)
        except StoreError as error:
            if not is_of_content(error) or self._refused_by_server == MOST_REFUSED:
                raise
            parts = batch.split()
            if not parts:
                self._refused_by_server += 1
                self._report.reject(batch.place, f"rejected by the server: {first_line(error)}")
                return False
            taken = self._write(parts[0])
            # If the dialogue itself was rejected, its graphs have no utterances, so do not write them.
            return (taken or len(batch.dialogues) != 1) and self._write(parts[1]) and taken
        self._report.written += outcome.written
        self._report.present += outcome.present
        for place, reason in outcome.rejected:
            self._report.reject(place, reason)
        return True


def _texts(dialogue: Dialogue) -> Iterator[tuple[str, Utterance | Response]]:
    """Yield the utterances and responses of a dialogue with their ids."""
    for utterance in dialogue.utterances:
        yield utterance_id(dialogue.id, utterance.turn), utterance
    for number, response in enumerate(dialogue.responses):
        yield response_id(dialogue.id, response.turn, number), response


def _line_of(place: str) -> int:
    """Return the line number at the end of a position such as ``graphs.amr:12``; 1 if there is none."""
    line = place.rpartition(":")[2]
    return int(line) if line.isdecimal() else 1
