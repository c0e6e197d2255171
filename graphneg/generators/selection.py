"""Bi-directional perplexity selection (Ou et al., 2022, CAPT, section 3.3)."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from math import ceil, exp
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphneg import __version__
from graphneg.english.tokens import one_line
from graphneg.errors import InputError
from graphneg.generators.base import ContextSelection, read_contexts
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.nn.fine_tuning import Example, TrainingReport, fine_tune
from graphneg.nn.language_models import LanguageModel
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import read_jsonl
from graphneg.records.resumable import Finished, NegativeStream, Written
from graphneg.records.tables import read_parquet
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection as DialoguesSelection

# Forward and backward perplexity of a response and what stands before it.


FORWARD = "forward_perplexity"
BACKWARD = "backward_perplexity"
"""The names of the scores in records."""

_LARGEST_LOSS = 50.0


class Pair(NamedTuple):
    """A context (its turns' texts, the first one first) and a response to it."""

    context: tuple[str, ...]
    response: str


class Perplexities(NamedTuple):
    """``forward``: of the response after its context; ``backward``: of the last turn given the response."""

    forward: float
    backward: float

    def scores(self) -> Mapping[str, float]:
        """As records hold them."""
        return {FORWARD: self.forward, BACKWARD: self.backward}


@dataclass(frozen=True, slots=True)
class Bidirectional:
    """Scores pairs by two language models, which may be one and the same.

    ``forward`` has learned to answer, ``backward`` to tell what was answered: a model trained on
    responses and the turns before them, or one that reads from the end (``direction`` ``backward``).
    A plain model serves as both.
    """

    forward: LanguageModel
    backward: LanguageModel

    def score(self, pairs: Sequence[Pair]) -> list[Perplexities]:
        """The perplexities of each pair, in order; the models run batches of like length.

        Raises:
            ModelError: memory does not suffice for one pair alone.
        """
        responses = self.forward.score(
            [_answer(pair.response) for pair in pairs], [before(pair.context) for pair in pairs]
        )
        posts = self.backward.score(
            [_answer(pair.context[-1]) for pair in pairs],
            [_behind(pair.response, self.backward) for pair in pairs],
        )
        return [Perplexities(_perplexity(f), _perplexity(b)) for f, b in zip(responses, posts, strict=True)]


def before(context: Sequence[str]) -> str:
    """What stands before a response: the turns, two speakers in turn, and the name of who is next.

    >>> print(before(["Is it far?", "No."]))
    A: Is it far?
    B: No.
    A:
    """
    said = [f"{'AB'[place % 2]}: {one_line(text)}" for place, text in enumerate(context)]
    return "\n".join([*said, f"{'AB'[len(context) % 2]}:"])


def behind(response: str) -> str:
    """What a model reads that shall tell the turn before a response.

    >>> print(behind("No."))
    B: No.
    This answers A:
    """
    return f"B: {one_line(response)}\nThis answers A:"


def _behind(response: str, model: LanguageModel) -> str:
    return f"\nB: {one_line(response)}" if model.direction == "backward" else behind(response)


def _answer(text: str) -> str:
    return f" {one_line(text)}"


def _perplexity(loss: float) -> float:
    """The exponential of a loss in nats a token, no larger than a file can hold."""
    return exp(min(loss, _LARGEST_LOSS))


# Which perplexities are too high, learned from pairs that belong together and random ones.


PAIRS = 1_000
"""So many right pairs are taken for learning, the first ones."""

_LEAST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The highest perplexities with which a response still fits, in both directions."""

    forward: float
    backward: float

    def __post_init__(self) -> None:
        if not (self.forward > 0 and self.backward > 0):
            raise InputError(f"thresholds {self.forward} and {self.backward}: a perplexity is above 0")


@dataclass(frozen=True, slots=True)
class Separation:
    """A threshold, and the shares of right and of random pairs that it keeps."""

    threshold: float
    right_kept: float
    random_kept: float

    @property
    def balanced_accuracy(self) -> float:
        """The mean of right pairs kept and random pairs dropped."""
        return (self.right_kept + 1 - self.random_kept) / 2


def learn_thresholds(
    records: Iterable[Negative], scorer: Bidirectional, *, quantile: float | None = None, seed: int = 0
) -> tuple[Separation, Separation]:
    """Forward and backward threshold, from the records with label 1.

    Their responses are put to contexts of other dialogues as random pairs. See `threshold` for ``quantile``.

    Raises:
        InputError: fewer than ten right pairs, or all of one dialogue.
    """
    right, others = pairs_to_learn(records, seed)
    fitting, random = scorer.score(right), scorer.score(others)
    forward = threshold([one.forward for one in fitting], [one.forward for one in random], quantile)
    backward = threshold([one.backward for one in fitting], [one.backward for one in random], quantile)
    return forward, backward


def pairs_to_learn(records: Iterable[Negative], seed: int = 0) -> tuple[list[Pair], list[Pair]]:
    """Right pairs, and for each context a random one: the response of another dialogue, drawn by hash.

    Raises:
        InputError: fewer than ten right pairs, or all of one dialogue.
    """
    right = list(islice((one for one in records if one.label == 1 and one.context), PAIRS))
    if len(right) < _LEAST_PAIRS:
        raise InputError(
            f"only {len(right)} records for validation have label 1 and a context: {_LEAST_PAIRS} are "
            "needed; graphneg export writes those of a store"
        )
    if len({one.dialogue for one in right}) == 1:
        raise InputError("all records for validation are of one dialogue: none can be put to another")
    return [pair_of(one) for one in right], [
        Pair(pair_of(one).context, _other(right, place, seed).response) for place, one in enumerate(right)
    ]


def threshold(right: Sequence[float], random: Sequence[float], quantile: float | None = None) -> Separation:
    """The perplexity up to which a pair counts as right.

    With ``quantile`` it keeps that share of the right pairs; else it has the highest balanced accuracy,
    the lowest of those that have it.

    Raises:
        InputError: ``quantile`` is not in (0, 1], or one of the sequences is empty.

    >>> threshold([1.0, 2.0, 3.0, 9.0], [4.0, 5.0, 6.0, 7.0])
    Separation(threshold=3.0, right_kept=0.75, random_kept=0.0)
    """
    if not right or not random:
        raise InputError("a threshold needs right pairs and random ones")
    fitting, others = sorted(right), sorted(random)
    if quantile is None:
        found = (_separation(value, fitting, others) for value in fitting)
        return max(found, key=lambda one: (one.balanced_accuracy, -one.threshold))
    if not 0 < quantile <= 1:
        raise InputError(f"quantile {quantile}: must be above 0 and at most 1")
    return _separation(fitting[ceil(quantile * len(fitting)) - 1], fitting, others)


def pair_of(record: Negative) -> Pair:
    """A record's context and response."""
    return Pair(tuple(turn["text"] for turn in record.context), record.response)


def _separation(value: float, fitting: Sequence[float], others: Sequence[float]) -> Separation:
    kept = bisect_right(fitting, value) / len(fitting)
    return Separation(value, kept, bisect_right(others, value) / len(others))


def _other(records: Sequence[Negative], place: int, seed: int) -> Negative:
    """A record of another dialogue, by hash; the next one that is, where the drawn one is not."""
    own = records[place]
    start = number(seed, "random pair", own.id) % len(records)
    turned = (records[(start + step) % len(records)] for step in range(len(records)))
    return next(one for one in turned if one.dialogue != own.dialogue)


# Records in, those that are kept out: scored, filtered, ranked, counted.


Keep = Literal["fitting", "unfitting"]
KEEPS: tuple[Keep, ...] = ("fitting", "unfitting")
BATCH = 32

NO_CONTEXT = "no-context: no turn stands before the response"
NO_RESPONSE = "no-response: the response is empty"
UNLIKELY = "unlikely-response: its forward perplexity is above the threshold"
UNLIKELY_POST = "unlikely-post: its backward perplexity is above the threshold"
FITS = "fits: neither perplexity is above its threshold"
RANKED_OUT = "ranked-out: others of the same context have a lower backward perplexity"


@dataclass(frozen=True, slots=True)
class Selection:
    """What is kept: ``fitting`` responses, whose perplexities are no higher than both thresholds,
    or ``unfitting`` ones; at most ``per_context`` of each context, those of the lowest backward perplexity.

    Raises `InputError` for values out of range.
    """

    thresholds: Thresholds
    keep: Keep = "fitting"
    per_context: int | None = None

    def __post_init__(self) -> None:
        if self.keep not in KEEPS:
            raise InputError(f"keep {self.keep!r}: choose one of {', '.join(KEEPS)}")
        if self.per_context is not None and self.per_context < 1:
            raise InputError(f"per_context {self.per_context}: at least one of each context, please")

    def refusal(self, record: Negative) -> str | None:
        """Why a scored record is dropped; None where it is kept."""
        unlikely = record.scores[FORWARD] > self.thresholds.forward
        unlikely_post = record.scores[BACKWARD] > self.thresholds.backward
        if self.keep == "unfitting":
            return None if unlikely or unlikely_post else FITS
        if unlikely:
            return UNLIKELY
        return UNLIKELY_POST if unlikely_post else None


class Selected(NegativeStream):
    """What is kept of a file of records, with both perplexities among its scores.

    Records of one context that follow each other are ranked together. Only a batch of contexts is in
    memory. ``summary`` counts what was kept, and what was dropped and why.
    """

    def __init__(
        self,
        records: str | Path,
        scorer: Bidirectional,
        selection: Selection,
        *,
        batch: int = BATCH,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        if batch < 1:
            raise InputError(f"batch {batch}: at least one context")
        self._path = Path(records)
        self._scorer = scorer
        self._selection = selection
        self._batch = batch
        self._progress = progress or NoProgress()

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        self._progress.start("selection", None, "contexts")
        contexts = islice(contexts_of(read_records(self._path)), skip, None)
        done = skip
        self._progress.advance(skip)
        while part := list(islice(contexts, self._batch)):
            kept = list(self._kept(part))
            done += len(part)
            self._progress.advance(len(part))
            yield Finished(done, kept)
        self._progress.finish()

    def settings(self) -> Mapping[str, Any]:
        with open(self._path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        thresholds = self._selection.thresholds
        return {
            "version": __version__,
            "records": digest,
            "models": [str(self._scorer.forward.path), str(self._scorer.backward.path)],
            "thresholds": [thresholds.forward, thresholds.backward],
            "keep": self._selection.keep,
            "per_context": self._selection.per_context,
        }

    def _kept(self, contexts: Sequence[Sequence[Negative]]) -> Iterator[Negative]:
        usable = [record for records in contexts for record in records if self._is_usable(record)]
        scores = self._scorer.score([pair_of(record) for record in usable])
        scored = [
            replace(record, scores={**record.scores, **found.scores()})
            for record, found in zip(usable, scores, strict=True)
        ]
        for _, records in groupby(scored, key=_context):
            yield from self._best(list(records))

    def _best(self, records: Sequence[Negative]) -> Iterator[Negative]:
        """The records of one context that are kept, the lowest backward perplexity first."""
        fine: list[Negative] = []
        for record in records:
            reason = self._selection.refusal(record)
            if reason is None:
                fine.append(record)
            else:
                self.summary.skip(reason, record.id)
        fine.sort(key=lambda record: (record.scores[BACKWARD], record.id))
        most = self._selection.per_context or len(fine)
        for record in fine[most:]:
            self.summary.skip(RANKED_OUT, record.id)
        for record in fine[:most]:
            self.summary.add(record)
            yield record

    def _is_usable(self, record: Negative) -> bool:
        reason = None if record.context else NO_CONTEXT
        if reason is None and not record.response.strip():
            reason = NO_RESPONSE
        if reason is not None:
            self.summary.skip(reason, record.id)
        return reason is None


def read_records(path: str | Path) -> Iterator[Negative]:
    """The records of a .jsonl or .parquet file, one by one.

    Raises:
        InputError: the file can't be read, or a line is no record; the message names it.
    """
    return read_parquet(path) if Path(path).suffix == ".parquet" else read_jsonl(path)


def contexts_of(records: Iterable[Negative]) -> Iterator[list[Negative]]:
    """Records of one context that follow each other, together."""
    return (list(group) for _, group in groupby(records, key=_context))


def _context(record: Negative) -> tuple[str, int]:
    return record.dialogue, record.turn


# Pairs of a store's dialogues for training the two models that score: in the words they are asked in.


Told = Literal["reply", "post"]


def train_scorer(
    model: LanguageModel,
    store: Store,
    out: str | Path,
    *,
    tells: Told = "reply",
    selection: DialoguesSelection | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` on dialogues: to tell the ``reply`` from the turns before it, or the ``post`` from it.

    Every turn is a reply to the ones before it, and so is every right response. ``arguments`` are those
    of transformers' ``TrainingArguments`` and of `fine_tune`.

    Raises:
        InputError: there are no replies in the store, something else is to be told, or ``out`` is taken.
    """
    if tells not in _EXAMPLES:
        raise InputError(f"tells {tells!r}: choose one of {', '.join(_EXAMPLES)}")
    examples = list(_examples(store, selection or DialoguesSelection(), _EXAMPLES[tells]))
    if not examples:
        raise InputError("no dialogue in the store has a reply to learn from")
    return fine_tune(model, examples, out, seed=seed, progress=progress, **arguments)


def _reply(turns: tuple[str, ...], response: str) -> Example:
    return Example(before(turns), " " + one_line(response))


def _post(turns: tuple[str, ...], response: str) -> Example:
    return Example(behind(response), " " + one_line(turns[-1]))


_EXAMPLES: Mapping[str, Callable[[tuple[str, ...], str], Example]] = {"reply": _reply, "post": _post}


def _examples(
    store: Store, selection: DialoguesSelection, example: Callable[[tuple[str, ...], str], Example]
) -> Iterator[Example]:
    for context in read_contexts(store, ContextSelection(selection, "every")):
        turns = tuple(turn.text for turn in context.turns)
        for response in context.positives:
            yield example(turns, response)
