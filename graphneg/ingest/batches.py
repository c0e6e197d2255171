"""Collect the records of one transaction, and split them if the server fails on them.

A batch grows to a number of rows and bytes that both servers accept. The rows for the database are computed
when a record is added, while another thread writes the previous batch. If the server fails on a batch, the
batch is halved repeatedly until the failing record is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

from graphneg.english.lexicon import Lexicon
from graphneg.ingest.discourse import DiscourseRows, GraphOfResponse, dialogue_of, layer_of
from graphneg.ingest.rows import GOLD, DialogueRows, GraphRows, Row, response_id, utterance_id
from graphneg.model import AmrGraph, Dialogue, Frame, LexiconEntry, Opposite
from graphneg.store.dialogues import StoredTurn

T = TypeVar("T")

MAX_ROWS = 5_000
"""Maximum number of rows in a batch."""
MAX_BYTES = 4_000_000
"""Maximum estimated size of a batch in bytes."""


class ReadGraph(NamedTuple):
    """A graph that was read from a corpus for an utterance or a response.

    Attributes:
        of: The id of the utterance or response.
        graph: The parsed graph.
        digest: The digest of the graph's PENMAN text.
        text: The text of the utterance or response.
        place: The position of the graph in its file, such as ``FILE:LINE``.
        source: The origin of the graph: `GOLD`, or the name and version of a parser.
        warnings: Warnings of the parser about the text.
    """

    of: str
    graph: AmrGraph
    digest: str
    text: str = ""
    place: str = ""
    source: str = GOLD
    warnings: tuple[str, ...] = ()

    @property
    def row_count(self) -> int:
        """The number of database rows for the graph."""
        # Each node needs one row for itself and one for the edge to its parent. Each reentrancy needs one
        # row.
        return 2 + 2 * len(self.graph.nodes) + len(self.graph.mentions)


@dataclass(slots=True)
class Batch:
    """The records of one transaction.

    The rows for the database are computed as soon as a dialogue or graph is added, while another thread
    writes the previous batch. They are computed even for records that are already in the store, because most
    records of a load are new.

    Attributes:
        lexicon: The lexicon, which is used to compute facts about graphs.
        dialogues: The dialogues to write.
        graphs: The AMR graphs of utterances and responses to write.
        opposites: The pairs of opposites to write.
        frames: The PropBank frames to write.
        sentences: The rows of sentences, keyed by sentence id.
        entries: The lexicon entries to write.
        dialogue_rows: The database rows for the dialogues.
        graph_rows: The database rows for the graphs.
        discourse: The database rows for the clauses and entities of the dialogues.
        rows: The number of rows in the batch.
        bytes: The estimated size of the batch in bytes.
    """

    lexicon: Lexicon
    dialogues: list[Dialogue] = field(default_factory=list[Dialogue])
    graphs: list[ReadGraph] = field(default_factory=list[ReadGraph])
    opposites: list[Opposite] = field(default_factory=list[Opposite])
    frames: list[Frame] = field(default_factory=list[Frame])
    sentences: dict[str, Row] = field(default_factory=dict[str, Row])
    entries: list[LexiconEntry] = field(default_factory=list[LexiconEntry])
    dialogue_rows: DialogueRows = field(default_factory=DialogueRows)
    graph_rows: GraphRows = field(init=False)
    discourse: DiscourseRows = field(default_factory=DiscourseRows)
    rows: int = 0
    bytes: int = 0

    def __post_init__(self) -> None:
        """Initialize ``graph_rows``, which computes the rows for graphs with the lexicon."""
        self.graph_rows = GraphRows(self.lexicon)

    def add(self, dialogues: Sequence[Dialogue], graphs: Sequence[ReadGraph]) -> None:
        """Add dialogues and graphs, and compute their rows.

        Args:
            dialogues: The dialogues to add.
            graphs: Graphs that belong to these dialogues, or to dialogues in the store.
        """
        for dialogue in dialogues:
            self.dialogues.append(dialogue)
            self.dialogue_rows.add(dialogue)
        for read in graphs:
            self.graphs.append(read)
            self.graph_rows.add(read.graph, read.of, read.source, read.digest, read.text, read.warnings)
        for dialogue in dialogues:
            # All graphs have been added above. Now compare the turns of each dialogue with its earlier turns,
            # to find repetitions.
            turns, responses = _with_graphs(dialogue, graphs)
            self.graph_rows.mark_repetitions(
                [(turn.speaker, turn.graph_id) for turn in turns if turn.graph_id is not None]
            )
            # Clauses and entities are computed from graphs, so a dialogue without graphs has none.
            if responses or any(turn.graph_id is not None for turn in turns):
                analyses = self.graph_rows.analyses
                self.discourse.add(layer_of(dialogue.id, turns, responses, analyses, self.lexicon))

    def split(self) -> list[Batch]:
        """Split the batch into two halves.

        A dialogue and its graphs are put into the same half. Only if the batch contains a single dialogue,
        its graphs are put into the second half. Write the first half first, because graphs must be written
        after their dialogue.

        Returns:
            Two batches; an empty list if the batch cannot be split, because it contains a single item.
        """
        # The dialogue of a graph may have been stored earlier. The graph can then be put into either half.
        graphs_of: dict[str, list[ReadGraph]] = {dialogue.id: [] for dialogue in self.dialogues}
        rest = [one for one in self.graphs if dialogue_of(one.of) not in graphs_of]
        for one in self.graphs:
            graphs_of.get(dialogue_of(one.of), []).append(one)
        adds: list[Callable[[Batch], None]] = [
            *(partial(Batch.add, dialogues=[one], graphs=graphs_of[one.id]) for one in self.dialogues),
            *(partial(Batch.add, dialogues=(), graphs=[one]) for one in rest),
            *(_appending(lambda batch: batch.opposites, one) for one in self.opposites),
            *(_appending(lambda batch: batch.frames, one) for one in self.frames),
            *(_adding_sentence(id, row) for id, row in self.sentences.items()),
            *(_appending(lambda batch: batch.entries, one) for one in self.entries),
        ]
        # If only a single dialogue is left, separate it from its graphs, to find out whether the server fails
        # on the dialogue or on the graphs.
        if len(adds) == 1 and self.dialogues and self.graphs:
            adds = [
                partial(Batch.add, dialogues=self.dialogues, graphs=()),
                partial(Batch.add, dialogues=(), graphs=self.graphs),
            ]
        if len(adds) < 2:
            return []
        parts = [Batch(self.lexicon), Batch(self.lexicon)]
        # Keep the order of the items, because graphs must be written after their dialogues.
        for at, add in enumerate(adds):
            add(parts[2 * at >= len(adds)])
        return parts

    @property
    def place(self) -> str:
        """The first item in the batch, for messages: its id, and its position in the file if it is known."""
        for one in self.dialogues:
            return f"{one.place}: {one.id}" if one.place else one.id
        for one in self.graphs:
            return f"{one.place}: {one.of}" if one.place else one.of
        named = [
            *(f"{one.start} {one.relation} {one.end}" for one in self.opposites),
            *(one.id for one in self.frames),
            *self.sentences,
            *(f"{one.table}: {' '.join(one.cells)}" for one in self.entries),
        ]
        return next(iter(named), "")[:80]

    def reserve_if_fits(self, rows: int, size: int) -> bool:
        """Reserve space for more rows if they fit into the batch. An empty batch takes any number of rows.

        Args:
            rows: The number of rows to reserve space for.
            size: The estimated size of the rows in bytes.

        Returns:
            True if the rows fit. Otherwise, nothing is reserved.
        """
        # A single item that exceeds the limits gets a batch of its own.
        if self.rows and (self.rows + rows > MAX_ROWS or self.bytes + size > MAX_BYTES):
            return False
        self.rows += rows
        self.bytes += size
        return True


def _appending(list_of: Callable[[Batch], list[T]], item: T) -> Callable[[Batch], None]:
    """Return a function that adds an item to one of the lists of a batch, such as ``batch.frames``."""

    def add(batch: Batch) -> None:
        list_of(batch).append(item)

    return add


def _adding_sentence(id: str, row: Row) -> Callable[[Batch], None]:
    """Return a function that adds the row of a sentence to a batch."""

    def add(batch: Batch) -> None:
        batch.sentences[id] = row

    return add


def _with_graphs(
    dialogue: Dialogue, graphs: Iterable[ReadGraph]
) -> tuple[list[StoredTurn], list[GraphOfResponse]]:
    """Return the turns of a dialogue, and its responses that have a graph, with the ids of their graphs."""
    # If a text has several graphs, the graph from the corpus is preferred to graphs from parsers, as in
    # `read_dialogues`.
    preferred = sorted(graphs, key=lambda read: (read.source != GOLD, read.source), reverse=True)
    of = {read.of: read.graph.id for read in preferred}
    turns = [
        StoredTurn(turn.turn, turn.speaker, turn.text, of.get(utterance_id(dialogue.id, turn.turn)))
        for turn in dialogue.utterances
    ]
    numbered = (
        (response_id(dialogue.id, response.turn, number), response.turn)
        for number, response in enumerate(dialogue.responses)
    )
    responses = [GraphOfResponse(id, turn, of[id]) for id, turn in numbered if id in of]
    # Sort the responses by turn, and the responses to one turn by the number in their id. Queries return them
    # in the same order.
    return turns, sorted(responses, key=lambda one: (one.turn, len(one.id), one.id))
