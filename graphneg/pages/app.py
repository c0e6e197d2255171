"""The web application: several views with a common frame, served on a port of this machine.

A view (`View`) has a title for the navigation and routes below its path. `Pages` combines views into a
Starlette application, renders their templates with all text escaped, and turns errors into pages of one
line. `serve` runs the application in uvicorn, behind a `Gate`.

Example::

    pages = Pages((NegativesView([open_index("negatives.jsonl")]),))
    access = Access("127.0.0.1", 8377)
    serve(pages, access, bound(access.host, access.port))    # until Ctrl-C
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from graphneg.errors import GraphnegError, InputError, first_line
from graphneg.pages.gate import LOGIN, Access, Gate
from graphneg.pages.turns import BusyError

FOLDER = Path(__file__).parent
_UNEXPECTED = "something went wrong here; the terminal of graphneg serve says what"


class View(Protocol):
    """Part of the pages: an entry in the navigation, and the routes below its path."""

    @property
    def is_empty(self) -> bool:
        """Whether the view has nothing to show; the start page is the first view that is not empty."""
        ...

    @property
    def title(self) -> str:
        """The name in the navigation, such as ``Review``."""
        ...

    @property
    def path(self) -> str:
        """The path of the view, such as ``/review``."""
        ...

    def routes(self, pages: Pages) -> Sequence[BaseRoute]:
        """Return the routes of the view, all of them below its path.

        Starlette runs endpoints that are not coroutines in threads.

        Args:
            pages: The pages, which render templates.

        Returns:
            The routes.
        """
        ...

    def close(self) -> None:
        """Close files when the server ends."""


@dataclass(frozen=True)
class Pages:
    """The views, and what their answers share.

    Attributes:
        views: The views in the order of the navigation.
    """

    views: tuple[View, ...]
    _templates: Environment = field(default_factory=lambda: _templates(), init=False, repr=False)

    def render(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """Render a template as an HTML answer.

        The template knows ``views``, ``path`` (of the request) and ``values``. All text is escaped.

        Args:
            request: The request to answer.
            template: The file below ``templates/``; most extend ``base.html``.
            status: The HTTP status.
            **values: Values for the template.

        Returns:
            The answer.
        """
        shown = {"views": self.views, "path": request.url.path, **values}
        return HTMLResponse(self._templates.get_template(template).render(shown), status)

    def application(self) -> Starlette:
        """Return the application: the routes of the views, the static files and the login page.

        Returns:
            The application, without a `Gate` before it.
        """
        routes: list[BaseRoute] = [
            Route("/", self._first),
            Route(LOGIN, self._login),
            Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static"),
        ]
        for view in self.views:
            routes += view.routes(self)
        # `Exception` covers bugs, too: the visitor gets a page, and the traceback goes to the terminal.
        faults: Any = {HTTPException: self._refused, GraphnegError: self._refused, Exception: self._refused}
        return Starlette(routes=routes, exception_handlers=faults)

    def close(self) -> None:
        """Close the views."""
        for view in self.views:
            view.close()

    def _first(self, request: Request) -> Response:
        # A visitor should not start on a page that has nothing to show.
        first = next((view for view in self.views if not view.is_empty), self.views[0])
        return RedirectResponse(first.path, 303)

    def _login(self, request: Request) -> Response:
        return self.render(request, "login.html", views=(), wrong="wrong" in request.query_params)

    def _refused(self, request: Request, error: Exception) -> Response:
        """Answer an error with a page that states it in one line."""
        status, said = 500, _UNEXPECTED
        if isinstance(error, HTTPException):
            status, said = error.status_code, error.detail
        elif isinstance(error, GraphnegError):
            # An InputError is the visitor's; any other one is likely to be temporary, such as a lost store.
            status, said = (400 if isinstance(error, InputError) else 503), first_line(error)
        answer = self.render(request, "error.html", status, said=said)
        if isinstance(error, BusyError):
            # Queries of other visitors end within seconds.
            answer.headers["Retry-After"] = "3"
        return answer


def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("graphneg.pages"),
        autoescape=True,
        # A misspelled name in a template is an error instead of an empty text.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def guarded(pages: Pages, access: Access) -> ASGIApp:
    """Return the application behind a `Gate`, as it is served.

    Args:
        pages: The pages.
        access: Who may see them.

    Returns:
        The ASGI application.
    """
    return Gate(pages.application(), access)


def bound(host: str, port: int) -> socket.socket:
    """Open a socket that listens for visitors.

    Args:
        host: An address or name of this machine.
        port: The port; 0 uses any free port.

    Returns:
        The socket.

    Raises:
        InputError: The port is in use, or the host is not this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    # Without this, the port would stay in use for a minute after the pages were closed.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise InputError(
            f"{host}, port {port}: {error.strerror or error}; name another with --host or --port"
        ) from error
    return listening


def serve(pages: Pages, access: Access, listening: socket.socket) -> None:
    """Serve the pages until Ctrl-C.

    Args:
        pages: The pages; they are closed at the end.
        access: Who may see them.
        listening: The socket of `bound`; it is closed at the end.
    """
    from uvicorn import Config, Server

    from graphneg.pages.connections import LimitedProtocol

    config = Config(
        guarded(pages, access),
        http=LimitedProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        # uvicorn trusts X-Forwarded-For from this machine. With it, each password guess could name another
        # address, and the limit on guesses per address would not work.
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=3,
    )
    try:
        Server(config).run(sockets=[listening])
    finally:
        pages.close()
        listening.close()
