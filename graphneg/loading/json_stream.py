"""Reading one large JSON document item by item, so that a file of gigabytes needs megabytes.

The items are the elements of the top-level array, or the members of the top-level object;
a member that is an array is itself streamed. An item that is no valid JSON is rejected; where
its brackets still close, reading goes on behind it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from graphneg.loading.reading import DECODER, LARGEST_ITEM, Damaged, Item, Refused, chunks, fault
from graphneg.model import Rejected
from graphneg.progress import Progress

_SPACE = re.compile(r"[ \t\r\n]*")
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"|["\[\]{}]', re.DOTALL)
_LONGEST_TOKEN = 16
"""An error so far from the end of the window can't come from a token that the window cuts."""


def json_items(path: Path, progress: Progress) -> Iterator[Item | Rejected]:
    """The items of a JSON document; ``key`` is the member's name, ``number`` its place in its array."""
    window = _Window(chunks(path, progress))
    try:
        yield from _document(window, path)
    except Refused as reason:
        yield Rejected(f"{path}:{window.line()}", f"{reason}; the rest of the file is not read")


class _Window:
    """The part of the document around the place where reading stands."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._line, self._counted = 1, 0
        self._ended = False
        self._text = ""
        self._at = 0

    def line(self) -> int:
        """The line of the place where reading stands, from 1."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(1):
                return ""

    def take(self, expected: str) -> None:
        found = self.peek()
        if not found:
            raise Refused(f"the file ends where {' or '.join(expected)} should follow")
        if found not in expected:
            raise Refused(f"not JSON: {found!r} where {' or '.join(expected)} should follow")
        self._at += 1

    def value(self) -> Any:
        """Decode the value that begins here; on failure the window stays where it is."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._may_be_cut(error) or not self._more(2 * (len(self._text) - self._at)):
                    raise Refused(f"not JSON: {fault(error)}") from error
            except ValueError as error:
                raise Refused(f"not JSON: {error}") from error
            except RecursionError as error:
                raise Refused("the JSON nests too deeply") from error
            else:
                if end < len(self._text) or isinstance(value, dict | list | str) or not self._more(1):
                    self._at = end
                    return cast("Any", value)

    def skip_value(self) -> None:
        """Go behind the value that begins here, valid or not.

        Raises:
            Refused: its brackets don't close within `LARGEST_ITEM` characters.
        """
        end = self._end_of_value()
        while end is None:
            if not self._more(2 * (len(self._text) - self._at)):
                raise Refused("the value does not end")
            end = self._end_of_value()
        self._at = end

    def _end_of_value(self) -> int | None:
        depth = 0
        for match in _STRUCTURE.finditer(self._text, self._at):
            if match[0] == '"':
                return None
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
            if depth <= 0:
                return match.end() if depth == 0 else match.start()
        return None

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        """Whether the text may be invalid only because the window ends too early."""
        return error.msg.startswith("Unterminated") or error.pos > len(self._text) - _LONGEST_TOKEN

    def _more(self, wanted: int) -> bool:
        """Read on until ``wanted`` characters lie ahead; whether there was anything to read."""
        pending = len(self._text) - self._at
        if self._ended or pending > LARGEST_ITEM:
            return False
        parts, size = [self._text[self._at :]], pending
        self._line, self._counted = self.line(), 0
        while size < max(wanted, pending + 1) and not self._ended:
            piece = next(self._pieces, b"")
            self._ended = not piece
            parts.append(self._decoder.decode(piece, self._ended))
            size += len(parts[-1])
        self._text, self._at = "".join(parts), 0
        return size > pending


def _document(window: _Window, path: Path) -> Iterator[Item | Rejected]:
    opening = window.peek()
    if opening == "[":
        yield from _array(window, path, "")
    elif opening == "{":
        yield from _object(window, path)
    else:
        raise Refused("neither a JSON array nor a JSON object")
    if window.peek():
        raise Refused("text follows the end of the JSON document")


def _array(window: _Window, path: Path, key: str) -> Iterator[Item | Rejected]:
    window.take("[")
    index = 0
    while window.peek() != "]":
        if index:
            window.take(",")
        yield _item(window, path, index, key)
        index += 1
    window.take("]")


def _object(window: _Window, path: Path) -> Iterator[Item | Rejected]:
    window.take("{")
    index = 0
    while window.peek() != "}":
        if index:
            window.take(",")
        key = window.value()
        if not isinstance(key, str):
            raise Refused("not JSON: a member's name is not a string")
        window.take(":")
        if window.peek() == "[":
            yield from _array(window, path, key)
        else:
            yield _item(window, path, index, key)
        index += 1
    window.take("}")


def _item(window: _Window, path: Path, index: int, key: str) -> Item | Rejected:
    if not window.peek():
        raise Refused("the file ends inside the JSON document")
    place = f"{path}:{window.line()}"
    try:
        return Item(place, index, key, window.value())
    except Damaged:
        raise
    except Refused as reason:
        window.skip_value()
        return Rejected(place, f"item {key or index}: {reason}")
