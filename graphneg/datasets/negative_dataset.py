"""Group the records of correct and wrong responses by context, on disk.

Even for a large corpus, only a few megabytes of memory are needed, plus 16 bytes per record. The records of a
context may be far apart in the input, so they are brought together in three steps:

1. Each record is appended to a temporary file. Only the hash of the record's context and the offset of the
   record in the file are kept in memory.
2. The records are read again in the order of the hashes, so that the records of a context follow each other.
   Each group is written as one line of JSON.
3. The file of groups is memory-mapped. A group is decoded when it is accessed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, overload

import msgspec

from graphneg.datasets.groups import (
    Entry,
    Group,
    HeldOut,
    add_entry,
    entries_of,
    file_digest,
    without_unusable,
)
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.records.runs import atomic_folder

Source = str | Path | Iterable[Negative] | Callable[[int], Iterable[Negative]]
"""Type of a source of records: a file of negatives (.jsonl, .parquet), an iterable of negatives, or a
function that takes a seed and makes negatives."""
_VERSION = 5
"""Version of the file format for groups. It is a part of the cache key."""
_GROUPS, _ENDS, _FACTS = "groups.jsonl", "groups.npy", "groups.json"
_entry = msgspec.json.Decoder(Entry).decode
_group = msgspec.json.Decoder(Group).decode


class NegativeDataset:
    """The groups (contexts with their responses) from several sources of negatives, made on first access.

    A source may be a function. The function is called once per epoch, with ``seed`` plus the epoch number as
    its argument. If all sources are files, the groups are stored in the folder ``cache`` and used again by
    later runs. Otherwise they are stored in a temporary folder, which is deleted together with this object.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        seed: int = 0,
        held_out: Iterable[str] = (),
        splits: Collection[str] = (),
        cache: str | Path | None = None,
        known_splits: Collection[str] = (),
    ) -> None:
        """Initialize the dataset. The sources are not read yet.

        Args:
            sources: Files of negatives, iterables of negatives, or functions that make negatives from a seed.
            seed: Seed for the functions. Each function gets the sum of this seed and the epoch number.
            held_out: Texts that must not be used as responses.
            splits: Splits to hold out. Records of these splits are left out, and their responses are also
                left out of the records of other splits.
            cache: Folder in which to store the groups if all sources are files; None for a temporary folder.
            known_splits: Names in ``splits`` that are known to exist, for example in a store. A name that
                occurs neither here nor in the records may be misspelled: it raises an error when the sources
                are read.

        Raises:
            InputError: ``sources`` is empty.
        """
        if not sources:
            raise InputError("no negatives to make pairs from: give files or streams of negatives")
        self._seed = seed
        self._source_functions = [item for item in sources if callable(item)]
        self._reusable_sources = [item for item in sources if not callable(item)]
        self._held_out = HeldOut(held_out)
        self._splits = frozenset(splits)
        self._seen = set(known_splits)
        self._cache = None if cache is None else Path(cache)
        self.folder = Path(tempfile.mkdtemp(prefix="graphneg-pairs-"))
        # The folder is removed when this object is deleted or the interpreter exits.
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._last: tuple[int, StoredGroups] | None = None

    def __str__(self) -> str:
        """Return the files of negatives and the other inputs of the data set, separated by commas."""
        names = [
            str(item) if isinstance(item, str | Path) else "negatives" for item in self._reusable_sources
        ]
        return ", ".join([*names, *("negatives of each epoch" for _ in self._source_functions)])

    def groups(self, epoch: int) -> StoredGroups:
        """Return the groups of an epoch.

        Args:
            epoch: The epoch number, from 0. All epochs have the same groups, unless a source of negatives is
                a function, which makes new negatives for each epoch.

        Returns:
            The groups as a sequence that is stored on disk.
        """
        # If no source is a function, the groups are the same in all epochs.
        number = epoch if self._source_functions else 0
        if self._last is None or self._last[0] != number:
            self._last = (number, self._groups(number))
        return self._last[1]

    def _groups(self, epoch: int) -> StoredGroups:
        """Return the groups of an epoch. If they are not on disk yet, make and store them first."""
        if not self._source_functions:
            cached = self._cache is not None and all(
                isinstance(item, str | Path) for item in self._reusable_sources
            )
            # The name of the cache folder is a digest of the files. If a file changes, the groups are thus
            # made again, in a new folder.
            folder = self._cache / self._digest() if self._cache and cached else self.folder / "all"
            return self._stored(folder, self._read())
        # Read the records of files and iterables only once, and keep them on disk. Functions make new
        # negatives for each epoch, which are added to these records.
        fixed = self.folder / "fixed.jsonl"
        if not fixed.exists():
            with open(unfinished := fixed.with_suffix(".tmp"), "wb") as file:
                file.writelines(map(_line, self._read()))
            # Rename the file when it is complete, so that an interrupted run leaves no incomplete file under
            # this name.
            unfinished.rename(fixed)
        made = (entry for item in self._source_functions for entry in entries_of(item(self._seed + epoch)))
        with open(fixed, "rb") as file:
            entries = chain(map(_entry, file), self._not_held_out(made))
            return self._stored(self.folder / f"epoch-{epoch}", entries)

    def _stored(self, folder: Path, entries: Iterable[Entry]) -> StoredGroups:
        """Return the groups stored in a folder. If the folder does not exist, make the groups first."""
        if not folder.is_dir():
            with atomic_folder(folder) as unfinished:
                store_groups(entries, unfinished, self._held_out)
        return StoredGroups(folder)

    def _read(self) -> Iterator[Entry]:
        """Yield the records of files and iterables, without the records of held-out splits."""
        for item in self._reusable_sources:
            yield from self._not_held_out(entries_of(item))
        strange = sorted(self._splits - self._seen)
        # If a split does not occur in the files, it may still occur in the negatives that a function makes.
        # So report an error only if there is no function.
        if strange and not self._source_functions:
            there = ", ".join(sorted(self._seen)) or "none"
            raise InputError(f"there are no negatives of the split {strange[0]!r}; available: {there}")

    def _not_held_out(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries that do not belong to a held-out split. Hold out the texts of the others."""
        for entry in entries:
            self._seen.add(entry.split)
            if entry.split in self._splits:
                # If a response occurs in a held-out split, it must also not be used from other splits.
                self._held_out.add(text for text in (entry.response, entry.right) if text)
            else:
                yield entry

    def _digest(self) -> str:
        """Return the cache key: a digest of the files, the held-out splits and the held-out texts."""
        digest = hashlib.blake2b(digest_size=16)
        for item in self._reusable_sources:
            # The suffix determines how a file is parsed, so include it in the digest.
            digest.update(f"{file_digest(str(item))}{Path(str(item)).suffix}".encode())
        digest.update(json.dumps([_VERSION, sorted(self._splits)]).encode() + self._held_out.digest())
        return digest.hexdigest()


def _line(entry: Entry) -> bytes:
    """Return an entry (the values of a record that are needed for grouping) as a line of JSON."""
    return msgspec.json.encode(entry) + b"\n"


class StoredGroups(Sequence[Group]):
    """The groups (contexts with their responses) in a folder that `store_groups` wrote, as a sequence.

    The file of groups is memory-mapped, so that several processes can share the memory.

    Attributes:
        held_out: Number of responses that were left out because their texts are held out.
        unusable: Number of dropped responses: empty ones, and wrong responses that are also correct
            (see `graphneg.datasets.groups.without_unusable`).
    """

    def __init__(self, folder: Path) -> None:
        """Initialize the sequence by memory-mapping the file of groups.

        Args:
            folder: Folder with the files that `store_groups` wrote.
        """
        import numpy

        self._folder = folder
        facts = json.loads((folder / _FACTS).read_bytes())
        self.held_out: int = facts["held_out"]
        self.unusable: int = facts["unusable"]
        self._ends = numpy.load(folder / _ENDS, mmap_mode="r")
        with open(folder / _GROUPS, "rb") as file:
            # An empty file cannot be memory-mapped. The file is empty if there are no groups.
            self._lines = mmap(file.fileno(), 0, access=ACCESS_READ) if len(self) else b""
        # Samplers access a group several times in a row, so the last 256 decoded groups are cached.
        self._group = lru_cache(256)(self._decoded)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Group: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Group]: ...
    def __getitem__(self, index: int | slice) -> Group | Sequence[Group]:
        """Return the group at an index, or the groups of a slice."""
        if isinstance(index, slice):
            return [self[item] for item in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            # Python ends a loop over a sequence when the sequence raises IndexError.
            raise IndexError(index)
        return self._group(index)

    def _decoded(self, index: int) -> Group:
        return _group(self._lines[self._ends[index] : self._ends[index + 1]])

    def __reduce__(self) -> tuple[type[StoredGroups], tuple[Path]]:
        """Pickle only the path of the folder, so that worker processes memory-map the same files."""
        return StoredGroups, (self._folder,)


def store_groups(entries: Iterable[Entry], folder: Path, held_out: HeldOut) -> None:
    """Group entries by context, and write the groups to a folder.

    Groups are in the order of their first entries. Each context must have a correct response, even if the
    response is then left out because it is a held-out text.

    Args:
        entries: Entries (the values of records that are needed for grouping), in any order.
        folder: Folder to write to.
        held_out: Texts to leave out of the correct and wrong responses. The iterator ``entries`` may add
            texts to this set while it is read.
    """
    import numpy

    spool = folder / "entries.jsonl"
    ends = array("Q", [0])
    left_out = unusable = 0
    with open(spool, "w+b") as file, open(folder / _GROUPS, "wb") as lines:
        for whole in _grouped(entries, file):
            group = without_unusable(whole)
            unusable += whole.size - group.size
            allowed = held_out.without_held_out(group)
            left_out += group.size - allowed.size
            ends.append(ends[-1] + lines.write(msgspec.json.encode(allowed) + b"\n"))
    # The temporary file `spool` is as large as the input. Delete it now, to free disk space before the next
    # files are written.
    spool.unlink()
    # Save the offsets at which the lines end. With these, a group can be read without reading the groups
    # before it.
    numpy.save(folder / _ENDS, ends)
    (folder / _FACTS).write_text(json.dumps({"held_out": left_out, "unusable": unusable}), encoding="utf-8")


def _grouped(entries: Iterable[Entry], spool: IO[bytes]) -> Iterator[Group]:
    """Group entries by context. The entries are kept in the temporary file ``spool`` instead of in memory."""
    import numpy

    hashes, offsets = array("Q"), array("Q", [0])
    for entry in entries:
        # Write the whole entry to the temporary file. Keep only two numbers in memory: the hash of the id of
        # its group, and the offset of the entry in the file.
        hashes.append(number(0, "place", entry.group_id))
        offsets.append(offsets[-1] + spool.write(_line(entry)))
    if not hashes:
        return
    values = numpy.frombuffer(hashes, dtype=numpy.uint64)
    order = numpy.argsort(values, kind="stable")
    bounds = numpy.flatnonzero(numpy.concatenate([[True], numpy.diff(values[order]) != 0, [True]]))
    # The sort has put the entries of a group (equal hashes) next to each other, and has kept their order in
    # the input. Visit the groups in the order of their first entries, so that the groups are also in the
    # order of the input.
    for run in numpy.argsort(order[bounds[:-1]]):
        group: Group | None = None
        for index in order[bounds[run] : bounds[run + 1]].tolist():
            spool.seek(offsets[index])
            entry = _entry(spool.readline())
            group = group or Group(entry.group_id, entry.context)
            add_entry(group, entry)
        if group is not None:
            yield group
