"""``graphneg evaluate smatch``: AMR graphs against gold graphs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.terminal import add_job, complain, counted, figures_table, results, say, stopping

if TYPE_CHECKING:
    from graphneg.evaluation import Evaluation

SHOWN_UNREADABLE = 20


def register(app: typer.Typer) -> None:
    add_job(
        app,
        smatch,
        "graphneg evaluate smatch gold.amr parsed.amr",
        "graphneg evaluate smatch gold.amr parsed.amr --json | jq .measures.Smatch.micro.f1",
    )


def smatch(
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="PENMAN file of gold graphs.")],
    pred: Annotated[Path, typer.Argument(metavar="PRED", help="PENMAN file of the graphs to measure.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers.")] = 0,
    resamples: Annotated[
        int, typer.Option(min=0, help="Resamples of the pairs, for the 95% intervals of F1.")
    ] = 1000,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; one a core.", show_default=False)
    ] = None,
) -> None:
    """Measure graphs against gold graphs: Smatch, and the sub-scores of amr-evaluation.

    Graphs are paired by ::id where both files have the same ids, else by their order. A graph of
    PRED that can't be read counts as one without triples; a pair whose gold graph can't be read is
    left out. No store is opened.
    """
    from graphneg.cli.bars import Bars
    from graphneg.evaluation import evaluate_smatch

    with stopping("nothing was changed"), Bars() as bars:
        found = evaluate_smatch(
            gold, pred, seed=seed, resamples=resamples, processes=processes, progress=bars
        )
    if json:
        from json import dumps

        typer.echo(dumps(found.as_dict(), ensure_ascii=False))
    else:
        _print(found)
    for one in found.unreadable[:SHOWN_UNREADABLE]:
        complain(f"{one.place}: {one.id or '-'}: {one.reason}")
    say(
        f"{counted(found.pairs, 'pair')} compared, by {found.paired_by}"
        + (f"; {counted(len(found.unreadable), 'graph')} can't be read" if found.unreadable else "")
    )


def _print(found: Evaluation) -> None:
    table = figures_table("measure", "P", "R", "F1", "95%", "macro", "95%", "pairs")
    for name, one in found.measures.items():
        table.add_row(
            f"[bold]{name}[/]",
            *(f"{value:.3f}" for value in one.micro),
            _interval(one.micro_interval),
            f"{one.macro.f1:.3f}",
            _interval(one.macro_interval),
            f"{one.pairs:,}",
        )
    results().print(table)


def _interval(ends: tuple[float, float]) -> str:
    return "–".join(f"{end:.3f}" for end in ends)
