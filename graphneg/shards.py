"""Split a corpus into shards for several machines.

A hash of a dialogue's id determines to which shard the dialogue belongs. Each dialogue is therefore in
exactly one shard, and a machine can determine from an id alone whether it has to process the dialogue:

>>> [Shard.parse("1/2").contains(id) for id in ("everyday/test/1", "everyday/test/2", "everyday/test/3")]
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
    """One of several disjoint parts of a corpus.

    Attributes:
        index: Number of the shard, starting at 1.
        amount: Number of shards into which the corpus is divided.
    """

    index: int
    amount: int

    def __post_init__(self) -> None:
        """Check that the index is between 1 and the number of shards."""
        if not 1 <= self.index <= self.amount:
            raise _usage_error(
                f"there is no shard {self}; choose one of 1/{self.amount} to {self.amount}/{self.amount}"
            )

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse a text such as ``3/16``, the third of sixteen shards.

        Args:
            text: The text, ``I/N``, with I from 1 to N.

        Returns:
            The shard.

        Raises:
            InputError: The text is not valid.
        """  # noqa: DOC501, DOC502
        if (found := _WRITTEN.fullmatch(text.strip())) is None:
            raise _usage_error(f"expected a shard I/N, such as 3/16, but found {text!r}")
        index, amount = map(int, found.groups())
        if not amount:
            raise _usage_error(f"shard {text!r}: the number of shards must be at least 1")
        return cls(index, amount)

    def contains(self, dialogue: str) -> bool:
        """Return whether a dialogue is in the shard.

        Args:
            dialogue: Id of the dialogue.

        Returns:
            True if the dialogue is in the shard. The result is the same on every machine.
        """
        return number(0, "shard", dialogue) % self.amount == self.index - 1

    @classmethod
    def of(cls, dialogue: str, total: int) -> Shard:
        """Return the shard that contains a dialogue.

        Args:
            dialogue: Id of the dialogue.
            total: Number of shards into which the corpus is divided.

        Returns:
            The shard.
        """
        return cls(number(0, "shard", dialogue) % total + 1, total)

    def file(self, out: str | Path) -> Path:
        """Return the path of the shard's own output file.

        Args:
            out: Path of the output file for the whole corpus.

        Returns:
            The path of the shard's output file.

        Example:
            >>> Shard(3, 16).file("negatives.jsonl").name
            'negatives.jsonl.3-of-16'
        """
        return Path(f"{out}.{self.index}-of-{self.amount}")

    def __str__(self) -> str:
        """Return the text form of the shard, such as ``3/16``."""
        return f"{self.index}/{self.amount}"


def shard_of(shard: Shard | str | None) -> Shard | None:
    """Return the shard that a caller passed as a `Shard` or as a string.

    Args:
        shard: The shard, a string such as ``3/16``, or None for all dialogues.

    Returns:
        The shard, or None for all dialogues.
    """
    return Shard.parse(shard) if isinstance(shard, str) else shard


def _usage_error(reason: str) -> InputError:
    error = InputError(reason)
    error.status = 2
    return error
