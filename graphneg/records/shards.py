"""Write and read the files of shards, from which `graphneg.merging` makes one result.

A large job can be divided into shards, that is, parts that run on several machines. Each run writes a file of
JSON lines. The first line is a header with the shard number, the settings of the run, and a digest of the
content that was processed. Each further line contains a place (a sort key) and the items with this place,
such as the negatives of a dialogue. When shards are merged, the items are sorted by place, as in a run
without shards. The last line shows that the file is complete::

    {"shard": "3/16", "kind": "records", "settings": {...}, "content": "...", ...}
    ["everyday/test/0112", [{...}, {...}]]
    {"places": 1, "items": 2, "digest": "..."}

The digest is the SHA-256 of all lines before the last one. It reveals whether a copy is damaged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphneg import __version__
from graphneg.errors import InputError
from graphneg.hashing import fingerprint
from graphneg.json_input import json_line, numbered_lines, open_input, parse_typed
from graphneg.model import Negative
from graphneg.records.resumable import ResumableWriter, checkpoint_path
from graphneg.shards import Shard

RECORDS = "records"
"""The kind of items in a shard that consists of records of negatives."""
Place = str | int
"""A value by which the items of all shards are sorted: the sort key of a dialogue, or a number."""
_Line = tuple[Place, list[Any]]
"""A place (the sort key of a dialogue, or a number) with the items that belong to it."""


_MOST_PLACES = 2**63 - 1
"""Largest number that can be a place."""


def place_sort_key(place: Place) -> tuple[bool, Place]:
    """Return a sort key for the place of an item in the output. Numbers sort before strings.

    Python cannot compare a number with a string.

    Args:
        place: The sort key of the item's dialogue, or a number for an item that belongs to no dialogue.

    Returns:
        The sort key.
    """
    return isinstance(place, str), place


class _End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line of a shard's file, with counts and a checksum.

    Attributes:
        places: Number of lines with items, one for each sort key.
        items: Number of items in these lines.
        digest: SHA-256 of all lines before the last line.
    """

    places: int
    items: int
    digest: str


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a shard's file. The headers of the shards of a run differ only in ``shard``.

    Attributes:
        shard: The shard, such as ``3/16``.
        kind: The kind of items, such as ``records``.
        settings: The settings of the run.
        content: A digest of the dialogues and graphs from which the items are made.
        choice: The settings for choosing the final items when the shards are merged; None if the result
            contains the items of all shards.
        version: The version of graphneg that wrote the file.
    """

    shard: str
    kind: str
    settings: Mapping[str, Any]
    content: str
    choice: Mapping[str, Any] | None = None
    version: str = __version__

    @property
    def part(self) -> Shard:
        """The number of the shard and the total number of shards, parsed from ``shard``."""
        return Shard.parse(self.shard)

    @property
    def shared_settings(self) -> dict[str, Any]:
        """The values of the header that must be equal in all shards that are merged, as JSON values."""
        # Convert the header to JSON and back, so that a header that was just created equals one that was read
        # from a file: tuples become lists.
        facts = json.loads(json.dumps(asdict(self), default=str))
        return {"amount": self.part.amount, **{name: facts[name] for name in facts if name != "shard"}}


class ShardBatch(NamedTuple):
    """A batch of items from a shard.

    Attributes:
        dialogues: Number of dialogues that are done after this batch, counted from the start of the run.
        items: Pairs of a sort key and an item, sorted by key. The key is that of a dialogue, or a number.
        last: The sort key of the last dialogue of the batch.
        notes: The counts of the run so far. A resumed run continues with them.
    """

    dialogues: int
    items: Iterable[tuple[Place, Any]]
    last: str = ""
    notes: Mapping[str, Any] = {}


def open_shard(
    out: str | Path, header: Header, content_digest: str, *, overwrite: bool = False
) -> ResumableWriter:
    """Open the file of a shard: a new file, or the unfinished file of a stopped run, which is resumed.

    Args:
        out: The name of the merged file. The name of the shard's file is derived from it.
        header: The header of the shard.
        content_digest: A digest of the dialogues and graphs from which the items are made.
        overwrite: Whether to replace an existing file of the shard.

    Returns:
        A writer for the file, to which the header has already been written.
    """
    run = fingerprint(asdict(header))
    writer = ResumableWriter(out, run, content_digest, overwrite=overwrite, shard=header.part)
    # Write the header only into a new file, because a file that is continued already has one.
    if not (writer.resumed.is_complete or writer.resumed.dialogues):
        writer.write_line(_json(asdict(header)))
    return writer


def write_batches(writer: ResumableWriter, batches: Iterable[ShardBatch]) -> int:
    """Write the remaining batches of a shard, with a checkpoint after each batch, and finish the file.

    Args:
        writer: The writer for the shard's file.
        batches: The remaining batches.

    Returns:
        The number of items in the file.
    """
    # A resumed run starts with the counts that were stored at the last checkpoint.
    done: dict[str, int] = {"places": 0, "items": 0, **writer.resumed.notes.get("shard", {})}
    if not writer.resumed.is_complete:
        for batch in batches:
            # Write one line per dialogue: its sort key (``place``) and its items.
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
    """Number the groups of negatives of all shards, and select the groups of one shard.

    Args:
        groups: Groups of negatives. The negatives of a group are from the same dialogue.
        shard: The shard; None for all groups.

    Returns:
        Pairs of a number and a group. The numbers also count the groups of other shards.
    """
    # Number the groups before selecting those of the shard, so that no number occurs in two shards.
    return (
        (place, group)
        for place, group in enumerate(groups)
        if shard is None or shard.contains(group[0].dialogue)
    )


@dataclass(slots=True)
class ShardFile:
    """The file of a shard.

    Attributes:
        path: The path of the file.
        header: The parsed first line of the file.

    Raises:
        InputError: The file is missing, incomplete, or not the file of a shard.
    """

    path: Path
    header: Header = field(init=False)

    def __post_init__(self) -> None:
        """Read the header, and raise `InputError` if the path is not the finished file of a shard."""
        # Refuse folders first, because `checkpoint_path` below needs a file name, and a folder such as "."
        # has none.
        if self.path.is_dir():
            raise InputError(f"{self.path} is a folder, not the file of a shard")
        # While the run that writes the shard's file is unfinished, only a part file exists. The user may pass
        # the path of the part file or of the final file. Refuse both.
        if self.path.suffix == ".part" or (checkpoint_path(self.path).exists() and not self.path.exists()):
            raise InputError(f"{self.path}: this shard is unfinished; run the command of the shard again")
        with open_input(self.path, pipes=False) as file:
            first = next(numbered_lines(file, self.path), (1, b""))[1]
        try:
            self.header = parse_typed(first, Header, f"{self.path}, line 1")
            # Parse the number of the shard, so that an invalid one, such as "17/16", raises an error here.
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
                # The digest covers all lines except the last one. So add the previous line only when another
                # line has been read.
                digest.update(last)
                last = line
        try:
            end = parse_typed(last, _End, str(self.path))
        except InputError as error:
            raise self._damaged_error("is incomplete") from error
        # Refuse a file whose last line has no line end, because the line may be incomplete.
        if not last.endswith(b"\n") or end.digest != digest.hexdigest():
            raise self._damaged_error("was changed or damaged")
        return end.digest

    def lines(self) -> Iterator[_Line]:
        """Read the lines of the shard, in the order of the file.

        Raises `InputError` if a line cannot be read, or if the file ends without the closing line that
        contains the digest.

        Yields:
            For each line, its sort key and its items. Shards are merged by the sort key, for example by
            dialogue id.
        """
        places = items = 0
        last: tuple[bool, Place] | None = None
        with open_input(self.path, pipes=False) as file:
            for number, line in numbered_lines(file, self.path):
                if number == 1:
                    continue
                where = f"{self.path}, line {number}"
                # A line that contains items is a JSON array. The last line of the file is a JSON object.
                if line.startswith(b"{"):
                    end = parse_typed(line, _End, where)
                    if (end.places, end.items) == (places, items) and not file.read(1):
                        return
                    break
                place, given = parse_typed(line, tuple[Place, list[Any]], where)
                # Each line begins with its sort key for the merge of the shards. If the keys were not in
                # ascending order, the merged file would differ from the file of a run without shards, and
                # nobody would notice.
                if isinstance(place, int) and not 0 <= place <= _MOST_PLACES:
                    raise self._damaged_error(f"has the place {str(place)[:30]} (line {number})")
                if last is not None and place_sort_key(place) <= last:
                    raise self._damaged_error(f"has places that do not increase (line {number})")
                last = place_sort_key(place)
                yield place, given
                places, items = places + 1, items + len(given)
        raise self._damaged_error("is incomplete")

    def _damaged_error(self, how: str) -> InputError:
        return InputError(
            f"{self.path}: this shard {how}; copy the file again, or run the command of the shard again"
        )


def read_shards(paths: Sequence[str | Path]) -> list[ShardFile]:
    """Open the files of all shards of an output.

    Args:
        paths: The files, in any order.

    Returns:
        The files, sorted by the number of their shard.

    Raises:
        InputError: No files were given, one of them is not the file of a shard, a shard is missing or given
            twice, or the shards do not belong together.
    """  # noqa: DOC501, DOC502
    if not paths:
        raise _mismatch_error("no shards to merge; give the files of the shards")
    files = sorted(map(ShardFile, map(Path, paths)), key=lambda file: file.header.part.index)
    first = files[0]
    for other in files[1:]:
        _check_alike(first, other)
    amount = first.header.part.amount
    there: dict[int, Path] = {}
    for file in files:
        index = file.header.part.index
        if index in there:
            raise _mismatch_error(
                f"{file.path}: shard {file.header.shard} is given twice, also as {there[index]}"
            )
        there[index] = file.path
    if missing := amount - len(there):
        # Do not make a list of all missing shards, because a damaged header can name a billion of them.
        absent = (str(Shard(index, amount)) for index in range(1, amount + 1) if index not in there)
        more = f" and {missing - 3:,} more" if missing > 3 else ""
        raise _mismatch_error(
            f"missing: shard {', '.join(islice(absent, 3))}{more}; a merge needs all shards"
        )
    return files


_MEANT = {
    "amount": "they are parts of {} and of {}",
    "version": "one was made by graphneg {}, the other by graphneg {}; use the same version everywhere",
    "content": "they were made from different dialogues, graphs or snapshots, or the store changed",
}
"""Messages about values of the header that must be the same in all shards, but differ between two shards."""


def _check_alike(first: ShardFile, other: ShardFile) -> None:
    """Raise `InputError` if two shards have different versions, settings or content."""
    one, two = first.header.shared_settings, other.header.shared_settings
    both = f"{first.path} and {other.path} don't belong together: "
    # Compare the versions before the settings, so that the message names different versions of graphneg if
    # these are the reason for different settings.
    for name in ("version", "kind", "amount"):
        if one[name] != two[name]:
            said = _MEANT.get(name, name + " {} and {}")
            raise _mismatch_error(both + said.format(one[name], two[name]))
    for name in sorted({*one["settings"], *two["settings"]}):
        values = (one["settings"].get(name), two["settings"].get(name))
        if values[0] != values[1]:
            raise _mismatch_error(
                f"{both}{name} is {_short_json(values[0])} in one and {_short_json(values[1])} in the other"
            )
    for name in ("choice", "content"):
        if one[name] != two[name]:
            raise _mismatch_error(both + _MEANT["content"])


def _short_json(value: Any, most: int = 60) -> str:
    """Format a value as JSON for a message, truncated to ``most`` characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}..."


def _mismatch_error(reason: str) -> InputError:
    """Return an `InputError` with exit status 2, for shards that cannot be parts of the same run."""
    error = InputError(reason)
    error.status = 2
    return error
