"""Pages of one HTML file with Bokeh drawings: they hold all that they show and load nothing."""

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


def library_script() -> str:
    """Bokeh's JavaScript, as text to stand in a page.

    Raises:
        InputError: Bokeh is not installed.
    """
    try:
        from bokeh.resources import Resources
    except ImportError as error:
        raise InputError(ALSO_INSTALL) from error
    return "\n".join(Resources(mode="inline", components=["bokeh"]).js_raw)


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
    """A page from a Jinja template that comes with a package; ``as_script`` is there as a filter."""
    from jinja2 import Environment

    source = resources.files(package).joinpath(template).read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["as_script"] = as_script
    return environment.from_string(source).render(**values)


def as_script(value: object) -> str:
    """JSON that can't end the script element that it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def write(text: str, out: str | Path) -> None:
    """Write a page to a file.

    Raises:
        InputError: the file can't be written.
    """
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: can't be written: {error.strerror}") from error
