"""Limit how often passwords may be tried, per address and for all addresses together.

Both limits are token buckets: several attempts are allowed at once, and further attempts at a constant rate.
An attempt is counted before the password is compared, so an attacker with a list of passwords cannot try
them faster than the limit allows. If there are too many attempts, further attempts are refused immediately,
with the number of seconds to wait, so that they do not keep connections open.

A single address can use at most a tenth of the rate that is allowed for all addresses. Attacks from many
addresses use up that rate, so the following attempts are limited separately:

- The machine itself (127.0.0.1, ::1, and connections from an address of the server to the same address), and
  addresses from which somebody has logged in, are subject only to the limit for one address.
- An address that is refused because of attempts from other addresses gets a place in a queue, and is told
  when its turn comes. An attempt within `PLACE_SECONDS` after that time is allowed. While N other addresses
  try passwords, the wait is at most N + 1 seconds, for up to `MOST_PLACES` addresses.

The number of comparisons remains limited: per second, 2 from all addresses together, 1 from the queue, and
0.2 from the machine itself and from each of the `MOST_KNOWN` addresses whose users know the password.

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
IPV4_WIDE, IPV6_WIDE = 24, 48
"""Number of leading bits of addresses that identify a network of several visitors."""


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
"""The limit for all addresses together, except for the machine itself, known addresses and the queue."""
MACHINE = "127.0.0.1"
"""The address under which all attempts from the machine itself are counted."""
MOST_KNOWN = 100
"""Maximum number of remembered addresses from which somebody has logged in."""
TURNS_PER_SECOND = 1.0
"""Number of addresses in the queue whose turn comes per second."""
PLACE_SECONDS = 60.0
"""Number of seconds for which a place in the queue is kept after its turn has come."""
MOST_PLACES = 1_000
"""Maximum number of places in the queue."""
MOST_PLACES_OF_NETWORK = 300
"""Maximum number of places in the queue for one network (/24 of IPv4, /48 of IPv6). A visitor may have a
whole /48 network of IPv6, which contains 65,536 networks that count as different visitors."""


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


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an address in the queue of those that wait to try a password.

    Attributes:
        network: The network of this address.
        turn: The time from which the address may try a password, in seconds.
    """

    network: str
    turn: float


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
        # Dictionaries keep the order of insertion. So the first entry of `_known` is the address whose last
        # login was longest ago, and the first entry of `_places` is the place in the queue whose turn comes
        # first.
        self._known: dict[str, None] = {}
        self._places: dict[str, Place] = {}
        self._last_turn = clock()

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
        for bucket in (self._all, own):
            bucket.refill(now)
        # Count only allowed attempts. If refused attempts were counted, an attacker who keeps trying could
        # make other visitors wait forever.
        if own.seconds_to_wait:
            return own.seconds_to_wait
        if key != MACHINE and key not in self._known and (wait := self._wait_for_others(key, address, now)):
            return wait
        own.left -= 1
        return 0.0

    def logged_in(self, address: str) -> None:
        """Remember that somebody with this address knows the password.

        Args:
            address: The IP address of the visitor.
        """
        key = address_key(address)
        self._known.pop(key, None)
        self._known[key] = None
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def _wait_for_others(self, key: str, address: str, now: float) -> float:
        """Count an attempt in the queue or in the limit for all addresses.

        Returns:
            0 if the attempt is allowed; otherwise the number of seconds until the turn of the address.
        """
        while self._places and (first := next(iter(self._places.items())))[1].turn + PLACE_SECONDS < now:
            del self._places[first[0]]
        place = self._places.get(key)
        if place is not None and place.turn <= now:
            del self._places[key]
            return 0.0
        # If the attempt is allowed without the queue, the address keeps its place in the queue. If it lost
        # the place, it could take a new place again and again, and so delay all later addresses.
        if not self._all.seconds_to_wait:
            self._all.left -= 1
            return 0.0
        if place is None:
            place = Place(
                address_key(address, IPV4_WIDE, IPV6_WIDE), max(now, self._last_turn) + 1 / TURNS_PER_SECOND
            )
            of_network = sum(other.network == place.network for other in self._places.values())
            if len(self._places) < MOST_PLACES and of_network < MOST_PLACES_OF_NETWORK:
                self._places[key] = place
                self._last_turn = place.turn
        return place.turn - now

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


def address_key(address: str, ipv4_bits: int = 32, ipv6_bits: int = IPV6_NETWORK) -> str:
    """Return the key under which attempts from an IP address are counted: the address or its network.

    Args:
        address: The IP address.
        ipv4_bits: Number of leading bits of an IPv4 address to use.
        ipv6_bits: Number of leading bits of an IPv6 address to use.

    Returns:
        For an IPv4 address, even if it is written as IPv6, the address itself if ``ipv4_bits`` is 32,
        otherwise its network. For an IPv6 address, its network. `MACHINE` for ::1. A text that is not an
        address is returned unchanged.

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
    if isinstance(known, ipaddress.IPv6Address):
        if known.is_loopback:
            return MACHINE
        known = known.ipv4_mapped or known
    bits = ipv4_bits if isinstance(known, ipaddress.IPv4Address) else ipv6_bits
    if bits == known.max_prefixlen:
        return str(known)
    return str(ipaddress.ip_network((known, bits), strict=False))
