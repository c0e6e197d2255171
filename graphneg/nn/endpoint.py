"""One HTTP endpoint that speaks OpenAI's protocol: a JSON body goes in, the JSON of its answer comes out.

A request ends in one of two ways: with what the server sent, or with a `RequestError` that says why not. Two
limits hold whatever the server does. The whole request, from the look-up of its address to the last byte,
must end within the timeout: a server that sends one byte every half second gains no time with them. And an
answer larger than `MOST_BYTES` is given up while it arrives.

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
KEY = "OPENAI_API_KEY"
MOST_BYTES = 4 * 2**20
"""Largest answer in bytes. An answer of 100,000 tokens with their log-probabilities is smaller."""
_MOST_OF_MESSAGE = 300
_HEADERS = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}

Kind = Literal["status", "unreachable", "late", "unreadable"]
"""Why a request brought no answer: the server refused it, could not be reached, took too long, or sent
something that is not JSON."""


class RequestError(Exception):
    """A request brought no answer.

    Args:
        kind: why.
        message: the server's own words, or those of the connection; one line.
        status: the HTTP status, for the kind ``status``, else 0.
        code: the error code in the server's answer, if it has one.
        retry_after: seconds that the server asks to wait, if it asks.
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
    def may_be_paid(self) -> bool:
        """Return whether a server may count the request although no answer came of it."""
        return self.kind != "status"


class Endpoint:
    """Sends requests to one server. Threads may share it.

    All requests run in one event loop in a thread of their own, because only there can a request be ended at
    a fixed time whatever it is waiting for. The key is read from the environment for each request and kept
    nowhere.

    Args:
        url: the address that routes such as ``/completions`` are added to.
        timeout: seconds that a whole request may take.

    Raises:
        ModelError: the package that sends requests is not installed.
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
        """Send ``body`` as JSON and return the JSON of the answer.

        Raises:
            RequestError: no answer came.
            ModelError: the key in the environment cannot be sent.
        """
        return self._run(self._post(route, body))

    def close(self) -> None:
        """Close the connections and end the thread."""
        with self._lock:
            loop, client, self._loop, self._client = self._loop, self._client, None, None
        if loop is not None:
            if client is not None:
                asyncio.run_coroutine_threadsafe(client.aclose(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _run(self, request: Coroutine[Any, Any, Result]) -> Result:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                # A daemon: a run that is interrupted does not wait for the server.
                Thread(target=self._loop.run_forever, name="graphneg-endpoint", daemon=True).start()
            loop = self._loop
        return asyncio.run_coroutine_threadsafe(request, loop).result()

    async def _post(self, route: str, body: Mapping[str, Any]) -> Any:
        import httpx

        if self._client is None:
            self._client = httpx.AsyncClient(timeout=None, follow_redirects=True, limits=httpx.Limits())
        # Answers are to come uncompressed: a few kilobytes can unpack to gigabytes in one step.
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
        # InvalidURL and the errors of TLS and of the address look-up are no subclasses of httpx.HTTPError.
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise RequestError("unreachable", _line(first_line(error))) from error
        if response.status_code >= 300:
            raise _refusal(response.status_code, response.headers, content)
        return _json(content)


def _value_of(variable: str) -> str:
    """Return an environment variable that is sent as a header.

    Raises:
        ModelError: it has characters that no header takes. The message does not repeat them.
    """
    value = os.environ.get(variable, "").strip()
    if not (value.isascii() and value.isprintable()):
        raise ModelError(f"{variable} has characters that no key has: was it copied whole, on one line?")
    return value


async def _content(response: Any) -> bytes:
    """Read an answer up to the largest size."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestError("unreadable", "a compressed answer, which was not asked for")
    content = bytearray()
    async for chunk in response.aiter_raw():
        content += chunk
        if len(content) > MOST_BYTES:
            raise RequestError("unreadable", f"an answer of more than {MOST_BYTES // 2**20} MB")
    return bytes(content)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    # Python reads no integer of more than 4,300 digits, and no lists nested a thousand deep.
    except (ValueError, RecursionError) as error:
        raise RequestError("unreadable", f"an answer that is no JSON: {_line(first_line(error))}") from error


def _refusal(status: int, headers: Mapping[str, str], content: bytes) -> RequestError:
    """Return the error that a status other than success stands for."""
    try:
        told: Any = _json(content)
    except RequestError:
        told = content.decode("utf-8", "replace")
    # OpenAI and vLLM send {"error": {"message": …}}, FastAPI {"detail": …}, Ollama {"error": "…"}.
    while isinstance(told, dict) and (inner := _first(told, "error", "message", "detail")):
        code = told.get("code")
        if isinstance(inner, dict):
            told = {"code": code, **inner}
            continue
        return RequestError("status", _line(str(inner)), status, str(code or ""), _retry_after(headers))
    message = _line(str(told)) or "no reason is given"
    return RequestError("status", f"status {status}: {message}", status, "", _retry_after(headers))


def _first(value: Mapping[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if value.get(name)), None)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a ``Retry-After`` header; one that holds a date is ignored."""
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _line(text: str) -> str:
    """Return the first line of a message without the key, cut to a length that fits a terminal."""
    text = next(iter(text.strip().splitlines()), "")
    if key := os.environ.get(KEY):
        text = text.replace(key, "***")
    return text if len(text) <= _MOST_OF_MESSAGE else f"{text[:_MOST_OF_MESSAGE]}…"
