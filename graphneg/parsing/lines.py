"""Parsing a file of one text a line to PENMAN, without a store."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice

from graphneg.model import AmrGraph, AmrNode
from graphneg.parsers.base import readable_text
from graphneg.parsing.pool import ParsedText, ParserPool, Texts
from graphneg.parsing.report import ParseReport, sentences_of
from graphneg.penman_codec import format_graph
from graphneg.progress import Progress

BATCH = 100
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
