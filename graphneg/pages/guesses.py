"""How often a password may be tried: a limit for each address, and one for all addresses together.

Both are token buckets: a number of tries at once, then a steady rate. A try is counted before the password is
compared, so the right password among a thousand wrong ones is found no faster than the limit. Nobody is made
to wait with an open connection: who is over the limit is told at once when the next try is allowed.

One address uses at most a tenth of what all together have. A flood from one address, or from a few, therefore
keeps nobody out who comes from another one::

    guesses = Guesses()
    guesses.seconds_to_wait("192.0.2.7")    # 0.0: try now
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass

MOST_ADDRESSES = 10_000
"""Addresses that are remembered. Beyond them the limit for all together is the only one that counts."""
IPV6_NETWORK = 64
"""Bits of an IPv6 address that tell visitors apart: one visitor has all addresses below them."""


@dataclass(frozen=True, slots=True)
class Rate:
    """``burst`` tries at once, then ``per_second``."""

    burst: float
    per_second: float


OF_ONE = Rate(5, 0.2)
OF_ALL = Rate(20, 2.0)


@dataclass(slots=True)
class Bucket:
    """The tries that are left, at a time."""

    rate: Rate
    left: float
    at: float

    def refill(self, now: float) -> None:
        """Add the tries of the time that has passed."""
        self.left = min(self.rate.burst, self.left + (now - self.at) * self.rate.per_second)
        self.at = now

    @property
    def seconds_to_wait(self) -> float:
        """Seconds until there is a whole try; 0 where there is one."""
        return max(0.0, (1 - self.left) / self.rate.per_second)


class Guesses:
    """Counts tries. Used from one thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._all = Bucket(OF_ALL, OF_ALL.burst, clock())
        self._by_address: dict[str, Bucket] = {}

    def seconds_to_wait(self, address: str) -> float:
        """Count a try from an address, if one is allowed now.

        Returns:
            0 where the try is allowed and was counted, else the seconds until one may be.
        """
        now = self._clock()
        own = self._bucket(address_key(address), now)
        for bucket in (self._all, own):
            bucket.refill(now)
        if wait := max(self._all.seconds_to_wait, own.seconds_to_wait):
            return wait
        self._all.left -= 1
        own.left -= 1
        return 0.0

    def _bucket(self, key: str, now: float) -> Bucket:
        if key not in self._by_address and len(self._by_address) >= MOST_ADDRESSES:
            self._forget(now)
        return self._by_address.setdefault(key, Bucket(OF_ONE, OF_ONE.burst, now))

    def _forget(self, now: float) -> None:
        """Forget addresses that have all their tries again; where there are none, the one known longest."""
        full_after = OF_ONE.burst / OF_ONE.per_second
        self._by_address = {
            key: bucket for key, bucket in self._by_address.items() if now - bucket.at < full_after
        }
        if len(self._by_address) >= MOST_ADDRESSES:
            del self._by_address[min(self._by_address, key=lambda key: self._by_address[key].at, default="")]


def address_key(address: str) -> str:
    """Return what tells a visitor's address from those of others.

    >>> address_key("2001:db8::1:2:3:4"), address_key("::ffff:192.0.2.7"), address_key("192.0.2.7")
    ('2001:db8::/64', '192.0.2.7', '192.0.2.7')
    """
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, IPV6_NETWORK), strict=False))
