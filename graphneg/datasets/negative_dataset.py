"""Negatives in, groups by context out, in an Arrow file that is mapped into memory.

A corpus of any size takes the same few megabytes. Records come in any order, those of one context far
apart, and are grouped on disk: their entries are spooled to a file, of each only a hash and an offset (16
bytes) stay in memory, and groups are put together by reading the spool in the order of the hashes. A group
is decoded when it is looked at.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, overload

from graphneg.datasets.groups import Answer, Entry, Group, HeldOut, check, enter, entry_of, read_entries
from graphneg.errors import InputError
from graphneg.hashing import number
from graphneg.model import Negative
from graphneg.records.runs import atomic_folder

Source = str | Path | Iterable[Negative] | Callable[[int], Iterable[Negative]]
"""A file of negatives (.jsonl, .parquet), negatives, or a function of a seed that makes some."""
_VERSION = 1
_BLOCK = 1 << 20
_GROUPS = "groups.arrow"
_SPOOL = "entries.jsonl"
_FACTS = "groups.json"
_ROWS = 1_000
_SEEN = 256


class NegativeDataset:
    """The groups of some sources, made when they are first asked for.

    A function among the sources is called for each epoch, with the seed of that epoch: ``seed`` + epoch.
    Records whose split is in ``splits`` are left out, and their responses' texts are held out like those of
    ``held_out``; ``known_splits`` need not be in the records. The file is kept in ``cache`` where all
    sources are files, else in a temporary folder
    that goes with this object.

    Raises:
        InputError: there are no sources.
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
        self._fixed: list[str | Path | Iterable[Negative]] = []
        self._makers: list[Callable[[int], Iterable[Negative]]] = []
        for item in sources:
            if callable(item):
                self._makers.append(item)
            else:
                self._fixed.append(item)
        self._held_out = HeldOut(held_out)
        self._splits = frozenset(splits)
        self._seen = set(known_splits)
        self._cache = None if cache is None else Path(cache)
        self._folder = Path(tempfile.mkdtemp(prefix="graphneg-pairs-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._last: tuple[int, StoredGroups] | None = None

    @property
    def folder(self) -> Path:
        """For files that live as long as this object."""
        return self._folder

    def groups(self, epoch: int) -> StoredGroups:
        """The groups that an epoch draws from.

        Raises:
            InputError: a file can't be read, a label is neither 0 nor 1, a context has no right response,
                or no record is of a split that is held out.
        """
        number = epoch if self._makers else 0
        if self._last is None or self._last[0] != number:
            self._last = (number, self._groups(number))
        return self._last[1]

    def _groups(self, epoch: int) -> StoredGroups:
        if not self._makers:
            return self._kept() if self._cached() else self._store(self._read(), self._folder / "all")
        folder, fixed = self._folder / f"epoch-{epoch}", self._folder / "fixed.jsonl"
        if is_stored(folder):
            return StoredGroups(folder)
        if not fixed.exists():
            keep(self._read(), fixed)
        made = self._known(entry for item in self._makers for entry in _made(item(self._seed + epoch)))
        return self._store(chain(kept(fixed), made), folder)

    def _store(self, entries: Iterable[Entry], folder: Path) -> StoredGroups:
        folder.mkdir(parents=True, exist_ok=True)
        return store_groups(entries, folder, self._held_out)

    def _read(self) -> Iterator[Entry]:
        for item in self._fixed:
            yield from self._known(read_entries(item) if isinstance(item, str | Path) else _made(item))
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

    def _cached(self) -> bool:
        return self._cache is not None and all(isinstance(item, str | Path) for item in self._fixed)

    def _kept(self) -> StoredGroups:
        assert self._cache is not None
        folder = self._cache / self._digest()
        if not is_stored(folder):
            with atomic_folder(folder) as unfinished:
                self._store(self._read(), unfinished)
        return StoredGroups(folder)

    def _digest(self) -> str:
        """Of the files' bytes, and of what is held out."""
        digest = hashlib.blake2b(digest_size=16)
        for item in self._fixed:
            path = Path(str(item))
            try:
                with path.open("rb") as file:
                    while block := file.read(_BLOCK):
                        digest.update(block)
            except OSError as error:
                raise InputError(f"{path}: can't be read: {error.strerror}") from error
            digest.update(path.suffix.encode())
        digest.update(json.dumps([_VERSION, sorted(self._splits)]).encode() + self._held_out.digest())
        return digest.hexdigest()


def _made(negatives: Iterable[Negative]) -> Iterator[Entry]:
    return (entry_of(item, item.id) for item in negatives)


@dataclass(frozen=True, slots=True)
class Facts:
    """What was stored: ``digest`` of the entries and of what is held out, and how many responses that left
    out."""

    digest: str
    held_out: int


class StoredGroups(Sequence["StoredGroup"]):
    """The groups of a folder that `store_groups` wrote. Other processes may map the same file."""

    def __init__(self, folder: Path) -> None:
        import pyarrow as pa

        self._folder = folder
        self.facts = Facts(**json.loads((folder / _FACTS).read_text(encoding="utf-8")))
        reader: Any = pa.ipc.open_file(pa.memory_map(str(folder / _GROUPS)))
        batches = [reader.get_batch(index) for index in range(reader.num_record_batches)]
        self._columns: list[Sequence[Any]] = [batch.columns for batch in batches]
        self._amount = sum(int(batch.num_rows) for batch in batches)
        self._seen: dict[int, StoredGroup] = {}

    def __len__(self) -> int:
        return self._amount

    @overload
    def __getitem__(self, index: int) -> StoredGroup: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[StoredGroup]: ...
    def __getitem__(self, index: int | slice) -> StoredGroup | Sequence[StoredGroup]:
        if isinstance(index, slice):
            return [self[item] for item in range(*index.indices(self._amount))]
        if not 0 <= index < self._amount:
            raise IndexError(index)
        result = self._seen.get(index)
        if result is None:
            if len(self._seen) == _SEEN:
                self._seen.clear()
            result = self._seen[index] = StoredGroup(self._columns[index // _ROWS], index % _ROWS)
        return result

    def __reduce__(self) -> tuple[type[StoredGroups], tuple[Path]]:
        return StoredGroups, (self._folder,)


class StoredGroup:
    """A `ResponseGroup` in a file; each property is decoded when it is first asked for."""

    def __init__(self, columns: Sequence[Any], row: int) -> None:
        self._columns = columns
        self._row = row
        self._decoded: dict[int, Any] = {}

    @property
    def id(self) -> str:
        """See `ResponseGroup`."""
        return self._column(0, str)

    @property
    def context(self) -> tuple[str, ...]:
        """See `ResponseGroup`."""
        return self._column(1, tuple)

    @property
    def positives(self) -> list[Answer]:
        """See `ResponseGroup`."""
        return self._column(2, _answers)

    @property
    def negatives(self) -> list[Answer]:
        """See `ResponseGroup`."""
        return self._column(3, _answers)

    def _column(self, column: int, make: Callable[[Any], Any]) -> Any:
        if column not in self._decoded:
            self._decoded[column] = make(self._columns[column][self._row].as_py())
        return self._decoded[column]


def _answers(rows: Iterable[dict[str, Any]]) -> list[Answer]:
    return [
        Answer(row["text"], row["source"], row["category"], row["context"] and tuple(row["context"]))
        for row in rows
    ]


def store_groups(entries: Iterable[Entry], folder: Path, held_out: HeldOut) -> StoredGroups:
    """Write the groups of entries into a folder, without the responses that are ``held_out``, and open it.

    Groups come in the order of their first entries. ``held_out`` may grow while the entries are read.

    Raises:
        InputError: a context has no right response, be it one that is held out.
    """
    spool = folder / _SPOOL
    digest = hashlib.blake2b(digest_size=16)
    with open(spool, "w+b") as file:
        hashes, offsets = _spool(entries, file, digest)
        left_out = _write(folder / _GROUPS, _groups(file, hashes, offsets), held_out)
    spool.unlink()
    digest.update(held_out.digest())
    facts = Facts(digest.hexdigest(), left_out)
    (folder / _FACTS).write_text(json.dumps(asdict(facts)), encoding="utf-8")
    return StoredGroups(folder)


def keep(entries: Iterable[Entry], path: Path) -> None:
    """Write entries to a file that `kept` reads."""
    with open(path, "wb") as file:
        for entry in entries:
            file.write(_line(entry))


def kept(path: Path) -> Iterator[Entry]:
    """The entries of a file that `keep` wrote."""
    with open(path, "rb") as file:
        for line in file:
            yield _entry(line)


def is_stored(folder: Path) -> bool:
    """Whether `store_groups` went to its end: the facts are written last."""
    return (folder / _FACTS).is_file()


def _spool(entries: Iterable[Entry], file: IO[bytes], digest: Any) -> tuple[array[int], array[int]]:
    hashes, offsets = array("Q"), array("Q")
    offset = 0
    for entry in entries:
        line = _line(entry)
        digest.update(line)
        hashes.append(number(0, "place", entry.group_id))
        offsets.append(offset)
        offset += file.write(line)
    file.flush()
    return hashes, offsets


def _groups(file: IO[bytes], hashes: array[int], offsets: array[int]) -> Iterator[Group]:
    """Groups in the order of their first entries; entries of one place in theirs."""
    for run in _runs(hashes):
        group: Group | None = None
        for index in run:
            file.seek(offsets[index])
            entry = _entry(file.readline())
            if group is None:
                group = Group(entry.group_id, entry.context)
            enter(group, entry)
        if group is not None:
            check(group)
            yield group


def _runs(hashes: array[int]) -> Iterator[Sequence[int]]:
    import numpy

    if not hashes:
        return
    values = numpy.frombuffer(hashes, dtype=numpy.uint64)
    order = numpy.argsort(values, kind="stable")
    ends = numpy.flatnonzero(numpy.diff(values[order])) + 1
    starts = numpy.concatenate([[0], ends])
    stops = numpy.concatenate([ends, [len(order)]])
    for run in numpy.argsort(order[starts]):
        yield order[starts[run] : stops[run]].tolist()


def _line(entry: Entry) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def _entry(line: bytes) -> Entry:
    group_id, split, context, own, *rest = json.loads(line)
    return Entry(group_id, split, tuple(context), tuple(own), *rest)


def _write(path: Path, groups: Iterator[Group], held_out: HeldOut) -> int:
    import pyarrow as pa

    text = pa.string()
    turns = pa.list_(text)
    answer = pa.struct({"text": text, "source": text, "category": text, "context": turns})
    answers = pa.list_(answer)
    schema = pa.schema({"id": text, "context": turns, "positives": answers, "negatives": answers})
    left_out = 0
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        while some := list(islice(groups, _ROWS)):
            before = sum(len(item.positives) + len(item.negatives) for item in some)
            rows = [_row(item, held_out) for item in some]
            left_out += before - sum(len(row["positives"]) + len(row["negatives"]) for row in rows)
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
    return left_out


def _row(group: Group, held_out: HeldOut) -> dict[str, Any]:
    def kept(answers: Sequence[Answer]) -> list[dict[str, Any]]:
        return [asdict(item) for item in answers if item.text not in held_out]

    return {
        "id": group.id,
        "context": group.context,
        "positives": kept(group.positives),
        "negatives": kept(group.negatives),
    }
