r"""Read JSON that may be damaged or malicious. Invalid input raises an error that names the file and line.

Python's module ``json`` accepts things that no JSON file should contain: ``NaN``, numbers that overflow to
infinity, unpaired surrogates, and objects with a duplicate key, for which it silently uses the last value.
Its errors for deep nesting and for invalid UTF-8 do not name a position. `parse_json` raises an `InputError`
in all of these cases, and `open_input` refuses devices such as ``/dev/zero``, which can be read without end.
`decode_json` and `DECODER` are for loaders, which name the column of an error and can still use the rest of a
record:

>>> parse_json('{"turn": 1, "turn": 2}', "negatives.jsonl, line 3")
Traceback (most recent call last):
graphneg.errors.InputError: negatives.jsonl, line 3: the key "turn" appears twice in one JSON object
>>> json_line({"text": "a\u2028b"})
'{"text": "a\\u2028b"}'
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol, TypeVar, cast

import msgspec

from graphneg.errors import InputError

LONGEST_LINE = 64 * 2**20
"""Maximum length of a line in bytes, and default maximum size of a file that is read into memory at once."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Characters that JSON allows unescaped, although some tools read them as line ends or control characters.
# Other line ends (\x0b, \x0c, \x1c to \x1e) need not be listed, because `json.dumps` escapes them.
_ESCAPED = {
    code: f"\\u{code:04x}"
    for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Escape sequences for characters that JSON allows but that some tools do not treat as ordinary text.

`str.splitlines`, some editors and JavaScript treat U+0085, U+2028 and U+2029 as the end of a line. Terminals
interpret U+007F to U+009F as control characters (U+009B starts an escape sequence). U+202A to U+202E and
U+2066 to U+2069 change the direction of text.
"""

T = TypeVar("T")


class DuplicateKeyError(ValueError):
    """A JSON object contains the same key twice.

    Args:
        key: The key that occurs twice.
    """

    def __init__(self, key: str) -> None:
        written = key if len(key) <= 60 else f"{key[:60]}…"
        super().__init__(
            f"the key {json.dumps(written, ensure_ascii=False)} appears twice in one JSON object"
        )


def refuse_constant(name: str) -> NoReturn:
    """Reject ``NaN``, ``Infinity`` and ``-Infinity``, which RFC 8259 does not allow.

    Args:
        name: The constant as written in the JSON text.

    Raises:
        ValueError: Always.
    """
    raise ValueError(f"{name} is not a JSON number")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Convert the members of a JSON object into a dict, and reject duplicate keys.

    Args:
        pairs: Keys and values in the order of the JSON text.

    Returns:
        A dict from keys to values.

    Raises:
        DuplicateKeyError: Two members have the same key.
    """
    members = dict(pairs)
    # If the dict has fewer entries than there are pairs, a key is duplicate. Only then search for the key.
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateKeyError(key)
            seen.add(key)
    return members


DECODER = json.JSONDecoder(parse_constant=refuse_constant, object_pairs_hook=unique_keys)
"""The JSON decoder of `decode_json`. Its ``raw_decode`` decodes a value at the beginning of a text."""


def decode_json(text: str) -> Any:
    """Decode a JSON text.

    Args:
        text: One JSON value as RFC 8259 defines it; surrounding whitespace is ignored.

    Returns:
        The value as a Python object.

    Raises:
        InputError: The text is not JSON, an object in it has a duplicate key, or it is nested too deeply. The
            message names the column if it is known.
    """
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        column = f" at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(json_fault(error) + column) from error


def json_fault(error: ValueError | RecursionError) -> str:
    """Describe an error that `DECODER` raised, without its position.

    Args:
        error: The error that `DECODER` raised.

    Returns:
        A description in one line.

    Example:
        >>> json_fault(json.JSONDecodeError("Unterminated string starting at", '["', 1))
        'not JSON: Unterminated string'
    """
    if isinstance(error, RecursionError):
        return "the JSON nests too deeply"
    if isinstance(error, DuplicateKeyError):
        return str(error)
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return f"not JSON: {message.removesuffix(' at').removesuffix(' starting')}"


def unambiguous_members(text: str) -> dict[str, Any]:
    """Return the members of a JSON object whose keys occur only once.

    Loaders call this function for an object that `decode_json` rejects because a key occurs twice.

    Args:
        text: The JSON text of the object.

    Returns:
        The members; empty if the text is not a JSON object.

    Example:
        >>> unambiguous_members('{"id": "c1", "text": "Hi.", "text": "Ho."}')
        {'id': 'c1'}
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in pairs)
        return {key: value for key, value in pairs if counts[key] == 1}

    try:
        value = json.loads(text, object_pairs_hook=once, strict=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def json_line(value: Any, **options: Any) -> str:
    """Convert a value into one line of JSON that no tool splits into several lines.

    Non-ASCII text is not escaped, except for characters that some tools treat as the end of a line or that
    control a terminal.

    Args:
        value: A value that JSON can represent.
        **options: Arguments of `json.dumps`.

    Returns:
        The line, without a line break.
    """
    return json.dumps(value, ensure_ascii=False, **options).translate(_ESCAPED)


def parse_json(text: str | bytes, where: str) -> Any:
    """Parse one JSON text strictly.

    Args:
        text: The text; bytes are decoded as UTF-8.
        where: File and line, for error messages.

    Returns:
        The decoded value.

    Raises:
        InputError: The text is not UTF-8 or not JSON, is nested too deeply, or contains a duplicate key in an
            object, a number that is not finite, or an unpaired surrogate.
    """
    try:
        text = text if isinstance(text, str) else text.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=unique_keys,
            parse_constant=refuse_constant,
            parse_float=_parse_finite_float,
        )
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise InputError(f"{where}: not JSON: nested too deeply") from error
    except DuplicateKeyError as error:
        raise InputError(f"{where}: {error}") from error
    except ValueError as error:
        raise InputError(f"{where}: not JSON: {error}") from error
    # An unpaired surrogate can only come from a \u escape, because UTF-8 cannot encode it. Few texts contain
    # such an escape. Search the value, which is slow, only if the text contains one.
    if "\\u" in text and _has_unpaired_surrogate(value):
        raise InputError(f"{where}: half of a surrogate pair, which no file can hold; repair the encoding")
    return value


def parse_typed(text: str | bytes, type: type[T], where: str) -> T:
    """Parse a JSON text, and convert the value into an instance of a type.

    Raises the errors of `parse_json` and `converted`.

    Args:
        text: The text; bytes are decoded as UTF-8.
        type: Type of the result, which `msgspec.convert` must support.
        where: File and line, for error messages.

    Returns:
        The value, as an instance of ``type``.
    """
    return converted(parse_json(text, where), type, where)


def parse_yaml(text: bytes, type: type[T], where: str) -> T:
    """Parse a YAML document, and convert the value into an instance of a type.

    Args:
        text: The document, encoded as UTF-8.
        type: Type of the result, which `msgspec.convert` must support.
        where: Name of the file, for error messages.

    Returns:
        The value, as an instance of ``type``.

    Raises:
        InputError: The text is not YAML, contains a duplicate key or an alias, or does not fit the type.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            # Reject aliases, because a few lines of YAML with nested aliases can expand to gigabytes.
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("an alias (*name); write the value itself")
            return super().compose_node(parent, index)  # pyright: ignore

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            made = super().construct_mapping(node, deep)
            if len(made) < len(node.value):
                raise yaml.YAMLError(f"line {node.start_mark.line + 1}: a key occurs twice")
            return made

    try:
        value = yaml.load(text, Loader)
    # PyYAML does not convert all errors into a YAMLError. For the date ``2001-13-45``, for example, it raises
    # a ValueError. So catch these errors, too.
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise InputError(f"{where}: not YAML: {' '.join(str(error).split())}") from error
    return converted(value, type, where)


def converted(value: Any, type: type[T], where: str) -> T:
    """Convert a value into an instance of a type, without coercing strings or numbers.

    Args:
        value: A value of lists, dicts and scalars, as JSON parsers return it.
        type: Type of the result, which `msgspec.convert` must support.
        where: File and line, for error messages.

    Returns:
        An instance of ``type``.

    Raises:
        InputError: The value does not have that type.
    """
    try:
        return msgspec.convert(value, type)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise InputError(f"{where}: {error}") from error


def finite_number(value: Any) -> float | None:
    """Return a JSON value as a finite number, or None if it is not one.

    Args:
        value: Any decoded JSON value.

    Returns:
        The number; None for other types, infinity, NaN and integers beyond the range of a float. The result
        for a bool is None, too: it is an int in Python, but not a number in JSON.

    Example:
        >>> finite_number(3), finite_number(True), finite_number(10**400), finite_number("3")
        (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def whole_number(value: Any, least: int | None = None) -> int | None:
    """Return a value of unknown type as an integer, or None if it is not one.

    All values whose type is not checked by `converted` are checked here: values of JSON and YAML, of query
    results, and of arguments of generators. Python treats True and False as the integers 1 and 0; a user who
    writes ``true`` means something else.

    Args:
        value: Any value.
        least: Smallest allowed integer; None for no limit.

    Returns:
        The integer; None for other types, and for integers below ``least``. The result for a bool is None.

    Example:
        >>> whole_number(3), whole_number(True), whole_number(3.0), whole_number(0, least=1)
        (3, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if least is None or value >= least else None


def _parse_finite_float(text: str) -> float:
    number = float(text)
    # Python converts numbers that are too large, such as "1e999", into infinity, which JSON cannot represent.
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:60]} is too large")
    return number


def _has_unpaired_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(
            _has_unpaired_surrogate(key) or _has_unpaired_surrogate(item)
            for key, item in cast("dict[str, Any]", value).items()
        )
    return isinstance(value, list) and any(map(_has_unpaired_surrogate, cast("list[Any]", value)))


def open_input(path: str | Path, *, pipes: bool = True) -> BinaryIO:
    """Open a file for reading.

    Args:
        path: The file to open.
        pipes: Whether to accept a named pipe, which can be read only once.

    Returns:
        The open file.

    Raises:
        InputError: The path cannot be read, or is a folder, a device or a pipe that is not accepted.
    """
    try:
        # Check the type before opening, because opening a named pipe can block, and reading a device may
        # never end.
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode)) or stat.S_ISDIR(mode)):
            raise InputError(f"{path}: not a regular file, so it can't be read")
        return open(path, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: can't be read: {reason}") from error


def read_input(path: str | Path, most: int = LONGEST_LINE, *, pipes: bool = True) -> bytes:
    """Read a whole small file into memory.

    Args:
        path: The file to read.
        most: Maximum size of the file in bytes.
        pipes: Whether to accept a named pipe.

    Returns:
        The content of the file.

    Raises:
        InputError: The file cannot be read, or has more than ``most`` bytes.
    """
    with open_input(path, pipes=pipes) as file:
        try:
            # Read one byte more than allowed, which is enough to detect a file that is too large.
            content = file.read(most + 1)
        except OSError as error:
            raise InputError(f"{path}: can't be read: {error.strerror}") from error
    if len(content) > most:
        raise InputError(f"{path}: larger than {most:,} bytes")
    return content


class ReadsLines(Protocol):
    """An open binary file, compressed or not, that can be read line by line."""

    def readline(self, size: int = -1, /) -> bytes:
        """Read the next line.

        Args:
            size: Maximum number of bytes to read; a negative number for no limit.

        Returns:
            The line with its line end, or its first ``size`` bytes; empty at the end of the file.
        """
        ...


def numbered_lines(file: ReadsLines, path: str | Path, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of an open file with their numbers. Only a line feed ends a line.

    Args:
        file: File that is open for reading in binary mode.
        path: Path of the file, for error messages.
        first: Number to give to the first line.

    Yields:
        The line number, and the line with its line feed.

    Raises:
        InputError: A line is longer than `LONGEST_LINE`, or reading fails.
    """
    number = first
    while True:
        try:
            # Limit the number of bytes to read, because a line of many gigabytes would not fit into memory.
            line = file.readline(LONGEST_LINE + 1)
        except (OSError, EOFError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise InputError(f"{path}, line {number}: can't be read: {reason}") from error
        if not line:
            return
        if len(line) > LONGEST_LINE:
            raise InputError(f"{path}, line {number}: longer than {LONGEST_LINE:,} bytes")
        yield number, line
        number += 1
