"""Convert entries of any known shape to graphneg's own JSON format for dialogues.

An entry is either a dialogue (an object that contains turns, or a list of turns) or a single utterance (a row
of a table). `graphneg.ingest.fields` finds out which key contains which field. The result has the keys that
``loaders/dialogue.schema.json`` describes. It is validated later.

>>> item = Item("chat.json:1", 0, "", {"id": 7, "messages": [{"role": "user", "content": "Hi."}]})
>>> [dialogue] = dialogue_values(lambda _: iter([item]), NoProgress(), Fields({}), Notices())
>>> dialogue.value
{'id': '7', 'turns': [{'text': 'Hi.', 'speaker': 'user'}]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, cast

from graphneg.ingest.assumptions import IdNotice, SpeakerNotice
from graphneg.ingest.content import ItemError
from graphneg.ingest.fields import (
    NAMES,
    Fields,
    Value,
    columns_of,
    has_turns,
    is_utterance,
    listed,
    plain_names,
)
from graphneg.ingest.loader import Notices
from graphneg.ingest.reading import Item, Member, UnreadRow, split_of
from graphneg.ingest.row_dialogues import RowReader
from graphneg.ingest.spill import RowStore
from graphneg.ingest.values import id_text, unwrap_extended_json, utterance_fields
from graphneg.model import Rejected
from graphneg.progress import NoProgress, Progress

Entries = Iterator[Item | Rejected]
Read = Callable[[Progress], Entries]

_CONTAINERS = {"data", "dialogues", "dialogs", "conversations", "chats", "examples", "items", "rows"}
"""Keys under which a document stores the list of all its dialogues. They are not names of dialogues."""


def dialogue_values(
    read: Read, progress: Progress, fields: Fields, notices: Notices, *, once: bool = False
) -> Entries:
    """Return the dialogues of a source, in graphneg's own format.

    The first entry that has turns or a text decides whether the entries are dialogues or single utterances.

    Args:
        read: Function that reads the entries from the beginning.
        progress: Progress display, advanced while entries are read.
        fields: Look-up that returns the key or column of each field, such as the text.
        notices: Notices to the user, which report how keys were interpreted and what was assumed.
        once: Whether the entries can be read only once. If a second pass is needed, they are kept on disk.

    Yields:
        The dialogues, and a `Rejected` for each entry that cannot be read.
    """
    remaining = read(progress)
    lost: Rejected | None = None
    for entry in remaining:
        if isinstance(entry, Rejected):
            # An unreadable row at the start may belong to the same dialogue as the first readable row.
            lost = entry
            yield Rejected(entry.place, entry.reason)
            continue
        if reason := _no_entry(entry.value, fields):
            refused = Rejected(entry.place, f"item {entry.key or entry.number}: {reason}")
            # A row without an utterance may belong to the dialogue of the next row. A member of a document,
            # such as "meta", does not, so nothing of the next dialogue is missing.
            lost = lost if isinstance(entry, Member) else refused
            yield refused
            continue
        file = entry.place.rpartition(":")[0] or entry.place
        again = partial(read, NoProgress())
        entries: Entries = chain((entry,), remaining)
        needs_ids = not is_utterance(entry.value, fields) and not _has_id(entry, fields)
        # A second pass is needed for rows, to find out how they are ordered.
        # It is also needed for dialogues without ids, to find out whether later ones have ids.
        if once and (needs_ids or is_utterance(entry.value, fields)):
            again = _kept(entries)
            entries = again()
        if is_utterance(entry.value, fields):
            yield from RowReader(entry, fields, notices, file).dialogues(again, entries, lost)
        else:
            yield from _dialogues_of_objects(entries, fields, notices, _Names(fields, again), file)
        return


def _no_entry(value: Any, fields: Fields) -> str:
    """Return why an object is neither a dialogue nor an utterance; an empty string for any other value."""
    is_other = not isinstance(value, dict) or is_utterance(value, fields) or has_turns(value, fields)
    return "" if is_other else _no_turns(cast("Value", value), fields)


def _no_turns(value: Value, fields: Fields) -> str:
    wanted = fields.named_by_user.get("turns") or listed(NAMES["turns"])
    return f"the object has no turns ({wanted}); its keys are {listed(map(repr, list(value)[:12]))}"


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


def _dialogues_of_objects(
    entries: Iterable[Item | Rejected], fields: Fields, notices: Notices, names: _Names, file: str
) -> Entries:
    speakers, ids = SpeakerNotice(file, fields, notices), IdNotice(file, notices)
    for number, entry in enumerate(entries):
        if isinstance(entry, Rejected):
            yield Rejected(entry.place, entry.reason)
            continue
        try:
            value, told = _of_object(entry, fields, names, speakers, ids)
        except ItemError as reason:
            yield Rejected(entry.place, f"item {entry.key or entry.number}: {reason}")
            continue
        if not number and told:
            notices.say(f"{file}: read as {told}")
        yield entry._replace(value=value)
    speakers.report()


def _id_key(value: Value, fields: Fields) -> str | None:
    """Return the key that contains the id of a dialogue: ``id``, else the first known name with a value."""
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
    """Create unique names for those dialogues of a source that have no id.

    The name is the number of the entry if no dialogue of the source has an id. If some have ids, a number
    could also be the id of a later dialogue, so the name has a prefix: ``unnamed-3``, for example.

    Args:
        fields: Look-up that returns the key or column of each field, such as the text.
        again: Function that reads the entries of the source again.
    """

    def __init__(self, fields: Fields, again: Callable[[], Entries]) -> None:
        """Initialize the object; no name is taken yet."""
        self._fields, self._again = fields, again
        self._ids_are_given: bool | None = None
        self._keys = set[str]()

    def given(self) -> None:
        """Record that a dialogue has an id."""
        self._ids_are_given = True

    def of(self, entry: Item, *, is_split: bool) -> str:
        """Return a name for an entry without an id.

        Args:
            entry: The entry.
            is_split: Whether the key of the entry is the name of a split.

        Returns:
            The key of the entry in its document if it can serve as a name, else a number.
        """
        if entry.key and not is_split and entry.key.casefold() not in _CONTAINERS:
            is_new = entry.key not in self._keys
            self._keys.add(entry.key)
            return entry.key if is_new else f"{entry.key}-{entry.number}"
        if self._ids_are_given is None:
            self._ids_are_given = any(_has_id(other, self._fields) for other in self._again())
        return f"unnamed-{entry.number}" if self._ids_are_given else str(entry.number)


def _of_object(
    entry: Item, fields: Fields, names: _Names, speakers: SpeakerNotice, ids: IdNotice
) -> tuple[Any, str]:
    """Convert an object or a list of turns to a dialogue. Also return how its keys were interpreted."""
    # If the entry is only a list of turns, it has no other keys.
    value = {"turns": entry.value} if isinstance(entry.value, list) else entry.value
    if not isinstance(value, dict):
        return value, ""
    given = cast("dict[str, Any]", value)
    turns, name, split = fields.turns_of(given), _id_key(given, fields), fields.of(given).get("split")
    if turns is None:
        raise ItemError(_no_turns(given, fields))
    # The key is missing only if the user named it: all other keys were found in the entry.
    if name is not None and name not in given:
        raise ItemError(f"the object has no {name!r}; its keys are {listed(map(repr, list(given)[:12]))}")
    others = ((key, one) for key, one in given.items() if key not in (turns, name, split))
    # Skip None values. In Parquet files, a column that an entry lacks is null.
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
        ids.count(str(unwrap_extended_json(given[name])).strip(), id)
        result["id"] = id
    else:
        result["id"] = names.of(entry, is_split=is_split)
    result["turns"], found = _turns(given[turns], turns, fields, speakers)
    told = {"turns": turns, **({"dialogue": name} if name and name != "id" else {}), **found}
    return result, fields.renamed(told)


def _turns(value: Any, name: str, fields: Fields, speakers: SpeakerNotice) -> tuple[Any, Mapping[str, str]]:
    """Convert turns to graphneg's own keys, sorted by turn number if they have numbers."""
    # Turns may be stored by column: {"text": [...], "speaker": [...]}.
    if columns := columns_of(value):
        value = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    if not isinstance(value, list):
        return value, {}
    turns: list[Any] = []
    numbers: list[Any] = []
    found: Mapping[str, str] = {}
    for at, turn in enumerate(cast("list[Any]", value)):
        if not isinstance(turn, dict):
            turns.append(turn)
            continue
        cells = cast("dict[str, Any]", turn)
        known = fields.of(cells)
        if "text" not in known and (others := sorted(cells.keys() - set(known.values()))):
            keys = listed(map(repr, others[:12]))
            raise ItemError(f"{name}[{at}] lacks 'text'; it has {keys}: name the text with --map text=NAME")
        found = found or {field: known[field] for field in ("speaker", "text") if field in known}
        numbers.append(cells.get(known.get("turn", "")))
        used = {known[field] for field in ("text", "speaker", "amr") if field in known}
        turns.append(
            {key: cell for key, cell in cells.items() if key not in used} | utterance_fields(cells, known)
        )
        speakers.count(cells)
    return _ordered(turns, numbers), found


def _ordered(turns: list[Any], numbers: list[Any]) -> list[Any]:
    """Return turns sorted by their numbers if these are 0 to n-1 or 1 to n, else in their old order."""
    if len(numbers) != len(turns) or not all(isinstance(number, int) for number in numbers):
        return turns
    order = sorted(range(len(turns)), key=numbers.__getitem__)
    given = [numbers[at] for at in order]
    whole = any(given == list(range(begin, begin + len(given))) for begin in (0, 1))
    return [turns[at] for at in order] if whole else turns
