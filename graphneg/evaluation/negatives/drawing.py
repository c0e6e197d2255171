"""The plots of a report, as Bokeh figures: what tells negatives apart, and how their figures lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphneg.evaluation.negatives.figures import Figures
from graphneg.evaluation.negatives.findings import TOLD
from graphneg.evaluation.negatives.histogram import Spread
from graphneg.evaluation.negatives.measuring import Report
from graphneg.pages import FONT

if TYPE_CHECKING:
    from bokeh.models import Range
    from bokeh.plotting import figure

REFERENCE = {"response": "right responses", "dialogue": "turns as they were"}
CUES = {
    "length": "#d97b29",
    "overlap": "#2f80d0",
    "similarity": "#8a63c9",
    "fluency": "#2a9d6f",
    "words": "#c94f7c",
}
RIGHT, WRONG, QUIET, ALARM = "#2a9d6f", "#2f80d0", "#7a8694", "#d64545"
_MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle")
_ROW, _FRAME = 26, 70


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its heading and a sentence on how to read it."""

    id: str
    heading: str
    reading: str
    figure: figure


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    colour: str
    figures: Figures


def drawings(report: Report) -> list[Drawing]:
    """All figures that the report has numbers for."""
    rows = list(_rows(report))
    found = [_told(report)] if any(_areas(report, cue) for cue in CUES) else []
    for id, heading, of in _SPREADS:
        if any(of(row.figures) for row in rows):
            found.append(Drawing(id, heading, _READING, _spreads(rows, of)))
    return found


_READING = "The bar is the middle half of the texts, the line the median, the dot the mean."
_SPREADS: Sequence[tuple[str, str, Callable[[Figures], Spread | None]]] = (
    ("words", "Words a text", lambda one: one.words),
    ("shared", "Content words shared with the context", lambda one: one.shared),
    ("to-context", "Cosine with the context", lambda one: one.to_context),
    ("to-right", "Cosine with the right response", lambda one: one.to_right),
    ("perplexity", "Perplexity", lambda one: one.perplexity),
)


def _rows(report: Report) -> Iterator[_Row]:
    for target, figures in report.reference.items():
        yield _Row(REFERENCE[target], RIGHT, figures)
    for line in report.lines:
        yield _Row(line.name, WRONG, line.figures)


def _areas(report: Report, cue: str) -> Mapping[str, float]:
    found = {line.name: line.told_by.get(cue) for line in report.lines}
    return {name: area for name, area in found.items() if area is not None}


def _told(report: Report) -> Drawing:
    from bokeh.models import BoxAnnotation, HoverTool, Range1d

    names = [line.name for line in report.lines if any(one is not None for one in line.told_by.values())]
    drawing = _canvas(names, Range1d(start=0.44, end=1.02), legend_rows=1)
    drawing.add_layout(
        BoxAnnotation(left=TOLD, right=1.02, fill_color=ALARM, fill_alpha=0.08, line_color=None)
    )
    for (cue, colour), marker in zip(CUES.items(), _MARKERS, strict=True):
        areas = _areas(report, cue)
        if areas:
            drawing.scatter(
                "area",
                "name",
                source=_source(name=list(areas), area=list(areas.values()), cue=[cue] * len(areas)),
                marker=marker,
                size=11,
                color=colour,
                alpha=0.85,
                legend_label=cue,
            )
    legend = drawing.legend[0]
    legend.orientation, legend.click_policy = "horizontal", "hide"
    legend.background_fill_alpha = legend.border_line_alpha = 0.0
    legend.label_text_color, legend.label_text_font = QUIET, FONT
    drawing.add_layout(legend, "above")
    drawing.add_tools(HoverTool(tooltips="@name: @cue tells them at @area{0.00}"))
    return Drawing(
        "told",
        "What alone tells negatives from right responses",
        "0.5 is a coin toss, 1.0 tells every pair. In the red zone a ranker needs not read the context.",
        drawing,
    )


def _spreads(rows: Sequence[_Row], of: Callable[[Figures], Spread | None]) -> figure:
    from bokeh.models import DataRange1d, HoverTool

    drawn = [(row, spread) for row in rows if (spread := of(row.figures)) is not None]
    drawing = _canvas([row.name for row, _ in drawn], DataRange1d(), legend_rows=0)
    source = _source(
        name=[row.name for row, _ in drawn],
        colour=[row.colour for row, _ in drawn],
        mean=[one.mean for _, one in drawn],
        lower=[one.lower for _, one in drawn],
        median=[one.median for _, one in drawn],
        upper=[one.upper for _, one in drawn],
    )
    bars = drawing.hbar(
        y="name", left="lower", right="upper", height=0.5, source=source, color="colour", alpha=0.35
    )
    ticks = drawing.scatter("median", "name", source=source, marker="dash", angle=1.5708, size=16)
    ticks.glyph.line_color, ticks.glyph.line_width = "colour", 3
    drawing.scatter("mean", "name", source=source, size=8, color="colour")
    tooltip = "@name: mean @mean{0.00}, quartiles @lower{0.00}, @median{0.00}, @upper{0.00}"
    drawing.add_tools(HoverTool(tooltips=tooltip, renderers=[bars]))
    return drawing


def _canvas(names: Sequence[str], x_range: Range, legend_rows: int) -> figure:
    """A row for each name, the first on top; the page's own ground shows through."""
    from bokeh.models import FactorRange
    from bokeh.plotting import figure

    drawing = figure(
        x_range=x_range,
        y_range=FactorRange(factors=list(reversed(names))),
        height=_FRAME + _ROW * (len(names) + legend_rows),
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
    )
    drawing.ygrid.grid_line_color = None
    drawing.xgrid.grid_line_color, drawing.xgrid.grid_line_alpha = QUIET, 0.25
    for axis in drawing.axis:
        axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = None
        axis.major_label_text_color, axis.major_label_text_font = QUIET, FONT
        axis.major_label_text_font_size = "13px"
    return drawing


def _source(**columns: list[Any]) -> Any:
    from bokeh.models import ColumnDataSource

    return ColumnDataSource(data=columns)
