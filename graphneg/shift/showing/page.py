"""A neighbourhood as one HTML page: a drawing whose shifts lead to the utterances behind them.

The page holds all that it shows, the drawing's library too, and forbids itself to load anything.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from graphneg.errors import InputError
from graphneg.shift.showing.figure import COLOURS, figure_item, library_script
from graphneg.shift.showing.layout import WIDEST, layout
from graphneg.shift.showing.neighbourhood import Neighbourhood


def page(around: Neighbourhood) -> str:
    """The page's HTML.

    Raises:
        InputError: Bokeh is not installed.
    """
    script, item = library_script(), figure_item(around)
    from jinja2 import Environment

    source = resources.files("graphneg.shift.showing").joinpath("page.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
    return template.render(
        around=around,
        curves=layout(around),
        colours={"left": COLOURS[-1], "loop": COLOURS[0], "right": COLOURS[1]},
        widest=WIDEST,
        library=script,
        item=_as_script(item),
    )


def write_page(around: Neighbourhood, out: str | Path) -> None:
    """Write the page to a file.

    Raises:
        InputError: Bokeh is not installed, or the file can't be written.
    """
    text = page(around)
    try:
        Path(out).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: can't be written: {error.strerror}") from error


def _as_script(value: object) -> str:
    """JSON that can't end the script element that it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
