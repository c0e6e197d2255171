"""Control the access to the pages with an ASGI application that checks each request.

If the server listens on the loopback address, a visitor needs the random token in the URL that the command
prints. At the first request, the token is stored in a cookie and removed from the URL. If the server listens
on any other address, a visitor needs a password. `graphneg.pages.password_limiter` limits how often passwords
may be tried, and a login form longer than `LOGIN_BYTES` is not read. Another web site must not use the
visitor's browser to access the pages. Therefore requests with the ``Host`` of a different server, and write
requests from pages of another origin, are refused.

Example::

    access = Access("127.0.0.1", 8377)
    access.address                        # http://127.0.0.1:8377/?token=...
    application = Gate(pages.application(), access)
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
from graphneg.pages.password_limiter import MACHINE, PasswordLimiter

TOKEN = "token"
"""The name of the URL parameter that contains the token."""
HAS_SESSION = "graphneg.has_session"
"""Key of the ASGI scope under which the gate notes whether the visitor is logged in."""
LOGIN = "/login"
"""The path of the login page."""
STATIC = "/static/"
"""The path of styles and scripts. They contain no data, so they can be loaded without the cookie."""
MOST_BYTES = 64_000_000
"""Maximum length of the body of a request in bytes. The body may be an uploaded file of judgements."""
FORM_BYTES = 256_000
"""Maximum length of a form in bytes. This is enough for a comment of 10,000 characters, each of which can
take 12 bytes.
"""
LOGIN_BYTES = 4_000
"""Maximum length of the login form in bytes."""
FORM_FIELDS = 200
"""Maximum number of fields of a form."""
UPLOAD_SECONDS, FORM_SECONDS = 300.0, 20.0
"""Maximum number of seconds until an uploaded file (first value) or a form (second value) has arrived."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_READING = ("GET", "HEAD")
# These response headers tell browsers to load scripts and styles from this server only, and not to show the
# pages in a frame of another site.
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
    """Return whether a server that listens on an address can be reached only from the same machine.

    Args:
        host: An IP address or a name.

    Returns:
        True for a loopback address and for ``localhost``.

    Example:
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
    """The address of the pages, and the secrets that give access to them.

    Attributes:
        host: The address or name on which the server listens.
        port: The port on which the server listens.
        password: The password; empty on the loopback address.
        token: The random secret in the cookie and, on the loopback address, in the URL.
    """

    host: str
    port: int
    password: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """The URL to open in a browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        query = "" if self.password else "?" + urlencode({TOKEN: self.token})
        return f"http://{host}:{self.port}/{query}"

    @property
    def cookie(self) -> str:
        """The name of the cookie. It includes the port, because browsers share cookies between ports."""
        return f"graphneg_{self.port}"

    def knows_host(self, header: str) -> bool:
        """Return whether a ``Host`` header refers to this server.

        A wrong host is a sign of DNS rebinding: another web site has made its own name point to this
        machine, and the browser takes the pages for a part of that site. The header then contains the name
        of the site. The header must therefore contain a name of this server or, if a password is required,
        any IP address, because the machine may have several addresses.

        Args:
            header: The value of the header.

        Returns:
            True if the port is correct and the host is an address or a name of this server.
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
        # Accept other addresses and names of this machine only if a password is required. Without a password,
        # the server listens on the loopback address, whose names were accepted above.
        return bool(self.password) and (_is_address(name) or name in own_names())

    def has_cookie(self, request: Request) -> bool:
        """Return whether a request has the cookie with the token.

        Args:
            request: The request to check.

        Returns:
            True if the cookie is present and correct.
        """
        return _equal_in_constant_time(request.cookies.get(self.cookie, ""), self.token)


@cache
def own_names() -> Sequence[str]:
    """Return the names of this machine in lower case.

    Each request with an unknown ``Host`` asks for the names, and a name server may take seconds to answer. So
    the names are looked up only once.

    Returns:
        The host name and the fully qualified name.
    """
    return socket.gethostname().lower(), socket.getfqdn().lower()


def check_access(host: str, password: str) -> None:
    """Check that the password is long enough if other machines can reach the pages.

    Args:
        host: The address or name to listen on.
        password: The password; it may be empty on the loopback address.

    Raises:
        InputError: The host is not a loopback address, and the password is missing or too short.
    """
    if is_loopback(host):
        return
    if len(password) < 8:
        raise InputError(
            f"--host {host}: other machines can reach it, so a password of at least 8 characters is needed; "
            "set $GRAPHNEG_PAGES_PASSWORD, or type one in a terminal"
        )


class Gate:
    """An ASGI application that passes only permitted requests on to another application.

    Args:
        application: The application with the pages.
        access: The address of the pages, and the secrets that give access to them.
    """

    def __init__(self, application: ASGIApp, access: Access) -> None:
        self._application = application
        self._access = access
        self._guesses = PasswordLimiter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, and add security headers to the response."""
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
                # Tell browsers and proxies not to store the pages, because they may contain private data.
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        request = Request(scope, receive)
        # Store whether the visitor is logged in. `LimitedProtocol` reads this value: it closes the slow
        # connections of visitors who are not logged in sooner.
        scope[HAS_SESSION] = self._access.has_cookie(request)
        try:
            answer = await self._answer(request)
            await (answer or self._application)(scope, request.receive, guarded)
        except ClientDisconnect:  # The visitor has closed the connection, so send nothing.
            return

    async def _answer(self, request: Request) -> Response | None:
        """Return a refusal, a redirect or the login page; None if the visitor may see the requested page."""
        path = request.url.path
        if refusal := self._reason_to_refuse(request):
            return _plain(refusal, 403)
        # Accept a token only in a read request, because the response is a redirect, which removes the token
        # from the URL.
        given = request.query_params.get(TOKEN) if request.method in _READING else None
        if self._on_loopback and given:
            return (
                self._redirect_without_token(request)
                if _equal_in_constant_time(given, self._access.token)
                else _LOST
            )
        if path.startswith(STATIC) or request.scope[HAS_SESSION]:
            return None
        if self._on_loopback:
            return _LOST
        if path == LOGIN:
            return await self._log_in(request) if request.method == "POST" else None
        return RedirectResponse(LOGIN, 303) if request.method in _READING else _plain("log in first", 403)

    @property
    def _on_loopback(self) -> bool:
        return not self._access.password

    def _reason_to_refuse(self, request: Request) -> str:
        """Return why a request seems to come from another site; empty if it comes from these pages."""
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        if not self._access.knows_host(host):
            return "the Host header does not name this server"
        # Browsers omit the Origin header from most read requests, but always send it with write requests. So
        # only a read request may lack it.
        if origin != f"http://{host}" and (origin is not None or request.method not in _READING):
            return "the request comes from a page of another site"
        return ""

    def _redirect_without_token(self, request: Request) -> Response:
        query = urlencode([pair for pair in request.query_params.multi_items() if pair[0] != TOKEN])
        # Reduce several slashes at the beginning to a single slash, because "//example.org" would redirect
        # to another host.
        path = "/" + request.url.path.lstrip("/")
        return self._with_cookie(RedirectResponse(path + (f"?{query}" if query else ""), 303))

    def _with_cookie(self, answer: Response) -> Response:
        answer.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="lax")
        return answer

    async def _log_in(self, request: Request) -> Response:
        """Handle the login form.

        Returns:
            A redirect to the pages if the password is correct, or else to the login page. An error response
            if there were too many attempts, or if the form is invalid.

        Raises:
            ClientDisconnect: The visitor closed the connection.
        """
        # Count the attempt before the form is read and the password is compared. Otherwise, an attacker who
        # has used up all attempts could still find out, from the duration or the content of the response,
        # whether a password is correct.
        address = _address_of(request)
        if wait := self._guesses.seconds_to_wait(address):
            seconds = ceil(wait)
            answer = _plain(f"too many attempts to log in: go back and try again in {seconds} s", 429)
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
        if _equal_in_constant_time(given, self._access.password):
            self._guesses.logged_in(address)
            return self._with_cookie(RedirectResponse("/", 303))
        return RedirectResponse(f"{LOGIN}?wrong=1", 303)


def _address_of(request: Request) -> str:
    client, server = (request.client.host if request.client else ""), request.scope.get("server")
    # A connection from an address of the server to the same address comes from the machine itself: for
    # example, a browser that has opened http://192.0.2.7:8377 on the machine with the address 192.0.2.7.
    return MACHINE if server and server[0] == client else client


async def form(request: Request, most: int = FORM_BYTES) -> dict[str, str]:
    """Read the fields of a form without files.

    Args:
        request: The request with the form.
        most: Maximum length of the form in bytes.

    Returns:
        A dictionary from field names to values. If a field occurs several times, its last value is used.
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
        request: The request with the body.
        most: Maximum length of the body in bytes. If ``Content-Length`` is larger, nothing is read.
        seconds: Maximum number of seconds until the body has arrived.

    Returns:
        The complete body.

    Raises:
        HTTPException: The body is too long (413), or arrives too slowly (408).
    """
    too_long = HTTPException(413, f"more than {most:,} bytes were sent")
    announced = request.headers.get("content-length", "0")
    # Check the number of digits first, because converting thousands of digits to an integer is slow.
    if not announced.isdecimal() or len(announced) > 12 or int(announced) > most:
        raise too_long
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                # Check the number of bytes that have arrived, because Content-Length may be wrong or missing.
                size += len(part)
                if size > most:
                    raise too_long
                parts.append(part)
    except TimeoutError as error:
        raise HTTPException(408, f"the body did not arrive in {seconds:g} s") from error
    return b"".join(parts)


_KEY = secrets.token_bytes(32)


def _equal_in_constant_time(text: str, secret: str) -> bool:
    # Compare digests, which all have the same length, so that the duration of the comparison does not reveal
    # the length of the secret. The random key prevents an attacker from predicting the digest of a text.
    digests = (
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=_KEY).digest() for text in (text, secret)
    )
    return hmac.compare_digest(*digests)


def _plain(text: str, status: int) -> Response:
    return Response(f"graphneg: {text}\n", status, media_type="text/plain")


_LOST = _plain("this URL has no valid token: open the URL that graphneg serve has printed", 403)
