"""Read the training and test contexts of a comparison, and keep the test data out of the training data.

Contexts come from files in the DailyDialog++ format. The user may add banks, which are corpora from which
negatives are retrieved. `LeakageFilter` removes two kinds of texts from the banks: responses to test
contexts, and adversarial responses, which are deliberately wrong and written by people. If a turn of a
dialogue is such a text, the dialogue is cut before that turn.

Example:
    "I'd love to." is a response to a test context. A bank has the dialogue "Lunch?" - "Sure." - "When?" -
    "I'd love to." The filter keeps "Lunch?" - "Sure." - "When?".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path

from graphneg.datasets.groups import LabelledContext
from graphneg.english.tokens import match_key
from graphneg.errors import InputError
from graphneg.evaluation.ranking import FORM, located_choices
from graphneg.hashing import fingerprint, number
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.validation import alternating
from graphneg.model import Dialogue, Record, Rejected, Response, Sentence
from graphneg.progress import Progress
from graphneg.records.runs import file_digest

ADVERSARIAL, RANDOM = "adversarial", "random"
SPLIT, SPLIT_SEED = 0.7, 7
"""Default share of training contexts when a single file is split, and default seed for the split."""


@dataclass(frozen=True, slots=True)
class Data:
    """Training and test contexts with correct and wrong responses.

    Attributes:
        train: The contexts for training.
        test: The contexts for testing.
    """

    train: tuple[LabelledContext, ...]
    test: tuple[LabelledContext, ...]

    @property
    def tested(self) -> list[str]:
        """The correct responses to the test contexts, sorted and without duplicates."""
        return sorted({text for context in self.test for text in context.positives})

    @property
    def forbidden(self) -> frozenset[str]:
        """The texts that are removed from the corpora from which sources may take wrong responses.

        They are all responses to test contexts and the adversarial responses to all contexts, normalised with
        `match_key`.
        """
        return self.adversarial_texts | {
            match_key(text) for context in self.test for text in context.responses
        }

    @property
    def adversarial_texts(self) -> frozenset[str]:
        """The adversarial responses to all contexts, normalised with `match_key`."""
        written = [context.negatives.get(ADVERSARIAL, ()) for context in (*self.train, *self.test)]
        return frozenset(match_key(text) for texts in written for text in texts)

    @property
    def fingerprint(self) -> str:
        """A hash of all training and test contexts with their responses."""
        return fingerprint([[astuple(context) for context in part] for part in (self.train, self.test)])


def read_data(
    train: str | Path, test: str | Path | None = None, split: float = SPLIT, split_seed: int = SPLIT_SEED
) -> Data:
    """Read training and test contexts from two files, or split one file.

    If one file is split, the ids of its contexts are changed to name the split, ``train`` or ``test``. Raises
    `InputError` if a file has a different format.

    Args:
        train: The file of training contexts, or of all contexts if ``test`` is None.
        test: The file of test contexts, or None to split ``train``.
        split: Share of the contexts for training, between 0 and 1. Used only if ``test`` is None.
        split_seed: Seed for the split. The split depends only on the seed and the ids of the contexts.

    Returns:
        The training and test contexts.

    Raises:
        InputError: A context has no correct response, a test context has no wrong response, a context occurs
            in both training and test data, or one of the two parts is empty.
    """
    if test is not None:
        return _checked(Data(tuple(_read(train)), tuple(_read(test))), f"{train} and {test}")
    if not 0 < split < 1:
        raise InputError(f"split must be between 0 and 1, not {split}")
    # Ids have the form CORPUS/SPLIT/NAME. Keep only NAME, because SPLIT is replaced by the new split below.
    order = [(context.id.split("/", 2)[2], context) for context in _read(train)]
    # Sort by a hash of the name, so that the split does not depend on the order of the file.
    order.sort(key=lambda named: number(split_seed, named[0]))
    border = int(split * len(order))
    if not 0 < border < len(order):
        raise InputError(f"{train}: {len(order)} contexts can't be split at {split}: one part would be empty")
    parts = (
        tuple(replace(context, id=f"{FORM}/{part}/{name}") for name, context in some)
        for part, some in (("train", order[:border]), ("test", order[border:]))
    )
    return _checked(Data(*parts), str(train))


def context_key(turns: Sequence[str]) -> tuple[str, ...]:
    """Return a key that is equal for contexts with the same text.

    Args:
        turns: The texts of the turns.

    Returns:
        The texts, normalised with `match_key`.
    """
    return tuple(map(match_key, turns))


def _read(path: str | Path) -> list[LabelledContext]:
    """Read the contexts in a file, and check that each context has a correct response."""
    contexts: list[LabelledContext] = []
    for place, context in located_choices([path]):
        if not context.positives:
            raise InputError(f"{place}: context {context.id} has no correct response")
        contexts.append(context)
    if not contexts:
        raise InputError(f"{path}: the file contains no contexts")
    return contexts


def _checked(data: Data, place: str) -> Data:
    """Check that each test context has a wrong response and is not also a training context."""
    known = {context_key(context.turns): context.id for context in data.train}
    for context in data.test:
        if not context.negatives:
            raise InputError(f"{place}: test context {context.id} has no wrong response")
        if (other := known.get(context_key(context.turns))) is not None:
            raise InputError(f"{place}: test context {context.id} is the same as training context {other}")
    return data


@dataclass(frozen=True, slots=True)
class BankFile:
    """A bank, that is, a corpus from which negatives are retrieved.

    Attributes:
        loader: The name of the loader that reads the corpus.
        path: The file or folder that contains the corpus.
    """

    loader: str
    path: Path

    def facts(self) -> list[object]:
        """Return values that identify the corpus: its loader, and the names and contents of its files."""
        files = sorted(self.path.rglob("*")) if self.path.is_dir() else [self.path]
        return [self.loader, [[file.name, file_digest(file)] for file in files if file.is_file()]]


def bank_of(text: str) -> BankFile:
    """Parse the description of a bank in the form ``LOADER=PATH``.

    Raises `InputError` if there is no such loader.

    Args:
        text: The name of a loader and a path, such as ``text=sentences.txt``.

    Returns:
        The loader and the path of the bank.

    Raises:
        InputError: The text has a different form, or the path does not exist.
    """
    loader, equals, path = text.partition("=")
    if not equals or not path:
        raise InputError(f"bank {text!r}: expected LOADER=PATH, such as text=sentences.txt")
    get_loader(loader)
    if not Path(path).exists():
        raise InputError(f"bank {text!r}: the path does not exist")
    return BankFile(loader, Path(path))


def context_dialogues(train: Iterable[LabelledContext]) -> Iterator[Dialogue]:
    """Convert contexts into dialogues for generators.

    Args:
        train: Contexts with correct responses.

    Yields:
        One dialogue per context. Its last turn is the first correct response. The other correct responses
        become alternatives to this last turn.
    """
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


def response_dialogues(train: Iterable[LabelledContext]) -> Iterator[Dialogue]:
    """Convert contexts into dialogues whose last turn, a correct response, can be edited by a recipe.

    Args:
        train: Contexts with correct responses.

    Yields:
        One dialogue per correct response. The correct response is the last turn of the dialogue.
    """
    for context in train:
        for at, response in enumerate(context.positives):
            # Store one dialogue per correct response. For the context "d#2", the ids of the dialogues are
            # "d#2", "d#2/1", "d#2/2" and so on.
            id = f"{context.id}/{at}" if at else context.id
            yield from context_dialogues([replace(context, id=id, positives=(response,))])


@dataclass(slots=True)
class LeakageFilter:
    """Removes forbidden texts from a bank, a corpus from which generators and recipes may take texts.

    Attributes:
        forbidden: Texts that a bank may not contain, normalised with `match_key`.
        known: Ids of the training contexts, which are in the store already. Dialogues with these ids are
            skipped.
        left_out: Number of removed texts and skipped dialogues, keyed by their kind, such as ``turns``.
    """

    forbidden: Collection[str]
    known: Collection[str] = ()
    left_out: Counter[str] = field(default_factory=Counter[str])

    def read(self, bank: BankFile, progress: Progress) -> Iterator[Record]:
        """Read a bank, and remove the texts that it may not contain, such as responses to test contexts.

        Args:
            bank: The loader and the path of the bank.
            progress: Progress display for the loader.

        Returns:
            An iterator over the sentences and dialogues that remain.
        """
        records = get_loader(bank.loader).read([bank.path], LoadOptions(progress=progress))
        return self.remove_leaks(records)

    def remove_leaks(self, records: Iterable[Record]) -> Iterator[Record]:
        """Remove the texts that a bank may not contain, such as the responses to test contexts, from records.

        Args:
            records: Sentences and dialogues. Rejected records are dropped.

        Yields:
            The remaining records. A dialogue is cut before its first turn that the bank may not contain.
        """
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
        """Cut a dialogue before its first turn that the bank may not contain; None if too little is left."""
        # The bank may be the corpus from which the training contexts were taken. Skip the dialogues that are
        # in the store already.
        if dialogue.id in self.known:
            self.left_out["training contexts"] += 1
            return None
        said = dialogue.utterances
        # Drop the first turn in ``forbidden``, and all turns after it. If only this turn were dropped,
        # the next turn would seem to answer the turn before it.
        end = next((at for at, turn in enumerate(said) if not self._allows(turn.text, "turns")), len(said))
        # Keep only correct responses. A wrong response in the bank is deliberately wrong or belongs to
        # another context, so no negative should be made from it.
        responses = tuple(
            response
            for response in dialogue.responses
            if response.label == 1 and response.turn < end and self._allows(response.text, "responses")
        )
        # A generator needs a context with a response. So keep the dialogue only if two turns are left, or one
        # turn and a loaded response to it.
        if end < 2 and not (end and responses):
            return None
        return replace(dialogue, utterances=said[:end], responses=responses)

    def _allows(self, text: str, kind: str) -> bool:
        if match_key(text) not in self.forbidden:
            return True
        self.left_out[kind] += 1
        return False
