"""Read the shifts from and to a topic, and draw them as an HTML page.

A shift leads from the keyword of a turn that the reply takes up (the focus) to the keyword to which the reply
moves (the perspective). The page shows the most frequent shifts from and to the topic, each with example
utterances. In the drawing, the topic is in the middle. On its left are the foci from which replies shift to
the topic. On its right are the perspectives to which replies shift from the topic. The foci and the
perspectives are sorted by count, and a curve connects each of them with the topic. A shift from the topic to
itself is drawn as a loop above the topic. Coordinates are given in columns (-1, 0, 1) and rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.bokeh_pages import FONT, drawing_item, is_page, render, require_bokeh, write
from graphneg.errors import InputError
from graphneg.store.connection import Store
from graphneg.store.queries import explore

if TYPE_CHECKING:
    from bokeh.models import DataRenderer
    from bokeh.plotting import figure

POINTS = 24
"""Number of line segments in a curve."""
WIDEST, NARROWEST = 18.0, 3.0
"""Maximum and minimum width of a curve, in pixels."""
FREQUENT = 5
"""Minimum count for a curve of the maximum width. If the most frequent shift on a page is rarer, all curves
are narrower."""
LOOP_WIDTH, LOOP_HEIGHT = 0.16, 1.3
"""Width (in columns) and height (in rows) of the loop for a shift from the topic to itself."""
ROW_PIXELS, LEAST_PIXELS = 38, 300
"""Height of a row and minimum height of the drawing, in pixels."""
TOPIC_PIXELS = 30
"""Size of the dot that marks the topic, in pixels."""
COLOURS = {-1: "#d97b29", 0: "#8a63c9", 1: "#2f80d0"}
"""Colours of the curves, keyed by side: -1 for the left, 0 for the loop above the topic, 1 for the right."""
GAP_PIXELS = 14
"""Distance between the end of a curve and its label, in pixels."""
LABELS = {-1: ("right", -GAP_PIXELS), 0: ("center", 0), 1: ("left", GAP_PIXELS)}
"""Text alignment and horizontal offset (in pixels) of the labels, keyed by side as in `COLOURS`."""


@dataclass(frozen=True, slots=True)
class ExamplePair:
    """A turn (the post) and the reply to it, as an example of a shift.

    Attributes:
        id: Id of the reply.
        corpus: Name of the corpus.
        post: Text of the post.
        reply: Text of the reply.
    """

    id: str
    corpus: str
    post: str
    reply: str


@dataclass(frozen=True, slots=True)
class CountedShift:
    """A shift from one topic to another, with the number of its occurrences and with examples.

    Attributes:
        focus: Topic that the replies take up.
        perspective: Topic to which the replies shift.
        count: Number of pairs of a post and a reply with this shift.
        pairs: Some of these pairs, as examples.
    """

    focus: str
    perspective: str
    count: int
    pairs: tuple[ExamplePair, ...]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A topic and the shifts from and to it, sorted by count, highest first.

    A shift from the topic to itself counts as outgoing and as incoming, but is listed only in
    ``outgoing_shifts``.

    Attributes:
        topic: Text of the topic.
        outgoing: Number of post-reply pairs with a shift from the topic.
        incoming: Number of post-reply pairs with a shift to the topic.
        perspectives: Number of topics to which there are shifts from this topic.
        foci: Number of topics from which there are shifts to this topic.
        self_shifts: Number of post-reply pairs with a shift from the topic to itself.
        opposites: Opposites of the topic that are in the shift graph.
        outgoing_shifts: The most frequent shifts from the topic.
        incoming_shifts: The most frequent shifts from other topics to this topic.
    """

    topic: str
    outgoing: int
    incoming: int
    perspectives: int
    foci: int
    self_shifts: int
    opposites: tuple[str, ...]
    outgoing_shifts: tuple[CountedShift, ...]
    incoming_shifts: tuple[CountedShift, ...]

    @property
    def arriving(self) -> int:
        """The number of post-reply pairs that shift from another topic (listed or not) to this topic."""
        return self.incoming - self.self_shifts

    @property
    def other_foci(self) -> int:
        """The number of other topics from which there are shifts to this topic."""
        return self.foci - bool(self.self_shifts)

    @property
    def more_perspectives(self) -> int:
        """Number of topics with shifts from this topic that are left out of ``outgoing_shifts``."""
        return self.perspectives - len(self.outgoing_shifts)

    @property
    def more_foci(self) -> int:
        """Number of other topics with shifts to this topic that are left out of ``incoming_shifts``."""
        return self.other_foci - len(self.incoming_shifts)


def neighbourhood(store: Store, topic: str, limit: int = 12, examples: int = 20) -> Neighbourhood:
    """Read the shifts from and to a topic.

    Args:
        store: Store with a shift graph.
        topic: Text of a keyword in the shift graph.
        limit: Maximum number of shifts in each direction.
        examples: Maximum number of example pairs for each shift.

    Returns:
        The topic with its most frequent shifts in both directions.
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
        outgoing_shifts=tuple(shift for shift in shifts if shift.focus == topic),
        incoming_shifts=tuple(shift for shift in shifts if shift.focus != topic),
        self_shifts=numbers["stays"],
        **{name: numbers[name] for name in ("outgoing", "incoming", "perspectives", "foci")},
    )


@dataclass(frozen=True, slots=True)
class Curve:
    """A shift as a curve in the drawing.

    Attributes:
        shift: The shift that the curve shows.
        other: Text of the topic at the other end of the curve.
        side: -1 for a curve to the left, 0 for a loop, 1 for a curve to the right.
        points: Points of the curve, in columns and rows.
        end: Position of the other topic, in columns and rows.
        width: Line width in pixels.
    """

    shift: CountedShift
    other: str
    side: int
    points: tuple[tuple[float, float], ...]
    end: tuple[float, float]
    width: float


def layout(around: Neighbourhood) -> list[Curve]:
    """Compute the curves of a drawing that shows a topic and the shifts from it and to it.

    Args:
        around: The topic and its shifts.

    Returns:
        One curve per shift: first the loop for a shift from the topic to itself, if there is one, then the
        shifts from the topic (on the right), then the shifts to the topic (on the left).
    """
    # The width of a curve is proportional to its count. The widest curve has the highest count on the page,
    # or the count `FREQUENT` if all counts are lower.
    most = max([FREQUENT, *(shift.count for shift in (*around.outgoing_shifts, *around.incoming_shifts))])
    parts = [i / POINTS for i in range(POINTS + 1)]
    sides: dict[int, list[CountedShift]] = {0: [], 1: [], -1: [*around.incoming_shifts]}
    for shift in around.outgoing_shifts:
        # A shift from the topic to itself gets the side 0 (a loop). All other shifts from the topic get the
        # side 1 (right).
        sides[int(shift.perspective != shift.focus)].append(shift)
    curves: list[Curve] = []
    for side, shifts in sides.items():
        for row, shift in enumerate(shifts):
            x, y = end = (float(side), (len(shifts) - 1) / 2 - row) if side else (0.0, LOOP_HEIGHT)
            if side:
                # The curve is a cubic polynomial that is horizontal at both ends.
                points = [(x * part, y * (3 * part**2 - 2 * part**3)) for part in parts]
            else:
                turns = [2 * math.pi * i / POINTS for i in range(POINTS + 1)]
                points = [(LOOP_WIDTH * math.sin(t) / 2, LOOP_HEIGHT * (1 - math.cos(t)) / 2) for t in turns]
            other = shift.focus if side < 0 else shift.perspective
            width = max(NARROWEST, WIDEST * shift.count / most)
            curves.append(Curve(shift, other, side, tuple(points), end, width))
    return curves


def _empty_figure(curves: Sequence[Curve]) -> figure:
    """Return an empty figure with a transparent background, high enough for the curves."""
    from bokeh.models import Range1d
    from bokeh.plotting import figure

    # Leave room for labels above the first row and below the last row.
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
    """Draw the topic, the curves, and a dot and a label at the end of each curve."""
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
        # When a curve is selected, bokeh fades the rest of its data source. The labels have a separate data
        # source, so that they do not fade.
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
    """Return the data of the curves as the columns of a bokeh data source."""
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
    """Return the HTML of the page for a topic.

    Args:
        around: The topic and its shifts.

    Returns:
        The HTML of the page.
    """
    require_bokeh()
    colours = {"left": COLOURS[-1], "loop": COLOURS[0], "right": COLOURS[1]}
    item = drawing_item(_figure(around))
    values = {"around": around, "curves": layout(around), "colours": colours, "widest": WIDEST, "item": item}
    return render("graphneg.shift", "page.html", **values)


def write_page(around: Neighbourhood, out: str | Path) -> None:
    """Write the page for a topic to a file.

    Args:
        around: The topic and its shifts.
        out: File to write. An existing HTML page is replaced.

    Raises:
        InputError: The file cannot be written, or exists and is not an HTML page.
    """
    path = Path(out)
    if path.is_file() and not is_page(path):
        raise InputError(f"{out}: the file exists and is not an HTML page; name another file")
    write(page(around), out)
