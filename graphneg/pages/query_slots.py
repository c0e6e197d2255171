"""Limit how many queries of visitors run at the same time, without letting slow queries block fast queries.

Each running query occupies a slot. There are two kinds of slots. In a *patient* slot, a query may run as
long as the time limit of the pages allows. If all patient slots are occupied, a query gets a *quick* slot,
in which it is stopped after `QUICK_SECONDS`. Quick slots therefore soon become free again, and a fast query
such as ``RETURN 1`` does not have to wait for slow queries. If a query gets no slot within `WAIT_SECONDS`,
it is refused, and the visitor is asked to try again.

A query can continue after it was stopped, because the embedded server cannot stop a long expression, and
because the server is not ended while another process uses it. Such a *stuck* query gives its slot to other
queries. A visitor with stuck queries gets no slot until they end. A visitor is identified by an address, and
can never occupy all slots.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from graphneg.errors import GraphnegError

PATIENT, QUICK = 3, 3
"""Number of slots of each kind."""
QUICK_SECONDS = 2.0
"""Maximum number of seconds for a query in a quick slot."""
WAIT_SECONDS = 3.0
"""Maximum number of seconds to wait for a slot. It is longer than `QUICK_SECONDS`, so that at least one quick
slot becomes free in this time."""
MOST_OF_ONE = PATIENT + QUICK - 1
"""Maximum number of slots that one visitor can occupy."""
MOST_STUCK = 12
"""Maximum number of stuck queries that give their slots to others. Each of them keeps a thread of the pages
and a processor of the server busy."""
_POLL_SECONDS = 0.05


class BusyError(GraphnegError):
    """Too many queries or uploads are running. The same request may succeed a few seconds later."""


@dataclass
class SlotGroup:
    """Several slots with the same time limit. Each running query occupies one slot.

    Attributes:
        seconds: Maximum number of seconds for a query in one of the slots.
        free: Number of slots that are free.
    """

    seconds: float
    free: int


class Slot:
    """A slot that one query occupies while it runs. The number of slots limits how many queries run at once.

    Args:
        slots: All slots of the server, whose counts are updated when the query ends.
        group: The slots with the same time limit as this slot.
        visitor: Address of the visitor who runs the query.
    """

    def __init__(self, slots: QuerySlots, group: SlotGroup, visitor: str) -> None:
        self._slots, self._group, self._visitor = slots, group, visitor
        self._is_stuck = False

    @property
    def seconds(self) -> float:
        """Maximum number of seconds for the query."""
        return self._group.seconds

    def release(self) -> None:
        """Free the slot, because the query has ended."""
        self._slots.running[self._visitor] -= 1
        if self._is_stuck:
            self._slots.stuck[self._visitor] -= 1
        else:
            self._group.free += 1

    def give_up(self) -> None:
        """Free the slot for other queries, although the server has not stopped the query of this slot."""
        if not self._is_stuck and self._slots.stuck.total() < MOST_STUCK:
            self._is_stuck = True
            self._slots.stuck[self._visitor] += 1
            self._group.free += 1


class QuerySlots:
    """Limits how many queries run at the same time: each query needs one of a fixed number of slots.

    An instance must be used from a single event loop.

    Args:
        seconds: Maximum number of seconds for a query. Some slots, which are meant for short queries, have
            the lower limit `QUICK_SECONDS`.

    Attributes:
        running: Number of running queries of each visitor.
        stuck: Number of queries of each visitor that still run although they should have been stopped. They
            are also counted in ``running``.
    """

    def __init__(self, seconds: float) -> None:
        self._slot_groups = (SlotGroup(seconds, PATIENT), SlotGroup(min(seconds, QUICK_SECONDS), QUICK))
        self.running, self.stuck = Counter[str](), Counter[str]()

    async def take(self, visitor: str) -> Slot:
        """Occupy a slot, which allows one query to run. If no slot is free, wait for one.

        Args:
            visitor: Address of the visitor who asks the query.

        Returns:
            The slot. Call its `Slot.release` when the query has ended on the server.

        Raises:
            BusyError: No slot became free within `WAIT_SECONDS`, or stuck queries of the visitor still run.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_SECONDS
        while True:
            if not self.stuck[visitor] and self.running[visitor] < MOST_OF_ONE:
                # Use a slot for long queries if one is free, otherwise a slot for short queries.
                for candidate in self._slot_groups:
                    if candidate.free:
                        candidate.free -= 1
                        self.running[visitor] += 1
                        return Slot(self, candidate, visitor)
            if clock() >= until:
                if self.stuck[visitor]:
                    raise BusyError(
                        "the server has not stopped your earlier queries yet, because another program uses "
                        "it: try again later"
                    )
                raise BusyError("the server is busy with other queries: try again in a few seconds")
            # Forget the visitors who run no queries.
            self.running, self.stuck = +self.running, +self.stuck
            await asyncio.sleep(_POLL_SECONDS)
