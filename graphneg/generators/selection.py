"""Select generated responses by perplexity in both directions (CAPT, Ou et al. 2022, section 3.3).

A response fits its context if a language model finds it likely after the context (forward), and the last turn
of the context likely given the response (backward). `Selected` reads a file of records, scores each one, and
keeps those that fit, or those that do not::

    context     A: How was the match?
    kept        B: We lost, and the rain never stopped.   forward 21, backward 18
    dropped     B: The soup needs salt.                   forward 160, backward 210

`learn_thresholds` learns the two thresholds from correct and random pairs. `train_scorer` trains a model for
either direction.
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
"""Name of the forward perplexity in records."""
BACKWARD = "backward_perplexity"
"""Name of the backward perplexity in records."""

_LARGEST_LOSS = 50.0
"""Upper limit of a loss, so that its exponential does not overflow."""
PAIRS = 1_000
"""Maximum number of correct pairs to learn thresholds from."""

_LEAST_PAIRS = 10
"""Minimum number of correct pairs to learn thresholds from."""
BATCH = 32
"""Number of contexts to score at a time."""

NO_CONTEXT = "no-context: no turn precedes the response"
NO_RESPONSE = "no-response: the response is empty"
UNLIKELY = "unlikely-response: its forward perplexity is above the threshold"
UNLIKELY_POST = "unlikely-post: its backward perplexity is above the threshold"
FITS = "fits: neither perplexity is above its threshold"
RIGHT = "right-response: it repeats a right response of its context"
RANKED_OUT = "ranked-out: others of the same context have a lower backward perplexity"
"""Reasons to drop a record, as ``code: sentence``."""

Keep = Literal["fitting", "unfitting"]
"""Which responses to keep: those that fit their context, or those that do not."""
Predicted = Literal["reply", "post"]
"""What a scorer learns to predict: the reply (forward), or the post (backward)."""


class ContextResponse(NamedTuple):
    """A context with a response.

    Attributes:
        context: Texts of the turns, oldest first.
        response: The response.
    """

    context: tuple[str, ...]
    response: str


class Perplexities(NamedTuple):
    """The perplexities of a pair.

    Attributes:
        forward: Perplexity of the response after its context.
        backward: Perplexity of the last turn of the context given the response.
    """

    forward: float
    backward: float


@dataclass(frozen=True, slots=True)
class Bidirectional:
    """Scores pairs with two language models.

    Attributes:
        forward: Model that predicts the response.
        backward: Model that predicts the last turn: trained on responses and the turns before them, or a
            model that reads right to left (``direction`` is ``backward``). A general model can serve as both.
    """

    forward: LanguageModel
    backward: LanguageModel

    def score(self, pairs: Sequence[ContextResponse]) -> list[Perplexities]:
        """Return the perplexities of pairs.

        Args:
            pairs: Contexts with responses.

        Returns:
            Perplexities in the order of ``pairs``.
        """
        from_end = self.backward.direction == "backward"
        forward = self.forward.score(
            [answer(pair.response) for pair in pairs], [context_prompt(pair.context) for pair in pairs]
        )
        backward = self.backward.score(
            [answer(pair.context[-1]) for pair in pairs],
            [
                # A model that reads right to left sees the response first, so the prompt needs no
                # instruction.
                f"\nB: {one_line(pair.response)}" if from_end else response_prompt(pair.response)
                for pair in pairs
            ],
        )
        # A perplexity is the exponential of the mean loss.
        limited = ((exp(min(loss, _LARGEST_LOSS)) for loss in losses) for losses in (forward, backward))
        return list(map(Perplexities, *limited))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The highest perplexities of a response that fits.

    Attributes:
        forward: Highest forward perplexity, above 0.
        backward: Highest backward perplexity, above 0.

    Raises:
        InputError: A threshold is not above 0.
    """

    forward: float
    backward: float

    def __post_init__(self) -> None:
        """Check the thresholds."""
        if not (self.forward > 0 and self.backward > 0):
            raise InputError(f"thresholds {self.forward} and {self.backward}: perplexities must be above 0")


@dataclass(frozen=True, slots=True)
class Separation:
    """A threshold and how well it separates correct from random pairs.

    Attributes:
        threshold: Highest perplexity of a pair that is kept.
        right_kept: Share of correct pairs kept, from 0 to 1.
        random_kept: Share of random pairs kept, from 0 to 1.
    """

    threshold: float
    right_kept: float
    random_kept: float

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the shares of correct pairs kept and random pairs dropped, from 0 to 1."""
        return (self.right_kept + 1 - self.random_kept) / 2


def learn_thresholds(
    records: Iterable[Negative], scorer: Bidirectional, *, quantile: float | None = None, seed: int = 0
) -> tuple[Separation, Separation]:
    """Learn the forward and the backward threshold from correct responses.

    Random pairs are made by combining contexts with responses of other dialogues.

    Args:
        records: Records; those with label 1 and a context are used.
        scorer: Model that scores the pairs.
        quantile: See `threshold`.
        seed: Seed of the random pairs.

    Returns:
        The forward and the backward threshold.
    """
    right, others = map(scorer.score, pairs_to_learn(records, seed))
    forward, backward = map(threshold, zip(*right, strict=True), zip(*others, strict=True), [quantile] * 2)
    return forward, backward


def pairs_to_learn(
    records: Iterable[Negative], seed: int = 0
) -> tuple[list[ContextResponse], list[ContextResponse]]:
    """Return correct pairs and, for each context, a random pair.

    Args:
        records: Records; the first `PAIRS` with label 1 and a context are used.
        seed: Seed of the random pairs.

    Returns:
        The correct pairs, and the random pairs in the same order.

    Raises:
        InputError: There are fewer than ten correct pairs, or all are of one dialogue.
    """
    right = list(islice((record for record in records if record.label == 1 and record.context), PAIRS))
    if len(right) < _LEAST_PAIRS:
        raise InputError(
            f"only {len(right)} records for validation have label 1 and a context: {_LEAST_PAIRS} are "
            "needed; graphneg export writes those of a store"
        )
    if len({record.dialogue for record in right}) == 1:
        raise InputError("all records for validation come from one dialogue: random pairs need at least two")
    # In a doubled list a rotation is a slice.
    turned = right + right
    random: list[ContextResponse] = []
    for own in right:
        start = number(seed, "random pair", own.id) % len(right)
        others = [record for record in turned[start : start + len(right)] if record.dialogue != own.dialogue]
        # Short replies such as "Yes." recur: a random response must not say the same as the correct one.
        fits = NearTexts([own.response])
        # If all others say nearly the same, one of them has to do.
        other = next((record for record in others if record.response not in fits), others[0])
        random.append(pair_of(own)._replace(response=other.response))
    return [pair_of(record) for record in right], random


def threshold(right: Sequence[float], random: Sequence[float], quantile: float | None = None) -> Separation:
    """Return the perplexity up to which a pair counts as correct.

    Args:
        right: Perplexities of correct pairs.
        random: Perplexities of random pairs.
        quantile: Share of the correct pairs to keep, above 0 and at most 1. None: choose the lowest threshold
            with the highest balanced accuracy.

    Returns:
        The threshold, with the shares of pairs that it keeps.

    Raises:
        InputError: ``quantile`` is out of range, or one of the sequences is empty.

    Example:
        >>> threshold([1.0, 2.0, 3.0, 9.0], [4.0, 5.0, 6.0, 7.0])
        Separation(threshold=3.0, right_kept=0.75, random_kept=0.0)
    """
    if not right or not random:
        raise InputError("a threshold needs right pairs and random ones")
    if quantile is not None and not 0 < quantile <= 1:
        raise InputError(f"quantile {quantile}: must be above 0 and at most 1")
    fitting, others = sorted(right), sorted(random)
    # The balanced accuracy has its maximum at the perplexity of a correct pair.
    tried = fitting if quantile is None else [fitting[ceil(quantile * len(fitting)) - 1]]
    kept = [[bisect_right(pairs, value) / len(pairs) for pairs in (fitting, others)] for value in tried]
    separations = [Separation(value, *shares) for value, shares in zip(tried, kept, strict=True)]
    return max(separations, key=lambda found: (found.balanced_accuracy, -found.threshold))


def pair_of(record: Negative) -> ContextResponse:
    """Return the context and response of a record.

    Args:
        record: A record.

    Returns:
        The pair.
    """
    return ContextResponse(tuple(turn["text"] for turn in record.context), record.response)


@dataclass(frozen=True, slots=True)
class SelectionCriteria:
    """Which records to keep.

    Attributes:
        thresholds: Highest perplexities of a response that fits.
        keep: ``fitting`` for responses with both perplexities at or below their thresholds, ``unfitting`` for
            the others.
        per_context: Maximum number of records per context, those with the lowest backward perplexity; None
            for all.

    Raises:
        InputError: A value is out of range.
    """

    thresholds: Thresholds
    keep: Keep = "fitting"
    per_context: int | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        if self.keep not in get_args(Keep):
            raise InputError(f"keep {self.keep!r}: choose one of {', '.join(get_args(Keep))}")
        if self.per_context is not None and self.per_context < 1:
            raise InputError(f"per_context {self.per_context}: must be at least 1")

    def refusal(self, record: Negative) -> str | None:
        """Return why a scored record is dropped.

        Args:
            record: A record with both perplexities among its scores.

        Returns:
            The reason, or None if the record is kept.
        """
        reason = UNLIKELY_POST if record.scores[BACKWARD] > self.thresholds.backward else None
        # If both perplexities are too high, the forward one is reported.
        if record.scores[FORWARD] > self.thresholds.forward:
            reason = UNLIKELY
        if self.keep == "unfitting":
            return FITS if reason is None else None
        return reason


class Selected(NegativeStream):
    """The records of a file that selection keeps, as a stream.

    Consecutive records of one context are ranked together. Only one batch of contexts is in memory.
    ``summary`` counts the records that are kept, and those that are dropped by reason.
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
        """Initialize the stream; nothing is read yet.

        Args:
            records: File of records.
            scorer: Model that scores the records.
            selection: Which records to keep.
            batch: Number of contexts to score at a time.
            shard: Shard of the dialogues to select from; None for all.
            progress: Receives the progress of a run.

        Raises:
            InputError: ``batch`` is below 1.
        """
        super().__init__()
        if batch < 1:
            raise InputError(f"batch {batch}: must be at least 1")
        self._shard = shard_of(shard)
        self._path = Path(records)
        self._scorer = scorer
        self._selection = selection
        self._batch = batch
        self._progress = progress or NoProgress()

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        """Select batch by batch.

        Args:
            skip: Number of contexts that are done already.
            written: Not used.

        Yields:
            The records kept of each batch, with the number of contexts done so far.
        """
        self._progress.start("selection", None, "contexts")
        contexts = islice(numbered(contexts_of(read_negatives(self._path)), self._shard), skip, None)
        done = skip
        self._progress.advance(skip)
        while part := list(islice(contexts, self._batch)):
            kept = list(self._kept([records for _, records in part]))
            # Reversed, so that the first of several groups of a context decides.
            places = {(records[0].dialogue, records[0].turn): place for place, records in reversed(part)}
            done += len(part)
            self._progress.advance(len(part))
            yield Finished(done, kept, places=[places[record.dialogue, record.turn] for record in kept])
        self._progress.finish()

    def settings(self) -> Mapping[str, Any]:
        """Return what the output depends on. The batch size is not part of it."""
        with open(self._path, "rb") as file:
            # A resumed run must read the same records, not just the same path.
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
        """The shard of the dialogues to select from, or None."""
        return self._shard

    @property
    def asked(self) -> str:
        """A description of the run in words."""
        return f"{self._selection.keep} of {self._path}"

    def _kept(self, contexts: Sequence[Sequence[Negative]]) -> Iterator[Negative]:
        """Yield the records to keep; those of a context in order of backward perplexity."""
        usable: list[Negative] = []
        for records in contexts:
            # A generated response that equals a correct response of its context is not a negative.
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
            # CAPT ranks the responses of a context by backward perplexity.
            fine.sort(key=lambda record: (record.scores[BACKWARD], record.id))
            most = self._selection.per_context or len(fine)
            for rank, record in enumerate(fine):
                if self._is_kept(record, RANKED_OUT if rank >= most else None):
                    self.summary.add(record)
                    yield record

    def _is_kept(self, record: Negative, reason: str | None) -> bool:
        """Return whether there is no reason to drop a record, and count the reason if there is one."""
        if reason is not None:
            self.summary.skip(reason, record.id)
        return reason is None


def _said_before(record: Negative) -> tuple[str, ...]:
    """Return a record's context in the normal form of `match_key`."""
    return tuple(match_key(turn["text"]) for turn in record.context)


def _right_responses(record: Negative) -> list[str]:
    """Return the responses that a record says are correct for its own context."""
    if record.label:
        return [record.response]
    # The original response is correct for this context only if the context was not edited.
    original = record.original.get("response")
    return [original] if original and record.original.get("context") is None else []


def contexts_of(records: Iterable[Negative]) -> Iterator[list[Negative]]:
    """Group consecutive records of the same context.

    Args:
        records: Records.

    Returns:
        An iterator over the groups.
    """
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
    """Train a model to predict replies from posts, or posts from replies.

    Every turn after the first is a reply to the turns before it, and so is every loaded correct response.

    Args:
        model: Model to train.
        store: Store with dialogues.
        out: Folder to save the model to.
        tells: What to predict: ``reply`` for a forward model, ``post`` for a backward one.
        selection: Dialogues to learn from; all if None.
        seed: Seed of the training.
        arguments: Arguments of transformers' ``TrainingArguments`` and of
            `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        A report of the training.

    Raises:
        InputError: ``tells`` has another value, or the store has no reply.
    """
    if tells not in get_args(Predicted):
        raise InputError(f"tells {tells!r}: choose one of {', '.join(get_args(Predicted))}")
    examples = [
        Example(context_prompt(turns), answer(response))
        # Forward: the reply after the turns. Backward: the last turn after the reply.
        if tells == "reply"
        else Example(response_prompt(response), answer(turns[-1]))
        for context in read_contexts(store, ContextSelection(selection or Selection(), "every"))
        for turns in [[turn.text for turn in context.turns]]
        for response in context.positives
    ]
    if not examples:
        raise InputError("no dialogue in the store has a reply to learn from")
    return fine_tune(model, examples, out, seed=seed, **arguments)
