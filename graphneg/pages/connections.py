"""Limits on connections, below the web application.

uvicorn closes only connections that are idle between two requests. A few hundred half-sent requests would
therefore use up all the files that a process may open. Here, the head and the body of a request must arrive
in time, an answer must be read in time, and the number of connections is limited, per address and in total.
When a limit is reached, the connection that has waited longest for a complete request is closed to make room
for the new one. An honest visitor sends a request at once, so it loses no connection.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphneg.pages.guesses import address_key

MOST, MOST_OF_ONE = 400, 100
"""Maximum number of open connections: in total, and of one address.

One address may be a router with several visitors behind it.
"""
PATIENCE_SECONDS = 1.0
"""Seconds in which a connection can send its request before it may have to make room for others."""
HEAD_SECONDS = 10.0
"""Seconds from the start of a connection or a request until its head must be complete."""
BODY_SECONDS = 300.0
"""Seconds until a body must be complete: enough for the largest file of judgements at 2 Mbit/s."""
LINGER_SECONDS = 2.0
"""Seconds that a connection stays open if its request was answered before it was complete."""
STALL_SECONDS = 30.0
"""Seconds after which a connection is closed if the visitor reads nothing of an answer."""


def _short_answer(status: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n"
    return f"{head}Retry-After: {HEAD_SECONDS:.0f}\r\n\r\n".encode()


_TOO_MANY = _short_answer("503 Service Unavailable")
_TOO_SLOW = _short_answer("408 Request Timeout")


class LimitedProtocol(H11Protocol):
    """A connection of uvicorn with the limits of this module."""

    _phase: Any = None
    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _since = 0.0
    key = ""
    """The part of the visitor's address that distinguishes visitors; see `address_key`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection if there is room, or if another one can make room.

        Args:
            transport: The transport of the connection.
        """
        super().connection_made(transport)
        self._since = self.loop.time()
        self.key = address_key(self.client[0]) if self.client else ""
        if self._has_room():
            self._set_deadline()
        else:
            transport.write(_TOO_MANY)
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request.

        Args:
            data: The bytes.
        """
        super().data_received(data)
        self._set_deadline()

    def on_response_complete(self) -> None:
        """Continue with the next request."""
        super().on_response_complete()
        self._since = self.loop.time()
        self._set_deadline()

    def pause_writing(self) -> None:
        """Wait for a visitor that reads more slowly than the answer is written."""
        super().pause_writing()
        # uvicorn calls this when the buffer of the connection is full: the visitor does not read.
        self._stall = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Continue to write."""
        super().resume_writing()
        if self._stall:
            self._stall.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of the connection.

        Args:
            exc: The error that ended the connection, if any.
        """
        for timer in (self._deadline, self._stall):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    @property
    def is_incomplete(self) -> bool:
        """Whether the connection has no complete request that still waits for its answer."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _has_room(self) -> bool:
        """Return whether the connection can stay, after closing another one if a limit is reached."""
        others = [
            one
            for one in self.connections
            if one is not self and isinstance(one, LimitedProtocol) and not one.transport.is_closing()
        ]
        mine = [one for one in others if one.key == self.key]
        # The address that is over its limit makes room itself: other visitors lose nothing.
        if len(mine) >= MOST_OF_ONE:
            return self._make_room(mine)
        if len(others) >= MOST:
            # The address with the most connections is the likely cause of the flood.
            commonest = Counter(one.key for one in others).most_common(1)[0][0]
            return self._make_room([one for one in others if one.key == commonest])
        return True

    def _make_room(self, among: list[LimitedProtocol]) -> bool:
        """Close the connection that has waited longest for a complete request, and return whether one was."""
        last = self.loop.time() - PATIENCE_SECONDS
        waiting = [one for one in among if one.is_incomplete and one._since <= last]
        if not waiting:
            return False
        min(waiting, key=lambda one: one._since).transport.abort()
        return True

    def _set_deadline(self) -> None:
        """Start the timer for what is being received: a head, a body, or the rest of an answered request."""
        answered = bool(self.cycle) and self.cycle.response_complete
        phase = (self.conn.their_state, answered)
        # The timer runs from the start of a phase: a visitor that sends one byte every second
        # must not renew it.
        if phase == self._phase:
            return
        self._phase = phase
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None
        # IDLE: the head of the next request is awaited.
        if phase[0] is h11.IDLE:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._end)
        # SEND_BODY: the head is complete, and the visitor sends the body.
        elif phase[0] is h11.SEND_BODY:
            seconds = LINGER_SECONDS if answered else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        # An answer that has begun cannot be followed by an error status.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_TOO_SLOW)
            self.transport.close()
        else:
            self.transport.abort()
