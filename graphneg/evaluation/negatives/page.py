"""A report as one HTML page: findings first, then figures, plots and examples."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from graphneg.evaluation.negatives.drawing import CUES, REFERENCE, drawings
from graphneg.evaluation.negatives.findings import TOLD
from graphneg.evaluation.negatives.measuring import Report
from graphneg.pages import drawing_item, library_script, render, require_bokeh, write

LEVELS = {"wrong": "wrong", "suspicious": "suspicious", "note": "to know", "good": "good"}


def page(report: Report) -> str:
    """The page's HTML.

    Raises:
        InputError: Bokeh is not installed.
    """
    require_bokeh()
    drawn = drawings(report)
    return render(
        "graphneg.evaluation.negatives",
        "page.html",
        report=report,
        verdicts=_verdicts(report),
        levels=LEVELS,
        summary=_summary(report),
        cues=list(CUES),
        alarm=TOLD,
        names=REFERENCE,
        files=[Path(file).name for file in report.files],
        drawings=drawn,
        items={one.id: drawing_item(one.figure) for one in drawn},
        library=library_script(),
    )


def write_page(report: Report, out: str | Path) -> None:
    """Write the page to a file.

    Raises:
        InputError: Bokeh is not installed, or the file can't be written.
    """
    write(page(report), out)


def _summary(report: Report) -> list[tuple[str, int]]:
    """How many lines there are of each level, each line under its worst."""
    worst: dict[str, str] = {}
    for one in report.findings:
        worst.setdefault(one.line, one.level)
    counts = Counter(worst.values())
    return [(level, counts[level]) for level in LEVELS if counts[level]]


def _verdicts(report: Report) -> dict[str, list[tuple[str, str]]]:
    """Levels and sentences of each line, the lines with the worst first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in report.findings:
        found.setdefault(one.line, []).append((one.level, one.sentence))
    return found
