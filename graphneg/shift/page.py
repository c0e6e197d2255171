"""The neighbourhood of a topic, read from the store and drawn as one HTML page.

A topic of the shift graph goes in; the most frequent shifts from it and to it come out, each with some
utterances behind it, and a page with a drawing whose shifts lead to them. The topic is in the middle, what
replies come from on its left, what they move to on its right, each side in the order of its counts. A shift
is a curve that leaves and arrives level; one from the topic to itself is a loop above it. Sizes are in rows
and columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.bokeh_pages import FONT, drawing_item, render, require_bokeh, write
from graphneg.store.connection import Store
from graphneg.store.queries import explore

if TYPE_CHECKING:
    from bokeh.models import DataRenderer
    from bokeh.plotting import figure

POINTS = 24
WIDEST, NARROWEST = 18.0, 3.0
FREQUENT = 5
"""Pairs that it takes for the widest curve: where all shifts are rare, none is drawn wide."""
LOOP_WIDTH, LOOP_HEIGHT = 0.16, 1.3
ROW_PIXELS, LEAST_PIXELS = 38, 300
TOPIC_PIXELS = 30
COLOURS = {-1: "#d97b29", 0: "#8a63c9", 1: "#2f80d0"}
GAP_PIXELS = 14
LABELS = {-1: ("right", -GAP_PIXELS), 0: ("center", 0), 1: ("left", GAP_PIXELS)}


@dataclass(frozen=True, slots=True)
class ExamplePair:
    """A post and its reply; ``id`` is the reply's."""

    id: str
    corpus: str
    post: str
    reply: str


@dataclass(frozen=True, slots=True)
class CountedShift:
    """A shift of ``count`` pairs, some of which are in ``pairs``."""

    focus: str
    perspective: str
    count: int
    pairs: tuple[ExamplePair, ...]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A topic and the shifts around it, the most frequent first.

    ``outgoing`` and ``incoming`` count all pairs that shift from and to the topic, ``perspectives``
    and ``foci`` all topics at the other ends; ``moves_to`` and ``comes_from`` hold as many shifts
    as were asked for. A shift from the topic to itself, of ``stays`` pairs, counts in both
    directions and stands among ``moves_to`` alone.
    """

    topic: str
    outgoing: int
    incoming: int
    perspectives: int
    foci: int
    stays: int
    opposites: tuple[str, ...]
    moves_to: tuple[CountedShift, ...]
    comes_from: tuple[CountedShift, ...]

    @property
    def arriving(self) -> int:
        """How many pairs shift to the topic from other topics: those that ``comes_from`` lists, and more."""
        return self.incoming - self.stays

    @property
    def other_foci(self) -> int:
        """How many other topics shift to the topic."""
        return self.foci - bool(self.stays)

    @property
    def more_perspectives(self) -> int:
        """How many topics the topic shifts to beside those in ``moves_to``."""
        return self.perspectives - len(self.moves_to)

    @property
    def more_foci(self) -> int:
        """How many other topics shift to the topic beside those in ``comes_from``."""
        return self.other_foci - len(self.comes_from)


def neighbourhood(store: Store, topic: str, limit: int = 12, examples: int = 20) -> Neighbourhood:
    """The shifts around a topic: at most ``limit`` in each direction, each with ``examples`` pairs.

    Raises:
        InputError: the topic is not in the shift graph; the message names some that are spelled alike.
        StoreError: the store is gone.
    """
    numbers = explore(store, "topic", {"focus": topic})[0]
    rows = explore(store, "neighbourhood", {"focus": topic, "limit": limit, "examples": examples})
    shifts: list[CountedShift] = []
    for row in rows:
        pairs = tuple(ExamplePair(*example) for example in row["examples"])
        shifts.append(CountedShift(row["focus"], row["perspective"], row["count"], pairs))
    return Neighbourhood(
        topic=topic,
        opposites=tuple(numbers["opposites"]),
        moves_to=tuple(shift for shift in shifts if shift.focus == topic),
        comes_from=tuple(shift for shift in shifts if shift.focus != topic),
        **{name: numbers[name] for name in ("outgoing", "incoming", "perspectives", "foci", "stays")},
    )


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn shift: its points, where its other topic stands, its width in pixels; ``side`` is -1
    (left), 0 (a loop) or 1 (right)."""

    shift: CountedShift
    other: str
    side: int
    points: tuple[tuple[float, float], ...]
    end: tuple[float, float]
    width: float


def layout(around: Neighbourhood) -> list[Curve]:
    """The curves of a neighbourhood: those that leave the topic, then those that lead to it."""
    most = max([FREQUENT, *(shift.count for shift in (*around.moves_to, *around.comes_from))])
    parts = [i / POINTS for i in range(POINTS + 1)]
    sides: dict[int, list[CountedShift]] = {0: [], 1: [], -1: [*around.comes_from]}
    for shift in around.moves_to:
        sides[int(shift.perspective != shift.focus)].append(shift)
    curves: list[Curve] = []
    for side, shifts in sides.items():
        for row, shift in enumerate(shifts):
            x, y = end = (float(side), (len(shifts) - 1) / 2 - row) if side else (0.0, LOOP_HEIGHT)
            if side:
                points = [(x * part, y * (3 * part**2 - 2 * part**3)) for part in parts]
            else:
                turns = [2 * math.pi * i / POINTS for i in range(POINTS + 1)]
                points = [(LOOP_WIDTH * math.sin(t) / 2, LOOP_HEIGHT * (1 - math.cos(t)) / 2) for t in turns]
            other = shift.focus if side < 0 else shift.perspective
            width = max(NARROWEST, WIDEST * shift.count / most)
            curves.append(Curve(shift, other, side, tuple(points), end, width))
    return curves


def _empty_figure(curves: Sequence[Curve]) -> figure:
    """A figure as high as the curves need, without a ground of its own: the page's shows through."""
    from bokeh.models import Range1d
    from bokeh.plotting import figure

    top = max([abs(curve.end[1]) + 0.8 for curve in curves] + [LOOP_HEIGHT + 0.7])
    drawing = figure(
        height=max(LEAST_PIXELS, round(2 * top * ROW_PIXELS)),
        sizing_mode="stretch_width",
        toolbar_location=None,
        x_range=Range1d(start=-1.7, end=1.7),
        y_range=Range1d(start=-top, end=top),
        tools="",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border=0,
    )
    drawing.axis.visible = False
    drawing.grid.visible = False
    return drawing


def _figure(around: Neighbourhood) -> figure:
    """The curves, with a dot and a label at each one's end, around the topic; lines and dots can be chosen.
    Labels have a source of their own, or they would fade with what is not chosen."""
    from bokeh.core.properties import value
    from bokeh.models import ColumnDataSource, HoverTool, TapTool

    curves = layout(around)
    drawing = _empty_figure(curves)
    source = ColumnDataSource(data=_columns(curves), name="shifts")
    lines = drawing.multi_line(
        "xs", "ys", source=source, line_color="colour", line_width="width", line_cap="round",
        line_alpha=0.55, hover_line_alpha=1.0, hover_line_color="colour",
        selection_line_alpha=1.0, nonselection_line_alpha=0.2,
    )  # fmt: skip
    dots = drawing.scatter(
        "x", "y", source=source, size=11, color="colour", nonselection_alpha=0.6, line_color=None
    )
    label: dict[str, Any] = {"text_baseline": "middle", "text_font": value(FONT), "name": "labels"}
    drawing.text(
        "x", "y", text="label", x_offset="offset", y_offset="rise", text_align="align",
        text_font_size="14px", source=ColumnDataSource(data=_columns(curves)), **label,
    )  # fmt: skip
    drawing.scatter(0, 0, size=TOPIC_PIXELS, line_color=None, name="topic")
    drawing.text(
        0, 0, text=[around.topic], y_offset=TOPIC_PIXELS, text_align="center",
        text_font_size="17px", text_font_style="bold", **label,
    )  # fmt: skip
    chosen: list[DataRenderer] = [lines, dots]
    hover = HoverTool(renderers=chosen, tooltips="@focus → @perspective: @pairs", line_policy="interp")
    drawing.add_tools(TapTool(renderers=chosen), hover)
    return drawing


def _columns(curves: Sequence[Curve]) -> dict[str, Sequence[Any]]:
    """One row for each curve."""
    return {
        "xs": [[x for x, _ in curve.points] for curve in curves],
        "ys": [[y for _, y in curve.points] for curve in curves],
        "x": [curve.end[0] for curve in curves],
        "y": [curve.end[1] for curve in curves],
        "width": [curve.width for curve in curves],
        "colour": [COLOURS[curve.side] for curve in curves],
        "label": [f"{curve.other}  {curve.shift.count:,}" for curve in curves],
        "align": [LABELS[curve.side][0] for curve in curves],
        "offset": [LABELS[curve.side][1] for curve in curves],
        "rise": [0 if curve.side else -GAP_PIXELS for curve in curves],
        "focus": [curve.shift.focus for curve in curves],
        "perspective": [curve.shift.perspective for curve in curves],
        "pairs": [f"{curve.shift.count:,} pair{'s' * (curve.shift.count != 1)}" for curve in curves],
    }


def page(around: Neighbourhood) -> str:
    """The page's HTML. The source ``shifts`` of its drawing has a row for each curve.

    Raises `InputError`: Bokeh is not installed.
    """
    require_bokeh()
    colours = {"left": COLOURS[-1], "loop": COLOURS[0], "right": COLOURS[1]}
    item = drawing_item(_figure(around))
    values = {"around": around, "curves": layout(around), "colours": colours, "widest": WIDEST, "item": item}
    return render("graphneg.shift", "page.html", **values)


def write_page(around: Neighbourhood, out: str | Path) -> None:
    """Write the page to a file.

    Raises `InputError`: Bokeh is not installed, or the file can't be written.
    """
    write(page(around), out)
