"""The parser interface, the lookup of parsers by name, and the check of their output.

A parser is any object with ``name``, ``version`` and ``parse_batch``. `CheckedParser` wraps a parser, so that
the rest of the package gets exactly one result per text. The result contains a well-formed graph, or a
warning with the reason why there is no graph.

>>> class Fixed:
...     def parse_batch(self, texts):
...         return ["(s / sing-01 :ARG0 (b / bird))" for _ in texts]
>>> answers = checked(Fixed()).parse_batch(["Birds sing.", " "])
>>> [answer.graph.top.concept for answer in answers]
['sing-01', 'amr-empty']
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from graphneg.amr.penman import format_graph, parse_graph
from graphneg.amr.wellformed import check
from graphneg.english.words import is_foreign
from graphneg.errors import ParserError, PenmanError
from graphneg.model import AmrGraph, AmrNode
from graphneg.plugins import Plugins

PLUGINS = Plugins("parser", "graphneg.parsers", ParserError)
"""The registry of parsers."""
EMPTY = AmrGraph("", (AmrNode(0, 0, "a", "amr-empty", None, None, None, 0),))
"""The graph of a text without words: the single concept ``amr-empty`` (AMR guidelines 1.2.6)."""

FOREIGN = "language: few words of the text are English, so it is not edited"
"""Warning for a text that is not English. The text is parsed, but transforms never edit its graph."""

LONGEST_TEXT = 5_000
"""Maximum length in characters of a text that is parsed or edited. A longer turn is usually a pasted file,
and parsing a megabyte would take minutes and gigabytes of memory.
"""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The result of parsing one text.

    Attributes:
        graph: The graph, or ``None`` if the text has no graph; a warning then gives the reason.
            ``graph.spans`` are ranges over the tokens of `graphneg.english.tokens.tokenize`.
        warnings: Warnings of the form ``CODE: message``, such as ``truncated: 12 of 600 tokens were left
            out``. Reports count the warnings by their code.
        penman: The graph in PENMAN notation; ``None`` if the graph was not checked.
    """

    graph: AmrGraph | None
    warnings: tuple[str, ...] = ()
    penman: str | None = None


WORDLESS = Parsed(EMPTY, ("empty: the text has no words",), format_graph(EMPTY))
"""The result of any parser for a text without words."""

Answer = AmrGraph | str | Parsed | None
"""What a parser may return for a text: a graph, its PENMAN text, a `Parsed` with warnings, or ``None``."""


@runtime_checkable
class Parser(Protocol):
    """The interface of a parser.

    If a class sets ``parallel = True``, several processes may each create an instance of it at the same time.
    Any other parser runs in one process only.
    """

    @property
    def name(self) -> str:
        """The name of the parser, such as ``dependency``."""
        ...

    @property
    def version(self) -> str:
        """The version of the parser.

        The version must change whenever the parser may return a different graph for the same text, because a
        store reuses earlier parses with the same name and version.
        """
        ...

    def parse_batch(self, texts: Sequence[str]) -> Sequence[Answer]:
        """Parse texts.

        Args:
            texts: The texts to parse.

        Returns:
            One answer per text, in the order of the texts: a graph, or another value that `Answer` allows.
        """
        ...


class CheckedParser:
    """A wrapper that checks the answers of a parser, so that each result has a valid graph or a warning.

    Some texts get special treatment. A text without words gets the result `WORDLESS`. A text longer than
    `LONGEST_TEXT` gets no graph. Each control character or lone surrogate is replaced with one U+FFFD, so
    that token indices do not change. A text that is not English is parsed and gets the warning `FOREIGN`.

    Attributes:
        name: Name of the parser; the name of its class if the parser has no name.
        version: Version of the parser; empty if the parser has no version.
        parallel: Whether several processes may each have an instance of the parser.
    """

    def __init__(self, parser: Parser) -> None:
        """Initialize with the parser to wrap.

        Args:
            parser: The parser to wrap.
        """
        self.name = str(getattr(parser, "name", type(parser).__name__))
        self.version = str(getattr(parser, "version", ""))
        self.parallel = bool(getattr(parser, "parallel", False))
        self._parser = parser

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        """Parse texts and check the answers.

        Args:
            texts: The texts to parse. They may be empty, too long or not English.

        Returns:
            One result per text, in the order of the texts.

        Raises:
            ParserError: The number of answers differs from the number of texts, or an answer has an
                unsupported type.
        """
        # Replace texts that are too long with the empty string, so that the wrapped parser never gets them.
        readable = ["" if len(text) > LONGEST_TEXT else readable_text(text) for text in texts]
        worded = [i for i, text in enumerate(readable) if not text.isspace() and text]
        answers = self._parser.parse_batch([readable[i] for i in worded]) if worded else []
        if len(answers) != len(worded):
            raise ParserError(
                f"parser {self.name} answered {len(answers)} of {len(worded)} texts; "
                "it must give one answer for each, in order"
            )
        parsed = [WORDLESS if len(text) <= LONGEST_TEXT else _too_long_result(text) for text in texts]
        for i, answer in zip(worded, answers, strict=True):
            checked = self._checked(answer)
            if readable[i] != texts[i]:
                count = sum(a != b for a, b in zip(texts[i], readable[i], strict=True))
                warning = f"characters: {count} control characters or lone surrogates were read as U+FFFD"
                checked = replace(checked, warnings=(*checked.warnings, warning))
            # A text that is not English keeps its graph, but transforms skip graphs with the warning FOREIGN.
            if is_foreign(readable[i]):
                checked = replace(checked, warnings=(*checked.warnings, FOREIGN))
            parsed[i] = checked
        return parsed

    def _checked(self, answer: Any) -> Parsed:
        if isinstance(answer, str):
            try:
                answer = parse_graph(answer)
            except PenmanError as error:
                return Parsed(None, (f"ill-formed: {error}",))
        parsed = Parsed(answer) if answer is None or isinstance(answer, AmrGraph) else answer
        if not isinstance(parsed, Parsed):
            raise ParserError(
                f"parser {self.name} answered with a {type(answer).__name__}; it must be an AmrGraph, a "
                "PENMAN text, a Parsed, or None"
            )
        if parsed.graph is None:
            return parsed if parsed.warnings else Parsed(None, ("no-graph: the parser returned no graph",))
        return _well_formed(parsed.graph, parsed.warnings)


def _well_formed(graph: AmrGraph, warnings: tuple[str, ...]) -> Parsed:
    """Return the graph as a result, or the reason why the graph is invalid or cannot be stored."""
    try:
        penman = format_graph(graph)
        again = parse_graph(penman)
    except (PenmanError, LookupError, RecursionError) as error:
        return Parsed(None, (*warnings, f"ill-formed: the graph can't be written ({error})"))
    # The store keeps graphs as PENMAN text. If a graph changes when it is written and read again, it cannot
    # be stored.
    if again.nodes != graph.nodes or again.mentions != graph.mentions:
        return Parsed(None, (*warnings, "ill-formed: the graph changes when it is written and read again"))
    defects = check(graph)
    if defects:
        return Parsed(None, (*warnings, f"ill-formed: {defects[0].message} [{defects[0].code}]"))
    return Parsed(graph, warnings, penman)


def _too_long_result(text: str) -> Parsed:
    reason = f"{len(text):,} characters; texts of more than {LONGEST_TEXT:,} are neither parsed nor edited"
    return Parsed(None, (f"too-long: {reason}",))


def checked(parser: Parser | CheckedParser) -> CheckedParser:
    """Wrap a parser so that its answers are checked.

    Args:
        parser: The parser; a `CheckedParser` is returned unchanged.

    Returns:
        The wrapped parser. If the parser has no version, a store never reuses its parses.

    Raises:
        ParserError: The object has no ``parse_batch``.
    """
    if isinstance(parser, CheckedParser):
        return parser
    if isinstance(parser, type):
        raise ParserError(f"{parser.__name__} is a class; pass an object: {parser.__name__}()")
    if not callable(getattr(parser, "parse_batch", None)):
        raise ParserError(
            f"{type(parser).__name__} is not a parser: it has no parse_batch(texts), "
            "which gives one graph for each text"
        )
    return CheckedParser(parser)


def readable_text(text: str) -> str:
    r"""Replace control characters and lone surrogates in a text with U+FFFD.

    >>> readable_text("a\x00b\ud800")
    'a�b�'

    Args:
        text: Any string.

    Returns:
        A text of the same length. Control characters that are white space, such as line breaks, are kept.
    """
    # Return most texts quickly: printable ASCII text contains no control characters and no surrogates.
    if text.isascii() and text.isprintable():
        return text
    no_text = {c for c in text if unicodedata.category(c) in {"Cc", "Cs"} and not c.isspace()}
    return "".join(_REPLACEMENT if character in no_text else character for character in text)


def parser_names() -> list[str]:
    """Return the names of all available parsers, including parsers that other installed packages add."""
    return PLUGINS.names()


def get_parser(name: str, **options: Any) -> CheckedParser:
    """Create a parser by name.

    Raises `ParserError` if no parser has this name, if the parser does not accept an option, if its model is
    missing, or if it cannot be imported.

    Args:
        name: Name of the parser, such as ``dependency``.
        **options: Arguments for the constructor of the parser.

    Returns:
        The parser in a wrapper that checks its answers.
    """
    return checked(PLUGINS.make(name, options))


def warning_code(warning: str) -> str:
    """Return the code at the start of a warning. Reports count warnings by this code.

    >>> warning_code("truncated: 12 of 600 tokens were left out")
    'truncated'

    Args:
        warning: A warning of the form ``CODE: message``.

    Returns:
        The code, which is the part before the first colon.
    """
    return warning.partition(":")[0]
