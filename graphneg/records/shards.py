"""Write and read the files of shards, which `graphneg.merging` puts together.

A large job can be divided into shards that run on several machines. Each run writes a file of JSON lines. The
first line says which shard it is, with which settings and from which content. Further lines hold items by
place, in the order of a single run. The last line shows that the file is complete::

    {"shard": "3/16", "kind": "records", "settings": {...}, "content": "...", ...}
    ["everyday/test/0112", [{...}, {...}]]
    {"places": 1, "items": 2, "digest": "..."}

The digest is the SHA-256 of all lines before the last one, so a damaged copy is refused.
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
"""The kind of items that are records of negatives."""
Place = str | int
"""The position of items in the result: the order of a dialogue, or a number."""
_Line = tuple[Place, list[Any]]
"""A place and its items."""


class _End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line: the number of places and items, and the SHA-256 of the lines before it."""

    places: int
    items: int
    digest: str


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of the file of a shard. The headers of all shards of a result differ in ``shard`` only.

    Attributes:
        shard: The shard, such as ``3/16``.
        kind: What the items are.
        settings: The settings of the run.
        content: A digest of the content from which the items are made.
        choice: How the final items are chosen from all items, if the merge has to choose.
        version: The version of graphneg.
    """

    shard: str
    kind: str
    settings: Mapping[str, Any]
    content: str
    choice: Mapping[str, Any] | None = None
    version: str = __version__

    @property
    def part(self) -> Shard:
        """The shard."""
        return Shard.parse(self.shard)

    @property
    def common(self) -> dict[str, Any]:
        """What all shards of a result have in common, as JSON values."""
        # Through JSON, because tuples in these settings are lists in a header that was read.
        facts = json.loads(json.dumps(asdict(self), default=str))
        return {"amount": self.part.amount, **{name: facts[name] for name in facts if name != "shard"}}


class ShardBatch(NamedTuple):
    """A batch of the items of a shard.

    Attributes:
        dialogues: Number of dialogues that are done since the start of the run.
        items: Items with their places, in order.
        last: The order of the last dialogue.
        notes: Counts so far, for a resumed run.
    """

    dialogues: int
    items: Sequence[tuple[Place, Any]]
    last: str = ""
    notes: Mapping[str, Any] = {}


def open_shard(out: str | Path, header: Header, made_of: str, *, overwrite: bool = False) -> ResumableWriter:
    """Open the file of a shard, new or resumed.

    Args:
        out: The file that all shards make together.
        header: The header of the shard.
        made_of: A digest of the content from which the items are made.
        overwrite: Whether to replace an existing file.

    Returns:
        A writer. A new file already has its header.
    """
    run = fingerprint(asdict(header))
    writer = ResumableWriter(out, run, made_of, overwrite=overwrite, shard=header.part)
    # A resumed file already has its header.
    if not (writer.resumed.is_complete or writer.resumed.dialogues):
        writer.write_line(_json(asdict(header)))
    return writer


def write_batches(writer: ResumableWriter, batches: Iterable[ShardBatch]) -> int:
    """Write the remaining batches of a shard, with a checkpoint after each, and finish the file.

    Args:
        writer: The writer of the file.
        batches: The remaining batches.

    Returns:
        The number of items in the file.
    """
    # The counts of a resumed file continue.
    done: dict[str, int] = {"places": 0, "items": 0, **writer.resumed.notes.get("shard", {})}
    if not writer.resumed.is_complete:
        for batch in batches:
            # All items of a dialogue share a place, so they form one line.
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
    """Return a value as one line of JSON."""
    return json_line(value, allow_nan=False, separators=(", ", ": "), default=str)


def numbered(
    groups: Iterable[Sequence[Negative]], shard: Shard | None
) -> Iterator[tuple[int, Sequence[Negative]]]:
    """Number groups of negatives, and keep those of a shard.

    Args:
        groups: Groups of negatives, each of one dialogue.
        shard: The shard; None for all groups.

    Returns:
        The place of each group in its file, and the group.
    """
    # The places count all groups, so that shards agree on them.
    return (
        (place, group)
        for place, group in enumerate(groups)
        if shard is None or shard.holds(group[0].dialogue)
    )


@dataclass(slots=True)
class ShardFile:
    """The file of a shard.

    Attributes:
        path: The file.
        header: Its first line.

    Raises:
        InputError: The file is missing, not finished, or not the file of a shard.
    """

    path: Path
    header: Header = field(init=False)

    def __post_init__(self) -> None:
        """Read the header."""
        # A part, or a note without its file, belongs to a run that has not finished.
        if self.path.suffix == ".part" or (part_note(self.path).exists() and not self.path.exists()):
            raise InputError(f"{self.path}: this shard is unfinished; run its command again")
        with open_input(self.path, pipes=False) as file:
            first = next(numbered_lines(file, self.path), (1, b""))[1]
        try:
            self.header = parse_typed(first, Header, f"{self.path}, line 1")
            # Parse the shard: a header with "17/16" is refused.
            _ = self.header.part
        except InputError as error:
            raise InputError(
                f"{self.path}: not the file of a shard; commands with --shard I/N write such files"
            ) from error

    def verified(self) -> str:
        """Return the digest of the file, after comparing it with the content.

        An incomplete or changed file raises `InputError`.

        Returns:
            64 hexadecimal digits.
        """
        digest, last = hashlib.sha256(), b""
        with open_input(self.path, pipes=False) as file:
            for _, line in numbered_lines(file, self.path):
                # Each line is digested when the next one is read, so that the last line is left out.
                digest.update(last)
                last = line
        try:
            end = parse_typed(last, _End, str(self.path))
        except InputError as error:
            raise self._damaged("is incomplete") from error
        # A last line without a line end may have been cut off.
        if not last.endswith(b"\n") or end.digest != digest.hexdigest():
            raise self._damaged("was changed or damaged")
        return end.digest

    def lines(self) -> Iterator[_Line]:
        """Yield each place with its items, in order.

        A line that cannot be read, or a missing last line, raises `InputError`.

        Yields:
            A place and its items.
        """
        places = items = 0
        with open_input(self.path, pipes=False) as file:
            for number, line in numbered_lines(file, self.path):
                if number == 1:
                    continue
                where = f"{self.path}, line {number}"
                # Lines of items are JSON arrays. An object is the last line.
                if line.startswith(b"{"):
                    end = parse_typed(line, _End, where)
                    if (end.places, end.items) == (places, items) and not file.read(1):
                        return
                    break
                place, given = parse_typed(line, tuple[Place, list[Any]], where)
                yield place, given
                places, items = places + 1, items + len(given)
        raise self._damaged("is incomplete")

    def _damaged(self, how: str) -> InputError:
        """Return the error for a damaged file."""
        return InputError(f"{self.path}: this shard {how}; copy it again, or run its command again")


def read_shards(paths: Sequence[str | Path]) -> list[ShardFile]:
    """Open all shards of one result, in their order; raise `InputError` if they do not form one result."""
    if not paths:
        raise _apart("no shards to merge; name their files")
    files = sorted(map(ShardFile, map(Path, paths)), key=lambda file: file.header.part.index)
    first = files[0]
    # If each shard fits the first one, all of them fit together.
    for other in files[1:]:
        _check_alike(first, other)
    amount = first.header.part.amount
    there: dict[int, Path] = {}
    for file in files:
        index = file.header.part.index
        if index in there:
            raise _apart(f"{file.path}: shard {file.header.shard} is given twice, also as {there[index]}")
        there[index] = file.path
    if missing := [str(Shard(index, amount)) for index in range(1, amount + 1) if index not in there]:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise _apart(f"missing: shard {', '.join(missing[:3])}{more}; a merge needs all shards")
    return files


_MEANT = {
    "amount": "they are parts of {} and of {}",
    "version": "graphneg {} made one, graphneg {} the other; use the same version everywhere",
    "content": "they were made from different dialogues, graphs or snapshots, or the store changed",
}
"""Messages about what two shards do not have in common."""


def _check_alike(first: ShardFile, other: ShardFile) -> None:
    """Refuse two shards with different versions, settings or content."""
    one, two = first.header.common, other.header.common
    both = f"{first.path} and {other.path} don't belong together: "
    # The most general difference comes first: another version can have other settings, too.
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
    """Return a value as JSON, shortened for a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}..."


def _apart(reason: str) -> InputError:
    """Return the error for shards that do not belong together, with exit status 2."""
    error = InputError(reason)
    error.status = 2
    return error
