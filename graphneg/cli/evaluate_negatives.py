"""Define the command ``evaluate negatives``, which measures negatives before a ranker is trained on them.

A ranker can learn the wrong thing: if the negatives are longer than correct responses, the ranker learns to
count words. To detect such problems, the command compares the negatives of each generator and error category
with correct responses by length, word overlap, embedding similarity, repetition, fluency and the score of a
ranker. It describes each suspicious difference in a sentence.

Example::

    graphneg evaluate negatives edits.jsonl overlap.jsonl positives.jsonl -o report.html
    # prints tables with a row for each generator and category, and writes them with plots to report.html
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Column
from rich.text import Text

from graphneg.cli.commands import argument, option, training_command
from graphneg.cli.options import Json, Offline, Overwrite
from graphneg.cli.tables import figures_table, plain_table, print_json, results
from graphneg.cli.terminal import counted, print_message, print_note, progress_bars

if TYPE_CHECKING:
    from graphneg.evaluation.negatives.report import Report
    from graphneg.evaluation.negatives.sampling import Distribution
    from graphneg.evaluation.negatives.statistics import CategoryLine, Figures

Columns = dict[str, "Callable[[Figures, CategoryLine | None], str]"]
"""The columns of a table: functions that return the text of a cell, keyed by the header of the column.

The first argument of a function contains the measurements for the table row. The second argument is the
corresponding row of the report, or None if the table row is about correct responses.
"""
STYLES = {"wrong": "bold red", "suspicious": "yellow", "note": "dim", "good": "green"}
"""The Rich styles in which the levels of findings are printed, keyed by level."""


@training_command(
    "graphneg evaluate negatives negatives.jsonl",
    "graphneg evaluate negatives edits.jsonl overlap.parquet positives.jsonl -o report.html",
    "graphneg evaluate negatives negatives.jsonl --lm path/to/lm --judge path/to/ranker --json",
)
def negatives(
    files: list[Path] = argument(..., "Negatives and correct responses (.jsonl, .parquet).", "FILE..."),
    out: Path | None = option(None, "Also write a web page with plots.", "FILE.html", "--out", "-o"),
    overwrite: Overwrite = False,
    embedder: str = option(
        "glove-50d", "Word vectors or an encoder, for computing cosine similarities.", "PATH_OR_ID"
    ),
    lm: str | None = option(
        None, "A causal language model, for measuring fluency. Default: not measured.", "PATH_OR_ID"
    ),
    judge: str | None = option(
        None,
        "A ranker that serves as a judge: the table shows how many negatives it accepts as correct. "
        "Default: no judge.",
        "PATH_OR_ID",
    ),
    threshold: float = option(
        0.5, "The judge accepts a response as correct if its score is at or above this threshold."
    ),
    sample: int = option(
        1000, "Each model scores at most this number of texts for each generator and error category.", min=1
    ),
    examples: int = option(
        3, "Number of example negatives to show for each generator and error category.", min=0
    ),
    seed: int = option(0, "Random seed. The same seed selects the same texts and examples."),
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Measure negatives before training on them, and print a row for each generator and error category.

    The negatives are compared with correct responses (records with label 1, and the originals of edited
    responses) by length, word overlap, similarity, repetition and grammatical person. The command shows how
    well single cues, such as length, separate negatives from correct responses, and lists suspicious
    differences. No store is opened. Memory use does not depend on the size of the files.
    """
    from graphneg.evaluation.negatives.report import check_page, measure, write_page
    from graphneg.evaluation.negatives.statistics import load_models

    if out is not None:
        check_page(out, overwrite)
    drawn = {"sample": sample, "examples": examples, "seed": seed}
    with progress_bars("nothing was written") as bars:
        models = load_models(embedder, lm, judge, offline)
        report = measure(files, models=models, threshold=threshold, progress=bars, **drawn)
        if out is not None:
            write_page(report, out)
    if json:
        print_json(asdict(report))
    else:
        _print(report)
    if report.unsaid:
        print_note(f"{counted(report.unsaid, 'negative')} only remove turns and have no text to measure")
    if out is not None:
        print_message(f"wrote {out}")
    print_message(f"{counted(report.negatives, 'negative')} of {counted(report.records, 'record')}")


def _print(report: Report) -> None:
    from graphneg.evaluation.negatives.findings import SUSPICIOUS_AUC

    console = results()
    # Print two tables, because a single table would be wider than 80 characters.
    for columns in (TEXT_COLUMNS, _model_columns(report)):
        table = figures_table("", *columns)
        for target, own in report.reference.items():
            name = "correct responses" if target == "response" else "original turns"
            table.add_row(name, *(cell(own, None) for cell in columns.values()), style="green")
        for line in report.lines:
            table.add_row(Text(line.name), *(cell(line.figures, line) for cell in columns.values()))
        console.print(table)
    if cues := list(dict.fromkeys(cue for line in report.lines for cue in line.cue_auc)):
        title = "How well a single cue separates negatives from correct responses (AUC, 0.5 is chance)"
        table = figures_table("", *cues, title=title)
        for line in report.lines:
            areas = [line.cue_auc.get(cue) for cue in cues]
            styles = ["red" if area is not None and area >= SUSPICIOUS_AUC else "" for area in areas]
            shown = (Text(_shown(area, ".2f"), style) for area, style in zip(areas, styles, strict=True))
            table.add_row(Text(line.name), *shown)
        console.print(table)
    if any(line.cue_auc.get("words") is not None for line in report.lines):
        title = (
            "How well words and word pairs alone separate negatives (AUC of a classifier, tested on other "
            "contexts)"
        )
        table = figures_table("", "from correct", "from twins", title=title)
        for line in report.lines:
            table.add_row(
                Text(line.name), _shown(line.cue_auc.get("words"), ".2f"), _shown(line.twins_auc, ".2f")
            )
        console.print(table)
    rows = (
        (Text(finding.level, STYLES[finding.level]), Text(finding.line), Text(finding.sentence))
        for finding in report.findings
    )
    levels, title = Column(no_wrap=True), "Findings"
    console.print(plain_table(levels, "negatives", "", rows=rows, title=title))
    for line in report.most_specific:
        if line.examples:
            rows = (
                (
                    Text("".join(example.context[-1:]), "dim"),
                    Text(example.text),
                    Text(example.right or "–", "green"),
                )
                for example in line.examples
            )
            title = f"Examples of {escape(line.name)}"
            console.print(plain_table("last turn", "negative", "correct", rows=rows, title=title))


def _shown(value: float | None, form: str, nothing: str = "–") -> str:
    return nothing if value is None else format(value, form)


def _mean(spread: Distribution | None, form: str) -> str:
    return _shown(spread and spread.mean, form)


TEXT_COLUMNS: Columns = {
    "count": lambda own, line: f"{line.negatives if line else own.texts:,}",
    "words": lambda own, _: f"{own.words.mean:.1f}",
    "of\ncorrect": lambda _, line: _shown(line and line.words_ratio, ".2f", ""),
    "shared": lambda own, _: f"{own.shared.mean:.2f}",
    "with\ncorrect": lambda own, _: _mean(own.like_right, ".0%"),
    "questions": lambda own, _: f"{own.questions:.0%}",
    "I/you/\nothers": lambda own, _: (
        f"{100 * own.first_person:.0f}/{100 * own.second_person:.0f}/{100 * own.third_person:.0f}%"
    ),
}
"""The columns about the texts themselves, and about their word overlap with the context and with the correct
response."""


def _model_columns(report: Report) -> Columns:
    """Return the columns for scores of models, such as perplexity, and for shares of duplicate texts."""
    asked: Columns = {}
    if report.lm is not None:
        asked["perplexity"] = lambda own, _: _mean(own.perplexity, ",.0f")
    if report.judge is not None:
        asked["judge:\ncorrect"] = lambda own, _: _shown(own.judged_right, ".0%")
    return {
        "cosine:\ncontext": lambda own, _: _mean(own.to_context, ".2f"),
        "to\ncorrect": lambda own, _: _mean(own.to_right, ".2f"),
        **asked,
        "again": lambda own, line: f"{line.again / own.texts:.0%}" if line else "",
        "else-\nwhere": lambda own, line: f"{line.elsewhere / own.texts:.0%}" if line else "",
        "are\ncorrect": lambda _, line: f"{line.equal_to_right:,}" if line else "",
    }
