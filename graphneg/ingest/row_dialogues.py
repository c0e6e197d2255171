"""Combine the rows of a table into dialogues, regardless of the order of the rows.

Each row is one utterance and names its dialogue. If the rows of each dialogue are consecutive, the dialogues
are built while the file is read. In exports that are sorted by time, however, dialogues are interleaved.
Their rows are first written to disk (see `graphneg.ingest.spill`), and then read back dialogue by dialogue:

    c1,ann,Who ate the cake?                c1: Who ate the cake? / I think your brother ate it.
    c2,cid,Is the meeting at noon?     →    c2: Is the meeting at noon?
    c1,bob,I think your brother ate it.

The turns of a dialogue are sorted by turn number, or else by time. If the table has neither, they stay in the
order of the rows. Without turn numbers, a reply is always placed after the message that it answers. In
OpenAssistant's files, only the best reply to each message is kept (see `graphneg.ingest.exports`).

A dialogue is accepted or rejected as a whole. If a row cannot be read, its dialogue is rejected. If the row
does not even show to which dialogue it belongs, the dialogue of the previous row is rejected. The dialogue of
the next row is also rejected, unless its turn numbers show that no turn is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple, cast

from graphneg.errors import InputError
from graphneg.ingest.assumptions import (
    IdNotice,
    SpeakerNotice,
    counted_turn,
    distinguish_speakers,
    report_missing_time,
    textless_turn,
)
from graphneg.ingest.author_kinds import unspoken_kinds
from graphneg.ingest.columns import require_columns
from graphneg.ingest.content import ItemError
from graphneg.ingest.exports import best_path
from graphneg.ingest.fields import (
    UTTERANCE_FIELDS,
    Fields,
    Value,
    are_message_trees,
    is_content,
    is_threaded,
    listed,
)
from graphneg.ingest.internal_notes import NoteFinder
from graphneg.ingest.loader import DateOrder, Notices
from graphneg.ingest.nested import turn_paths
from graphneg.ingest.own_messages import with_own_speaker
from graphneg.ingest.reading import MOST_PARTS, Item, UnreadRow
from graphneg.ingest.spill import RowStore, Threads, is_interleaved, parent_names
from graphneg.ingest.times import Dates
from graphneg.ingest.values import id_text, unwrap_extended_json, utterance_fields
from graphneg.ingest.withdrawn import withdrawal_reason
from graphneg.model import Rejected

Entries = Iterator[Item | Rejected]


_SAMPLE = 1_000
"""Number of rows at the beginning of a table in which a row without a dialogue must occur, if only the first
row of each dialogue names it."""
_TURN_ID = re.compile(r"(?:(?=.*[^\W\d_]).*[^0-9.])?([0-9]{1,9})")
"""Matches the number of a turn, and an id with letters that ends with it."""
_NO_PARENT = ("0", "-1")
"""Ids that forums write for the message that the first message of a dialogue answers."""


class DialogueRow(NamedTuple):
    """A row of a dialogue, with its cells, or with the reason why it cannot be read.

    Attributes:
        dialogue: The normalized id of the dialogue.
        written: The id of the dialogue as it is spelled in the row.
        split: The split; empty if the row names none.
        place: The position of the row in the input, such as ``FILE:LINE``.
        cells: The cells, keyed by column; None if the row cannot be read.
        fault: Why the row cannot be read; empty for a valid row.
    """

    dialogue: str
    written: str
    split: str
    place: str
    cells: Value | None
    fault: str = ""

    @property
    def key(self) -> str:
        """A string that identifies the dialogue of the row: the split and the dialogue id."""
        return f"{self.split}\0{self.dialogue}"


class _CircleError(ItemError):
    """Signal that a message cannot be assigned to a dialogue, because the replies form a cycle.

    Any other unreadable row makes the dialogues before and after it invalid, because the row may belong to
    either of them. A message in a cycle belongs to no dialogue, so it makes no dialogue invalid.
    """


class RowReader:
    """A reader that combines the rows of one file or Python object into dialogues.

    Args:
        first: The first row. Its keys show which columns contain the dialogue, the turn and the split.
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        notices: Notices to the user, which report how columns were interpreted and what was assumed.
        file: The name of the file, for notices.
        date_order: What comes first in dates such as ``03/04/2024``, ``day`` or ``month``; None to derive it
            from the dates.
    """

    def __init__(
        self,
        first: Item,
        fields: Fields,
        notices: Notices,
        file: str,
        date_order: DateOrder | None = None,
    ) -> None:
        keys = tuple(first.value) if isinstance(first.value, dict) else ("text",)
        self._fields, self._notices, self._file = fields, notices, file
        self._known = fields.of(keys)
        own = {field: self._known[field] for field in UTTERANCE_FIELDS if field in self._known}
        if "dialogue" in own or set(keys) - set(own.values()):
            try:
                require_columns(first.place, keys, fields, [cast("Value", first.value)])
            except InputError as error:
                # If an entry has a text and a list of turns, suggest the list to the user:
                # {"text": "Hi. Hello.", "segments": [{"speaker": "A", "text": "Hi."}, ...]}
                if paths := turn_paths(cast("Value", first.value)):
                    hint = f"if a list contains the turns, name it with --map turns={paths[0]}"
                    raise InputError(f"{error}; {hint}") from error
                raise
        self._is_threaded = is_threaded(self._known, fields)
        self._are_trees = are_message_trees(self._known)
        self._date_order: DateOrder | None = date_order
        self._first = cast("Value", first.value) if isinstance(first.value, dict) else {}
        self._own = own
        self._number = 0
        self._speakers, self._ids = SpeakerNotice(file, fields, notices), IdNotice(file, notices)

    def dialogues(
        self, read: Callable[[], Entries], entries: Entries, unread_before: Rejected | None = None
    ) -> Entries:
        """Read the rows and combine them into dialogues.

        Args:
            read: Function that reads all entries of the file again, without progress display.
            entries: The entries of the file, starting with the first row.
            unread_before: The last rejected entry before the first row; None if there is none.

        Yields:
            The dialogues in graphneg's own JSON format, not yet validated, and a `Rejected` for each row or
            dialogue that is rejected.
        """
        if (by := self._known.get("dialogue")) is not None and _are_merged(read(), by):
            read, entries = partial(_filled, read, by), _filled(lambda given=entries: given, by)
            self._notices.say(
                f"{self._file}: an empty {by!r} means the dialogue of the row above, as in merged cells"
            )
        self._dates = Dates(lambda: self._times(read()), self._file, self._notices, self._date_order)
        self._notes = NoteFinder(self._fields, self._notices, lambda: _cells(read()))
        threads = self._threads(read()) if self._is_threaded else None
        are_groups = threads is not None and threads.refer_to_dialogues()
        if are_groups:
            self._is_threaded, threads = False, None
        elif threads is not None:
            became = "that begins a dialogue, because the message that it answers is missing"
            self._notices.count("message", became, threads.missing())
        self._report_columns()
        self._lost_rows = unread_before is not None
        self._has_turn_zero = cache(lambda: self._any_turn_zero(read()))
        if are_groups:
            # In a help desk, the parent of each comment may be a ticket that is not in the file. Comments
            # with the same parent then form a dialogue.
            key = self._known["reply_to"]
            self._known = {**self._known, "dialogue": key}
            self._notices.say(
                f"{self._file}: {key!r} never names a row of the file, so rows with the same {key!r} form "
                "a dialogue"
            )
        if threads is None and not is_interleaved(self._keys(read())):
            yield from self._grouped(self._parts(entries, None, unread_before))
        else:
            yield from self._scattered(self._parts(entries, threads, unread_before))
        self._speakers.report()

    def _report_columns(self) -> None:
        """Tell the user which column was read as which field, and which unused columns look like times."""
        # Report the column "id" only if replies refer to it, because it is not used in any other case.
        others = [
            *(["id"] if self._is_threaded else []),
            "reply_to",
            *([] if "turn" in self._own else ["time"]),
        ]
        shown = {**self._own, **{field: self._known[field] for field in others if field in self._known}}
        shown["internal"] = listed(self._notes.columns(self._first))
        if told := self._fields.renamed({field: key for field, key in shown.items() if key}):
            self._notices.say(f"{self._file}: read as {told}")
        if self._is_threaded:
            self._notices.say(
                f"{self._file}: no dialogue column, so messages that answer each other form a dialogue"
            )
        if (pair := self._fields.question_and_answer_columns(self._first)) is not None:
            other = next(key for key in pair if key != self._known.get("text"))
            self._notices.say(
                f"{self._file}: {other!r} looks like the other message of each row, which is kept as an "
                "attribute: to load both as turns, write one row for each message"
            )
        series = self._fields.numbered_turn_columns(self._first)
        if self._known.get("text") in series:
            self._notices.say(
                f"{self._file}: {series[0]!r} to {series[-1]!r} look like the turns of a dialogue: to load "
                "all of them, write one row for each turn"
            )
        report_missing_time(self._file, self._first, self._fields, self._notices)

    def _keys(self, entries: Entries) -> Iterator[str]:
        by, split = self._known.get("dialogue"), self._known.get("split")
        for entry in entries:
            if isinstance(entry, Item) and isinstance(entry.value, dict):
                cells = cast("Value", entry.value)
                written = cells.get(by) if by else entry.key
                with suppress(ItemError):
                    yield f"{_split(cells.get(split)) if split else ''}\0{id_text(written)}"

    def _times(self, entries: Entries) -> Iterator[tuple[Any, Any]]:
        by = self._known.get("dialogue")
        for entry in entries:
            if isinstance(entry, Item) and isinstance(entry.value, dict):
                cells = cast("Value", entry.value)
                yield str(cells.get(by)) if by else entry.key, self._fields.time_of(cells)

    def _any_turn_zero(self, entries: Entries) -> bool:
        """Return whether any row has the turn number 0. If so, the file numbers its turns from 0, not 1."""
        key = self._known["turn"]
        cells = (
            cast("Value", entry.value).get(key)
            for entry in entries
            if isinstance(entry, Item) and isinstance(entry.value, dict)
        )
        return any(re.fullmatch(r"0+(\.0)?", str(cell).strip()) for cell in cells)

    def _threads(self, entries: Entries) -> Threads:
        threads = Threads()
        for entry in entries:
            if isinstance(entry, Item) and isinstance(entry.value, dict):
                id, answered = _reply(cast("Value", entry.value), self._fields)
                if id is not None:
                    threads.add(id, answered)
        return threads

    def _parts(
        self, entries: Entries, threads: Threads | None, unread_before: Rejected | None
    ) -> Iterator[DialogueRow | Rejected]:
        """Yield each row with the id of its dialogue.

        The dialogues before and after an unreadable row are marked as invalid, because the row may belong to
        either of them.
        """
        last: DialogueRow | None = None
        for entry in entries:
            try:
                part = self._part(entry, threads)
            except _CircleError as reason:
                yield Rejected(entry.place, str(reason))
                continue
            except ItemError as reason:
                entry, part = Rejected(entry.place, str(reason)), None
            if isinstance(entry, Rejected):
                yield Rejected(entry.place, entry.reason)
            if part is None:
                # The unreadable row may belong to the previous or to the next dialogue. Mark both as invalid:
                # the previous dialogue here, and the next one below.
                unread_before = cast("Rejected", entry)
                self._lost_rows = True
                if last is not None:
                    yield last._replace(cells=None, fault=f"the row at {entry.place} can't be read")
                continue
            # The row above the first row of this dialogue is unreadable, and may be a turn of this dialogue.
            # So mark the dialogue as invalid. If the turns are numbered, no mark is needed, because
            # `_in_order` checks whether a number is missing.
            if (
                unread_before is not None
                and "turn" not in self._known
                and (last is None or last.key != part.key)
            ):
                yield part._replace(cells=None, fault=f"the row at {unread_before.place} can't be read")
            last, unread_before = part, None
            yield part

    def _part(self, entry: Item | Rejected, threads: Threads | None) -> DialogueRow | None:
        if isinstance(entry, Rejected):
            by = self._known.get("dialogue", "")
            cells: Value = entry.cells if isinstance(entry, UnreadRow) else {}
            id = id_text(cells[by]) if by in cells else None
            # Do not use an id with "\ufffd", which takes the place of bytes that could not be decoded.
            if id is None or "\ufffd" in id:
                return None
            split = _split(cells.get(self._known.get("split", "")))
            return DialogueRow(
                id, str(cells[by]), split, entry.place, None, f"the row at {entry.place} can't be read"
            )
        value: Any = {"text": entry.value} if isinstance(entry.value, str) else entry.value
        if not isinstance(value, dict):
            raise ItemError("neither an object nor a text")
        cells = cast("Value", value)
        by = self._known.get("dialogue")
        written: Any = cells.get(by) if by else entry.key
        if threads is not None:
            written, answered = _reply(cells, self._fields)
            if written is None:
                raise ItemError("the message has no id")
            if (written := threads.first(written)) is None:
                raise _CircleError(f"the message answers {answered!r}, and the replies form a cycle")
        split = _split(cells.get(self._known.get("split", "")))
        cells = with_own_speaker(cells, self._fields, self._notices)
        return DialogueRow(
            id_text(written) or "", str(unwrap_extended_json(written)).strip(), split, entry.place, cells
        )

    def _grouped(self, parts: Iterable[DialogueRow | Rejected]) -> Entries:
        """Yield one dialogue per run of consecutive rows with the same id."""
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

    def _scattered(self, parts: Iterable[DialogueRow | Rejected]) -> Entries:
        """Yield one dialogue per id, from all rows with this id, wherever they are."""
        store = RowStore()
        for part in parts:
            if isinstance(part, Rejected):
                yield part
            else:
                store.add(part.key, tuple(part))
        for _, rows in store.groups():
            group: _Group | None = None
            for row in rows:
                part = DialogueRow(*row)
                group = group or _Group(part)
                group.add(part)
            if group is not None:
                yield from self._dialogue(group)

    def _dialogue(self, group: _Group) -> Entries:
        first = group.rows[0] if group.rows else None
        if first is None:
            # All rows of this dialogue are unreadable. A `Rejected` has already been yielded for each of
            # them, so do not reject the dialogue as well.
            return
        try:
            if group.fault:
                raise ItemError(group.fault)
            yield self._made(group.rows)
        except ItemError as reason:
            yield Rejected(first.place, f"dialogue {first.written[:60]!r}: {reason}")
        self._number += 1

    def _made(self, rows: list[DialogueRow]) -> Item:
        first = rows[0]
        if "dialogue" in self._known and not first.dialogue:
            raise ItemError(f"the column {self._known['dialogue']!r} is empty")
        for row in rows:
            self._ids.count(row.written, first.dialogue)
            if row.split != first.split:
                raise ItemError(f"the row at {row.place} has a different split")
        rows = self._once(rows)
        used = {key for row in rows for field, key in self._of(row).items() if field in UTTERANCE_FIELDS}
        turns: list[dict[str, Any]] = []
        ordered = self._in_order(rows)
        kept = set(map(id, ordered))
        before = (row for row in rows if id(row) in kept)
        if any(one is not after for one, after in zip(before, ordered, strict=True)):
            self._notices.count("dialogue", f"whose rows were put in the order of {self._order_column(rows)}")
        unspoken = unspoken_kinds([cast("Value", row.cells) for row in ordered], self._fields)
        for row, silent in zip(ordered, unspoken, strict=True):
            cells = cast("Value", row.cells)
            key = self._of(row).get("text")
            # Leave out an object in the column of the text: Crisp writes events as {"type": "event",
            # "content": {"namespace": "state:resolved"}}. If the text is under another key than in the first
            # row, an object may contain the text: {"message": {"content": "Hi."}}
            is_object = key is not None and key == self._known.get("text") and not is_content(cells[key])
            if "text" in self._known and (key is None or is_object):
                turns.append(textless_turn(cells, self._notices))
                continue
            if kind := withdrawal_reason(cells, self._fields):
                turns.append(counted_turn(kind, self._notices))
                continue
            self._speakers.count(cells, self._notes.columns(cells))
            others = {key: cell for key, cell in cells.items() if key not in used and cell not in (None, "")}
            note = self._notes.marks_of(cells, silent)
            turns.append(others | utterance_fields(cells, self._of(row)) | note)
        distinguish_speakers(
            turns, [cast("Value", row.cells) for row in ordered], self._fields, self._notices
        )
        value = {"id": first.dialogue or str(self._number), "turns": turns}
        return Item(
            first.place, self._number, first.dialogue, value | ({"split": first.split} if first.split else {})
        )

    def _once(self, rows: list[DialogueRow]) -> list[DialogueRow]:
        """Drop rows that repeat the message of an earlier row."""
        # A message can occur in several rows if two exports overlap, or if the table has a row for each
        # annotator of the message.
        first: dict[str, Value] = {}
        kept: list[DialogueRow] = []
        annotated = 0
        for row in rows:
            cells = cast("Value", row.cells)
            id, _ = _reply(cells, self._fields)
            if id is not None and (known := first.setdefault(id, cells)) != cells:
                # If two rows have the same id but different messages, the id identifies a person and not a
                # message. Then keep all rows.
                if self._message(known) != self._message(cells):
                    return rows
                annotated += 1
            if id is None or first[id] is cells:
                kept.append(row)
        # If each speaker has a single id, the id may identify the speaker and not the message. Then keep all
        # rows: "7,Ann,Yes. / 7,Ann,Yes. / 8,Bo,Yes."
        if annotated and len(first) <= len({self._message(cells)[0] for cells in first.values()}):
            return rows
        same = len(rows) - len(kept) - annotated
        self._notices.count("row", "left out, as another row has the same id and content", same)
        self._notices.count("row", "left out, as another row has the same id, speaker and text", annotated)
        return kept

    def _message(self, cells: Value) -> tuple[str, str, str]:
        """Return the speaker, the text and the time of a row."""
        known = self._fields.of(cells)
        speaker, text = (str(cells.get(known.get(field, ""))) for field in ("speaker", "text"))
        return speaker, text, str(self._fields.time_of(cells))

    def _of(self, row: DialogueRow) -> Mapping[str, str]:
        return self._fields.of(cast("Value", row.cells))

    def _order_column(self, rows: list[DialogueRow]) -> str:
        """Return the names of the columns that decide the order of the turns, to report them to the user."""
        fields = ["turn"] if "turn" in self._known else ["time", "reply_to"]
        known = {**self._of(rows[0]), **self._known}
        return " and ".join(repr(known[field]) for field in fields if field in known)

    def _in_order(self, rows: list[DialogueRow]) -> list[DialogueRow]:
        if (key := self._known.get("turn")) is not None:
            # If the file has unreadable rows, one of them may be the first turn of this dialogue. If other
            # dialogues begin with turn 0 and this one with turn 1, its turn 0 may be lost, so reject the
            # dialogue.
            starts = (0,) if self._lost_rows and self._has_turn_zero() else (0, 1)
            return _by_number(rows, key, starts)
        if self._are_trees:
            return self._best_path(rows)
        self._report_ids(rows)
        return self._replies_later(self._by_time(rows))

    def _report_ids(self, rows: list[DialogueRow]) -> None:
        """Report a dialogue whose message ids are not in order, such as "m-2" in the row before "m-1"."""
        key = self._of(rows[0]).get("id")
        if key is None or "time" in self._known or "reply_to" in self._known:
            return
        found = [_TURN_ID.fullmatch(str(cast("Value", row.cells).get(key)).strip()) for row in rows]
        numbers = [int(one[1]) for one in found if one is not None]
        ordered = sorted(numbers)
        if len(numbers) == len(rows) and numbers != ordered and ordered[0] in (0, 1):
            is_whole = ordered == list(range(ordered[0], ordered[0] + len(ordered)))
            became = f"whose {key!r} counts in another order than its rows: --map turn={key} sorts them"
            self._notices.count("dialogue", became, is_whole)

    def _by_time(self, rows: list[DialogueRow]) -> list[DialogueRow]:
        """Return the rows sorted by time if all of them have a time, else in their old order."""
        order = self._dates.order_of([self._fields.time_of(cast("Value", row.cells)) for row in rows])
        return rows if order is None else [rows[at] for at in order]

    def _best_path(self, rows: list[DialogueRow]) -> list[DialogueRow]:
        """Return one path through a tree of messages: the first message, the best reply to it, and so on."""
        names = [_reply(cast("Value", row.cells), self._fields) for row in rows]
        firsts = [at for at, (_, answered) in enumerate(names) if answered is None]
        if len(firsts) != 1:
            raise ItemError(f"{len(firsts)} of the messages answer no other message, instead of one")
        ids = {id for id, _ in names if id is not None}
        if len(ids) < len(rows):
            raise ItemError("two of the messages have the same id, or one has none")
        replies: dict[str, list[int]] = {}
        for at, (_, answered) in enumerate(names):
            replies.setdefault(answered or "", []).append(at)
        # This loop ends even if some replies form a cycle. It starts at the message that answers no other
        # message, and each message answers at most one message, so the loop never reaches a cycle.
        whole = [*firsts]
        for at in whole:
            whole.extend(replies.get(names[at][0] or "", ()))
        if all(answered in ids for _, answered in names if answered) and len(whole) < len(rows):
            raise ItemError("the replies form a cycle")
        missing = "left out, as a message above it is missing"
        self._notices.count("message", missing, len(rows) - len(whole))
        path = best_path(
            whole,
            lambda at: replies.get(names[at][0] or "", ()),
            lambda at: cast("Value", rows[at].cells),
            self._notices,
        )
        return [rows[at] for at in path]

    def _replies_later(self, rows: list[DialogueRow]) -> list[DialogueRow]:
        """Move each reply behind the row that it answers. Do not change the order of all other rows."""
        replies = [_reply(cast("Value", row.cells), self._fields) for row in rows]
        if not any(answered for _, answered in replies):
            return rows
        places: dict[str, int] = {}
        for at, (id, _) in enumerate(replies):
            if id is not None and places.setdefault(id, at) != at:
                raise ItemError(
                    f"two rows have the id {id[:40]!r}: {rows[places[id]].place}, {rows[at].place}"
                )
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
            # On Reddit, a top-level comment answers the post (``link_id``), which is not among the comments.
            # Do not count these answers as replies to missing messages.
            post = set(parent_names(rows[0].dialogue))
            gone = [
                answered for (_, answered), at in zip(replies, above, strict=True) if at is None and answered
            ]
            missing = sum(
                post.isdisjoint(parent_names(answered)) and answered not in _NO_PARENT for answered in gone
            )
            self._notices.count("turn", "kept although the message that it answers is missing", missing)
        if any(len(some) > 1 for some in answers.values()):
            self._notices.count(
                "dialogue", "with several replies to one message, kept as a single sequence of turns"
            )
        order: list[int] = []
        placed: set[int] = set()
        for at, parent in enumerate(above):
            if parent is not None and parent not in placed:
                # A reply above the message that it answers is skipped here. It is placed below, directly
                # after the message.
                continue
            pending = [at]
            while pending:
                this = pending.pop(0)
                order.append(this)
                placed.add(this)
                # Answers above this row in the file were skipped. Place them directly after this row. The
                # outer loop reaches the answers below this row.
                pending.extend(answer for answer in answers.get(this, ()) if answer < at)
        # Rows whose replies form a cycle have not been placed, because each of them waits for another one.
        if len(order) < len(rows):
            raise ItemError("the replies form a cycle")
        return [rows[at] for at in order]


@dataclass(slots=True)
class _Group:
    """The rows of a dialogue, and the reason why the dialogue must be rejected (empty if it is accepted)."""

    first: DialogueRow
    rows: list[DialogueRow] = field(default_factory=list[DialogueRow])
    fault: str = ""

    def add(self, row: DialogueRow) -> None:
        """Add a row to the dialogue. If the row could not be read, the dialogue is rejected later."""
        if row.fault:
            self.fault = self.fault or row.fault
        elif len(self.rows) == MOST_PARTS:
            self.fault = self.fault or f"more than {MOST_PARTS:,} rows"
        else:
            self.rows.append(row)


def _cells(entries: Entries) -> Iterator[Value]:
    """Yield each readable row as a mapping of its cells, keyed by column. Skip rejected rows."""
    for entry in entries:
        if isinstance(entry, Item) and isinstance(entry.value, dict):
            yield cast("Value", entry.value)


def _are_merged(entries: Entries, by: str) -> bool:
    """Return whether only the first row of a dialogue names the dialogue, as in a sheet with merged cells."""
    ids, blank, number = set[str](), 0, 0
    for number, cells in enumerate(_cells(entries)):
        id = _split(cells.get(by))
        # In a sheet with merged cells, each dialogue id occurs once. If an id occurs twice, every row
        # contains its id.
        if id in ids or (not id and not ids) or (number == _SAMPLE and not blank):
            return False
        ids.update([id] if id else [])
        blank += not id
    return blank >= len(ids) > 0


def _filled(read: Callable[[], Entries], by: str) -> Entries:
    """Yield the rows. A row that names no dialogue gets the dialogue of the row above it."""
    last: Any = None
    for entry in read():
        if isinstance(entry, Item) and isinstance(entry.value, dict):
            cells = cast("Value", entry.value)
            last = cells.get(by) if _split(cells.get(by)) else last
            entry = entry._replace(value={**cells, by: last})
        yield entry


def _split(cell: Any) -> str:
    return str(cell or "").strip()


def _reply(cells: Value, fields: Fields) -> tuple[str | None, str | None]:
    """Return the id of a row and the id of the row that it answers; None for a missing or invalid id."""
    known = fields.of(cells)
    found: list[str | None] = []
    for field_ in ("id", "reply_to"):
        try:
            found.append(id_text(cells[known[field_]]) if field_ in known else None)
        except ItemError:
            found.append(None)
    id, answered = found
    # A message that refers to itself answers nothing, so it begins a thread.
    return id, None if answered == id else answered


def _by_number(rows: list[DialogueRow], key: str, starts: Collection[int]) -> list[DialogueRow]:
    """Return the rows sorted by turn number.

    Args:
        rows: The rows of a dialogue.
        key: The column that contains the turn number.
        starts: The numbers that the first turn may have; 0 must be one of them.

    Returns:
        The rows in the order of their turn numbers.

    Raises:
        ItemError: The numbers are not consecutive, or do not start at one of ``starts``.
    """
    numbered = [(_turn_number(cast("Value", row.cells).get(key), row), row) for row in rows]
    numbered.sort(key=lambda one: one[0])
    for expected, (number, row) in enumerate(numbered, numbered[0][0] if numbered[0][0] in starts else 0):
        if number != expected:
            cell = str(cast("Value", row.cells).get(key))[:20]
            raise ItemError(f"expected turn {expected} but found {cell!r} at {row.place}")
    return [row for _, row in numbered]


def _turn_number(cell: Any, row: DialogueRow) -> int:
    """Convert a cell into a turn number. The cell may be a number or a string of digits.

    Args:
        cell: The cell in the column of the turn number.
        row: The row of the cell, for the error message.

    Returns:
        The turn number.

    Raises:
        ItemError: The cell is not a whole number.
    """
    # The cell may be an id that ends with the turn number: in "call-7_12", the number is 12.
    text = str(cell).strip().removesuffix(".0")
    if not (found := _TURN_ID.fullmatch(text)):
        raise ItemError(
            f"turn {str(cell)[:20]!r} at {row.place} is not a number; "
            "use --map turn= to order by time or by the rows"
        )
    return int(found[1])
