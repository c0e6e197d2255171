"""Measure files of negatives and write a report as an HTML page.

`measure` reads negatives and correct responses. It returns statistics for each source (generator or recipe)
and error category, the cues by which negatives can be recognised without their contexts, and findings in
plain sentences. `page` renders these results as a web page with plots.

Example:
    ``measure(["negatives.jsonl"]).findings[0].sentence`` may be "3 of 640 are correct responses of their own
    contexts, word for word: a ranker would learn to reject correct responses".
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
    ScoredPool,
    cue_aucs,
    cue_words,
    score,
    twins_auc,
)
from graphneg.nn.embedders import BUNDLED, get_embedder
from graphneg.progress import Progress
from graphneg.records.runs import check_new, check_output

if TYPE_CHECKING:
    from bokeh.models import Range
    from bokeh.plotting import figure


# Default number of texts that models score, and default number of examples, for each row of the report.
SAMPLE, EXAMPLES = 1000, 3
REFERENCE = {"response": "correct responses", "dialogue": "original turns"}
"""The names of right texts on the page, keyed by the target of the negatives."""
LEVELS = {"wrong": "wrong", "suspicious": "suspicious", "note": "note", "good": "good"}
"""The names of the levels of findings on the page, from most to least severe."""
CUES = {
    "length": "#d97b29",
    "overlap": "#2f80d0",
    "similarity": "#8a63c9",
    "fluency": "#2a9d6f",
    "words": "#c94f7c",
}
"""The cues by which negatives can be recognised, with their colours in the plot."""
RIGHT, WRONG, QUIET, ALARM = "#2a9d6f", "#2f80d0", "#7a8694", "#d64545"
_MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle")
# Height of one row of a plot, and of the space around the rows, in pixels.
_ROW, _FRAME = 26, 70
_READING = (
    "The bar spans the middle half of the texts, the line marks the median, and the dot marks the mean."
)
_SPREADS: Sequence[tuple[str, str, Callable[[Figures], Distribution | None]]] = (
    ("words", "Words per text", lambda figures: figures.words),
    ("shared", "Content words shared with the context", lambda figures: figures.shared),
    ("to-context", "Cosine with the context", lambda figures: figures.to_context),
    ("to-right", "Cosine with the correct response", lambda figures: figures.to_right),
    ("perplexity", "Perplexity", lambda figures: figures.perplexity),
)


@dataclass(frozen=True, slots=True)
class Report:
    """A report on files of negatives.

    Attributes:
        files: The paths of the files that were measured.
        records: Number of records, including correct responses.
        negatives: Number of negatives.
        unsaid: Number of negatives without a wrong text, because turns were only removed.
        embedder: The name of the embedder.
        lm: The name of the language model, or None if no language model was used.
        judge: The name of the judge, or None if no judge was used.
        seed: The seed for sampling.
        reference: Statistics of right texts, keyed by target: correct responses have the key ``response``,
            and turns as they were before an edit have the key ``dialogue``.
        lines: Statistics of negatives, one row for each source, error category and target.
        findings: The findings, sorted from most to least severe.
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
        """The rows for single error categories; if a source has no such rows, its row for all categories."""
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
    """Measure the negatives in files, and compare them with the correct responses in the same files.

    Correct responses are the records with label 1, and the originals of edited responses. Memory use does not
    grow with the size of the files. Raises `InputError` if a file cannot be used, and `ModelError` if a model
    runs out of memory.

    Args:
        paths: Files of negatives (``.jsonl``, ``.parquet``).
        models: The models that score texts, or None for only the word vectors that come with graphneg.
        threshold: The judge accepts a response as correct if its score is at or above this threshold.
        sample: Maximum number of texts that models score, for each row of the report.
        examples: Number of examples for each row of the report.
        seed: Seed for sampling texts.
        progress: Progress display, which is advanced by the records read and then by the scored texts.

    Returns:
        The statistics, cues and findings.
    """
    asked = models or Models(get_embedder(BUNDLED))
    counts = count_texts([Path(path) for path in paths], sample, seed, progress)
    pools = [*counts.wrong.values(), *counts.right.values()]
    scores = score([text for pool in pools for text in pool.sample.items()], asked, progress)
    right = {target: ScoredPool(pool, scores) for target, pool in counts.right.items()}
    figures = {target: texts.figures(threshold) for target, texts in right.items()}
    reference = {target: of for target, of in figures.items() if of is not None}
    twins = {text.pair or "": text for text in counts.twins.items()}
    lines: list[CategoryLine] = []
    for key, pool in counts.wrong.items():
        wrong, fitting, usual = ScoredPool(pool, scores), right.get(key.target), reference.get(key.target)
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
            twins_auc=twins_auc(wrong.texts, twins),
            examples=tuple(
                NegativeExample(text.id, text.context[-3:], text.text, text.original)
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
    """Return the mean of a statistic for wrong texts, divided by its mean for right texts."""
    return None if wrong is None or right is None or not right.mean else wrong.mean / right.mean


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plot on the page.

    Attributes:
        id: The id of the HTML element that contains the plot.
        heading: The heading above the plot.
        reading: A sentence that explains how to read the plot.
        figure: The Bokeh figure.
    """

    id: str
    heading: str
    reading: str
    figure: figure


def drawings(report: Report) -> list[Drawing]:
    """Draw the plots of a report.

    Args:
        report: The report to show.

    Returns:
        The plots. Plots for which the report has no numbers are left out.
    """
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
    """Return the AUC of a cue, such as length, for the rows of the report in which it was measured."""
    areas = {line.name: line.cue_auc.get(cue) for line in report.lines}
    return {name: area for name, area in areas.items() if area is not None}


def _cues(report: Report) -> Drawing:
    """Plot the AUC of each cue as a marker. The plot has one line for each row of the report."""
    from bokeh.models import BoxAnnotation, ColumnDataSource, HoverTool, Range1d

    names = [line.name for line in report.lines if any(area is not None for area in line.cue_auc.values())]
    drawing = _canvas(names, Range1d(start=0.44, end=1.02), legend_rows=1)
    drawing.add_layout(
        # Shade the range of suspiciously high AUC values red.
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
    drawing.add_tools(HoverTool(tooltips="@name: @cue separates them with AUC @area{0.00}"))
    return Drawing(
        "told",
        "Single cues that separate negatives from correct responses",
        "0.5 is chance, 1.0 separates every pair. In the red zone, a ranker can find the negatives without "
        "reading the context.",
        drawing,
    )


def _spreads(rows: Sequence[tuple[str, str, Distribution]]) -> figure:
    """Plot distributions as bars from the first to the third quartile, with the given names and colours."""
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
    # Mark the median by a dash that is rotated by 90 degrees.
    ticks = drawing.scatter("median", "name", source=source, marker="dash", angle=1.5708, size=16)
    ticks.glyph.line_color, ticks.glyph.line_width = "colour", 3
    drawing.scatter("mean", "name", source=source, size=8, color="colour")
    tooltip = "@name: mean @mean{0.00}, quartiles @lower{0.00}, @median{0.00}, @upper{0.00}"
    drawing.add_tools(HoverTool(tooltips=tooltip, renderers=[bars]))
    return drawing


def _canvas(names: Sequence[str], x_range: Range, legend_rows: int) -> figure:
    """Return an empty figure with one row per name (the first on top) and a transparent background."""
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
    """Render the report as an HTML page.

    Raises `InputError` if Bokeh is not installed.

    Args:
        report: The report to show on the page.

    Returns:
        The HTML text.
    """
    require_bokeh()
    drawn = drawings(report)
    verdicts: dict[str, list[tuple[str, str]]] = {}
    for finding in report.findings:
        verdicts.setdefault(finding.line, []).append((finding.level, finding.sentence))
    # The summary says, for example, that 3 rows of the report are "suspicious". A row may have several
    # findings. It counts under its most severe level, which is the level of its first finding.
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
    """Check that a page can be written, before the negatives are measured.

    Raises `InputError` if the file exists or cannot be written, or if Bokeh is not installed.

    Args:
        out: The output file.
        overwrite: Whether to accept an existing file, which will be replaced.
    """
    check_output(out, (".html",), "; --json prints the figures")
    check_new(out, overwrite)
    require_bokeh()


def write_page(report: Report, out: str | Path) -> None:
    """Write the report as an HTML page.

    Raises `InputError` if the file cannot be written or Bokeh is not installed.

    Args:
        report: The report to show on the page.
        out: The output file.
    """
    write(page(report), out)
