"""Limit how many queries of visitors run at the same time, without letting slow queries block fast queries.

Each running query occupies a slot. There are two kinds of slots. In a *patient* slot, a query may run as
long as the time limit of the pages allows. If all patient slots are occupied, a query gets a *quick* slot,
in which it is stopped after `QUICK_SECONDS`. Quick slots therefore soon become free again, and a fast query
such as ``RETURN 1`` does not have to wait for slow queries. If a query gets no slot within `WAIT_SECONDS`,
it is refused, and the visitor is asked to try again.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from graphneg.errors import GraphnegError

PATIENT, QUICK = 3, 3
"""Number of slots of each kind."""
QUICK_SECONDS = 2.0
"""Maximum number of seconds for a query in a quick slot."""
WAIT_SECONDS = 3.0
"""Maximum number of seconds to wait for a slot. It is longer than `QUICK_SECONDS`, so that at least one quick
slot becomes free in this time."""
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

    def release(self) -> None:
        """Count one more slot as free, because the query in it has ended."""
        self.free += 1


class QuerySlots:
    """Limits how many queries run at the same time: each query needs one of a fixed number of slots.

    An instance must be used from a single event loop.

    Args:
        seconds: Maximum number of seconds for any query. For a query in a quick slot, `QUICK_SECONDS` is a
            further limit.
    """

    def __init__(self, seconds: float) -> None:
        self._slot_groups = (SlotGroup(seconds, PATIENT), SlotGroup(min(seconds, QUICK_SECONDS), QUICK))

    async def take(self) -> SlotGroup:
        """Occupy a slot, which allows one query to run. If no slot is free, wait for one.

        Returns:
            The group to which the slot belongs. Call its `release` when the query has ended on the server.

        Raises:
            BusyError: No slot became free within `WAIT_SECONDS`.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_SECONDS
        while True:
            # Use a slot for long queries if one is free, otherwise a slot for short queries.
            for candidate in self._slot_groups:
                if candidate.free:
                    candidate.free -= 1
                    return candidate
            if clock() >= until:
                raise BusyError("the server is busy with other queries: try again in a few seconds")
            await asyncio.sleep(_POLL_SECONDS)
