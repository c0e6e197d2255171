"""Limit how many queries of visitors run at once, without letting slow queries block quick ones.

There are two kinds of places. A query in a *patient* place may take all the time that the pages allow. When
all patient places are taken, further queries get a *quick* place, in which they are stopped after
`QUICK_SECONDS`. Slow queries therefore never occupy all places for longer than that, and a query like
``RETURN 1`` soon gets a place. A query that gets none within `WAIT_SECONDS` is refused, and the visitor is
asked to try again.
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
"""Seconds that a query waits for a place: more than `QUICK_SECONDS`, so that a quick place becomes free."""
_POLL_SECONDS = 0.05


class BusyError(GraphnegError):
    """Too many requests are running; the same request may succeed a few seconds later."""


@dataclass
class Place:
    """A kind of place.

    Attributes:
        seconds: Maximum number of seconds for a query.
        free: Number of places that are free.
    """

    seconds: float
    free: int

    def leave(self) -> None:
        """Return the place."""
        self.free += 1


class Turns:
    """The places for queries. It must be used from one event loop.

    Args:
        seconds: Maximum number of seconds for a query in a patient place.
    """

    def __init__(self, seconds: float) -> None:
        """Initialize with all places free."""
        self._places = (Place(seconds, PATIENT), Place(min(seconds, QUICK_SECONDS), QUICK))

    async def take(self) -> Place:
        """Take a place, waiting for one if necessary.

        Returns:
            The place. Call its `leave` when the query has ended on the server.

        Raises:
            BusyError: No place became free within `WAIT_SECONDS`.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_SECONDS
        while True:
            # Patient places come first: a query may as well have the longer time.
            for place in self._places:
                if place.free:
                    place.free -= 1
                    return place
            if clock() >= until:
                raise BusyError("the server is busy with other queries: try again in a few seconds")
            await asyncio.sleep(_POLL_SECONDS)
