"""What a parser is, how one is found by name, and how its answers are checked."""

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
EMPTY = AmrGraph("", (AmrNode(0, 0, "a", "amr-empty", None, None, None, 0),))
"""The graph of a text without words (AMR guidelines 1.2.6, ``amr-empty``)."""

FOREIGN = "language: few of its words are English, so it is not edited"

LONGEST_TEXT = 5_000
"""Longest text in characters that is parsed, and that is edited. A turn of a megabyte is a pasted file: its
parse takes minutes and gigabytes, and nobody edits it."""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text's graph, or none, and what went wrong on the way; when checked, also its PENMAN text.

    A warning starts with a stable code, a colon and a sentence: ``truncated: ...``. Where there
    is no graph, a warning says why. ``graph.spans`` are ranges over the tokens of
    :func:`graphneg.english.tokens.tokenize`.
    """

    graph: AmrGraph | None
    warnings: tuple[str, ...] = ()
    penman: str | None = None


WORDLESS = Parsed(EMPTY, ("empty: the text has no words",), format_graph(EMPTY))
"""What any parser gives for a text without words."""

Answer = AmrGraph | str | Parsed | None
"""What a parser may give for a text: a graph, its PENMAN text, either with warnings, or nothing."""


@runtime_checkable
class Parser(Protocol):
    """Turns texts into AMR graphs.

    ``version`` changes whenever the same text may get another graph: a store keeps what was
    parsed by name and version. A class that sets ``parallel = True`` may be made once in each of
    several processes; others are made once.
    """

    @property
    def name(self) -> str:
        """What the parser is called: ``dependency``."""
        ...

    @property
    def version(self) -> str:
        """Which of its graphs are alike."""
        ...

    def parse_batch(self, texts: Sequence[str]) -> Sequence[Answer]:
        """One answer for each text, in order."""
        ...


class CheckedParser:
    """A parser whose answers are checked: one for each text, each a well-formed graph or a warning.

    A text that is hardly English has a warning. Texts longer than `LONGEST_TEXT` get no graph. Texts without
    words are not handed on, and characters that
    are no text (control characters, halves of surrogate pairs) are handed on as U+FFFD, so that tokens keep
    their numbers.
    """

    def __init__(self, parser: Parser) -> None:
        self.name = str(getattr(parser, "name", type(parser).__name__))
        self.version = str(getattr(parser, "version", ""))
        self.parallel = bool(getattr(parser, "parallel", False))
        self._parser = parser

    def parse_batch(self, texts: Sequence[str]) -> list[Parsed]:
        """Checked answers, one for each text, in order.

        Raises `ParserError`: the parser answered too few or too many, or with something else.
        """
        readable = ["" if len(text) > LONGEST_TEXT else readable_text(text) for text in texts]
        worded = [i for i, text in enumerate(readable) if not text.isspace() and text]
        answers = self._parser.parse_batch([readable[i] for i in worded]) if worded else []
        if len(answers) != len(worded):
            raise ParserError(
                f"parser {self.name} answered {len(answers)} of {len(worded)} texts; "
                "it must give one answer for each, in order"
            )
        parsed = [WORDLESS if len(text) <= LONGEST_TEXT else _too_long(text) for text in texts]
        for i, answer in zip(worded, answers, strict=True):
            checked = self._checked(answer)
            if readable[i] != texts[i]:
                count = sum(a != b for a, b in zip(texts[i], readable[i], strict=True))
                warning = f"characters: {count} that are no text were read as U+FFFD"
                checked = replace(checked, warnings=(*checked.warnings, warning))
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
                f"parser {self.name} answered with a {type(answer).__name__}; "
                "an answer is an AmrGraph, a PENMAN text, a Parsed, or None"
            )
        if parsed.graph is None:
            return parsed if parsed.warnings else Parsed(None, ("no-graph: the parser gave none",))
        return _well_formed(parsed.graph, parsed.warnings)


def _well_formed(graph: AmrGraph, warnings: tuple[str, ...]) -> Parsed:
    """The graph if it can be written, read back as it is, and is well formed; else the reason."""
    try:
        penman = format_graph(graph)
        again = parse_graph(penman)
    except (PenmanError, LookupError, RecursionError) as error:
        return Parsed(None, (*warnings, f"ill-formed: the graph can't be written ({error})"))
    if again.nodes != graph.nodes or again.mentions != graph.mentions:
        return Parsed(None, (*warnings, "ill-formed: the graph reads back as another one"))
    defects = check(graph)
    if defects:
        return Parsed(None, (*warnings, f"ill-formed: {defects[0].message} [{defects[0].code}]"))
    return Parsed(graph, warnings, penman)


def _too_long(text: str) -> Parsed:
    reason = f"{len(text):,} characters, and texts of over {LONGEST_TEXT:,} are neither parsed nor edited"
    return Parsed(None, (f"too-long: {reason}",))


def checked(parser: Parser | CheckedParser) -> CheckedParser:
    """The parser with its answers checked; one that is checked already stays as it is.

    One without a name gets that of its class; what one without a version parsed is not reused.

    Raises `ParserError`: it has no ``parse_batch``.
    """
    if isinstance(parser, CheckedParser):
        return parser
    if not callable(getattr(parser, "parse_batch", None)):
        raise ParserError(
            f"{type(parser).__name__} is no parser: it has no parse_batch(texts), "
            "which gives one graph for each text"
        )
    return CheckedParser(parser)


def readable_text(text: str) -> str:
    """The text with each character that is none as U+FFFD.

    >>> readable_text("a\\x00b\\ud800")
    'a�b�'
    """
    if text.isascii() and text.isprintable():
        return text
    no_text = {c for c in text if unicodedata.category(c) in {"Cc", "Cs"} and not c.isspace()}
    return "".join(_REPLACEMENT if character in no_text else character for character in text)


def parser_names() -> list[str]:
    """Every parser that ``get_parser`` knows, installed ones included."""
    return PLUGINS.names()


def get_parser(name: str, **options: Any) -> CheckedParser:
    """The parser of that name, made with the options it takes, its answers checked.

    Packages add parsers by an entry point in the group ``graphneg.parsers``.

    Raises `ParserError`: no such parser, it does not take these options, its model is missing, or it can't be
    imported.
    """
    return checked(PLUGINS.make(name, options))


def warning_code(warning: str) -> str:
    """What a warning is counted under.

    >>> warning_code("truncated: 12 of 600 tokens were left out")
    'truncated'
    """
    return warning.partition(":")[0]
