"""Protect the server against clients that keep many connections open.

By default, uvicorn closes a connection only if it is idle between two requests. A client that sends a few
hundred incomplete requests could therefore use up all the sockets that the process may open.
`LimitedProtocol` prevents this: the headers and the body of a request must arrive in time, a response must
be read in time, and the number of connections is limited, per address and in total. If there are too many
connections, the server makes room for a new connection: it closes the connection on which it has waited
longest for a complete request, or for the visitor to read the response. Visitors who are not logged in give
way first, even if the server is busy with their requests. Ordinary browsers send complete requests, one after
the other, and read the responses immediately, so their connections are not closed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from math import inf
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphneg.pages.gate import HAS_SESSION
from graphneg.pages.password_limiter import address_key

MOST, MOST_OF_ONE = 400, 100
"""Maximum number of open connections: in total, and from one address.

The limit per address is generous, because several visitors may share the address of a router.
"""
PATIENCE_SECONDS = 1.0
"""Minimum number of seconds that the server waits for a complete request, or for a response to be read,
before the connection may be closed to make room for another connection.
"""
FAIR_RATIO = 2
"""If the address with the most connections has at least this many times as many as the address of a new
connection, one of them is closed at once, without waiting for `PATIENCE_SECONDS`."""
HEAD_SECONDS = 10.0
"""Maximum number of seconds until the headers of a request have arrived, counted from the start of the
connection or from the end of the previous response."""
BODY_SECONDS = 300.0
"""Maximum number of seconds until the body of a request has arrived. This is enough to upload the largest
file of judgements at 2 Mbit/s.
"""
LINGER_SECONDS = 2.0
"""Number of seconds to wait for the rest of a request whose response was already sent. After that, the
connection is closed."""
STALL_SECONDS, OUTSIDE_STALL_SECONDS = 30.0, 5.0
"""Number of seconds after which a connection is closed because the visitor does not read the response: for
visitors who are logged in, and for all others, who get only small files.
"""


def _short_answer(status: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: 0\r\n"
    return f"{head}Retry-After: {HEAD_SECONDS:.0f}\r\n\r\n".encode()


_TOO_MANY = _short_answer("503 Service Unavailable")
_TOO_SLOW = _short_answer("408 Request Timeout")


class LimitedProtocol(H11Protocol):
    """A uvicorn connection with time limits. A new connection is refused if too many are open already."""

    _phase: Any = None
    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _since = _opened = 0.0
    _stalled_since: float | None = None
    key = ""
    """The part of the IP address that identifies the visitor; see `address_key`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, unless there are too many other connections and none can be closed.

        Args:
            transport: The transport of the connection.
        """
        super().connection_made(transport)
        # Let asyncio call `pause_writing`, which starts a timer, as soon as a byte waits to be sent. By
        # default, it waits for 64 KiB. If the visitor did not read a shorter response, the connection would
        # stay open forever, even after it was closed here.
        transport.set_write_buffer_limits(high=0)
        self._since = self._opened = self.loop.time()
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
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            # The body of the request is malformed, but its response was already sent. Uvicorn then tries to
            # send an error as a second response, which fails. Without this handler, asyncio would print a
            # traceback for each such request.
            self.transport.abort()
            return
        self._set_deadline()

    def on_response_complete(self) -> None:
        """Prepare for the next request on the same connection, and set a deadline for its headers."""
        # Browsers wait for a response before they send the next request. So close the connection if further
        # requests have already arrived: an attacker could send hundreds at once, which would keep the server
        # busy for minutes.
        if self.conn.trailing_data[0]:
            self.transport.close()
        super().on_response_complete()
        self._since = self.loop.time()
        self._set_deadline()

    def pause_writing(self) -> None:
        """Start the timer after which the connection is closed, because the visitor reads no more data."""
        super().pause_writing()
        # asyncio calls `pause_writing` when bytes of the response wait to be sent, and `resume_writing` when
        # all of them have been sent. If the timer ends before that, close the connection.
        seconds = STALL_SECONDS if self.has_session else OUTSIDE_STALL_SECONDS
        self._stalled_since = self.loop.time()
        self._stall = self.loop.call_later(seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timer, because the visitor has received all bytes that waited to be sent."""
        super().resume_writing()
        self._stalled_since = None
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
    def has_session(self) -> bool:
        """Whether the visitor who sent the current request is logged in."""
        return bool(self.scope and self.scope.get(HAS_SESSION))

    @property
    def waiting_since(self) -> float:
        """The time at which the server began to wait for the visitor; infinite if it is not waiting."""
        # h11 reports IDLE until all headers of the next request have arrived, and SEND_BODY until its body
        # has arrived.
        is_incomplete = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        stalled = inf if self._stalled_since is None else self._stalled_since
        return min(stalled, self._since if is_incomplete else inf)

    def _has_room(self) -> bool:
        """Return whether this connection may stay open. If there are too many, try to close another one."""
        others = [
            one
            for one in self.connections
            if one is not self
            and isinstance(one, LimitedProtocol)
            # Count a closing connection as open until its whole response has been sent.
            and (not one.transport.is_closing() or one.transport.get_write_buffer_size())
        ]
        same_address = [one for one in others if one.key == self.key]
        # If this address has too many connections, close one of these and not a connection of another
        # visitor.
        if len(same_address) >= MOST_OF_ONE:
            return self._close_longest_waiting(same_address, PATIENCE_SECONDS)
        if len(others) >= MOST:
            # If all addresses together have too many connections, close a connection of the address that has
            # the most connections. This address is probably an attacker's.
            commonest, amount = Counter(one.key for one in others).most_common(1)[0]
            # A few attackers could open new connections so fast that none of them becomes old enough to be
            # closed. So do not wait if this visitor has far fewer connections than they have.
            patience = 0.0 if amount >= FAIR_RATIO * (len(same_address) + 1) else PATIENCE_SECONDS
            return self._close_longest_waiting([one for one in others if one.key == commonest], patience)
        return True

    def _close_longest_waiting(self, among: list[LimitedProtocol], patience: float) -> bool:
        """Close the connection on which the server has waited longest.

        Args:
            among: The connections of which one may be closed.
            patience: Minimum number of seconds for which the server must have waited.

        Returns:
            Whether a connection was closed.
        """
        last = self.loop.time() - patience
        waiting = [one for one in among if one.waiting_since <= last]
        # If the server waits on none of the connections, close one whose visitor is not logged in.
        waiting = waiting or [one for one in among if not one.has_session and one._opened <= last]
        if not waiting:
            return False
        min(waiting, key=lambda one: (one.has_session, one.waiting_since, one._opened)).transport.abort()
        return True

    def _set_deadline(self) -> None:
        """Start a timer when the server begins to wait for the next part of a request, such as its body."""
        answered = bool(self.cycle) and self.cycle.response_complete
        phase = (self.conn.their_state, answered)
        # Keep the timer running while the server waits for the same part of a request. If each byte restarted
        # the timer, a client could keep the connection open by sending one byte every second.
        if phase == self._phase:
            return
        self._phase = phase
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None
        # IDLE: the server waits for the headers of the next request.
        if phase[0] is h11.IDLE:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._end)
        # SEND_BODY: the headers of the request have arrived, and the server waits for its body.
        elif phase[0] is h11.SEND_BODY:
            seconds = LINGER_SECONDS if answered else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self._end)

    def _end(self) -> None:
        # The time is up. Send an error status if no part of a response has been sent yet.
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_TOO_SLOW)
            self.transport.close()
        else:
            self.transport.abort()
