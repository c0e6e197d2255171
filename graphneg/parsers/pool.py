"""A parser at work: in worker processes where it was named, in this one where it was handed over.

In: batches of texts. Out: for each batch, in order, the graphs with their PENMAN texts and warnings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from graphneg.amr.penman import format_graph
from graphneg.model import AmrGraph
from graphneg.parsers.base import PLUGINS, CheckedParser, Parser, checked, get_parser
from graphneg.workers import Workers

MOST_PROCESSES = 8
"""Where no number is given: more are pending before the one process that writes."""

Texts = Sequence[str]
_TRIAL = "Hello."


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text's graph with its PENMAN text, or neither; and what went wrong."""

    graph: AmrGraph | None
    penman: str | None
    warnings: tuple[str, ...]


class ParserPool(AbstractContextManager["ParserPool"]):
    """A parser that is ready: its name and version, and batches of texts through it, in their order.

    ``source`` is what graphs of the parser are marked with: ``dependency 1``. A few batches are read
    ahead of their turn.
    """

    def __init__(
        self,
        name: str,
        version: str,
        parse: Callable[[Iterable[Texts]], Iterator[list[ParsedText]]],
        close: Callable[[], None],
    ) -> None:
        self.name = name
        self.version = version
        self.source = f"{name} {version}".strip()
        self.parse = parse
        self.close = close

    def __enter__(self) -> Self:
        return self

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
        "graphneg.parsers.pool:parser_worker",
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
