"""The errors that graphneg raises. Each message says what was wrong, where, and what to do."""

from __future__ import annotations

from typing import TypeVar

Given = TypeVar("Given")


class GraphnegError(Exception):
    """Base of all errors that graphneg raises on purpose. ``status`` is what a command ends with."""

    status = 1


class StoreError(GraphnegError):
    """The store can't be opened or used: no server, wrong credentials, no Java, another schema."""


class OnlyReading(StoreError):
    """A query does something else than reading, where only reading is allowed."""


class QueryStopped(StoreError):
    """A query was stopped on the server before its end: its time was up, or it was cancelled."""


class InputError(GraphnegError):
    """A file or an argument is not what it should be."""


class PenmanError(InputError):
    """A PENMAN text is malformed. ``code`` is stable; line and column count from 1."""

    def __init__(self, code: str, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message} [{code}]")
        self.code = code
        self.message = message
        self.line = line
        self.column = column


class TransformError(GraphnegError):
    """A transform's file, its query or the edits that it proposed are not valid."""


class DecoderError(GraphnegError):
    """A decoder can't be made: its model is missing or its packages are not installed."""


class ParserError(GraphnegError):
    """A parser can't be made (its model is missing, say), or it does not answer as parsers do."""


class GeneratorError(GraphnegError):
    """A generator can't be made, or does not answer as generators do."""


class ModelError(GraphnegError):
    """A language model or an encoder can't be had: it is missing, of another kind, or out of reach."""

    status = 2


def listed(argument: str, given: Given) -> Given:
    """What was given for an argument that takes several texts.

    Raises `InputError`: it is a single text, whose letters would be taken for them.

    >>> listed("splits", ["train", "test"])
    ['train', 'test']
    """
    if isinstance(given, str):
        raise InputError(f"{argument} takes a list: {argument}=[{given!r}], not {argument}={given!r}")
    return given


class StoppedError(GraphnegError):
    """A run ends before its end: its server has gone, or what may be spent is. What was done is kept."""


def first_line(error: BaseException) -> str:
    """What an error says in its first line; the name of its class where it says nothing.

    >>> first_line(ValueError("no graph:\\n(")), first_line(KeyError())
    ('no graph', 'KeyError')
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(":")
