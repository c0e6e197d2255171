"""Sort the records of a corpus into blocks of dialogues.

A pipeline reads a corpus once and then processes it block by block. `sort_records` writes a folder with one
file of records per block. Another file contains the records that belong to no dialogue (pairs of opposites,
frames, sentences), which every block needs. `block_records` reads the files. Memory use does not grow with
the corpus.

The files are JSON Lines, such as ``["Opposite", {"start": "open", "end": "closed", …}]``. They are not
pickled: somebody else may have prepared the folder, and reading a pickled file can run any program. The last
line of each file is a digest of the other lines, such as ``["digest", "5f0c1d9a…"]``, so that a damaged file
is noticed.

For example, ``sort_records([Load("everyday")], 4, Path("blocks"), print)`` writes the files ``common``,
``1-of-4``, ``2-of-4``, ``3-of-4`` and ``4-of-4``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from typing import Any, get_args

import msgspec

from graphneg.errors import InputError, first_line
from graphneg.ingest.discourse import dialogue_of
from graphneg.ingest.loader import GAP, DateOrder, LoadOptions, get_loader
from graphneg.json_input import LONGEST_LINE, numbered_lines, open_input
from graphneg.model import Dialogue, GraphText, Record, Rejected
from graphneg.records.runs import atomic_folder, unwritable
from graphneg.shards import Shard

_COMMON = "common"
_WAITING = 16_000_000
"""Maximum size in bytes of the encoded records that are kept in memory before they are written."""
_KINDS: dict[str, type[Record]] = {kind.__name__: kind for kind in get_args(Record)}
"""The classes of records, keyed by the names that the files contain."""


class Load(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of one ``graphneg load`` command: a loader, its files and its options.

    Attributes:
        corpus: The name of the loader.
        paths: The paths of the files to load.
        name: The corpus name of all dialogues; None to take it from the data.
        split: The split of all dialogues; None to take it from the data.
        language: The language of the terms to load, as an ISO 639-1 code; used only by ``conceptnet``.
        turns: The number of turns per dialogue, if dialogues are made from graphs that name no utterances.
        map: The key or column for each field; used only by the loader ``dialogues``.
        encoding: The codec of the text; used only by ``dialogues``, ``whatsapp`` and ``discord``. None for
            UTF-8, or for the codec that ``dialogues`` guesses.
        clean: Whether to repair texts that contain HTML entities or were separated into tokens by spaces.
        gap: The length in hours of a pause that ends a dialogue; used only by loaders for chats.
        date_order: What comes first in dates such as ``03/04/2024``, ``day`` or ``month``; used only by
            ``dialogues``, ``transcript`` and ``whatsapp``. None to derive it from the dates of the file.
    """

    corpus: str
    paths: tuple[str, ...] = ()
    name: str | None = None
    split: str | None = None
    language: str = "en"
    turns: int = 8
    map: dict[str, str] = {}
    encoding: str | None = None
    clean: bool = False
    gap: float = GAP
    date_order: DateOrder | None = None

    def read(self) -> Iterator[Record | Rejected]:
        """Return the records that the loader reads.

        Raises `InputError` if the loader is unknown or a file has a different format.

        Returns:
            An iterator over records and rejected items.
        """
        options = LoadOptions(
            self.name,
            self.split,
            self.language,
            map=self.map,
            encoding=self.encoding,
            clean=self.clean,
            gap=self.gap,
            date_order=self.date_order,
        )
        return iter(get_loader(self.corpus).read([Path(path) for path in self.paths], options))


def sort_records(loads: Sequence[Load], amount: int, folder: Path, tell: Callable[[Rejected], None]) -> None:
    """Read the files of ``graphneg load`` commands, and sort their records into blocks of dialogues.

    If the folder already exists and its files are intact, nothing is done. If one of its files was changed or
    damaged, all files are written again. While files are written, the folder has a temporary name, so an
    interrupted call leaves no incomplete folder.

    Args:
        loads: The ``graphneg load`` commands whose files are read.
        amount: The number of blocks.
        folder: The folder in which one file per block is written.
        tell: Function that is called with each rejected item, and with a damaged file.

    Raises:
        InputError: A file cannot be read, a graph does not name its utterance, or the folder cannot be
            written. Nothing of the folder is kept.
    """  # noqa: DOC501, DOC502
    names = [_COMMON, *(_name(Shard(index, amount)) for index in range(1, amount + 1))]
    try:
        # The folder exists only if an earlier run has written all of its files (see `atomic_folder`).
        if os.path.lexists(folder):
            damaged = next((name for name in names if not _is_intact(folder / name)), None)
            if damaged is None:
                return
            tell(Rejected(str(folder), f"read again, because {damaged} was changed or damaged"))
            # If the folder is a link, `rmtree` refuses it.
            rmtree(folder)
        with atomic_folder(folder) as unfinished:
            # Create an empty file for each block first: a block may get no dialogue, but its file must exist.
            for name in names:
                (unfinished / name).touch()
            digests = {name: _Digest(name) for name in names}
            waiting, size = defaultdict[str, list[bytes]](list), 0
            for record in (one for load in loads for one in load.read()):
                if isinstance(record, Rejected):
                    tell(record)
                    continue
                id = _dialogue(record)
                name = _COMMON if id is None else _name(Shard.of(id, amount))
                try:
                    line = _encoded(record)
                except (ValueError, TypeError, RecursionError) as error:
                    tell(Rejected(_place(record), f"the record can't be stored: {first_line(error)}"))
                    continue
                waiting[name].append(line)
                digests[name].add(line)
                # Collect records and write them together: opening a file for every record would be slow.
                size += len(line)
                if size > _WAITING:
                    _append(unfinished, waiting)
                    size = 0
            for name in names:
                waiting[name].append(digests[name].last_line())
            _append(unfinished, waiting)
    except OSError as error:
        raise unwritable(folder, error, "nothing was kept") from error


def block_records(folder: Path, shard: Shard | None) -> Iterator[Record]:
    """Yield the records of a block.

    Args:
        folder: The folder that `sort_records` wrote.
        shard: The block; None for the records that belong to no dialogue.

    Yields:
        The records, in the order in which they were read.

    Raises:
        InputError: A file cannot be read, or is damaged. The error may occur after all records.
    """  # noqa: DOC501, DOC502
    path = folder / (_COMMON if shard is None else _name(shard))
    for number, line in _checked_lines(path):
        try:
            yield _decoded(line)
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise _damaged(path, number) from error


def _checked_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, then compare them with the digest in the last line.

    Raises:
        InputError: The file cannot be read, or was changed or damaged. The error may occur after all lines.
    """  # noqa: DOC501, DOC502
    digest, number, last = _Digest(path.name), 1, b""
    with open_input(path, pipes=False) as file:
        # Hold each line back until the next one is read, because the last line is the digest.
        for number, line in numbered_lines(file, path):
            if last:
                digest.add(last)
                yield number - 1, last
            last = line
    if last != digest.last_line():
        raise _damaged(path, number)


def _is_intact(path: Path) -> bool:
    try:
        for _ in _checked_lines(path):
            pass
    except InputError:
        return False
    return True


class _Digest:
    """The digest of a file's name and lines. A copy of the file under another name has another digest."""

    def __init__(self, name: str) -> None:
        self._hash = hashlib.sha256(name.encode())

    def add(self, line: bytes) -> None:
        self._hash.update(line)

    def last_line(self) -> bytes:
        """Return the line with the digest of all lines that were added."""
        return json.dumps(["digest", self._hash.hexdigest()]).encode("ascii") + b"\n"


def _damaged(path: Path, number: int) -> InputError:
    return InputError(
        f"{path}, line {number}: not a record of graphneg, or damaged; remove the folder {path.parent} and "
        "run the command again"
    )


def _encoded(record: Record) -> bytes:
    # `json.dumps` escapes all characters beyond ASCII, so encode("ascii") cannot fail. Even lone surrogates
    # are escaped. `write_records` reports them later.
    line = json.dumps([type(record).__name__, msgspec.to_builtins(record)]).encode("ascii") + b"\n"
    if len(line) > LONGEST_LINE:
        raise ValueError(f"it has more than {LONGEST_LINE:,} bytes")
    return line


def _decoded(line: bytes) -> Record:
    name, value = json.loads(line)
    # In JSON, the node numbers that are the keys of token spans are strings. Convert them back.
    return msgspec.convert(value, _KINDS[name], str_keys=True)


def _place(record: Any) -> str:
    """Return the position of a record in its file, or its id or class if the position is not known."""
    return getattr(record, "place", None) or getattr(record, "id", None) or type(record).__name__


def _append(folder: Path, waiting: dict[str, list[bytes]]) -> None:
    """Append buffered records to the files of their blocks, with only one file open at a time."""
    for name, records in waiting.items():
        with (folder / name).open("ab") as file:
            file.writelines(records)
    waiting.clear()


def _dialogue(record: Record) -> str | None:
    """Return the id of the dialogue to which a record belongs; None if it belongs to no dialogue."""
    if isinstance(record, Dialogue):
        return record.id
    if not isinstance(record, GraphText):
        return None
    # Each graph must name the id of its utterance. A pipeline without a store cannot find the utterance by
    # its text.
    if record.id is None or "#" not in record.id:
        error = InputError(
            f"{record.place}: the graph lacks the id of its utterance (# ::id corpus/split/name#turn): only "
            "a store with all dialogues can find the utterance by its text, so give a store"
        )
        error.status = 2
        raise error
    return dialogue_of(record.id)


def _name(shard: Shard) -> str:
    return f"{shard.index}-of-{shard.amount}"
