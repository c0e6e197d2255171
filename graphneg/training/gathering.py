"""Negatives from files, streams and functions, gathered into groups that are mapped into memory."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from graphneg.errors import InputError
from graphneg.model import Negative
from graphneg.training.groups import Entry, entry_of, read_entries
from graphneg.training.held_out import HeldOut
from graphneg.training.stored_groups import StoredGroups, is_stored, keep, kept, store_groups

Source = str | Path | Iterable[Negative] | Callable[[int], Iterable[Negative]]
"""A file of negatives (.jsonl, .parquet), negatives, or a function of a seed that makes some."""
_VERSION = 1
_BLOCK = 1 << 20


class Gathered:
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
        for one in sources:
            if callable(one):
                self._makers.append(one)
            else:
                self._fixed.append(one)
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
        made = self._known(entry for one in self._makers for entry in _made(one(self._seed + epoch)))
        return self._store(chain(kept(fixed), made), folder)

    def _store(self, entries: Iterable[Entry], folder: Path) -> StoredGroups:
        folder.mkdir(parents=True, exist_ok=True)
        return store_groups(entries, folder, self._held_out)

    def _read(self) -> Iterator[Entry]:
        for one in self._fixed:
            yield from self._known(read_entries(one) if isinstance(one, str | Path) else _made(one))
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
        return self._cache is not None and all(isinstance(one, str | Path) for one in self._fixed)

    def _kept(self) -> StoredGroups:
        assert self._cache is not None
        folder = self._cache / self._digest()
        if not is_stored(folder):
            unfinished = self._cache / f"{folder.name}.{os.getpid()}"
            try:
                self._store(self._read(), unfinished)
                if not is_stored(folder):
                    unfinished.rename(folder)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
        return StoredGroups(folder)

    def _digest(self) -> str:
        """Of the files' bytes, and of what is held out."""
        digest = hashlib.blake2b(digest_size=16)
        for one in self._fixed:
            path = Path(str(one))
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
    return (entry_of(one, one.id) for one in negatives)
