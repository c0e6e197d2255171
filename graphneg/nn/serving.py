"""Configure the access to a model server, limit its cost, and pause requests.

`ServerSettings` contains the user's settings and checks them. `SpendingLimit` lets a request pass only if its
answer cannot exceed the cost limit. `Pause` delays all requests while the server limits their rate.

Example:
    Set a price of 3 per million tokens, and a maximum cost of 5::

        serving = ServerSettings(price_in=3.0, price_out=3.0, max_cost=5.0)
        serving.cost(1_000_000, 500_000)   # 4.5
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from graphneg.errors import InputError, StoppedError
from graphneg.nn.endpoint import KEY
from graphneg.private_files import cache_folder

BASE_URL = "OPENAI_BASE_URL"
"""The environment variable that contains the address of the server."""
DEFAULT_URL = "https://api.openai.com/v1"
"""The address of OpenAI's server."""
MILLION = 1_000_000
"""The number of tokens to which a price refers."""
CACHE_NAME = "answers.sqlite"
"""Name of the default cache of answers, in the user's cache folder."""
BYTES_OF_TOKEN = 4
"""Assumed number of bytes per token, to estimate token counts."""
_TOKENS_AROUND = 8
"""Assumed number of tokens that a server adds around a text, such as role markers."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings for a model server.

    Attributes:
        base_url: The address of the server; None for the address in OPENAI_BASE_URL, or else OpenAI's.
        concurrency: Maximum number of requests at the same time.
        timeout: Maximum number of seconds for a whole request, up to the last byte of its answer.
        attempts: Maximum number of attempts for a request. The pauses between attempts become longer.
        price_in: Price of a million prompt tokens, in any currency; None if not known.
        price_out: Price of a million generated tokens, in the same currency; None if not known.
        max_cost: Maximum total cost of the requests of one writer, in the same currency. It is required if a
            price is given.
        cache: The file in which answers are cached; None for the default file in the user's cache folder.
        parameters: Parameters that are added to each request, for features of particular servers.

    Raises:
        InputError: A number is out of range, the address is invalid or contains a password, a price is given
            without a maximum cost, or a maximum cost without a price.
    """

    base_url: str | None = None
    concurrency: int = 8
    timeout: float = 120.0
    attempts: int = 8
    price_in: float | None = None
    price_out: float | None = None
    max_cost: float | None = None
    cache: str | Path | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.concurrency < 1 or self.attempts < 1 or not 0 < self.timeout < math.inf:
            raise InputError("concurrency and attempts must be at least 1, timeout above 0 seconds")
        # "not price >= 0" refuses NaN as well, for which "price < 0" would be False.
        if any(
            price is not None and not price >= 0 for price in (self.price_in, self.price_out, self.max_cost)
        ):
            raise InputError("prices and max_cost must be numbers of at least 0")
        if self.priced and self.max_cost is None:
            raise InputError("prices need a limit: set max_cost (--max-cost)")
        if self.max_cost is not None and not self.priced:
            raise InputError("max_cost needs price_in and price_out, the prices of a million tokens")
        try:
            parts = urlsplit(self.url)
            # Reading the port raises ValueError if it is not a number.
            is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # For example http://[::1 or http://localhost:eight.
            raise InputError("base_url is not an address such as http://localhost:8000/v1") from None
        if not is_address:
            raise InputError(f"base_url {self.url!r}: must be an address such as http://localhost:8000/v1")
        if parts.username or parts.password:
            raise InputError(f"base_url must not contain a password: set {KEY} instead")

    @property
    def url(self) -> str:
        """The address of the server."""
        return (self.base_url or os.environ.get(BASE_URL) or DEFAULT_URL).rstrip("/")

    @property
    def priced(self) -> bool:
        """Whether a price is given."""
        return self.price_in is not None or self.price_out is not None

    @property
    def answers(self) -> Path:
        """The path of the file in which answers are cached."""
        if self.cache is not None:
            return Path(self.cache).expanduser()
        return cache_folder() / CACHE_NAME

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of prompt tokens and generated tokens.

        Args:
            tokens_in: Number of prompt tokens.
            tokens_out: Number of generated tokens.

        Returns:
            The cost, in the currency of the prices. A price that is not given counts as 0.
        """
        return ((self.price_in or 0.0) * tokens_in + (self.price_out or 0.0) * tokens_out) / MILLION


def serving_of(options: ServerSettings | Mapping[str, Any]) -> ServerSettings:
    """Convert a mapping of settings to a `ServerSettings`.

    Args:
        options: The settings by name, as the attributes of `ServerSettings` are called, or a
            `ServerSettings`.

    Returns:
        The settings; ``options`` itself if it is a `ServerSettings`.

    Raises:
        InputError: A name is unknown.
    """
    if isinstance(options, ServerSettings):
        return options
    known = list(ServerSettings.__dataclass_fields__)
    if strange := [name for name in options if name not in known]:
        raise InputError(f"a served model takes no option {strange[0]!r}; it takes {', '.join(known)}")
    return ServerSettings(**options)


class Estimate(NamedTuple):
    """An estimate of the requests that a run will send, without those that the cache answers.

    Attributes:
        requests: Number of requests.
        tokens_in: Number of prompt tokens, estimated from the texts.
        tokens_out: Maximum number of generated tokens.
        cost: The cost; None if no price is given.
    """

    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def tokens_of(text: str) -> int:
    """Estimate the number of tokens of a text.

    Args:
        text: The text.

    Returns:
        One token for every four bytes, plus 8 tokens for what the server adds around the text.
    """
    # Count bytes instead of characters: characters of other scripts than Latin have more bytes and take more
    # tokens.
    return len(text.encode()) // BYTES_OF_TOKEN + _TOKENS_AROUND


class Pause:
    """A pause that all threads share: nobody sends a request before it is over."""

    def __init__(self) -> None:
        """Initialize with a pause that is already over."""
        self._until = 0.0
        self._extending = Lock()

    def wait(self) -> None:
        """Wait until the pause is over."""
        # Check again after sleeping, because another thread may have extended the pause in the meantime.
        while (left := self._until - time.monotonic()) > 0:
            time.sleep(left)

    def extend(self, seconds: float) -> None:
        """Extend the pause, unless it already lasts longer.

        Args:
            seconds: Number of seconds from now for which the pause should last.
        """
        # Without the lock, a thread could replace a longer pause that another thread sets at the same time.
        with self._extending:
            self._until = max(self._until, time.monotonic() + seconds)


class Reserved(NamedTuple):
    """The cost that is reserved for a request.

    Attributes:
        estimate: The estimated cost.
        most: The highest possible cost: the estimate, multiplied by the largest factor by which an earlier
            answer exceeded its estimate.
    """

    estimate: float
    most: float


class SpendingLimit:
    """Adds up the cost of answers, and enforces the cost limit.

    A request in flight counts with its highest possible cost until its answer has arrived.

    Args:
        serving: The settings with the prices and the limit.

    Attributes:
        spent: The total cost of all answers so far.
    """

    def __init__(self, serving: ServerSettings) -> None:
        """Initialize with a total cost of 0."""
        self._serving = serving
        self._settled = Condition()
        self._awaited: list[float] = []
        self._factor = 1.0
        self.spent = 0.0

    def reserve(self, tokens_in: int, tokens_out: int) -> Reserved:
        """Reserve the highest possible cost of a request.

        If the request might exceed the limit, wait for the answers to other requests, which may cost less
        than was reserved for them.

        Args:
            tokens_in: Number of prompt tokens.
            tokens_out: Maximum number of generated tokens.

        Returns:
            The reserved cost.

        Raises:
            StoppedError: The request might exceed the limit, and no other request is in flight.
        """
        estimate, limit = self._serving.cost(tokens_in, tokens_out), self._serving.max_cost
        with self._settled:
            while True:
                # Scale the estimate by the largest factor by which an answer exceeded its estimate so far.
                most = estimate * self._factor
                # Count each request in flight at its highest possible cost, so that the limit is kept even if
                # all of them cost that much.
                if limit is None or self.spent + sum(self._awaited) + most <= limit:
                    self._awaited.append(most)
                    return Reserved(estimate, most)
                # Waiting only helps if a request in flight can turn out cheaper than reserved. There is none.
                if not self._awaited:
                    raise StoppedError(
                        f"max_cost {limit:g}: {self.spent:.4g} is spent, one more may cost {most:.2g}; "
                        "what was answered is kept, and the same command with a higher limit continues"
                    )
                self._settled.wait()

    def settle(self, reserved: Reserved, cost: float) -> None:
        """Replace the reserved cost of a request by its actual cost.

        Args:
            reserved: The reserved cost, as `reserve` returned it.
            cost: The actual cost.
        """
        with self._settled:
            self._awaited.remove(reserved.most)
            if reserved.estimate:
                # If an answer cost more than was estimated, expect the same of later answers.
                self._factor = max(self._factor, cost / reserved.estimate)
            self.spent += cost
            self._settled.notify_all()
