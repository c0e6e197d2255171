"""The errors that graphneg raises on purpose. A message says what is wrong, where, and what to do."""

from __future__ import annotations

from typing import TypeVar

Given = TypeVar("Given")


class GraphnegError(Exception):
    """Base class of all errors that graphneg raises on purpose.

    Attributes:
        status: Exit status of a command that ends with the error.
    """

    status = 1


class StoreError(GraphnegError):
    """The store cannot be opened or used: no server, wrong credentials, no Java, another schema."""


class OnlyReading(StoreError):
    """A query does more than read where only reading is allowed."""


class QueryStopped(StoreError):
    """A query was stopped on the server, because its time was up or it was cancelled."""


class InputError(GraphnegError):
    """A file or an argument is not valid."""


class PenmanError(InputError):
    """A PENMAN text is malformed.

    Attributes:
        code: Stable code of the problem.
        message: Description of the problem.
        line: Line of the text, from 1.
        column: Column of the line, from 1.
    """

    def __init__(self, code: str, message: str, line: int, column: int) -> None:
        """Initialize the error with its position."""
        super().__init__(f"line {line}, column {column}: {message} [{code}]")
        self.code = code
        self.message = message
        self.line = line
        self.column = column


class TransformError(GraphnegError):
    """A transform's file, its query, or the edits that it proposes are not valid."""


class DecoderError(GraphnegError):
    """A decoder cannot be made: its model is missing or its packages are not installed."""


class ParserError(GraphnegError):
    """A parser cannot be made (for example, its model is missing), or its answer is not valid."""


class GeneratorError(GraphnegError):
    """A generator cannot be made, or its answer is not valid."""


class ModelError(GraphnegError):
    """A language model or an encoder cannot be loaded: it is missing, of another kind, or out of reach."""

    status = 2


def listed(argument: str, given: Given) -> Given:
    """Return the value of an argument that takes several strings, after checking that it is not a single one.

    Args:
        argument: Name of the argument, for the message.
        given: Value of the argument.

    Returns:
        The value.

    Raises:
        InputError: The value is a single string, whose letters would be taken for the items.

    Example:
        >>> listed("splits", ["train", "test"])
        ['train', 'test']
    """
    if isinstance(given, str):
        raise InputError(f"{argument} takes a list: {argument}=[{given!r}], not {argument}={given!r}")
    return given


class StoppedError(GraphnegError):
    """A run stopped early: its server is gone, or its budget is spent. What was done is kept."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or the name of its class if the message is empty.

    Args:
        error: Any exception.

    Returns:
        The line, without a colon at its end.

    Example:
        >>> first_line(ValueError("no graph: (")), first_line(KeyError())
        ('no graph: (', 'KeyError')
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(":")
