"""Who may see the pages: an ASGI application before all others that checks requests and guards answers.

On loopback, whoever has the address with its random token is let in: the token becomes a cookie and leaves
the address. Beyond loopback a password is asked for; how often it may be tried is limited (`guesses`), and
before it was given nothing longer than `LOGIN_BYTES` is read. Requests that name another ``Host``, and writes
from a page of another origin, are refused, so that no web site reaches the pages through a visitor's browser.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphneg.errors import InputError
from graphneg.pages.guesses import Guesses

TOKEN = "token"
"""The name of the token in an address."""
LOGIN = "/login"
STATIC = "/static/"
"""What lies below needs no cookie: styles and scripts hold nothing of anybody's data."""
MOST_BYTES = 64_000_000
"""The longest body that is read: a file of judgements."""
FORM_BYTES = 256_000
"""The longest form: a comment of 10,000 letters, each of up to twelve bytes as it is sent, and answers."""
LOGIN_BYTES = 4_000
"""The longest form of somebody who has not logged in."""
FORM_FIELDS = 200
UPLOAD_SECONDS, FORM_SECONDS = 300.0, 20.0
"""Seconds in which a file or a form must arrive."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_READING = ("GET", "HEAD")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server at this address or name.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Access:
    """Where the pages are served, and the secrets that open them.

    ``host`` and ``port`` are the server's; ``password`` is asked for beyond loopback, and there only.
    """

    host: str
    port: int
    password: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """What a browser opens."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        query = "" if self.password else "?" + urlencode({TOKEN: self.token})
        return f"http://{host}:{self.port}/{query}"

    @property
    def cookie(self) -> str:
        """The cookie's name: servers on other ports of this machine have others."""
        return f"graphneg_{self.port}"

    def knows_host(self, header: str) -> bool:
        """Whether a ``Host`` header names this server.

        Beyond loopback any address of numbers does: a page of another site has a name there.
        """
        try:
            parts = urlsplit(f"//{header}")
            name, port = (parts.hostname or "").lower(), parts.port or 80
        except ValueError:
            return False
        if port != self.port:
            return False
        if name in _LOOPBACK or name == self.host.lower():
            return True
        return bool(self.password) and (_is_address(name) or name in own_names())

    def opens(self, request: Request) -> bool:
        """Whether the request carries the cookie."""
        return _same(request.cookies.get(self.cookie, ""), self.token)


@cache
def own_names() -> Sequence[str]:
    """Return the names of this machine, in lower case.

    They are looked up once: a name server may take seconds, and anybody can send another ``Host``.
    """
    return socket.gethostname().lower(), socket.getfqdn().lower()


def check_access(host: str, password: str) -> None:
    """Raises `InputError`: a host beyond loopback without a password, or with one that is soon guessed."""
    if is_loopback(host):
        return
    if len(password) < 8:
        raise InputError(
            f"--host {host}: others can reach it, so a password of 8 letters or more is needed; "
            "set $GRAPHNEG_PAGES_PASSWORD, or type one in a terminal"
        )


class Gate:
    """Lets requests through to ``application``, or answers them itself."""

    def __init__(self, application: ASGIApp, access: Access) -> None:
        self._application = application
        self._access = access
        self._guesses = Guesses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, with the headers that guard the answer."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
            await (answer or self._application)(scope, request.receive, guarded)
        except ClientDisconnect:  # while the body was read: nobody waits for an answer
            return

    async def _answer(self, request: Request) -> Response | None:
        """The answer of a request that goes no further."""
        path = request.url.path
        if refusal := self._refusal(request):
            return _plain(refusal, 403)
        given = request.query_params.get(TOKEN) if request.method in _READING else None
        if self._on_loopback and given:
            return self._let_in(request) if _same(given, self._access.token) else _LOST
        if path.startswith(STATIC) or self._access.opens(request):
            return None
        if self._on_loopback:
            return _LOST
        if path == LOGIN:
            return await self._guessed(request) if request.method == "POST" else None
        return RedirectResponse(LOGIN, 303) if request.method in _READING else _plain("log in first", 403)

    @property
    def _on_loopback(self) -> bool:
        return not self._access.password

    def _refusal(self, request: Request) -> str:
        """Why the request comes from elsewhere; nothing where it comes from these pages."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not self._access.knows_host(host):
            return "another Host than this server's"
        if origin != f"http://{host}" and (origin is not None or request.method not in _READING):
            return "a request from another page than this server's"
        return ""

    def _let_in(self, request: Request) -> Response:
        """To the same page without the token, with the cookie."""
        query = urlencode([pair for pair in request.query_params.multi_items() if pair[0] != TOKEN])
        path = "/" + request.url.path.lstrip("/")  # two slashes would begin the name of another host
        return self._with_cookie(RedirectResponse(path + (f"?{query}" if query else ""), 303))

    def _with_cookie(self, answer: Response) -> Response:
        answer.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="lax")
        return answer

    async def _guessed(self, request: Request) -> Response:
        """Answer a password: to the pages where it is right, back to the question else.

        The try is counted before the form is read and the password is compared.
        """
        if wait := self._guesses.seconds_to_wait(request.client.host if request.client else ""):
            seconds = ceil(wait)
            answer = _plain(f"too many tries of a password: go back and try again in {seconds} s", 429)
            answer.headers["Retry-After"] = str(seconds)
            return answer
        try:
            given = (await form(request, LOGIN_BYTES)).get("password", "")
        except HTTPException as error:
            return _plain(error.detail, error.status_code)
        except InputError as error:
            return _plain(str(error), 400)
        if await request.is_disconnected():
            raise ClientDisconnect
        if _same(given, self._access.password):
            return self._with_cookie(RedirectResponse("/", 303))
        return RedirectResponse(f"{LOGIN}?wrong=1", 303)


async def form(request: Request, most: int = FORM_BYTES) -> dict[str, str]:
    """Read the fields of a form as a browser sends it, the last value of each. Forms here send no files.

    Args:
        request: The request.
        most: Bytes that are read.

    Raises:
        HTTPException: The form is too long (413), or arrives too slowly (408).
        InputError: It has too many fields.
    """
    sent = await body(request, most, FORM_SECONDS)
    return await run_in_threadpool(_fields, sent)


def _fields(sent: bytes) -> dict[str, str]:
    try:
        found = parse_qs(sent.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=FORM_FIELDS)
    except ValueError as error:
        raise InputError(f"the form has more than {FORM_FIELDS} fields") from error
    return {name: values[-1] for name, values in found.items()}


async def body(request: Request, most: int = MOST_BYTES, seconds: float = UPLOAD_SECONDS) -> bytes:
    """Read the body of a request.

    Args:
        request: The request.
        most: Bytes that are read; a ``Content-Length`` of more is refused before anything is.
        seconds: Seconds in which the body must arrive.

    Raises:
        HTTPException: The body is too long (413), or arrives too slowly (408).
    """
    too_long = HTTPException(413, f"more than {most:,} bytes were sent")
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or len(announced) > 12 or int(announced) > most:
        raise too_long
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise too_long
                parts.append(part)
    except TimeoutError as error:
        raise HTTPException(408, f"the body did not arrive in {seconds:g} s") from error
    return b"".join(parts)


_KEY = secrets.token_bytes(32)


def _same(given: str, secret: str) -> bool:
    """Return whether two texts are the same, in a time that tells neither their letters nor their length."""
    digests = (
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=_KEY).digest() for text in (given, secret)
    )
    return hmac.compare_digest(*digests)


def _plain(text: str, status: int) -> Response:
    return Response(f"graphneg: {text}\n", status, media_type="text/plain")


_LOST = _plain(
    "this address is not the one that graphneg serve has printed: open that one, with its token", 403
)
