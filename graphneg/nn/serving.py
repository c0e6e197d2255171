"""Configure the access to a model server, limit the cost of its answers, and delay requests.

`ServerSettings` contains the user's settings and checks them. `SpendingLimit` keeps the total cost of all
requests below a limit: a request is sent only if its highest expected cost still fits. `Pause` delays all
requests while the server limits their rate.

Example:
    Set prices of 3 per million tokens, and a maximum total cost of 5::

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
from graphneg.paths import expand_home
from graphneg.private_files import cache_folder

BASE_URL = "OPENAI_BASE_URL"
"""The environment variable that contains the address of the server."""
DEFAULT_URL = "https://api.openai.com/v1"
"""The address of OpenAI's server."""
MILLION = 1_000_000
"""Number of tokens to which a price applies: prices are stated per million tokens."""
CACHE_NAME = "answers.sqlite"
"""Name of the default file for cached answers, in the user's cache folder."""
BYTES_OF_TOKEN = 4
"""Assumed number of bytes per token, for estimating token counts."""
_TOKENS_AROUND = 8
"""Assumed number of tokens that a server adds to a text, such as role markers."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings for a model server.

    Attributes:
        base_url: The address of the server. None for the address in the environment variable OPENAI_BASE_URL,
            or for OpenAI's address if this variable is not set.
        concurrency: Maximum number of requests at the same time.
        timeout: Maximum number of seconds for a whole request, up to the last byte of its answer.
        attempts: Maximum number of attempts for a request. The pauses between attempts become longer.
        price_in: Price of a million prompt tokens, in any currency; None if the price is not known.
        price_out: Price of a million generated tokens, in the same currency; None if the price is not known.
        max_cost: Maximum total cost of the requests of one `ServedWriter`, in the same currency. It is
            required if a price is given.
        cache: The file in which answers are cached; None for the default file in the user's cache folder.
        parameters: Further parameters to send with each request, for example for features that only some
            servers have.

    Raises:
        InputError: A number is out of range, the address is invalid or contains a user name or password, a
            price is given without a maximum cost, or a maximum cost is given without a price.
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
        """Check that all numbers are in range, the address is valid, and prices come with a cost limit."""
        if self.concurrency < 1 or self.attempts < 1 or not 0 < self.timeout < math.inf:
            raise InputError(
                "concurrency and attempts must be at least 1, and timeout a finite number of seconds above 0"
            )
        # The condition "not price >= 0" is also true for NaN. The condition "price < 0" is false for NaN and
        # would accept this value.
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
            # Reading the port raises ValueError if the port is not a number.
            is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # The address is malformed, such as http://[::1 or http://host:port.
            raise InputError("base_url is not an address such as http://localhost:8000/v1") from None
        if not is_address:
            raise InputError(
                f"base_url must be an address such as http://localhost:8000/v1, not {self.url!r}"
            )
        if parts.username or parts.password:
            raise InputError(f"base_url must not contain a password: set {KEY} instead")

    @property
    def url(self) -> str:
        """The address of the server."""
        return (self.base_url or os.environ.get(BASE_URL) or DEFAULT_URL).rstrip("/")

    @property
    def priced(self) -> bool:
        """Whether ``price_in`` or ``price_out`` is given."""
        return self.price_in is not None or self.price_out is not None

    @property
    def answers(self) -> Path:
        """The path of the file in which answers are cached."""
        if self.cache is not None:
            return expand_home(self.cache)
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
    """Convert settings into a `ServerSettings` object if they are given as a mapping.

    Args:
        options: A `ServerSettings` object, or a mapping with the names of its attributes as keys.

    Returns:
        The settings; ``options`` itself if it is a `ServerSettings`.

    Raises:
        InputError: A key of the mapping is not the name of a setting.
    """
    if isinstance(options, ServerSettings):
        return options
    known = list(ServerSettings.__dataclass_fields__)
    if strange := [name for name in options if name not in known]:
        raise InputError(f"a served model takes no option {strange[0]!r}; it takes {', '.join(known)}")
    return ServerSettings(**options)


class Estimate(NamedTuple):
    """An estimate of the requests that a run will send, without requests whose answers are cached.

    Attributes:
        requests: Number of requests.
        tokens_in: Number of prompt tokens, estimated from the prompts.
        tokens_out: Maximum number of generated tokens.
        cost: The cost of these tokens; None if no price is given.
    """

    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def tokens_of(text: str) -> int:
    """Estimate the number of tokens of a text.

    Args:
        text: The text that is sent to or received from a server.

    Returns:
        One token for every four bytes, plus 8 tokens for what the server adds around the text.
    """
    # A character of a non-Latin script has more bytes than a Latin letter, and it also needs more tokens. So
    # estimate the tokens from the bytes, not from the characters.
    return len(text.encode()) // BYTES_OF_TOKEN + _TOKENS_AROUND


class Pause:
    """A pause that all threads share. No thread sends a request before the pause is over."""

    def __init__(self) -> None:
        self._until = 0.0
        self._extending = Lock()

    def wait(self) -> None:
        """Wait until this pause in sending requests is over."""
        # Another thread may extend the pause while this thread sleeps, so check the remaining time again.
        while (left := self._until - time.monotonic()) > 0:
            time.sleep(left)

    def extend(self, seconds: float) -> None:
        """Extend the pause, unless it already lasts longer.

        Args:
            seconds: Number of seconds, counted from now, for which the pause should last.
        """
        # Without the lock, a thread could replace a longer pause that another thread sets at the same time.
        with self._extending:
            self._until = max(self._until, time.monotonic() + seconds)


class Reserved(NamedTuple):
    """The cost that is reserved for a request.

    Attributes:
        estimate: The cost that is estimated from the numbers of tokens.
        most: The highest expected cost: the estimate multiplied by a factor. The factor is the largest ratio
            of actual to estimated cost among earlier answers, but at least 1.
    """

    estimate: float
    most: float


class SpendingLimit:
    """Adds up the costs of answers, and ensures that the sum stays below the user's limit.

    A request that has not been answered yet counts with its highest expected cost.

    Args:
        serving: The settings, which contain the prices and the limit.

    Attributes:
        spent: The total cost of all answers so far.
    """

    def __init__(self, serving: ServerSettings) -> None:
        self._serving = serving
        self._settled = Condition()
        self._awaited: list[float] = []
        self._factor = 1.0
        self.spent = 0.0

    def reserve(self, tokens_in: int, tokens_out: int) -> Reserved:
        """Reserve the highest expected cost of a request.

        If the request might exceed the limit, this method waits until other requests are answered, because
        their answers may cost less than the reserved amount.

        Args:
            tokens_in: Number of prompt tokens.
            tokens_out: Maximum number of generated tokens.

        Returns:
            The reserved cost, which must be passed to `settle` later.

        Raises:
            StoppedError: The request might exceed the limit, and there is no unanswered request to wait for.
        """
        estimate, limit = self._serving.cost(tokens_in, tokens_out), self._serving.max_cost
        with self._settled:
            while True:
                # Correct the estimate by the largest ratio of actual to estimated cost so far.
                most = estimate * self._factor
                # Add the reserved costs of all unanswered requests, so that the limit is not exceeded even if
                # each of these requests costs as much as reserved.
                if limit is None or self.spent + sum(self._awaited) + most <= limit:
                    self._awaited.append(most)
                    return Reserved(estimate, most)
                # Wait for the answers to other requests, which may cost less than was reserved for them. If
                # no answer is outstanding, the rest of the budget is too small, so stop the run.
                if not self._awaited:
                    raise StoppedError(
                        f"max_cost {limit:g}: {self.spent:.4g} is spent, and the next request may cost "
                        f"{most:.2g}; the answers so far are kept; run the same command with a higher limit "
                        "to continue"
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
                # If an answer cost twice its estimate, later answers may also cost twice their estimates. So
                # later estimates are multiplied by the largest such ratio.
                self._factor = max(self._factor, cost / reserved.estimate)
            self.spent += cost
            self._settled.notify_all()
