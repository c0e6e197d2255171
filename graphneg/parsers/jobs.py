"""Parse at scale: run a parser in worker processes over the texts of a store or the lines of a file.

`open_pool` starts the processes. `parse_store` writes the graphs of a store's texts, and `parse_lines` yields
PENMAN blocks for the lines of a file. Both keep the input order and count the results in a `ParseReport`. A
parser that is given as an object runs in this process.

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
from graphneg.ingest.validation import oversized
from graphneg.model import AmrGraph
from graphneg.parsers import stored
from graphneg.parsers.base import PLUGINS, Parsed, Parser, checked, get_parser, readable_text, warning_code
from graphneg.parsers.stored import NewGraph, ParseScope, PendingText
from graphneg.progress import Progress
from graphneg.store.connection import Store
from graphneg.workers import WorkerError, Workers, ahead

MOST_PROCESSES = 8
"""Default limit of processes. With more, finished parses wait for the one process that writes."""

Texts = Sequence[str]
Kept = TypeVar("Kept")
BATCH = 100
"""Number of texts per batch."""
MOST_CRASHES = 20
"""Number of texts that may crash the parser before the run ends."""
KEPT_EXAMPLES = 3
"""Number of example warnings to keep per code."""
UNPARSED = "(a / amr-unintelligible)"
"""The graph of a text that could not be parsed (``amr-unintelligible``, AMR guidelines 1.2.6). It keeps the
numbers of graphs and input lines equal.
"""

Listener = Callable[[str, str], None]
"""A function that receives the id of a text and a warning about it."""


@dataclass(frozen=True)
class ParserPool(AbstractContextManager["ParserPool"]):
    """A running parser.

    Attributes:
        name: Name of the parser.
        version: Version of the parser; empty if it has none.
        parse: Parses batches of texts and yields the results of each batch in order. A few batches are read
            ahead.
        close: Ends the processes.
    """

    name: str
    version: str
    parse: Callable[[Iterable[Texts]], Iterator[list[Parsed]]]
    close: Callable[[], None]

    @property
    def source(self) -> str:
        """The mark of the parser's graphs, its name and version: ``dependency 1``."""
        return f"{self.name} {self.version}".strip()

    def parse_beside(self, batches: Iterable[tuple[Kept, Texts]]) -> Iterator[tuple[Kept, list[Parsed]]]:
        """Parse batches, each of which carries a value along.

        Args:
            batches: Pairs of a value and a batch of texts.

        Yields:
            The value and the results of the batch, in order.
        """
        ahead: deque[Kept] = deque()

        def texts() -> Iterator[Texts]:
            # The pool reads ahead, so the values wait in a queue until the results arrive.
            for kept, batch in batches:
                ahead.append(kept)
                yield batch

        for answers in self.parse(texts()):
            yield ahead.popleft(), answers

    def __exit__(self, *raised: object) -> None:
        """Close the pool."""
        self.close()


def open_pool(
    parser: str | Parser, options: Mapping[str, Any] | None = None, processes: int | None = None
) -> ParserPool:
    """Start a parser.

    Args:
        parser: Name of a parser, which is then made in processes of its own; or a parser object, which runs
            in this process.
        options: Arguments of a named parser.
        processes: Number of processes; by default one per core, at most 8, for parsers that can run in
            parallel, and one for others.

    Returns:
        The pool; close it or use it in a ``with`` statement. A `ParserError` says if the parser cannot be
        made.
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
        # Ask every process, so that all of them have loaded their models before the run is timed.
        name, version = workers.ask_each(None)[0]
    except BaseException:
        workers.close()
        raise
    return ParserPool(name, version, workers.map, workers.close)


class LastingParser:
    """A parser in a process of its own, which is restarted when a text crashes it.

    A batch that fails is parsed again text by text. A text that crashes the parser gets no graph and is
    recorded in ``crashes``. More than 20 recorded crashes end the run with a `ParserError`, because then the
    texts are not the cause. So does an answer of the wrong type.

    Attributes:
        crashes: Texts that crashed the parser, with the reason. The caller may empty the list.
        pool: The pool to parse with.
    """

    def __init__(self, parser: str, options: Mapping[str, Any]) -> None:
        """Initialize the parser and start its process.

        Args:
            parser: Name of the parser.
            options: Arguments of the parser.
        """
        self._open = partial(open_pool, parser, options, 1)
        self._inner = self._open()
        self.crashes: list[tuple[str, str]] = []
        # Parse one batch ahead, while the batch before it is written.
        parsed = partial(ahead, self._parsed, at_once=1)
        self.pool = ParserPool(self._inner.name, self._inner.version, parsed, self.close)

    def close(self) -> None:
        """End the process."""
        self._inner.close()

    def _parsed(self, texts: Texts) -> list[Parsed]:
        """Parse a batch; after a crash, parse its texts one by one."""
        try:
            return next(self._inner.parse([texts]))
        # The process died, for example because memory ran out. Start a new one.
        except WorkerError as error:
            reason = first_line(error)
            self._inner.close()
            self._inner = self._open()
        # An answer of the wrong type is an error of the parser, not of the text.
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
    """Return the function that a worker process runs.

    The function answers a batch with results, and ``None`` with the parser's name and version.

    Args:
        name: Name of the parser.
        options: Arguments of the parser.

    Returns:
        The function.
    """
    parser = get_parser(name, **options)

    def answer(texts: Texts | None) -> Any:
        if texts is not None:
            return parser.parse_batch(texts)
        # Some parsers load their model at the first text. Parse something now, so that a missing model is
        # reported at the start, and loading time is not part of a run.
        parser.parse_batch(["Hello."])
        return parser.name, parser.version

    return answer


@dataclass(slots=True)
class ParseReport:
    """Counts of one run.

    Attributes:
        source: Name and version of the parser.
        parsed: Number of texts that went through the parser.
        reused: Number of texts whose parse the store remembered.
        graphs: Number of graphs written.
        replaced: Number of these graphs that replaced another one.
        failed: Number of texts without a graph.
        sentences: Number of sentences in the graphs.
        seconds: Duration of the run.
        warnings: Number of warnings by code.
        examples: Up to `KEPT_EXAMPLES` pairs of text id and warning by code.
        on_warning: Called with every warning.
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
        """Count the warnings about a text.

        Args:
            text: Id or line number of the text.
            warnings: The warnings.
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
            ``dependency 1: 300 graphs of 300 texts, 412 sentences in 2.1 s (196/s)``, followed by the numbers
            of reused and replaced graphs.
        """
        texts = self.graphs + self.failed
        line = f"{self.source}: {self.graphs:,} graphs of {texts:,} texts, {self.sentences:,} sentences"
        line += f" in {self.seconds:.1f} s"
        if self.parsed and self.seconds:
            line += f" ({self.sentences / self.seconds:,.0f}/s)"
        counts = {"of texts parsed before": self.reused, "replaced": self.replaced}
        parts = [f"{count:,} {what}" for what, count in counts.items() if count]
        return line + (f"; {', '.join(parts)}" if parts else "")


def sentences_of(graph: AmrGraph) -> int:
    """Return the number of sentences of a graph, by its ``:sntN`` roles.

    >>> from graphneg.amr.penman import parse_graph
    >>> sentences_of(parse_graph("(m / multi-sentence :snt1 (g / go-02) :snt2 (s / stop-01))"))
    2

    Args:
        graph: The graph.

    Returns:
        The number, at least 1.
    """
    if graph.top.concept != "multi-sentence":
        return 1
    return max(1, sum((node.role or "").startswith("snt") for node in graph.children(0)))


class _Batch(NamedTuple):
    """A batch of pending texts.

    Attributes:
        pending: The texts with their keys.
        remembered: Parses from the store, by key.
        asked: Keys that the store does not remember.
        new: Those of the asked keys that no earlier batch is parsing.
    """

    pending: Sequence[tuple[str, PendingText]]
    remembered: Mapping[str, Parsed]
    asked: Sequence[str]
    new: Sequence[str]


def parse_store(
    store: Store, pool: ParserPool, scope: ParseScope, report: ParseReport, progress: Progress
) -> ParseReport:
    """Parse the pending texts of a store and write their graphs.

    Graphs that are written stay, whenever the run is stopped; another run continues from there. Batches are
    read ahead of the parser and written in reading order. A `StoreError` says if the store is gone, a
    `ParserError` if the parser returns invalid answers.

    Args:
        store: The store.
        pool: The parser.
        scope: Which texts to parse.
        report: Counts to add to.
        progress: Progress display.

    Returns:
        The report.
    """
    began = time.monotonic()
    progress.start("parse", stored.count_pending(store, scope, report.source), "utterances")
    # Number of batches in flight that ask for a text, so that no text is parsed twice at the same time; and
    # the parses that such batches still need.
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
    """Yield batches of pending texts, each with the texts to parse."""
    pending = stored.read_pending(store, scope, pool.source)
    while page := list(islice(pending, BATCH)):
        keyed = [(digest([pool.source, text.text]), text) for text in page]
        texts = {key: text.text for key, text in keyed}
        # A parser without a version may have changed, so none of its parses is reused.
        remembered = stored.read_parses(store, texts) if pool.version else {}
        asked = [key for key in texts if key not in remembered]
        new = [key for key in asked if not uses[key]]
        uses.update(asked)
        yield _Batch(keyed, remembered, asked, new), [texts[key] for key in new]


def _write(
    store: Store, pool: ParserPool, batch: _Batch, parses: Mapping[str, Parsed], report: ParseReport
) -> None:
    """Write the graphs of a batch and count the results."""
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
    """Yield the lines of a UTF-8 file, without line ends and byte order mark.

    Args:
        stream: The file, opened in binary mode.
        progress: Progress display, advanced by bytes.

    Yields:
        The lines. Bytes that are not valid UTF-8 become lone surrogates, which the parser's check replaces
        and reports.
    """
    for number, line in enumerate(stream):
        progress.advance(len(line))
        # A line must not be lost for a wrong byte, or texts and graphs would no longer correspond.
        text = line.decode("utf-8", "surrogateescape")
        yield (text.removeprefix("\ufeff") if not number else text).removesuffix("\n").removesuffix("\r")


def parse_lines(pool: ParserPool, lines: Iterable[str], report: ParseReport) -> Iterator[str]:
    """Parse lines and yield a PENMAN block for each.

    A block has the text as ``::snt``, each warning as ``::warning``, and the graph. A text without a graph
    gets ``amr-unintelligible`` and counts as failed. A `ParserError` says if the parser returns invalid
    answers.

    Args:
        pool: The parser.
        lines: The texts, one per line.
        report: Counts to add to.

    Yields:
        One block per line, ending in a line break.
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
