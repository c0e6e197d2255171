"""Negatives in, groups by context out, in a file that is mapped into memory.

A corpus of any size takes the same few megabytes. Records come in any order, those of one context far
apart, and are grouped on disk: their entries are spooled to a file, of each only a hash and an offset (16
bytes) stay in memory, and groups are put together by reading the spool in the order of the hashes. A group
is a line of JSON, which is decoded when it is looked at.
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

from graphneg.datasets.groups import Entry, Group, HeldOut, enter, entries_of, file_digest, usable
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.records.runs import atomic_folder

Source = str | Path | Iterable[Negative] | Callable[[int], Iterable[Negative]]
"""A file of negatives (.jsonl, .parquet), negatives, or a function of a seed that makes some."""
_VERSION = 4
_GROUPS, _ENDS, _FACTS = "groups.jsonl", "groups.npy", "groups.json"
_entry = msgspec.json.Decoder(Entry).decode
_group = msgspec.json.Decoder(Group).decode


class NegativeDataset:
    """The groups of some sources, made when they are first asked for.

    A function among the sources is called for each epoch, with the seed of that epoch: ``seed`` + epoch.
    Records whose split is in ``splits`` are left out, and their responses' texts are held out like those of
    ``held_out``; ``known_splits`` need not be in the records. The file is kept in ``cache`` where all
    sources are files, else in the temporary ``folder``, which goes with this object.

    Raises `InputError`: there are no sources.
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
        if not sources:
            raise InputError("no negatives to make pairs of: name files, or give streams of negatives")
        self._seed = seed
        self._makers = [item for item in sources if callable(item)]
        self._fixed = [item for item in sources if not callable(item)]
        self._held_out = HeldOut(held_out)
        self._splits = frozenset(splits)
        self._seen = set(known_splits)
        self._cache = None if cache is None else Path(cache)
        self.folder = Path(tempfile.mkdtemp(prefix="graphneg-pairs-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._last: tuple[int, StoredGroups] | None = None

    def __str__(self) -> str:
        names = [str(item) if isinstance(item, str | Path) else "negatives" for item in self._fixed]
        return ", ".join([*names, *("negatives of each epoch" for _ in self._makers)])

    def groups(self, epoch: int) -> StoredGroups:
        """The groups that an epoch draws from.

        Raises `InputError`: a file can't be read, a label is neither 0 nor 1, a context has no right
        response, or no record is of a split that is held out.
        """
        number = epoch if self._makers else 0
        if self._last is None or self._last[0] != number:
            self._last = (number, self._groups(number))
        return self._last[1]

    def _groups(self, epoch: int) -> StoredGroups:
        if not self._makers:
            cached = self._cache is not None and all(isinstance(item, str | Path) for item in self._fixed)
            folder = self._cache / self._digest() if self._cache and cached else self.folder / "all"
            return self._stored(folder, self._read())
        fixed = self.folder / "fixed.jsonl"
        if not fixed.exists():
            with open(unfinished := fixed.with_suffix(".tmp"), "wb") as file:
                file.writelines(map(_line, self._read()))
            unfinished.rename(fixed)
        made = (entry for item in self._makers for entry in entries_of(item(self._seed + epoch)))
        with open(fixed, "rb") as file:
            entries = chain(map(_entry, file), self._known(made))
            return self._stored(self.folder / f"epoch-{epoch}", entries)

    def _stored(self, folder: Path, entries: Iterable[Entry]) -> StoredGroups:
        if not folder.is_dir():
            with atomic_folder(folder) as unfinished:
                store_groups(entries, unfinished, self._held_out)
        return StoredGroups(folder)

    def _read(self) -> Iterator[Entry]:
        for item in self._fixed:
            yield from self._known(entries_of(item))
        strange = sorted(self._splits - self._seen)
        if strange and not self._makers:
            there = ", ".join(sorted(self._seen)) or "none"
            raise InputError(f"no negatives are of the split {strange[0]!r}; there are: {there}")

    def _known(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The entries that are not of a split that is held out; those are taken note of."""
        for entry in entries:
            self._seen.add(entry.split)
            if entry.split in self._splits:
                self._held_out.add(text for text in (entry.response, entry.right) if text)
            else:
                yield entry

    def _digest(self) -> str:
        """Of the files' bytes, and of what is held out."""
        digest = hashlib.blake2b(digest_size=16)
        for item in self._fixed:
            digest.update(f"{file_digest(str(item))}{Path(str(item)).suffix}".encode())
        digest.update(json.dumps([_VERSION, sorted(self._splits)]).encode() + self._held_out.digest())
        return digest.hexdigest()


def _line(entry: Entry) -> bytes:
    return msgspec.json.encode(entry) + b"\n"


class StoredGroups(Sequence[Group]):
    """The groups of a folder that `store_groups` wrote. Other processes may map the same file.

    ``held_out`` counts the responses that were held out, ``unusable`` those that
    `graphneg.datasets.groups.usable` left out.
    """

    def __init__(self, folder: Path) -> None:
        import numpy

        self._folder = folder
        facts = json.loads((folder / _FACTS).read_bytes())
        self.held_out: int = facts["held_out"]
        self.unusable: int = facts["unusable"]
        self._ends = numpy.load(folder / _ENDS, mmap_mode="r")
        with open(folder / _GROUPS, "rb") as file:
            self._lines = mmap(file.fileno(), 0, access=ACCESS_READ) if len(self) else b""
        self._group = lru_cache(256)(self._decoded)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Group: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Group]: ...
    def __getitem__(self, index: int | slice) -> Group | Sequence[Group]:
        if isinstance(index, slice):
            return [self[item] for item in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self._group(index)

    def _decoded(self, index: int) -> Group:
        return _group(self._lines[self._ends[index] : self._ends[index + 1]])

    def __reduce__(self) -> tuple[type[StoredGroups], tuple[Path]]:
        return StoredGroups, (self._folder,)


def store_groups(entries: Iterable[Entry], folder: Path, held_out: HeldOut) -> None:
    """Write the groups of entries into a folder, without the responses that are ``held_out``.

    Groups come in the order of their first entries. ``held_out`` may grow while the entries are read.

    Raises `InputError`: a context has no right response, be it one that is held out.
    """
    import numpy

    spool = folder / "entries.jsonl"
    ends = array("Q", [0])
    left_out = unusable = 0
    with open(spool, "w+b") as file, open(folder / _GROUPS, "wb") as lines:
        for whole in _grouped(entries, file):
            group = usable(whole)
            unusable += whole.size - group.size
            allowed = held_out.without(group)
            left_out += group.size - allowed.size
            ends.append(ends[-1] + lines.write(msgspec.json.encode(allowed) + b"\n"))
    spool.unlink()
    numpy.save(folder / _ENDS, ends)
    (folder / _FACTS).write_text(json.dumps({"held_out": left_out, "unusable": unusable}), encoding="utf-8")


def _grouped(entries: Iterable[Entry], spool: IO[bytes]) -> Iterator[Group]:
    """Groups in the order of their first entries; entries of one group in theirs."""
    import numpy

    hashes, offsets = array("Q"), array("Q", [0])
    for entry in entries:
        hashes.append(number(0, "place", entry.group_id))
        offsets.append(offsets[-1] + spool.write(_line(entry)))
    if not hashes:
        return
    values = numpy.frombuffer(hashes, dtype=numpy.uint64)
    order = numpy.argsort(values, kind="stable")
    bounds = numpy.flatnonzero(numpy.concatenate([[True], numpy.diff(values[order]) != 0, [True]]))
    for run in numpy.argsort(order[bounds[:-1]]):  # equal hashes, in the order of each one's first
        group: Group | None = None
        for index in order[bounds[run] : bounds[run + 1]].tolist():
            spool.seek(offsets[index])
            entry = _entry(spool.readline())
            group = group or Group(entry.group_id, entry.context)
            enter(group, entry)
        if group is not None:
            yield group
