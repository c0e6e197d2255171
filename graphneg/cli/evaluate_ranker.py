"""``graphneg evaluate ranker``: right responses against wrong ones, by kind of negative."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.terminal import add_job, counted, figures_table, results, say, stopping
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.evaluation.ranking import Choices, Ranked


def register(app: typer.Typer) -> None:
    add_job(
        app,
        ranker,
        "graphneg evaluate ranker dev.json --model path/to/ranker",
        "graphneg evaluate ranker dev.json --scores scores.txt --json",
    )


def ranker(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="JSON lines in the shape of DailyDialog++.")
    ],
    model: Annotated[
        str | None, typer.Option(metavar="PATH|ID", help="A ranker of any kind: a folder or a hub id.")
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="In place of a model: a score for each response, contexts in order, right ones first.",
        ),
    ] = None,
    threshold: Annotated[float, typer.Option(help="A score from here on says: right.")] = 0.5,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many contexts.")] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a kind of negative.")] = False,
) -> None:
    """Rank right responses against wrong ones: accuracy, balanced accuracy, AUC, R@1, MRR.

    Contexts have several right responses and wrong ones of several kinds (adversarial, random).
    Ties count against the ranker. "Same length" compares each wrong response with the right one of
    its context that is nearest in words. No store is opened.
    """
    from graphneg.evaluation.choices import read_choices
    from graphneg.evaluation.ranking import rank

    if (model is None) == (scores is None):
        raise typer.BadParameter("give either --model or --scores", param_hint="--model")
    choices = read_choices(files, limit)
    with stopping("nothing was changed"):
        given = _from_model(choices, model, offline) if model else _from_file(choices, scores)
        found = rank(choices, given, threshold)
    (_print_json if json else _print)(found)
    say(counted(len(choices), "context"))


def _from_model(choices: list[Choices], model: str, offline: bool) -> list[list[float]]:
    from graphneg.cli.bars import Bars
    from graphneg.evaluation.choices import scored
    from graphneg.rankers.registry import load_ranker

    read = load_ranker(model, offline=offline)
    with Bars() as bars:
        return scored(read, choices, bars)


def _from_file(choices: list[Choices], path: Path | None) -> list[list[float]]:
    from graphneg.evaluation.score_files import read_scores

    if path is None:
        raise InputError("no scores were given")
    flat = iter(read_scores(path, sum(len(one.responses) for one in choices)))
    return [[next(flat) for _ in one.responses] for one in choices]


def _print(found: list[Ranked]) -> None:
    headers = ("negatives", "contexts", "pairs", "accuracy", "balanced", "AUC", "R@1", "MRR", "same\nlength")
    table = figures_table(*headers)
    for one in found:
        figures = (
            one.accuracy,
            one.balanced_accuracy,
            one.auc,
            one.recall_at_1,
            one.mrr,
            one.matched_accuracy,
        )
        table.add_row(
            one.kind,
            f"{one.contexts:,}",
            f"{one.positives + one.negatives:,}",
            *(f"{figure:.3f}" for figure in figures),
        )
    results().print(table)


def _print_json(found: list[Ranked]) -> None:
    from dataclasses import asdict
    from json import dumps

    for one in found:
        typer.echo(dumps(asdict(one), ensure_ascii=False))
