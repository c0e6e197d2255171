"""``graphneg compare``: which wrong responses teach a ranker most."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli.terminal import add_job, counted, figures_table, named_values, results, say, stopping

if TYPE_CHECKING:
    from graphneg.evaluation.comparison.comparison import Comparison, Figure, Row
    from graphneg.evaluation.comparison.runs import Run


RANKER, MADE = "The ranker", "Negatives that are made"


class HeldOut(StrEnum):
    """Which texts are never learned from."""

    right = "right"
    nothing = "nothing"


def register(app: typer.Typer) -> None:
    add_job(
        app,
        compare,
        "graphneg compare dev.json --source random --source human --source overlap --seeds 3 "
        "--model path/to/encoder -o compared",
        "graphneg compare train.json --test test.json --source random --source human "
        "--source mine=negatives.jsonl --model path/to/encoder -o compared",
    )


def compare(
    train: Annotated[
        Path, typer.Argument(metavar="TRAIN", help="Contexts in the shape of DailyDialog++ (JSON lines).")
    ],
    model: Annotated[
        str, typer.Option(metavar="PATH_OR_ID", help="The encoder to start from.", rich_help_panel=RANKER)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where each result is kept.")],
    source: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="random, human (the adversarial responses of TRAIN), a recipe, a transform, a generator, or "
            "NAME=FILE of negatives. Repeatable.",
        ),
    ],
    test: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Contexts to be tested on; else TRAIN is split.")
    ] = None,
    split: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of TRAIN's contexts to learn from, by hash.")
    ] = 0.7,
    held_out: Annotated[
        HeldOut,
        typer.Option(help="Texts that are never learned from: right responses of the test, or nothing."),
    ] = HeldOut.right,
    seeds: Annotated[int, typer.Option(min=1, help="So many rankers of each source, by seeds from 0.")] = 1,
    positives: Annotated[int, typer.Option(min=1, help="Right responses of a context in an epoch.")] = 2,
    random: Annotated[int, typer.Option(min=1, help="Random wrong ones.")] = 2,
    wrong: Annotated[int, typer.Option(min=1, help="Wrong ones of the source.")] = 3,
    epochs: Annotated[int, typer.Option(min=1, help="Passes; each draws other negatives.")] = 2,
    bank: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LOADER=PATH",
            help="A corpus to retrieve from, beside TRAIN; what the test asks is left out. Repeatable.",
            rich_help_panel=MADE,
        ),
    ] = None,
    source_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE.NAME=VALUE",
            help="An option of a generator or recipe, such as bm25.by=response. Repeatable.",
            rich_help_panel=MADE,
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option(help="cross-encoder, sa-bert or poly-encoder.", rich_help_panel=RANKER)
    ] = "cross-encoder",
    freeze: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Parameters that do not learn, such as embeddings. Repeatable.",
            rich_help_panel=RANKER,
        ),
    ] = None,
    dropout: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="In place of the model's own; 0 is quickest.", rich_help_panel=RANKER
        ),
    ] = None,
    max_tokens: Annotated[
        int, typer.Option(min=8, help="Longer contexts lose their beginning.", rich_help_panel=RANKER)
    ] = 256,
    rate: Annotated[float, typer.Option(min=0, help="Learning rate.", rich_help_panel=RANKER)] = 5e-5,
    batch: Annotated[int, typer.Option(min=1, help="Pairs of one step.", rich_help_panel=RANKER)] = 32,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="One of transformers' TrainingArguments; repeatable.",
            rich_help_panel=RANKER,
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="cpu, cuda; else the best there is.", show_default=False, rich_help_panel=RANKER),
    ] = None,
    keep_models: Annotated[
        bool, typer.Option("--keep-models", help="Keep the trained rankers in FOLDER/models.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Begin anew where FOLDER holds a comparison.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the table as one JSON object.")] = False,
) -> None:
    """Train the same ranker on several sources of wrong responses, and compare what it learns.

    Each is tested on contexts that none has seen. "Gap closed" is how far a source comes from random to
    human wrong responses. Intervals are of a bootstrap over contexts and seeds. Stopped, the same command
    goes on; with more sources or seeds it adds them.
    """
    from graphneg.cli.terminal import Bars
    from graphneg.evaluation.comparison.comparison import Plan
    from graphneg.evaluation.comparison.comparison import compare as run_all
    from graphneg.evaluation.comparison.data import bank_of, read_data
    from graphneg.evaluation.comparison.runs import RankerSettings
    from graphneg.evaluation.comparison.sources import Budget, source_of

    plan = Plan(
        sources=[source_of(name) for name in source],
        ranker=RankerSettings(
            model,
            kind,
            {"frozen": freeze or [], "dropout": dropout, "max_tokens": max_tokens, "device": device},
            {
                "learning_rate": rate,
                "per_device_train_batch_size": batch,
                **named_values(option or (), "--option"),
            },
            offline,
        ),
        seeds=range(seeds),
        budget=Budget(positives, random, wrong, epochs),
        banks=[bank_of(text) for text in bank or ()],
        options=_by_source(source_option),
        held_out=held_out.value,
        keep_models=keep_models,
    )
    data = read_data(train, test, split)
    with stopping(f"{out} keeps each result; the same command goes on from there"), Bars() as bars:
        found = run_all(data, plan, out, overwrite=overwrite, progress=bars, on_run=_tell)
    if json:
        _print_json(found)
    else:
        results().print(_table(found))
    say(f"{out}: {counted(found.train, 'context')} to learn from, {found.test:,} to be tested on")


def _by_source(given: list[str] | None) -> Mapping[str, dict[str, Any]]:
    """Options by source: ``bm25.by=response``."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in named_values(given or (), "--source-option").items():
        source, dot, option = name.partition(".")
        if not dot or not option:
            raise typer.BadParameter(f"{name!r}: write SOURCE.NAME=VALUE", param_hint="--source-option")
        found.setdefault(source, {})[option] = value
    return found


def _tell(run: Run) -> None:
    missing = sum(run.lacking.values())
    few = f"; {missing:,} an epoch are missing" if missing else ""
    pairs = counted(sum(run.pairs.values()), "pair")
    say(f"{run.source}, seed {run.seed}: {pairs}, loss {run.loss:.3f}, {run.seconds:,.0f} s{few}")


def _table(found: Comparison) -> Any:
    """One row a source; intervals stand under their figures."""
    from graphneg.evaluation.comparison.comparison import AUC, BALANCED, RECALL

    kinds = list(found.rows[0].figures)
    heads = {RECALL: "R@1", BALANCED: "balanced", AUC: "AUC"}
    closing = [measure for measure in heads if any(measure in row.closed for row in found.rows)]
    lacking = any(row.lacking for row in found.rows)
    table = figures_table(
        "source",
        "seeds",
        *(f"{kind}\n{head}" for kind in kinds for head in heads.values()),
        *(f"gap closed\n{heads[measure]}" for measure in closing),
        *(["too few\nan epoch"] if lacking else []),
    )
    for row in found.rows:
        table.add_row(
            row.source,
            str(len(row.seeds)),
            *(_shown(row.figures[kind][measure]) for kind in kinds for measure in heads),
            *(_share(row, measure) for measure in closing),
            *([f"{row.lacking:,}"] if lacking else []),
        )
    return table


def _shown(one: Figure) -> str:
    return f"{one.value:.3f}\n{one.low:.2f}-{one.high:.2f}"


def _share(row: Row, measure: str) -> str:
    if measure not in row.closed:
        return "-"
    one = row.closed[measure]
    return f"{one.value:.0%}\n{one.low:.0%} to {one.high:.0%}"


def _print_json(found: Comparison) -> None:
    from json import dumps

    typer.echo(dumps(found.as_dict(), ensure_ascii=False))
