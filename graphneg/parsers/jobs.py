"""Parsing at scale: the texts of a store, or the lines of a file, through a parser in worker processes."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from graphneg.amr.penman import format_graph
from graphneg.ingest.rows import amr_id
from graphneg.model import AmrGraph, AmrNode
from graphneg.parsers.base import readable_text, warning_code
from graphneg.parsers.pool import ParsedText, ParserPool, Texts, source_of
from graphneg.parsers.stored import (
    Claims,
    Ready,
    Waiting,
    Wanted,
    count_waiting,
    fits,
    parse_row,
    read_parses,
    read_waiting,
    text_id,
    write_graphs,
)
from graphneg.progress import Progress
from graphneg.store.connection import Store

# What a run of a parser did, counted.


KEPT_EXAMPLES = 3
Listener = Callable[[str, str], None]


@dataclass(slots=True)
class ParseReport:
    """Counts of one run. ``source`` is the parser's name and version.

    ``parsed`` texts went through the parser, ``reused`` ones had been parsed before; ``graphs`` is
    how many graphs were written, ``replaced`` how many of them took another's place, and ``failed``
    how many texts have none. ``warnings`` counts by code; ``examples`` keeps a few (place, warning)
    of each code, and ``on_warning`` is told each.
    """

    source: str
    parsed: int = 0
    reused: int = 0
    graphs: int = 0
    replaced: int = 0
    failed: int = 0
    sentences: int = 0
    seconds: float = 0.0
    warnings: Counter[str] = field(default_factory=Counter[str])
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=dict[str, list[tuple[str, str]]])
    on_warning: Listener | None = None

    def warn(self, place: str, warnings: Sequence[str]) -> None:
        for warning in warnings:
            code = warning_code(warning)
            self.warnings[code] += 1
            kept = self.examples.setdefault(code, [])
            if len(kept) < KEPT_EXAMPLES:
                kept.append((place, warning))
            if self.on_warning is not None:
                self.on_warning(place, warning)

    def summary(self) -> str:
        """One line: ``dependency 1: 300 graphs of 300 utterances, 412 sentences in 2.1 s (196/s)``."""
        texts = self.graphs + self.failed
        line = f"{self.source}: {self.graphs:,} graphs of {texts:,} texts, {self.sentences:,} sentences"
        line += f" in {self.seconds:.1f} s"
        if self.parsed and self.seconds:
            line += f" ({self.sentences / self.seconds:,.0f}/s)"
        counts = {"of texts parsed before": self.reused, "replaced": self.replaced}
        parts = [f"{count:,} {what}" for what, count in counts.items() if count]
        return line + (f"; {', '.join(parts)}" if parts else "")


def sentences_of(graph: AmrGraph) -> int:
    """How many sentences a graph is of, by its ``:sntN``.

    >>> from graphneg.amr.penman import parse_graph
    >>> sentences_of(parse_graph("(m / multi-sentence :snt1 (g / go-02) :snt2 (s / stop-01))"))
    2
    """
    if graph.top.concept != "multi-sentence":
        return 1
    return max(1, sum((node.role or "").startswith("snt") for node in graph.children(0)))


# Parsing the texts of a store: read, parsed in worker processes, written in batches.


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


# Parsing a file of one text a line to PENMAN, without a store.


UNPARSED = format_graph(AmrGraph("", (AmrNode(0, 0, "a", "amr-unintelligible", None, None, None, 0),)))
"""What stands for a text without a graph, so that graphs and lines keep one count (AMR guidelines 1.2.6)."""


def decoded_lines(stream: Iterable[bytes], progress: Progress) -> Iterator[str]:
    """The lines of a UTF-8 file; bytes that are no UTF-8 become halves of surrogate pairs."""
    for number, line in enumerate(stream):
        progress.advance(len(line))
        text = line.decode("utf-8", "surrogateescape")
        yield (text.removeprefix("\ufeff") if not number else text).removesuffix("\n").removesuffix("\r")


def parse_lines(pool: ParserPool, lines: Iterable[str], report: ParseReport) -> Iterator[str]:
    """A PENMAN block for each line: the text as ``::snt``, each warning as ``::warning``, the graph.

    A text that gets no graph has ``amr-unintelligible`` and is counted in the report as failed.

    Raises:
        ParserError: the parser does not answer as parsers do.
    """
    began = time.monotonic()
    ahead: deque[Texts] = deque()

    def batches() -> Iterator[Texts]:
        rest = iter(lines)
        while texts := list(islice(rest, BATCH)):
            ahead.append(texts)
            yield texts

    number = 0
    for answers in pool.parse(batches()):
        for text, parsed in zip(ahead.popleft(), answers, strict=True):
            number += 1
            _count(report, number, parsed)
            yield _block(text, parsed)
        report.seconds = time.monotonic() - began


def _count(report: ParseReport, number: int, parsed: ParsedText) -> None:
    report.parsed += 1
    report.warn(f"line {number}", parsed.warnings)
    if parsed.graph is None:
        report.failed += 1
    else:
        report.graphs += 1
        report.sentences += sentences_of(parsed.graph)


def _block(text: str, parsed: ParsedText) -> str:
    comments = [f"# ::snt {' '.join(readable_text(text).split())}".rstrip()]
    comments += [f"# ::warning {' '.join(readable_text(warning).split())}" for warning in parsed.warnings]
    return "\n".join([*comments, parsed.penman or UNPARSED]) + "\n"
