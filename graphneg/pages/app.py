"""The pages' application: views under one frame, run on a port of this machine.

In: views (`View`), each with its routes. Out: a Starlette application behind a `Gate`, and a server of it. A
view answers with `Pages.render`, which fills one of ``templates/`` with everything escaped.
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
    """One of the views: what stands in the navigation, and what answers below its path."""

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to see yet; the pages open with a view that shows something."""
        ...

    @property
    def title(self) -> str:
        """Its name in the navigation: ``Review``."""
        ...

    @property
    def path(self) -> str:
        """Where it begins: ``/review``."""
        ...

    def routes(self, pages: Pages) -> Sequence[BaseRoute]:
        """Its routes, all of them below its path. Endpoints that are no coroutines run in threads."""
        ...

    def close(self) -> None:
        """The server ends: let go of files."""


@dataclass(frozen=True)
class Pages:
    """The views that are served, and what their answers share."""

    views: tuple[View, ...]
    _templates: Environment = field(default_factory=lambda: _templates(), init=False, repr=False)

    def render(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """An answer from a template below ``templates/``, mostly one that extends ``base.html``.

        It knows ``views``, ``path`` (of the request) and ``values``, and every text in it is escaped.
        """
        shown = {"views": self.views, "path": request.url.path, **values}
        return HTMLResponse(self._templates.get_template(template).render(shown), status)

    def application(self) -> Starlette:
        """All routes: the views', styles and scripts, the way in."""
        routes: list[BaseRoute] = [
            Route("/", self._first),
            Route(LOGIN, self._login),
            Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static"),
        ]
        for view in self.views:
            routes += view.routes(self)
        faults: Any = {HTTPException: self._refused, GraphnegError: self._refused, Exception: self._refused}
        return Starlette(routes=routes, exception_handlers=faults)

    def close(self) -> None:
        """Close the views."""
        for view in self.views:
            view.close()

    def _first(self, request: Request) -> Response:
        first = next((view for view in self.views if not view.is_empty), self.views[0])
        return RedirectResponse(first.path, 303)

    def _login(self, request: Request) -> Response:
        return self.render(request, "login.html", views=(), wrong="wrong" in request.query_params)

    def _refused(self, request: Request, error: Exception) -> Response:
        """A page that says in a line what is wrong."""
        status, said = 500, _UNEXPECTED
        if isinstance(error, HTTPException):
            status, said = error.status_code, error.detail
        elif isinstance(error, GraphnegError):
            status, said = (400 if isinstance(error, InputError) else 503), first_line(error)
        answer = self.render(request, "error.html", status, said=said)
        if isinstance(error, BusyError):
            answer.headers["Retry-After"] = "3"
        return answer


def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("graphneg.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def guarded(pages: Pages, access: Access) -> ASGIApp:
    """The application as it is served."""
    return Gate(pages.application(), access)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free.

    Raises `InputError`: the port is in use, or the host is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
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
    """Serve the pages until Ctrl-C."""
    from uvicorn import Config, Server

    from graphneg.pages.connections import LimitedProtocol

    config = Config(
        guarded(pages, access),
        http=LimitedProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        # uvicorn believes X-Forwarded-For from this machine: each guess would come from another address.
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
