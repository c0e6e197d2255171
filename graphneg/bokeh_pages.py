"""Pages of one HTML file with Bokeh drawings: they hold all that they show and load nothing.

In: a template that fills the blocks of ``page_frame.html`` (title, style, body, script), and values. Out: the
HTML.
"""

from __future__ import annotations

import json
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError

if TYPE_CHECKING:
    from bokeh.plotting import figure

ALSO_INSTALL = 'a page needs the package bokeh: pip install "graphneg[exploring]"'
FONT = "system-ui, sans-serif"


def drawing_item(drawing: figure) -> dict[str, Any]:
    """A drawing for ``Bokeh.embed.embed_item``."""
    from bokeh.embed import json_item

    return dict(json_item(drawing))


def require_bokeh() -> None:
    """Raises `InputError` where Bokeh is not installed."""
    try:
        import_module("bokeh.resources")
        import_module("bokeh.embed")
    except ImportError as error:
        raise InputError(ALSO_INSTALL) from error


def render(package: str, template: str, **values: Any) -> str:
    """A page from a Jinja template that comes with a package and fills the blocks of ``page_frame.html``.

    The filter ``as_script`` is there, and ``library``, Bokeh's JavaScript.

    Raises `InputError`: Bokeh is not installed.
    """
    from jinja2 import DictLoader, Environment

    frame = resources.files("graphneg").joinpath("page_frame.html").read_text(encoding="utf-8")
    source = resources.files(package).joinpath(template).read_text(encoding="utf-8")
    environment = Environment(
        loader=DictLoader({"frame": frame}), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["as_script"] = _as_script
    require_bokeh()
    library = import_module("bokeh.resources").Resources(mode="inline", components=["bokeh"])
    return environment.from_string(source).render(library="\n".join(library.js_raw), **values)


def _as_script(value: object) -> str:
    """JSON that can't end the script element that it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def write(text: str, out: str | Path) -> None:
    """Write a page to a file.

    Raises `InputError`: the file can't be written.
    """
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: can't be written: {error.strerror}") from error
