"""Collect the records of one transaction, and split them if the server fails at them.

A batch grows up to a number of rows and bytes that both servers accept. Its rows are made when records
are added, while another thread writes the batch before. If the server fails at a batch, the batch is
halved until the record at fault is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

from graphneg.english.lexicon import Lexicon
from graphneg.ingest.echoes import dialogue_of
from graphneg.ingest.rows import GOLD, DialogueRows, GraphRows, Row, utterance_id
from graphneg.model import AmrGraph, Dialogue, Frame, LexiconEntry, Opposite

T = TypeVar("T")

MAX_ROWS = 5_000
"""Maximum number of rows in a batch."""
MAX_BYTES = 4_000_000
"""Maximum size of a batch in bytes, as estimated."""


class ReadGraph(NamedTuple):
    """A graph that was read for an utterance.

    Attributes:
        utterance: The id of the utterance.
        graph: The graph.
        digest: The digest of its PENMAN text.
        text: The text of the utterance.
        place: Where the graph comes from, such as ``FILE:LINE``.
    """

    utterance: str
    graph: AmrGraph
    digest: str
    text: str = ""
    place: str = ""

    @property
    def weight(self) -> int:
        """The number of rows that the graph takes."""
        # Each node counts with the edge above it. Reentrancies are further edges.
        return 2 + 2 * len(self.graph.nodes) + len(self.graph.mentions)


@dataclass(slots=True)
class Batch:
    """The records of one transaction.

    The rows of dialogues and graphs are made as soon as these are added, while another thread writes
    the batch before. This pays because in most loads nothing is in the store yet, so the rows are
    needed.

    Attributes:
        lexicon: The lexicon from which the facts about graphs are computed.
        dialogues: The dialogues.
        graphs: The graphs.
        opposites: Pairs of opposites.
        frames: PropBank frames.
        sentences: The rows of sentences, by id.
        entries: Entries of the lexicon.
        dialogue_rows: The rows of the dialogues.
        graph_rows: The rows of the graphs.
        rows: The number of rows so far.
        bytes: The estimated number of bytes so far.
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
    rows: int = 0
    bytes: int = 0

    def __post_init__(self) -> None:
        """Create the rows of graphs with the lexicon of the batch."""
        self.graph_rows = GraphRows(self.lexicon)

    def add(self, dialogues: Sequence[Dialogue], graphs: Sequence[ReadGraph]) -> None:
        """Add dialogues and graphs with their rows.

        Args:
            dialogues: The dialogues.
            graphs: Graphs that come with the corpus, of these dialogues or of stored ones.
        """
        for dialogue in dialogues:
            self.dialogues.append(dialogue)
            self.dialogue_rows.add(dialogue)
        for read in graphs:
            self.graphs.append(read)
            self.graph_rows.add(read.graph, read.utterance, GOLD, read.digest, read.text)
        for dialogue in dialogues:
            # A dialogue and its graphs are added together, so its echoes can be found here.
            self.graph_rows.mark_echoes(_spoken(dialogue, graphs))

    def split(self) -> list[Batch]:
        """Split the batch in two halves.

        A dialogue stays with its graphs as long as there is anything else in the batch. The second half
        may need the first one, so they must be written in order.

        Returns:
            Two batches, or none if the batch holds a single item.
        """
        # Graphs of dialogues that the store has already are items of their own.
        graphs_of: dict[str, list[ReadGraph]] = {dialogue.id: [] for dialogue in self.dialogues}
        rest = [one for one in self.graphs if dialogue_of(one.utterance) not in graphs_of]
        for one in self.graphs:
            graphs_of.get(dialogue_of(one.utterance), []).append(one)
        adds: list[Callable[[Batch], None]] = [
            *(partial(Batch.add, dialogues=[one], graphs=graphs_of[one.id]) for one in self.dialogues),
            *(partial(Batch.add, dialogues=(), graphs=[one]) for one in rest),
            *(_appending(lambda batch: batch.opposites, one) for one in self.opposites),
            *(_appending(lambda batch: batch.frames, one) for one in self.frames),
            *(_adding_sentence(id, row) for id, row in self.sentences.items()),
            *(_appending(lambda batch: batch.entries, one) for one in self.entries),
        ]
        # One dialogue is left: separate it from its graphs, to find out which of them the server fails
        # at.
        if len(adds) == 1 and self.dialogues and self.graphs:
            adds = [
                partial(Batch.add, dialogues=self.dialogues, graphs=()),
                partial(Batch.add, dialogues=(), graphs=self.graphs),
            ]
        if len(adds) < 2:
            return []
        parts = [Batch(self.lexicon), Batch(self.lexicon)]
        # The order is kept: graphs need the dialogues before them.
        for at, add in enumerate(adds):
            add(parts[2 * at >= len(adds)])
        return parts

    @property
    def place(self) -> str:
        """The place and the id of the first item of the batch."""
        for one in self.dialogues:
            return f"{one.place}: {one.id}" if one.place else one.id
        for one in self.graphs:
            return f"{one.place}: {one.utterance}" if one.place else one.utterance
        named = [
            *(f"{one.start} {one.relation} {one.end}" for one in self.opposites),
            *(one.id for one in self.frames),
            *self.sentences,
            *(f"{one.table}: {' '.join(one.cells)}" for one in self.entries),
        ]
        return next(iter(named), "")[:80]

    def takes(self, rows: int, size: int) -> bool:
        """Reserve room for more rows; an empty batch has room for anything.

        Args:
            rows: The number of rows.
            size: Their estimated size in bytes.

        Returns:
            False if the rows do not fit. Nothing is reserved then.
        """
        # An item that exceeds the limits alone gets its own batch.
        if self.rows and (self.rows + rows > MAX_ROWS or self.bytes + size > MAX_BYTES):
            return False
        self.rows += rows
        self.bytes += size
        return True


def _appending(list_of: Callable[[Batch], list[T]], item: T) -> Callable[[Batch], None]:
    """Return a function that appends an item to one of a batch's lists."""

    def add(batch: Batch) -> None:
        list_of(batch).append(item)

    return add


def _adding_sentence(id: str, row: Row) -> Callable[[Batch], None]:
    """Return a function that adds a sentence to a batch."""

    def add(batch: Batch) -> None:
        batch.sentences[id] = row

    return add


def _spoken(dialogue: Dialogue, graphs: Iterable[ReadGraph]) -> list[tuple[str, str]]:
    """Return the speaker and the graph id of each turn of a dialogue that has a graph, in order."""
    of = {read.utterance: read.graph.id for read in graphs}
    said = ((turn.speaker, of.get(utterance_id(dialogue.id, turn.turn))) for turn in dialogue.utterances)
    return [(speaker, amr) for speaker, amr in said if amr is not None]
