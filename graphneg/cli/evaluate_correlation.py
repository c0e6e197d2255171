"""``graphneg evaluate correlation``: scores against what people gave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.terminal import add_job, counted, plain_table, results, say, stopping

if TYPE_CHECKING:
    from graphneg.evaluation.correlation import Coefficient, Correlation, Difference


def register(app: typer.Typer) -> None:
    add_job(
        app,
        correlation,
        "graphneg evaluate correlation chatbot1.json chatbot2.json --scores scores.jsonl",
        "graphneg evaluate correlation fed_data.json --scores a.txt --scores b.txt --quality Coherent",
        "graphneg evaluate correlation persona-zhao_all_anno.json --scores mine.txt --json",
    )


def correlation(
    ratings: Annotated[
        list[Path],
        typer.Argument(metavar="RATINGS...", help="Files of human ratings: DSTC9, FED, Zhao 2020."),
    ],
    scores: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="A scorer's scores, one for each rated item; repeatable, to compare with the first.",
        ),
    ],
    quality: Annotated[
        list[str] | None, typer.Option(help="Only this quality; repeatable.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same intervals.")] = 0,
    resamples: Annotated[
        int, typer.Option(min=0, help="Resamples of the items, for the 95% intervals.")
    ] = 1000,
) -> None:
    """Correlate scores with human ratings: Pearson, Spearman, Kendall, with bootstrap intervals.

    Scores are a number a line, or JSON lines with "score", in the order of the ratings. Turns
    and whole dialogues are told apart. Of several scorers, each is compared with the first by a
    paired bootstrap of Spearman. No store is opened.
    """
    from graphneg.evaluation.correlation import compare, correlate
    from graphneg.evaluation.ratings import only, read_ratings
    from graphneg.evaluation.score_files import read_scores

    rated = read_ratings(ratings)
    columns = [read_scores(one, len(rated)) for one in scores]
    kept = only(rated, quality or ())
    with stopping("nothing was changed"):
        found = [correlate(column, kept, resamples=resamples, seed=seed) for column in columns]
        others = [compare(columns[0], column, kept, resamples=resamples, seed=seed) for column in columns[1:]]
    if json:
        _print_json(scores, found, others)
    else:
        _print(scores, found)
        for path, differences in zip(scores[1:], others, strict=True):
            _print_differences(scores[0], path, differences)
    say(f"{counted(len(rated), 'rated item')}, {counted(len(scores), 'scorer')}")


def _print(scores: list[Path], found: list[list[Correlation]]) -> None:
    table = plain_table("scores", "level", "quality", "items", "Pearson", "Spearman", "Kendall")
    for column in table.columns[3:]:
        column.justify = "right"
    for path, correlations in zip(scores, found, strict=True):
        for one in correlations:
            table.add_row(
                path.name,
                one.level,
                one.quality,
                f"{one.items:,}",
                *(_shown(value) for value in (one.pearson, one.spearman, one.kendall)),
            )
    results().print(table)


def _print_differences(first: Path, second: Path, differences: list[Difference]) -> None:
    table = plain_table(
        "level", "quality", "items", "Spearman more", "95%", "p", title=f"{first.name} less {second.name}"
    )
    for column in table.columns[2:]:
        column.justify = "right"
    for one in differences:
        table.add_row(
            one.level,
            one.quality,
            f"{one.items:,}",
            f"{one.value:+.3f}",
            f"{one.low:+.3f} to {one.high:+.3f}",
            f"{one.p:.3f}",
        )
    results().print(table)


def _print_json(scores: list[Path], found: list[list[Correlation]], others: list[list[Difference]]) -> None:
    from dataclasses import asdict
    from json import dumps

    value = {
        "scorers": [
            {"scores": str(path), "correlations": [asdict(one) for one in some]}
            for path, some in zip(scores, found, strict=True)
        ],
        "differences": [
            {"first": str(scores[0]), "second": str(path), "spearman": [asdict(one) for one in some]}
            for path, some in zip(scores[1:], others, strict=True)
        ],
    }
    typer.echo(dumps(value, ensure_ascii=False))


def _shown(one: Coefficient) -> str:
    return f"{one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f})"
