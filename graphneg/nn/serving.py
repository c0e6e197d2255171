"""Configure a server, limit its cost, and pause requests.

`Serving` holds the options of a user, and refuses wrong ones at once. `Spending` admits a request only if its
answer cannot exceed the cost limit. `Pause` delays all requests while a server limits the rate.

Example:
    A price of 3 per million tokens, and a cost of at most 5::

        serving = Serving(price_in=3.0, price_out=3.0, max_cost=5.0)
        serving.cost(1_000_000, 500_000)   # 4.5
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from graphneg.errors import InputError, StoppedError
from graphneg.nn.endpoint import KEY
from graphneg.private_files import cache_folder

BASE_URL = "OPENAI_BASE_URL"
"""The environment variable with the address of the server."""
DEFAULT_URL = "https://api.openai.com/v1"
"""The address of OpenAI's server."""
MILLION = 1_000_000
"""Number of tokens to which prices refer."""
CACHE_NAME = "answers.sqlite"
"""The file of answers in the user's cache."""
BYTES_OF_TOKEN = 4
"""Number of bytes of a token, for estimates."""
_TOKENS_AROUND = 8
"""Number of tokens that a server adds to a text, for estimates."""


@dataclass(frozen=True, slots=True)
class Serving:
    """A server, and how to ask it.

    Attributes:
        base_url: The address of the server; by default that in OPENAI_BASE_URL, or else OpenAI's.
        concurrency: Number of requests at a time.
        timeout: Seconds that a whole request may take, up to the last byte of its answer.
        attempts: Maximum number of attempts for a request. The pause before each one is longer.
        price_in: Price of a million tokens that are read, in any currency.
        price_out: Price of a million tokens that are written.
        max_cost: Maximum cost of one writer. It is required if a price is given.
        cache: The file of answers; by default one in the user's cache. Answers are found by server, model,
            parameters and prompt.
        parameters: Parameters that are added to each request, for features of particular servers.

    Raises:
        InputError: A number is out of range, the address is not valid or contains a password, or a price is
            given without a limit or a limit without a price.
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
        """Check the options."""
        if self.concurrency < 1 or self.attempts < 1 or not 0 < self.timeout < math.inf:
            raise InputError("concurrency and attempts must be at least 1, timeout above 0 seconds")
        # Written in this way because NaN fails both comparisons.
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
        except ValueError:  # Such as http://[::1 and http://localhost:eight.
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
        """Whether the price of tokens is known."""
        return self.price_in is not None or self.price_out is not None

    @property
    def answers(self) -> Path:
        """The path of the file of answers."""
        if self.cache is not None:
            return Path(self.cache).expanduser()
        return cache_folder() / CACHE_NAME

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of tokens.

        Args:
            tokens_in: Number of tokens that are read.
            tokens_out: Number of tokens that are written.

        Returns:
            The cost, in the currency of the prices.
        """
        return ((self.price_in or 0.0) * tokens_in + (self.price_out or 0.0) * tokens_out) / MILLION


def serving_of(options: Serving | Mapping[str, Any]) -> Serving:
    """Return the options of a server as `Serving`.

    Args:
        options: Options by name, or a `Serving`.

    Returns:
        The options.

    Raises:
        InputError: An option is unknown.
    """
    if isinstance(options, Serving):
        return options
    known = list(Serving.__dataclass_fields__)
    if strange := [name for name in options if name not in known]:
        raise InputError(f"a served model takes no option {strange[0]!r}; it takes {', '.join(known)}")
    return Serving(**options)


class Estimate(NamedTuple):
    """An estimate of the requests of a run that are not answered yet.

    Attributes:
        requests: Number of requests.
        tokens_in: Number of tokens that are read, estimated from the texts.
        tokens_out: Maximum number of tokens that are written.
        cost: The cost; None if the prices are not known.
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
        One token for every four bytes, and some for the frame of the text.
    """
    # Bytes, because characters outside of the Latin script take more tokens.
    return len(text.encode()) // BYTES_OF_TOKEN + _TOKENS_AROUND


class Pause:
    """A time until which all threads wait."""

    def __init__(self) -> None:
        """Initialize without a pause."""
        self._until = 0.0

    def wait(self) -> None:
        """Wait until the pause is over."""
        # Another thread may extend the pause in the meantime.
        while (left := self._until - time.monotonic()) > 0:
            time.sleep(left)

    def extend(self, seconds: float) -> None:
        """Extend the pause. It is never shortened.

        Args:
            seconds: Minimum number of seconds from now.
        """
        self._until = max(self._until, time.monotonic() + seconds)


class Reserved(NamedTuple):
    """The possible cost of a request.

    Attributes:
        estimate: The estimated cost.
        most: The highest cost, judged by how much earlier answers exceeded their estimates.
    """

    estimate: float
    most: float


class Spending:
    """The cost of answers, with a limit. Requests on their way count with their highest possible cost.

    Args:
        serving: The prices and the limit.

    Attributes:
        spent: The cost of all answers so far.
    """

    def __init__(self, serving: Serving) -> None:
        """Initialize without any cost."""
        self._serving = serving
        self._settled = Condition()
        self._awaited: list[float] = []
        self._factor = 1.0
        self.spent = 0.0

    def reserve(self, tokens_in: int, tokens_out: int) -> Reserved:
        """Reserve the highest possible cost of a request.

        If the request might exceed the limit, this waits until other requests are settled.

        Args:
            tokens_in: Number of tokens that are read.
            tokens_out: Maximum number of tokens that are written.

        Returns:
            The reserved cost.

        Raises:
            StoppedError: The request might exceed the limit, and no other request is on its way.
        """
        estimate, limit = self._serving.cost(tokens_in, tokens_out), self._serving.max_cost
        with self._settled:
            while True:
                # Earlier answers may have cost more than their estimates.
                most = estimate * self._factor
                # Count all requests on their way at their highest cost, so that the limit holds even if all
                # are expensive.
                if limit is None or self.spent + sum(self._awaited) + most <= limit:
                    self._awaited.append(most)
                    return Reserved(estimate, most)
                # Nothing that could turn out cheaper than reserved is left to wait for.
                if not self._awaited:
                    raise StoppedError(
                        f"max_cost {limit:g}: {self.spent:.4g} is spent, one more may cost {most:.2g}; "
                        "what was answered is kept, and the same command with a higher limit continues"
                    )
                self._settled.wait()

    def settle(self, reserved: Reserved, cost: float) -> None:
        """Replace the reserved cost of a request by its real cost.

        Args:
            reserved: What was reserved.
            cost: The real cost.
        """
        with self._settled:
            self._awaited.remove(reserved.most)
            if reserved.estimate:
                # If an answer cost more than was estimated, further answers may do so, too.
                self._factor = max(self._factor, cost / reserved.estimate)
            self.spent += cost
            self._settled.notify_all()
