"""Parsing at scale: the texts of a store, or the lines of a file, through a parser in worker processes.

In: a parser (by name: in processes of its own; or an object: in this one), and a store or the lines of a
file. Out: graphs in the store, or PENMAN blocks; and a `ParseReport`.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from graphneg.amr.penman import format_graph
from graphneg.ingest.rows import amr_id
from graphneg.model import AmrGraph, AmrNode
from graphneg.parsers.base import (
    PLUGINS,
    CheckedParser,
    ParsedText,
    Parser,
    checked,
    get_parser,
    readable_text,
    warning_code,
)
from graphneg.parsers.stored import (
    NewGraph,
    ParseScope,
    PendingText,
    count_pending,
    fits,
    parse_row,
    read_parses,
    read_pending,
    text_id,
    write_graphs,
)
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.workers import Workers

MOST_PROCESSES = 8
"""Where no number is given: more are pending before the one process that writes."""

Texts = Sequence[str]
_TRIAL = "Hello."
BATCH = 100
"""Texts that a worker gets at a time."""
KEPT_EXAMPLES = 3
UNPARSED = format_graph(AmrGraph("", (AmrNode(0, 0, "a", "amr-unintelligible", None, None, None, 0),)))
"""What stands for a text without a graph, so that graphs and lines keep one count (AMR guidelines 1.2.6)."""

Listener = Callable[[str, str], None]


@dataclass(frozen=True)
class ParserPool(AbstractContextManager["ParserPool"]):
    """A parser that is ready: its name and version, and batches of texts through it, in their order.

    A few batches are read ahead of their turn.
    """

    name: str
    version: str
    parse: Callable[[Iterable[Texts]], Iterator[list[ParsedText]]]
    close: Callable[[], None]

    @property
    def source(self) -> str:
        """What graphs of the parser are marked with: ``dependency 1``."""
        return f"{self.name} {self.version}".strip()

    def __exit__(self, *raised: object) -> None:
        self.close()


def open_pool(
    parser: str | Parser, options: Mapping[str, Any] | None = None, processes: int | None = None
) -> ParserPool:
    """A parser, ready: one that is named is made with ``options`` in ``processes`` processes of its own.

    Where no number is given that is one for each core, at most 8, for parsers that can work side by
    side, and one for others.

    Raises:
        ParserError: there is no such parser, it can't be made, or it is none.
    """
    if not isinstance(parser, str):
        given = checked(parser)
        parse = partial(map, partial(_parse, given))
        return ParserPool(given.name, given.version, parse, lambda: None)
    parallel = bool(getattr(PLUGINS.find(parser), "parallel", False))
    workers: Workers[Texts | None, Any] = Workers(
        "graphneg.parsers.jobs:parser_worker",
        (parser, dict(options or {})),
        processes or (_cores() if parallel else 1),
    )
    try:
        name, version = workers.ask(None)
    except BaseException:
        workers.close()
        raise
    return ParserPool(name, version, workers.map, workers.close)


def parser_worker(name: str, options: Mapping[str, Any]) -> Callable[[Texts | None], Any]:
    """What a worker process does: answers a batch, or says its parser's name and version to None.

    Before it says so it parses something: models may be read at the first text, and be none.
    """
    parser = get_parser(name, **options)

    def answer(texts: Texts | None) -> Any:
        if texts is None:
            parser.parse_batch([_TRIAL])
            return parser.name, parser.version
        return _parse(parser, texts)

    return answer


def _parse(parser: CheckedParser, texts: Texts) -> list[ParsedText]:
    return [
        ParsedText(parsed.graph, format_graph(parsed.graph) if parsed.graph else None, parsed.warnings)
        for parsed in parser.parse_batch(texts)
    ]


def _cores() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_PROCESSES)


@dataclass(slots=True)
class ParseReport:
    """Counts of one run. ``source`` is the parser's name and version.

    ``parsed`` texts went through the parser, ``reused`` ones had been parsed before; ``graphs`` is
    how many graphs were written, ``replaced`` how many of them took another's place, and ``failed``
    how many texts have none. ``warnings`` counts by code; ``examples`` keeps a few (text, warning)
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

    def warn(self, text: str, warnings: Sequence[str]) -> None:
        """Counts the warnings about a text, which its id or its line names."""
        for warning in warnings:
            code = warning_code(warning)
            self.warnings[code] += 1
            kept = self.examples.setdefault(code, [])
            if len(kept) < KEPT_EXAMPLES:
                kept.append((text, warning))
            if self.on_warning is not None:
                self.on_warning(text, warning)

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


def parse_store(
    store: Store, pool: ParserPool, scope: ParseScope, report: ParseReport, progress: Progress
) -> ParseReport:
    """Parse the pending texts of a store, and count in ``report`` what became of them.

    What is written stays, whenever the run is stopped; the next one goes on from there.

    Raises:
        StoreError: the store is gone.
        ParserError: the parser does not answer as parsers do.
    """
    began = time.monotonic()
    progress.start("parse", count_pending(store, scope, report.source), "utterances")
    try:
        for done in _Run(store, pool, scope, report).batches():
            progress.advance(done)
    finally:
        report.seconds = time.monotonic() - began
    progress.finish()
    return report


@dataclass(frozen=True, slots=True)
class _Batch:
    """Texts with their keys: what the store remembers of them, and the keys that this batch parses."""

    pending: Sequence[tuple[str, PendingText]]
    remembered: dict[str, ParsedText]
    asked: Sequence[str]
    new: Sequence[str]


class _Run:
    """One run. Batches are read ahead of the parser, and written in the order in which they were read.

    ``_uses`` counts the batches on their way that ask for a text, by key, so that none is parsed twice at a
    time; ``_answers`` are the parser's, as long as a batch asks for them.
    """

    def __init__(self, store: Store, pool: ParserPool, scope: ParseScope, report: ParseReport) -> None:
        self._store = store
        self._pool = pool
        self._scope = scope
        self._report = report
        self._uses: Counter[str] = Counter()
        self._answers: dict[str, ParsedText] = {}
        self._ahead: deque[_Batch] = deque()

    def batches(self) -> Iterator[int]:
        """How many texts each batch had, once it is written."""
        for answers in self._pool.parse(self._read()):
            batch = self._ahead.popleft()
            self._answers.update(zip(batch.new, answers, strict=True))
            self._report.parsed += len(batch.new)
            self._report.reused += len(batch.pending) - len(batch.new)
            self._write(batch)
            self._uses.subtract(batch.asked)
            for key in batch.asked:
                if not self._uses[key]:
                    del self._uses[key], self._answers[key]
            yield len(batch.pending)

    def _read(self) -> Iterator[Texts]:
        pending = read_pending(self._store, self._scope, self._pool.source)
        while page := list(islice(pending, BATCH)):
            keyed = [(text_id(self._pool.source, text.text), text) for text in page]
            texts = {key: text.text for key, text in keyed}
            # Nothing of a parser without a version is remembered: it may have changed.
            remembered = read_parses(self._store, texts) if self._pool.version else {}
            asked = [key for key in texts if key not in remembered]
            new = [key for key in asked if not self._uses[key]]
            self._uses.update(asked)
            self._ahead.append(_Batch(keyed, remembered, asked, new))
            yield [texts[key] for key in new]

    def _write(self, batch: _Batch) -> None:
        graphs: list[NewGraph] = []
        for key, text in batch.pending:
            parsed = batch.remembered.get(key) or self._answers[key]
            self._report.warn(text.id, parsed.warnings)
            graph = self._new_graph(key, text, parsed)
            if graph is None:
                self._report.failed += 1
            else:
                graphs.append(graph)
                self._report.sentences += sentences_of(graph.graph)
        for written in write_graphs(self._store, graphs, self._pool.source):
            self._report.graphs += written.graphs
            self._report.replaced += written.replaced

    def _new_graph(self, key: str, text: PendingText, parsed: ParsedText) -> NewGraph | None:
        if parsed.graph is None or parsed.penman is None:
            return None
        graph = replace(parsed.graph, id=amr_id(text.id, self._pool.name))
        note = parse_row(key, self._pool.source, parsed) if self._pool.version else None
        new = NewGraph(
            text.kind, text.id, graph, parsed.penman, parsed.warnings, text.replaces, note, text.text
        )
        if fits(new):
            return new
        self._report.warn(text.id, [f"too-large: a graph of {new.bytes / 1e6:.0f} MB is not written"])
        return None


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

    for answers in pool.parse(batches()):
        for text, parsed in zip(ahead.popleft(), answers, strict=True):
            report.parsed += 1
            report.warn(f"line {report.parsed}", parsed.warnings)
            report.graphs += parsed.graph is not None
            report.failed += parsed.graph is None
            report.sentences += sentences_of(parsed.graph) if parsed.graph is not None else 0
            yield _block(text, parsed)
        report.seconds = time.monotonic() - began


def _block(text: str, parsed: ParsedText) -> str:
    comments = [f"# ::snt {' '.join(readable_text(text).split())}".rstrip()]
    comments += [f"# ::warning {' '.join(readable_text(warning).split())}" for warning in parsed.warnings]
    return "\n".join([*comments, parsed.penman or UNPARSED]) + "\n"
