"""``graphneg evaluate negatives``: what negatives are like before anyone trains on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.markup import escape
from rich.text import Text
from typer import Argument, Option

from graphneg.cli.options import Json, Offline, Overwrite, job
from graphneg.cli.terminal import (
    counted,
    figures_table,
    note,
    plain_table,
    print_json,
    results,
    say,
    working,
)

if TYPE_CHECKING:
    from rich.table import Table

    from graphneg.evaluation.negatives.report import Report
    from graphneg.evaluation.negatives.sampling import Distribution
    from graphneg.evaluation.negatives.statistics import CategoryLine, Figures

STYLES = {"wrong": "bold red", "suspicious": "yellow", "note": "dim", "good": "green"}


@job(
    "graphneg evaluate negatives negatives.jsonl",
    "graphneg evaluate negatives edits.jsonl overlap.parquet positives.jsonl -o report.html",
    "graphneg evaluate negatives negatives.jsonl --lm path/to/lm --judge path/to/ranker --json",
)
def negatives(
    files: Annotated[
        list[Path], Argument(metavar="FILE...", help="Negatives, and right responses (.jsonl, .parquet).")
    ],
    out: Annotated[
        Path | None, Option("--out", "-o", metavar="FILE.html", help="Write a page with plots as well.")
    ] = None,
    overwrite: Overwrite = False,
    embedder: Annotated[
        str, Option(metavar="PATH_OR_ID", help="What gives the cosines: word vectors or an encoder.")
    ] = "glove-50d",
    lm: Annotated[
        str | None, Option(metavar="PATH_OR_ID", help="A causal language model, for fluency.")
    ] = None,
    judge: Annotated[
        str | None, Option(metavar="PATH_OR_ID", help="A ranker: how many does it take for right?")
    ] = None,
    threshold: Annotated[float, Option(help="A judge's score from here on says: right.")] = 0.5,
    sample: Annotated[
        int, Option(min=1, help="Texts at most of each line that models are asked about.")
    ] = 1000,
    examples: Annotated[int, Option(min=0, help="Negatives to show of each line.")] = 3,
    seed: Annotated[int, Option(help="The same seed draws the same sample and examples.")] = 0,
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Measure negatives before training on them: a line for each generator and category.

    Length, overlap, closeness, repeats and voice against those of right responses (label 1, and the
    originals of edits), what alone tells the two apart, and what is suspicious in plain words.
    No store is opened; memory does not grow with the files.
    """
    from dataclasses import asdict

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
    console.print(_texts(report))
    console.print(_neighbours(report))
    if any(line.cue_auc for line in report.lines):
        console.print(_told(report))
    console.print(_findings(report))
    for line in report.most_specific:
        if line.examples:
            console.print(_examples(line))


def _texts(report: Report) -> Table:
    """What the texts themselves are like, and what they share with context and right response."""
    headers = ("count", "words", "of\nright", "shared", "with\nright", "questions", "I/you/\nothers")
    return _lines(report, headers, _text_cells)


def _neighbours(report: Report) -> Table:
    """What models say of them, and where the same texts stand."""
    headers = ("cosine:\ncontext", "to\nright")
    asked = [("perplexity", report.lm), ("judge:\nright", report.judge)]
    headers += tuple(header for header, model in asked if model is not None)
    return _lines(report, (*headers, "again", "else-\nwhere", "are\nright"), _neighbour_cells)


def _lines(
    report: Report, headers: Sequence[str], cells: Callable[[Report, Figures, CategoryLine | None], list[str]]
) -> Table:
    """A row for right responses and each line. Two narrow tables, since one is wider than terminals are."""

    table = figures_table("", *headers)
    for target, figures in report.reference.items():
        name = "right responses" if target == "response" else "turns as they were"
        table.add_row(name, *cells(report, figures, None), style="green")
    for line in report.lines:
        table.add_row(Text(line.name), *cells(report, line.figures, line))
    return table


def _text_cells(report: Report, figures: Figures, line: CategoryLine | None) -> list[str]:
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


def _neighbour_cells(report: Report, figures: Figures, line: CategoryLine | None) -> list[str]:
    cells = [_mean(figures.to_context), _mean(figures.to_right)]
    if report.lm is not None:
        cells.append("–" if figures.perplexity is None else f"{figures.perplexity.mean:,.0f}")
    if report.judge is not None:
        cells.append("–" if figures.judged_right is None else f"{figures.judged_right:.0%}")
    if line is None:
        return [*cells, "", "", ""]
    cells += [f"{part / figures.texts:.0%}" for part in (line.again, line.elsewhere)]
    return [*cells, f"{line.equal_to_right:,}"]


def _mean(spread: Distribution | None) -> str:
    return "–" if spread is None else f"{spread.mean:.2f}"


def _told(report: Report) -> Table:
    cues = list(dict.fromkeys(cue for line in report.lines for cue in line.cue_auc))
    title = "How well one cue tells them from right responses (AUC: 0.5 not at all, 1.0 always)"
    table = figures_table("", *cues, title=title)
    for line in report.lines:
        areas = [line.cue_auc.get(cue) for cue in cues]
        table.add_row(Text(line.name), *map(_area, areas))
    return table


def _area(area: float | None) -> str:
    from graphneg.evaluation.negatives.findings import SUSPICIOUS_AUC

    if area is None:
        return "–"
    return f"[red]{area:.2f}[/]" if area >= SUSPICIOUS_AUC else f"{area:.2f}"


def _findings(report: Report) -> Table:

    table = plain_table("", "negatives", "", title="What is good, and what is suspicious")
    table.columns[0].no_wrap = True
    for one in report.findings:
        table.add_row(Text(one.level, STYLES[one.level]), Text(one.line), Text(one.sentence))
    return table


def _examples(line: CategoryLine) -> Table:

    table = plain_table("last turn", "negative", "in truth", title=f"Some of {escape(line.name)}")
    for one in line.examples:
        last = one.context[-1] if one.context else ""
        table.add_row(Text(last, "dim"), Text(one.text), Text(one.right or "–", "green"))
    return table
