"""Contexts to learn from and to be tested on, and what negatives are retrieved from.

In: files in the shape of DailyDialog++, and corpora that the user adds. Out: contexts, and records without
anything of the test: a response of a test context, or one that was written to be wrong, is left out, and a
dialogue ends before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from graphneg.datasets.groups import Choices
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.evaluation.ranking import FORM, placed_choices
from graphneg.hashing import fingerprint, number
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.validation import alternating
from graphneg.model import Dialogue, Record, Rejected, Response, Sentence
from graphneg.progress import Progress

ADVERSARIAL, RANDOM = "adversarial", "random"
SPLIT, SPLIT_SEED = 0.7, 7


@dataclass(frozen=True, slots=True)
class Data:
    """Contexts with right and wrong responses: those to learn from, and those to be tested on."""

    train: tuple[Choices, ...]
    test: tuple[Choices, ...]

    @property
    def tested(self) -> list[str]:
        """The right responses of the contexts to be tested on, each once."""
        return sorted({text for context in self.test for text in context.positives})

    @property
    def forbidden(self) -> frozenset[str]:
        """What no bank may hold, as `match_key` has them: responses of test contexts, and `written_wrong`."""
        return self.written_wrong | {match_key(text) for context in self.test for text in context.responses}

    @property
    def written_wrong(self) -> frozenset[str]:
        """What people wrote to be wrong, as `match_key` has them."""
        written = [context.negatives.get(ADVERSARIAL, ()) for context in (*self.train, *self.test)]
        return frozenset(match_key(text) for texts in written for text in texts)

    @property
    def fingerprint(self) -> str:
        """The same for the same contexts."""
        return fingerprint([[astuple(context) for context in part] for part in (self.train, self.test)])


def read_data(
    train: str | Path, test: str | Path | None = None, split: float = SPLIT, split_seed: int = SPLIT_SEED
) -> Data:
    """The contexts of two files, or of one that is split: a share of its contexts, by hash, to learn from.

    Parts of one file are called ``train`` and ``test`` in the ids of their contexts.

    Raises `InputError`: a file is of another shape, a context has no right response (or, to be tested on, no
    wrong one), a context is in both files, or a part is empty.
    """
    if test is not None:
        return _checked(Data(tuple(_read(train)), tuple(_read(test))), f"{train} and {test}")
    if not 0 < split < 1:
        raise InputError(f"split {split}: a share of the contexts, between 0 and 1")
    order = [(context.id.split("/", 2)[2], context) for context in _read(train)]
    order.sort(key=lambda named: number(split_seed, named[0]))
    border = int(split * len(order))
    if not 0 < border < len(order):
        raise InputError(f"{train}: {len(order)} contexts can't be split at {split}")
    parts = (
        tuple(replace(context, id=f"{FORM}/{part}/{name}") for name, context in some)
        for part, some in (("train", order[:border]), ("test", order[border:]))
    )
    return _checked(Data(*parts), str(train))


def context_key(turns: Sequence[str]) -> tuple[str, ...]:
    """What two contexts have in common that say the same."""
    return tuple(map(match_key, turns))


def _read(path: str | Path) -> list[Choices]:
    contexts: list[Choices] = []
    for place, context in placed_choices([path]):
        if not context.positives:
            raise InputError(f"{place}: context {context.id} has no right response")
        contexts.append(context)
    if not contexts:
        raise InputError(f"{path}: there are no contexts in it")
    return contexts


def _checked(data: Data, place: str) -> Data:
    known = {context_key(context.turns): context.id for context in data.train}
    for context in data.test:
        if not context.negatives:
            raise InputError(f"{place}: context {context.id} has no wrong response to be tested on")
        if (other := known.get(context_key(context.turns))) is not None:
            raise InputError(
                f"{place}: context {context.id} is to be tested on, and {other} to learn from is the same"
            )
    return data


@dataclass(frozen=True, slots=True)
class BankFile:
    """A corpus to retrieve from: a path, and the loader that reads it."""

    loader: str
    path: Path

    def facts(self) -> list[object]:
        """What tells it from another: its loader, and its files with their sizes."""
        files = sorted(self.path.rglob("*")) if self.path.is_dir() else [self.path]
        return [self.loader, [[file.name, file.stat().st_size] for file in files if file.is_file()]]


def bank_of(text: str) -> BankFile:
    """``LOADER=PATH``.

    Raises `InputError`: it is something else, there is no such loader, or nothing at that path.
    """
    loader, equals, path = text.partition("=")
    if not equals or not path:
        raise InputError(f"bank {text!r}: write LOADER=PATH, such as text=sentences.txt")
    get_loader(loader)
    if not Path(path).exists():
        raise InputError(f"bank {text!r}: there is nothing at that path")
    return BankFile(loader, Path(path))


def context_dialogues(train: Iterable[Choices]) -> Iterator[Dialogue]:
    """Contexts as dialogues: the first right response is the last turn, the others answer in its place."""
    for context in train:
        corpus, split, _ = context.id.split("/", 2)
        first, *others = context.positives
        yield Dialogue(
            id=context.id,
            corpus=corpus,
            split=split,
            utterances=alternating([*context.turns, first]),
            responses=tuple(Response(len(context.turns) - 1, text, 1, "human") for text in others),
        )


def response_dialogues(train: Iterable[Choices]) -> Iterator[Dialogue]:
    """Contexts as dialogues to be edited: each right response is the last turn of one of its own."""
    for context in train:
        for at, response in enumerate(context.positives):
            id = f"{context.id}/{at}" if at else context.id
            yield from context_dialogues([replace(context, id=id, positives=(response,))])


@dataclass(slots=True)
class LeakageFilter:
    """Lets through what a bank may hold; ``left_out`` counts the rest by kind."""

    forbidden: Collection[str]
    known: Collection[str] = ()
    left_out: Counter[str] = field(default_factory=Counter[str])

    def read(self, bank: BankFile, progress: Progress) -> Iterator[Record]:
        """The records of a bank that it may hold."""
        records = get_loader(bank.loader).read([bank.path], LoadOptions(progress=progress))
        return self.through(records)

    def through(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records that a bank may hold, dialogues cut where they may not go on."""
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
        said = dialogue.utterances
        end = next((at for at, turn in enumerate(said) if not self._allows(turn.text, "turns")), len(said))
        # Right responses alone: wrong ones of a corpus were written by people, or are no responses.
        responses = tuple(
            response
            for response in dialogue.responses
            if response.label == 1 and response.turn < end and self._allows(response.text, "responses")
        )
        if end < 2 and not (end and responses):
            return None
        return replace(dialogue, utterances=said[:end], responses=responses)

    def _allows(self, text: str, kind: str) -> bool:
        if match_key(text) not in self.forbidden:
            return True
        self.left_out[kind] += 1
        return False
