"""Split a corpus into shards for many machines, and order its dialogues.

A hash of a dialogue's id decides its shard. Therefore shards do not overlap, together they are the corpus,
and no machine needs to know the other dialogues:

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
    """One of several parts of a corpus.

    Attributes:
        index: Number of the part, from 1.
        amount: Number of parts.
    """

    index: int
    amount: int

    def __post_init__(self) -> None:
        """Check that there is such a part."""
        if not 1 <= self.index <= self.amount:
            raise _wrong(f"shard {self}: choose one of 1/{self.amount} to {self.amount}/{self.amount}")

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard that a text such as ``3/16`` names: the third of sixteen."""
        if (found := _WRITTEN.fullmatch(text.strip())) is None:
            raise _wrong(f"shard {text!r}: write I/N, 3/16 for the third of sixteen")
        index, amount = map(int, found.groups())
        if not amount:
            raise _wrong(f"shard {text!r}: N must be at least 1")
        return cls(index, amount)

    def holds(self, dialogue: str) -> bool:
        """Return whether a dialogue is in the shard.

        Args:
            dialogue: Id of the dialogue.

        Returns:
            True if it is; the same on every machine.
        """
        return number(0, "shard", dialogue) % self.amount == self.index - 1

    @classmethod
    def of(cls, dialogue: str, amount: int) -> Shard:
        """Return the shard that holds a dialogue.

        Args:
            dialogue: Id of the dialogue.
            amount: Number of shards.

        Returns:
            The shard.
        """
        return cls(number(0, "shard", dialogue) % amount + 1, amount)

    def file(self, out: str | Path) -> Path:
        """Return the file of the shard for an output file.

        Args:
            out: The output file of all shards.

        Returns:
            The path of the shard's file.

        Example:
            >>> Shard(3, 16).file("negatives.jsonl").name
            'negatives.jsonl.3-of-16'
        """
        return Path(f"{out}.{self.index}-of-{self.amount}")

    def __str__(self) -> str:
        """Return the shard as it is written, such as ``3/16``."""
        return f"{self.index}/{self.amount}"


def shard_of(given: Shard | str | None) -> Shard | None:
    """Return a shard that is given as an object or as text.

    Args:
        given: The shard, its text, or None for all dialogues.

    Returns:
        The shard, or None.
    """
    return Shard.parse(given) if isinstance(given, str) else given


def natural_order(id: str) -> str:
    """Return an ASCII key that sorts ids with their numbers as numbers: 2 before 10.

    Args:
        id: Any id.

    Returns:
        The key, which sorts in the same way on every server.

    Example:
        >>> sorted(["c/test/10", "c/test/9"], key=natural_order)
        ['c/test/9', 'c/test/10']
    """
    # A number is written after the count of its digits: 9 becomes 019, 10 becomes 0210.
    padded = re.sub(r"\d+", lambda match: f"{len(match[0]):02d}{match[0]}", id)
    return padded.encode("ascii", "backslashreplace").decode("ascii")


def _wrong(reason: str) -> InputError:
    """Return an error for wrong arguments, with exit status 2."""
    error = InputError(reason)
    error.status = 2
    return error
