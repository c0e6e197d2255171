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
from typing import Any, NamedTuple, TypeVar

from graphneg.errors import GraphnegError, ParserError, first_line
from graphneg.ingest.rows import amr_id, digest
from graphneg.ingest.validation import oversized
from graphneg.model import AmrGraph
from graphneg.parsers import stored
from graphneg.parsers.base import PLUGINS, Parsed, Parser, checked, get_parser, readable_text, warning_code
from graphneg.parsers.stored import NewGraph, ParseScope, PendingText
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.workers import WorkerError, Workers, ahead

MOST_PROCESSES = 8
"""Where no number is given: more are pending before the one process that writes."""

Texts = Sequence[str]
Kept = TypeVar("Kept")
BATCH = 100
"""Texts that a worker gets at a time."""
MOST_CRASHES = 20
KEPT_EXAMPLES = 3
UNPARSED = "(a / amr-unintelligible)"
"""What stands for a text without a graph, so that graphs and lines keep one count (AMR guidelines 1.2.6)."""

Listener = Callable[[str, str], None]


@dataclass(frozen=True)
class ParserPool(AbstractContextManager["ParserPool"]):
    """A parser that is ready: its name and version, and batches of texts through it, in their order.

    A few batches are read ahead of their turn.
    """

    name: str
    version: str
    parse: Callable[[Iterable[Texts]], Iterator[list[Parsed]]]
    close: Callable[[], None]

    @property
    def source(self) -> str:
        """What graphs of the parser are marked with: ``dependency 1``."""
        return f"{self.name} {self.version}".strip()

    def parse_beside(self, batches: Iterable[tuple[Kept, Texts]]) -> Iterator[tuple[Kept, list[Parsed]]]:
        """As ``parse``; each batch comes back with what was given beside it."""
        ahead: deque[Kept] = deque()

        def texts() -> Iterator[Texts]:
            for kept, batch in batches:
                ahead.append(kept)
                yield batch

        for answers in self.parse(texts()):
            yield ahead.popleft(), answers

    def __exit__(self, *raised: object) -> None:
        self.close()


def open_pool(
    parser: str | Parser, options: Mapping[str, Any] | None = None, processes: int | None = None
) -> ParserPool:
    """A parser, ready: one that is named is made with ``options`` in ``processes`` processes of its own.

    Where no number is given that is one for each core, at most 8, for parsers that can work side by
    side, and one for others.

    Raises `ParserError`: there is no such parser, it can't be made, or it is none.
    """
    if not isinstance(parser, str):
        given = checked(parser)
        return ParserPool(given.name, given.version, partial(map, given.parse_batch), lambda: None)
    if processes is None:
        usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        parallel = bool(getattr(PLUGINS.find(parser), "parallel", False))
        processes = min(usable, MOST_PROCESSES) if parallel else 1
    target = "graphneg.parsers.jobs:parser_worker"
    workers: Workers[Texts | None, Any] = Workers(target, (parser, dict(options or {})), processes)
    try:
        name, version = workers.ask_each(None)[0]  # of all: what models take to load is no part of a run
    except BaseException:
        workers.close()
        raise
    return ParserPool(name, version, workers.map, workers.close)


class LastingParser:
    """A parser in a process of its own, which is made anew where a text ends it.

    A batch that fails is parsed again text by text: that text gets no graph, and stands in ``crashes`` with
    the reason. Answers that are none of a parser (`ParserError`) end the run as ever, and so do more than
    20 crashes that nobody has taken out: then it is not for the texts.
    """

    def __init__(self, parser: str, options: Mapping[str, Any]) -> None:
        self._open = partial(open_pool, parser, options, 1)
        self._inner = self._open()
        self.crashes: list[tuple[str, str]] = []
        parsed = partial(ahead, self._parsed, at_once=1)  # while what was parsed is written
        self.pool = ParserPool(self._inner.name, self._inner.version, parsed, self.close)

    def close(self) -> None:
        """End its process."""
        self._inner.close()

    def _parsed(self, texts: Texts) -> list[Parsed]:
        try:
            return next(self._inner.parse([texts]))
        except WorkerError as error:
            reason = first_line(error)
            self._inner.close()
            self._inner = self._open()
        except GraphnegError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {first_line(error)}"
        if len(texts) > 1:
            return [parsed for text in texts for parsed in self._parsed([text])]
        if len(self.crashes) == MOST_CRASHES:
            raise ParserError(f"parser {self.pool.name} fails at one text after another: {reason}")
        self.crashes.append((texts[0], reason))
        return [Parsed(None, (f"crash: {reason}",))]


def parser_worker(name: str, options: Mapping[str, Any]) -> Callable[[Texts | None], Any]:
    """What a worker process does: answers a batch, or says its parser's name and version to None.

    Before it says so it parses something: models may be read at the first text, and be none.
    """
    parser = get_parser(name, **options)

    def answer(texts: Texts | None) -> Any:
        if texts is not None:
            return parser.parse_batch(texts)
        parser.parse_batch(["Hello."])
        return parser.name, parser.version

    return answer


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


class _Batch(NamedTuple):
    """Texts with their keys: what the store remembers of them, and the keys that this batch parses."""

    pending: Sequence[tuple[str, PendingText]]
    remembered: Mapping[str, Parsed]
    asked: Sequence[str]
    new: Sequence[str]


def parse_store(
    store: Store, pool: ParserPool, scope: ParseScope, report: ParseReport, progress: Progress
) -> ParseReport:
    """Parse the pending texts of a store, and count in ``report`` what became of them.

    What is written stays, whenever the run is stopped; the next one goes on from there. Batches are read
    ahead of the parser, and written in the order in which they were read.

    Raises:
        StoreError: the store is gone.
        ParserError: the parser does not answer as parsers do.
    """
    began = time.monotonic()
    progress.start("parse", stored.count_pending(store, scope, report.source), "utterances")
    # How many batches on their way ask for a text, so that none is parsed twice at a time, and its parse.
    uses: Counter[str] = Counter()
    parses: dict[str, Parsed] = {}
    try:
        for batch, answers in pool.parse_beside(_read(store, pool, scope, uses)):
            parses.update(zip(batch.new, answers, strict=True))
            report.parsed += len(batch.new)
            report.reused += len(batch.pending) - len(batch.new)
            _write(store, pool, batch, parses, report)
            uses.subtract(batch.asked)
            for key in batch.asked:
                if not uses[key]:
                    del uses[key], parses[key]
            progress.advance(len(batch.pending))
    finally:
        report.seconds = time.monotonic() - began
    progress.finish()
    return report


def _read(
    store: Store, pool: ParserPool, scope: ParseScope, uses: Counter[str]
) -> Iterator[tuple[_Batch, Texts]]:
    pending = stored.read_pending(store, scope, pool.source)
    while page := list(islice(pending, BATCH)):
        keyed = [(digest([pool.source, text.text]), text) for text in page]
        texts = {key: text.text for key, text in keyed}
        # Nothing of a parser without a version is remembered: it may have changed.
        remembered = stored.read_parses(store, texts) if pool.version else {}
        asked = [key for key in texts if key not in remembered]
        new = [key for key in asked if not uses[key]]
        uses.update(asked)
        yield _Batch(keyed, remembered, asked, new), [texts[key] for key in new]


def _write(
    store: Store, pool: ParserPool, batch: _Batch, parses: Mapping[str, Parsed], report: ParseReport
) -> None:
    graphs: list[NewGraph] = []
    for key, text in batch.pending:
        parsed = batch.remembered.get(key) or parses[key]
        report.warn(text.id, parsed.warnings)
        if parsed.graph is not None:
            graph = replace(parsed.graph, id=amr_id(text.id, pool.name))
            note = stored.parse_row(key, pool.source, parsed) if pool.version else None
            new = NewGraph(graph, text, parsed, note)
            reason = oversized(graph)
            if reason is None and not new.fits:
                reason = f"a graph of {new.bytes / 1e6:.0f} MB is not written"
            if reason is None:
                graphs.append(new)
                report.sentences += sentences_of(graph)
                continue
            report.warn(text.id, [f"too-large: {reason}"])
        report.failed += 1
    for written, replaced in stored.write_graphs(store, graphs, pool.source):
        report.graphs += written
        report.replaced += replaced


def decoded_lines(stream: Iterable[bytes], progress: Progress) -> Iterator[str]:
    """The lines of a UTF-8 file; bytes that are no UTF-8 become halves of surrogate pairs."""
    for number, line in enumerate(stream):
        progress.advance(len(line))
        text = line.decode("utf-8", "surrogateescape")
        yield (text.removeprefix("\ufeff") if not number else text).removesuffix("\n").removesuffix("\r")


def parse_lines(pool: ParserPool, lines: Iterable[str], report: ParseReport) -> Iterator[str]:
    """A PENMAN block for each line: the text as ``::snt``, each warning as ``::warning``, the graph.

    A text that gets no graph has ``amr-unintelligible`` and is counted in the report as failed.

    Raises `ParserError`: the parser does not answer as parsers do.
    """
    began = time.monotonic()
    rest = iter(lines)
    batches = iter(lambda: list(islice(rest, BATCH)), list[str]())
    for texts, answers in pool.parse_beside((texts, texts) for texts in batches):
        for text, parsed in zip(texts, answers, strict=True):
            report.parsed += 1
            report.warn(f"line {report.parsed}", parsed.warnings)
            report.graphs += parsed.graph is not None
            report.failed += parsed.graph is None
            report.sentences += sentences_of(parsed.graph) if parsed.graph is not None else 0
            comments = [f"# ::snt {' '.join(readable_text(text).split())}".rstrip()]
            comments += [f"# ::warning {' '.join(readable_text(told).split())}" for told in parsed.warnings]
            yield "\n".join([*comments, parsed.penman or UNPARSED]) + "\n"
        report.seconds = time.monotonic() - began
