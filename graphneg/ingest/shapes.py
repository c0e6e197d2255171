"""Convert entries of any known shape into graphneg's own JSON format for dialogues.

An entry is either a dialogue (an object that contains turns, or a list of turns) or a single utterance (a row
of a table). `graphneg.ingest.fields` finds out which key contains which field. The resulting dialogues have
the keys that ``loaders/dialogue.schema.json`` describes. They are validated later.

>>> item = Item("chat.json:1", 0, "", {"id": 7, "messages": [{"role": "user", "content": "Hi."}]})
>>> [dialogue] = dialogue_values(lambda _: iter([item]), NoProgress(), Fields({}), Notices())
>>> dialogue.value
{'id': '7', 'turns': [{'text': 'Hi.', 'speaker': 'user'}]}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

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
from graphneg.ingest.content import ItemError
from graphneg.ingest.exports import as_dialogue, is_export
from graphneg.ingest.fields import (
    NAMES,
    PAIR_HINT,
    Fields,
    Value,
    columns_of,
    has_turns,
    is_content,
    is_threaded,
    is_utterance,
    listed,
    plain_names,
)
from graphneg.ingest.first_posts import with_first_post
from graphneg.ingest.internal_notes import NoteFinder
from graphneg.ingest.listed_speakers import with_listed_speakers
from graphneg.ingest.loader import DateOrder, Notices
from graphneg.ingest.nested import text_path, turn_paths
from graphneg.ingest.own_messages import with_own_speaker
from graphneg.ingest.reading import Item, Member, UnreadRow, split_of
from graphneg.ingest.row_dialogues import RowReader
from graphneg.ingest.spill import RowStore
from graphneg.ingest.times import Dates, possible_orders
from graphneg.ingest.values import id_text, unwrap_extended_json, utterance_fields
from graphneg.ingest.withdrawn import withdrawal_reason
from graphneg.model import Rejected
from graphneg.progress import NoProgress, Progress

Entries = Iterator[Item | Rejected]
Read = Callable[[Progress], Entries]

_SAMPLE = 50
"""Maximum number of entries at the beginning of a file that are examined to detect a table without column
names."""
_WORD = re.compile(r"\w(?:[\w.-]*\w)?")
_CONTAINERS = {"data", "dialogues", "dialogs", "conversations", "chats", "examples", "items", "rows"}
"""Keys under which a document stores the list of all its dialogues. They are not names of dialogues."""


def dialogue_values(
    read: Read,
    progress: Progress,
    fields: Fields,
    notices: Notices,
    *,
    once: bool = False,
    date_order: DateOrder | None = None,
) -> Entries:
    """Return the dialogues from one file or Python object, in graphneg's own JSON format.

    The first entry that has turns or a text decides whether all entries are read as dialogues or as single
    utterances.

    Args:
        read: Function that reads the entries from the beginning.
        progress: Progress display, advanced while entries are read.
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        notices: Notices to the user, which report how keys were interpreted and what was assumed.
        once: Whether the entries can be read only once. If a second pass is needed, they are stored on disk.
        date_order: What comes first in dates such as ``03/04/2024``, ``day`` or ``month``; None to derive it
            from the dates.

    Yields:
        The dialogues, and a `Rejected` for each entry that cannot be read.
    """
    remaining = read(progress)
    lost: Rejected | None = None
    for entry in remaining:
        if isinstance(entry, Rejected):
            # Remember the last unreadable row before the first readable row. The two rows may belong to the
            # same dialogue, which then lacks a turn and must be rejected.
            lost = entry
            yield Rejected(entry.place, entry.reason)
            continue
        if reason := _no_entry(entry.value, fields):
            refused = Rejected(entry.place, f"item {entry.key or entry.number}: {reason}")
            # Remember an invalid row, because it may belong to the same dialogue as the next row. This
            # dialogue then lacks a turn. A key of a JSON document, such as "version", is not a row.
            lost = lost if isinstance(entry, Member) else refused
            yield refused
            continue
        file = entry.place.rpartition(":")[0] or entry.place
        again = partial(read, NoProgress())
        entries: Entries = chain((entry,), remaining)
        are_rows = is_utterance(entry.value, fields)
        # Some entries can only be interpreted after all entries were read once. The rows of a dialogue may be
        # in any order. A dialogue without an id gets another name if later dialogues have ids. "03/04" may be
        # in March or in April. A column "type" marks internal notes only if one of its values does.
        has_dates = any(map(possible_orders, _times_of(entry, fields)))
        has_kinds = any(map(fields.internal_note_keys, _messages(entry, fields)))
        if once and (are_rows or has_dates or has_kinds or not _has_id(entry, fields)):
            again = _kept(entries)
            entries = again()
            once = False
        if are_rows:
            fields = _without_empty_columns(entry, again, fields, once=once)
            if not once and _are_named_by_keys(entry, again, fields):
                notices.say(f"{file}: the keys of the lists are the names of the dialogues")
                fields = fields.with_named("dialogue", "")
            reader = RowReader(entry, fields, notices, file, date_order)
            yield from reader.dialogues(again, entries, lost)
            return

        # All dates of the file are read in advance, to derive the order of day and month from them. Pass no
        # dates if the entries can be read only once.
        times = tuple if once else partial(_all_times, again, fields)
        dates = Dates(times, file, notices, date_order)
        names = _Names(fields, again)
        messages = tuple if once else partial(_all_messages, again, fields)
        notes = NoteFinder(fields, notices, messages)
        yield from _ObjectReader(fields, notices, file, names, dates, notes).dialogues(entries)
        return


_REQUIRED = ("dialogue", "turn", "text", "time")
"""Fields for which a column that is empty in all rows is not used."""


def _without_empty_columns(
    first: Item, again: Callable[[], Entries], fields: Fields, *, once: bool
) -> Fields:
    """Return a look-up that ignores columns that are empty in all rows, so that other columns are used.

    For example, ``chatId`` is null in all messages of a channel of Microsoft Teams. Another column then
    contains the id of the dialogue.
    """
    value = first.value
    while isinstance(value, dict) and not once:
        known = fields.of(cast("Value", value))
        keys = {known[field] for field in _REQUIRED if field in known and field not in fields.named_by_user}
        blank = {key for key in keys if _is_blank(value[key])}
        for entry in again() if blank else ():
            if isinstance(entry, Item) and isinstance(entry.value, dict):
                blank -= {key for key in blank if not _is_blank(cast("Value", entry.value).get(key))}
            if not blank:
                break
        if not blank:
            break
        fields = fields.without(blank)
    return fields


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _are_named_by_keys(first: Item, again: Callable[[], Entries], fields: Fields) -> bool:
    """Return whether each dialogue is a list under its name: ``{"Ann": [...], "Bo": [...]}`` (Snapchat)."""
    # In {"0": {...}, "1": {...}}, which pandas writes with ``orient="index"``, the keys are numbers
    # of rows, and not names of dialogues.
    if not first.key or isinstance(first, Member) or not isinstance(first.value, dict):
        return False
    known = fields.of(cast("Value", first.value))
    if "dialogue" in known or "dialogue" in fields.named_by_user or is_threaded(known, fields):
        return False
    keys = {entry.key for entry in again() if isinstance(entry, Item)}
    are_names = all(key.casefold() not in _CONTAINERS and split_of(Path(key)) != key.lower() for key in keys)
    return len(keys) > 1 and are_names


def _no_entry(value: Any, fields: Fields) -> str:
    """Return why an object cannot be read as a dialogue or utterance; an empty string for any other value."""
    is_other = not isinstance(value, dict) or is_utterance(value, fields) or has_turns(value, fields)
    return "" if is_other else _no_turns(cast("Value", value), fields)


_PAGES = {
    "safeHtmlItem": "the activities of a Google account do not say which prompts belong to one conversation: "
    "write the messages of each conversation as a list under 'messages'",
    "kind": "a page of Reddit nests comments: write one row for each comment, with the columns link_id, "
    "parent_id, id, author, body and created_utc, as dumps of Reddit have them",
}
"""Keys of pages of Google and Reddit, whose messages cannot be read, with what to do instead."""


def _no_turns(value: Value, fields: Fields) -> str:
    wanted = fields.named_by_user.get("turns") or f"{listed(NAMES['turns'][:10])}, ..."
    is_listing = value.get("kind") == "Listing"
    if page := _PAGES["kind"] if is_listing else _PAGES["safeHtmlItem"] if "safeHtmlItem" in value else "":
        return f"the object has no turns; {page}"
    pair = fields.question_and_answer_columns(value)
    if pair is not None and all(isinstance(value[key], str) for key in pair):
        return f"the object has no turns; {PAIR_HINT.format(*pair)}"
    said = f"the object has no turns ({wanted}); its keys are {listed(map(repr, list(value)[:12]))}"
    found = fields.of(value).get("text")
    lists = turn_paths(value) or [key for key, one in value.items() if _are_objects(one)]
    if (found is not None and isinstance(value[found], dict)) or not lists:
        if path := text_path(value):
            return f"{said}; if it is a message, name its text with --map text={path}"
    else:
        shown = " or ".join(f"--map turns={path}" for path in lists[:3])
        return f"{said}; if a list contains the turns, name it with {shown}"
    lines = [key for key, one in value.items() if isinstance(one, str) and one.strip().count("\n")]
    if lines:
        return f"{said}; if a text contains a whole transcript, name it with --map text={lines[0]}"
    return said


def _are_objects(value: Any) -> bool:
    """Return whether a value is a list of objects, which may be the turns of a dialogue."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _kept(entries: Entries) -> Callable[[], Entries]:
    """Write entries to disk, and return a function that reads them any number of times."""
    store = RowStore()
    for entry in entries:
        cells = dict(entry.cells) if isinstance(entry, UnreadRow) else {}
        store.add("", (entry.place, entry.reason, cells) if isinstance(entry, Rejected) else tuple(entry))

    def read() -> Entries:
        for _, rows in store.groups():
            for row in rows:
                yield UnreadRow(*row) if len(row) == len(("place", "reason", "cells")) else Item(*row)

    return read


def _all_times(read: Callable[[], Entries], fields: Fields) -> Iterator[tuple[Any, Any]]:
    for entry in read():
        yield from ((entry.place, time) for time in _times_of(entry, fields))


def _all_messages(read: Callable[[], Entries], fields: Fields) -> Iterator[Value]:
    for entry in read():
        yield from _messages(entry, fields)


def _messages(entry: Item | Rejected, fields: Fields) -> Iterator[Value]:
    """Yield the turns of a dialogue that are JSON objects."""
    value = entry.value if isinstance(entry, Item) else None
    value = {"turns": cast("Any", value)} if isinstance(value, list) else value
    if not isinstance(value, dict) or not has_turns(value, fields):
        return
    with suppress(ItemError):
        given = _unfolded(cast("Value", value), fields, Notices())
        name = fields.turns_of(given)
        for turn in _turn_list(given[name]) if name is not None else ():
            if isinstance(turn, dict):
                yield cast("Value", turn)


def _times_of(entry: Item | Rejected, fields: Fields) -> Iterator[Any]:
    """Yield the times of a dialogue's turns, as written; none for graphneg's own format."""
    value = entry.value if isinstance(entry, Item) else None
    if not isinstance(value, dict) or not has_turns(value, fields):
        return
    with suppress(ItemError):
        given = _unfolded(cast("Value", value), fields, Notices())
        name = fields.turns_of(given)
        for turn in _turn_list(given[name]) if name not in (None, "turns") else ():
            if isinstance(turn, dict):
                yield fields.time_of(cast("Value", turn))


def _unfolded(value: Value, fields: Fields, notices: Notices) -> Value:
    """Return a dialogue as an object that contains a list of turns, whatever program exported it."""
    if "turns" not in fields.named_by_user and is_export(value):
        return as_dialogue(value, notices)
    return with_listed_speakers(with_first_post(value, fields, notices), fields)


def _turn_list(value: Any) -> list[Any]:
    """Return the turns of a dialogue, stored as a list or by column; an empty list for any other value."""
    # An object of lists stores the turns by column: {"text": [...], "speaker": [...]}.
    if columns := columns_of(value):
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return cast("list[Any]", value) if isinstance(value, list) else []


class _ObjectReader:
    """A reader for entries that are whole dialogues: objects that contain turns, or lists of turns.

    Args:
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        notices: Notices to the user, which report how keys were interpreted and what was assumed.
        file: The name of the file, for notices.
        names: Generator of names for dialogues without ids.
        dates: Object that sorts turns by time, and knows the order of day and month in the file.
        notes: Object that finds the internal notes among the turns.
    """

    def __init__(
        self,
        fields: Fields,
        notices: Notices,
        file: str,
        names: _Names,
        dates: Dates,
        notes: NoteFinder,
    ) -> None:
        self._fields, self._notices, self._file = fields, notices, file
        self._names, self._dates, self._notes = names, dates, notes
        self._speakers, self._ids = SpeakerNotice(file, fields, notices), IdNotice(file, notices)

    def dialogues(self, entries: Iterable[Item | Rejected]) -> Entries:
        """Yield the dialogues, and a `Rejected` for each entry that cannot be converted.

        Args:
            entries: The entries of the file.

        Yields:
            The dialogues in graphneg's own JSON format, and the rejected entries.
        """
        for number, entry in enumerate(_require_named(entries, self._file)):
            if isinstance(entry, Rejected):
                yield Rejected(entry.place, entry.reason)
                continue
            try:
                value, told = self._dialogue(entry)
            except ItemError as reason:
                yield Rejected(entry.place, f"item {entry.key or entry.number}: {reason}")
                continue
            if not number and told:
                self._notices.say(f"{self._file}: read as {told}")
            if not number:
                self._report_time(entry)
            yield entry._replace(value=value)
        self._speakers.report()

    def _report_time(self, entry: Item) -> None:
        """If no known key contains the time of a turn, report the keys whose values look like a time."""
        is_own = isinstance(entry.value, dict) and self._fields.turns_of(entry.value) == "turns"
        first = next(filter(self._has_text, _messages(entry, self._fields)), None)
        if first is not None and not is_own:
            report_missing_time(self._file, first, self._fields, self._notices)

    def _dialogue(self, entry: Item) -> tuple[Any, str]:
        """Convert an object or a list of turns into a dialogue. Also return how its keys were interpreted."""
        fields, names = self._fields, self._names
        # A dialogue may be a plain list of turns, without other keys such as an id.
        value = {"turns": entry.value} if isinstance(entry.value, list) else entry.value
        if not isinstance(value, dict):
            return value, ""
        given = _unfolded(cast("Value", value), fields, self._notices)
        turns, name, split = fields.turns_of(given), _id_key(given, fields), fields.of(given).get("split")
        if turns is None:
            raise ItemError(_no_turns(given, fields))
        # If the user named the key that contains the ids of dialogues, reject an entry without this key.
        if name is not None and name not in given:
            raise ItemError(f"the object has no {name!r}; its keys are {listed(map(repr, list(given)[:12]))}")
        others = ((key, one) for key, one in given.items() if key not in (turns, name, split))
        # Skip None values: in a Parquet file, null only means that the entry does not have this key.
        result: dict[str, Any] = {key: one for key, one in others if one is not None}
        # In {"train": [...], "valid": [...]}, the key is the split of the dialogues in the list.
        is_split = entry.key != "" and split_of(Path(entry.key)) == entry.key.lower()
        if split and given[split] is not None:
            result["split"] = given[split]
        elif is_split:
            result["split"] = entry.key.lower()
        if name is not None:
            names.given()
            if (id := id_text(given[name])) is None:
                raise ItemError(f"{name} is empty")
            self._ids.count(str(unwrap_extended_json(given[name])).strip(), id)
            result["id"] = id
        else:
            result["id"] = names.of(entry, is_split=is_split)
        result["turns"], found = self._turns(given[turns], turns)
        told = {"turns": turns, **({"dialogue": name} if name and name != "id" else {}), **found}
        return result, fields.renamed(told)

    def _turns(self, value: Any, name: str) -> tuple[Any, Mapping[str, str]]:
        """Convert a list of turns into turns with graphneg's own keys, and sort them.

        Returns:
            The turns, and the original keys of fields such as the text, keyed by field.
        """
        given = [
            with_own_speaker(cast("Value", one), self._fields, self._notices)
            if isinstance(one, dict)
            else one
            for one in _turn_list(value)
        ]
        if not given:
            return value, {}
        turns: list[Any] = []
        spoken = [at for at, turn in enumerate(given) if self._has_text(turn)]
        self._require_text(given, spoken, name)
        self._count_other_keys([given[at] for at in spoken if isinstance(given[at], dict)])
        # Find the columns in the first message that says something. An earlier message may be a notice, such
        # as "Ann created the group", whose keys differ from those of all other messages.
        found: Mapping[str, str] = next(
            (self._columns(given[at], name) for at in spoken if self._says_something(given[at])), {}
        )
        messages = [cast("Value", turn) if isinstance(turn, dict) else {} for turn in given]
        for turn, silent in zip(given, unspoken_kinds(messages, self._fields), strict=True):
            if not isinstance(turn, dict):
                turns.append(turn)
                continue
            cells = cast("dict[str, Any]", turn)
            known = self._fields.of(cells)
            if spoken and not self._has_text(cells):
                turns.append(textless_turn(cells, self._notices))
                continue
            if kind := withdrawal_reason(cells, self._fields):
                turns.append(counted_turn(kind, self._notices))
                continue
            used = {known[field] for field in ("text", "speaker", "amr") if field in known}
            note = self._notes.marks_of(cells, silent)
            others = {key: cell for key, cell in cells.items() if key not in used}
            turns.append(others | utterance_fields(cells, known) | note)
            self._speakers.count(cells, self._notes.columns(cells))
        order = self._order(given, name, spoken)
        # If several people have the same name, rename all except the person who speaks first.
        objects = [at for at in order if isinstance(given[at], dict)]
        distinguish_speakers(
            [turns[at] for at in objects], [given[at] for at in objects], self._fields, self._notices
        )
        return [turns[at] for at in order], found

    def _has_text(self, turn: Any) -> bool:
        """Return whether a turn is a text, or has a key that contains its text."""
        if not isinstance(turn, dict):
            return True
        found = self._fields.of(cast("Value", turn)).get("text")
        return found is not None and is_content(turn[found])

    def _count_other_keys(self, turns: list[Value]) -> None:
        """Count the turns whose text is under a different key than in most turns of the dialogue.

        Such a turn may not be a message. In the log of a bot, it may be an event that stores a value.
        """
        keys = Counter(self._fields.of(turn)["text"] for turn in turns)
        for key, amount in keys.most_common()[1:]:
            most = keys.most_common(1)[0][0]
            self._notices.count(
                "turn",
                f"with the text in {key!r}, not in {most!r}: --map text={most} leaves them out",
                amount,
            )

    def _says_something(self, turn: Any) -> bool:
        return isinstance(turn, dict) and bool(turn[self._fields.of(cast("Value", turn))["text"]])

    def _require_text(self, turns: list[Any], spoken: Sequence[int], name: str) -> None:
        """Raise an error if no turn has a text, and a turn has keys that may contain one.

        If at least one turn has a text, no error is raised: the others may be images, tool calls or changes
        of status.

        Args:
            turns: The turns of a dialogue.
            spoken: The indices of the turns that have a text.
            name: The key that contains the turns, for the message.

        Raises:
            ItemError: No turn has a text. The message names the key that may contain it.
        """
        if spoken:
            return
        # Events without a text may come first. Find the first turn with a nested text, as in "data.content".
        paths = ((at, text_path(cast("Value", turn))) for at, turn in enumerate(turns))
        first, path = next(((at, path) for at, path in paths if path), (0, ""))
        for at, turn in enumerate(turns[first:], first):
            cells = cast("Value", turn)
            if (key := self._fields.of(cells).get("text")) is not None:
                inner = cells[key]
                what = f"an object with the keys {listed(map(repr, list(inner)[:12]))}"
                raise ItemError(
                    f"{name}[{at}].{key} is not a text, but "
                    f"{what if isinstance(inner, dict) else 'a list of objects'}: name the text with "
                    f"--map text={path or 'NAME'}"
                )
            if path:
                raise ItemError(f"{name}[{at}] lacks 'text': name the text with --map text={path}")
            # The "turns" may be whole dialogues, which contain lists of turns: [{"scene": 1, "lines": [...]}]
            if lists := turn_paths(cells):
                raise ItemError(
                    f"{name}[{at}] lacks 'text'; if it is a dialogue, name its turns with "
                    f"--map turns={lists[0]}"
                )
            if others := sorted(cells.keys() - set(self._fields.of(cells).values())):
                keys = listed(map(repr, others[:12]))
                raise ItemError(
                    f"{name}[{at}] lacks 'text'; it has {keys}: name the text with --map text=NAME"
                )

    def _columns(self, cells: Value, name: str) -> Mapping[str, str]:
        """Return which keys of a turn were recognised, for a notice to the user.

        For example, the key ``from`` contains the speaker.

        Args:
            cells: A turn, as a JSON object.
            name: The key of the list of turns.

        Returns:
            The names of the keys, keyed by the field that they contain: ``{"speaker": "from"}``. The key of
            the time is left out if the turns are not sorted by time.
        """
        known = self._fields.of(cells)
        # The turns of graphneg's own format are in order, so their times are not used.
        shown = ("speaker", "text") if name == "turns" or "turn" in known else ("speaker", "text", "time")
        notes = listed(self._notes.columns(cells))
        return {field: known[field] for field in shown if field in known} | (
            {"internal": notes} if notes else {}
        )

    def _order(self, turns: list[Any], name: str, spoken: Sequence[int]) -> Sequence[int]:
        """Return the indices of turns, sorted by turn number, or else by time, or else unsorted.

        Turns without a text are left out later. They come last if the turns are ordered by time, because
        they may lack a time.
        """
        places = range(len(turns))
        if not all(isinstance(turn, dict) for turn in turns):
            return places
        cells = cast("list[Value]", turns)
        numbers = [one.get(self._fields.of(one).get("turn", "")) for one in cells]
        if all(isinstance(number, int) for number in numbers):
            order = sorted(places, key=cast("list[int]", numbers).__getitem__)
            whole = any([numbers[at] for at in order] == [at + begin for at in places] for begin in (0, 1))
            return order if whole else places
        # graphneg's own format lists the turns in order, so do not sort them by time.
        if name == "turns" or any(number is not None for number in numbers):
            return places
        order = self._dates.order_of([self._fields.time_of(cells[at]) for at in spoken]) if spoken else None
        if order is None or order == list(range(len(spoken))):
            return places
        key = self._fields.of(cells[spoken[0]]).get("time", "time")
        self._notices.count("dialogue", f"whose turns were put in the order of {key!r}")
        return [*(spoken[at] for at in order), *(at for at in places if at not in set(spoken))]


def _require_named(entries: Iterable[Item | Rejected], file: str) -> Iterator[Item | Rejected]:
    """Yield the entries of a file, and refuse rows of a table without column names.

    Args:
        entries: The entries of the file.
        file: The name of the file, for the message.

    Yields:
        The same entries.

    Raises:
        InputError: The first entries are lists like ``[7, "Ann", "Hi."]``, as pandas writes them.
    """
    entries = iter(entries)
    first: list[Item | Rejected] = []
    for entry in entries:
        first.append(entry)
        if not (isinstance(entry, Item) and isinstance(entry.value, list)) or len(first) == _SAMPLE:
            break
    if _are_nameless_rows([entry.value for entry in first if isinstance(entry, Item)]):
        raise InputError(
            f"{file}: rows of a table without the names of its columns, as "
            "DataFrame.to_json(orient='values') writes them: write the table with orient='records'"
        )
    yield from chain(first, entries)


def _are_nameless_rows(values: list[Any]) -> bool:
    """Return whether lists such as ``[7, "Ann", "Hi."]`` are rows of a table, and not dialogues."""
    if not all(isinstance(value, list) for value in values):
        return False
    rows = cast("list[list[Any]]", values)
    cells = list(chain.from_iterable(rows))
    is_flat = not any(isinstance(cell, list | dict) for cell in cells)
    if not cells or not is_flat or len({len(row) for row in rows}) > 1:
        return False
    # A number cannot be a turn, so lists that contain numbers are the rows of a table.
    if any(isinstance(cell, int | float) for cell in cells):
        return True
    # If all cells are texts, the lists may be dialogues or the rows of a table. They count as rows if there
    # are at least three lists, and at least two columns of single words, such as ids and speakers. One of
    # these columns must contain a word twice.
    columns = [[str(cell) for cell in column] for column in zip(*rows, strict=True)]
    words = [column for column in columns if all(_WORD.fullmatch(cell) for cell in column)]
    return len(rows) > 2 and len(words) > 1 and any(len(set(column)) < len(column) for column in words)


def _id_key(value: Value, fields: Fields) -> str | None:
    """Return the key for the id of a dialogue: ``id``, or else the first known key that has a value."""
    if "dialogue" in fields.named_by_user:
        return fields.named_by_user["dialogue"] or None
    plain = plain_names(value)
    own = "id" if "id" in value else plain.get("id")
    if own is not None and value[own] is not None:
        return own
    others = (plain[name] for name in NAMES["dialogue"] if name in plain)
    return next(
        (key for key in others if isinstance(unwrap_extended_json(value[key]), str | int | float)), None
    )


def _has_id(entry: Item | Rejected, fields: Fields) -> bool:
    return (
        isinstance(entry, Item) and isinstance(entry.value, dict) and _id_key(entry.value, fields) is not None
    )


class _Names:
    """Creates unique names for the dialogues of a file that have no id.

    The name is the index of the entry if no dialogue of the file has an id. If some dialogues have ids, a
    number could also be the id of a later dialogue, so the name has a prefix: ``unnamed-3``, for example.

    Args:
        fields: Look-up from a field, such as the text, to the key or column that contains it.
        again: Function that reads the entries of the file again.
    """

    def __init__(self, fields: Fields, again: Callable[[], Entries]) -> None:
        self._fields, self._again = fields, again
        self._ids_are_given: bool | None = None
        self._keys = set[str]()

    def given(self) -> None:
        """Record that at least one dialogue of the file has an id."""
        self._ids_are_given = True

    def of(self, entry: Item, *, is_split: bool) -> str:
        """Return a name for an entry without an id.

        Args:
            entry: The entry to name.
            is_split: Whether the key of the entry is the name of a split.

        Returns:
            The key of the entry in its JSON document if the key can serve as a name. Otherwise the number of
            the entry, or ``unnamed-NUMBER`` if other dialogues of the file have ids.
        """
        if entry.key and not is_split and entry.key.casefold() not in _CONTAINERS:
            is_new = entry.key not in self._keys
            self._keys.add(entry.key)
            return entry.key if is_new else f"{entry.key}-{entry.number}"
        if self._ids_are_given is None:
            self._ids_are_given = any(_has_id(other, self._fields) for other in self._again())
        return f"unnamed-{entry.number}" if self._ids_are_given else str(entry.number)
