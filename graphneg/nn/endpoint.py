"""Send requests to a server that implements OpenAI's HTTP protocol.

`Endpoint.post` sends a request and returns the JSON that the server sends back. If the request fails, this
method raises a `RequestError` with the reason. Two limits are enforced, whatever the server does:

- The whole request, from the address lookup to the last byte of the answer, must end within the timeout, even
  if the server sends the answer byte by byte.
- A request is aborted as soon as its answer exceeds `MOST_BYTES`.

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
from typing import Any, Literal, TypeVar, cast

from graphneg.errors import ModelError, first_line

Result = TypeVar("Result")

INSTALL = 'pip install "graphneg[served]"'
"""The command that installs httpx, which sends the requests."""
KEY = "OPENAI_API_KEY"
"""The environment variable that contains the API key."""
MOST_BYTES = 4 * 2**20
"""Maximum size of an answer in bytes. Even an answer of 100,000 tokens with log-probabilities is smaller."""
_MOST_OF_MESSAGE = 300
"""Maximum number of characters of a server's message that an error quotes."""
_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Optional headers of OpenAI's protocol, and the environment variables that contain their values."""

Kind = Literal["status", "unreachable", "late", "unreadable"]
"""The reason why a request failed: the server refused the request with an HTTP status (``status``), the
server could not be reached (``unreachable``), the answer took too long (``late``), or the answer could not be
read as JSON (``unreadable``)."""


class RequestError(Exception):
    """The error that is raised if a request to a server fails, so that there is no usable answer.

    Args:
        kind: The reason for the failure; see `Kind`.
        message: The error message of the server or of the connection, on one line.
        status: The HTTP status if ``kind`` is ``status``, otherwise 0.
        code: The error code that the server sent; empty if the server sent no code.
        retry_after: Number of seconds that the client should wait before another attempt, as requested by the
            server; None without such a request.
    """

    def __init__(
        self, kind: Kind, message: str, status: int = 0, code: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.status = status
        self.code = code
        self.retry_after = retry_after

    @property
    def may_be_charged(self) -> bool:
        """Whether the server may charge for the request although no answer arrived."""
        return self.kind != "status"


class Endpoint:
    """Sends requests to one server. Several threads may share it.

    All requests run in an event loop (asyncio) in a separate thread, because asyncio can cancel a request
    when its timeout expires, whatever the request is waiting for. The API key is read from the environment
    for each request and is not stored.

    Args:
        url: The base address, to which paths such as ``/completions`` are appended.
        timeout: Maximum number of seconds for a whole request.

    Raises:
        ModelError: The package that sends requests is not installed.
    """

    def __init__(self, url: str, timeout: float) -> None:
        if find_spec("httpx") is None:
            raise ModelError(f"served models need the httpx package: {INSTALL}")
        self.url = url
        self.timeout = timeout
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._client: Any = None

    def post(self, route: str, body: Mapping[str, Any]) -> Any:
        """Send a request with a JSON body, and return the JSON that the server sends back.

        Raises `RequestError` if the request fails, and `ModelError` if the API key contains characters that
        cannot be sent in a header.

        Args:
            route: The path below the base address, such as ``/chat/completions``.
            body: The body of the request.

        Returns:
            The answer, parsed from JSON.
        """
        return self._run(self._post(route, body))

    def close(self) -> None:
        """Close the connections and end the thread that sends requests."""
        with self._lock:
            loop, client, self._loop, self._client = self._loop, self._client, None, None
        if loop is not None:
            # An httpx client must be closed in the event loop in which it was used.
            if client is not None:
                asyncio.run_coroutine_threadsafe(client.aclose(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _run(self, request: Coroutine[Any, Any, Result]) -> Result:
        """Run a request in the event loop, and wait for its result."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # Use a daemon thread. Otherwise, a process that is interrupted while a request is waiting for
                # an answer could not exit.
                Thread(target=self._loop.run_forever, name="graphneg-endpoint", daemon=True).start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(request, loop).result()

    async def _post(self, route: str, body: Mapping[str, Any]) -> Any:
        """Send a request, and return the answer of the server, parsed from JSON."""
        import httpx

        if self._client is None:
            # Switch off httpx's own timeout, because it applies to each read separately. asyncio.timeout
            # below limits the whole request.
            self._client = httpx.AsyncClient(
                timeout=None,
                follow_redirects=True,
                limits=httpx.Limits(),
                event_hooks={"request": [self._check_host]},
            )
        # Ask the server for an uncompressed answer. A few compressed kilobytes could expand to gigabytes
        # before the size can be checked.
        headers = {"Accept-Encoding": "identity", "Authorization": f"Bearer {_value_of(KEY) or 'none'}"}
        headers |= {name: value for name, variable in _HEADERS.items() if (value := _value_of(variable))}
        try:
            async with (
                asyncio.timeout(self.timeout),
                self._client.stream("POST", self.url + route, json=body, headers=headers) as response,
            ):
                content = await _content(response)
        except TimeoutError as error:
            raise RequestError("late", f"no complete answer within {self.timeout:g} seconds") from error
        except RequestError:
            raise
        # Invalid URLs, TLS errors and failed address lookups raise errors that are not subclasses of
        # HTTPError. A redirect to a port above 65535 raises an OverflowError, usually in a group of errors.
        except (
            *(httpx.HTTPError, httpx.InvalidURL),
            *(OSError, ValueError, OverflowError, ExceptionGroup),
        ) as error:
            raise RequestError("unreachable", _line(first_line(_first_error(error)))) from error
        if response.status_code >= 300:
            raise _status_error(response.status_code, response.headers, content)
        return _parsed_json(content)

    async def _check_host(self, request: Any) -> None:
        """Raise an error if a redirect would send the request to another host than the user named."""
        import httpx

        # The user has chosen one server: no other server may get the texts or send an answer. A redirect to
        # another path or port of the same host, or to https, is allowed.
        if request.url.host != httpx.URL(self.url).host:
            raise RequestError(
                "unreadable",
                f"a redirect to another host, {_line(request.url.host)}; name the address of that server, if "
                "you trust it",
            )


def _first_error(error: Exception) -> Exception:
    """Return the first error in an ``ExceptionGroup``; any other error is returned unchanged."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error


def _value_of(variable: str) -> str:
    """Return the value of an environment variable that is sent in a header.

    Returns:
        The value, stripped of white space; empty if the variable is not set.

    Raises:
        ModelError: The value contains characters that are not allowed in a header. The message does not quote
            the value, because it may be a secret.
    """
    value = os.environ.get(variable, "").strip()
    if not (value.isascii() and value.isprintable()):
        raise ModelError(
            f"{variable} contains characters that a key can't contain: copy the whole key, on one line"
        )
    return value


async def _content(response: Any) -> bytes:
    """Return the body of an answer. Raise an error if the body is compressed or too large."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestError("unreadable", "a compressed answer, which was not requested")
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > MOST_BYTES:
            raise RequestError("unreadable", f"an answer of more than {MOST_BYTES // 2**20} MB")
    return bytes(content)


def _parsed_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    # Even valid JSON can fail: Python raises ValueError for integers with more than 4,300 digits, and
    # RecursionError for lists that are nested about a thousand levels deep.
    except (ValueError, RecursionError) as error:
        raise RequestError("unreadable", f"an answer that is not JSON: {_line(first_line(error))}") from error


def _status_error(status: int, headers: Mapping[str, str], content: bytes) -> RequestError:
    """Create the error for an answer whose HTTP status is not a success."""
    try:
        told: Any = _parsed_json(content)
    except RequestError:
        told = content.decode("utf-8", "replace")
    # OpenAI and vLLM send {"error": {"message": ...}}, FastAPI sends {"detail": ...}, and Ollama sends
    # {"error": "..."}. The loop looks up these keys, one level after the other, until it finds a string.
    while isinstance(told, dict) and (inner := _first(told, "error", "message", "detail")):
        code = told.get("code")
        if isinstance(inner, dict):
            told = {"code": code, **inner}
            continue
        return RequestError("status", _line(str(inner)), status, str(code or ""), _retry_after(headers))
    message = _line(str(told)) or "no reason given"
    return RequestError("status", f"status {status}: {message}", status, "", _retry_after(headers))


def _first(value: Mapping[str, Any], *names: str) -> Any:
    """Look up the names in a mapping, and return the first non-empty value; None if all are empty."""
    return next((value[name] for name in names if value.get(name)), None)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in a ``Retry-After`` header; None if the header is missing or contains a date."""
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _line(text: str) -> str:
    """Return the first line of a message, truncated if it is long, with the API key replaced by ``***``."""
    text = next(iter(text.strip().splitlines()), "")
    # Some servers quote an invalid API key in their error message. The key must not appear in logs.
    if key := os.environ.get(KEY):
        text = text.replace(key, "***")
    return text if len(text) <= _MOST_OF_MESSAGE else f"{text[:_MOST_OF_MESSAGE]}…"
