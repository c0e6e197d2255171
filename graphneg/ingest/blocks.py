"""Records of a corpus sorted into blocks of dialogues: what a pipeline reads once, and does block by block.

In: loads, as of ``graphneg load``. Out: a folder with a file of records for each block, and one of what is in
no dialogue (opposites, frames, sentences), which all blocks need. Memory is flat.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from graphneg.errors import InputError
from graphneg.ingest.echoes import dialogue_of
from graphneg.ingest.loader import GAP, LoadOptions, get_loader
from graphneg.model import Dialogue, GraphText, Record, Rejected
from graphneg.records.runs import atomic_folder, unwritable
from graphneg.shards import Shard

_COMMON = "common"
_WAITING = 16_000_000
"""Bytes of records that wait in memory to be written."""


class Load(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One load: a loader with its files and options, as of ``graphneg load``."""

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

    def read(self) -> Iterator[Record | Rejected]:
        """What its loader reads.

        Raises `InputError`: no such loader, or a file is not what it reads.
        """
        options = LoadOptions(
            self.name,
            self.split,
            self.language,
            map=self.map,
            encoding=self.encoding,
            clean=self.clean,
            gap=self.gap,
        )
        return iter(get_loader(self.corpus).read([Path(path) for path in self.paths], options))


def sort_records(loads: Sequence[Load], amount: int, folder: Path, tell: Callable[[Rejected], None]) -> None:
    """Sort what is loaded into ``amount`` blocks; ``tell`` takes what is refused.

    A folder that is there is left: it has all of it.

    Raises `InputError`: a file can't be read or written, or a graph does not say of which utterance it is.
    """
    if folder.is_dir():
        return
    try:
        with atomic_folder(folder) as unfinished:
            for name in (_COMMON, *(_name(Shard(index, amount)) for index in range(1, amount + 1))):
                (unfinished / name).touch()
            waiting, size = defaultdict[str, list[bytes]](list), 0
            for record in (one for load in loads for one in load.read()):
                if isinstance(record, Rejected):
                    tell(record)
                    continue
                id = _dialogue(record)
                name = _COMMON if id is None else _name(Shard.of(id, amount))
                waiting[name].append(pickle.dumps(record, protocol=pickle.HIGHEST_PROTOCOL))
                size += len(waiting[name][-1])
                if size > _WAITING:
                    _append(unfinished, waiting)
                    size = 0
            _append(unfinished, waiting)
    except OSError as error:
        raise unwritable(folder, error, "nothing is kept of it") from error


def block_records(folder: Path, shard: Shard | None) -> Iterator[Record]:
    """The records of a block; without one, those of no dialogue."""
    with (folder / (_COMMON if shard is None else _name(shard))).open("rb") as file:
        while file.peek(1):
            yield pickle.load(file)


def _append(folder: Path, waiting: dict[str, list[bytes]]) -> None:
    """Write what waits, file by file: there are more blocks than a process may have files open."""
    for name, records in waiting.items():
        with (folder / name).open("ab") as file:
            file.writelines(records)
    waiting.clear()


def _dialogue(record: Record) -> str | None:
    """The dialogue that a record belongs to, if to one.

    Raises `InputError`: only a store of all dialogues can tell.
    """
    if isinstance(record, Dialogue):
        return record.id
    if not isinstance(record, GraphText):
        return None
    if record.id is None or "#" not in record.id:
        error = InputError(
            f"{record.place}: a graph without the id of its utterance (# ::id corpus/split/name#turn): "
            "which dialogue has it, a store of all can tell; name one"
        )
        error.status = 2
        raise error
    return dialogue_of(record.id)


def _name(shard: Shard) -> str:
    return f"{shard.index}-of-{shard.amount}"
