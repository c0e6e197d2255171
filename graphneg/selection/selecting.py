"""Records in, those that are kept out: scored, filtered, ranked, counted."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Literal

from graphneg import __version__
from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.output.jsonl import read_jsonl
from graphneg.output.parquet import read_parquet
from graphneg.output.stream import Finished, NegativeStream, Written
from graphneg.progress import NoProgress, Progress
from graphneg.selection.scoring import BACKWARD, FORWARD, Bidirectional
from graphneg.selection.thresholds import Thresholds, pair_of

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
            "models": [str(self._scorer.forward.place), str(self._scorer.backward.place)],
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
