"""A neighbourhood as one HTML page: a drawing whose shifts lead to the utterances behind them."""

from __future__ import annotations

from pathlib import Path

from graphneg.pages import library_script, render, write
from graphneg.shift.showing.figure import COLOURS, figure_item
from graphneg.shift.showing.layout import WIDEST, layout
from graphneg.shift.showing.neighbourhood import Neighbourhood


def page(around: Neighbourhood) -> str:
    """The page's HTML.

    Raises:
        InputError: Bokeh is not installed.
    """
    return render(
        "graphneg.shift.showing",
        "page.html",
        around=around,
        curves=layout(around),
        colours={"left": COLOURS[-1], "loop": COLOURS[0], "right": COLOURS[1]},
        widest=WIDEST,
        library=library_script(),
        item=figure_item(around),
    )


def write_page(around: Neighbourhood, out: str | Path) -> None:
    """Write the page to a file.

    Raises:
        InputError: Bokeh is not installed, or the file can't be written.
    """
    write(page(around), out)
