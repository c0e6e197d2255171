"""Choose the best negatives of each context from a larger set ("overgenerate, then choose").

Each record of a wrong response gets up to three scores:

- ``clash`` and ``fit``: model-free scores, see `graphneg.records.scores`.
- ``answers``: how well the response would do as a reply, by a judge. A judge is any
  `graphneg.rankers.base.Ranker`, such as a cross-encoder of sentence-transformers. It is optional.

`Choice` sets limits on the scores and quotas for transforms and categories. The margins have the names and
the meaning of those in sentence-transformers' ``mine_hard_negatives``.

Example:
    The judge gives the right response of a context 0.9 and two negatives 0.85 and 0.3. With
    ``absolute_margin=0.2``, only the second negative is chosen, because the first scores above 0.7.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from graphneg import __version__
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.progress import NoProgress, Progress
from graphneg.rankers.base import Ranker
from graphneg.records.files import read_negatives
from graphneg.records.resumable import Finished, NegativeStream, Written
from graphneg.records.scores import CLASH, FIT, measured
from graphneg.records.shards import numbered
from graphneg.shards import Shard, shard_of

ANSWERS = "answers"
"""The name of the judge's score."""
BATCH = 32
"""Default number of dialogues per call of the judge."""

# Reasons for not choosing a record, as "code: explanation".
RIGHT = "right: its label is 1"
UNRELATED = "no-clash: it shares too few content words with the context"
UNFIT = "no-fit: its nouns rarely occur with these predicates"
ANSWER = "answers: the score of the judge is too high"
NEAR_RIGHT = "answers: the score of the judge is too close to that of the right response"
NO_RIGHT = "no-right-response: margins need one to compare with"
OVER_QUOTA = "over-quota: the quota of its transform or category is full"
RANKED_OUT = "ranked-out: others of the same context score better"


@dataclass(frozen=True, slots=True)
class Choice:
    """The criteria for choosing negatives.

    Attributes:
        per_context: Maximum number of negatives per context, or None for no maximum.
        least: Minimum scores, by name of the score (``clash``, ``fit``).
        quotas: Maximum shares of the chosen negatives, by transform or category.
        max_score: Maximum score that the judge may give to a negative.
        absolute_margin: Minimum margin below the judge's score of the right response.
        relative_margin: Minimum margin as a share of the right response's score: a negative scores at most
            ``1 - relative_margin`` times that score.
    """

    per_context: int | None = None
    least: Mapping[str, float] = field(default_factory=dict[str, float])
    quotas: Mapping[str, float] = field(default_factory=dict[str, float])
    max_score: float | None = None
    absolute_margin: float | None = None
    relative_margin: float | None = None

    def __post_init__(self) -> None:
        """Check that the values are in range.

        Raises:
            InputError: A value is out of range, or ``least`` names an unknown score.
        """
        if self.per_context is not None and self.per_context < 1:
            raise InputError(f"per_context {self.per_context}: must be at least 1")
        if unknown := sorted(set(self.least) - {CLASH, FIT}):
            raise InputError(f"least {unknown[0]!r}: choose one of {CLASH}, {FIT}")
        for name, share in {**self.least, **self.quotas}.items():
            if not 0 <= share <= 1:
                raise InputError(f"{name} {share}: a share from 0 to 1")
        if self.relative_margin is not None and not 0 <= self.relative_margin <= 1:
            raise InputError(f"relative_margin {self.relative_margin}: a share from 0 to 1")

    @property
    def judged(self) -> bool:
        """Whether a judge is needed."""
        return any(
            limit is not None for limit in (self.max_score, self.absolute_margin, self.relative_margin)
        )

    @property
    def compares(self) -> bool:
        """Whether the judge must also score the right responses."""
        return self.absolute_margin is not None or self.relative_margin is not None

    def refusal(self, scores: Mapping[str, float], right: float | None) -> str | None:
        """Return why a record is not chosen.

        Args:
            scores: The scores of the record.
            right: The judge's score of the right response, if known.

        Returns:
            The reason, or None if the scores are within all limits.
        """
        for name, reason in ((CLASH, UNRELATED), (FIT, UNFIT)):
            if scores.get(name, 1.0) < self.least.get(name, 0.0):
                return reason
        answers = scores.get(ANSWERS)
        if answers is None:
            return None
        if self.max_score is not None and answers > self.max_score:
            return ANSWER
        if not self.compares:
            return None
        if right is None:
            return NO_RIGHT
        limits = [
            right - (self.absolute_margin or 0.0),
            # abs() keeps the limit below the score for judges whose scores can be negative.
            right - abs(right) * (self.relative_margin or 0.0),
        ]
        return NEAR_RIGHT if answers > min(limits) else None


class Chosen(NegativeStream):
    """A stream of the negatives that are chosen from a file.

    Records of the same dialogue must follow each other. The candidates of a context are ranked by the judge's
    score (lowest first), then by ``fit`` and ``clash`` (highest first). The seed breaks ties. The stream's
    ``summary`` counts the chosen records, and the others by reason.
    """

    def __init__(
        self,
        records: str | Path,
        choice: Choice,
        judge: Ranker | None = None,
        *,
        judge_name: str = "",
        seed: int = 0,
        batch: int = BATCH,
        shard: Shard | str | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Initialize the stream; the file is read later.

        Args:
            records: The file of negatives.
            choice: The criteria.
            judge: The judge, if the criteria need one.
            judge_name: The name of the judge. The output depends on it.
            seed: Seed for breaking ties.
            batch: Number of dialogues that are scored together.
            shard: The part of the dialogues to read, or None for all.
            progress: Receives progress updates.

        Raises:
            InputError: The criteria need a judge and none is given, the batch is empty, or quotas are
                combined with a shard.
        """
        super().__init__()
        self._shard = shard_of(shard)
        # A quota is a share of all chosen records, which one shard does not know.
        if self._shard is not None and choice.quotas:
            raise InputError("quotas depend on all records kept before: select by quota after the merge")
        if batch < 1:
            raise InputError(f"batch {batch}: must be at least 1")
        if choice.judged and judge is None:
            raise InputError("max_score and margins need a judge")
        self._path, self._choice, self._judge, self._judge_name = Path(records), choice, judge, judge_name
        self._seed, self._batch, self._progress = seed, batch, progress or NoProgress()

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        """Choose records, batch by batch.

        Args:
            skip: Number of dialogues that an earlier run has finished.
            written: Returns the records that an earlier run has written.

        Yields:
            The chosen records of each batch of dialogues.
        """
        self._progress.start("selection", None, "dialogues")
        self._progress.advance(skip)
        # Quotas must count what an interrupted run has chosen already.
        kept = Counter(name for record in written() for name in _names(record))
        grouped = (list(group) for _, group in groupby(read_negatives(self._path), lambda one: one.dialogue))
        dialogues, done = islice(numbered(grouped, self._shard), skip, None), skip
        while part := list(islice(dialogues, self._batch)):
            chosen = list(self._chosen([record for _, records in part for record in records], kept))
            places = {records[0].dialogue: place for place, records in reversed(part)}
            done += len(part)
            self._progress.advance(len(part))
            yield Finished(done, chosen, places=[places[record.dialogue] for record in chosen])
        self._progress.finish()

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that the output depends on; the size of a batch is not one of them."""
        with open(self._path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        choice = self._choice
        return {
            "version": __version__,
            "records": digest,
            "judge": self._judge_name,
            "least": dict(choice.least),
            "quotas": dict(choice.quotas),
            "limits": [choice.per_context, choice.max_score, choice.absolute_margin, choice.relative_margin],
            "seed": self._seed,
        }

    @property
    def shard(self) -> Shard | None:
        """The part of the dialogues that is read."""
        return self._shard

    @property
    def asked(self) -> str:
        """A description of the request for messages."""
        return f"of {self._path}"

    def _chosen(self, records: Sequence[Negative], kept: Counter[str]) -> Iterator[Negative]:
        """Yield the chosen records of a batch, and count the others by reason."""
        fine: dict[tuple[str, ...], list[Negative]] = {}
        wrong = [record for record in records if self._passes(record, RIGHT if record.label == 1 else None)]
        # Right responses are refused before the judge, which is the slow part, scores anything.
        for record, right in self._scored(wrong):
            if self._passes(record, self._choice.refusal(record.scores, right)):
                context = (record.dialogue, *(turn["text"] for turn in record.context))
                fine.setdefault(context, []).append(record)
        for of_context in fine.values():
            of_context.sort(key=self._order)
            amount = 0
            for record in of_context:
                full = amount == self._choice.per_context
                reason = RANKED_OUT if full else OVER_QUOTA if self._is_over(record, kept) else None
                if self._passes(record, reason):
                    amount += 1
                    kept.update(_names(record))
                    self.summary.add(record)
                    yield record

    def _scored(self, records: Sequence[Negative]) -> Iterator[tuple[Negative, float | None]]:
        """Yield the records with their scores, and the judge's score of the right response if needed."""
        contexts = [[turn["text"] for turn in record.context] for record in records]
        answers: list[float] = []
        rights: dict[int, float] = {}
        if self._judge is not None and records:
            answers = self._judge.score(contexts, [record.response for record in records])
        if self._judge is not None and self._choice.compares:
            # Only an edited response has an original to compare with.
            at = [index for index, record in enumerate(records) if record.original.get("response")]
            texts = [str(records[index].original["response"]) for index in at]
            scores = self._judge.score([contexts[index] for index in at], texts) if at else []
            rights = dict(zip(at, scores, strict=True))
        for index, record in enumerate(records):
            scores = measured(record)
            if answers:
                scores[ANSWERS] = float(answers[index])
            yield replace(record, scores=scores), rights.get(index)

    def _order(self, record: Negative) -> tuple[float, float, float, int]:
        """Return the sort key of a record within its context."""
        scores = record.scores
        drawn = number(self._seed, "choice", record.id)
        return scores.get(ANSWERS, 0.0), -scores.get(FIT, 1.0), -scores[CLASH], drawn

    def _is_over(self, record: Negative, kept: Counter[str]) -> bool:
        """Return whether choosing a record would exceed a quota of its transforms or categories."""
        after = kept[_ALL] + 1
        return any(
            # Always allow the first record of a name: a quota below 1 would refuse it, whatever comes later.
            kept[name] and kept[name] + 1 > self._choice.quotas[name] * after
            for name in _names(record)
            if name in self._choice.quotas
        )

    def _passes(self, record: Negative, reason: str | None) -> bool:
        """Return whether there is no reason against a record; count the reason if there is one."""
        if reason is not None:
            self.summary.skip(reason, record.id)
        return reason is None


# The name under which all records count.
_ALL = ""


def _names(record: Negative) -> set[str]:
    """Return the names under which a record counts for quotas: its transforms, its categories, and all."""
    return {_ALL, *record.categories, *(edit["transform"] for edit in record.edits)}
