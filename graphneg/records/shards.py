"""Files of shards: what one of several runs made, for `graphneg.merging` to put together.

In: places in the order of one run, each with items. Out: a file of JSON lines, and these again. The first
line says which shard it is, of what, by which settings, of which content; the last one that it is complete::

    {"shard": "3/16", "kind": "records", "settings": {...}, "content": "...", ...}
    ["everyday/test/0112", [{...}, {...}]]
    {"places": 1, "items": 2, "digest": "..."}

The digest is the SHA-256 of all lines before the last one: a copy in which a letter was changed is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphneg import __version__
from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.json_input import json_line, numbered_lines, open_input, parse_typed
from graphneg.model import Negative
from graphneg.records.resumable import ResumableWriter, part_note
from graphneg.shards import Shard

RECORDS = "records"
Place = str | int
_Line = tuple[Place, list[Any]]


class _End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line: how many places and items there are, and the SHA-256 of the lines before."""

    places: int
    items: int
    digest: str


@dataclass(frozen=True, slots=True)
class Header:
    """What a file of a shard says of itself. ``kind`` names what its items are, ``choice`` how those are
    chosen that make the result, where that is left to the merge; the other shards have all but ``shard`` in
    common."""

    shard: str
    kind: str
    settings: Mapping[str, Any]
    content: str
    choice: Mapping[str, Any] | None = None
    version: str = __version__

    @property
    def part(self) -> Shard:
        """The shard itself."""
        return Shard.parse(self.shard)

    @property
    def common(self) -> dict[str, Any]:
        """What it has in common with the other shards, as JSON holds it."""
        facts = json.loads(json.dumps(asdict(self), default=str))
        return {"amount": self.part.amount, **{name: facts[name] for name in facts if name != "shard"}}


class ShardBatch(NamedTuple):
    """Some dialogues of a shard: how many are done since the start, (place, item) of each item in order, the
    order of the last dialogue, and the counts so far for a run that goes on."""

    dialogues: int
    items: Sequence[tuple[Place, Any]]
    last: str = ""
    notes: Mapping[str, Any] = {}


def open_shard(out: str | Path, header: Header, made_of: str, *, overwrite: bool = False) -> ResumableWriter:
    """The file of a shard of ``out``, to be written or gone on with. ``made_of`` digests what goes in.

    Raises `InputError`: as `ResumableWriter`.
    """
    run = fingerprint(asdict(header))
    writer = ResumableWriter(out, run, made_of, overwrite=overwrite, shard=header.part)
    if not (writer.resumed.is_complete or writer.resumed.dialogues):
        writer.write_line(_json(asdict(header)))
    return writer


def write_batches(writer: ResumableWriter, batches: Iterable[ShardBatch]) -> int:
    """Write what is left to do, a checkpoint after each batch, and finish; returns how many items it has."""
    done: dict[str, int] = {"places": 0, "items": 0, **writer.resumed.notes.get("shard", {})}
    if not writer.resumed.is_complete:
        for batch in batches:
            for place, items in groupby(batch.items, itemgetter(0)):
                given = [item for _, item in items]
                writer.write_line(_json([place, given]))
                done["places"] += 1
                done["items"] += len(given)
            writer.checkpoint(batch.dialogues, {**batch.notes, "shard": done}, batch.last)
        writer.write_line(_json({**done, "digest": writer.digest}))
    writer.finish()
    return done["items"]


def _json(value: Any) -> str:
    return json_line(value, allow_nan=False, separators=(", ", ": "), default=str)


def numbered(
    groups: Iterable[Sequence[Negative]], shard: Shard | None
) -> Iterator[tuple[int, Sequence[Negative]]]:
    """Groups of records, each of one dialogue, with their places in a file; of a shard its own."""
    return (
        (place, group)
        for place, group in enumerate(groups)
        if shard is None or shard.holds(group[0].dialogue)
    )


@dataclass(slots=True)
class ShardFile:
    """A file of a shard, to be read.

    Raises `InputError`: there is none, it is not finished, or it is none of a shard.
    """

    path: Path
    header: Header = field(init=False)

    def __post_init__(self) -> None:
        if self.path.suffix == ".part" or (part_note(self.path).exists() and not self.path.exists()):
            raise InputError(f"{self.path}: this shard is not finished; run its command again")
        with open_input(self.path, pipes=False) as file:
            first = next(numbered_lines(file, self.path), (1, b""))[1]
        try:
            self.header = parse_typed(first, Header, f"{self.path}, line 1")
            _ = self.header.part
        except InputError as error:
            raise InputError(
                f"{self.path}: no file of a shard; commands with --shard I/N write them"
            ) from error

    def verified(self) -> str:
        """Return the digest of all lines, which the last one has.

        Returns:
            64 hexadecimal digits.

        Raises:
            InputError: The file is not whole, or not as it was written.
        """
        digest, last = hashlib.sha256(), b""
        with open_input(self.path, pipes=False) as file:
            for _, line in numbered_lines(file, self.path):
                digest.update(last)
                last = line
        try:
            end = parse_typed(last, _End, str(self.path))
        except InputError as error:
            raise self._damaged("is not whole") from error
        if not last.endswith(b"\n") or end.digest != digest.hexdigest():
            raise self._damaged("is not as it was written")
        return end.digest

    def lines(self) -> Iterator[_Line]:
        """Yield each place with its items, in order.

        Raises:
            InputError: A line can't be read, or the file ends before its last line.
        """
        places = items = 0
        with open_input(self.path, pipes=False) as file:
            for number, line in numbered_lines(file, self.path):
                if number == 1:
                    continue
                where = f"{self.path}, line {number}"
                if line.startswith(b"{"):
                    end = parse_typed(line, _End, where)
                    if (end.places, end.items) == (places, items) and not file.read(1):
                        return
                    break
                place, given = parse_typed(line, tuple[Place, list[Any]], where)
                yield place, given
                places, items = places + 1, items + len(given)
        raise self._damaged("is not whole")

    def _damaged(self, how: str) -> InputError:
        return InputError(f"{self.path}: this shard {how}; copy it again, or run its command again")


def read_shards(paths: Sequence[str | Path]) -> list[ShardFile]:
    """The shards of one result, in their order.

    Raises `InputError`: one can't be read, they are of different settings, stores or versions, or one is
    missing or there twice.
    """
    if not paths:
        raise _apart("no file of a shard to merge")
    files = sorted(map(ShardFile, map(Path, paths)), key=lambda file: file.header.part.index)
    first = files[0]
    for other in files[1:]:
        _check_alike(first, other)
    amount = first.header.part.amount
    there: dict[int, Path] = {}
    for file in files:
        index = file.header.part.index
        if index in there:
            raise _apart(f"{file.path}: shard {file.header.shard} is there twice, also as {there[index]}")
        there[index] = file.path
    if missing := [str(Shard(index, amount)) for index in range(1, amount + 1) if index not in there]:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise _apart(f"missing: shard {', '.join(missing[:3])}{more}; a result is put together of all")
    return files


_MEANT = {
    "amount": "they are parts of {} and of {}",
    "version": "graphneg {} made one, graphneg {} the other; take the same version everywhere",
    "content": "they were made of other dialogues, graphs or snapshots, or the store changed in between",
}


def _check_alike(first: ShardFile, other: ShardFile) -> None:
    one, two = first.header.common, other.header.common
    both = f"{first.path} and {other.path} don't belong together: "
    for name in ("version", "kind", "amount"):
        if one[name] != two[name]:
            said = _MEANT.get(name, name + " {} and {}")
            raise _apart(both + said.format(one[name], two[name]))
    for name in sorted({*one["settings"], *two["settings"]}):
        values = (one["settings"].get(name), two["settings"].get(name))
        if values[0] != values[1]:
            raise _apart(f"{both}{name} is {_short(values[0])} in one, {_short(values[1])} in the other")
    for name in ("choice", "content"):
        if one[name] != two[name]:
            raise _apart(both + _MEANT["content"])


def _short(value: Any, most: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}..."


def _apart(reason: str) -> InputError:
    error = InputError(reason)
    error.status = 2
    return error
