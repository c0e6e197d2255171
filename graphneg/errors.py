"""Define the exceptions that graphneg raises. Their messages say what is wrong, where, and what to do."""

from __future__ import annotations

import errno
from typing import TypeVar

Given = TypeVar("Given")
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Error numbers of the operating system that mean that a file or folder may not be read or written."""


class GraphnegError(Exception):
    """Base class for all errors that graphneg raises on purpose.

    Attributes:
        status: Exit status of a command that fails with this error.
        is_plugin_failure: Whether the error was caused by an unexpected exception in a plugin from another
            package.
    """

    status = 1
    is_plugin_failure = False


class StoreError(GraphnegError):
    """The store cannot be opened or used.

    For example, no server answers, the password is wrong, there is no Java runtime, or the store has a
    different schema.
    """


class OnlyReading(StoreError):
    """A read-only query tries to write, to load a file, or to change the server."""


class QueryStopped(StoreError):
    """A query was stopped on the server because it timed out or was cancelled."""


class InputError(GraphnegError):
    """A file or an argument is not valid."""


class PenmanError(InputError):
    """A PENMAN text is malformed.

    Attributes:
        code: Code of the problem. It remains the same in later versions, unlike the message.
        message: Description of the problem, without its position.
        line: Line number in the text, starting at 1.
        column: Column number in the line, starting at 1.
    """

    def __init__(self, code: str, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message} [{code}]")
        self.code = code
        self.message = message
        self.line = line
        self.column = column


class TransformError(GraphnegError):
    """The file, the query or the proposed edits of a transform are not valid."""


class DecoderError(GraphnegError):
    """A decoder cannot be created: its model is missing or its packages are not installed."""


class ParserError(GraphnegError):
    """A parser cannot be created (for example, its model is missing), or its output is not valid."""


class GeneratorError(GraphnegError):
    """A generator cannot be created, or its output is not valid."""


class ModelError(GraphnegError):
    """A language model or encoder cannot be loaded: it is missing, has the wrong type, or is unreachable."""

    status = 2


def checked_list(argument: str, values: Given) -> Given:
    """Check that an argument is a list of strings and not a single string, and return it.

    Args:
        argument: Name of the argument, for the error message.
        values: Value of the argument to check.

    Returns:
        The value, unchanged.

    Raises:
        InputError: The value is a single string, which would be mistaken for a list of letters.

    Example:
        >>> checked_list("splits", ["train", "test"])
        ['train', 'test']
    """
    if isinstance(values, str):
        raise InputError(f"{argument} takes a list: {argument}=[{values!r}], not {argument}={values!r}")
    return values


class StoppedError(GraphnegError):
    """A run stopped early because a server no longer answers or the budget is spent. Its results are kept."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or the name of its class if the message is empty.

    Args:
        error: Any exception.

    Returns:
        The line, without a trailing colon.

    Example:
        >>> first_line(ValueError("no graph: (")), first_line(KeyError())
        ('no graph: (', 'KeyError')
    """
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(":")
