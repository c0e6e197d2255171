"""``graphneg serve``: pages for people, in a browser of this machine."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from graphneg.cli.commands import argument, job, option
from graphneg.cli.options import StoreOptions
from graphneg.cli.terminal import Bars, say, stopping
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.pages.app import View

PORT = 8377
_PASSWORD = "GRAPHNEG_PAGES_PASSWORD"
_ALSO_INSTALL = 'pages need starlette, uvicorn and jinja2: pip install "graphneg[pages]"'


@job(
    "graphneg serve negatives.jsonl",
    "graphneg serve hard.jsonl edits.jsonl --store graphneg-store --port 9000",
)
def serve(
    *,
    files: list[Path] | None = argument(None, "Negatives (.jsonl, .parquet).", "FILE..."),
    host: str = option(
        "127.0.0.1", f"Where to listen; beyond this machine ${_PASSWORD} is asked for.", "ADDRESS"
    ),
    port: int = option(PORT, "0 is any that is free.", min=0, max=65535),
    where: StoreOptions,
) -> None:
    """Serve pages to judge negatives, look through them and explore the store, until Ctrl-C.

    The address that is printed has a token, without which nobody gets in.
    """
    try:
        from graphneg.pages.app import Pages, bound
        from graphneg.pages.app import serve as run
        from graphneg.pages.gate import Access, check_access
    except ImportError as error:
        raise InputError(_ALSO_INSTALL) from error
    password = _password(host)
    check_access(host, password)
    with ExitStack() as opened, stopping("the pages are closed"):
        listening = opened.enter_context(bound(host, port))
        pages = Pages(tuple(_views(files or [], where, opened)))
        access = Access(host, listening.getsockname()[1], password)
        say(f"{access.address}  (Ctrl-C ends)")
        run(pages, access, listening)


def _views(files: list[Path], where: StoreOptions, opened: ExitStack) -> list[View]:
    """The views of what there is: files to judge and to look through, a store to explore."""
    from graphneg.pages.graph import GraphView
    from graphneg.pages.index import open_index
    from graphneg.pages.negatives import NegativesView

    views: list[View] = []
    if files:
        with Bars() as bars:
            views.append(NegativesView([open_index(file, bars) for file in files]))
    if where.exists:
        views.append(GraphView(opened.enter_context(where.opened()).store))
    if not views:
        raise InputError("nothing to show: name files of negatives, or a store with --store")
    return views


def _password(host: str) -> str:
    """What visitors from elsewhere must know: from the environment, or typed; empty on loopback."""
    from graphneg.pages.gate import is_loopback

    if is_loopback(host):
        return ""
    given = os.environ.get(_PASSWORD, "")
    if not given and sys.stdin.isatty():
        given = typer.prompt("a password for the pages", hide_input=True, confirmation_prompt=True, err=True)
    return given
