"""Write and read the files of shards, from which `graphneg.merging` makes one result.

A large job can be divided into shards that run on several machines. Each run writes a file of JSON lines. The
first line is a header: it says which shard the file is, with which settings it was made, and from which
content. Each further line holds items and their place, which is their position in the result of an undivided
run. The last line shows that the file is complete::

    {"shard": "3/16", "kind": "records", "settings": {...}, "content": "...", ...}
    ["everyday/test/0112", [{...}, {...}]]
    {"places": 1, "items": 2, "digest": "..."}

The digest is the SHA-256 of all lines before the last one. It reveals a damaged copy.
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
"""The kind of a shard whose items are records of negatives."""
Place = str | int
"""The position of items in the result: the sort key of a dialogue, or a number."""
_Line = tuple[Place, list[Any]]
"""A place with the items that belong there."""


class _End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line: the number of places and of items, and the SHA-256 of the lines before it."""

    places: int
    items: int
    digest: str


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of the file of a shard. The headers of all shards of a result differ only in ``shard``.

    Attributes:
        shard: The shard, such as ``3/16``.
        kind: The kind of items, such as ``records``.
        settings: The settings of the run.
        content: A digest of the dialogues and graphs from which the items are made.
        choice: If the merge has to choose the final items from all items, the settings of this choice.
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
        """The shard in parsed form."""
        return Shard.parse(self.shard)

    @property
    def common(self) -> dict[str, Any]:
        """The values that all shards of a result share, as JSON values."""
        # Convert to JSON and back: tuples in new settings become lists, as in a header that was read.
        facts = json.loads(json.dumps(asdict(self), default=str))
        return {"amount": self.part.amount, **{name: facts[name] for name in facts if name != "shard"}}


class ShardBatch(NamedTuple):
    """A batch of items from a shard.

    Attributes:
        dialogues: Number of dialogues that are done since the start of the run.
        items: Items with their places, in order.
        last: The sort key of the last dialogue.
        notes: The counts so far. A resumed run continues with them.
    """

    dialogues: int
    items: Iterable[tuple[Place, Any]]
    last: str = ""
    notes: Mapping[str, Any] = {}


def open_shard(
    out: str | Path, header: Header, content_digest: str, *, overwrite: bool = False
) -> ResumableWriter:
    """Open the file of a shard: a new file, or that of a stopped run, which is resumed.

    Args:
        out: The merged file. The name of the shard's file is derived from it.
        header: The header of the shard.
        content_digest: A digest of the dialogues and graphs from which the items are made.
        overwrite: Whether to replace an existing file.

    Returns:
        A writer. The header is already in the file.
    """
    run = fingerprint(asdict(header))
    writer = ResumableWriter(out, run, content_digest, overwrite=overwrite, shard=header.part)
    # If the run is resumed, the file already has a header.
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
    # A resumed run continues with the counts of the last checkpoint.
    done: dict[str, int] = {"places": 0, "items": 0, **writer.resumed.notes.get("shard", {})}
    if not writer.resumed.is_complete:
        for batch in batches:
            # The items of a dialogue share a place, so they are written as one line.
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
    """Number groups of negatives, and return those that belong to a shard.

    Args:
        groups: Groups of negatives, each of one dialogue.
        shard: The shard; None for all groups.

    Returns:
        The number of each group among all groups, and the group.
    """
    # Number all groups before the selection, so that the numbers are the same for all shards.
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
        InputError: The file is missing, incomplete, or not the file of a shard.
    """

    path: Path
    header: Header = field(init=False)

    def __post_init__(self) -> None:
        """Read the header."""
        # The path "." has no name, from which the name of the note could be made.
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder, not the file of a shard")
        # A run that has not finished leaves a part file, or its note without the finished file.
        if self.path.suffix == ".part" or (part_note(self.path).exists() and not self.path.exists()):
            raise InputError(f"{self.path}: this shard is unfinished; run its command again")
        with open_input(self.path, pipes=False) as file:
            first = next(numbered_lines(file, self.path), (1, b""))[1]
        try:
            self.header = parse_typed(first, Header, f"{self.path}, line 1")
            # Parse the shard now, so that a header with "17/16" is refused.
            _ = self.header.part
        except InputError as error:
            raise InputError(
                f"{self.path}: not the file of a shard; commands with --shard I/N write such files"
            ) from error

    def verified(self) -> str:
        """Compare the content of the file with its digest, and return the digest.

        Raises `InputError` if the file is incomplete or was changed.

        Returns:
            The SHA-256 digest, 64 hexadecimal digits.
        """
        digest, last = hashlib.sha256(), b""
        with open_input(self.path, pipes=False) as file:
            for _, line in numbered_lines(file, self.path):
                # A line is added to the digest when the next one is read, so that the last line is left out.
                digest.update(last)
                last = line
        try:
            end = parse_typed(last, _End, str(self.path))
        except InputError as error:
            raise self._damaged("is incomplete") from error
        # If the last line has no line end, it may have been cut off.
        if not last.endswith(b"\n") or end.digest != digest.hexdigest():
            raise self._damaged("was changed or damaged")
        return end.digest

    def lines(self) -> Iterator[_Line]:
        """Yield each place with its items, in the order of the file.

        Raises `InputError` if a line cannot be read or the last line is missing.

        Yields:
            A place with its items.
        """
        places = items = 0
        with open_input(self.path, pipes=False) as file:
            for number, line in numbered_lines(file, self.path):
                if number == 1:
                    continue
                where = f"{self.path}, line {number}"
                # Lines with items are JSON arrays. An object can only be the last line.
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
    """Open all shards of one result, sorted by number; raise `InputError` if they do not form one result."""
    if not paths:
        raise _apart("no shards to merge; name their files")
    files = sorted(map(ShardFile, map(Path, paths)), key=lambda file: file.header.part.index)
    first = files[0]
    # Comparing each shard with the first one is enough, because equality is transitive.
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
"""Messages for values that should be the same in two shards, but differ."""


def _check_alike(first: ShardFile, other: ShardFile) -> None:
    """Raise `InputError` if two shards have different versions, settings or content."""
    one, two = first.header.common, other.header.common
    both = f"{first.path} and {other.path} don't belong together: "
    # Compare the most general values first.
    # Another version may also have other settings, and then the version is the reason.
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
