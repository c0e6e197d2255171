"""``graphneg evaluate negatives``: what negatives are like before anyone trains on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    from graphneg.evaluation.negatives.statistics import CategoryLine, Figures

    Columns = tuple[Sequence[str], Callable[[Figures, CategoryLine | None], list[str]]]
    """Headers, and what makes the cells under them: of figures, and of the line that has them."""

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
    console = results()
    names = {"response": "right responses"}
    references = [
        (names.get(target, "turns as they were"), told) for target, told in report.reference.items()
    ]
    # Two narrow tables, since one is wider than terminals are.
    for headers, cells in (_text_columns(), _model_columns(report)):
        table = figures_table("", *headers)
        for name, figures in references:
            table.add_row(name, *cells(figures, None), style="green")
        for line in report.lines:
            table.add_row(Text(line.name), *cells(line.figures, line))
        console.print(table)
    if cues := list(dict.fromkeys(cue for line in report.lines for cue in line.cue_auc)):
        title = "How well one cue tells them from right responses (AUC: 0.5 not at all, 1.0 always)"
        rows = ((Text(line.name), *(_area(line.cue_auc.get(cue)) for cue in cues)) for line in report.lines)
        console.print(figures_table("", *cues, rows=rows, title=title))
    rows = (
        (Text(finding.level, STYLES[finding.level]), Text(finding.line), Text(finding.sentence))
        for finding in report.findings
    )
    columns = (Column(no_wrap=True), "negatives", "")
    console.print(plain_table(*columns, rows=rows, title="What is good, and what is suspicious"))
    for line in report.most_specific:
        if line.examples:
            rows = (
                (
                    Text("".join(shown.context[-1:]), "dim"),
                    Text(shown.text),
                    Text(shown.right or "–", "green"),
                )
                for shown in line.examples
            )
            title = f"Some of {escape(line.name)}"
            console.print(plain_table("last turn", "negative", "in truth", rows=rows, title=title))


def _text_columns() -> Columns:
    """What the texts themselves are like, and what they share with context and right response."""

    def cells(figures: Figures, line: CategoryLine | None) -> list[str]:
        persons = (figures.first_person, figures.second_person, figures.third_person)
        return [
            f"{figures.texts if line is None else line.negatives:,}",
            f"{figures.words.mean:.1f}",
            "" if line is None or line.words_ratio is None else f"{line.words_ratio:.2f}",
            f"{figures.shared.mean:.2f}",
            "–" if figures.like_right is None else f"{figures.like_right.mean:.0%}",
            f"{figures.questions:.0%}",
            "/".join(f"{100 * part:.0f}" for part in persons) + "%",
        ]

    return ("count", "words", "of\nright", "shared", "with\nright", "questions", "I/you/\nothers"), cells


def _model_columns(report: Report) -> Columns:
    """What models say of them, and where the same texts stand."""
    headers = ["cosine:\ncontext", "to\nright"]
    asked = [("perplexity", report.lm), ("judge:\nright", report.judge)]
    headers += [header for header, model in asked if model is not None]

    def cells(figures: Figures, line: CategoryLine | None) -> list[str]:
        shown = [
            "–" if near is None else f"{near.mean:.2f}" for near in (figures.to_context, figures.to_right)
        ]
        if report.lm is not None:
            shown.append("–" if figures.perplexity is None else f"{figures.perplexity.mean:,.0f}")
        if report.judge is not None:
            shown.append("–" if figures.judged_right is None else f"{figures.judged_right:.0%}")
        if line is None:
            return [*shown, "", "", ""]
        repeated = (f"{part / figures.texts:.0%}" for part in (line.again, line.elsewhere))
        return [*shown, *repeated, f"{line.equal_to_right:,}"]

    return (*headers, "again", "else-\nwhere", "are\nright"), cells


def _area(area: float | None) -> str:
    from graphneg.evaluation.negatives.findings import SUSPICIOUS_AUC

    if area is None:
        return "–"
    return f"[red]{area:.2f}[/]" if area >= SUSPICIOUS_AUC else f"{area:.2f}"
