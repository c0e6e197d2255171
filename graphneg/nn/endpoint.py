"""Send requests to one HTTP endpoint that speaks OpenAI's protocol.

A request returns the JSON that the server sent, or raises a `RequestError` that says why there is no answer.
Two limits hold whatever the server does:

- The whole request, from the address lookup to the last byte, must end within the timeout. A server that
  sends one byte every half second gains no time.
- An answer larger than `MOST_BYTES` is given up while it arrives.

>>> endpoint = Endpoint("http://localhost:8000/v1", timeout=60)                            # doctest: +SKIP
>>> endpoint.post("/completions", {"model": "m", "prompt": "Say hello."})                  # doctest: +SKIP
{'choices': [{'text': 'Hello!', 'finish_reason': 'stop', 'index': 0}]}
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections.abc import Coroutine, Mapping
from importlib.util import find_spec
from threading import Lock, Thread
from typing import Any, Literal, TypeVar

from graphneg.errors import ModelError, first_line

Result = TypeVar("Result")

INSTALL = 'pip install "graphneg[served]"'
"""The command that installs the package for requests."""
KEY = "OPENAI_API_KEY"
"""The environment variable that holds the API key."""
MOST_BYTES = 4 * 2**20
"""Maximum size of an answer in bytes. An answer of 100,000 tokens with their log-probabilities is smaller."""
_MOST_OF_MESSAGE = 300
"""Maximum number of characters of a server's message that an error quotes."""
_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Headers of OpenAI's protocol, and the environment variables that hold their values."""

Kind = Literal["status", "unreachable", "late", "unreadable"]
"""Why a request has no answer: the server refused it (``status``), could not be reached, took too long, or
sent something that is not JSON."""


class RequestError(Exception):
    """A request has no answer.

    Args:
        kind: Why there is none.
        message: The message of the server or of the connection, on one line.
        status: The HTTP status for the kind ``status``, otherwise 0.
        code: The error code in the server's answer, if it has one.
        retry_after: Seconds that the server asks to wait, if it asks.
    """

    def __init__(
        self, kind: Kind, message: str, status: int = 0, code: str = "", retry_after: float | None = None
    ) -> None:
        """Initialize with the reason and the message."""
        super().__init__(message)
        self.kind: Kind = kind
        self.status = status
        self.code = code
        self.retry_after = retry_after

    @property
    def may_be_paid(self) -> bool:
        """Whether the server may charge for the request although no answer arrived."""
        return self.kind != "status"


class Endpoint:
    """Sends requests to one server. Several threads may share it.

    All requests run in one event loop in its own thread. Only there can a request be ended at a fixed time,
    whatever it is waiting for. The API key is read from the environment for each request and is not stored.

    Args:
        url: The address to which routes such as ``/completions`` are added.
        timeout: Seconds that a whole request may take.

    Raises:
        ModelError: The package that sends requests is not installed.
    """

    def __init__(self, url: str, timeout: float) -> None:
        """Initialize without a connection."""
        if find_spec("httpx") is None:
            raise ModelError(f"served models need the httpx package: {INSTALL}")
        self.url = url
        self.timeout = timeout
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None

    def post(self, route: str, body: Mapping[str, Any]) -> Any:
        """Send a JSON body and return the JSON of the answer.

        A request without an answer raises `RequestError`. An API key that cannot be sent in a header raises
        `ModelError`.

        Args:
            route: The route, such as ``/chat/completions``.
            body: The body of the request.

        Returns:
            The answer.
        """
        return self._run(self._post(route, body))

    def close(self) -> None:
        """Close the connections and end the thread."""
        with self._lock:
            loop, client, self._loop, self._client = self._loop, self._client, None, None
        if loop is not None:
            # The client belongs to the event loop, so it has to be closed there.
            if client is not None:
                asyncio.run_coroutine_threadsafe(client.aclose(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _run(self, request: Coroutine[Any, Any, Result]) -> Result:
        """Run a request in the event loop, and wait for its result."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon thread, so that an interrupted run does not wait for the server.
                Thread(target=self._loop.run_forever, name="graphneg-endpoint", daemon=True).start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(request, loop).result()

    async def _post(self, route: str, body: Mapping[str, Any]) -> Any:
        """Send a request and read its answer."""
        import httpx

        if self._client is None:
            # No timeout here: it would only limit each single read. asyncio limits the whole request below.
            self._client = httpx.AsyncClient(timeout=None, follow_redirects=True, limits=httpx.Limits())
        # Ask for uncompressed answers: a few kilobytes can unpack to gigabytes in one step.
        headers = {"Accept-Encoding": "identity", "Authorization": f"Bearer {_value_of(KEY) or 'none'}"}
        headers |= {name: value for name, variable in _HEADERS.items() if (value := _value_of(variable))}
        try:
            async with (
                asyncio.timeout(self.timeout),
                self._client.stream("POST", self.url + route, json=body, headers=headers) as response,
            ):
                content = await _content(response)
        except TimeoutError as error:
            raise RequestError("late", f"no whole answer within {self.timeout:g} seconds") from error
        except RequestError:
            raise
        # InvalidURL and the errors of TLS and of address lookups are not subclasses of httpx.HTTPError.
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise RequestError("unreachable", _line(first_line(error))) from error
        if response.status_code >= 300:
            raise _refusal(response.status_code, response.headers, content)
        return _json(content)


def _value_of(variable: str) -> str:
    """Return the value of an environment variable that is sent as a header.

    Returns:
        The value, without white space around it.

    Raises:
        ModelError: It has characters that a header cannot have. The message does not repeat them.
    """
    value = os.environ.get(variable, "").strip()
    if not (value.isascii() and value.isprintable()):
        raise ModelError(f"{variable} has characters that no key has: copy the whole key, on one line")
    return value


async def _content(response: Any) -> bytes:
    """Read an answer, up to the maximum size."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestError("unreadable", "a compressed answer, which was not asked for")
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > MOST_BYTES:
            raise RequestError("unreadable", f"an answer of more than {MOST_BYTES // 2**20} MB")
    return bytes(content)


def _json(content: bytes) -> Any:
    """Parse an answer."""
    try:
        return json.loads(content)
    # Python's parser refuses integers of more than 4,300 digits and lists nested a thousand levels deep.
    except (ValueError, RecursionError) as error:
        raise RequestError("unreadable", f"an answer that is no JSON: {_line(first_line(error))}") from error


def _refusal(status: int, headers: Mapping[str, str], content: bytes) -> RequestError:
    """Return the error for a status other than success."""
    try:
        told: Any = _json(content)
    except RequestError:
        told = content.decode("utf-8", "replace")
    # OpenAI and vLLM send {"error": {"message": ...}}, FastAPI {"detail": ...}, Ollama {"error": "..."}.
    # Unwrap the message as long as it is inside of another object.
    while isinstance(told, dict) and (inner := _first(told, "error", "message", "detail")):
        code = told.get("code")
        if isinstance(inner, dict):
            told = {"code": code, **inner}
            continue
        return RequestError("status", _line(str(inner)), status, str(code or ""), _retry_after(headers))
    message = _line(str(told)) or "no reason is given"
    return RequestError("status", f"status {status}: {message}", status, "", _retry_after(headers))


def _first(value: Mapping[str, Any], *names: str) -> Any:
    """Return the first value that is present under one of the names."""
    return next((value[name] for name in names if value.get(name)), None)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in a ``Retry-After`` header; None if it is missing or holds a date."""
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _line(text: str) -> str:
    """Return the first line of a message, without the API key and shortened for a terminal."""
    text = next(iter(text.strip().splitlines()), "")
    # Some servers repeat a wrong key in their message.
    if key := os.environ.get(KEY):
        text = text.replace(key, "***")
    return text if len(text) <= _MOST_OF_MESSAGE else f"{text[:_MOST_OF_MESSAGE]}…"
