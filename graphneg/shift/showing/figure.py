"""The drawing of a neighbourhood as a Bokeh figure, in the form that its JavaScript embeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphneg.pages import FONT, drawing_item, require_bokeh
from graphneg.shift.showing.layout import LOOP_HEIGHT, Curve, layout
from graphneg.shift.showing.neighbourhood import Neighbourhood

if TYPE_CHECKING:
    from bokeh.models import DataRenderer
    from bokeh.plotting import figure

TOOLTIP = "@focus → @perspective: @pairs"
SIDE = 1.7
ROW_PIXELS, LEAST_PIXELS = 38, 300
TOPIC_PIXELS = 30
COLOURS = {-1: "#d97b29", 0: "#8a63c9", 1: "#2f80d0"}
GAP_PIXELS = 14
LABELS = {-1: ("right", -GAP_PIXELS), 0: ("center", 0), 1: ("left", GAP_PIXELS)}


def figure_item(around: Neighbourhood) -> dict[str, Any]:
    """The drawing for ``Bokeh.embed.embed_item``. The source ``shifts`` has a row for each curve.

    Raises:
        InputError: Bokeh is not installed.
    """
    require_bokeh()
    return drawing_item(_figure(around))


def _figure(around: Neighbourhood) -> figure:
    from bokeh.models import HoverTool, TapTool

    curves = layout(around)
    top = max([abs(curve.end[1]) + 0.8 for curve in curves] + [LOOP_HEIGHT + 0.7])
    drawing = _canvas(top)
    renderers = _draw_shifts(drawing, curves)
    _draw_topic(drawing, around.topic)
    drawing.add_tools(
        TapTool(renderers=renderers),
        HoverTool(renderers=renderers, tooltips=TOOLTIP, line_policy="interp"),
    )
    return drawing


def _canvas(top: float) -> figure:
    """Nothing but room: the page's own ground shows through."""
    from bokeh.models import Range1d
    from bokeh.plotting import figure

    drawing = figure(
        height=max(LEAST_PIXELS, round(2 * top * ROW_PIXELS)),
        sizing_mode="stretch_width",
        toolbar_location=None,
        x_range=Range1d(start=-SIDE, end=SIDE),
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


def _draw_shifts(drawing: figure, curves: Sequence[Curve]) -> list[DataRenderer]:
    """The curves, with a dot and a label at each one's end; lines and dots can be chosen.

    Labels have a source of their own, or they would fade with what is not chosen.
    """
    from bokeh.core.properties import value
    from bokeh.models import ColumnDataSource

    source = ColumnDataSource(data=_columns(curves), name="shifts")
    lines = drawing.multi_line(
        "xs",
        "ys",
        source=source,
        line_color="colour",
        line_width="width",
        line_cap="round",
        line_alpha=0.55,
        hover_line_alpha=1.0,
        hover_line_color="colour",
        selection_line_alpha=1.0,
        nonselection_line_alpha=0.2,
    )
    dots = drawing.scatter(
        "x", "y", source=source, size=11, color="colour", nonselection_alpha=0.6, line_color=None
    )
    drawing.text(
        "x",
        "y",
        text="label",
        x_offset="offset",
        y_offset="rise",
        text_align="align",
        text_baseline="middle",
        text_font=value(FONT),
        text_font_size="14px",
        source=ColumnDataSource(data=_columns(curves)),
        name="labels",
    )
    return [lines, dots]


def _draw_topic(drawing: figure, topic: str) -> None:
    from bokeh.core.properties import value

    drawing.scatter(0, 0, size=TOPIC_PIXELS, line_color=None, name="topic")
    drawing.text(
        0,
        0,
        text=[topic],
        y_offset=TOPIC_PIXELS,
        text_align="center",
        text_baseline="middle",
        text_font=value(FONT),
        text_font_size="17px",
        text_font_style="bold",
        name="labels",
    )


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
        "pairs": [_counted(curve.shift.count) for curve in curves],
    }


def _counted(pairs: int) -> str:
    return f"{pairs:,} pair" if pairs == 1 else f"{pairs:,} pairs"
