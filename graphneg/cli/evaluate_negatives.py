"""``graphneg evaluate negatives``: what negatives are like before anyone trains on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column
from rich.text import Text

from graphneg.cli.commands import argument, job, option
from graphneg.cli.options import Json, Offline, Overwrite
from graphneg.cli.tables import figures_table, plain_table, print_json, results
from graphneg.cli.terminal import counted, note, say, working

if TYPE_CHECKING:
    from graphneg.evaluation.negatives.report import Report
    from graphneg.evaluation.negatives.sampling import Distribution
    from graphneg.evaluation.negatives.statistics import CategoryLine, Figures

Columns = dict[str, "Callable[[Figures, CategoryLine | None], str]"]
"""By header what shows a cell: of figures, and of the line of negatives where they are one's."""
STYLES = {"wrong": "bold red", "suspicious": "yellow", "note": "dim", "good": "green"}


@job(
    "graphneg evaluate negatives negatives.jsonl",
    "graphneg evaluate negatives edits.jsonl overlap.parquet positives.jsonl -o report.html",
    "graphneg evaluate negatives negatives.jsonl --lm path/to/lm --judge path/to/ranker --json",
)
def negatives(
    files: list[Path] = argument(..., "Negatives, and right responses (.jsonl, .parquet).", "FILE..."),
    out: Path | None = option(None, "Write a page with plots as well.", "FILE.html", "--out", "-o"),
    overwrite: Overwrite = False,
    embedder: str = option("glove-50d", "What gives the cosines: word vectors or an encoder.", "PATH_OR_ID"),
    lm: str | None = option(None, "A causal language model, for fluency.", "PATH_OR_ID"),
    judge: str | None = option(None, "A ranker: how many does it take for right?", "PATH_OR_ID"),
    threshold: float = option(0.5, "A judge's score from here on says: right."),
    sample: int = option(1000, "Texts at most of each line that models are asked about.", min=1),
    examples: int = option(3, "Negatives to show of each line.", min=0),
    seed: int = option(0, "The same seed draws the same sample and examples."),
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Measure negatives before training on them: a line for each generator and category.

    Length, overlap, closeness, repeats and voice against those of right responses (label 1, and the
    originals of edits), what alone tells the two apart, and what is suspicious in plain words.
    No store is opened; memory does not grow with the files.
    """
    from graphneg.evaluation.negatives.report import check_page, measure, write_page
    from graphneg.evaluation.negatives.statistics import load_models

    if out is not None:
        check_page(out, overwrite)
    drawn = {"sample": sample, "examples": examples, "seed": seed}
    with working("nothing was written") as bars:
        models = load_models(embedder, lm, judge, offline)
        report = measure(files, models=models, threshold=threshold, progress=bars, **drawn)
        if out is not None:
            write_page(report, out)
    if json:
        print_json(asdict(report))
    else:
        _print(report)
    if report.unsaid:
        note(f"{counted(report.unsaid, 'negative')} only took turns away: no text of theirs is measured")
    if out is not None:
        say(f"wrote {out}")
    say(f"{counted(report.negatives, 'negative')} of {counted(report.records, 'record')}")


def _print(report: Report) -> None:
    from graphneg.evaluation.negatives.findings import SUSPICIOUS_AUC

    console = results()
    # Two narrow tables, since one is wider than terminals are.
    for columns in (TEXT_COLUMNS, _model_columns(report)):
        table = figures_table("", *columns)
        for target, own in report.reference.items():
            name = "right responses" if target == "response" else "turns as they were"
            table.add_row(name, *(cell(own, None) for cell in columns.values()), style="green")
        for line in report.lines:
            table.add_row(Text(line.name), *(cell(line.figures, line) for cell in columns.values()))
        console.print(table)
    if cues := list(dict.fromkeys(cue for line in report.lines for cue in line.cue_auc)):
        title = "How well one cue tells them from right responses (AUC: 0.5 not at all, 1.0 always)"
        table = figures_table("", *cues, title=title)
        for line in report.lines:
            areas = [line.cue_auc.get(cue) for cue in cues]
            styles = ["red" if area is not None and area >= SUSPICIOUS_AUC else "" for area in areas]
            shown = (Text(_shown(area, ".2f"), style) for area, style in zip(areas, styles, strict=True))
            table.add_row(Text(line.name), *shown)
        console.print(table)
    rows = (
        (Text(finding.level, STYLES[finding.level]), Text(finding.line), Text(finding.sentence))
        for finding in report.findings
    )
    levels, title = Column(no_wrap=True), "What is good, and what is suspicious"
    console.print(plain_table(levels, "negatives", "", rows=rows, title=title))
    for line in report.most_specific:
        if line.examples:
            rows = (
                (Text("".join(said.context[-1:]), "dim"), Text(said.text), Text(said.right or "–", "green"))
                for said in line.examples
            )
            title = f"Some of {escape(line.name)}"
            console.print(plain_table("last turn", "negative", "in truth", rows=rows, title=title))


def _shown(value: float | None, form: str, nothing: str = "–") -> str:
    return nothing if value is None else format(value, form)


def _mean(spread: Distribution | None, form: str) -> str:
    return _shown(spread and spread.mean, form)


TEXT_COLUMNS: Columns = {
    "count": lambda own, line: f"{line.negatives if line else own.texts:,}",
    "words": lambda own, _: f"{own.words.mean:.1f}",
    "of\nright": lambda _, line: _shown(line and line.words_ratio, ".2f", ""),
    "shared": lambda own, _: f"{own.shared.mean:.2f}",
    "with\nright": lambda own, _: _mean(own.like_right, ".0%"),
    "questions": lambda own, _: f"{own.questions:.0%}",
    "I/you/\nothers": lambda own, _: (
        f"{100 * own.first_person:.0f}/{100 * own.second_person:.0f}/{100 * own.third_person:.0f}%"
    ),
}
"""What the texts themselves are like, and what they share with context and right response."""


def _model_columns(report: Report) -> Columns:
    """What models say of them, and where the same texts stand."""
    asked: Columns = {}
    if report.lm is not None:
        asked["perplexity"] = lambda own, _: _mean(own.perplexity, ",.0f")
    if report.judge is not None:
        asked["judge:\nright"] = lambda own, _: _shown(own.judged_right, ".0%")
    return {
        "cosine:\ncontext": lambda own, _: _mean(own.to_context, ".2f"),
        "to\nright": lambda own, _: _mean(own.to_right, ".2f"),
        **asked,
        "again": lambda own, line: f"{line.again / own.texts:.0%}" if line else "",
        "else-\nwhere": lambda own, line: f"{line.elsewhere / own.texts:.0%}" if line else "",
        "are\nright": lambda _, line: f"{line.equal_to_right:,}" if line else "",
    }
