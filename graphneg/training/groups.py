"""What a ranker learns from: for each context its right responses and wrong ones, by source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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


@dataclass(slots=True)
class Group:
    """One place in a dialogue: the turns before it, what fits there and what does not."""

    id: str
    context: tuple[str, ...]
    positives: list[Answer] = field(default_factory=list[Answer])
    negatives: list[Answer] = field(default_factory=list[Answer])


def read_groups(paths: Sequence[str | Path]) -> list[Group]:
    """The groups of files of negatives (.jsonl, .parquet), in the order in which they come up.

    Raises:
        InputError: a file can't be read, or is none of negatives.
    """
    return groups_of(record for path in map(Path, paths) for record in _records(path))


def _records(path: Path) -> Iterator[Negative]:
    read = read_parquet if path.suffix == ".parquet" else read_jsonl
    return read(path)


def groups_of(records: Iterable[Negative]) -> list[Group]:
    """Records by their place; of an edited one, the original is a right response.

    Raises:
        InputError: a label is neither 0 nor 1.
    """
    groups: dict[str, Group] = {}
    for one in records:
        if one.label not in (0, 1):
            raise InputError(f"{one.id}: the label is {one.label!r}; 1 fits, 0 does not")
        context = tuple(turn["text"] for turn in one.context)
        original = one.original.get("context")
        true_context = context if original is None else tuple(turn["text"] for turn in original)
        place = f"{one.dialogue}#{one.turn}"
        group = groups.setdefault(place, Group(place, true_context))
        if one.label:
            _add(group.positives, Answer(one.response, one.recipe or REFERENCE))
            continue
        category = one.categories[0] if one.categories else ""
        own = None if context == group.context else context
        _add(group.negatives, Answer(one.response, one.recipe, category, own))
        true = one.original.get("response") or (one.response if original is not None else None)
        if true:
            _add(group.positives, Answer(true, REFERENCE))
    return list(groups.values())


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


def _add(answers: list[Answer], one: Answer) -> None:
    """Each text once for each source."""
    if one not in answers:
        answers.append(one)
