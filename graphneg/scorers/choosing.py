"""Choose the best negatives for each context from a larger number ("overgenerate, then choose").

Each record of a wrong response gets up to three scores:

- ``context_overlap``: the fraction of its content words that occur in the context
- ``selectional_fit``: how common the combinations of nouns and predicates in it are
- ``answers``: how well it answers the context, according to a judge. The judge is optional. It can be any
  `graphneg.rankers.base.Ranker`, such as a cross-encoder from sentence-transformers.

`graphneg.records.scores` computes the first two scores. `SelectionCriteria` contains limits for the scores,
and quotas for transforms and error categories. The margins have the same names and meaning as in
``mine_hard_negatives`` of sentence-transformers.

Example:
    The judge scores the correct response to a context 0.9, the first negative 0.85 and the second 0.3. With
    ``absolute_margin=0.2``, a negative may score at most 0.7, so only the second negative is chosen.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import msgspec

from graphneg import __version__
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker
from graphneg.records.files import read_negatives
from graphneg.records.resumable import NegativeBatch, NegativeStream, Written
from graphneg.records.scores import CONTEXT_OVERLAP, SELECTIONAL_FIT, measured
from graphneg.records.shards import numbered
from graphneg.shards import Shard, shard_of

ANSWERS = "answers"
"""The key of the judge's score in the scores of a record."""
BATCH = 32
"""Default number of dialogues whose records the judge scores in one call."""

# Reasons for not choosing a record. Each begins with a short code and a colon.
RIGHT = "right: the label of the record is 1"
UNRELATED = "no-clash: the response shares too few content words with the context"
UNFIT = "no-fit: the nouns of the response rarely occur with its predicates"
ANSWER = "answers: the score of the judge is too high"
NEAR_RIGHT = "answers: the score of the judge is too close to that of the correct response"
NO_RIGHT = "no-right-response: a margin needs a correct response to compare with"
OVER_QUOTA = "over-quota: the quota of the transform or category is full"
RANKED_OUT = "ranked-out: other records of the same context rank higher"


@dataclass(frozen=True, slots=True)
class SelectionCriteria:
    """The criteria for choosing negatives.

    Attributes:
        per_context: Maximum number of negatives per context; None for no maximum.
        min_scores: Minimum scores, keyed by the name of the score (``context_overlap`` or
            ``selectional_fit``).
        quotas: Maximum fractions of all chosen negatives, from 0 to 1, keyed by transform or error category.
        max_score: Highest score that the judge may give to a negative; None for no maximum.
        absolute_margin: Minimum difference between the judge's scores of the correct response and of a
            negative; None for no minimum.
        relative_margin: Like ``absolute_margin``, but as a fraction (0 to 1) of the score of the correct
            response. A negative may score at most ``1 - relative_margin`` times this score. None for no
            minimum.
    """

    per_context: int | None = None
    min_scores: Mapping[str, float] = field(default_factory=dict[str, float])
    quotas: Mapping[str, float] = field(default_factory=dict[str, float])
    max_score: float | None = None
    absolute_margin: float | None = None
    relative_margin: float | None = None

    def __post_init__(self) -> None:
        """Check that the values are in range.

        Raises:
            InputError: A value is out of range, or ``min_scores`` contains an unknown score.
        """
        if self.per_context is not None and self.per_context < 1:
            raise InputError(f"per_context must be at least 1, not {self.per_context}")
        if unknown := sorted(set(self.min_scores) - {CONTEXT_OVERLAP, SELECTIONAL_FIT}):
            raise InputError(
                f"unknown score {unknown[0]!r} in min_scores; choose one of {CONTEXT_OVERLAP}, "
                f"{SELECTIONAL_FIT}"
            )
        for name, share in {**self.min_scores, **self.quotas}.items():
            if not 0 <= share <= 1:
                raise InputError(f"{name} must be a fraction from 0 to 1, not {share}")
        if self.relative_margin is not None and not 0 <= self.relative_margin <= 1:
            raise InputError(f"relative_margin must be a fraction from 0 to 1, not {self.relative_margin}")

    @property
    def needs_judge(self) -> bool:
        """Whether a criterion uses the scores of a judge (a ranker that scores how well a response fits)."""
        return any(
            limit is not None for limit in (self.max_score, self.absolute_margin, self.relative_margin)
        )

    @property
    def limits_margin(self) -> bool:
        """Whether ``absolute_margin`` or ``relative_margin`` is set."""
        return self.absolute_margin is not None or self.relative_margin is not None

    def refusal(self, scores: Mapping[str, float], right: float | None) -> str | None:
        """Return the reason for not choosing a record because of its scores.

        Args:
            scores: The scores of the record, keyed by name.
            right: The judge's score of the correct response to the same context; None if it is unknown.

        Returns:
            The reason, which begins with a short code and a colon; None if the scores are within all limits.
        """
        for name, reason in ((CONTEXT_OVERLAP, UNRELATED), (SELECTIONAL_FIT, UNFIT)):
            if scores.get(name, 1.0) < self.min_scores.get(name, 0.0):
                return reason
        answers = scores.get(ANSWERS)
        if answers is None:
            return None
        if self.max_score is not None and answers > self.max_score:
            return ANSWER
        if not self.limits_margin:
            return None
        if right is None:
            return NO_RIGHT
        limits = [
            right - (self.absolute_margin or 0.0),
            # The limit must be below the score of the correct response (`right`). Some judges give scores
            # below 0, so use abs(): with right = -2 and a margin of 0.1, the limit is -2.2 and not -1.8.
            right - abs(right) * (self.relative_margin or 0.0),
        ]
        return NEAR_RIGHT if answers > min(limits) else None


class SelectedNegatives(NegativeStream):
    """A stream of the negatives that are chosen from a file.

    The records of a dialogue must be consecutive in the file. The candidates for a context are sorted by the
    judge's score (lowest first), then by ``selectional_fit`` and ``context_overlap`` (highest first). Ties
    are broken at random. The attribute ``summary`` counts the chosen records, and counts all other records by
    the reason for not choosing them.
    """

    def __init__(
        self,
        records: str | Path,
        choice: SelectionCriteria,
        judge: Ranker | None = None,
        *,
        judge_name: str = "",
        seed: int = 0,
        batch: int = BATCH,
        shard: Shard | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Initialize the stream. The file is not read before the stream is used.

        Args:
            records: The file of negatives.
            choice: The criteria for choosing negatives.
            judge: The model that scores how well responses answer their contexts; None if the criteria need
                no scores of a judge.
            judge_name: A name that identifies the judge, such as the path of its model. An interrupted run
                can be resumed only with the same name.
            seed: Seed for breaking ties.
            batch: Number of dialogues whose records the judge scores in one call.
            shard: Shard to process: only records whose dialogues belong to the shard are used. None for all
                records.
            progress: Progress display; advanced by the number of finished dialogues.

        Raises:
            InputError: The criteria need a judge and none is given, ``batch`` is less than 1, or quotas are
                combined with a shard.
        """
        super().__init__()
        self._shard = shard_of(shard)
        # A quota limits the fraction of all chosen records that have a certain transform or category. A run
        # on a shard knows only the records of this shard, so it cannot check the quota.
        if self._shard is not None and choice.quotas:
            raise InputError("quotas depend on all records kept before: select by quota after the merge")
        if batch < 1:
            raise InputError(f"batch must be at least 1, not {batch}")
        if choice.needs_judge and judge is None:
            raise InputError("max_score and margins require a judge")
        self._path, self._choice, self._judge, self._judge_name = Path(records), choice, judge, judge_name
        self._seed, self._batch, self._progress = seed, batch, progress or NoProgress()

    def run(self, skip: int, written: Written) -> Iterator[NegativeBatch]:
        """Choose records, and yield the chosen records of one batch of dialogues at a time.

        Args:
            skip: Number of dialogues that an interrupted run has already finished, which are skipped.
            written: Function that returns the records that the interrupted run has written to the output.

        Yields:
            The records that are chosen from a batch of dialogues.
        """
        self._progress.start("selection", None, "dialogues")
        self._progress.advance(skip)
        # Count the records that an interrupted run has already chosen, so that the quotas include them.
        kept = Counter(name for record in written() for name in _names(record))
        grouped = (list(group) for _, group in groupby(read_negatives(self._path), lambda one: one.dialogue))
        dialogues, done = islice(numbered(grouped, self._shard), skip, None), skip
        while part := list(islice(dialogues, self._batch)):
            chosen = list(self._chosen([record for _, records in part for record in records], kept))
            places = {records[0].dialogue: place for place, records in reversed(part)}
            done += len(part)
            self._progress.advance(len(part))
            yield NegativeBatch(done, chosen, places=[places[record.dialogue] for record in chosen])
        self._progress.finish()

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that determine the output. The batch size is not one of them."""
        with open(self._path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        choice = self._choice
        return {
            "version": __version__,
            "records": digest,
            "judge": self._judge_name,
            "least": dict(choice.min_scores),
            "quotas": dict(choice.quotas),
            "limits": [choice.per_context, choice.max_score, choice.absolute_margin, choice.relative_margin],
            "seed": self._seed,
        }

    @property
    def shard(self) -> Shard | None:
        """The shard whose records are read; None for all records."""
        return self._shard

    @property
    def description(self) -> str:
        """A phrase that names the input file in messages about the run, such as ``of negatives.jsonl``."""
        return f"of {self._path}"

    def _chosen(self, records: Sequence[Negative], kept: Counter[str]) -> Iterator[Negative]:
        """Yield the chosen records of a batch. Count all other records by the reason for refusing them."""
        fine: dict[tuple[str, ...], list[Negative]] = {}
        wrong = [record for record in records if self._passes(record, RIGHT if record.label == 1 else None)]
        # Records of correct responses can never be chosen. They are dropped before scoring, because the judge
        # is slow.
        for record, right in self._scored(wrong):
            if self._passes(record, self._choice.refusal(record.scores, right)):
                context = (record.dialogue, *(turn.text for turn in record.context))
                fine.setdefault(context, []).append(record)
        for of_context in fine.values():
            of_context.sort(key=self._order)
            amount = 0
            for record in of_context:
                full = amount == self._choice.per_context
                reason = RANKED_OUT if full else OVER_QUOTA if self._exceeds_quota(record, kept) else None
                if self._passes(record, reason):
                    amount += 1
                    kept.update(_names(record))
                    self.summary.add(record)
                    yield record

    def _scored(self, records: Sequence[Negative]) -> Iterator[tuple[Negative, float | None]]:
        """Add scores to records.

        Yields:
            Each record with its scores, and the judge's score of the correct response to the same context.
            This score is None if it is not needed or if the record has no correct response.
        """
        contexts = [[turn.text for turn in record.context] for record in records]
        answers: list[float] = []
        rights: dict[int, float] = {}
        if self._judge is not None and records:
            answers = self._judge.score(contexts, [record.response for record in records])
        if self._judge is not None and self._choice.limits_margin:
            # Margins are measured from the score of the correct response. Only records of edited responses
            # contain a correct response: the response before the edit.
            at = [index for index, record in enumerate(records) if record.original.response]
            texts = [str(records[index].original.response) for index in at]
            scores = self._judge.score([contexts[index] for index in at], texts) if at else []
            rights = dict(zip(at, scores, strict=True))
        for index, record in enumerate(records):
            scores = measured(record)
            if answers:
                scores[ANSWERS] = float(answers[index])
            yield msgspec.structs.replace(record, scores=scores), rights.get(index)

    def _order(self, record: Negative) -> tuple[float, float, float, int]:
        """Return a sort key for the records of a context. Records with smaller keys are chosen first."""
        scores = record.scores
        drawn = number(self._seed, "choice", record.id)
        return scores.get(ANSWERS, 0.0), -scores.get(SELECTIONAL_FIT, 1.0), -scores[CONTEXT_OVERLAP], drawn

    def _exceeds_quota(self, record: Negative, kept: Counter[str]) -> bool:
        """Return whether choosing a record would exceed the quota of one of its transforms or categories."""
        after = kept[_ALL] + 1
        return any(
            # The first record of a transform or category is always allowed. It may be a large fraction of the
            # few records that were chosen so far, but a small fraction of the final number.
            kept[name] and kept[name] + 1 > self._choice.quotas[name] * after
            for name in _names(record)
            if name in self._choice.quotas
        )

    def _passes(self, record: Negative, reason: str | None) -> bool:
        """Return whether a record is accepted. A refused record is counted by the reason.

        Args:
            record: The record.
            reason: The reason for refusing the record; None to accept it.
        """
        if reason is not None:
            self.summary.skip(reason, record.id)
        return reason is None


# Key for the total number of chosen records. Other keys are names of transforms and categories.
_ALL = ""


def _names(record: Negative) -> set[str]:
    """Return the keys of the counts to which a record adds.

    The keys are the names of its transforms and error categories, and `_ALL` for the count of all records.
    """
    made_by = (edit.transform for edit in record.edits if edit.transform is not None)
    return {_ALL, *record.categories, *made_by}
