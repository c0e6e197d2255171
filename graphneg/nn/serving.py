"""Which server is asked and how; what it costs, and the limit of that; when all wait.

The options of a user go in (`Serving`) and are refused at once if they are wrong. `Spending` lets a request
through only if its answer cannot exceed the limit. `Pause` holds all requests back when a server limits the
rate.
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
DEFAULT_URL = "https://api.openai.com/v1"
MILLION = 1_000_000
CACHE_NAME = "answers.sqlite"
BYTES_OF_TOKEN = 4
_TOKENS_AROUND = 8


@dataclass(frozen=True, slots=True)
class Serving:
    """Which server is asked, and how.

    Args:
        base_url: address of the server; by default that of OPENAI_BASE_URL, else OpenAI's.
        concurrency: number of requests at a time.
        timeout: seconds that a whole request may take, up to the last byte of its answer.
        attempts: how often a request that fails is sent, each time after a longer wait.
        price_in: price of a million tokens read, in any currency.
        price_out: price of a million tokens written.
        max_cost: the most that one writer may spend; needed if there is a price.
        cache: file of answers; by default one in the user's cache. Answers are found again by server, model,
            parameters and prompt.
        parameters: added to each request as they are, for what only some servers take.

    Raises:
        InputError: a number is out of range, the address is none or has a password in it, or a price comes
            without a limit or a limit without a price.
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
        if self.concurrency < 1 or self.attempts < 1 or not 0 < self.timeout < math.inf:
            raise InputError("concurrency and attempts at least 1, timeout a number of seconds above 0")
        # NaN is neither at least 0 nor below it.
        if any(
            price is not None and not price >= 0 for price in (self.price_in, self.price_out, self.max_cost)
        ):
            raise InputError("prices and max_cost are numbers, and not below 0")
        if self.priced and self.max_cost is None:
            raise InputError("prices without a limit: say with max_cost (--max-cost) what may be spent")
        if self.max_cost is not None and not self.priced:
            raise InputError(
                "max_cost needs prices to count with: price_in and price_out, of a million tokens"
            )
        try:
            parts = urlsplit(self.url)
            is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # http://[::1, http://localhost:eight
            raise InputError("base_url is no address; one is http://localhost:8000/v1") from None
        if not is_address:
            raise InputError(f"base_url {self.url!r}: an address such as http://localhost:8000/v1")
        if parts.username or parts.password:
            raise InputError(f"base_url: no password in the address, please; {KEY} holds the key")

    @property
    def url(self) -> str:
        """The address of the server."""
        return (self.base_url or os.environ.get(BASE_URL) or DEFAULT_URL).rstrip("/")

    @property
    def priced(self) -> bool:
        """Whether it is known what tokens cost."""
        return self.price_in is not None or self.price_out is not None

    @property
    def answers(self) -> Path:
        """The file of answers."""
        if self.cache is not None:
            return Path(self.cache).expanduser()
        return cache_folder() / CACHE_NAME

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return ((self.price_in or 0.0) * tokens_in + (self.price_out or 0.0) * tokens_out) / MILLION


def serving_of(options: Serving | Mapping[str, Any]) -> Serving:
    """Options of a server by name, as `Serving`. Raises `InputError`: one is unknown, or out of range."""
    if isinstance(options, Serving):
        return options
    known = list(Serving.__dataclass_fields__)
    if strange := [name for name in options if name not in known]:
        raise InputError(f"a served model takes no option {strange[0]!r}; it takes {', '.join(known)}")
    return Serving(**options)


class Estimate(NamedTuple):
    """What a run would ask for beside the answers that are here: requests, tokens read (estimated from the
    letters) and at most written, and the cost, where prices are known."""

    requests: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def tokens_of(text: str) -> int:
    """About how many tokens a text has: one for every four bytes, and some around it."""
    return len(text.encode()) // BYTES_OF_TOKEN + _TOKENS_AROUND


class Pause:
    """A time until which all threads wait."""

    def __init__(self) -> None:
        self._until = 0.0

    def wait(self) -> None:
        """Wait for it."""
        while (left := self._until - time.monotonic()) > 0:
            time.sleep(left)

    def extend(self, seconds: float) -> None:
        """It is so many seconds away, or later."""
        self._until = max(self._until, time.monotonic() + seconds)


class Reserved(NamedTuple):
    """What a request may cost: as it is estimated, and at most, as far as answers before it tell."""

    estimate: float
    most: float


class Spending:
    """What answers cost, those that are awaited among it at the most that they may cost."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._settled = Condition()
        self._awaited: list[float] = []
        self._factor = 1.0
        self.spent = 0.0

    def reserve(self, tokens_in: int, tokens_out: int) -> Reserved:
        """What a request for so many tokens may cost. Where it might go over the limit, others are awaited
        first.

        Raises:
            StoppedError: nothing is awaited, and it might still go over.
        """
        estimate, limit = self._serving.cost(tokens_in, tokens_out), self._serving.max_cost
        with self._settled:
            while True:
                most = estimate * self._factor
                if limit is None or self.spent + sum(self._awaited) + most <= limit:
                    self._awaited.append(most)
                    return Reserved(estimate, most)
                if not self._awaited:
                    raise StoppedError(
                        f"max_cost {limit:g}: {self.spent:.4g} is spent, one more may cost {most:.2g}; "
                        "what was answered is kept, and the same command with a higher limit goes on"
                    )
                self._settled.wait()

    def settle(self, reserved: Reserved, cost: float) -> None:
        """A request is over, and has cost so much. Where that is more than was estimated, so may be the
        others."""
        with self._settled:
            self._awaited.remove(reserved.most)
            if reserved.estimate:
                self._factor = max(self._factor, cost / reserved.estimate)
            self.spent += cost
            self._settled.notify_all()
