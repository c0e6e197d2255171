"""Where wrong responses come from: chance, people, a file, a generator or a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from graphneg.comparing.data import ADVERSARIAL, RANDOM, context_key
from graphneg.errors import InputError
from graphneg.evaluation.ranking import Choices
from graphneg.generators import generator_names
from graphneg.recipes import GENERATED, RECIPE_NAMES, RECIPES
from graphneg.training.drawing import Mix
from graphneg.training.groups import REFERENCE, Answer, Group, groups_of_choices, read_groups
from graphneg.transforms import load_transforms

Kind = Literal["random", "human", "file", "generator", "recipe"]
HUMAN = "human"
_SUFFIXES = (".jsonl", ".parquet")
_TAKEN = (RANDOM, HUMAN, ADVERSARIAL, REFERENCE)


@dataclass(frozen=True, slots=True)
class Source:
    """One source of wrong responses; ``path`` is the file's where it is one."""

    name: str
    kind: Kind
    path: Path | None = None

    @property
    def drawn_as(self) -> str:
        """What its responses are called where pairs are drawn."""
        return ADVERSARIAL if self.kind == "human" else self.name


@dataclass(frozen=True, slots=True)
class Budget:
    """What a ranker sees of a context in an epoch: right responses, random ones, ones of the source."""

    positives: int = 2
    random: int = 2
    source: int = 3
    epochs: int = 2

    def __post_init__(self) -> None:
        if min(self.positives, self.random, self.source, self.epochs) < 1:
            raise InputError(
                "a budget is of at least one right, one random and one wrong response, and one epoch"
            )

    def mix(self, source: Source) -> Mix:
        """The same number of pairs for each source; where the source is chance, all wrong ones are random."""
        if source.kind == "random":
            return Mix(self.positives, {RANDOM: self.random + self.source})
        return Mix(self.positives, {RANDOM: self.random, source.drawn_as: self.source})

    @property
    def of_each_context(self) -> int:
        """How many wrong responses a source is asked for, so that each epoch has others."""
        return self.source * self.epochs


def source_of(text: str) -> Source:
    """``random``, ``human``, ``NAME=FILE``, or the name of a recipe, a transform or a generator.

    Raises:
        InputError: it is none of these.
    """
    name, equals, path = text.partition("=")
    if equals:
        return _file(name, Path(path), text)
    if name == RANDOM:
        return Source(name, "random")
    if name == HUMAN:
        return Source(name, "human")
    if name in RECIPES or name in load_transforms():
        return Source(name, "recipe")
    if name in generator_names() or name in GENERATED:
        return Source(name, "generator")
    generators = ", ".join(one for one in generator_names() if one not in (RANDOM, *GENERATED))
    raise InputError(
        f"no source {text!r}; choose {RANDOM}, {HUMAN}, NAME=FILE, "
        f"a recipe ({', '.join(RECIPE_NAMES)}), a transform or a generator ({generators})"
    )


def human_groups(train: Sequence[Choices]) -> list[Group]:
    """Contexts with what people wrote to be wrong.

    Raises:
        InputError: there is none of it.
    """
    groups = groups_of_choices(_only(train, ADVERSARIAL))
    if not any(one.negatives for one in groups):
        raise InputError("source human: no context to learn from has adversarial responses; leave it out")
    return groups


def plain_groups(train: Sequence[Choices]) -> list[Group]:
    """Contexts with their right responses alone."""
    return groups_of_choices(_only(train))


def groups_of_file(train: Sequence[Choices], source: Source, path: Path) -> list[Group]:
    """Contexts with the wrong responses that a file of negatives has for them; they meet by their turns.

    Raises:
        InputError: the file can't be read, or is about other contexts.
    """
    wrong: dict[tuple[str, ...], list[Answer]] = {}
    for one in read_groups([path]):
        wrong.setdefault(context_key(one.context), []).extend(one.negatives)
    groups = plain_groups(train)
    for group in groups:
        found = wrong.get(context_key(group.context), ())
        group.negatives = list(dict.fromkeys(replace(one, source=source.drawn_as) for one in found))
    if not any(one.negatives for one in groups):
        raise InputError(f"source {source.name}: {path} has no negative of a context to learn from")
    return groups


def _only(train: Iterable[Choices], *kinds: str) -> list[Choices]:
    return [replace(one, negatives=_of_kinds(one.negatives, kinds)) for one in train]


def _of_kinds(negatives: Mapping[str, tuple[str, ...]], kinds: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {kind: texts for kind, texts in negatives.items() if kind in kinds}


def _file(name: str, path: Path, text: str) -> Source:
    if not name or name in _TAKEN or "/" in name:
        raise InputError(
            f"source {text!r}: give the file a name of its own, NAME=FILE, none of {', '.join(_TAKEN)}"
        )
    if path.suffix not in _SUFFIXES:
        raise InputError(f"source {text!r}: a file of negatives ends in {' or '.join(_SUFFIXES)}")
    if not path.is_file():
        raise InputError(f"source {text!r}: there is no such file")
    return Source(name, "file", path)
