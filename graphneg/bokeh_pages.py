"""Make HTML pages that show Bokeh drawings.

A page is a single file that contains the Bokeh library and all data to draw, so it loads nothing from the
network. Each kind of page has a Jinja template, which extends the common template ``page_frame.html`` and
fills its blocks ``title``, ``style``, ``body`` and ``script``. `render` returns the HTML.
"""

from __future__ import annotations

import json
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.records.runs import check_new, write_atomically

if TYPE_CHECKING:
    from bokeh.plotting import figure

ALSO_INSTALL = 'a page needs the package bokeh: pip install "graphneg[exploring]"'
"""Message of the error that is raised if Bokeh is missing."""
FONT = "system-ui, sans-serif"
"""The fonts of pages and drawings, as a CSS value of ``font-family``."""


def drawing_item(drawing: figure) -> dict[str, Any]:
    """Convert a drawing into the JSON value that ``Bokeh.embed.embed_item`` expects in the browser.

    Args:
        drawing: The Bokeh figure to convert.

    Returns:
        The JSON value as a dict.
    """
    from bokeh.embed import json_item

    return dict(json_item(drawing))


def require_bokeh() -> None:
    """Check that Bokeh is installed.

    Raises:
        InputError: Bokeh is not installed.
    """
    try:
        import_module("bokeh.resources")
        import_module("bokeh.embed")
    except ImportError as error:
        raise InputError(ALSO_INSTALL) from error


def render(package: str, template: str, **values: Any) -> str:
    """Render a Jinja template as an HTML page.

    The template can use the filter ``as_script``, which writes a value as JSON, and the variable ``library``,
    which contains Bokeh's JavaScript.

    Args:
        package: Name of the Python package that contains the template.
        template: Name of the template, which extends ``page_frame.html``.
        **values: Values for the variables of the template.

    Returns:
        The HTML text of the page.
    """
    from jinja2 import DictLoader, Environment

    frame = resources.files("graphneg").joinpath("page_frame.html").read_text(encoding="utf-8")
    source = resources.files(package).joinpath(template).read_text(encoding="utf-8")
    environment = Environment(
        loader=DictLoader({"frame": frame}), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["as_script"] = _as_script
    require_bokeh()
    # Include Bokeh's JavaScript in the page, so that the page works without a network.
    library = import_module("bokeh.resources").Resources(mode="inline", components=["bokeh"])
    return environment.from_string(source).render(library="\n".join(library.js_raw), **values)


def _as_script(value: object) -> str:
    """Return a value as JSON that is safe inside a ``<script>`` element."""
    # Escape every "<", because the browser would end the element at a text that contains "</script>".
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def write(text: str, out: str | Path) -> None:
    """Write a page to a file.

    Args:
        text: The HTML of the page.
        out: File to write; an existing file is replaced.

    Raises:
        InputError: The file cannot be written, or is a pipe, a device or a dangling link.
    """  # noqa: DOC502
    path = Path(out)
    check_new(path, overwrite=True)
    write_atomically(path, text)


def is_page(path: Path) -> bool:
    """Return whether a file is empty or begins as an HTML page.

    Args:
        path: The file.

    Returns:
        True for an empty file and for a page.

    Raises:
        InputError: The file cannot be read.
    """
    try:
        with path.open("rb") as file:
            start = file.read(100).lstrip().lower()
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}; name another file") from error
    return not start or start.startswith((b"<!doctype html", b"<html"))
