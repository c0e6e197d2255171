"""Reading input files as streams: lines, JSON lines, items of JSON documents, each with its place.

In: a path, whose bytes `graphneg.ingest.content` gives. Out: lines or decoded items, one by one, in flat
memory. What can't be read is yielded as `Rejected` at its line, and reading goes on behind it, with the next
line, or the next item of a document.
(``ijson`` streams too, but its interface gives no line numbers and ends at the first fault.)
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
"""No line and no JSON value of an array may be longer: a store takes no larger message."""
MOST_PARTS = 10_000
"""No group may have more lines or rows."""

_SPLITS = "train|training|valid|validation|val|dev|test"
_SPLIT = re.compile(rf"(?:^|[_.-])((?:{_SPLITS})(?:[_-](?:freq|rare))?)(?=$|[_.-])", re.I)
_SUFFIXES = re.compile(r"(-\d{5}-of-\d{5})?(\.(jsonl|ndjson|json|csv|tsv|tab|txt|parquet|gz|zst))+$", re.I)


class Line(NamedTuple):
    """A line of text without its end, its number from 1, and its place, ``FILE:NUMBER``."""

    place: str
    number: int
    text: str


class Item(NamedTuple):
    """One decoded entry of a file: where it stands, its number from 0 and its key in an object."""

    place: str
    number: int
    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class UnreadRow(Rejected):
    """An entry that is refused, with those of its cells that can be read: they may tell its dialogue."""

    cells: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class UnreadLine(Rejected):
    """A line that is refused, with its text as far as it can be read."""

    text: str = ""


def input_files(paths: Sequence[Path], loader: str) -> list[Path]:
    """The files that a loader was given, each checked to be there and not empty.

    Raises `InputError`: no path was given, or one is missing, a directory, unreadable or empty.
    """
    for path in input_paths(paths, loader):
        if path.is_dir():
            raise InputError(f"{path} is a directory; the loader {loader!r} reads files: name them")
    return list(paths)


def input_paths(paths: Sequence[Any], loader: str) -> list[Path]:
    """The files and directories that a loader was given, each checked as `input_files` does.

    Raises `InputError`: no path was given, or one is missing, unreadable or an empty file.
    """
    if not paths:
        raise InputError(f"the loader {loader!r} needs the path of a file to read")
    for path in paths:
        if not isinstance(path, Path):
            raise InputError(f"the loader {loader!r} reads files, not a {type(path).__name__!r}: name them")
        if not is_directory(path) and not head(path, 16):
            raise InputError(f"{path} is empty: there is nothing to load")
    return list(paths)


def is_directory(path: Path) -> bool:
    """Whether a path is one of a directory.

    Raises `InputError`: the system does not take the path, or lets nobody look there.
    """
    try:
        return path.is_dir()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error


def files_within(path: Path, pattern: str, what: str) -> list[Path]:
    """A file itself; or the files of a directory that match a pattern, in order.

    Raises `InputError`: the directory has none; ``what`` says what it lacks.
    """
    files = sorted(path.glob(pattern)) if is_directory(path) else [path]
    if not files:
        raise InputError(f"{path} has no {what} in it")
    return files


def split_of(path: Path) -> str:
    """The split that a file's name speaks of, else ``all``.

    >>> split_of(Path("En_persona_valid.json")), split_of(Path("chats.jsonl"))
    ('valid', 'all')
    """
    splits = _SPLIT.findall(path.name)
    return splits[-1].lower() if splits else "all"


def corpus_of(path: Path) -> str:
    """A name for the corpus after the file's name, without the split.

    >>> corpus_of(Path("support-chats.train.jsonl.gz")), corpus_of(Path("test.csv"))
    ('support-chats', 'dialogues')
    """
    stem = _SUFFIXES.sub("", path.name)
    return _SPLIT.sub("", stem).strip("_.- ") or "dialogues"


def byte_lines(path: Path, progress: Progress, encoding: str = "") -> Iterator[tuple[int, bytes] | Rejected]:
    """The file's lines as bytes, numbered from 1, without their ends; ``encoding`` as for `chunks`."""
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
                rest, skipping = b"", True
    except Damaged as reason:
        yield Rejected(f"{path}:{number}", str(reason))
        return
    if rest and not skipping:
        yield number, rest


def text_lines(path: Path, progress: Progress, encoding: str = "") -> Iterator[Line | Rejected]:
    """The file's lines as text; lines that are not UTF-8 (once `chunks` read them) or hold a NUL are
    rejected."""
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
    """The text of one line.

    Raises `Refused`: it is not UTF-8, or holds a NUL.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        raise Refused(f"not UTF-8: byte 0x{data[at]:02x} at byte {at + 1} of the line") from error
    if "\0" in text:
        raise Refused(f"a NUL character at column {text.index(chr(0)) + 1}")
    return text.removesuffix("\r")


def each_line(
    path: Path, progress: Progress, make: Callable[[Line], Iterable[T]], encoding: str = ""
) -> Iterator[T | Rejected]:
    """What ``make`` gives for each line that is not blank; a line that it refuses is rejected."""
    for line in text_lines(path, progress, encoding):
        if isinstance(line, Rejected):
            yield line
        elif line.text.strip():
            try:
                yield from make(line)
            except Refused as reason:
                yield Rejected(line.place, str(reason))


def accepted(records: Iterable[T | Rejected]) -> Iterator[T]:
    """The records, where none may be refused.

    Raises `InputError`: one was refused; the message has its place and the reason.
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
    """Items that take several lines or rows each: what ``make`` gives for each group's number and parts.

    A group ends where ``begins`` says so of its first part and the next one. A part (``what`` it is called)
    that can't be read spoils its group; that, one of more than `MOST_PARTS`, and what ``make`` refuses, is
    rejected under its ``title``.
    """
    number, group, unread = 0, list[Item](), ""
    for part in chain(parts, (None,)):
        if isinstance(part, Rejected):
            yield part
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
        if part and len(group) == MOST_PARTS:
            unread = unread or f"more than {MOST_PARTS:,} {what}s"
        else:
            group += [part] if part else []


def json_lines(path: Path, progress: Progress, encoding: str = "") -> Iterator[Item | Rejected]:
    """The values of a file with one JSON value a line; blank lines are passed over."""
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
        Refused: The text is no JSON, has a key twice in one object, or nests too deeply.
    """
    try:
        return decode_json(text)
    except InputError as error:
        raise Refused(str(error)) from error


_SPACE = re.compile(r"[ \t\r\n]*")
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"|["\[\]{}]', re.DOTALL)


def json_items(path: Path, progress: Progress, encoding: str = "") -> Iterator[Item | Rejected]:
    """The items of a JSON document; ``key`` is the member's name, ``number`` its place in its array.

    The items are the elements of the top-level array, or the members of the top-level object; a member that
    is an array is itself streamed. An item that is no valid JSON is rejected; where its brackets still close,
    reading goes on behind it. A member of the top-level object whose name came before is rejected too.
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
    """The elements of the array, or the members of the object, that begins where the window stands."""
    is_object = window.peek() == "{"
    opening, closing = "{}" if is_object else "[]"
    window.take(opening)
    index = 0
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
        if is_object and window.peek() == "[":
            items = _items(window, path, key)
            yield from items if is_new else (item for item in items if isinstance(item, Rejected))
        else:
            if not window.peek():
                raise Refused("the file ends inside the JSON document")
            place = f"{path}:{window.line()}"
            try:
                item = Item(place, index, key, window.value())
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
    """The part of a JSON document around the place where reading stands."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
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
            if not self._more():
                return ""

    def take(self, sign: str) -> None:
        """Go behind the sign that must come next."""
        following = self.peek()
        if following != sign:
            which = f"not JSON: {following!r}" if following else "the file ends"
            raise Refused(f"{which} where {sign} should follow")
        self._at += 1

    def value(self) -> Any:
        """Decode the value that begins here; on failure the window stays where it is. What can't be decoded
        may only be cut off: it is tried again with twice as much text, up to `LARGEST_ITEM`."""
        self.peek()
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                # More text cures only what is cut off: `{"a": 1, "a"` is no error yet, a repeated key is one.
                if not isinstance(error, json.JSONDecodeError) or not self._more():
                    raise Refused(json_fault(error)) from error
            else:
                if end < len(self._text) or isinstance(value, dict | list | str) or not self._more():
                    self._at = end
                    return cast("Any", value)

    def skip_value(self) -> None:
        """Go behind the value that begins here, valid or not.

        Raises `Refused`: its brackets don't close within `LARGEST_ITEM` characters.
        """
        while True:
            depth = 0
            for match in _STRUCTURE.finditer(self._text, self._at):
                if match[0] == '"':
                    break
                depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
                if depth <= 0:
                    self._at = match.end() if depth == 0 else match.start()
                    return
            if not self._more():
                raise Refused("the value does not end")

    def _more(self) -> bool:
        """Double the text that lies ahead; whether there was anything to read."""
        pending = len(self._text) - self._at
        if self._ended or pending > LARGEST_ITEM:
            return False
        parts, size = [self._text[self._at :]], pending
        self._line, self._counted = self.line(), 0
        while size <= 2 * pending and not self._ended:
            piece = next(self._pieces, b"")
            self._ended = not piece
            parts.append(self._decoder.decode(piece, self._ended))
            size += len(parts[-1])
        self._text, self._at = "".join(parts), 0
        return size > pending
