r"""Read JSON that others may have written or damaged: exactly, or with an error that names the place.

Python's reader accepts what no JSON file should contain: ``NaN``, numbers that overflow to infinity, halves
of surrogate pairs, and an object that has a key twice, of which the last one silently wins. Its errors on
deep nesting and on bytes that are not UTF-8 name no place, and a device such as ``/dev/zero`` never ends.
`parse_json` refuses all of that with one `InputError`. `decode_json` and `DECODER` are for loaders, which
name the column and may go on with the rest of a record:

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
"""Maximum number of bytes of a line, or of a small file that is read at once."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Line ends of `str.splitlines` that JSON allows unescaped. The others (\x0b, \x0c, \x1c to
# \x1e) are control characters, which `json.dumps` escapes already.
_ESCAPED = {
    code: f"\\u{code:04x}"
    for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
"""Characters that JSON allows and that some tools do not treat as text.

U+0085, U+2028 and U+2029 end a line for `str.splitlines`, some editors and JavaScript. Terminals obey U+007F
to U+009F (U+009B starts an escape sequence). U+202A to U+202E and U+2066 to U+2069 change the direction of
text.
"""

T = TypeVar("T")


class DuplicateKeyError(ValueError):
    """A JSON object has the same key twice."""

    def __init__(self, key: str) -> None:
        """Initialize the error with the key."""
        written = key if len(key) <= 60 else f"{key[:60]}…"
        super().__init__(
            f"the key {json.dumps(written, ensure_ascii=False)} appears twice in one JSON object"
        )


def refuse_constant(name: str) -> NoReturn:
    """Refuse ``NaN``, ``Infinity`` and ``-Infinity``, which RFC 8259 does not allow.

    Args:
        name: The constant as it is written.

    Raises:
        ValueError: Always.
    """
    raise ValueError(f"{name} is no JSON number")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object as a dict.

    Args:
        pairs: The members in the order of the text.

    Returns:
        The members by key.

    Raises:
        DuplicateKeyError: Two members have the same key.
    """
    members = dict(pairs)
    # Only then look for the key, because most objects have none twice.
    if len(members) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DuplicateKeyError(key)
            seen.add(key)
    return members


DECODER = json.JSONDecoder(parse_constant=refuse_constant, object_pairs_hook=unique_keys)
"""The decoder of `decode_json`, for callers that decode a part of a text with ``raw_decode``."""


def decode_json(text: str) -> Any:
    """Return the value of a JSON text.

    Args:
        text: One JSON value as RFC 8259 defines it; whitespace around it is ignored.

    Returns:
        The value in Python's types.

    Raises:
        InputError: The text is not JSON, has a key twice in one object, or is nested too deeply. The message
            names the column if it is known.
    """
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        column = f" at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(json_fault(error) + column) from error


def json_fault(error: ValueError | RecursionError) -> str:
    """Describe an error of `DECODER` without its position.

    Args:
        error: Error that `DECODER` raised.

    Returns:
        One line that describes what is wrong with the text.

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


def certain_members(text: str) -> dict[str, Any]:
    """Return the members of a JSON object that `decode_json` refuses, without those whose key appears twice.

    Args:
        text: The JSON text.

    Returns:
        The members whose key appears once; empty if the text is not a JSON object.

    Example:
        >>> certain_members('{"id": "c1", "text": "Hi.", "text": "Ho."}')
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
    """Return a value as one line of JSON, whatever tool splits the file into lines.

    Text is not escaped, except for characters that end a line for some tools or that a terminal obeys.

    Args:
        value: A value that JSON can represent.
        **options: Arguments of `json.dumps`.

    Returns:
        The line, without a line break.
    """
    return json.dumps(value, ensure_ascii=False, **options).translate(_ESCAPED)


def parse_json(text: str | bytes, where: str) -> Any:
    """Parse one JSON text.

    Args:
        text: The text; bytes are decoded as UTF-8.
        where: File and line, for errors.

    Returns:
        The value.

    Raises:
        InputError: The text is not UTF-8 or not JSON, is nested too deeply, or contains a key twice in one
            object, a number that is not finite, or half of a surrogate pair.
    """
    try:
        text = text if isinstance(text, str) else text.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=unique_keys, parse_constant=refuse_constant, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8: {error.reason}") from error
    except RecursionError as error:
        raise InputError(f"{where}: not JSON: nested too deeply") from error
    except DuplicateKeyError as error:
        raise InputError(f"{where}: {error}") from error
    except ValueError as error:
        raise InputError(f"{where}: not JSON: {error}") from error
    # Half of a pair can only come from an escape: UTF-8 has none. Most texts have no escapes, so the check is
    # rare.
    if "\\u" in text and _has_surrogate(value):
        raise InputError(f"{where}: half of a surrogate pair, which no file can hold; repair the encoding")
    return value


def parse_typed(text: str | bytes, type: type[T], where: str) -> T:
    """Parse one JSON text of a known type. Errors are those of `parse_json` and `converted`.

    Args:
        text: The text; bytes are decoded as UTF-8.
        type: Type for `msgspec.convert`.
        where: File and line, for errors.

    Returns:
        The value, as an instance of ``type``.
    """
    return converted(parse_json(text, where), type, where)


def parse_yaml(text: bytes, type: type[T], where: str) -> T:
    """Parse one YAML document of a known type.

    Args:
        text: The document in UTF-8.
        type: Type for `msgspec.convert`.
        where: File, for errors.

    Returns:
        The value, as an instance of ``type``.

    Raises:
        InputError: The text is not YAML, contains a key twice or an alias, or has another type.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            # Nested lists of aliases expand a few lines to gigabytes.
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
    # PyYAML passes on the errors of constructors, as for the date ``2001-13-45`` or ``!!float x``.
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise InputError(f"{where}: not YAML: {' '.join(str(error).split())}") from error
    return converted(value, type, where)


def converted(value: Any, type: type[T], where: str) -> T:
    """Convert a value to a type, strictly.

    Args:
        value: Lists, dicts and plain values.
        type: Type for `msgspec.convert`.
        where: File and line, for errors.

    Returns:
        An instance of ``type``.

    Raises:
        InputError: The value has another type.
    """
    try:
        return msgspec.convert(value, type)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise InputError(f"{where}: {error}") from error


def finite_number(value: Any) -> float | None:
    """Return a value of JSON as a finite number, or None if it is something else.

    Args:
        value: Any value. In Python a bool is an int, but JSON's true is not a number. An int may be too large
            for a float: JSON has no limit.

    Returns:
        The number. None for other types, infinity, NaN and ints beyond the range of a float.

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


def _finite(text: str) -> float:
    """Return a number, or raise an error if it overflows."""
    number = float(text)
    # "1e999" overflows to infinity.
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:60]} is too large")
    return number


def _has_surrogate(value: Any) -> bool:
    """Return whether a value contains half of a surrogate pair."""
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(
            _has_surrogate(key) or _has_surrogate(item) for key, item in cast("dict[str, Any]", value).items()
        )
    return isinstance(value, list) and any(map(_has_surrogate, cast("list[Any]", value)))


def open_input(path: str | Path, *, pipes: bool = True) -> BinaryIO:
    """Open a file for reading.

    Args:
        path: The file.
        pipes: Accept a pipe, which can be read only once.

    Returns:
        The open file.

    Raises:
        InputError: The file cannot be read, or is a folder or a device.
    """
    try:
        # Opening a FIFO waits for a writer, and reading a device may never end.
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or (pipes and stat.S_ISFIFO(mode)) or stat.S_ISDIR(mode)):
            raise InputError(f"{path}: not a regular file, it can't be read")
        return open(path, "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: can't be read: {reason}") from error


def read_input(path: str | Path, most: int = LONGEST_LINE, *, pipes: bool = True) -> bytes:
    """Read a small file at once.

    Args:
        path: The file.
        most: Maximum number of bytes.
        pipes: Accept a pipe.

    Returns:
        Its content.

    Raises:
        InputError: The file cannot be read, or is larger.
    """
    with open_input(path, pipes=pipes) as file:
        try:
            # One byte more than allowed shows that the file is too large.
            content = file.read(most + 1)
        except OSError as error:
            raise InputError(f"{path}: can't be read: {error.strerror}") from error
    if len(content) > most:
        raise InputError(f"{path}: larger than {most:,} bytes")
    return content


class ReadsLines(Protocol):
    """An open binary file, compressed or not."""

    def readline(self, size: int = -1, /) -> bytes:
        """Return the next line with its end, and at most ``size`` bytes of it."""
        ...


def numbered_lines(file: ReadsLines, path: str | Path, first: int = 1) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of an open file with their numbers. Only a line feed ends a line.

    Args:
        file: The file, open for reading in binary.
        path: Its name, for errors.
        first: Number of the next line.

    Yields:
        The number and the line, with its line feed.

    Raises:
        InputError: A line is longer than `LONGEST_LINE`, or reading fails.
    """
    number = first
    while True:
        try:
            # A line of gigabytes would fill the memory.
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
