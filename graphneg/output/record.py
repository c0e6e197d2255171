"""The shape of a negative outside Python: which fields, in which order, of which types.

`to_record` makes plain lists and dicts in the order of the documentation and `from_record`
checks them. What a record may hold is written here once; a field that no format knows is an
error, never dropped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from graphneg.errors import InputError
from graphneg.model import Negative

FIELDS = tuple(field.name for field in fields(Negative))
TURN_FIELDS = ("speaker", "text")
ORIGINAL_FIELDS = ("context", "response")
EDIT_FIELDS = ("turn", "transform", "category", "node", "before", "after")
GRAPH_FIELDS = ("before", "after")

_TEXT_FIELDS = ("id", "corpus", "split", "dialogue", "response", "recipe", "target", "decoder")
_NUMBER_FIELDS = ("turn", "label", "seed")
_NUMBER_LIMIT = 2**63
_TURN = re.compile(r"0|[1-9][0-9]{0,8}")
_TARGETS = ("response", "dialogue")

Record = dict[str, Any]


def to_record(negative: Negative) -> Record:
    """The negative as plain lists and dicts, keys in the documented order.

    Raises `InputError` naming the negative where a value is not of the documented type.
    """
    values = {name: getattr(negative, name) for name in FIELDS}
    return _checked(values, f"negative {negative.id!r}")


def from_record(record: object, place: str = "record") -> Negative:
    """The negative that a record describes. ``place`` is named in errors (`InputError`).

    Sequences become tuples, so that reading back what was written compares equal to a
    negative made of tuples.
    """
    if not isinstance(record, Mapping):
        raise InputError(f"{place}: expected an object with the fields of a negative, found {record!r:.60}")
    values = _checked(record, place)
    original = values["original"]
    if original["context"] is not None:
        values["original"] = {**original, "context": tuple(original["context"])}
    for name in ("context", "categories", "edits"):
        values[name] = tuple(values[name])
    return Negative(**values)


def _checked(values: Mapping[str, Any], place: str) -> Record:
    _same_keys(values, FIELDS, place, "negative")
    for name in _TEXT_FIELDS:
        _text(values[name], f"{place}, {name}")
    for name in _NUMBER_FIELDS:
        _number(values[name], f"{place}, {name}")
    if values["target"] not in _TARGETS:
        raise InputError(f"{place}, target: {values['target']!r} is not one of {', '.join(_TARGETS)}")
    record = {name: values[name] for name in FIELDS}
    record["context"] = _turns(values["context"], f"{place}, context")
    record["original"] = _original(values["original"], f"{place}, original")
    record["categories"] = _items(values["categories"], f"{place}, categories", _text)
    record["edits"] = _items(values["edits"], f"{place}, edits", _edit)
    record["amr"] = _graphs(values["amr"], f"{place}, amr")
    record["scores"] = _scores(values["scores"], f"{place}, scores")
    return record


def _same_keys(value: object, names: Sequence[str], place: str, what: str) -> None:
    if not isinstance(value, Mapping):
        raise InputError(f"{place}: expected a {what} with {', '.join(names)}, found {value!r:.60}")
    missing = [name for name in names if name not in value]
    unknown = [str(name) for name in value if name not in names]
    if missing:
        raise InputError(f"{place}: the {what} lacks {', '.join(missing)}")
    if unknown:
        raise InputError(
            f"{place}: the {what} has unknown {', '.join(unknown)}; known are {', '.join(names)}"
        )


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{place}: expected a text, found {value!r:.60}")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(
            f"{place}: half of a surrogate pair, which no file can hold; repair the input's encoding"
        )
    return value


def _text_or_null(value: object, place: str) -> str | None:
    return None if value is None else _text(value, place)


def _number(value: object, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -_NUMBER_LIMIT <= value < _NUMBER_LIMIT:
        raise InputError(f"{place}: expected a whole number of 64 bits, found {value!r:.60}")
    return value


def _items(value: object, place: str, item: Callable[[object, str], Any]) -> list[Any]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise InputError(f"{place}: expected a list, found {value!r:.60}")
    return [item(entry, f"{place}[{position}]") for position, entry in enumerate(value)]


def _turns(value: object, place: str) -> list[Record]:
    return _items(value, place, _turn)


def _turn(value: Any, place: str) -> Record:
    _same_keys(value, TURN_FIELDS, place, "turn")
    return {name: _text(value[name], f"{place}.{name}") for name in TURN_FIELDS}


def _original(value: Any, place: str) -> Record:
    _same_keys(value, ORIGINAL_FIELDS, place, "original")
    context = value["context"]
    return {
        "context": None if context is None else _turns(context, f"{place}.context"),
        "response": _text_or_null(value["response"], f"{place}.response"),
    }


def _edit(value: Any, place: str) -> Record:
    _same_keys(value, EDIT_FIELDS, place, "edit")
    edit: Record = {"turn": _number(value["turn"], f"{place}.turn")}
    for name in EDIT_FIELDS[1:]:
        edit[name] = _text_or_null(value[name], f"{place}.{name}")
    return edit


def _graphs(value: Any, place: str) -> Record:
    """Graphs by turn, in the order of the turns."""
    if not isinstance(value, Mapping):
        raise InputError(f"{place}: expected graphs by turn, found {value!r:.60}")
    for turn in value:
        if not isinstance(turn, str) or not _TURN.fullmatch(turn):
            raise InputError(f'{place}: {turn!r:.60} is not a turn; keys are "0", "1", ...')
    return {turn: _graph_pair(value[turn], f"{place}.{turn}") for turn in sorted(value, key=int)}


def _graph_pair(value: Any, place: str) -> Record:
    _same_keys(value, GRAPH_FIELDS, place, "pair of graphs")
    return {name: _text_or_null(value[name], f"{place}.{name}") for name in GRAPH_FIELDS}


def _scores(value: Any, place: str) -> Record:
    """Scores by name, sorted. NaN and infinity have no JSON form."""
    if not isinstance(value, Mapping):
        raise InputError(f"{place}: expected numbers by name, found {value!r:.60}")
    return {_text(name, place): _score(value[name], f"{place}.{name}") for name in sorted(value)}


def _score(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{place}: expected a number, found {value!r:.60}")
    try:
        number = float(value)
    except OverflowError as error:
        raise InputError(f"{place}: a whole number too large for a score") from error
    if not math.isfinite(number):
        raise InputError(f"{place}: {value} is not a number that JSON can hold")
    return number
