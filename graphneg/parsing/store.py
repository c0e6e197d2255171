"""Parsing the texts of a store: read, parsed in worker processes, written in batches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from graphneg.loading.rows import amr_id
from graphneg.parsing.memory import Claims, parse_row, read_parses, text_id
from graphneg.parsing.pool import ParsedText, ParserPool, Texts, source_of
from graphneg.parsing.report import ParseReport, sentences_of
from graphneg.parsing.waiting import Waiting, Wanted, count_waiting, read_waiting
from graphneg.parsing.writing import Ready, fits, write_graphs
from graphneg.progress import Progress
from graphneg.store import Store

BATCH = 100
"""Texts that a worker gets at a time."""


def parse_store(
    store: Store, pool: ParserPool, wanted: Wanted, report: ParseReport, progress: Progress
) -> ParseReport:
    """Parse the texts that wait, and count in ``report`` what became of them.

    What is written stays, whenever the run is stopped; the next one goes on from there.

    Raises:
        StoreError: the store is gone.
        ParserError: the parser does not answer as parsers do.
    """
    began = time.monotonic()
    progress.start("parse", count_waiting(store, wanted, report.source), "utterances")
    try:
        for done in _Run(store, pool, wanted, report).batches():
            progress.advance(done)
    finally:
        report.seconds = time.monotonic() - began
    progress.finish()
    return report


@dataclass(frozen=True, slots=True)
class _Batch:
    """Texts with their keys: those that the store remembers, and those that this batch parses."""

    waiting: Sequence[tuple[str, Waiting]]
    remembered: dict[str, ParsedText]
    new: Sequence[str]

    def texts(self) -> Texts:
        texts = {key: one.text for key, one in self.waiting}
        return [texts[key] for key in self.new]

    def claimed(self) -> list[str]:
        """The keys that the parser is asked for, by this batch or one before."""
        return list(dict.fromkeys(key for key, _ in self.waiting if key not in self.remembered))


class _Run:
    """One run. Batches are read ahead of the parser, and written in the order in which they were read."""

    def __init__(self, store: Store, pool: ParserPool, wanted: Wanted, report: ParseReport) -> None:
        self._store = store
        self._pool = pool
        self._wanted = wanted
        self._report = report
        self._source = source_of(pool)
        self._claims = Claims()
        self._ahead: deque[_Batch] = deque()

    def batches(self) -> Iterator[int]:
        """How many texts each batch had, once it is written."""
        for answers in self._pool.parse(self._read()):
            batch = self._ahead.popleft()
            self._claims.settle(dict(zip(batch.new, answers, strict=True)))
            self._report.parsed += len(batch.new)
            self._report.reused += len(batch.waiting) - len(batch.new)
            self._write(batch)
            self._claims.free(batch.claimed())
            yield len(batch.waiting)

    def _read(self) -> Iterator[Texts]:
        waiting = read_waiting(self._store, self._wanted, self._source)
        while page := list(islice(waiting, BATCH)):
            keyed = [(text_id(self._source, one.text), one) for one in page]
            remembered = self._remembered([key for key, _ in keyed])
            batch = _Batch(keyed, remembered, ())
            batch = replace(batch, new=self._claims.claim(batch.claimed()))
            self._ahead.append(batch)
            yield batch.texts()

    def _remembered(self, keys: Sequence[str]) -> dict[str, ParsedText]:
        """Nothing of a parser without a version: it may have changed."""
        return read_parses(self._store, keys) if self._pool.version else {}

    def _write(self, batch: _Batch) -> None:
        ready: list[Ready] = []
        for key, one in batch.waiting:
            known = batch.remembered.get(key)
            parsed = self._claims.answer(key) if known is None else known
            self._report.warn(one.id, parsed.warnings)
            made = self._ready(key, one, parsed)
            if made is None:
                self._report.failed += 1
            else:
                ready.append(made)
                self._report.sentences += sentences_of(made.graph)
        for written in write_graphs(self._store, ready, self._source):
            self._report.graphs += written.graphs
            self._report.replaced += written.replaced

    def _ready(self, key: str, one: Waiting, parsed: ParsedText) -> Ready | None:
        if parsed.graph is None or parsed.penman is None:
            return None
        graph = replace(parsed.graph, id=amr_id(one.id, self._pool.name))
        note = parse_row(key, self._source, parsed) if self._pool.version else None
        made = Ready(one.kind, one.id, graph, parsed.penman, parsed.warnings, one.replaces, note)
        if fits(made):
            return made
        self._report.warn(one.id, [f"too-large: a graph of {made.bytes / 1e6:.0f} MB is not written"])
        return None
