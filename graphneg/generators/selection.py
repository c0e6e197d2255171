"""Bi-directional perplexity selection (Ou et al., 2022, CAPT, section 3.3).

Records of generated responses go in. A response fits if a language model finds it likely after its context
(forward), and the turn before it likely given the response (backward). Those that fit come out with both
perplexities among their scores, the best ones of each context; or those that don't.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from math import ceil, exp
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from graphneg import __version__
from graphneg.english.near_duplicates import NearTexts
from graphneg.english.tokens import match_key, one_line
from graphneg.errors import InputError
from graphneg.generators.base import ContextSelection, read_contexts
from graphneg.generators.prompts import answer, context_prompt, response_prompt
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.nn.fine_tuning import Example, TrainingReport, fine_tune
from graphneg.nn.language_models import LanguageModel
from graphneg.progress import NoProgress, Progress
from graphneg.records.files import read_negatives
from graphneg.records.resumable import Finished, NegativeStream, Written
from graphneg.records.shards import numbered
from graphneg.shards import Shard, shard_of
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

FORWARD = "forward_perplexity"
BACKWARD = "backward_perplexity"
"""The names of the scores in records."""

_LARGEST_LOSS = 50.0
PAIRS = 1_000
"""So many right pairs are taken for learning, the first ones."""

_LEAST_PAIRS = 10
BATCH = 32

NO_CONTEXT = "no-context: no turn stands before the response"
NO_RESPONSE = "no-response: the response is empty"
UNLIKELY = "unlikely-response: its forward perplexity is above the threshold"
UNLIKELY_POST = "unlikely-post: its backward perplexity is above the threshold"
FITS = "fits: neither perplexity is above its threshold"
RIGHT = "right-response: it says what a right response of its context says"
RANKED_OUT = "ranked-out: others of the same context have a lower backward perplexity"

Keep = Literal["fitting", "unfitting"]
Predicted = Literal["reply", "post"]


class ContextResponse(NamedTuple):
    """A context (its turns' texts, the first one first) and a response to it."""

    context: tuple[str, ...]
    response: str


class Perplexities(NamedTuple):
    """``forward``: of the response after its context; ``backward``: of the last turn given the response."""

    forward: float
    backward: float


@dataclass(frozen=True, slots=True)
class Bidirectional:
    """Scores pairs by two language models, which may be one and the same.

    ``forward`` has learned to answer, ``backward`` to tell what was answered: a model trained on
    responses and the turns before them, or one that reads from the end (``direction`` ``backward``).
    A plain model serves as both.
    """

    forward: LanguageModel
    backward: LanguageModel

    def score(self, pairs: Sequence[ContextResponse]) -> list[Perplexities]:
        """The perplexities of each pair, in order; the models run batches of like length.

        Raises:
            ModelError: memory does not suffice for one pair alone.
        """
        from_end = self.backward.direction == "backward"
        forward = self.forward.score(
            [answer(pair.response) for pair in pairs], [context_prompt(pair.context) for pair in pairs]
        )
        backward = self.backward.score(
            [answer(pair.context[-1]) for pair in pairs],
            [
                f"\nB: {one_line(pair.response)}" if from_end else response_prompt(pair.response)
                for pair in pairs
            ],
        )
        limited = ((exp(min(loss, _LARGEST_LOSS)) for loss in losses) for losses in (forward, backward))
        return list(map(Perplexities, *limited))


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
    right, others = map(scorer.score, pairs_to_learn(records, seed))
    forward, backward = map(threshold, zip(*right, strict=True), zip(*others, strict=True), [quantile] * 2)
    return forward, backward


def pairs_to_learn(
    records: Iterable[Negative], seed: int = 0
) -> tuple[list[ContextResponse], list[ContextResponse]]:
    """Right pairs, and for each context a random one: the response of another dialogue, drawn by hash.

    Raises:
        InputError: fewer than ten right pairs, or all of one dialogue.
    """
    right = list(islice((record for record in records if record.label == 1 and record.context), PAIRS))
    if len(right) < _LEAST_PAIRS:
        raise InputError(
            f"only {len(right)} records for validation have label 1 and a context: {_LEAST_PAIRS} are "
            "needed; graphneg export writes those of a store"
        )
    if len({record.dialogue for record in right}) == 1:
        raise InputError("all records for validation are of one dialogue: none can be put to another")
    turned = right + right
    random: list[ContextResponse] = []
    for own in right:
        start = number(seed, "random pair", own.id) % len(right)
        others = [record for record in turned[start : start + len(right)] if record.dialogue != own.dialogue]
        fits = NearTexts([own.response])
        other = next((record for record in others if record.response not in fits), others[0])
        random.append(pair_of(own)._replace(response=other.response))
    return [pair_of(record) for record in right], random


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
    if quantile is not None and not 0 < quantile <= 1:
        raise InputError(f"quantile {quantile}: must be above 0 and at most 1")
    fitting, others = sorted(right), sorted(random)
    tried = fitting if quantile is None else [fitting[ceil(quantile * len(fitting)) - 1]]
    kept = [[bisect_right(pairs, value) / len(pairs) for pairs in (fitting, others)] for value in tried]
    separations = [Separation(value, *shares) for value, shares in zip(tried, kept, strict=True)]
    return max(separations, key=lambda found: (found.balanced_accuracy, -found.threshold))


def pair_of(record: Negative) -> ContextResponse:
    """A record's context and response."""
    return ContextResponse(tuple(turn["text"] for turn in record.context), record.response)


@dataclass(frozen=True, slots=True)
class SelectionCriteria:
    """What is kept: ``fitting`` responses, whose perplexities are no higher than both thresholds,
    or ``unfitting`` ones; at most ``per_context`` of each context, those of the lowest backward perplexity.

    Raises `InputError` for values out of range.
    """

    thresholds: Thresholds
    keep: Keep = "fitting"
    per_context: int | None = None

    def __post_init__(self) -> None:
        if self.keep not in get_args(Keep):
            raise InputError(f"keep {self.keep!r}: choose one of {', '.join(get_args(Keep))}")
        if self.per_context is not None and self.per_context < 1:
            raise InputError(f"per_context {self.per_context}: at least one of each context, please")

    def refusal(self, record: Negative) -> str | None:
        """Why a scored record is dropped; None where it is kept."""
        reason = UNLIKELY_POST if record.scores[BACKWARD] > self.thresholds.backward else None
        if record.scores[FORWARD] > self.thresholds.forward:
            reason = UNLIKELY
        if self.keep == "unfitting":
            return FITS if reason is None else None
        return reason


class Selected(NegativeStream):
    """What is kept of a file of records, with both perplexities among its scores.

    Records of one context that follow each other are ranked together. Only a batch of contexts is in
    memory. ``summary`` counts what was kept, and what was dropped and why.
    """

    def __init__(
        self,
        records: str | Path,
        scorer: Bidirectional,
        selection: SelectionCriteria,
        *,
        batch: int = BATCH,
        shard: Shard | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        if batch < 1:
            raise InputError(f"batch {batch}: at least one context")
        self._shard = shard_of(shard)
        self._path = Path(records)
        self._scorer = scorer
        self._selection = selection
        self._batch = batch
        self._progress = progress or NoProgress()

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        """The batches of contexts behind the first ``skip``, each with the records that are kept."""
        self._progress.start("selection", None, "contexts")
        contexts = islice(numbered(contexts_of(read_negatives(self._path)), self._shard), skip, None)
        done = skip
        self._progress.advance(skip)
        while part := list(islice(contexts, self._batch)):
            kept = list(self._kept([records for _, records in part]))
            places = {(records[0].dialogue, records[0].turn): place for place, records in reversed(part)}
            done += len(part)
            self._progress.advance(len(part))
            yield Finished(done, kept, places=[places[record.dialogue, record.turn] for record in kept])
        self._progress.finish()

    def settings(self) -> Mapping[str, Any]:
        """What the output depends on; the batch is not part of it."""
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

    @property
    def shard(self) -> Shard | None:
        """The part of the dialogues whose records are looked at."""
        return self._shard

    @property
    def asked(self) -> str:
        """What is asked for, in words."""
        return f"{self._selection.keep} of {self._path}"

    def _kept(self, contexts: Sequence[Sequence[Negative]]) -> Iterator[Negative]:
        """The records that are kept, those of a context by backward perplexity, the lowest first."""
        usable: list[Negative] = []
        for records in contexts:
            right = {
                (_said_before(one), match_key(text)) for one in records for text in _right_responses(one)
            }
            for record in records:
                lack = None if record.response.strip() else NO_RESPONSE
                if not record.label and (_said_before(record), match_key(record.response)) in right:
                    lack = RIGHT
                if self._is_kept(record, lack if record.context else NO_CONTEXT):
                    usable.append(record)
        scores = self._scorer.score([pair_of(record) for record in usable])
        scored = [
            replace(record, scores={**record.scores, FORWARD: found.forward, BACKWARD: found.backward})
            for record, found in zip(usable, scores, strict=True)
        ]
        for records in contexts_of(scored):
            fine = [record for record in records if self._is_kept(record, self._selection.refusal(record))]
            fine.sort(key=lambda record: (record.scores[BACKWARD], record.id))
            most = self._selection.per_context or len(fine)
            for rank, record in enumerate(fine):
                if self._is_kept(record, RANKED_OUT if rank >= most else None):
                    self.summary.add(record)
                    yield record

    def _is_kept(self, record: Negative, reason: str | None) -> bool:
        """Whether there is no reason to drop a record; a reason is counted."""
        if reason is not None:
            self.summary.skip(reason, record.id)
        return reason is None


def _said_before(record: Negative) -> tuple[str, ...]:
    """Return a record's context in the normal form of `match_key`."""
    return tuple(match_key(turn["text"]) for turn in record.context)


def _right_responses(record: Negative) -> list[str]:
    """Return the responses that a record says are right for its own context."""
    if record.label:
        return [record.response]
    original = record.original.get("response")
    return [original] if original and record.original.get("context") is None else []


def contexts_of(records: Iterable[Negative]) -> Iterator[list[Negative]]:
    """Records of one context that follow each other, together."""
    return (list(group) for _, group in groupby(records, key=lambda record: (record.dialogue, record.turn)))


def train_scorer(
    model: LanguageModel,
    store: Store,
    out: str | Path,
    *,
    tells: Predicted = "reply",
    selection: Selection | None = None,
    seed: int = 0,
    **arguments: Any,
) -> TrainingReport:
    """Train ``model`` to predict the ``reply`` from the turns before it, or the ``post`` from the reply.

    Every turn is a reply to the ones before it, and so is every right response. ``arguments`` are those
    of transformers' ``TrainingArguments`` and of `fine_tune`.

    Raises:
        InputError: there are no replies in the store, something else is to be predicted, or ``out`` is taken.
    """
    if tells not in get_args(Predicted):
        raise InputError(f"tells {tells!r}: choose one of {', '.join(get_args(Predicted))}")
    examples = [
        Example(context_prompt(turns), answer(response))
        if tells == "reply"
        else Example(response_prompt(response), answer(turns[-1]))
        for context in read_contexts(store, ContextSelection(selection or Selection(), "every"))
        for turns in [[turn.text for turn in context.turns]]
        for response in context.positives
    ]
    if not examples:
        raise InputError("no dialogue in the store has a reply to learn from")
    return fine_tune(model, examples, out, seed=seed, **arguments)
