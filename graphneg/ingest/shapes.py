"""The shapes that dialogues come in, read as graphneg's own: what an entry's keys mean, and what it holds.

An entry is a dialogue (an object with its turns, or the list of them) or one utterance (a row of a table).
Which key holds what is said by the caller, or told by its name. In: entries, one by one. Out: dialogues as
``loaders/dialogue.schema.json`` describes them, before they are checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

from graphneg.errors import InputError
from graphneg.ingest.content import Refused
from graphneg.ingest.reading import Item, each_group, split_of
from graphneg.model import Rejected

_DIALOGUE = ("dialogue", "dialog", "conversation", "conv", "convo", "chat", "session", "thread")
_IDS = (*_DIALOGUE[:3], *(f"{name}id" for name in _DIALOGUE))
NAMES: dict[str, tuple[str, ...]] = {
    "dialogue": _IDS,
    "turn": (
        *("turn", "turnid", "turnidx", "turnindex", "turnno", "turnnum", "turnnumber"),
        *("utteranceidx", "utteranceindex", "utteranceno", "utterancenumber", "messageidx", "messageindex"),
    ),
    "speaker": (
        *("speaker", "speakerid", "speakeridx", "speakername", "role", "from", "agent"),
        *("author", "sender", "participant"),
    ),
    "text": ("text", "utterance", "content", "message", "value", "utterancetext", "messagetext", "body"),
    "turns": ("turns", "messages", "conversations", "conversation", "dialogue", "dialog", "utterances"),
    "split": ("split",),
    "amr": ("amr",),
}
"""What each field is called in data, plainest first; capitals and what joins words make no difference."""

_CONTAINERS = {"data", "dialogues", "dialogs", "conversations", "chats", "examples", "items", "rows"}
_OWN_ROW = ("dialogue", "turn", "speaker", "text", "split", "amr")

Value = Mapping[str, Any]


class Row(NamedTuple):
    """An utterance of a table, and the dialogue that it is of: the rows of one stand together."""

    dialogue: Any
    cells: Value


class Fields:
    """Which key holds which field: as the caller said (field: key; an empty key: none does), else by name.

    Raises `InputError`: the caller named a field that there is not.
    """

    def __init__(self, said: Mapping[str, str]) -> None:
        for field in said:
            if field not in NAMES:
                raise InputError(f"--map {field}={said[field]}: no field {field!r}; it is {_listed(NAMES)}")
        self.said = dict(said)
        self._known: dict[tuple[str, ...], dict[str, str]] = {}

    def of(self, keys: Iterable[str]) -> Mapping[str, str]:
        """The key of each field that an entry with such keys has."""
        keys = tuple(keys)
        if keys not in self._known:
            if len(self._known) > 1000:
                self._known.clear()
            self._known[keys] = dict(self._found(keys))
        return self._known[keys]

    def _found(self, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
        plain = _plain(keys)
        for field, names in NAMES.items():
            if field in self.said:
                if self.said[field] in keys:
                    yield field, self.said[field]
            elif (name := next((name for name in names if name in plain), None)) is not None:
                yield field, plain[name]

    def turns_of(self, value: Value) -> str | None:
        """The key of the turns: the first that is so called and holds a list, or lists by key."""
        if "turns" in self.said:
            return self.said["turns"] if self.said["turns"] in value else None
        if "turns" in value:
            return "turns"
        plain = _plain(value)
        names = (plain[name] for name in NAMES["turns"] if name in plain)
        return next((key for key in names if isinstance(value[key], list) or _columns(value[key])), None)

    def id_of(self, value: Value) -> str | None:
        """The key of a dialogue's name."""
        if "dialogue" in self.said:
            return self.said["dialogue"] or None
        plain = _plain(value)
        names = (plain[name] for name in ("id", *NAMES["dialogue"]) if name in plain)
        return next((key for key in names if isinstance(value[key], str | int)), None)

    def other_names(self, found: Mapping[str, str]) -> str:
        """The fields whose keys were told by names that are not graphneg's own, for a message."""
        told = ((field, key) for field, key in found.items() if field not in self.said and key != field)
        return ", ".join(f"{field}={key}" for field, key in told)


def _plain(keys: Iterable[str]) -> dict[str, str]:
    """Keys by what is left of them without capitals and what joins words."""
    plain: dict[str, str] = {}
    for key in keys:
        plain.setdefault(re.sub(r"[\W_]+", "", key).casefold(), key)
    return plain


def dialogue_values(
    entries: Iterable[Item | Rejected], fields: Fields, note: Callable[[str], None]
) -> Iterator[Item | Rejected]:
    """A dialogue of each entry, or of the rows that stand together; ``note`` is told what names were read as.

    What the entries are shows in the first.

    Raises `InputError`: they lack what the caller named.
    """
    remaining = iter(entries)
    for entry in remaining:
        if isinstance(entry, Rejected):
            yield entry
            continue
        entries = chain((entry,), remaining)
        if is_row(entry, fields):
            yield from _dialogues_of_rows(entries, entry, fields, note)
        else:
            yield from _dialogues_of_objects(entries, entry, fields, note)
        return


def is_row(entry: Item, fields: Fields) -> bool:
    """Whether an entry is one utterance of a dialogue, not a whole one."""
    value = entry.value
    if isinstance(value, str):
        return True
    if not isinstance(value, dict) or fields.turns_of(cast("Value", value)) is not None:
        return False
    found = fields.of(cast("Value", value))
    return "text" in found and not isinstance(value[found["text"]], dict)


def has_turns(value: Any, fields: Fields) -> bool:
    """Whether a value is an object with its turns."""
    return isinstance(value, dict) and fields.turns_of(cast("Value", value)) is not None


def require_columns(place: str, columns: Sequence[str], fields: Fields) -> None:
    """Check that rows of utterances have what it takes: a text, and the dialogue that it is of, unless the
    caller says that none is named, or there is nothing else but who speaks.

    Raises `InputError`: they lack a field, or what the caller named, or have a key twice.
    """
    shown = _listed(repr(column[:40]) for column in columns[:12])
    for field, key in fields.said.items():
        if key and key not in columns:
            raise InputError(f"{place}: --map {field}={key}: there is no such key or column, only {shown}")
    named = [column.casefold() for column in columns if column]
    if len(set(named)) != len(named):
        raise InputError(f"{place}: a column stands twice in the header {shown}")
    needed = [field for field in ("dialogue", "text") if fields.said.get(field) != ""]
    missing = [field for field in needed if field not in fields.of(columns)]
    if missing:
        raise InputError(
            f"{place}: the table lacks the columns {', '.join(missing)}; its first row is {shown}; "
            f"--map {missing[0]}=NAME says which it is"
        )


def _dialogues_of_rows(
    entries: Iterable[Item | Rejected], first: Item, fields: Fields, note: Callable[[str], None]
) -> Iterator[Item | Rejected]:
    keys = tuple(first.value) if isinstance(first.value, dict) else ("text",)
    known = fields.of(keys)
    if "dialogue" in known or set(keys) - set(known.values()):
        require_columns(first.place, keys, fields)
    if told := fields.other_names({field: known[field] for field in _OWN_ROW if field in known}):
        note(f"{_file(first)}: read as {told}")
    by = known.get("dialogue")

    def rows() -> Iterator[Item | Rejected]:
        for entry in entries:
            if isinstance(entry, Rejected):
                yield entry
                continue
            value = {"text": entry.value} if isinstance(entry.value, str) else entry.value
            if not isinstance(value, dict):
                yield Rejected(entry.place, "neither an object nor a text")
                continue
            cells = cast("Value", value)
            yield entry._replace(value=Row(cells.get(by) if by else entry.key, cells))

    return each_group(
        rows(),
        "row",
        lambda first, row: row.value.dialogue != first.value.dialogue,
        lambda number, rows: _of_rows(number, rows, known, fields),
        lambda _, first: f"dialogue {str(first.value.dialogue)[:60]!r}",
    )


def _of_rows(number: int, rows: Sequence[Item], known: Mapping[str, str], fields: Fields) -> Item:
    """The dialogue of rows that stand together, as a line of JSON would have it; some may lack keys."""
    name = _name(rows[0].value.dialogue)
    if "dialogue" in known and name is None:
        raise Refused(f"the column {known['dialogue']!r} is empty")
    split_key, turn_key = known.get("split", ""), known.get("turn")
    split = str(rows[0].value.cells.get(split_key) or "").strip()
    used = {key for row in rows for field, key in fields.of(row.value.cells).items() if field in _OWN_ROW}
    turns: list[tuple[int, Item, dict[str, Any]]] = []
    for at, row in enumerate(rows):
        cells = cast("Value", row.value.cells)
        if str(cells.get(split_key) or "").strip() != split:
            raise Refused(f"another split at {row.place}")
        said = _said(cells, fields.of(cells))
        turn = {key: cell for key, cell in cells.items() if key not in used and cell not in (None, "")}
        turns.append((_number(cells.get(turn_key), row) if turn_key else at, row, turn | said))
    turns.sort(key=lambda turn: turn[0])
    begin = 1 if turns[0][0] == 1 else 0
    for expected, (given, row, _) in enumerate(turns, begin):
        if given != expected:
            cell = str(row.value.cells.get(turn_key))[:20]
            raise Refused(f"turn {cell!r} at {row.place} where {expected} should follow")
    value = {"id": name or str(number), "turns": [turn for *_, turn in turns]}
    return Item(rows[0].place, number, name or "", value | ({"split": split} if split else {}))


def _number(cell: Any, row: Item) -> int:
    """The number of a turn: an integer, or a text or number that is one."""
    text = str(cell).strip().removesuffix(".0")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise Refused(
            f"turn {str(cell)[:20]!r} at {row.place} is no number; --map turn= goes by the rows' order"
        )
    return int(text)


def _said(cells: Value, known: Mapping[str, str]) -> dict[str, Any]:
    """Text, speaker and graph of an utterance, under graphneg's own keys."""
    said: dict[str, Any] = {}
    if "text" in known and known["text"] in cells:
        said["text"] = _text(cells[known["text"]])
    for field in ("speaker", "amr"):
        cell = cells.get(known[field]) if field in known else None
        if isinstance(cell, int | float):
            cell = _name(cell)
        if cell is not None and (not isinstance(cell, str) or cell.strip()):
            said[field] = cell
    return said


def _text(value: Any) -> Any:
    """The text of an utterance; that of messages in parts (``{"type": "text", "text": ...}``) is joined."""
    if value is None:
        return ""
    if not isinstance(value, list):
        return value
    parts = [part.get("text") if isinstance(part, dict) else part for part in cast("list[Any]", value)]
    return " ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def _name(value: Any) -> str | None:
    """A name as text, where there is one; 3.0, as tables without integers have it, is 3."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() or None if isinstance(value, str | int | float) else None


def _dialogues_of_objects(
    entries: Iterable[Item | Rejected], first: Item, fields: Fields, note: Callable[[str], None]
) -> Iterator[Item | Rejected]:
    keys = set[str]()
    for number, entry in enumerate(entries):
        if isinstance(entry, Rejected):
            yield entry
            continue
        try:
            value, told = _of_object(entry, fields, keys)
        except Refused as reason:
            yield Rejected(entry.place, f"item {entry.key or entry.number}: {reason}")
            continue
        if not number and told:
            note(f"{_file(first)}: read as {told}")
        yield entry._replace(value=value)


def _of_object(entry: Item, fields: Fields, keys: set[str]) -> tuple[Any, str]:
    """The dialogue of an object or of a list of turns; and what its keys were read as.

    Its name is its own, else its key, else its number; ``keys`` are those that came before.
    """
    value = {"turns": entry.value} if isinstance(entry.value, list) else entry.value
    if not isinstance(value, dict):
        return value, ""
    given = cast("dict[str, Any]", value)
    turns, name, split = fields.turns_of(given), fields.id_of(given), fields.of(given).get("split")
    if turns is None:
        wanted = fields.said.get("turns") or _listed(NAMES["turns"])
        raise Refused(f"it has no turns ({wanted}); its keys are {_listed(map(repr, list(given)[:12]))}")
    if name is not None and name not in given:
        raise Refused(f"it has no {name!r}; its keys are {_listed(map(repr, list(given)[:12]))}")
    others = ((key, one) for key, one in given.items() if key not in (turns, name, split))
    result: dict[str, Any] = {key: one for key, one in others if one is not None}
    is_split = entry.key and split_of(Path(entry.key)) == entry.key.lower()
    if split and given[split] is not None:
        result["split"] = given[split]
    elif is_split:
        result["split"] = entry.key.lower()
    if name:
        result["id"] = given[name]
    elif is_split or not entry.key or entry.key.casefold() in _CONTAINERS:
        result["id"] = entry.number
    else:
        result["id"] = f"{entry.key}-{entry.number}" if entry.key in keys else entry.key
        keys.add(entry.key)
    result["turns"], found = _turns(given[turns], turns, fields)
    told = {"turns": turns, **({"dialogue": name} if name and name != "id" else {}), **found}
    return result, fields.other_names(told)


def _turns(value: Any, name: str, fields: Fields) -> tuple[Any, Mapping[str, str]]:
    """A list of turns under graphneg's own keys, in the order of their numbers where they have such."""
    if columns := _columns(value):
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
            keys = _listed(map(repr, others[:12]))
            raise Refused(f"{name}[{at}] lacks 'text'; it has {keys}: --map text=NAME says which")
        found = found or {field: known[field] for field in ("speaker", "text") if field in known}
        numbers.append(cells.get(known.get("turn", "")))
        used = {known[field] for field in ("text", "speaker", "amr") if field in known}
        turns.append({key: cell for key, cell in cells.items() if key not in used} | _said(cells, known))
    return _ordered(turns, numbers), found


def _ordered(turns: list[Any], numbers: list[Any]) -> list[Any]:
    """Turns in the order of their numbers, where these are all of those from 0 or 1."""
    if len(numbers) != len(turns) or not all(isinstance(number, int) for number in numbers):
        return turns
    order = sorted(range(len(turns)), key=numbers.__getitem__)
    given = [numbers[at] for at in order]
    whole = any(given == list(range(begin, begin + len(given))) for begin in (0, 1))
    return [turns[at] for at in order] if whole else turns


def _columns(value: Any) -> dict[str, list[Any]] | None:
    """A list of objects that was written by its columns (``{"text": [...], "speaker": [...]}``)."""
    if not isinstance(value, dict) or not value:
        return None
    columns = cast("dict[str, Any]", value)
    lengths = {len(column) if isinstance(column, list) else -1 for column in columns.values()}
    return columns if len(lengths) == 1 and -1 not in lengths else None


def _file(entry: Item) -> str:
    return entry.place.rpartition(":")[0] or entry.place


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
