"""Limit how many queries of visitors run at the same time, without letting slow queries block fast ones.

Each running query occupies a place. There are two kinds of places. In a *patient* place, a query may run up
to the time limit of the pages. If all patient places are occupied, a query gets a *quick* place, where it is
stopped after `QUICK_SECONDS`. So quick places soon become free again, and a fast query such as ``RETURN 1``
does not have to wait for slow ones. If a query gets no place within `WAIT_SECONDS`, it is refused, and the
visitor is asked to try again.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from graphneg.errors import GraphnegError

PATIENT, QUICK = 3, 3
"""Number of places of each kind."""
QUICK_SECONDS = 2.0
"""Maximum number of seconds for a query in a quick place."""
WAIT_SECONDS = 3.0
"""Maximum number of seconds to wait for a place. It is longer than `QUICK_SECONDS`, so that a quick place
becomes free in the meantime."""
_POLL_SECONDS = 0.05


class BusyError(GraphnegError):
    """Too many queries or uploads are running. The same request may succeed a few seconds later."""


@dataclass
class Place:
    """A group of places with the same time limit.

    Attributes:
        seconds: Maximum number of seconds for a query in such a place.
        free: Number of free places in the group.
    """

    seconds: float
    free: int

    def release(self) -> None:
        """Give one place of the group back."""
        self.free += 1


class QuerySlots:
    """Assigns places to queries. An instance must be used from a single event loop.

    Args:
        seconds: Maximum number of seconds for a query in a patient place.
    """

    def __init__(self, seconds: float) -> None:
        """Initialize with all places free."""
        # The time limit of quick places must not exceed that of patient places, which the user chooses.
        self._places = (Place(seconds, PATIENT), Place(min(seconds, QUICK_SECONDS), QUICK))

    async def take(self) -> Place:
        """Take a place. Wait until one becomes free if necessary.

        Returns:
            The group to which the place belongs. Call its `release` when the query has ended on the server.

        Raises:
            BusyError: No place became free within `WAIT_SECONDS`.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_SECONDS
        while True:
            # Prefer a patient place, so that the query has more time.
            for place in self._places:
                if place.free:
                    place.free -= 1
                    return place
            if clock() >= until:
                raise BusyError("the server is busy with other queries: try again in a few seconds")
            await asyncio.sleep(_POLL_SECONDS)
