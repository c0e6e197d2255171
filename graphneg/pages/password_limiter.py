"""Limit how often passwords may be tried, per address and for all addresses together.

Both limits are token buckets: several attempts are allowed at once, and further attempts at a constant rate.
An attempt is counted before the password is compared, so an attacker with a list of passwords cannot try
them faster than the limit allows. If there are too many attempts, further attempts are refused immediately,
with the number of seconds to wait, so that they do not keep connections open.

A single address can use at most a tenth of the rate that is allowed for all addresses. Attacks from many
addresses could still use up the whole rate, so some visitors have a share of it that such attacks cannot use:

- The machine itself (any loopback address), and addresses from which somebody has logged in, are subject only
  to the limit for one address.
- Half of the burst for all addresses is reserved for the first few attempts of each address.

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
RESERVED = 10
"""Number of attempts of `OF_ALL` that are reserved for addresses with at most `FIRST_ATTEMPTS` attempts."""
FIRST_ATTEMPTS = 3
"""Number of attempts of an address for which the reserved attempts may be used: a visitor may mistype the
password twice."""
MOST_KNOWN = 1_000
"""Maximum number of remembered addresses from which somebody has logged in."""
LOOPBACK = "loopback"
"""The key of all loopback addresses. A program can choose freely among millions of them."""


@dataclass(slots=True)
class Bucket:
    """A token bucket, which limits the number and the rate of attempts.

    Attributes:
        rate: The size of the bucket and the rate at which it is refilled.
        left: Number of attempts that were left at the last refill. It need not be an integer.
        at: The time of the last refill, in seconds.
        attempts: Number of attempts that were allowed since the bucket was made.
    """

    rate: Rate
    left: float
    at: float
    attempts: int = 0

    def refill(self, now: float) -> None:
        """Refill the bucket: allow more attempts, in proportion to the time since the last refill.

        Args:
            now: The current time, in seconds.
        """
        self.left = min(self.rate.burst, self.left + (now - self.at) * self.rate.per_second)
        self.at = now

    def take(self) -> None:
        """Count an attempt."""
        self.left -= 1
        self.attempts += 1

    def seconds_to_wait(self, reserved: float = 0) -> float:
        """Return the number of seconds until an attempt is allowed.

        Args:
            reserved: Number of attempts that must remain in the bucket for others.

        Returns:
            The number of seconds; 0 if an attempt is allowed now.
        """
        return max(0.0, (1 + reserved - self.left) / self.rate.per_second)


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
        self._known = {LOOPBACK: None}

    def seconds_to_wait(self, address: str) -> float:
        """Count an attempt if it is allowed now.

        Args:
            address: The IP address of the visitor.

        Returns:
            0 if the attempt is allowed and was counted; otherwise the number of seconds until an attempt is
            allowed.
        """
        now, key = self._clock(), address_key(address)
        own = self._bucket(key, now)
        buckets = [own] if key in self._known else [self._all, own]
        reserved = RESERVED if own.attempts >= FIRST_ATTEMPTS else 0
        for bucket in buckets:
            bucket.refill(now)
        # Do not count a refused attempt. Otherwise, an attacker who keeps trying could make other visitors
        # wait forever.
        if wait := max(bucket.seconds_to_wait(reserved if bucket is self._all else 0) for bucket in buckets):
            return wait
        for bucket in buckets:
            bucket.take()
        return 0.0

    def logged_in(self, address: str) -> None:
        """Remember that somebody with this address knows the password.

        Args:
            address: The IP address of the visitor.
        """
        key = address_key(address)
        # Move the address to the end, so that the address whose last login was longest ago is forgotten.
        if key != LOOPBACK:
            self._known.pop(key, None)
            self._known[key] = None
        if len(self._known) > MOST_KNOWN:
            del self._known[next(known for known in self._known if known != LOOPBACK)]

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
        network. `LOOPBACK` for each loopback address. A text that is not an address is returned unchanged.

    Example:
        >>> address_key("2001:db8::1:2:3:4"), address_key("::ffff:192.0.2.7"), address_key("192.0.2.7")
        ('2001:db8::/64', '192.0.2.7', '192.0.2.7')
    """
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    # A server that listens on IPv6 sees visitors with IPv4 under addresses such as ::ffff:192.0.2.7. Count
    # them under their IPv4 addresses.
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped:
        known = known.ipv4_mapped
    if known.is_loopback:
        return LOOPBACK
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    return str(ipaddress.ip_network((known, IPV6_NETWORK), strict=False))
