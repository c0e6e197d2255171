"""What a ranker learns from: for each context its right responses and wrong ones, by source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from graphneg.errors import InputError
from graphneg.evaluation.ranking import Choices
from graphneg.model import Negative
from graphneg.output.jsonl import read_jsonl
from graphneg.output.parquet import read_parquet

REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Answer:
    """One response. ``source`` is the recipe, generator or kind that it comes from; ``context`` is its
    own where the dialogue was edited, too."""

    text: str
    source: str
    category: str = ""
    context: tuple[str, ...] | None = None


class Place(Protocol):
    """One place in a dialogue: the turns before it, what fits there and what does not."""

    @property
    def id(self) -> str: ...
    @property
    def context(self) -> tuple[str, ...]: ...
    @property
    def positives(self) -> Sequence[Answer]: ...
    @property
    def negatives(self) -> Sequence[Answer]: ...


@dataclass(slots=True)
class Group:
    """A `Place` in memory."""

    id: str
    context: tuple[str, ...]
    positives: list[Answer] = field(default_factory=list[Answer])
    negatives: list[Answer] = field(default_factory=list[Answer])


class Entry(NamedTuple):
    """What one record says of its place: a response, and the ``right`` one where it was edited.

    ``context`` is the dialogue's own, ``own`` the edited one where the record has one.
    """

    place: str
    split: str
    context: tuple[str, ...]
    own: tuple[str, ...]
    response: str
    label: int
    source: str
    category: str
    right: str | None


def read_groups(paths: Sequence[str | Path]) -> list[Group]:
    """The groups of files of negatives (.jsonl, .parquet), in the order in which they come up.

    Raises:
        InputError: a file can't be read, or is none of negatives, a label is neither 0 nor 1, or a
            context has no right response.
    """
    groups = _grouped(entry for path in paths for entry in read_entries(path))
    for group in groups:
        check(group)
    return groups


def check(group: Place) -> None:
    """Raises `InputError` where a group has no right response."""
    if not group.positives:
        raise InputError(
            f"{group.id}: no right response to learn from; a context needs a record with label 1, "
            "or the original response of an edited one"
        )


def groups_of(records: Iterable[Negative]) -> list[Group]:
    """Records by their place; of an edited one, the original is a right response.

    Raises:
        InputError: a label is neither 0 nor 1.
    """
    return _grouped(entry_of(one, one.id) for one in records)


def groups_of_choices(choices: Iterable[Choices]) -> list[Group]:
    """Contexts with right and wrong responses, each kind of negative a source."""
    return [
        Group(
            one.id,
            one.turns,
            [Answer(text, REFERENCE) for text in one.positives],
            [Answer(text, kind) for kind, texts in one.negatives.items() for text in texts],
        )
        for one in choices
    ]


def read_entries(path: str | Path) -> Iterator[Entry]:
    """The entries of a file's records (.jsonl, .parquet), one by one.

    Raises:
        InputError: the file can't be read, or is none of negatives, or a label is neither 0 nor 1.
    """
    file = Path(path)
    read, unit = (read_parquet, "row") if file.suffix == ".parquet" else (read_jsonl, "line")
    for number, record in enumerate(read(file), 1):
        yield entry_of(record, f"{file}, {unit} {number}")


def entry_of(record: Negative, where: str) -> Entry:
    """A record's entry; ``where`` it stands is named in errors.

    Raises:
        InputError: the label is neither 0 nor 1.
    """
    if record.label not in (0, 1):
        raise InputError(f"{where}: the label is {record.label!r}; 1 fits, 0 does not")
    own = tuple(turn["text"] for turn in record.context)
    original = record.original.get("context")
    context = own if original is None else tuple(turn["text"] for turn in original)
    place = f"{record.dialogue}#{record.turn}"
    if record.label:
        source = record.recipe or REFERENCE
        return Entry(place, record.split, context, own, record.response, 1, source, "", None)
    category = record.categories[0] if record.categories else ""
    right = record.original.get("response") or (record.response if original is not None else None)
    return Entry(place, record.split, context, own, record.response, 0, record.recipe, category, right)


def enter(group: Group, entry: Entry) -> None:
    """Add what an entry says to the group of its place, each answer once."""
    if entry.label:
        _add(group.positives, Answer(entry.response, entry.source))
        return
    own = None if entry.own == group.context else entry.own
    _add(group.negatives, Answer(entry.response, entry.source, entry.category, own))
    if entry.right:
        _add(group.positives, Answer(entry.right, REFERENCE))


def _grouped(entries: Iterable[Entry]) -> list[Group]:
    groups: dict[str, Group] = {}
    for entry in entries:
        enter(groups.setdefault(entry.place, Group(entry.place, entry.context)), entry)
    return list(groups.values())


def _add(answers: list[Answer], one: Answer) -> None:
    if one not in answers:
        answers.append(one)
