"""Files of a collection: scored contexts and responses to them as JSON lines, each checked when it is read.

A context's line has the fields of `graphneg.generators.base.Context`, ``referent`` and ``log_fqness``; a
response's line a context, its ``generator`` and its ``response``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from graphneg.errors import InputError
from graphneg.generators.base import Context, Turn
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.ingest.reading import json_lines
from graphneg.model import Dialogue, Rejected
from graphneg.progress import NoProgress
from graphneg.scorers.followups import FollowUp, Scored

Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
Line = TypeVar("Line")


class TurnLine(msgspec.Struct):
    """A turn of a context."""

    speaker: Text
    text: Text


class ContextLine(msgspec.Struct):
    """A context, the turn that its question may ask about, and how sure that is."""

    id: Text
    corpus: Text
    split: Text
    dialogue: Text
    speaker: Text
    turn: int
    turns: list[TurnLine]
    positives: list[str]
    referent: int
    log_fqness: float

    def __post_init__(self) -> None:
        if not 0 <= self.referent < len(self.turns) - 1:
            raise ValueError(f'"referent" {self.referent} is none of the turns before the question')


class ResponseLine(msgspec.Struct):
    """A generator's response to a context."""

    id: Text
    generator: Text
    response: Text
    context: ContextLine


class GivenLine(msgspec.Struct):
    """A response that some program wrote, to the context of that id."""

    id: str
    response: Text


@dataclass(frozen=True, slots=True)
class Responded:
    """A generator's response to a context. ``id`` is the context's and a digest of the response: it does not
    say who made it."""

    id: str
    scored: Scored
    generator: str
    response: str


def context_line(scored: Scored) -> str:
    """A scored context as one line of JSON."""
    return _written(_context_line(scored))


def response_line(each: Responded) -> str:
    """A response as one line of JSON."""
    return _written(ResponseLine(each.id, each.generator, each.response, _context_line(each.scored)))


def read_contexts_file(path: str | Path) -> list[Scored]:
    """The contexts that `collect_contexts` wrote.

    Raises:
        InputError: the file can't be read, or a line is none; file and line are named.
    """
    return [_scored(line) for line in read_lines_as(ContextLine, path)]


def read_responses_file(path: str | Path) -> list[Responded]:
    """The responses that `collect_responses` wrote.

    Raises:
        InputError: the file can't be read, a line is none, or an id comes twice.
    """
    responses: dict[str, Responded] = {}
    for number, line in enumerate(read_lines_as(ResponseLine, path), 1):
        if line.id in responses:
            raise InputError(f"{path}: the id {line.id!r} comes a second time (entry {number})")
        responses[line.id] = Responded(line.id, _scored(line.context), line.generator, line.response)
    return list(responses.values())


def read_lines_as(kind: type[Line], path: str | Path) -> list[Line]:
    """The lines of a JSON Lines file, each checked to be of a kind (a `msgspec.Struct`).

    Raises:
        InputError: the file can't be read or is empty, or a line is none; file and line are named.
    """
    lines: list[Line] = []
    for item in json_lines(Path(path), NoProgress()):
        if isinstance(item, Rejected):
            raise InputError(f"{item.place}: {item.reason}")
        try:
            lines.append(msgspec.convert(item.value, kind))
        except msgspec.ValidationError as error:
            raise InputError(f"{item.place}: {error}") from error
    if not lines:
        raise InputError(f"{path}: there is nothing in it")
    return lines


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
    turns = [Turn(each.speaker, each.text) for each in dialogue.utterances]
    for index in range(1, len(turns)):
        yield Context(
            id=f"{dialogue.id}#{index}",
            corpus=dialogue.corpus,
            split=dialogue.split,
            dialogue=dialogue.id,
            turn=index,
            turns=tuple(turns[:index]),
            speaker=turns[index].speaker,
            positives=(turns[index].text,),
        )


def _context_line(scored: Scored) -> ContextLine:
    context = scored.followup.context
    return ContextLine(
        context.id, context.corpus, context.split, context.dialogue, context.speaker, context.turn,
        [TurnLine(turn.speaker, turn.text) for turn in context.turns],
        list(context.positives), scored.followup.referent, scored.log_fqness,
    )  # fmt: skip


def _scored(line: ContextLine) -> Scored:
    turns = tuple(Turn(turn.speaker, turn.text) for turn in line.turns)
    context = Context(
        line.id, line.corpus, line.split, line.dialogue, line.turn, turns, line.speaker, tuple(line.positives)
    )
    return Scored(FollowUp(context, line.referent), line.log_fqness)


def _written(line: msgspec.Struct) -> str:
    return json.dumps(msgspec.to_builtins(line), ensure_ascii=False)
