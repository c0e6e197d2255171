"""Combine views into a web application, and serve it on a port of this machine.

A view (`View`) is a part of the application, such as the table of negatives. It has a title for the
navigation bar and routes below its path. `Pages` combines views into a Starlette application. It escapes all
text in their templates, and shows an error as a page with a one-line message. `serve` runs the application
with uvicorn, behind a `Gate`, which checks whether a visitor may see the pages.

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
from graphneg.pages.query_slots import BusyError

FOLDER = Path(__file__).parent
_UNEXPECTED = "unexpected error: see the terminal in which graphneg serve is running"


class View(Protocol):
    """A part of the web application, with an entry in the navigation bar and routes below its path."""

    @property
    def is_empty(self) -> bool:
        """Whether the view has nothing to show. The first view that is not empty is the start page."""
        ...

    @property
    def title(self) -> str:
        """The name in the navigation bar, such as ``Review``."""
        ...

    @property
    def path(self) -> str:
        """The beginning of the paths of all routes of the view, such as ``/review``."""
        ...

    def routes(self, pages: Pages) -> Sequence[BaseRoute]:
        """Return the routes of the pages that this view serves.

        The endpoints may be coroutines or ordinary functions, which Starlette runs in threads.

        Args:
            pages: The application. The endpoints call its `Pages.render`.

        Returns:
            The routes, all of them below the path of the view.
        """
        ...

    def close(self) -> None:
        """Close the files of the view when the server ends."""


@dataclass(frozen=True)
class Pages:
    """A web application that consists of several views.

    Attributes:
        views: The views, in the order of the navigation bar.
    """

    views: tuple[View, ...]
    _templates: Environment = field(default_factory=lambda: _templates(), init=False, repr=False)

    def render(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """Render a template as an HTML response. All text is escaped.

        Args:
            request: The request to which the page responds.
            template: The path of the template below ``templates/``. Most templates extend ``base.html``.
            status: The HTTP status.
            **values: Variables for the template, in addition to ``views`` and ``path``, the path of the
                request.

        Returns:
            The HTML response.
        """
        shown = {"views": self.views, "path": request.url.path, **values}
        return HTMLResponse(self._templates.get_template(template).render(shown), status)

    def application(self) -> Starlette:
        """Return an application with the routes of the views, the static files and the login page.

        Returns:
            The application. It does not check who may see the pages; see `guarded`.
        """
        routes: list[BaseRoute] = [
            Route("/", self._first),
            Route(LOGIN, self._login),
            Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static"),
        ]
        for view in self.views:
            routes += view.routes(self)
        # `Exception` stands for all other exceptions, which are bugs: the visitor sees a page with a message,
        # and the traceback is printed in the terminal.
        faults: Any = {
            HTTPException: self._error_page,
            GraphnegError: self._error_page,
            Exception: self._error_page,
        }
        return Starlette(routes=routes, exception_handlers=faults)

    def close(self) -> None:
        """Close the files of all views."""
        for view in self.views:
            view.close()

    def _first(self, request: Request) -> Response:
        # Redirect from the root path to the first view that has something to show.
        first = next((view for view in self.views if not view.is_empty), self.views[0])
        return RedirectResponse(first.path, 303)

    def _login(self, request: Request) -> Response:
        return self.render(request, "login.html", views=(), wrong="wrong" in request.query_params)

    def _error_page(self, request: Request, error: Exception) -> Response:
        status, message = 500, _UNEXPECTED
        if isinstance(error, HTTPException):
            status, message = error.status_code, error.detail
        elif isinstance(error, GraphnegError):
            # An InputError is a mistake of the visitor (400). Other errors are probably temporary, such as a
            # store that cannot be reached (503).
            status, message = (400 if isinstance(error, InputError) else 503), first_line(error)
        answer = self.render(request, "error.html", status, said=message)
        if isinstance(error, BusyError):
            # Tell the browser to try again after 3 s. By then, a query of another visitor has probably ended.
            answer.headers["Retry-After"] = "3"
        return answer


def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("graphneg.pages"),
        autoescape=True,
        # Raise an error for a misspelled variable in a template. By default, jinja2 inserts an empty text.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def guarded(pages: Pages, access: Access) -> ASGIApp:
    """Return the application behind a `Gate`, which checks whether a visitor may see the pages.

    Args:
        pages: The web application with its views.
        access: The address of the pages, and the secrets that give access to them.

    Returns:
        The ASGI application to serve.
    """
    return Gate(pages.application(), access)


def bound(host: str, port: int) -> socket.socket:
    """Open a socket that listens for connections.

    Args:
        host: An address or name of this machine.
        port: The port; 0 uses any free port.

    Returns:
        The listening socket.

    Raises:
        InputError: The port is in use, or the host is not an address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    # Allow the server to be restarted on the same port. Otherwise, the operating system would keep the port
    # in use for a minute after the server has ended.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise InputError(
            f"{host}, port {port}: {error.strerror or error}; choose another with --host or --port"
        ) from error
    return listening


def serve(pages: Pages, access: Access, listening: socket.socket) -> None:
    """Serve the pages until Ctrl-C.

    Args:
        pages: The web application, whose views are closed at the end.
        access: The address of the pages, and the secrets that give access to them.
        listening: The socket that `bound` returned, which is closed at the end.
    """
    from uvicorn import Config, Server

    from graphneg.pages.connections import LimitedProtocol

    config = Config(
        guarded(pages, access),
        http=LimitedProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        # Ignore X-Forwarded-For headers, which uvicorn would trust in requests from this machine. With such a
        # header, an attacker could claim another address for each attempt to guess the password, so the limit
        # of attempts per address would have no effect.
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
