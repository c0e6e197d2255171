"""What negatives are retrieved from: the contexts to learn from, and corpora that the user adds.

Nothing of the test gets in: what is a response of a test context, or was written to be wrong, is left out,
and a dialogue ends before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graphneg.errors import InputError
from graphneg.evaluation.ranking import Choices
from graphneg.loading.intake import alternating
from graphneg.loading.registry import LoadOptions, get_loader
from graphneg.model import Dialogue, Record, Rejected, Response, Sentence
from graphneg.progress import Progress
from graphneg.training.drawing import plain


@dataclass(frozen=True, slots=True)
class BankFile:
    """A corpus to retrieve from: a path, and the loader that reads it."""

    loader: str
    path: Path

    def facts(self) -> list[object]:
        """What tells it from another: its loader, and its files with their sizes."""
        files = sorted(self.path.rglob("*")) if self.path.is_dir() else [self.path]
        return [self.loader, [[one.name, one.stat().st_size] for one in files if one.is_file()]]


def bank_of(text: str) -> BankFile:
    """``LOADER=PATH``.

    Raises:
        InputError: it is something else, there is no such loader, or nothing at that path.
    """
    loader, equals, path = text.partition("=")
    if not equals or not path:
        raise InputError(f"bank {text!r}: write LOADER=PATH, such as text=sentences.txt")
    get_loader(loader)
    if not Path(path).exists():
        raise InputError(f"bank {text!r}: there is nothing at that path")
    return BankFile(loader, Path(path))


def exchanges(train: Iterable[Choices]) -> Iterator[Dialogue]:
    """Contexts as dialogues: the first right response is the last turn, the others answer in its place."""
    for one in train:
        corpus, split, _ = one.id.split("/", 2)
        first, *others = one.positives
        last = len(one.turns) - 1
        yield Dialogue(
            id=one.id,
            corpus=corpus,
            split=split,
            utterances=alternating([*one.turns, first]),
            responses=tuple(Response(last, text, 1, "human") for text in others),
        )


def answered(train: Iterable[Choices]) -> Iterator[Dialogue]:
    """Contexts as dialogues to be edited: each right response is the last turn of one of its own."""
    for one in train:
        corpus, split, _ = one.id.split("/", 2)
        for at, response in enumerate(one.positives):
            yield Dialogue(
                id=f"{one.id}/{at}" if at else one.id,
                corpus=corpus,
                split=split,
                utterances=alternating([*one.turns, response]),
            )


@dataclass(slots=True)
class Sieve:
    """Lets through what a bank may hold; ``left_out`` counts the rest by kind."""

    forbidden: Collection[str]
    known: Collection[str] = ()
    left_out: Counter[str] = field(default_factory=Counter[str])

    def read(self, bank: BankFile, progress: Progress) -> Iterator[Record]:
        """The records of a bank that it may hold."""
        records = get_loader(bank.loader).read([bank.path], LoadOptions(progress=progress))
        return self.through(records)

    def through(self, records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            if isinstance(record, Sentence):
                if self._allows(record.text, "sentences"):
                    yield record
            elif isinstance(record, Dialogue):
                if (kept := self._dialogue(record)) is not None:
                    yield kept
            elif not isinstance(record, Rejected):
                yield record

    def _dialogue(self, dialogue: Dialogue) -> Dialogue | None:
        """The dialogue up to what it may not say; nothing where less than an exchange is left."""
        if dialogue.id in self.known:
            self.left_out["contexts that are learned from"] += 1
            return None
        end = next(
            (at for at, one in enumerate(dialogue.utterances) if not self._allows(one.text, "turns")),
            len(dialogue.utterances),
        )
        responses = tuple(self._responses(dialogue.responses, end))
        if end < 2 and not (end and responses):
            return None
        return replace(dialogue, utterances=dialogue.utterances[:end], responses=responses)

    def _responses(self, responses: Sequence[Response], end: int) -> Iterator[Response]:
        """Right ones alone: wrong ones of a corpus were written by people, or are no responses."""
        for one in responses:
            if one.label == 1 and one.turn < end and self._allows(one.text, "responses"):
                yield one

    def _allows(self, text: str, kind: str) -> bool:
        if plain(text) not in self.forbidden:
            return True
        self.left_out[kind] += 1
        return False
