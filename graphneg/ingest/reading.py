"""Read text lines, JSON Lines and the items of JSON documents one by one, each with its position.

Input files can be larger than memory, and some lines may be invalid. The functions in this module therefore
yield one line or decoded item at a time. If a line or item cannot be read, a `Rejected` with its line number
is yielded, and reading continues with the next one. (The library ``ijson`` also streams JSON, but it gives no
line numbers and stops at the first error.)

For example, the file ``chats.jsonl`` has two lines, and the second one, ``{"text": Ho.}``, is not JSON.
`json_lines` yields:

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
from graphneg.ingest.content import ItemError, TruncatedError, chunks, head
from graphneg.ingest.spill import IdSet
from graphneg.json_input import DECODER, DuplicateKeyError, decode_json, json_fault, unambiguous_members
from graphneg.model import Rejected
from graphneg.progress import Progress

T = TypeVar("T")

LARGEST_ITEM = 4 << 20
"""Maximum length of a line in bytes, and of an item of a JSON document in characters.

The rows for a longer entry would not fit into one message to the database server.
"""
MOST_PARTS = 10_000
"""Maximum number of lines or rows that form one dialogue."""

_SPLITS = "train|training|valid|validation|val|dev|test"
# In Topical-Chat, a split has the suffix "freq" or "rare": valid_freq.json has the split "valid_freq".
_SPLIT = re.compile(rf"(?:^|[_.-])((?:{_SPLITS})(?:[_-](?:freq|rare))?)(?=$|[_.-])", re.I)
# Matches the end of a file name. "train-00000-of-00003.parquet" ends with the number of a shard, because
# Hugging Face divides large data sets into several files.
_SUFFIXES = re.compile(r"(-\d{5}-of-\d{5})?(\.(jsonl|ndjson|json|csv|tsv|tab|txt|parquet|gz|zst))+$", re.I)


class Line(NamedTuple):
    """A line of text.

    Attributes:
        place: The position of the line, ``FILE:NUMBER``.
        number: The line number, from 1.
        text: The line without its line end.
    """

    place: str
    number: int
    text: str


class Item(NamedTuple):
    """A decoded entry from a file.

    Attributes:
        place: The position at which the entry begins, such as ``FILE:LINE``.
        number: The number of the entry in its file or array, from 0.
        key: The name of the member of a JSON object that contains the entry; empty if there is none.
        value: The decoded value of the entry.
    """

    place: str
    number: int
    key: str
    value: Any


class Member(Item):
    """A key with its value, such as ``"version": "1.0"``, in a JSON document whose top level is an object.

    For elements of an array, the base class `Item` is used.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class UnreadRow(Rejected):
    """A rejected entry, with the cells that could be read.

    Attributes:
        cells: The cells that could be read, keyed by column. They may show to which dialogue the entry
            belongs.
    """

    cells: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class UnreadLine(Rejected):
    """A rejected line, with the text that could be decoded.

    Attributes:
        text: The line. Invalid bytes are replaced by U+FFFD.
    """

    text: str = ""


def input_files(paths: Sequence[Path], loader: str) -> list[Path]:
    """Check the files that were passed to a loader.

    Raises `InputError` if the list is empty, or if a file is missing, unreadable or empty.

    Args:
        paths: The paths of the files.
        loader: The name of the loader, for messages.

    Returns:
        The same paths, as a list.

    Raises:
        InputError: A path is a directory.
    """
    for path in input_paths(paths, loader):
        if path.is_dir():
            raise InputError(f"{path} is a directory, but the loader {loader!r} reads files: give the files")
    return list(paths)


def input_paths(paths: Sequence[Any], loader: str) -> list[Path]:
    """Check the files and directories that were passed to a loader.

    Raises `InputError` if a file is missing or unreadable.

    Args:
        paths: The files and directories.
        loader: The name of the loader, for messages.

    Returns:
        The same paths, as a list.

    Raises:
        InputError: There are no paths, one of them is not a path, or a file is empty.
    """
    if not paths:
        raise InputError(f"the loader {loader!r} needs the path of a file to read")
    for path in paths:
        # Only the loader `dialogues` accepts Python objects.
        if not isinstance(path, Path):
            raise InputError(
                f"the loader {loader!r} reads files, not a {type(path).__name__!r}: give the paths of files"
            )
        if not is_directory(path) and not head(path, 16):
            raise InputError(f"{path} is empty: there is nothing to load")
    return list(paths)


def is_directory(path: Path) -> bool:
    """Return whether a path is a directory.

    Args:
        path: A path. It need not exist.

    Returns:
        True if the path is an existing directory.

    Raises:
        InputError: The operating system refuses access, because of missing permissions or a path that is too
            long.
    """
    try:
        return path.is_dir()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error


def files_within(path: Path, pattern: str, what: str) -> list[Path]:
    """Return the path itself if it is a file, or the matching files if it is a directory.

    Args:
        path: The path of a file or directory.
        pattern: The glob pattern for the files in a directory.
        what: A description of these files for the error message, such as ``PropBank frame files``.

    Returns:
        The files, sorted by name.

    Raises:
        InputError: The directory does not contain such a file.
    """
    files = sorted(path.glob(pattern)) if is_directory(path) else [path]
    if not files:
        raise InputError(f"{path} contains no {what}")
    return files


def split_of(path: Path) -> str:
    """Return the split named in a file name; ``all`` if there is none.

    >>> split_of(Path("En_persona_valid.json")), split_of(Path("chats.jsonl"))
    ('valid', 'all')

    Args:
        path: The path of the file or directory.

    Returns:
        The last name of a split in the file name, in lower case.
    """
    splits = _SPLIT.findall(path.name)
    return splits[-1].lower() if splits else "all"


def corpus_of(path: Path) -> str:
    """Derive a corpus name from a file name, without the split and the suffixes.

    >>> corpus_of(Path("support-chats.train.jsonl.gz")), corpus_of(Path("test.csv"))
    ('support-chats', 'dialogues')

    Args:
        path: The path of the file.

    Returns:
        The name; ``dialogues`` if nothing else is left.
    """
    stem = _SUFFIXES.sub("", path.name)
    return _SPLIT.sub("", stem).strip("_.- ") or "dialogues"


def byte_lines(
    path: Path, progress: Progress, encoding: str = "", longest: int = LARGEST_ITEM
) -> Iterator[tuple[int, bytes] | Rejected]:
    """Yield the lines of a file as bytes, without their line ends.

    Args:
        path: The file to read.
        progress: Progress display; advanced by the number of bytes read.
        encoding: The codec of the text, as in `chunks`.
        longest: Maximum length of a line in bytes.

    Yields:
        The number of each line, from 1, and its bytes. A `Rejected` is yielded for a line that is too long,
        and for the rest of a file that is damaged.
    """
    rest, number, skipping = b"", 1, False
    try:
        for piece in chunks(path, progress, encoding):
            # Drop a piece of an overlong line at once. Joining it with the next pieces only takes time.
            if skipping and b"\n" not in piece:
                continue
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                if not skipping:
                    yield number, line
                number, skipping = number + 1, False
            if len(rest) > longest:
                if not skipping:
                    yield Rejected(f"{path}:{number}", f"the line is longer than {longest:,} bytes")
                # Drop the rest of an overlong line while it is read, so that it does not fill the memory.
                rest, skipping = b"", True
    except TruncatedError as reason:
        yield Rejected(f"{path}:{number}", str(reason))
        return
    if rest and not skipping:
        yield number, rest


def text_lines(
    path: Path, progress: Progress, encoding: str = "", longest: int = LARGEST_ITEM
) -> Iterator[Line | Rejected]:
    """Yield the lines of a file as text.

    Args:
        path: The file to read.
        progress: Progress display; advanced by the number of bytes read.
        encoding: The codec of the text, as in `chunks`.
        longest: Maximum length of a line in bytes.

    Yields:
        The lines. A `Rejected` is yielded for a line that is invalid in the encoding or contains a NUL
        character.
    """
    for line in byte_lines(path, progress, encoding, longest):
        if isinstance(line, Rejected):
            yield line
            continue
        place = f"{path}:{line[0]}"
        try:
            yield Line(place, line[0], decoded(line[1]))
        except ItemError as reason:
            yield UnreadLine(place, str(reason), line[1].decode("utf-8", "replace"))


def decoded(data: bytes) -> str:
    """Decode a line.

    Args:
        data: The line in UTF-8, without its line feed.

    Returns:
        The text of the line, without a carriage return at its end.

    Raises:
        ItemError: The line is not UTF-8, or contains a NUL character.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        raise ItemError(f"not UTF-8: byte 0x{data[at]:02x} at byte {at + 1} of the line") from error
    if "\0" in text:
        raise ItemError(f"a NUL character at column {text.index(chr(0)) + 1}")
    # In files from Windows, lines end with CR LF. The text was split at LF, so remove the CR.
    return text.removesuffix("\r")


def each_line(
    path: Path, progress: Progress, make: Callable[[Line], Iterable[T]], encoding: str = ""
) -> Iterator[T | Rejected]:
    """Call a function for each line that is not blank, and yield the records that it returns.

    Args:
        path: The file to read.
        progress: Progress display; advanced by the number of bytes read.
        make: Function that returns the records of a line. It may raise `ItemError` to reject the line.
        encoding: The codec of the text, as in `chunks`.

    Yields:
        The records of all lines, and a `Rejected` for each line that is rejected.
    """
    for line in text_lines(path, progress, encoding):
        if isinstance(line, Rejected):
            yield line
        elif line.text.strip():
            try:
                yield from make(line)
            except ItemError as reason:
                yield Rejected(line.place, str(reason))


def accepted(records: Iterable[T | Rejected]) -> Iterator[T]:
    """Yield records, and raise an error for the first item that was rejected.

    Args:
        records: Records and rejected items.

    Yields:
        The records, without rejected items.

    Raises:
        InputError: An item was rejected. The message contains its position and the reason.
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
    """Combine consecutive lines or rows into items, such as dialogues.

    A group is rejected as a whole if one of its parts cannot be read, if it has more than `MOST_PARTS` parts,
    or if ``make`` refuses it.

    Args:
        parts: The lines or rows, in order.
        what: The word for a part in messages, in the singular, such as ``line``.
        begins: Function that is called with the first part of the current group and the next part. It returns
            whether the next part begins a new group.
        make: Function that returns an item, given the index of the group (from 0) and its parts. It may
            raise `ItemError`.
        title: Function that returns the name of a group in messages, given its index and its first part.

    Yields:
        The items, and a `Rejected` for each part or group that is rejected.
    """  # noqa: DOC501
    number, group, unread = 0, list[Item](), ""
    # The value ``None`` marks the end of the input, so that the loop also completes the last group.
    for part in chain(parts, (None,)):
        if isinstance(part, Rejected):
            yield part
            # If a line or row is unreadable, reject the whole group in which it occurs.
            unread = unread or (f"the {what} at {part.place} can't be read" if group else "")
            continue
        if group and (part is None or begins(group[0], part)):
            try:
                if unread:
                    raise ItemError(unread)
                yield make(number, group)
            except ItemError as reason:
                yield Rejected(group[0].place, f"{title(number, group[0])}: {reason}")
            number, group, unread = number + 1, [], ""
        # Limit the size of a group, such as a dialogue: in a file of another format, all lines may form one
        # group.
        if part and len(group) == MOST_PARTS:
            unread = unread or f"more than {MOST_PARTS:,} {what}s"
        else:
            group += [part] if part else []


def json_lines(path: Path, progress: Progress, encoding: str = "") -> Iterator[Item | Rejected]:
    """Yield the values from a file that has one JSON value per line. Blank lines are skipped.

    Args:
        path: The file to read.
        progress: Progress display; advanced by the number of bytes read.
        encoding: The codec of the text, as in `chunks`.

    Yields:
        The values. An `UnreadRow` is yielded for a line that is not JSON.
    """
    for line in text_lines(path, progress, encoding):
        if isinstance(line, UnreadLine):
            yield UnreadRow(line.place, line.reason, unambiguous_members(line.text))
        elif isinstance(line, Rejected):
            yield line
        elif line.text.strip():
            try:
                yield Item(line.place, line.number - 1, "", parse_json(line.text))
            except ItemError as reason:
                yield UnreadRow(line.place, str(reason), unambiguous_members(line.text))


def parse_json(text: str) -> Any:
    """Decode a JSON text, as `graphneg.json_input.decode_json` does.

    Args:
        text: A single JSON value.

    Returns:
        The value in Python's types.

    Raises:
        ItemError: The text is not JSON, has a key twice in one object, or is nested too deeply.
    """
    try:
        return decode_json(text)
    except InputError as error:
        raise ItemError(str(error)) from error


_SPACE = re.compile(r"[ \t\r\n]*")
# Matches a bracket, or a whole string, so that brackets inside strings are not counted. Also matches the
# quotation mark before a string that is not closed.
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"|["\[\]{}]', re.DOTALL)


# The archive of a Twitter account consists of scripts: "window.YTD.direct_messages.part0 = [".
_ASSIGNMENT = re.compile(r"(?:(?:var|let|const)\s+)?[A-Za-z_$][\w$]*(?:\.[\w$]+)*\s*=\s*(?=[\[{])")


def is_assignment(line: str) -> bool:
    """Return whether a line begins with the assignment of a JSON value to a variable of JavaScript.

    >>> is_assignment("window.YTD.direct_messages.part0 = [ {"), is_assignment("text = none")
    (True, False)

    Args:
        line: The first line of a file.

    Returns:
        True if the file is a script that contains a JSON document.
    """
    return _ASSIGNMENT.match(line.lstrip()) is not None


def json_items(path: Path, progress: Progress, encoding: str = "") -> Iterator[Item | Rejected]:
    """Yield the items of a JSON document.

    The items are the elements of a top-level array, or the members of a top-level object. If the value of a
    member is an array, its elements are separate items. An item that is not valid JSON is rejected. Reading
    continues after it if its brackets are balanced, and otherwise stops. A member of the top-level object is
    also rejected if its name occurred before.

    Args:
        path: The file to read.
        progress: Progress display; advanced by the number of bytes read.
        encoding: The codec of the text, as in `chunks`.

    Yields:
        The items. ``key`` is the name of the member, and ``number`` the index in the array or object.
    """  # noqa: DOC501
    window = JsonCursor(chunks(path, progress, encoding))
    try:
        window.skip_assignment()
        if window.peek() not in ("[", "{"):
            raise ItemError("neither a JSON array nor a JSON object")
        yield from _items(window, path, "")
        if window.peek():
            raise ItemError("text follows the end of the JSON document")
    except ItemError as reason:
        yield Rejected(f"{path}:{window.line()}", f"{reason}; the rest of the file is not read")


def _items(window: JsonCursor, path: Path, key: str) -> Iterator[Item | Rejected]:
    """Yield the elements of the JSON array, or the members of the object, at the current position."""
    is_object = window.peek() == "{"
    opening, closing = "{}" if is_object else "[]"
    window.take(opening)
    index = 0
    # Keep the names of members on disk, because an object may have one member for each dialogue of a corpus.
    names = IdSet() if is_object else None
    while window.peek() != closing:
        if index:
            window.take(",")
        is_new = True
        if names is not None:
            name = window.value()
            if not isinstance(name, str):
                raise ItemError("not JSON: a member's name is not a string")
            key, is_new = name, names.add(name)
            window.take(":")
        if not is_new:
            yield Rejected(f"{path}:{window.line()}", str(DuplicateKeyError(key)))
        # Yield each element of an array as an item, both in {"data": [...]} and in
        # {"chats": {"list": [...]}}.
        is_outer = key in _OUTER and window.peek() == "{"
        if is_object and (window.peek() == "[" or is_outer):
            items = _items(window, path, key)
            yield from items if is_new else (item for item in items if isinstance(item, Rejected))
        else:
            if not window.peek():
                raise ItemError("the file ends inside the JSON document")
            place = f"{path}:{window.line()}"
            try:
                item = (Member if is_object else Item)(place, index, key, window.value())
            except TruncatedError:
                raise
            except ItemError as reason:
                window.skip_value()
                item = Rejected(place, f"item {key or index}: {reason}")
            if is_new or isinstance(item, Rejected):
                yield item
        index += 1
    window.take(closing)


_OUTER = ("chats", "left_chats", "Direct Messages", "Direct Message", "Chat History", "ChatHistory")
"""Names of members whose value is an object that contains the lists of dialogues, as in exports of Telegram
and TikTok."""


class JsonCursor:
    """Reads a JSON document piece by piece, so that a document larger than the memory can be read.

    Args:
        pieces: The bytes of the document (UTF-8), in consecutive pieces of any length.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        # Decode invalid bytes to lone surrogates, so that only the item that contains them is rejected.
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
        """Return the next character that is not white space; an empty string at the end of the document."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def skip_assignment(self) -> None:
        """Move past the name of a variable to which the document is assigned, if there is one."""
        self.peek()
        if assignment := _ASSIGNMENT.match(self._text, self._at):
            self._at = assignment.end()

    def take(self, sign: str) -> None:
        """Move past a required character.

        Args:
            sign: The required character.

        Raises:
            ItemError: The next character is a different one, or the document ends.
        """
        following = self.peek()
        if following != sign:
            found = repr(following) if following else "the end of the file"
            raise ItemError(f"not JSON: expected {sign!r} but found {found}")
        self._at += 1

    def value(self) -> Any:
        """Decode the value at the current position, and move past it. On failure, the position is unchanged.

        The text in memory may contain only the beginning of the value. If decoding fails, it is repeated
        with twice as much text, up to `LARGEST_ITEM`.

        Returns:
            The decoded value.

        Raises:
            ItemError: The value is not valid JSON.
        """
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                # If the value is only cut off, as in `{"a": 1, "a"`, read more text and try again. For other
                # errors, such as a repeated key, more text does not help.
                if not isinstance(error, json.JSONDecodeError):
                    raise ItemError(json_fault(error)) from error
                if not self._more():
                    is_long = not self._ended and len(self._text) - self._at > LARGEST_ITEM
                    long = f"it is longer than {LARGEST_ITEM:,} characters"
                    raise ItemError(long if is_long else json_fault(error)) from error
            else:
                # If a number is at the end of the text that was read so far, read more of the file: `12` may
                # be the beginning of `123`.
                if end < len(self._text) or isinstance(value, dict | list | str) or not self._more():
                    self._at = end
                    return cast("Any", value)

    def skip_value(self) -> None:
        """Move past the value at the current position, whether it is valid or not.

        Raises:
            ItemError: The brackets of the value are not closed, or it contains a text longer than
                `LARGEST_ITEM`.
        """
        depth = 0
        while True:
            for match in _STRUCTURE.finditer(self._text, self._at):
                if match[0] == '"':
                    break
                # Count the open brackets, because the value ends where its outermost bracket is closed.
                depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
                if depth < 0:
                    self._at = match.start()
                    return
                # Move past the text that was searched, so that a long value does not fill the memory.
                self._at = match.end()
                if depth == 0:
                    return
            if not self._more():
                raise ItemError("the value is not closed")

    def _more(self) -> bool:
        """Read as much text from the file as is waiting in memory. Return False at the end of the file."""
        pending = len(self._text) - self._at
        if self._ended or pending > LARGEST_ITEM:
            return False
        parts, size = [self._text[self._at :]], pending
        # The text before the current position is dropped below. Count its lines first, to number later lines.
        self._line, self._counted = self.line(), 0
        while size <= 2 * pending and not self._ended:
            piece = next(self._pieces, b"")
            self._ended = not piece
            parts.append(self._decoder.decode(piece, self._ended))
            size += len(parts[-1])
        self._text, self._at = "".join(parts), 0
        return size > pending
