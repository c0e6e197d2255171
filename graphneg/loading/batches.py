"""One batch of a load: its records, their rows, and the transaction that writes what is new of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from neo4j import ManagedTransaction

from graphneg.errors import StoreError
from graphneg.loading.rows import GOLD, DialogueRows, GraphRows, Row, dialogue_digest, frame_row, opposite_row
from graphneg.loading.sentences import mention_rows
from graphneg.model import AmrGraph, Dialogue, Frame, Opposite
from graphneg.store.running import Sent, run, run_counted, send


class ReadGraph(NamedTuple):
    """A graph, the utterance that it belongs to, and the digest of its text."""

    utterance: str
    graph: AmrGraph
    digest: str

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

    dialogues: list[Dialogue] = field(default_factory=list[Dialogue])
    graphs: list[ReadGraph] = field(default_factory=list[ReadGraph])
    opposites: list[Opposite] = field(default_factory=list[Opposite])
    frames: list[Frame] = field(default_factory=list[Frame])
    sentences: dict[str, Row] = field(default_factory=dict[str, Row])
    dialogue_rows: DialogueRows = field(default_factory=DialogueRows)
    graph_rows: GraphRows = field(default_factory=GraphRows)
    rows: int = 0
    bytes: int = 0

    def add_dialogue(self, dialogue: Dialogue) -> None:
        self.dialogues.append(dialogue)
        self.dialogue_rows.add(dialogue)

    def add_graph(self, graph: ReadGraph) -> None:
        self.graphs.append(graph)
        self.graph_rows.add(graph.graph, graph.utterance, GOLD, graph.digest)

    def takes(self, rows: int, size: int, most_rows: int, most_bytes: int) -> bool:
        """Whether there is room for more; an empty batch takes anything."""
        return not self.rows or (self.rows + rows <= most_rows and self.bytes + size <= most_bytes)

    def grow(self, rows: int, size: int) -> None:
        self.rows += rows
        self.bytes += size


class Outcome:
    """What one attempt at a batch did; booked only when its transaction is committed."""

    def __init__(self) -> None:
        self.written: Counter[str] = Counter()
        self.present: Counter[str] = Counter()
        self.rejected: list[tuple[str, str]] = []

    def count(self, kind: str, new: int, given: int) -> None:
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
        sent += _send_graphs(tx, batch.graph_rows if whole else _rows_of_graphs(graphs), outcome)
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


def _rows_of_graphs(graphs: Iterable[ReadGraph]) -> GraphRows:
    rows = GraphRows()
    for one in graphs:
        rows.add(one.graph, one.utterance, GOLD, one.digest)
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
        send(tx, "load/terms", terms=[row["text"] for row in lexemes]),
        send(tx, "load/graphs", nodes=rows.nodes, lexemes=lexemes, roles=rows.roles),
        send(tx, "load/meanings", amrs=rows.amrs),
    ]


def _write_sentences(tx: ManagedTransaction, rows: Mapping[str, Row], outcome: Outcome) -> None:
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


def _edge_key(row: Row) -> tuple[str, str, str]:
    return row["start"], row["end"], row["relation"]
