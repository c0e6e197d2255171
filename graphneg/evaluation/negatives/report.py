"""From files of negatives to a report of what they are like, and the report as one HTML page.

In: files of negatives and right responses. Out: figures of each generator and category, what alone tells them
from right responses, and sentences on what is good and what is suspicious; the page adds plots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphneg.bokeh_pages import FONT, drawing_item, render, require_bokeh, write
from graphneg.evaluation.negatives.findings import SUSPICIOUS_AUC, Finding, findings
from graphneg.evaluation.negatives.sampling import ALL, Distribution, count_texts
from graphneg.evaluation.negatives.statistics import (
    THRESHOLD,
    CategoryLine,
    Figures,
    Models,
    NegativeExample,
    Sampled,
    cue_aucs,
    cue_words,
    score,
)
from graphneg.nn.embedders import BUNDLED, get_embedder
from graphneg.progress import Progress
from graphneg.records.runs import check_new, check_output

if TYPE_CHECKING:
    from bokeh.models import Range
    from bokeh.plotting import figure


SAMPLE, EXAMPLES = 1000, 3
REFERENCE = {"response": "right responses", "dialogue": "turns as they were"}
LEVELS = {"wrong": "wrong", "suspicious": "suspicious", "note": "to know", "good": "good"}
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
_READING = "The bar is the middle half of the texts, the line the median, the dot the mean."
_SPREADS: Sequence[tuple[str, str, Callable[[Figures], Distribution | None]]] = (
    ("words", "Words a text", lambda figures: figures.words),
    ("shared", "Content words shared with the context", lambda figures: figures.shared),
    ("to-context", "Cosine with the context", lambda figures: figures.to_context),
    ("to-right", "Cosine with the right response", lambda figures: figures.to_right),
    ("perplexity", "Perplexity", lambda figures: figures.perplexity),
)


@dataclass(frozen=True, slots=True)
class Report:
    """What some files of negatives are like.

    ``reference`` has the figures of right texts by target: ``response``, the right responses, and
    ``dialogue``, the turns as they were before they were edited. ``unsaid`` counts negatives in which turns
    were only taken away: there is no text to measure. ``embedder``, ``lm`` and ``judge`` name the models.
    """

    files: tuple[str, ...]
    records: int
    negatives: int
    unsaid: int
    embedder: str
    lm: str | None
    judge: str | None
    seed: int
    reference: Mapping[str, Figures]
    lines: tuple[CategoryLine, ...]
    findings: tuple[Finding, ...]

    @property
    def most_specific(self) -> list[CategoryLine]:
        """The lines of categories, and of sources that name none."""
        divided = {(line.source, line.target) for line in self.lines if line.category != ALL}
        return [
            line for line in self.lines if line.category != ALL or (line.source, line.target) not in divided
        ]


def measure(
    paths: Sequence[str | Path],
    *,
    models: Models | None = None,
    threshold: float = THRESHOLD,
    sample: int = SAMPLE,
    examples: int = EXAMPLES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Measure the negatives of files (.jsonl, .parquet) against the right responses that they bring.

    Right responses are records with label 1 and the originals of edited ones. Texts are counted as
    they are read, and memory does not grow with their number; models see ``sample`` of each line, drawn by
    hash from ``seed``. Without ``models``, the bundled word vectors give the cosines, and no more is asked.

    Raises:
        InputError: a file can't be read, a label is neither 0 nor 1, or there is no negative.
        ModelError: memory does not suffice for a model's work.
    """
    asked = models or Models(get_embedder(BUNDLED))
    counts = count_texts([Path(path) for path in paths], sample, seed, progress)
    pools = [*counts.wrong.values(), *counts.right.values()]
    scores = score([text for pool in pools for text in pool.sample.items()], asked, progress)
    right = {target: Sampled(pool, scores) for target, pool in counts.right.items()}
    figures = {target: texts.figures(threshold) for target, texts in right.items()}
    reference = {target: of for target, of in figures.items() if of is not None}
    lines: list[CategoryLine] = []
    for key, pool in counts.wrong.items():
        wrong, fitting, usual = Sampled(pool, scores), right.get(key.target), reference.get(key.target)
        of = wrong.figures(threshold)
        if of is None:
            continue
        line = CategoryLine(
            *key,
            pool.records,
            of,
            *counts.repeated[key],
            words_ratio=_ratio(of.words, usual and usual.words),
            perplexity_ratio=_ratio(of.perplexity, usual and usual.perplexity),
            cue_words=() if fitting is None else cue_words(wrong.texts, fitting.texts),
            cue_auc={} if fitting is None else cue_aucs(wrong, fitting),
            examples=tuple(
                NegativeExample(text.id, text.context[-3:], text.text, text.right)
                for text in wrong.texts[:examples]
            ),
        )
        lines.append(line)
    return Report(
        files=tuple(map(str, paths)),
        records=counts.records,
        negatives=counts.negatives,
        unsaid=counts.empty,
        embedder=asked.embedder.name,
        lm=asked.lm_name if asked.lm is not None else None,
        judge=asked.judge_name if asked.judge is not None else None,
        seed=seed,
        reference=reference,
        lines=tuple(lines),
        findings=tuple(findings(lines, lambda line: reference.get(line.target))),
    )


def _ratio(wrong: Distribution | None, right: Distribution | None) -> float | None:
    """Of the means, where there are both."""
    return None if wrong is None or right is None or not right.mean else wrong.mean / right.mean


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure with its heading and a sentence on how to read it."""

    id: str
    heading: str
    reading: str
    figure: figure


def drawings(report: Report) -> list[Drawing]:
    """All figures that the report has numbers for."""
    rows = [(REFERENCE[target], RIGHT, figures) for target, figures in report.reference.items()]
    rows += [(line.name, WRONG, line.figures) for line in report.lines]
    drawn = [_cues(report)] if any(_areas(report, cue) for cue in CUES) else []
    for id, heading, of in _SPREADS:
        spreads = [(name, colour, of(figures)) for name, colour, figures in rows]
        present = [(name, colour, spread) for name, colour, spread in spreads if spread is not None]
        if present:
            drawn.append(Drawing(id, heading, _READING, _spreads(present)))
    return drawn


def _areas(report: Report, cue: str) -> Mapping[str, float]:
    areas = {line.name: line.cue_auc.get(cue) for line in report.lines}
    return {name: area for name, area in areas.items() if area is not None}


def _cues(report: Report) -> Drawing:
    """What each cue tells of each line, a marker each."""
    from bokeh.models import BoxAnnotation, ColumnDataSource, HoverTool, Range1d

    names = [line.name for line in report.lines if any(area is not None for area in line.cue_auc.values())]
    drawing = _canvas(names, Range1d(start=0.44, end=1.02), legend_rows=1)
    drawing.add_layout(
        BoxAnnotation(left=SUSPICIOUS_AUC, right=1.02, fill_color=ALARM, fill_alpha=0.08, line_color=None)
    )
    for (cue, colour), marker in zip(CUES.items(), _MARKERS, strict=True):
        if areas := _areas(report, cue):
            columns: dict[str, Any] = {
                "name": list(areas),
                "area": list(areas.values()),
                "cue": [cue] * len(areas),
            }
            drawing.scatter(
                "area",
                "name",
                source=ColumnDataSource(columns),
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


def _spreads(rows: Sequence[tuple[str, str, Distribution]]) -> figure:
    """Bars of distributions, each with its name and colour."""
    from bokeh.models import ColumnDataSource, DataRange1d, HoverTool

    names, colours, spreads = zip(*rows, strict=True)
    drawing = _canvas(names, DataRange1d(), legend_rows=0)
    columns = {
        part: [getattr(spread, part) for spread in spreads] for part in ("mean", "lower", "median", "upper")
    }
    source: Any = ColumnDataSource({"name": list(names), "colour": list(colours), **columns})
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


def page(report: Report) -> str:
    """The page's HTML.

    Raises `InputError`: Bokeh is not installed.
    """
    require_bokeh()
    drawn = drawings(report)
    verdicts: dict[str, list[tuple[str, str]]] = {}
    for finding in report.findings:
        verdicts.setdefault(finding.line, []).append((finding.level, finding.sentence))
    # Each line counts under its worst level, which comes first.
    counts = Counter(verdict[0][0] for verdict in verdicts.values())
    return render(
        "graphneg.evaluation.negatives",
        "page.html",
        report=report,
        verdicts=verdicts,
        levels=LEVELS,
        summary=[(level, counts[level]) for level in LEVELS if counts[level]],
        cues=list(CUES),
        alarm=SUSPICIOUS_AUC,
        names=REFERENCE,
        files=[Path(file).name for file in report.files],
        drawings=drawn,
        items={drawing.id: drawing_item(drawing.figure) for drawing in drawn},
    )


def check_page(out: Path, overwrite: bool) -> None:
    """Before any work: whether a page can be written there.

    Raises `InputError`: it can't, and why.
    """
    check_output(out, (".html",), "; --json prints the figures")
    check_new(out, overwrite)
    require_bokeh()


def write_page(report: Report, out: str | Path) -> None:
    """Write the page to a file.

    Raises `InputError`: Bokeh is not installed, or the file can't be written.
    """
    write(page(report), out)
