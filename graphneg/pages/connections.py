"""Protect the server against clients that keep many connections open.

uvicorn closes only connections that are idle between two requests. So a client that sends a few hundred
incomplete requests would use up all the files that a process may open. `LimitedProtocol` prevents this. The
headers and the body of a request must arrive in time, a response must be read in time, and the number of
connections is limited, per address and in total. When a limit is reached, the connection that has been
waiting longest for a complete request is closed to make room for the new one. An ordinary browser sends its
requests immediately, so it does not lose connections.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphneg.pages.password_limiter import address_key

MOST, MOST_OF_ONE = 400, 100
"""Maximum number of open connections: in total, and from one address.

The limit per address is generous, because several visitors may share the address of a router.
"""
PATIENCE_SECONDS = 1.0
"""Seconds for which a connection without a complete request is safe from being closed to make room for
others."""
HEAD_SECONDS = 10.0
"""Maximum number of seconds for sending the headers of a request, from the start of the connection or the
request."""
BODY_SECONDS = 300.0
"""Maximum number of seconds for sending the body of a request, enough for the largest file of judgements at 2
Mbit/s."""
LINGER_SECONDS = 2.0
"""Seconds after which a connection is closed if the response was sent before the whole request had
arrived."""
STALL_SECONDS = 30.0
"""Seconds after which a connection is closed if the visitor does not read the response."""


def _short_answer(status: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n"
    return f"{head}Retry-After: {HEAD_SECONDS:.0f}\r\n\r\n".encode()


_TOO_MANY = _short_answer("503 Service Unavailable")
_TOO_SLOW = _short_answer("408 Request Timeout")


class LimitedProtocol(H11Protocol):
    """A connection of uvicorn with the time limits and the maximum number of connections of this module."""

    _phase: Any = None
    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _since = 0.0
    key = ""
    """The part of the IP address that identifies the visitor; see `address_key`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection if no limit is reached or another connection can be closed instead.

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
        """Read a part of a request, and update the deadline.

        Args:
            data: The bytes that have arrived.
        """
        super().data_received(data)
        self._set_deadline()

    def on_response_complete(self) -> None:
        """Prepare for the next request, and set its deadline."""
        super().on_response_complete()
        self._since = self.loop.time()
        self._set_deadline()

    def pause_writing(self) -> None:
        """Start the timer for a visitor that does not read the response."""
        super().pause_writing()
        # uvicorn calls this method when the buffer of the connection is full, because the visitor does not
        # read.
        self._stall = self.loop.call_later(STALL_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Continue to write the response, and cancel the timer."""
        super().resume_writing()
        if self._stall:
            self._stall.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of the connection.

        Args:
            exc: The error that ended the connection; None if there was none.
        """
        for timer in (self._deadline, self._stall):
            if timer:
                timer.cancel()
        super().connection_lost(exc)

    @property
    def is_incomplete(self) -> bool:
        """Whether the server is still waiting for a complete request on this connection."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _has_room(self) -> bool:
        """Return whether the connection may stay open. If a limit is reached, try to close another one."""
        others = [
            one
            for one in self.connections
            if one is not self and isinstance(one, LimitedProtocol) and not one.transport.is_closing()
        ]
        mine = [one for one in others if one.key == self.key]
        # If this address has reached its own limit, close one of its connections, not one of another visitor.
        if len(mine) >= MOST_OF_ONE:
            return self._make_room(mine)
        if len(others) >= MOST:
            # If the total limit is reached, close a connection of the address that has the most connections.
            # It is probably the attacker.
            commonest = Counter(one.key for one in others).most_common(1)[0][0]
            return self._make_room([one for one in others if one.key == commonest])
        return True

    def _make_room(self, among: list[LimitedProtocol]) -> bool:
        """Close the connection that has waited longest for a complete request. Return whether one exists."""
        last = self.loop.time() - PATIENCE_SECONDS
        waiting = [one for one in among if one.is_incomplete and one._since <= last]
        if not waiting:
            return False
        min(waiting, key=lambda one: one._since).transport.abort()
        return True

    def _set_deadline(self) -> None:
        """Start a timer when headers, a body, or the rest of an answered request begin to arrive."""
        answered = bool(self.cycle) and self.cycle.response_complete
        phase = (self.conn.their_state, answered)
        # Do not restart the timer within a phase. Otherwise, a client could renew it by sending one byte
        # every second.
        if phase == self._phase:
            return
        self._phase = phase
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None
        # IDLE means that the server waits for the headers of the next request.
        if phase[0] is h11.IDLE:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._end)
        # SEND_BODY means that the headers are complete and the client sends the body.
        elif phase[0] is h11.SEND_BODY:
            seconds = LINGER_SECONDS if answered else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        # Send an error status, unless a part of a response has already been sent.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_TOO_SLOW)
            self.transport.close()
        else:
            self.transport.abort()
