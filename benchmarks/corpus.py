"""Make dialogues for the benchmarks: eight consecutive graphs of an AMR corpus form one dialogue.

The graphs come from the training part of The Little Prince if its file is found, together with opposites from
ConceptNet and frames from PropBank. Otherwise graphs, opposites and frames come from the bundled corpus.
Larger corpora are made by copying the dialogues under other names: the copies ``copy0`` and ``copy1`` have
the same texts and different ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from pathlib import Path

from graphneg.ingest.loader import LoadOptions, LoadReport, get_loader
from graphneg.ingest.validation import GraphDialogues
from graphneg.ingest.writing import write_records
from graphneg.model import Dialogue, Frame, GraphText, Opposite, Record, Utterance
from graphneg.store.connection import Store

TURNS = 8
"""Number of turns per dialogue."""
SHORT_TURNS = 2
"""Number of turns of a short dialogue."""
SPEAKERS = ("A", "B")
LITTLE_PRINCE = "amr_little_prince/lpp-train.txt"
OPPOSITES = "conceptnet/assertions-en-opposites.csv.gz"
FRAMES = "propbank/propbank-frames-3.4.tar.gz"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Graphs with their texts, and the opposites and frames that transforms need.

    Attributes:
        description: Name of the source, and numbers of graphs, opposites and frames, for the tables.
        texts: The graphs with their texts.
        resources: The opposites and frames.
        data: Folder that contains the corpora; None if the bundled corpus is used.
    """

    description: str
    texts: tuple[GraphText, ...]
    resources: tuple[Record, ...]
    data: Path | None = None

    @property
    def dialogues(self) -> int:
        """The number of dialogues in one copy of the corpus."""
        return -(-len(self.texts) // TURNS)

    def copies(self, first: int, last: int, name: str = "copy") -> Iterator[Dialogue]:
        """Yield the dialogues of several copies of the corpus.

        Args:
            first: Number of the first copy.
            last: Number after the last copy.
            name: Prefix of the copies' names; each copy is a separate corpus.

        Yields:
            The dialogues, copy by copy.
        """
        for copy in range(first, last):
            yield from _dialogues(self.texts, f"{name}{copy}", TURNS)

    def several(self, amount: int, name: str) -> Iterator[Dialogue]:
        """Return a given number of dialogues, from as many copies of the corpus as necessary.

        Args:
            amount: Number of dialogues.
            name: Prefix of the copies' names; each copy is a separate corpus.

        Returns:
            An iterator over the dialogues.
        """
        return islice(self.copies(0, -(-amount // self.dialogues), name), amount)

    def short(self, amount: int, name: str) -> Iterator[Dialogue]:
        """Return dialogues of two turns with small graphs, from as many copies of the corpus as necessary.

        Args:
            amount: Number of dialogues.
            name: Prefix of the copies' names; each copy is a separate corpus.

        Returns:
            An iterator over the dialogues, which are made from the smaller half of the graphs.
        """
        texts = sorted(self.texts, key=lambda one: len(one.penman))[: len(self.texts) // 2]
        copies = (_dialogues(texts, f"{name}{copy}", SHORT_TURNS) for copy in count())
        return islice(chain.from_iterable(copies), amount)


def little_prince(data: Path) -> Corpus:
    """Return The Little Prince as a corpus, or the bundled corpus if the file of the book is missing.

    Args:
        data: Folder that contains the corpora.

    Returns:
        The corpus, with opposites and frames.
    """
    book = data / LITTLE_PRINCE
    if not book.exists():
        return bundled()
    resources = [*_records("conceptnet", data / OPPOSITES), *_records("propbank", data / FRAMES)]
    graphs = [record for record in _records("penman", book) if isinstance(record, GraphText)]
    return replace(_corpus("The Little Prince, training part", graphs, resources), data=data)


def bundled() -> Corpus:
    """Return the corpus that ships with graphneg."""
    records = list(_records("everyday"))
    graphs = [record for record in records if isinstance(record, GraphText)]
    resources = [record for record in records if isinstance(record, Opposite | Frame)]
    return _corpus("the bundled corpus's graphs", graphs, resources)


def store_records(store: Store, records: Iterator[Record] | Sequence[Record]) -> LoadReport:
    """Write records to a store.

    Args:
        store: The store to write to.
        records: Dialogues, opposites, frames or other records.

    Returns:
        A report with the numbers of written records.
    """
    return write_records(
        store, records, LoadReport("benchmarks"), GraphDialogues("benchmarks", "train", TURNS)
    )


def write_jsonl(dialogues: Iterator[Dialogue], path: Path) -> Path:
    """Write dialogues as JSON Lines for the loader ``dialogues``.

    Args:
        dialogues: The dialogues to write.
        path: The file to write.

    Returns:
        The path of the file.
    """
    with path.open("w", encoding="utf-8") as out:
        for one in dialogues:
            turns = [{"speaker": u.speaker, "text": u.text, "amr": u.amr} for u in one.utterances]
            out.write(json.dumps({"id": one.id, "corpus": one.corpus, "split": one.split, "turns": turns}))
            out.write("\n")
    return path


def _dialogues(texts: Sequence[GraphText], corpus: str, turns: int) -> Iterator[Dialogue]:
    for at in range(0, len(texts), turns):
        id = f"{corpus}/train/{at // turns}"
        yield Dialogue(id, corpus, "train", tuple(_turns(texts[at : at + turns])))


def _turns(texts: Sequence[GraphText]) -> Iterator[Utterance]:
    for turn, text in enumerate(texts):
        yield Utterance(turn, SPEAKERS[turn % 2], (text.text or "").strip(), amr=text.penman)


def _corpus(name: str, graphs: Sequence[GraphText], resources: Sequence[Record]) -> Corpus:
    opposites = sum(isinstance(record, Opposite) for record in resources)
    frames = sum(isinstance(record, Frame) for record in resources)
    about = (
        f"{name}: {len(graphs):,} graphs, {TURNS} to a dialogue; {opposites:,} opposites, {frames:,} frames"
    )
    return Corpus(about, tuple(graphs), tuple(resources))


def _records(loader: str, *paths: Path) -> Iterator[Record]:
    for record in get_loader(loader).read(paths, LoadOptions()):
        if isinstance(record, GraphText | Opposite | Frame):
            yield record
