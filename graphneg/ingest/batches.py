"""What goes into one transaction of a load: a batch, and how it is cut when the server fails at it.

A batch is filled up to a number of rows and bytes that both servers take. Its rows are made as records are
added, while the batch before is being written.
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
MAX_BYTES = 4_000_000


class ReadGraph(NamedTuple):
    """A graph, the utterance that it belongs to, the digest of its PENMAN, the text that it means, and its
    place in a file."""

    utterance: str
    graph: AmrGraph
    digest: str
    text: str = ""
    place: str = ""

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
        self.graph_rows = GraphRows(self.lexicon)

    def add(self, dialogues: Sequence[Dialogue], graphs: Sequence[ReadGraph]) -> None:
        """Add dialogues, and graphs that a corpus brings, with their rows."""
        for dialogue in dialogues:
            self.dialogues.append(dialogue)
            self.dialogue_rows.add(dialogue)
        for read in graphs:
            self.graphs.append(read)
            self.graph_rows.add(read.graph, read.utterance, GOLD, read.digest, read.text)
        for dialogue in dialogues:
            self.graph_rows.mark_echoes(_spoken(dialogue, graphs))

    def split(self) -> list[Batch]:
        """Return the batch in two parts, the second of which may need the first; none if it is one item.

        A dialogue goes with its graphs as long as there is anything else in the batch.
        """
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
        if len(adds) == 1 and self.dialogues and self.graphs:
            adds = [
                partial(Batch.add, dialogues=self.dialogues, graphs=()),
                partial(Batch.add, dialogues=(), graphs=self.graphs),
            ]
        if len(adds) < 2:
            return []
        parts = [Batch(self.lexicon), Batch(self.lexicon)]
        for at, add in enumerate(adds):
            add(parts[2 * at >= len(adds)])
        return parts

    @property
    def place(self) -> str:
        """Where the first item of the batch comes from, with its id."""
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
        """Whether there is room for more, which then counts as added; an empty batch takes anything."""
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
    """The graphs of a dialogue in the order of its turns: who says each, and its id."""
    of = {read.utterance: read.graph.id for read in graphs}
    said = ((turn.speaker, of.get(utterance_id(dialogue.id, turn.turn))) for turn in dialogue.utterances)
    return [(speaker, amr) for speaker, amr in said if amr is not None]
