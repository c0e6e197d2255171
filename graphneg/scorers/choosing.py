"""Overgenerate, then choose: wrong responses are scored, and the best of each context are kept.

Records of wrong responses go in; those that are chosen come out, with what was found among their scores:

- ``clash`` and ``fit``: see `graphneg.records.scores`.
- ``answers``: how well it would do as a reply, by a judge: any `graphneg.rankers.base.Ranker`, such as a
  cross-encoder of sentence-transformers. None is needed.

Margins are named and meant as in sentence-transformers' ``mine_hard_negatives``.
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
BATCH = 32

RIGHT = "right: its label is 1"
UNRELATED = "no-clash: it says too little of what the context says"
UNFIT = "no-fit: its nouns are seldom with these predicates"
ANSWER = "answers: the judge scores it too high"
NEAR_RIGHT = "answers: the judge scores it too near the right response"
NO_RIGHT = "no-right-response: margins need one to compare with"
OVER_QUOTA = "over-quota: enough of its transform or category is kept"
RANKED_OUT = "ranked-out: others of the same context score better"


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen. ``least`` has, by score, what a record needs; ``quotas``, by transform or category, the
    largest share of all that is kept.

    ``max_score``: a judge's highest score of a wrong response. ``absolute_margin``: so far its score lies
    below the right response's; ``relative_margin``: it is at most ``1 - relative_margin`` times that.

    Raises `InputError` for values out of range.
    """

    per_context: int | None = None
    least: Mapping[str, float] = field(default_factory=dict[str, float])
    quotas: Mapping[str, float] = field(default_factory=dict[str, float])
    max_score: float | None = None
    absolute_margin: float | None = None
    relative_margin: float | None = None

    def __post_init__(self) -> None:
        if self.per_context is not None and self.per_context < 1:
            raise InputError(f"per_context {self.per_context}: at least one of each context, please")
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
        """Whether a judge scores right responses as well."""
        return self.absolute_margin is not None or self.relative_margin is not None

    def refusal(self, scores: Mapping[str, float], right: float | None) -> str | None:
        """Why a record of such scores is not chosen, whose right response a judge scores so; None if it may
        be."""
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
            right - abs(right) * (self.relative_margin or 0.0),
        ]
        return NEAR_RIGHT if answers > min(limits) else None


class Chosen(NegativeStream):
    """What is chosen of a file of records. ``summary`` counts what was kept, and what was not and why.

    Records of one dialogue that follow each other are looked at together. Those of a context are ranked by
    the judge (the lower, the more surely wrong), then by how well they fit, then by how much they clash; of
    equals the seed decides.
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
        super().__init__()
        self._shard = shard_of(shard)
        if self._shard is not None and choice.quotas:
            raise InputError("quotas go by all that was kept before: choose by them after the merge")
        if batch < 1:
            raise InputError(f"batch {batch}: at least one dialogue")
        if choice.judged and judge is None:
            raise InputError("max_score and margins need a judge")
        self._path, self._choice, self._judge, self._judge_name = Path(records), choice, judge, judge_name
        self._seed, self._batch, self._progress = seed, batch, progress or NoProgress()

    def run(self, skip: int, written: Written) -> Iterator[Finished]:
        """The batches of dialogues behind the first ``skip``, each with the records that are chosen."""
        self._progress.start("selection", None, "dialogues")
        self._progress.advance(skip)
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
        """What the output depends on; the batch is not part of it."""
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
        """The part of the dialogues whose records are looked at."""
        return self._shard

    @property
    def asked(self) -> str:
        """What is asked for, in words."""
        return f"of {self._path}"

    def _chosen(self, records: Sequence[Negative], kept: Counter[str]) -> Iterator[Negative]:
        fine: dict[tuple[str, ...], list[Negative]] = {}
        wrong = [record for record in records if self._passes(record, RIGHT if record.label == 1 else None)]
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
        """The records with their scores, and what the judge says of the right response, where it is asked."""
        contexts = [[turn["text"] for turn in record.context] for record in records]
        answers: list[float] = []
        rights: dict[int, float] = {}
        if self._judge is not None and records:
            answers = self._judge.score(contexts, [record.response for record in records])
        if self._judge is not None and self._choice.compares:
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
        scores = record.scores
        drawn = number(self._seed, "choice", record.id)
        return scores.get(ANSWERS, 0.0), -scores.get(FIT, 1.0), -scores[CLASH], drawn

    def _is_over(self, record: Negative, kept: Counter[str]) -> bool:
        """Whether one more of its transform or category would be over a quota. The first may always come."""
        after = kept[_ALL] + 1
        return any(
            kept[name] and kept[name] + 1 > self._choice.quotas[name] * after
            for name in _names(record)
            if name in self._choice.quotas
        )

    def _passes(self, record: Negative, reason: str | None) -> bool:
        """Whether there is no reason to leave a record out; a reason is counted."""
        if reason is not None:
            self.summary.skip(reason, record.id)
        return reason is None


_ALL = ""


def _names(record: Negative) -> set[str]:
    """What quotas may count a record as: its transforms and categories, and ``""``, as which all count."""
    return {_ALL, *record.categories, *(edit["transform"] for edit in record.edits)}
