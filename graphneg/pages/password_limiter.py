"""Limit how often passwords may be tried, per address and for all addresses together.

Both limits are token buckets: several attempts are allowed at once, and further attempts at a constant rate.
An attempt is counted before the password is compared, so an attacker with a list of passwords cannot try
them faster than the limit allows. If there are too many attempts, further attempts are refused immediately,
with the number of seconds to wait, so that they do not keep connections open.

A single address can use at most a tenth of the rate that is allowed for all addresses. Attacks from one or a
few addresses therefore do not prevent visitors with different addresses from logging in.

Example::

    guesses = PasswordLimiter()
    guesses.seconds_to_wait("192.0.2.7")    # 0.0: the attempt is allowed
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass

MOST_ADDRESSES = 10_000
"""Maximum number of addresses that are remembered. If more addresses try passwords, some of them are
forgotten, and only the limit for all addresses together is certain to work."""
IPV6_NETWORK = 64
"""Number of leading bits of an IPv6 address that identify a visitor. A visitor usually has a whole /64
network, and can choose the remaining bits freely."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The size of a token bucket and the rate at which it is refilled.

    Attributes:
        burst: Number of attempts that are allowed at once if the bucket is full.
        per_second: Number of attempts that are added to the bucket per second.
    """

    burst: float
    per_second: float


OF_ONE = Rate(5, 0.2)
"""The limit for one address."""
OF_ALL = Rate(20, 2.0)
"""The limit for all addresses together."""


@dataclass(slots=True)
class Bucket:
    """A token bucket, which limits the number and the rate of attempts.

    Attributes:
        rate: The size of the bucket and the rate at which it is refilled.
        left: Number of attempts that were left at the last refill. It need not be an integer.
        at: The time of the last refill, in seconds.
    """

    rate: Rate
    left: float
    at: float

    def refill(self, now: float) -> None:
        """Refill the bucket: allow more attempts, in proportion to the time since the last refill.

        Args:
            now: The current time, in seconds.
        """
        self.left = min(self.rate.burst, self.left + (now - self.at) * self.rate.per_second)
        self.at = now

    @property
    def seconds_to_wait(self) -> float:
        """Number of seconds until an attempt is allowed; 0 if an attempt is allowed now."""
        return max(0.0, (1 - self.left) / self.rate.per_second)


class PasswordLimiter:
    """Counts attempts to log in, and says when the next attempt is allowed.

    An instance must be used from a single thread.

    Args:
        clock: Function that returns the current time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._all = Bucket(OF_ALL, OF_ALL.burst, clock())
        self._by_address: dict[str, Bucket] = {}

    def seconds_to_wait(self, address: str) -> float:
        """Count an attempt if it is allowed now.

        Args:
            address: The IP address of the visitor.

        Returns:
            0 if the attempt is allowed and was counted; otherwise the number of seconds until an attempt is
            allowed.
        """
        now = self._clock()
        own = self._bucket(address_key(address), now)
        for bucket in (self._all, own):
            bucket.refill(now)
        # Do not count a refused attempt. Otherwise, an attacker who keeps trying could make other visitors
        # wait forever.
        if wait := max(self._all.seconds_to_wait, own.seconds_to_wait):
            return wait
        self._all.left -= 1
        own.left -= 1
        return 0.0

    def _bucket(self, key: str, now: float) -> Bucket:
        if key not in self._by_address and len(self._by_address) >= MOST_ADDRESSES:
            self._drop_idle_addresses(now)
        return self._by_address.setdefault(key, Bucket(OF_ONE, OF_ONE.burst, now))

    def _drop_idle_addresses(self, now: float) -> None:
        """Forget addresses without recent attempts.

        If too many addresses are left, also forget the address whose last attempt was longest ago.
        """
        full_after = OF_ONE.burst / OF_ONE.per_second
        self._by_address = {
            key: bucket for key, bucket in self._by_address.items() if now - bucket.at < full_after
        }
        if len(self._by_address) >= MOST_ADDRESSES:
            del self._by_address[min(self._by_address, key=lambda key: self._by_address[key].at, default="")]


def address_key(address: str) -> str:
    """Return the part of an IP address that identifies a visitor.

    Args:
        address: The IP address.

    Returns:
        For an IPv4 address, the address itself, even if it is written as IPv6. For an IPv6 address, its /64
        network. A text that is not an address is returned unchanged.

    Example:
        >>> address_key("2001:db8::1:2:3:4"), address_key("::ffff:192.0.2.7"), address_key("192.0.2.7")
        ('2001:db8::/64', '192.0.2.7', '192.0.2.7')
    """
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    # A server that listens on IPv6 sees visitors with IPv4 under addresses such as ::ffff:192.0.2.7. Count
    # them under their IPv4 addresses.
    if known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, IPV6_NETWORK), strict=False))
