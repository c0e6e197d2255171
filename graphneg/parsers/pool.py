"""A parser at work: in worker processes where it was named, in this one where it was handed over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from graphneg.amr.penman import format_graph
from graphneg.model import AmrGraph
from graphneg.parsers.base import PLUGINS, Parsed, Parser, checked, get_parser
from graphneg.workers import Workers

MOST_PROCESSES = 8
"""Where no number is given: more are waiting for the one process that writes."""

Texts = Sequence[str]
_TRIAL = "Hello."


@dataclass(frozen=True, slots=True)
class ParsedText:
    """A text's graph with its PENMAN text, or neither; and what went wrong."""

    graph: AmrGraph | None
    penman: str | None
    warnings: tuple[str, ...]


@runtime_checkable
class ParserPool(Protocol):
    """Parses batches of texts, in their order. ``source`` is what graphs of the parser are marked with."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def parse(self, batches: Iterable[Texts]) -> Iterator[list[ParsedText]]:
        """The answers to each batch; a few batches are taken ahead of their turn."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def source_of(pool: ParserPool) -> str:
    """What the pool's graphs are marked with: ``dependency 1``."""
    return f"{pool.name} {pool.version}".strip()


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
        return _GivenParser(parser)
    parallel = bool(getattr(PLUGINS.find(parser), "parallel", False))
    return _NamedParser(parser, options or {}, processes or (_cores() if parallel else 1))


def parser_worker(name: str, options: Mapping[str, Any]) -> Callable[[Texts | None], Any]:
    """What a worker process does: answers a batch, or says its parser's name and version to None.

    Before it says so it parses something: models may be read at the first text, and be none.
    """
    parser = get_parser(name, **options)

    def answer(texts: Texts | None) -> Any:
        if texts is None:
            parser.parse_batch([_TRIAL])
            return parser.name, parser.version
        return list(map(_written, parser.parse_batch(texts)))

    return answer


class _NamedParser:
    def __init__(self, name: str, options: Mapping[str, Any], processes: int) -> None:
        self._workers: Workers[Texts | None, Any] = Workers(
            "graphneg.parsers.pool:parser_worker", (name, dict(options)), processes
        )
        try:
            self.name, self.version = self._workers.ask(None)
        except BaseException:
            self._workers.close()
            raise

    def parse(self, batches: Iterable[Texts]) -> Iterator[list[ParsedText]]:
        return self._workers.map(batches)

    def close(self) -> None:
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _GivenParser:
    def __init__(self, parser: Parser) -> None:
        self._parser = checked(parser)
        self.name, self.version = self._parser.name, self._parser.version

    def parse(self, batches: Iterable[Texts]) -> Iterator[list[ParsedText]]:
        for texts in batches:
            yield list(map(_written, self._parser.parse_batch(texts)))

    def close(self) -> None:
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _written(parsed: Parsed) -> ParsedText:
    penman = None if parsed.graph is None else format_graph(parsed.graph)
    return ParsedText(parsed.graph, penman, parsed.warnings)


def _cores() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_PROCESSES)
