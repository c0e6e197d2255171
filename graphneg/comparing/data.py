"""Contexts to learn from and contexts to be tested on, in the shape of DailyDialog++."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphneg.errors import InputError
from graphneg.evaluation.choices import FORM, placed_choices
from graphneg.evaluation.ranking import Choices
from graphneg.hashing import number
from graphneg.training.drawing import plain

ADVERSARIAL, RANDOM = "adversarial", "random"
SPLIT, SPLIT_SEED = 0.7, 7


@dataclass(frozen=True, slots=True)
class Data:
    """Contexts with right and wrong responses: those to learn from, and those to be tested on."""

    train: tuple[Choices, ...]
    test: tuple[Choices, ...]

    @property
    def tested(self) -> list[str]:
        """The right responses of the contexts to be tested on, each once."""
        return sorted({text for one in self.test for text in one.positives})

    @property
    def forbidden(self) -> frozenset[str]:
        """What no bank may hold, as `plain` texts: responses of test contexts, and `written_wrong`."""
        return self.written_wrong | {plain(text) for one in self.test for text in one.responses}

    @property
    def written_wrong(self) -> frozenset[str]:
        """What people wrote to be wrong, as `plain` texts."""
        contexts = (*self.train, *self.test)
        return frozenset(plain(text) for one in contexts for text in one.negatives.get(ADVERSARIAL, ()))

    @property
    def fingerprint(self) -> str:
        return digest([_facts(self.train), _facts(self.test)])


def read_data(
    train: str | Path, test: str | Path | None = None, split: float = SPLIT, split_seed: int = SPLIT_SEED
) -> Data:
    """The contexts of two files, or of one that is split: a share of its contexts, by hash, to learn from.

    Parts of one file are called ``train`` and ``test`` in the ids of their contexts.

    Raises:
        InputError: a file is of another shape, a context has no right response (or, to be tested on,
            no wrong one), a context is in both files, or a part is empty.
    """
    if test is not None:
        return _checked(Data(tuple(_read(train)), tuple(_read(test))), f"{train} and {test}")
    if not 0 < split < 1:
        raise InputError(f"split {split}: a share of the contexts, between 0 and 1")
    order = sorted(_read(train), key=lambda one: number(split_seed, _name(one)))
    border = int(split * len(order))
    if not 0 < border < len(order):
        raise InputError(f"{train}: {len(order)} contexts can't be split at {split}")
    parts = (
        [_of_split(one, "train") for one in order[:border]],
        [_of_split(one, "test") for one in order[border:]],
    )
    return _checked(Data(tuple(parts[0]), tuple(parts[1])), str(train))


def digest(value: object) -> str:
    """A short text that is the same for the same value (JSON, or else its ``str``)."""
    written = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:32]


def context_key(turns: Sequence[str]) -> tuple[str, ...]:
    """What two contexts have in common that say the same."""
    return tuple(map(plain, turns))


def _read(path: str | Path) -> list[Choices]:
    found: list[Choices] = []
    for place, one in placed_choices([path]):
        if not one.positives:
            raise InputError(f"{place}: context {one.id} has no right response")
        found.append(one)
    if not found:
        raise InputError(f"{path}: there are no contexts in it")
    return found


def _checked(data: Data, place: str) -> Data:
    for one in data.test:
        if not one.negatives:
            raise InputError(f"{place}: context {one.id} has no wrong response to be tested on")
    known = {context_key(one.turns): one.id for one in data.train}
    for one in data.test:
        if (other := known.get(context_key(one.turns))) is not None:
            raise InputError(
                f"{place}: context {one.id} is to be tested on, and {other} to learn from is the same"
            )
    return data


def _name(one: Choices) -> str:
    return one.id.split("/", 2)[2]


def _of_split(one: Choices, split: str) -> Choices:
    return replace(one, id=f"{FORM}/{split}/{_name(one)}")


def _facts(choices: Sequence[Choices]) -> list[object]:
    return [
        [
            one.id,
            list(one.turns),
            list(one.positives),
            {kind: list(some) for kind, some in one.negatives.items()},
        ]
        for one in choices
    ]
