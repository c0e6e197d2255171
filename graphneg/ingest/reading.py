"""Read lines, JSON Lines and the items of JSON documents as streams, each with its place.

Input files can be larger than memory, and some of their lines may be broken. The functions of this
module yield one line or decoded item at a time. What cannot be read is yielded as `Rejected` with its
line number, and reading goes on with the next line or the next item of a document. (``ijson`` streams,
too, but it gives no line numbers and stops at the first error.)

For example, `json_lines` yields these entries for a file ``chats.jsonl`` of two lines, where the second
line ``{"text": Ho.}`` is not JSON:

    Item(place='chats.jsonl:1', number=0, key='', value={'text': 'Hi.'})
    UnreadRow(place='chats.jsonl:2', reason='not JSON: ...', cells={})
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from graphneg.errors import InputError
from graphneg.ingest.content import Damaged, Refused, chunks, head
from graphneg.ingest.spill import KnownIds
from graphneg.json_input import DECODER, DuplicateKeyError, certain_members, decode_json, json_fault
from graphneg.model import Rejected
from graphneg.progress import Progress

T = TypeVar("T")

LARGEST_ITEM = 4 << 20
"""Maximum length of a line in bytes, and of a JSON value of an array in characters.

The rows of a longer entry would not fit in a message to the server.
"""
MOST_PARTS = 10_000
"""Maximum number of lines or rows in a group."""

_SPLITS = "train|training|valid|validation|val|dev|test"
# "freq" and "rare" are parts of Topical-Chat's splits, as in valid_freq.json.
_SPLIT = re.compile(rf"(?:^|[_.-])((?:{_SPLITS})(?:[_-](?:freq|rare))?)(?=$|[_.-])", re.I)
# "train-00000-of-00003.parquet" is a shard of a Hugging Face data set.
_SUFFIXES = re.compile(r"(-\d{5}-of-\d{5})?(\.(jsonl|ndjson|json|csv|tsv|tab|txt|parquet|gz|zst))+$", re.I)


class Line(NamedTuple):
    """A line of text.

    Attributes:
        place: ``FILE:NUMBER``.
        number: The number of the line, from 1.
        text: The line without its end.
    """

    place: str
    number: int
    text: str


class Item(NamedTuple):
    """A decoded entry of a file.

    Attributes:
        place: The place where it begins, such as ``FILE:LINE``.
        number: Its number in its file or array, from 0.
        key: The name of the member of a JSON object that it is in; empty outside of objects.
        value: The decoded value.
    """

    place: str
    number: int
    key: str
    value: Any


class Member(Item):
    """A member of a JSON document that is an object, such as ``"version": "1.0"``.

    Elements of the arrays in a document are plain items.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class UnreadRow(Rejected):
    """An entry that is refused, with the cells that can be read.

    Attributes:
        cells: The cells by key. They may tell which dialogue the entry belongs to.
    """

    cells: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class UnreadLine(Rejected):
    """A line that is refused.

    Attributes:
        text: The line, as far as it can be decoded.
    """

    text: str = ""


def input_files(paths: Sequence[Path], loader: str) -> list[Path]:
    """Check the files that a loader was given.

    A missing, unreadable or empty file raises `InputError`, and so does an empty list.

    Args:
        paths: The files.
        loader: The name of the loader, for messages.

    Returns:
        The files.

    Raises:
        InputError: A path is a directory.
    """
    for path in input_paths(paths, loader):
        if path.is_dir():
            raise InputError(f"{path} is a directory; the loader {loader!r} reads files: name them")
    return list(paths)


def input_paths(paths: Sequence[Any], loader: str) -> list[Path]:
    """Check the files and directories that a loader was given.

    A missing or unreadable file raises `InputError`.

    Args:
        paths: The files and directories.
        loader: The name of the loader, for messages.

    Returns:
        The paths.

    Raises:
        InputError: There are no paths, one of them is not a path, or a file is empty.
    """
    if not paths:
        raise InputError(f"the loader {loader!r} needs the path of a file to read")
    for path in paths:
        # Loaders other than `dialogues` cannot read Python objects.
        if not isinstance(path, Path):
            raise InputError(f"the loader {loader!r} reads files, not a {type(path).__name__!r}: name them")
        if not is_directory(path) and not head(path, 16):
            raise InputError(f"{path} is empty: there is nothing to load")
    return list(paths)


def is_directory(path: Path) -> bool:
    """Return whether a path is a directory.

    Args:
        path: Any path, which may not exist.

    Returns:
        True for a directory.

    Raises:
        InputError: The operating system refuses the path, for lack of permission or because it is too long.
    """
    try:
        return path.is_dir()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error


def files_within(path: Path, pattern: str, what: str) -> list[Path]:
    """Return a file itself, or the files of a directory that match a pattern.

    Args:
        path: A file or directory.
        pattern: The glob pattern of the files in a directory.
        what: A description of these files, for the message.

    Returns:
        The files, sorted by name.

    Raises:
        InputError: The directory has no such file.
    """
    files = sorted(path.glob(pattern)) if is_directory(path) else [path]
    if not files:
        raise InputError(f"{path} has no {what} in it")
    return files


def split_of(path: Path) -> str:
    """Return the split that a file name contains, or ``all``.

    >>> split_of(Path("En_persona_valid.json")), split_of(Path("chats.jsonl"))
    ('valid', 'all')

    Args:
        path: The file or directory.

    Returns:
        The last split in the name, in lower case.
    """
    splits = _SPLIT.findall(path.name)
    return splits[-1].lower() if splits else "all"


def corpus_of(path: Path) -> str:
    """Return a corpus name made from a file name without its split and suffixes.

    >>> corpus_of(Path("support-chats.train.jsonl.gz")), corpus_of(Path("test.csv"))
    ('support-chats', 'dialogues')

    Args:
        path: The file.

    Returns:
        The name, or ``dialogues`` if nothing is left of it.
    """
    stem = _SUFFIXES.sub("", path.name)
    return _SPLIT.sub("", stem).strip("_.- ") or "dialogues"


def byte_lines(path: Path, progress: Progress, encoding: str = "") -> Iterator[tuple[int, bytes] | Rejected]:
    """Yield the lines of a file as bytes, without their ends.

    Args:
        path: The file.
        progress: Advanced by the bytes that are read.
        encoding: The codec of the text, as in `chunks`.

    Yields:
        The number of each line, from 1, and its bytes. A line that is too long, and the rest of a
        damaged file, is rejected.
    """
    rest, number, skipping = b"", 1, False
    try:
        for piece in chunks(path, progress, encoding):
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                if not skipping:
                    yield number, line
                number, skipping = number + 1, False
            if len(rest) > LARGEST_ITEM:
                if not skipping:
                    yield Rejected(f"{path}:{number}", f"the line is longer than {LARGEST_ITEM:,} bytes")
                # Drop the rest of an overlong line as it is read, so that it does not fill the memory.
                rest, skipping = b"", True
    except Damaged as reason:
        yield Rejected(f"{path}:{number}", str(reason))
        return
    if rest and not skipping:
        yield number, rest


def text_lines(path: Path, progress: Progress, encoding: str = "") -> Iterator[Line | Rejected]:
    """Yield the lines of a file as text.

    Args:
        path: The file.
        progress: Advanced by the bytes that are read.
        encoding: The codec of the text, as in `chunks`.

    Yields:
        Each line. A line that is not valid in the encoding, or has a NUL character, is rejected.
    """
    for line in byte_lines(path, progress, encoding):
        if isinstance(line, Rejected):
            yield line
            continue
        place = f"{path}:{line[0]}"
        try:
            yield Line(place, line[0], decoded(line[1]))
        except Refused as reason:
            yield UnreadLine(place, str(reason), line[1].decode("utf-8", "replace"))


def decoded(data: bytes) -> str:
    """Return the text of a line.

    Args:
        data: The line in UTF-8, without its line feed.

    Returns:
        The text without a carriage return at its end.

    Raises:
        Refused: The line is not UTF-8, or has a NUL character.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        raise Refused(f"not UTF-8: byte 0x{data[at]:02x} at byte {at + 1} of the line") from error
    if "\0" in text:
        raise Refused(f"a NUL character at column {text.index(chr(0)) + 1}")
    # Windows ends lines with CR LF.
    return text.removesuffix("\r")


def each_line(
    path: Path, progress: Progress, make: Callable[[Line], Iterable[T]], encoding: str = ""
) -> Iterator[T | Rejected]:
    """Apply a function to each line that is not blank.

    Args:
        path: The file.
        progress: Advanced by the bytes that are read.
        make: Returns the records of a line. It may raise `Refused`, and the line is then rejected.
        encoding: The codec of the text, as in `chunks`.

    Yields:
        The records of all lines, and a `Rejected` for each line that was refused.
    """
    for line in text_lines(path, progress, encoding):
        if isinstance(line, Rejected):
            yield line
        elif line.text.strip():
            try:
                yield from make(line)
            except Refused as reason:
                yield Rejected(line.place, str(reason))


def accepted(records: Iterable[T | Rejected]) -> Iterator[T]:
    """Yield the records of a file in which no error is tolerated.

    Args:
        records: Records and rejected items.

    Yields:
        The records.

    Raises:
        InputError: An item was rejected. The message has its place and the reason.
    """
    for record in records:
        if isinstance(record, Rejected):
            raise InputError(f"{record.place}: {record.reason}")
        yield record


def each_group(
    parts: Iterable[Item | Rejected],
    what: str,
    begins: Callable[[Item, Item], bool],
    make: Callable[[int, list[Item]], Item],
    title: Callable[[int, Item], str],
) -> Iterator[Item | Rejected]:
    """Combine consecutive lines or rows into items.

    A part that cannot be read makes its whole group invalid. Such a group, a group of more than
    `MOST_PARTS` parts, and a group that ``make`` refuses is rejected.

    Args:
        parts: The lines or rows in their order.
        what: What a part is called in messages, in the singular.
        begins: Takes the first part of the group and the next part. Returns whether a new group begins there.
        make: Returns the item of a group from its number (from 0) and its parts. It may raise `Refused`.
        title: Returns the name of a group in messages, from its number and its first part.

    Yields:
        The items, and what was rejected.

    Raises:
        Refused: Only internally. It is caught, and the group is rejected.
    """
    number, group, unread = 0, list[Item](), ""
    # None ends the last group.
    for part in chain(parts, (None,)):
        if isinstance(part, Rejected):
            yield part
            # Before the first part there is no group that it could belong to.
            unread = unread or (f"the {what} at {part.place} can't be read" if group else "")
            continue
        if group and (part is None or begins(group[0], part)):
            try:
                if unread:
                    raise Refused(unread)
                yield make(number, group)
            except Refused as reason:
                yield Rejected(group[0].place, f"{title(number, group[0])}: {reason}")
            number, group, unread = number + 1, [], ""
        # A file without group boundaries must not fill the memory.
        if part and len(group) == MOST_PARTS:
            unread = unread or f"more than {MOST_PARTS:,} {what}s"
        else:
            group += [part] if part else []


def json_lines(path: Path, progress: Progress, encoding: str = "") -> Iterator[Item | Rejected]:
    """Yield the values of a file with one JSON value per line; blank lines are skipped.

    Args:
        path: The file.
        progress: Advanced by the bytes that are read.
        encoding: The codec of the text, as in `chunks`.

    Yields:
        The values. A line that is not JSON is rejected.
    """
    for line in text_lines(path, progress, encoding):
        if isinstance(line, UnreadLine):
            yield UnreadRow(line.place, line.reason, certain_members(line.text))
        elif isinstance(line, Rejected):
            yield line
        elif line.text.strip():
            try:
                yield Item(line.place, line.number - 1, "", parse_json(line.text))
            except Refused as reason:
                yield UnreadRow(line.place, str(reason), certain_members(line.text))


def parse_json(text: str) -> Any:
    """Return the value of a JSON text, as `graphneg.json_input.decode_json` does.

    Args:
        text: One JSON value.

    Returns:
        The value in Python's types.

    Raises:
        Refused: The text is not JSON, has a key twice in one object, or is nested too deeply.
    """
    try:
        return decode_json(text)
    except InputError as error:
        raise Refused(str(error)) from error


_SPACE = re.compile(r"[ \t\r\n]*")
# Whole strings come first, so that brackets inside of them do not count. A lone quotation mark begins a
# string that is cut off.
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"|["\[\]{}]', re.DOTALL)


def json_items(path: Path, progress: Progress, encoding: str = "") -> Iterator[Item | Rejected]:
    """Yield the items of a JSON document.

    The items are the elements of a top-level array, or the members of a top-level object. A member that
    is an array is not decoded as a whole: its elements are items, too. An item that is not valid JSON
    is rejected. Reading goes on after it if its brackets are balanced; otherwise it ends there. A
    member of the top-level object whose name is repeated is rejected, too.

    Args:
        path: The file.
        progress: Advanced by the bytes that are read.
        encoding: The codec of the text, as in `chunks`.

    Yields:
        The items. ``key`` is the name of the member, ``number`` the index in its array or object.

    Raises:
        Refused: Only internally. It is caught, and the rest of the file is rejected.
    """
    window = _Window(chunks(path, progress, encoding))
    try:
        if window.peek() not in ("[", "{"):
            raise Refused("neither a JSON array nor a JSON object")
        yield from _items(window, path, "")
        if window.peek():
            raise Refused("text follows the end of the JSON document")
    except Refused as reason:
        yield Rejected(f"{path}:{window.line()}", f"{reason}; the rest of the file is not read")


def _items(window: _Window, path: Path, key: str) -> Iterator[Item | Rejected]:
    """Yield the elements of the array, or the members of the object, that begins here."""
    is_object = window.peek() == "{"
    opening, closing = "{}" if is_object else "[]"
    window.take(opening)
    index = 0
    # An object may have as many members as a corpus has dialogues, so their names are kept on disk.
    names = KnownIds() if is_object else None
    while window.peek() != closing:
        if index:
            window.take(",")
        is_new = True
        if names is not None:
            name = window.value()
            if not isinstance(name, str):
                raise Refused("not JSON: a member's name is not a string")
            key, is_new = name, names.add(name)
            window.take(":")
        if not is_new:
            yield Rejected(f"{path}:{window.line()}", str(DuplicateKeyError(key)))
        # {"data": [...]}: the elements of the array are items of their own.
        if is_object and window.peek() == "[":
            items = _items(window, path, key)
            yield from items if is_new else (item for item in items if isinstance(item, Rejected))
        else:
            if not window.peek():
                raise Refused("the file ends inside the JSON document")
            place = f"{path}:{window.line()}"
            try:
                item = (Member if is_object else Item)(place, index, key, window.value())
            except Damaged:
                raise
            except Refused as reason:
                window.skip_value()
                item = Rejected(place, f"item {key or index}: {reason}")
            if is_new or isinstance(item, Rejected):
                yield item
        index += 1
    window.take(closing)


class _Window:
    """The part of a JSON document around the current position."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        """Initialize the window at the start of the document."""
        self._pieces = pieces
        # Invalid bytes become lone surrogates, so that only the item that contains them is rejected.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._line, self._counted = 1, 0
        self._ended = False
        self._text = ""
        self._at = 0

    def line(self) -> int:
        """Return the line number of the current position, from 1."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def peek(self) -> str:
        """Return the next character that is not white space, or an empty text at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def take(self, sign: str) -> None:
        """Move past the character that must come next.

        Args:
            sign: The character.

        Raises:
            Refused: Another character comes next, or the document ends.
        """
        following = self.peek()
        if following != sign:
            which = f"not JSON: {following!r}" if following else "the file ends"
            raise Refused(f"{which} where {sign} should follow")
        self._at += 1

    def value(self) -> Any:
        """Decode the value that begins here; on failure the position does not change.

        The window may hold only the beginning of the value. Decoding is therefore tried again with
        twice as much text, up to `LARGEST_ITEM`.

        Returns:
            The value.

        Raises:
            Refused: The value is not valid JSON.
        """
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                # A value that is cut off, such as `{"a": 1, "a"`, may become valid with more text. A
                # repeated key raises another error, which more text does not remove.
                if not isinstance(error, json.JSONDecodeError) or not self._more():
                    raise Refused(json_fault(error)) from error
            else:
                # A number at the end of the window may go on: `12` of `123`.
                if end < len(self._text) or isinstance(value, dict | list | str) or not self._more():
                    self._at = end
                    return cast("Any", value)

    def skip_value(self) -> None:
        """Move past the value that begins here, whether it is valid or not.

        Raises:
            Refused: Its brackets are not closed within `LARGEST_ITEM` characters.
        """
        while True:
            depth = 0
            for match in _STRUCTURE.finditer(self._text, self._at):
                if match[0] == '"':
                    break
                # The value ends where its first bracket is closed.
                depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
                if depth <= 0:
                    self._at = match.end() if depth == 0 else match.start()
                    return
            if not self._more():
                raise Refused("the value does not end")

    def _more(self) -> bool:
        """Double the text ahead of the position; return whether there was any more."""
        pending = len(self._text) - self._at
        if self._ended or pending > LARGEST_ITEM:
            return False
        parts, size = [self._text[self._at :]], pending
        # Count the lines of the text that is dropped now.
        self._line, self._counted = self.line(), 0
        while size <= 2 * pending and not self._ended:
            piece = next(self._pieces, b"")
            self._ended = not piece
            parts.append(self._decoder.decode(piece, self._ended))
            size += len(parts[-1])
        self._text, self._at = "".join(parts), 0
        return size > pending
