"""Parts of a corpus for many machines: which dialogues are in which, and in which order all of them are.

A dialogue's id goes in; the shard that has it comes out of a hash of the id, and its place of the id itself.
So shards don't overlap, all together are the corpus, and nobody needs to know the other dialogues to tell.

>>> [Shard.parse("1/2").holds(id) for id in ("everyday/test/1", "everyday/test/2", "everyday/test/3")]
[True, True, False]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from graphneg.errors import InputError
from graphneg.hashing import number

_WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``index`` of ``amount``, from 1 on.

    Raises `InputError`: there is no such part.
    """

    index: int
    amount: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.amount:
            raise _wrong(f"shard {self}: there are the shards 1/{self.amount} to {self.amount}/{self.amount}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that is written ``3/16``: the third of sixteen.

        Raises `InputError`: it is not written so, or there is no such part.
        """
        if (found := _WRITTEN.fullmatch(text.strip())) is None:
            raise _wrong(f"shard {text!r}: write I/N, 3/16 for the third of sixteen")
        index, amount = map(int, found.groups())
        if not amount:
            raise _wrong(f"shard {text!r}: of how many? N is 1 or more")
        return cls(index, amount)

    def holds(self, dialogue: str) -> bool:
        """Whether the dialogue of this id is in the part: the same on every machine."""
        return number(0, "shard", dialogue) % self.amount == self.index - 1

    @classmethod
    def of(cls, dialogue: str, amount: int) -> Shard:
        """The one of so many parts that `holds` the dialogue of this id."""
        return cls(number(0, "shard", dialogue) % amount + 1, amount)

    def file(self, out: str | Path) -> Path:
        """The file of this part of ``out``.

        >>> Shard(3, 16).file("negatives.jsonl").name
        'negatives.jsonl.3-of-16'
        """
        return Path(f"{out}.{self.index}-of-{self.amount}")

    def __str__(self) -> str:
        return f"{self.index}/{self.amount}"


def shard_of(given: Shard | str | None) -> Shard | None:
    """A shard as such, or as it is written; None stands for all dialogues.

    Raises `InputError`: as `Shard.parse`.
    """
    return Shard.parse(given) if isinstance(given, str) else given


def natural_order(id: str) -> str:
    """An ASCII key that sorts ids as people do: 2 before 10; the same order on every server.

    >>> sorted(["c/test/10", "c/test/9"], key=natural_order)
    ['c/test/9', 'c/test/10']
    """
    padded = re.sub(r"\d+", lambda match: f"{len(match[0]):02d}{match[0]}", id)
    return padded.encode("ascii", "backslashreplace").decode("ascii")


def _wrong(reason: str) -> InputError:
    error = InputError(reason)
    error.status = 2
    return error
