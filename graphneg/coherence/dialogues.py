"""Dialogues as they are and edited ones that were made of them, from files of negatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graphneg.errors import InputError
from graphneg.generators.base import Turn
from graphneg.generators.contexts import answering
from graphneg.model import Negative
from graphneg.output.jsonl import read_jsonl
from graphneg.output.parquet import read_parquet

Turns = tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class EditedDialogue:
    """An incoherent dialogue: who said what, and which turns were edited."""

    id: str
    turns: Turns
    edited: frozenset[int]
    recipe: str
    categories: tuple[str, ...]

    @property
    def names(self) -> set[str]:
        return {self.recipe, *self.categories}


@dataclass(slots=True)
class Versions:
    """One dialogue as it is, and edited ones that were made of it."""

    id: str
    original: Turns
    edited: list[EditedDialogue] = field(default_factory=list[EditedDialogue])


@dataclass(frozen=True, slots=True)
class Read:
    """What files of negatives give; ``responses`` records were left out, as they edit no dialogue."""

    dialogues: list[Versions]
    responses: int


def read_dialogues(paths: Sequence[str | Path]) -> Read:
    """Dialogues and their edited versions from files of negatives (.jsonl, .parquet).

    Raises:
        InputError: a file can't be read or is none of negatives, a label is neither 0 nor 1, or no
            record has the target ``dialogue``.
    """
    return dialogues_of(record for path in map(Path, paths) for record in _records(path))


def originals_of(paths: Sequence[str | Path]) -> Iterator[Turns]:
    """The dialogues of any negatives, as they were before they were edited.

    Raises:
        InputError: a file can't be read, or is none of negatives.
    """
    return (_original(record) for path in map(Path, paths) for record in _records(path))


def dialogues_of(records: Iterable[Negative]) -> Read:
    """Records with the target ``dialogue``, by the place where their last turn stands."""
    found: dict[str, Versions] = {}
    responses = 0
    for one in records:
        if one.label not in (0, 1):
            raise InputError(f"{one.id}: the label is {one.label!r}; 1 is coherent, 0 is not")
        if one.target != "dialogue":
            responses += 1
            continue
        place = f"{one.dialogue}#{one.turn}"
        versions = found.setdefault(place, Versions(place, _original(one)))
        if one.label == 0:
            versions.edited.append(_edited(one))
    if not any(one.edited for one in found.values()):
        raise InputError(
            "no edited dialogues in these files: make some with graphneg negatives --target dialogue, "
            "or a generator such as turn-shuffle"
        )
    return Read(list(found.values()), responses)


def _records(path: Path) -> Iterator[Negative]:
    return (read_parquet if path.suffix == ".parquet" else read_jsonl)(path)


def _original(one: Negative) -> Turns:
    context = one.original.get("context")
    return _whole(one.context if context is None else context, one.original.get("response") or one.response)


def _edited(one: Negative) -> EditedDialogue:
    places = frozenset(int(edit["turn"]) for edit in one.edits)
    turns = _whole(one.context, one.response)
    return EditedDialogue(one.id, turns, places, one.recipe, tuple(one.categories))


def _whole(context: Iterable[Mapping[str, str]], response: str) -> Turns:
    """All turns; records do not say who speaks last, so it is who would."""
    said = [Turn(turn["speaker"], turn["text"]) for turn in context]
    return (*said, Turn(answering(said) if said else "", response))
