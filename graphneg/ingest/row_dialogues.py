"""Make dialogues of the rows of a table, in whatever order the rows stand.

Each row is one utterance and names its dialogue. Where the rows of each dialogue stand together, dialogues
are made while the file is read. Exports that are sorted by time mix dialogues; their rows go to disk first
(`graphneg.ingest.spill`) and come back dialogue by dialogue:

    c1,ann,Who ate the cake?                c1: Who ate the cake? / I think your brother ate it.
    c2,cid,Is the meeting at noon?     →    c2: Is the meeting at noon?
    c1,bob,I think your brother ate it.

A dialogue's turns are in the order of their numbers, else of their times, else of their rows; no reply comes
before the message that it answers. A dialogue is kept whole or refused whole. Where a row can't be read, the
dialogue that it names is refused; if not even that can be read, the dialogues of the rows beside it are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from graphneg.ingest.assumptions import Ids, Speakers
from graphneg.ingest.content import Refused
from graphneg.ingest.fields import OWN_ROW, Fields, Value, is_threaded, require_columns
from graphneg.ingest.loader import Notices
from graphneg.ingest.reading import MOST_PARTS, Item, UnreadRow
from graphneg.ingest.spill import RowStore, Threads, is_scattered, parent_names
from graphneg.ingest.times import moment
from graphneg.ingest.values import id_text, said_of, unwrapped
from graphneg.model import Rejected

Entries = Iterator[Item | Rejected]


class Part(NamedTuple):
    """A row of a dialogue, or the reason why one of its rows can't be read.

    ``dialogue`` is the id of the dialogue, ``written`` the id as the row has it, ``split`` the split.
    """

    dialogue: str
    written: str
    split: str
    place: str
    cells: Value | None
    fault: str = ""

    @property
    def key(self) -> str:
        """What rows of one dialogue have in common."""
        return f"{self.split}\0{self.dialogue}"


class _CircleError(Refused):
    """A message belongs to no dialogue; this tells nothing of the rows beside it."""


class RowReader:
    """Reads the rows of one source as dialogues.

    Args:
        first: The first row, whose keys tell where the dialogue, the turn and the split are.
        fields: What the caller says of the keys.
        notices: Told what the names were read as, and what is odd but accepted.
        file: The name of the source, for notices.
    """

    def __init__(self, first: Item, fields: Fields, notices: Notices, file: str) -> None:
        keys = tuple(first.value) if isinstance(first.value, dict) else ("text",)
        self._fields, self._notices, self._file = fields, notices, file
        self._known = fields.of(keys)
        own = {field: self._known[field] for field in OWN_ROW if field in self._known}
        if "dialogue" in own or set(keys) - set(own.values()):
            require_columns(first.place, keys, fields)
        self._is_threaded = is_threaded(self._known, fields)
        shown = {**own, **{field: self._known[field] for field in ("id", "reply_to") if self._is_threaded}}
        if told := fields.other_names(shown):
            notices.say(f"{file}: read as {told}")
        if self._is_threaded:
            notices.say(f"{file}: no dialogue column; messages that answer each other are one dialogue")
        self._number = 0
        self._speakers, self._ids = Speakers(file, fields, notices), Ids(file, notices)

    def dialogues(
        self, read: Callable[[], Entries], entries: Entries, lost: Rejected | None = None
    ) -> Entries:
        """Read the rows.

        Args:
            read: Reads all entries of the source again, without a report of progress.
            entries: The entries of the source from the first row on.
            lost: What was refused before the first row, if anything was.

        Yields:
            The dialogues as graphneg's own JSON has them, before they are checked, and what is refused.
        """
        threads = self._threads(read()) if self._is_threaded else None
        if threads is None and not is_scattered(self._keys(read())):
            yield from self._grouped(self._parts(entries, None, lost))
        else:
            yield from self._scattered(self._parts(entries, threads, lost))
        self._speakers.conclude()

    def _keys(self, entries: Entries) -> Iterator[str]:
        by, split = self._known.get("dialogue"), self._known.get("split")
        for entry in entries:
            if isinstance(entry, Item) and isinstance(entry.value, dict):
                cells = cast("Value", entry.value)
                written = cells.get(by) if by else entry.key
                with suppress(Refused):
                    yield f"{_split(cells.get(split)) if split else ''}\0{id_text(written)}"

    def _threads(self, entries: Entries) -> Threads:
        threads = Threads()
        for entry in entries:
            if isinstance(entry, Item) and isinstance(entry.value, dict):
                id, answered = _reply(cast("Value", entry.value), self._fields)
                if id is not None:
                    threads.add(id, answered)
        return threads

    def _parts(
        self, entries: Entries, threads: Threads | None, lost: Rejected | None
    ) -> Iterator[Part | Rejected]:
        """Give each row its dialogue; a row that can't be read spoils the dialogue that it belongs to."""
        last: Part | None = None
        for entry in entries:
            try:
                part = self._part(entry, threads)
            except _CircleError as reason:
                yield Rejected(entry.place, str(reason))
                continue
            except Refused as reason:
                entry, part = Rejected(entry.place, str(reason)), None
            if isinstance(entry, Rejected):
                yield Rejected(entry.place, entry.reason)
            if part is None:
                lost = cast("Rejected", entry)
                if last is not None:
                    yield last._replace(cells=None, fault=f"the row at {entry.place} can't be read")
                continue
            # Numbers of turns show by themselves whether the first row of a dialogue is missing.
            if lost is not None and "turn" not in self._known and (last is None or last.key != part.key):
                yield part._replace(cells=None, fault=f"the row at {lost.place} can't be read")
            last, lost = part, None
            yield part

    def _part(self, entry: Item | Rejected, threads: Threads | None) -> Part | None:
        if isinstance(entry, Rejected):
            by = self._known.get("dialogue", "")
            cells: Value = entry.cells if isinstance(entry, UnreadRow) else {}
            id = id_text(cells[by]) if by in cells else None
            if id is None or "\ufffd" in id:  # bytes of the id itself can't be read
                return None
            split = _split(cells.get(self._known.get("split", "")))
            return Part(
                id, str(cells[by]), split, entry.place, None, f"the row at {entry.place} can't be read"
            )
        value: Any = {"text": entry.value} if isinstance(entry.value, str) else entry.value
        if not isinstance(value, dict):
            raise Refused("neither an object nor a text")
        cells = cast("Value", value)
        by = self._known.get("dialogue")
        written: Any = cells.get(by) if by else entry.key
        if threads is not None:
            written, answered = _reply(cells, self._fields)
            if written is None:
                raise Refused("it has no id")
            if (written := threads.first(written)) is None:
                raise _CircleError(f"it answers {answered!r}, and replies go in a circle")
        split = _split(cells.get(self._known.get("split", "")))
        return Part(id_text(written) or "", str(unwrapped(written)).strip(), split, entry.place, cells)

    def _grouped(self, parts: Iterable[Part | Rejected]) -> Entries:
        """Make a dialogue of the rows that stand together."""
        group: _Group | None = None
        for part in parts:
            if isinstance(part, Rejected):
                yield part
                continue
            if group is not None and group.first.dialogue != part.dialogue:
                yield from self._dialogue(group)
                group = None
            group = group or _Group(part)
            group.add(part)
        if group is not None:
            yield from self._dialogue(group)

    def _scattered(self, parts: Iterable[Part | Rejected]) -> Entries:
        """Make a dialogue of all rows with one id, wherever they stand."""
        store = RowStore()
        for part in parts:
            if isinstance(part, Rejected):
                yield part
            else:
                store.add(part.key, tuple(part))
        for _, rows in store.groups():
            group: _Group | None = None
            for row in rows:
                part = Part(*row)
                group = group or _Group(part)
                group.add(part)
            if group is not None:
                yield from self._dialogue(group)

    def _dialogue(self, group: _Group) -> Entries:
        first = group.rows[0] if group.rows else None
        if first is None:
            return  # its rows were refused, each with its reason
        try:
            if group.fault:
                raise Refused(group.fault)
            yield self._made(group.rows)
        except Refused as reason:
            yield Rejected(first.place, f"dialogue {first.written[:60]!r}: {reason}")
        self._number += 1

    def _made(self, rows: list[Part]) -> Item:
        """Return the dialogue of its rows, as a line of JSON would have it; some may lack keys."""
        first = rows[0]
        if "dialogue" in self._known and not first.dialogue:
            raise Refused(f"the column {self._known['dialogue']!r} is empty")
        self._ids.see(first.written, first.dialogue)
        for row in rows:
            if row.split != first.split:
                raise Refused(f"another split at {row.place}")
            if row.written != first.written:
                raise Refused(f"its id is {first.written!r}, but {row.written!r} at {row.place}")
        used = {key for row in rows for field, key in self._of(row).items() if field in OWN_ROW}
        turns: list[dict[str, Any]] = []
        for row in self._in_order(rows):
            cells = cast("Value", row.cells)
            self._speakers.see(cells)
            others = {key: cell for key, cell in cells.items() if key not in used and cell not in (None, "")}
            turns.append(others | said_of(cells, self._of(row)))
        value = {"id": first.dialogue or str(self._number), "turns": turns}
        return Item(
            first.place, self._number, first.dialogue, value | ({"split": first.split} if first.split else {})
        )

    def _of(self, row: Part) -> Mapping[str, str]:
        return self._fields.of(cast("Value", row.cells))

    def _in_order(self, rows: list[Part]) -> list[Part]:
        """Return the rows in the order of their turns."""
        if (key := self._known.get("turn")) is not None:
            return _by_number(rows, key)
        return self._replies_later(self._by_time(rows))

    def _by_time(self, rows: list[Part]) -> list[Part]:
        """Return the rows in the order of their times, where all of them have one."""
        written = [cast("Value", row.cells).get(self._of(row).get("time", "")) for row in rows]
        if all(cell in (None, "") for cell in written):
            return rows
        times = [moment(cell) for cell in written]
        if any(time is None for time in times):
            self._notices.count("dialogue", "kept in the order of its rows, as its times are not understood")
            return rows
        seconds = cast("list[float]", times)
        if seconds[0] > seconds[-1] and seconds == sorted(seconds, reverse=True):
            rows, seconds = rows[::-1], seconds[::-1]  # newest first: so are rows of one second
        return [rows[at] for at in sorted(range(len(rows)), key=seconds.__getitem__)]

    def _replies_later(self, rows: list[Part]) -> list[Part]:
        """Return the rows so that each comes after the one that it answers; else their order stays."""
        replies = [_reply(cast("Value", row.cells), self._fields) for row in rows]
        if not any(answered for _, answered in replies):
            return rows
        places: dict[str, int] = {}
        for at, (id, _) in enumerate(replies):
            if id is not None and places.setdefault(id, at) != at:
                raise Refused(f"two rows have the id {id[:40]!r}: {rows[places[id]].place}, {rows[at].place}")
        above: list[int | None] = []
        for at, (_, answered) in enumerate(replies):
            names = parent_names(answered) if answered else ()
            found = next((places[name] for name in names if name in places), None)
            above.append(found if found != at else None)
        answers: dict[int, list[int]] = {}
        for at, parent in enumerate(above):
            if parent is not None:
                answers.setdefault(parent, []).append(at)
        if answers:
            # A comment that answers the post itself (Reddit's link_id) lacks nothing.
            post = set(parent_names(rows[0].dialogue))
            gone = [
                answered for (_, answered), at in zip(replies, above, strict=True) if at is None and answered
            ]
            missing = sum(post.isdisjoint(parent_names(answered)) for answered in gone)
            self._notices.count("turn", "kept although the message that it answers is missing", missing)
        if any(len(some) > 1 for some in answers.values()):
            self._notices.count("dialogue", "with several replies to one message: its turns are in one line")
        order: list[int] = []
        placed: set[int] = set()
        for at, parent in enumerate(above):
            if parent is not None and parent not in placed:
                continue  # it follows when its parent does
            pending = [at]
            while pending:
                this = pending.pop(0)
                order.append(this)
                placed.add(this)
                # Only answers that stood before what they answer were passed over.
                pending.extend(answer for answer in answers.get(this, ()) if answer < at)
        if len(order) < len(rows):
            raise Refused("its replies go in a circle")
        return [rows[at] for at in order]


@dataclass(slots=True)
class _Group:
    """The rows of a dialogue, and why it can't be kept, if it can't."""

    first: Part
    rows: list[Part] = field(default_factory=list[Part])
    fault: str = ""

    def add(self, part: Part) -> None:
        if part.fault:
            self.fault = self.fault or part.fault
        elif len(self.rows) == MOST_PARTS:
            self.fault = self.fault or f"more than {MOST_PARTS:,} rows"
        else:
            self.rows.append(part)


def _split(cell: Any) -> str:
    return str(cell or "").strip()


def _reply(cells: Value, fields: Fields) -> tuple[str | None, str | None]:
    """Return the id of a row and the id of the row that it answers; an id that is none counts as missing."""
    known = fields.of(cells)
    found: list[str | None] = []
    for field_ in ("id", "reply_to"):
        try:
            found.append(id_text(cells[known[field_]]) if field_ in known else None)
        except Refused:
            found.append(None)
    id, answered = found
    return id, None if answered == id else answered


def _by_number(rows: list[Part], key: str) -> list[Part]:
    """Return rows in the order of the numbers of their turns, which must be all those from 0 or 1."""
    numbered = [(_turn_number(cast("Value", row.cells).get(key), row), row) for row in rows]
    numbered.sort(key=lambda one: one[0])
    for expected, (number, row) in enumerate(numbered, 1 if numbered[0][0] == 1 else 0):
        if number != expected:
            cell = str(cast("Value", row.cells).get(key))[:20]
            raise Refused(f"turn {cell!r} at {row.place} where {expected} should follow")
    return [row for _, row in numbered]


def _turn_number(cell: Any, row: Part) -> int:
    """Return the number of a turn: an integer, or a text or number that is one."""
    text = str(cell).strip().removesuffix(".0")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise Refused(
            f"turn {str(cell)[:20]!r} at {row.place} is no number; "
            "--map turn= goes by time or the rows' order"
        )
    return int(text)
