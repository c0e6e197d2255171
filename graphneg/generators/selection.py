"""Select responses by their perplexities in both directions (CAPT, Ou et al. 2022, section 3.3).

A response fits its context if language models assign two texts a low perplexity: the response after the
context (forward), and the last turn of the context given the response (backward). `Selected` reads a file of
records and scores the response of each record. It keeps either the records whose responses fit their contexts
or the other records. In this example, it keeps fitting responses::

    context     A: How was the match?
    kept        B: We lost, and the rain never stopped.   forward 21, backward 18
    dropped     B: The soup needs salt.                   forward 160, backward 210

`learn_thresholds` learns a perplexity threshold for each direction, from correct pairs and random pairs of a
context and a response. `train_scorer` trains a model for one of the two directions.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from math import ceil, exp
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import msgspec

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
from graphneg.records.resumable import NegativeBatch, NegativeStream, Written
from graphneg.records.shards import numbered
from graphneg.shards import Shard, shard_of
from graphneg.store.connection import Store
from graphneg.store.dialogues import Selection

FORWARD = "forward_perplexity"
"""Key of the forward perplexity in the scores of a record."""
BACKWARD = "backward_perplexity"
"""Key of the backward perplexity in the scores of a record."""

_LARGEST_LOSS = 50.0
"""Highest mean loss per token that is converted into a perplexity; a higher loss counts as this value.
Otherwise the perplexity, which is the exponential of the loss, could overflow."""
PAIRS = 1_000
"""Maximum number of correct pairs from which thresholds are learned."""

_LEAST_PAIRS = 10
"""Minimum number of correct pairs from which thresholds are learned."""
BATCH = 32
"""Default number of contexts whose records are scored together."""

NO_CONTEXT = "no-context: no turn precedes the response"
NO_RESPONSE = "no-response: the response is empty"
UNLIKELY = "unlikely-response: the forward perplexity of the response is above the threshold"
UNLIKELY_POST = "unlikely-post: the backward perplexity of the context is above the threshold"
FITS = "fits: neither perplexity is above its threshold"
RIGHT = "right-response: the response repeats a correct response of its context"
RANKED_OUT = "ranked-out: other records of the same context have a lower backward perplexity"
"""Reasons to drop a record, as ``code: sentence``."""

Keep = Literal["fitting", "unfitting"]
"""Type of `SelectionCriteria.keep`: with ``fitting``, keep the responses that fit their context; with
``unfitting``, keep the responses that do not fit."""
Predicted = Literal["reply", "post"]
"""Type of the argument ``direction`` of `train_scorer`, which names the text that a model learns to predict:
a reply from the turns before it, or the post (the last of these turns) from the reply."""


class ContextResponse(NamedTuple):
    """A context and a response, which may be correct or wrong.

    Attributes:
        context: Text of each turn of the context, oldest first.
        response: Text of the response.
    """

    context: tuple[str, ...]
    response: str


class Perplexities(NamedTuple):
    """The perplexities of a context and a response in both directions.

    Attributes:
        forward: Perplexity of the response after its context.
        backward: Perplexity of the last turn of the context given the response.
    """

    forward: float
    backward: float


@dataclass(frozen=True, slots=True)
class Bidirectional:
    """Scores contexts and responses with two language models.

    Attributes:
        forward: Model that predicts the response from the context.
        backward: Model that predicts the last turn of the context from the response. It may be a model that
            was trained for this task, a model that reads right to left (its ``direction`` is ``backward``),
            or a general language model, which may be the same as ``forward``.
    """

    forward: LanguageModel
    backward: LanguageModel

    def score(self, pairs: Sequence[ContextResponse]) -> list[Perplexities]:
        """Return the forward and the backward perplexity of each pair of a context and a response.

        Args:
            pairs: Contexts, each with a response.

        Returns:
            One `Perplexities` object per pair, in the order of ``pairs``.
        """
        from_end = self.backward.direction == "backward"
        forward = self.forward.score(
            [answer(pair.response) for pair in pairs], [context_prompt(pair.context) for pair in pairs]
        )
        backward = self.backward.score(
            [answer(pair.context[-1]) for pair in pairs],
            [
                # A model that reads right to left processes the response before the turn that it predicts, so
                # its prompt is only the response, without an instruction such as "This answers".
                f"\nB: {one_line(pair.response)}" if from_end else response_prompt(pair.response)
                for pair in pairs
            ],
        )
        # A perplexity is the exponential of the mean loss per token.
        limited = ((exp(min(loss, _LARGEST_LOSS)) for loss in losses) for losses in (forward, backward))
        return list(map(Perplexities, *limited))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The highest perplexities with which a response still fits its context.

    Attributes:
        forward: Highest forward perplexity of a fitting response, above 0.
        backward: Highest backward perplexity of a fitting response, above 0.

    Raises:
        InputError: A threshold is not above 0.
    """

    forward: float
    backward: float

    def __post_init__(self) -> None:
        """Check that the thresholds are above 0."""
        if not (self.forward > 0 and self.backward > 0):
            raise InputError(f"the thresholds must be above 0, not {self.forward} and {self.backward}")


@dataclass(frozen=True, slots=True)
class Separation:
    """A perplexity threshold, and how well it separates correct pairs from random pairs.

    Attributes:
        threshold: Highest perplexity of a pair that is kept.
        right_kept: Fraction of the correct pairs that are kept, from 0 to 1.
        random_kept: Fraction of the random pairs that are kept, from 0 to 1.
    """

    threshold: float
    right_kept: float
    random_kept: float

    @property
    def balanced_accuracy(self) -> float:
        """The mean of two fractions: correct pairs that are kept, and random pairs that are dropped."""
        return (self.right_kept + 1 - self.random_kept) / 2


def learn_thresholds(
    records: Iterable[Negative], scorer: Bidirectional, *, quantile: float | None = None, seed: int = 0
) -> tuple[Separation, Separation]:
    """Learn the forward and the backward perplexity threshold from records of correct responses.

    A pair consists of a context and a response. Each threshold should separate correct pairs from random
    pairs. In a random pair, the response comes from another dialogue than the context.

    Args:
        records: Records of correct responses. Only records with label 1 and a context are used.
        scorer: Models that score the pairs.
        quantile: Fraction of the correct pairs that each threshold should keep; None to choose the thresholds
            with the best balanced accuracy (see `threshold`).
        seed: Seed for drawing the random pairs.

    Returns:
        The forward and the backward threshold, each with the fractions of correct and random pairs that it
        keeps.
    """
    right, others = map(scorer.score, pairs_to_learn(records, seed))
    forward, backward = map(threshold, zip(*right, strict=True), zip(*others, strict=True), [quantile] * 2)
    return forward, backward


def pairs_to_learn(
    records: Iterable[Negative], seed: int = 0
) -> tuple[list[ContextResponse], list[ContextResponse]]:
    """Return correct pairs of a context and a response, and for each context a pair with a random response.

    Args:
        records: Records with correct and wrong responses. Only the first `PAIRS` records with label 1 and a
            context are used.
        seed: Seed for drawing the random pairs.

    Returns:
        A list of correct pairs, and a list of random pairs with the same contexts in the same order.

    Raises:
        InputError: There are fewer than ten correct pairs, or all of them are from one dialogue.
    """
    right = list(islice((record for record in records if record.label == 1 and record.context), PAIRS))
    if len(right) < _LEAST_PAIRS:
        raise InputError(
            f"only {len(right)} records for validation have label 1 and a context: {_LEAST_PAIRS} are "
            "needed; graphneg export writes those of a store"
        )
    if len({record.dialogue for record in right}) == 1:
        raise InputError("all records for validation come from one dialogue: random pairs need at least two")
    # Pair each context with a response from another dialogue. The search starts at a random record and ends
    # at the record before it. The doubled list contains the records in this order as one slice.
    turned = right + right
    random: list[ContextResponse] = []
    for own in right:
        start = number(seed, "random pair", own.id) % len(right)
        others = [record for record in turned[start : start + len(right)] if record.dialogue != own.dialogue]
        # Short replies such as "Yes." occur often. A random response must not be equal to the correct
        # response by chance.
        fits = NearTexts([own.response])
        # If all these responses nearly equal the correct response, for example "Yes.", use the first of them.
        other = next((record for record in others if record.response not in fits), others[0])
        random.append(pair_of(own)._replace(response=other.response))
    return [pair_of(record) for record in right], random


def threshold(right: Sequence[float], random: Sequence[float], quantile: float | None = None) -> Separation:
    """Return a perplexity threshold that separates correct pairs from random pairs.

    Args:
        right: Perplexities of correct pairs.
        random: Perplexities of random pairs.
        quantile: Fraction of the correct pairs to keep, above 0 and at most 1. With None, the threshold with
            the highest balanced accuracy is chosen; if several thresholds are equally good, the lowest.

    Returns:
        The threshold, and the fractions of correct and random pairs that it keeps.

    Raises:
        InputError: ``quantile`` is out of range, or ``right`` or ``random`` is empty.

    Example:
        >>> threshold([1.0, 2.0, 3.0, 9.0], [4.0, 5.0, 6.0, 7.0])
        Separation(threshold=3.0, right_kept=0.75, random_kept=0.0)
    """
    if not right or not random:
        raise InputError("learning a threshold needs both correct and random pairs")
    if quantile is not None and not 0 < quantile <= 1:
        raise InputError(f"quantile must be above 0 and at most 1, not {quantile}")
    fitting, others = sorted(right), sorted(random)
    # Only perplexities of correct pairs need to be tried as thresholds. For example, if the correct pairs
    # have the perplexities 3 and 9, the threshold 5 keeps the same correct pairs as 3, but maybe more random
    # pairs.
    tried = fitting if quantile is None else [fitting[ceil(quantile * len(fitting)) - 1]]
    kept = [[bisect_right(pairs, value) / len(pairs) for pairs in (fitting, others)] for value in tried]
    separations = [Separation(value, *shares) for value, shares in zip(tried, kept, strict=True)]
    return max(separations, key=lambda found: (found.balanced_accuracy, -found.threshold))


def pair_of(record: Negative) -> ContextResponse:
    """Return the context and the response of a record as a pair.

    Args:
        record: Record of a negative or a positive.

    Returns:
        The texts of the context's turns, and the response.
    """
    return ContextResponse(tuple(turn.text for turn in record.context), record.response)


@dataclass(frozen=True, slots=True)
class SelectionCriteria:
    """Criteria that determine which records are kept.

    Attributes:
        thresholds: Highest perplexities with which a response still fits its context.
        keep: ``fitting`` to keep responses whose two perplexities are at most as high as their thresholds,
            ``unfitting`` to keep all other responses.
        per_context: Maximum number of records to keep per context, those with the lowest backward perplexity;
            None for no maximum.

    Raises:
        InputError: ``keep`` has an unknown value, or ``per_context`` is below 1.
    """

    thresholds: Thresholds
    keep: Keep = "fitting"
    per_context: int | None = None

    def __post_init__(self) -> None:
        """Check that ``keep`` and ``per_context`` have valid values."""
        if self.keep not in get_args(Keep):
            raise InputError(
                f"unknown value {self.keep!r} of keep; choose one of {', '.join(get_args(Keep))}"
            )
        if self.per_context is not None and self.per_context < 1:
            raise InputError(f"per_context must be at least 1, not {self.per_context}")

    def refusal(self, record: Negative) -> str | None:
        """Return why a record is dropped, judging by its perplexities.

        Args:
            record: Record whose scores include both perplexities.

        Returns:
            The reason as ``code: sentence``, or None if the record is kept.
        """
        reason = UNLIKELY_POST if record.scores[BACKWARD] > self.thresholds.backward else None
        # If both the forward and the backward perplexity are too high, report only the forward perplexity.
        if record.scores[FORWARD] > self.thresholds.forward:
            reason = UNLIKELY
        if self.keep == "unfitting":
            return FITS if reason is None else None
        return reason


class Selected(NegativeStream):
    """A stream of the records in a file whose perplexities meet the criteria of a `SelectionCriteria`.

    Consecutive records of the same context are ranked together. Only one batch of contexts is in memory at a
    time. ``summary`` counts the kept records, and for each reason the records that were dropped for it.
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
        """Initialize the stream. Nothing is read before the first iteration.

        Args:
            records: Path of the file with the records, as written by ``graphneg generate``.
            scorer: Models that compute the perplexities of each record.
            selection: Criteria that determine which records are kept.
            batch: Number of contexts whose records are scored together.
            shard: Shard to process: only records whose dialogues belong to the shard are read. None for all
                records.
            progress: Progress display, which counts the finished contexts; None for no display.

        Raises:
            InputError: ``batch`` is below 1.
        """
        super().__init__()
        if batch < 1:
            raise InputError(f"batch must be at least 1, not {batch}")
        self._shard = shard_of(shard)
        self._path = Path(records)
        self._scorer = scorer
        self._selection = selection
        self._batch = batch
        self._progress = progress or NoProgress()

    def run(self, skip: int, written: Written) -> Iterator[NegativeBatch]:
        """Select records from one batch of contexts after another.

        Args:
            skip: Number of contexts that an interrupted run has already finished.
            written: Not used, because the choice of records does not depend on earlier records.

        Yields:
            For each batch, the records that are kept, and the number of contexts finished so far.
        """
        self._progress.start("selection", None, "contexts")
        contexts = islice(numbered(contexts_of(read_negatives(self._path)), self._shard), skip, None)
        done = skip
        self._progress.advance(skip)
        while part := list(islice(contexts, self._batch)):
            kept = list(self._kept([records for _, records in part]))
            # When shards are merged, records are sorted by the position of their context in the input file.
            # If a context occurs at several positions, use the first. A dict keeps the last value of a key,
            # so go through the positions in reverse.
            places = {(records[0].dialogue, records[0].turn): place for place, records in reversed(part)}
            done += len(part)
            self._progress.advance(len(part))
            yield NegativeBatch(done, kept, places=[places[record.dialogue, record.turn] for record in kept])
        self._progress.finish()

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that determine the output. The batch size is not one of them."""
        with open(self._path, "rb") as file:
            # Use a digest of the content, because the path alone does not show whether the file has changed.
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
        """The shard whose records are read; None for all records."""
        return self._shard

    @property
    def description(self) -> str:
        """A description of the run for messages: the criterion ``keep`` and the name of the input file."""
        return f"{self._selection.keep} of {self._path}"

    def _kept(self, contexts: Sequence[Sequence[Negative]]) -> Iterator[Negative]:
        """Yield the records to keep, and add the forward and backward perplexity to the scores of each.

        ``contexts`` has one list of records per context. The records of a context are yielded in ascending
        order of their backward perplexity.
        """
        usable: list[Negative] = []
        for records in contexts:
            # Drop a record with label 0 if its response equals a correct response to the same context.
            right = {
                (_context_key(one), match_key(text)) for one in records for text in _right_responses(one)
            }
            for record in records:
                lack = None if record.response.strip() else NO_RESPONSE
                if not record.label and (_context_key(record), match_key(record.response)) in right:
                    lack = RIGHT
                if self._is_kept(record, lack if record.context else NO_CONTEXT):
                    usable.append(record)
        scores = self._scorer.score([pair_of(record) for record in usable])
        scored = [
            msgspec.structs.replace(
                record, scores={**record.scores, FORWARD: found.forward, BACKWARD: found.backward}
            )
            for record, found in zip(usable, scores, strict=True)
        ]
        for records in contexts_of(scored):
            fine = [record for record in records if self._is_kept(record, self._selection.refusal(record))]
            # As in CAPT (Ou et al. 2022), sort the responses to a context by their backward perplexity.
            fine.sort(key=lambda record: (record.scores[BACKWARD], record.id))
            most = self._selection.per_context or len(fine)
            for rank, record in enumerate(fine):
                if self._is_kept(record, RANKED_OUT if rank >= most else None):
                    self.summary.add(record)
                    yield record

    def _is_kept(self, record: Negative, reason: str | None) -> bool:
        """Return whether to keep a record. If there is a ``reason`` to drop it, count it as dropped."""
        if reason is not None:
            self.summary.skip(reason, record.id)
        return reason is None


def _context_key(record: Negative) -> tuple[str, ...]:
    """Return the normalised texts of a record's context. Equal contexts have equal normalised texts."""
    return tuple(match_key(turn.text) for turn in record.context)


def _right_responses(record: Negative) -> list[str]:
    """Return a list with the correct response that a record contains; empty if there is none."""
    if record.label:
        return [record.response]
    # Use the original response only if the context was not edited. In an edited context, it may be wrong.
    original = record.original.response
    return [original] if original and record.original.context is None else []


def contexts_of(records: Iterable[Negative]) -> Iterator[list[Negative]]:
    """Group consecutive records of the same context.

    Args:
        records: Records in which all records of a context (a dialogue and a turn) are consecutive.

    Returns:
        An iterator over lists of records. All records in a list have the same context.
    """
    return (list(group) for _, group in groupby(records, key=lambda record: (record.dialogue, record.turn)))


def train_scorer(
    model: LanguageModel,
    store: Store,
    out: str | Path,
    *,
    direction: Predicted = "reply",
    selection: Selection | None = None,
    seed: int = 0,
    **arguments: Any,
) -> TrainingReport:
    """Train a model to predict a reply from the turns before it, or the last of these turns from the reply.

    Each turn except the first counts as a reply to the turns before it. Loaded correct responses also count
    as replies.

    Args:
        model: Model to train.
        store: Store that contains the dialogues.
        out: Folder to save the trained model in.
        direction: What the model learns to predict: ``reply`` for a forward model, ``post`` (the turn before
            the reply) for a backward model.
        selection: Dialogues to learn from; None for all dialogues of the store.
        seed: Seed for the training.
        arguments: Further arguments for transformers' ``TrainingArguments`` or for
            `graphneg.nn.fine_tuning.fine_tune`.

    Returns:
        A report with the losses of the training.

    Raises:
        InputError: ``direction`` has an unknown value, or the store has no replies.
    """
    if direction not in get_args(Predicted):
        raise InputError(f"unknown direction {direction!r}; choose one of {', '.join(get_args(Predicted))}")
    examples = [
        Example(context_prompt(turns), answer(response))
        # A forward model reads the turns and predicts the reply. A backward model reads the reply and
        # predicts the last turn.
        if direction == "reply"
        else Example(response_prompt(response), answer(turns[-1]))
        for context in read_contexts(store, ContextSelection(selection or Selection(), "every"))
        for turns in [[turn.text for turn in context.turns]]
        for response in context.positives
    ]
    if not examples:
        raise InputError("nothing to train on: no dialogue in the store has a reply")
    return fine_tune(model, examples, out, seed=seed, **arguments)
