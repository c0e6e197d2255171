"""Long dialogues cut by turns: windows of whole turns, each short enough for an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphneg.errors import InputError


@dataclass(frozen=True, slots=True)
class Window:
    """The turns numbered ``first`` to ``last - 1``."""

    first: int
    last: int

    def holds(self, turn: int) -> bool:
        return self.first <= turn < self.last


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts dialogues into windows of at most ``room`` tokens; turns are never cut.

    ``lengths`` of turns count all that a turn adds, separator and all; none is longer than ``room``.
    A window repeats the last ``overlap`` turns of the one before it, as long as it gets further.

    Raises:
        InputError: the overlap is negative.
    """

    room: int
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.overlap < 0:
            raise InputError(f"overlap {self.overlap}: windows share 0 turns or more")

    def windows(self, lengths: Sequence[int]) -> list[Window]:
        """Windows that hold all turns, in order; the last one reaches back as far as it has room.

        >>> [(one.first, one.last) for one in Cutter(10).windows([4, 4, 4, 4, 4])]
        [(0, 2), (2, 4), (3, 5)]
        >>> [(one.first, one.last) for one in Cutter(12, overlap=1).windows([4, 4, 4, 4, 4])]
        [(0, 3), (2, 5)]
        """
        found: list[Window] = []
        first, last = 0, 0
        while last < len(lengths):
            end = self._end(lengths, first)
            if end == last:  # the repeated turns leave no room for a new one
                first += 1
                continue
            last = end
            found.append(Window(first, last))
            first = max(first + 1, last - self.overlap)
        if found:
            found[-1] = Window(min(found[-1].first, self._first(lengths)), len(lengths))
        return found

    def all(self, lengths: Sequence[int]) -> list[Window]:
        """Every window that can't be made longer, in order: one for a dialogue that is short enough.

        >>> [(one.first, one.last) for one in Cutter(10).all([4, 4, 4, 4])]
        [(0, 2), (1, 3), (2, 4)]
        """
        found: list[Window] = []
        for first in range(len(lengths)):
            last = self._end(lengths, first)
            if not found or last > found[-1].last:
                found.append(Window(first, last))
        return found

    def _end(self, lengths: Sequence[int], first: int) -> int:
        """Where the longest window from ``first`` on ends."""
        used, last = 0, first
        while last < len(lengths) and used + lengths[last] <= self.room:
            used += lengths[last]
            last += 1
        return last

    def _first(self, lengths: Sequence[int]) -> int:
        """Where the longest window up to the end begins."""
        used, first = 0, len(lengths)
        while first and used + lengths[first - 1] <= self.room:
            first -= 1
            used += lengths[first]
        return first
