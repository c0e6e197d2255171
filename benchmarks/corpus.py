"""The dialogues that are measured: gold AMR graphs in their order, eight to a dialogue, in copies.

The graphs are those of The Little Prince (training part) where its file is found, with ConceptNet's
opposites and PropBank's frames; else the bundled corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from pathlib import Path

from graphneg.ingest.loader import LoadOptions, LoadReport, get_loader
from graphneg.ingest.validation import Grouping
from graphneg.ingest.writing import write_records
from graphneg.model import Dialogue, Frame, GraphText, Opposite, Record, Utterance
from graphneg.store.connection import Store

TURNS = 8
SHORT_TURNS = 2
SPEAKERS = ("A", "B")
LITTLE_PRINCE = "amr_little_prince/lpp-train.txt"
OPPOSITES = "conceptnet/assertions-en-opposites.csv.gz"
FRAMES = "propbank/propbank-frames-3.4.tar.gz"


@dataclass(frozen=True, slots=True)
class Corpus:
    """Graphs with their texts, and the opposites and frames that transforms look up.

    ``data`` is the folder of corpora, where there is one.
    """

    description: str
    texts: tuple[GraphText, ...]
    resources: tuple[Record, ...]
    data: Path | None = None

    @property
    def dialogues(self) -> int:
        """How many dialogues one copy has."""
        return -(-len(self.texts) // TURNS)

    def copies(self, first: int, last: int, name: str = "copy") -> Iterator[Dialogue]:
        """Dialogues of the copies numbered ``first`` to ``last - 1``, each a corpus of its own name."""
        for copy in range(first, last):
            yield from _dialogues(self.texts, f"{name}{copy}", TURNS)

    def several(self, amount: int, name: str) -> Iterator[Dialogue]:
        """The first ``amount`` dialogues of as many copies as that takes."""
        return islice(self.copies(0, -(-amount // self.dialogues), name), amount)

    def short(self, amount: int, name: str) -> Iterator[Dialogue]:
        """So many dialogues of two turns, of the smaller half of the graphs, in copies."""
        texts = sorted(self.texts, key=lambda one: len(one.penman))[: len(self.texts) // 2]
        copies = (_dialogues(texts, f"{name}{copy}", SHORT_TURNS) for copy in count())
        return islice(chain.from_iterable(copies), amount)


def little_prince(data: Path) -> Corpus:
    """The Little Prince from a folder of corpora, or the bundled corpus where it is not there."""
    book = data / LITTLE_PRINCE
    if not book.exists():
        return bundled()
    resources = [*_records("conceptnet", data / OPPOSITES), *_records("propbank", data / FRAMES)]
    graphs = [record for record in _records("penman", book) if isinstance(record, GraphText)]
    return replace(_corpus("The Little Prince, training part", graphs, resources), data=data)


def bundled() -> Corpus:
    records = list(_records("everyday"))
    graphs = [record for record in records if isinstance(record, GraphText)]
    resources = [record for record in records if isinstance(record, Opposite | Frame)]
    return _corpus("the bundled corpus's graphs", graphs, resources)


def store_records(store: Store, records: Iterator[Record] | Sequence[Record]) -> LoadReport:
    return write_records(store, records, LoadReport("benchmarks"), Grouping("benchmarks", "train", TURNS))


def write_jsonl(dialogues: Iterator[Dialogue], path: Path) -> Path:
    """Dialogues as the loader ``dialogues`` reads them."""
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
