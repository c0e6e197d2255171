"""Parse at scale: run a parser in worker processes over the texts of a store or the lines of a file.

`open_pool` starts the worker processes. `parse_store` parses the texts of a store and writes their graphs to
the store. `parse_lines` parses the lines of a file and yields one PENMAN block per line. Both functions keep
the input order and count the results in a `ParseReport`. A parser that is passed as an object instead of a
name runs in the current process.

>>> class Birds:
...     def parse_batch(self, texts):
...         return ["(s / sing-01 :ARG0 (b / bird))" for _ in texts]
>>> report = ParseReport("birds")
>>> for block in parse_lines(open_pool(Birds()), ["Birds sing."], report):
...     print(block.strip())
# ::snt Birds sing.
(s / sing-01
   :ARG0 (b / bird))
>>> report.graphs, report.failed
(1, 0)
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
from graphneg.ingest.validation import graph_fault
from graphneg.model import AmrGraph
from graphneg.parsers import stored
from graphneg.parsers.base import PLUGINS, Parsed, Parser, checked, get_parser, readable_text, warning_code
from graphneg.parsers.stored import NewGraph, ParseScope, PendingText
from graphneg.plugins import plugin_errors
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.workers import WorkerError, Workers, prefetch_map

MOST_PROCESSES = 8
"""Default maximum number of worker processes. A single process writes the graphs to the store, and more than
8 worker processes would produce graphs faster than they can be written.
"""

Texts = Sequence[str]
Kept = TypeVar("Kept")
BATCH = 100
"""Number of texts per batch."""
MOST_CRASHES = 20
"""Maximum number of texts that may crash the parser. At the next crash, the run ends with an error."""
KEPT_EXAMPLES = 3
"""Maximum number of example warnings to keep per warning code."""
UNPARSED = "(a / amr-unintelligible)"
"""The graph that `parse_lines` yields for a text that could not be parsed (``amr-unintelligible``, AMR
guidelines 1.2.6). Because of this graph, the output always has one graph per input line.
"""

Listener = Callable[[str, str], None]
"""A function that receives the id of a text and a warning about the text."""


@dataclass(frozen=True)
class ParserPool(AbstractContextManager["ParserPool"]):
    """A running parser: worker processes of a named parser, or a parser object in the current process.

    Attributes:
        name: Name of the parser.
        version: Version of the parser; empty if it has none.
        parse: Function that parses batches of texts and yields the list of results of each batch, in order.
            It reads a few batches ahead of the results that it yields.
        close: Function that ends the worker processes.
    """

    name: str
    version: str
    parse: Callable[[Iterable[Texts]], Iterator[list[Parsed]]]
    close: Callable[[], None]

    @property
    def source(self) -> str:
        """Name and version of the parser, such as ``dependency 1``. They are stored with each graph."""
        return f"{self.name} {self.version}".strip()

    def parse_tagged(self, batches: Iterable[tuple[Kept, Texts]]) -> Iterator[tuple[Kept, list[Parsed]]]:
        """Parse batches of texts that are tagged, for example with the ids of the texts.

        Args:
            batches: Pairs of a tag, which may have any type, and a batch of texts.

        Yields:
            Pairs of the tag and the results of its batch, in the order of the batches.
        """
        ahead: deque[Kept] = deque()

        def texts() -> Iterator[Texts]:
            # `parse` may read several batches before it returns the results of the first one. Keep the tag of
            # each batch in a queue until the results of the batch arrive.
            for kept, batch in batches:
                ahead.append(kept)
                yield batch

        for answers in self.parse(texts()):
            yield ahead.popleft(), answers

    def __exit__(self, *raised: object) -> None:
        """End the worker processes of the parser."""
        self.close()


def open_pool(
    parser: str | Parser, options: Mapping[str, Any] | None = None, processes: int | None = None
) -> ParserPool:
    """Start a parser. If it is given by name, start it in worker processes.

    Args:
        parser: Name of a parser, which is then created in each worker process; or a parser object, which runs
            in the current process.
        options: Arguments for the constructor of a named parser.
        processes: Number of processes. By default, a parser that can run in parallel gets one process per
            core, but at most 8; any other parser gets one process.

    Returns:
        The running parser. Use it in a ``with`` statement, or call its ``close`` at the end. Raises
        `ParserError` if the parser cannot be created.
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
        # The request `None` asks for the name and version of the parser. Each process answers it only after
        # loading its model, so that the loading time does not count as parsing time.
        name, version = workers.ask_each(None)[0]
    except BaseException:
        workers.close()
        raise
    return ParserPool(name, version, workers.map, workers.close)


class RestartingParser:
    """A parser in a separate process. The process is restarted if a text crashes it.

    If a batch fails, its texts are parsed one by one. A text that crashes the parser gets no graph and is
    recorded in ``crashes``. After more than 20 recorded crashes, a `ParserError` ends the run, because the
    texts are probably not the cause. A `ParserError` also ends the run if the parser returns an answer of the
    wrong type.

    Attributes:
        crashes: Texts that crashed the parser, each with the reason. If the caller empties the list, counting
            starts again.
        pool: A `ParserPool` whose ``parse`` returns the results of this parser.
    """

    def __init__(self, parser: str, options: Mapping[str, Any]) -> None:
        """Initialize the parser and start its process.

        Args:
            parser: Name of the parser.
            options: Arguments for the constructor of the parser.
        """
        self._open = partial(open_pool, parser, options, 1)
        self._inner = self._open()
        self.crashes: list[tuple[str, str]] = []
        # Parse the next batch while the caller writes the graphs of the previous batch.
        parsed = partial(prefetch_map, self._parsed, threads=1)
        self.pool = ParserPool(self._inner.name, self._inner.version, parsed, self.close)

    def close(self) -> None:
        """End the process of the parser."""
        self._inner.close()

    def _parsed(self, texts: Texts) -> list[Parsed]:
        """Parse a batch of texts. If the parser fails, parse the texts one by one."""
        try:
            return next(self._inner.parse([texts]))
        # The process died, for example because it ran out of memory. Start a new process.
        except WorkerError as error:
            reason = first_line(error)
            self._inner.close()
            self._inner = self._open()
        # The parser violated its interface, for example with an answer of the wrong type. Retrying cannot
        # help, so raise the error again.
        except GraphnegError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {first_line(error)}"
        if len(texts) > 1:
            return [parsed for text in texts for parsed in self._parsed([text])]
        if len(self.crashes) == MOST_CRASHES:
            raise ParserError(f"parser {self.pool.name} failed on more than {MOST_CRASHES} texts: {reason}")
        self.crashes.append((texts[0], reason))
        return [Parsed(None, (f"crash: {reason}",))]


def parser_worker(name: str, options: Mapping[str, Any]) -> Callable[[Texts | None], Any]:
    """Create a parser, and return the function with which a worker process answers requests.

    The function returns the results for a batch of texts. For ``None`` it returns the parser's name and
    version.

    Args:
        name: Name of the parser.
        options: Arguments for the constructor of the parser.

    Returns:
        The function that the worker process calls for each request.
    """
    parser = get_parser(name, **options)

    def answer(texts: Texts | None) -> Any:
        if texts is not None:
            return parser.parse_batch(texts)
        # Some parsers load their model when they parse the first text. Parse a text now, so that a missing
        # model is reported at the start, and so that loading the model does not count as parsing time.
        with plugin_errors("parser", name, PLUGINS.find(name), ParserError):
            parser.parse_batch(["Hello."])
        return parser.name, parser.version

    return answer


@dataclass(slots=True)
class ParseReport:
    """The counts of one parsing run.

    Attributes:
        source: Name and version of the parser.
        parsed: Number of texts that were passed to the parser.
        reused: Number of texts that were not parsed again, because the same text was parsed before, in this
            run or in an earlier run.
        graphs: Number of graphs written.
        replaced: Number of the written graphs that replaced an older graph.
        failed: Number of texts for which no graph was written.
        sentences: Number of sentences in the graphs.
        seconds: Duration of the run.
        warnings: Number of warnings, keyed by warning code.
        examples: Up to `KEPT_EXAMPLES` pairs of a text id and a warning, keyed by warning code.
        on_warning: Function that is called with the text id and the warning, for each warning; or ``None``.
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
        """Count the warnings about a text, and keep the first few warnings of each code as examples.

        Args:
            text: Id of the text, or its line in the file, such as ``line 3``.
            warnings: Warnings of the parser about the text.
        """
        for warning in warnings:
            code = warning_code(warning)
            self.warnings[code] += 1
            kept = self.examples.setdefault(code, [])
            if len(kept) < KEPT_EXAMPLES:
                kept.append((text, warning))
            if self.on_warning is not None:
                self.on_warning(text, warning)

    def summary(self) -> str:
        """Return a one-line summary.

        Returns:
            A line such as ``dependency 1: 300 graphs of 300 texts, 412 sentences in 2.1 s (196/s)``. The
            numbers of reused and replaced graphs follow if they are not zero.
        """
        texts = self.graphs + self.failed
        line = f"{self.source}: {self.graphs:,} graphs of {texts:,} texts, {self.sentences:,} sentences"
        line += f" in {self.seconds:.1f} s"
        if self.parsed and self.seconds:
            line += f" ({self.sentences / self.seconds:,.0f}/s)"
        counts = {"reused": self.reused, "replaced": self.replaced}
        parts = [f"{count:,} {what}" for what, count in counts.items() if count]
        return line + (f"; {', '.join(parts)}" if parts else "")


def sentences_of(graph: AmrGraph) -> int:
    """Return the number of sentences of a graph, that is, the number of its ``:sntN`` roles.

    >>> from graphneg.amr.penman import parse_graph
    >>> sentences_of(parse_graph("(m / multi-sentence :snt1 (g / go-02) :snt2 (s / stop-01))"))
    2

    Args:
        graph: The graph of a text.

    Returns:
        The number of sentences; 1 for a graph without ``multi-sentence``.
    """
    if graph.top.concept != "multi-sentence":
        return 1
    return max(1, sum((node.role or "").startswith("snt") for node in graph.children(0)))


class _Batch(NamedTuple):
    """A batch of texts that need a graph.

    Each text has a key: a digest of the parser's name and the text.

    Attributes:
        pending: Pairs of a key and a text.
        remembered: Parses of earlier runs, which the store's cache contains, keyed by the key of the text.
        asked: Keys of the texts that are not in the store's cache.
        new: Keys of the texts to pass to the parser. They are the keys in ``asked``, without texts that an
            earlier batch has already passed to the parser.
    """

    pending: Sequence[tuple[str, PendingText]]
    remembered: Mapping[str, Parsed]
    asked: Sequence[str]
    new: Sequence[str]


def parse_store(
    store: Store, pool: ParserPool, scope: ParseScope, report: ParseReport, progress: Progress
) -> ParseReport:
    """Parse the texts of a store that need a graph, and write their graphs.

    If the run is stopped, the graphs written so far stay in the store, and the next run parses the rest.
    Batches of texts are read while earlier batches are still being parsed. Their graphs are written in the
    order in which the batches were read. Raises `StoreError` if the store becomes unavailable, and
    `ParserError` if the parser returns invalid answers.

    Args:
        store: The store to read from and write to.
        pool: The running parser, as `open_pool` returns it.
        scope: The texts to parse.
        report: Report to which the counts of this run are added.
        progress: Progress display.

    Returns:
        The same report, with the counts of this run.
    """
    began = time.monotonic()
    progress.start("parse", stored.count_pending(store, scope, report.source), "utterances")
    # A text may occur in several batches that are in flight at the same time, but it is parsed only once.
    # `uses` counts the batches in flight that need a text. `parses` keeps the parse until no batch needs it.
    uses: Counter[str] = Counter()
    parses: dict[str, Parsed] = {}
    try:
        for batch, answers in pool.parse_tagged(_read_batches(store, pool, scope, uses)):
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


def _read_batches(
    store: Store, pool: ParserPool, scope: ParseScope, uses: Counter[str]
) -> Iterator[tuple[_Batch, Texts]]:
    """Yield batches of texts that need a graph, each with a list of the texts to pass to the parser.

    A text is not passed to the parser if the store contains a parse of an equal text.
    """
    pending = stored.read_pending(store, scope, pool.source)
    while page := list(islice(pending, BATCH)):
        keyed = [(digest([pool.source, text.text]), text) for text in page]
        texts = {key: text.text for key, text in keyed}
        # A parser without a version may have changed since the last run, so its earlier parses are not
        # reused.
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
            reason = graph_fault(graph)
            if reason is None and not new.fits:
                reason = f"the graph has {new.bytes / 1e6:.0f} MB, which is too large to be written"
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
    """Yield the lines of a UTF-8 file, without line breaks and without a byte order mark.

    Args:
        stream: The file, opened in binary mode.
        progress: Progress display; advanced by the number of bytes read.

    Yields:
        The lines. A byte that is not valid UTF-8 becomes a lone surrogate, which `CheckedParser` replaces and
        reports.
    """
    for number, line in enumerate(stream):
        progress.advance(len(line))
        # Do not skip a line with an invalid byte: line N of the output must be the graph of line N of the
        # input.
        text = line.decode("utf-8", "surrogateescape")
        yield (text.removeprefix("\ufeff") if not number else text).removesuffix("\n").removesuffix("\r")


def parse_lines(pool: ParserPool, lines: Iterable[str], report: ParseReport) -> Iterator[str]:
    """Parse the lines of a file, and yield a block in PENMAN notation for each line.

    A block has the text in a line ``# ::snt``, each warning in a line ``# ::warning``, and the graph. A text
    for which the parser returns no graph gets the graph ``amr-unintelligible`` and counts as failed. Raises
    `ParserError` if the parser returns invalid answers.

    Args:
        pool: The running parser, as `open_pool` returns it.
        lines: The texts, one per line.
        report: Report to which the counts of this run are added.

    Yields:
        One block per line. Each block ends in a line break.
    """
    began = time.monotonic()
    rest = iter(lines)
    batches = iter(lambda: list(islice(rest, BATCH)), list[str]())
    for texts, answers in pool.parse_tagged((texts, texts) for texts in batches):
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
