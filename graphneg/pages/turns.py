"""How many queries of visitors run at once, so that slow ones never keep out quick ones.

There are two kinds of places. A query in a *patient* place may take all the time that the pages allow. When
these are taken, the next queries get a *quick* place, where they are stopped after `QUICK_SECONDS`. So nine
slow queries at once leave room for ``RETURN 1`` within two seconds. Who finds no place in that time is told
to try again.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from graphneg.errors import GraphnegError

PATIENT, QUICK = 3, 3
"""Places of each kind."""
QUICK_SECONDS = 2.0
"""Seconds that a query in a quick place may take."""
WAIT_SECONDS = 3.0
"""Seconds that a query waits for a place: longer than those in quick places run."""
_POLL_SECONDS = 0.05


class BusyError(GraphnegError):
    """Too much is asked at once; the same request may work in some seconds."""


@dataclass
class Place:
    """A kind of place: how many seconds a query there may take, and how many places are left."""

    seconds: float
    free: int

    def leave(self) -> None:
        """Give the place back."""
        self.free += 1


class Turns:
    """Hands out places. Used from one event loop."""

    def __init__(self, seconds: float) -> None:
        self._places = (Place(seconds, PATIENT), Place(min(seconds, QUICK_SECONDS), QUICK))

    async def take(self) -> Place:
        """Take a place; leave it when the query has ended on the server.

        Raises:
            BusyError: None was free for `WAIT_SECONDS`.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + WAIT_SECONDS
        while True:
            for place in self._places:
                if place.free:
                    place.free -= 1
                    return place
            if clock() >= until:
                raise BusyError("the server is busy with other queries: try again in a few seconds")
            await asyncio.sleep(_POLL_SECONDS)
