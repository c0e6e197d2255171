"""Files of a collection: contexts with their scores, and responses to them; JSON lines.

A context's line has the fields of `graphneg.generators.base.Context`, ``referent`` and ``log_fqness``; a
response's line those, and its ``generator`` and ``response``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from graphneg.contradiction.followups import FollowUp, Scored
from graphneg.errors import InputError
from graphneg.generators.base import Context, Turn
from graphneg.loading.intake import mapping
from graphneg.loading.reading import Refused, json_lines
from graphneg.loading.registry import LoadOptions, get_loader
from graphneg.model import Dialogue, Rejected
from graphneg.progress import NoProgress

_TEXTS = ("id", "corpus", "split", "dialogue", "speaker")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Responded:
    """A generator's response to a context. ``id`` is the context's and a digest of the response: it does not
    say who made it."""

    id: str
    scored: Scored
    generator: str
    response: str


def context_line(scored: Scored) -> str:
    return json.dumps(_context_values(scored), ensure_ascii=False)


def response_line(one: Responded) -> str:
    values = {"id": one.id, "generator": one.generator, "response": one.response}
    return json.dumps({**values, "context": _context_values(one.scored)}, ensure_ascii=False)


def read_contexts_file(path: str | Path) -> list[Scored]:
    """The contexts that `collect_contexts` wrote.

    Raises:
        InputError: the file can't be read, or a line is none; file and line are named.
    """
    return _read(Path(path), _scored)


def read_responses_file(path: str | Path) -> list[Responded]:
    """The responses that `collect_responses` wrote.

    Raises:
        InputError: the file can't be read, a line is none, or an id comes twice.
    """
    found = _read(Path(path), _responded)
    _once(path, [one.id for one in found])
    return found


def read_dialogues_file(path: str | Path) -> Iterator[Context]:
    """Contexts of a file of dialogues (as the loader ``dialogues`` reads them): one before each turn.

    Raises:
        InputError: the file can't be read, or a dialogue in it; its place is named.
    """
    for record in get_loader("dialogues").read([Path(path)], LoadOptions()):
        if isinstance(record, Rejected):
            raise InputError(f"{record.place}: {record.reason}")
        if isinstance(record, Dialogue):
            yield from contexts_of(record)


def contexts_of(dialogue: Dialogue) -> Iterator[Context]:
    """The contexts of a dialogue: each but the first turn has the ones before it."""
    turns = [Turn(one.speaker, one.text) for one in dialogue.utterances]
    for place in range(1, len(turns)):
        yield Context(
            id=f"{dialogue.id}#{place}",
            corpus=dialogue.corpus,
            split=dialogue.split,
            dialogue=dialogue.id,
            turn=place,
            turns=tuple(turns[:place]),
            speaker=turns[place].speaker,
            positives=(turns[place].text,),
        )


def _context_values(scored: Scored) -> dict[str, Any]:
    context = scored.followup.context
    return {
        **{name: getattr(context, name) for name in _TEXTS},
        "turn": context.turn,
        "turns": [turn._asdict() for turn in context.turns],
        "positives": list(context.positives),
        "referent": scored.followup.referent,
        "log_fqness": scored.log_fqness,
    }


def _scored(value: Mapping[str, Any]) -> Scored:
    texts = {name: _text(value, name) for name in _TEXTS}
    turns = tuple(_turn(one) for one in _list(value, "turns"))
    context = Context(**texts, turn=_integer(value, "turn"), turns=turns, positives=_positives(value))
    referent = _integer(value, "referent")
    if not 0 <= referent < len(turns) - 1:
        raise Refused(f'"referent" {referent} is none of the {len(turns)} turns before the question')
    score = value.get("log_fqness")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        raise Refused(f'"log_fqness" is {score!r}, no number')
    return Scored(FollowUp(context, referent), float(score))


def _responded(value: Mapping[str, Any]) -> Responded:
    scored = _scored(mapping(value.get("context"), '"context"'))
    return Responded(_text(value, "id"), scored, _text(value, "generator"), _text(value, "response"))


def _read(path: Path, make: Callable[[Mapping[str, Any]], T]) -> list[T]:
    found: list[T] = []
    for item in json_lines(path, NoProgress()):
        if isinstance(item, Rejected):
            raise InputError(f"{item.place}: {item.reason}")
        try:
            found.append(make(mapping(item.value, "the line")))
        except Refused as reason:
            raise InputError(f"{item.place}: {reason}") from reason
    if not found:
        raise InputError(f"{path}: there is nothing in it")
    return found


def _once(path: str | Path, ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for line, id in enumerate(ids, 1):
        if id in seen:
            raise InputError(f"{path}: the id {id!r} comes a second time (entry {line})")
        seen.add(id)


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not text.strip():
        raise Refused(f'"{name}" is {text!r}, no text')
    return text


def _integer(value: Mapping[str, Any], name: str) -> int:
    number = value.get(name)
    if type(number) is not int:
        raise Refused(f'"{name}" is {number!r}, no whole number')
    return number


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    if not isinstance(found, list):
        raise Refused(f'"{name}" is not a list')
    return cast("list[Any]", found)


def _turn(value: Any) -> Turn:
    fields = mapping(value, "a turn")
    return Turn(_text(fields, "speaker"), _text(fields, "text"))


def _positives(value: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(one) for one in _list(value, "positives"))
