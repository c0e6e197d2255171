"""``graphneg compare``: which wrong responses teach a ranker most."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from rich.table import Table
from typer import Argument, BadParameter, Option

from graphneg.cli.options import Json, Offline, job, named_values, panel, training_arguments
from graphneg.cli.terminal import counted, figures_table, print_json, results, say, working

if TYPE_CHECKING:
    from graphneg.evaluation.comparison.comparison import Comparison, SourceResult
    from graphneg.evaluation.comparison.runs import RankerRun
    from graphneg.statistics import Estimate

_of_ranker = panel("The ranker")
_of_negatives = panel("Negatives that are made")


@job(
    "graphneg compare dev.json --source random --source human --source overlap --seeds 3 "
    "--model path/to/encoder -o compared",
    "graphneg compare train.json --test test.json --source random --source human "
    "--source mine=negatives.jsonl --model path/to/encoder -o compared",
)
def compare(
    train: Annotated[
        Path, Argument(metavar="TRAIN", help="Contexts in the shape of DailyDialog++ (JSON lines).")
    ],
    model: Annotated[str, _of_ranker(metavar="PATH_OR_ID", help="The encoder to start from.")],
    out: Annotated[Path, Option("--out", "-o", metavar="FOLDER", help="Where each result is kept.")],
    source: Annotated[
        list[str],
        Option(
            metavar="NAME",
            help="random, human (the adversarial responses of TRAIN), a recipe, a transform, a generator, or "
            "NAME=FILE of negatives. Repeatable.",
        ),
    ],
    test: Annotated[
        Path | None, Option(metavar="FILE", help="Contexts to be tested on; else TRAIN is split.")
    ] = None,
    split: Annotated[
        float, Option(metavar="SHARE", help="The share of TRAIN's contexts to learn from, by hash.")
    ] = 0.7,
    held_out: Annotated[
        Literal["right", "nothing"],
        Option(help="Texts that are never learned from: right responses of the test, or nothing."),
    ] = "right",
    seeds: Annotated[int, Option(min=1, help="So many rankers of each source, by seeds from 0.")] = 1,
    positives: Annotated[int, Option(min=1, help="Right responses of a context in an epoch.")] = 2,
    random: Annotated[int, Option(min=1, help="Random wrong ones.")] = 2,
    wrong: Annotated[int, Option(min=1, help="Wrong ones of the source.")] = 3,
    epochs: Annotated[int, Option(min=1, help="Passes; each draws other negatives.")] = 2,
    bank: Annotated[
        list[str] | None,
        _of_negatives(
            metavar="LOADER=PATH",
            help="A corpus to retrieve from, beside TRAIN; what the test asks is left out. Repeatable.",
        ),
    ] = None,
    source_option: Annotated[
        list[str] | None,
        _of_negatives(
            metavar="SOURCE.NAME=VALUE",
            help="An option of a generator or recipe, such as bm25.by=response. Repeatable.",
        ),
    ] = None,
    kind: Annotated[str, _of_ranker(help="cross-encoder, sa-bert or poly-encoder.")] = "cross-encoder",
    freeze: Annotated[
        list[str] | None,
        _of_ranker(metavar="NAME", help="Parameters that do not learn, such as embeddings. Repeatable."),
    ] = None,
    dropout: Annotated[
        float | None, _of_ranker(min=0, max=1, help="In place of the model's own; 0 is quickest.")
    ] = None,
    max_tokens: Annotated[int, _of_ranker(min=8, help="Longer contexts lose their beginning.")] = 256,
    rate: Annotated[float, _of_ranker(min=0, help="Learning rate.")] = 5e-5,
    batch: Annotated[int, _of_ranker(min=1, help="Pairs of one step.")] = 32,
    option: Annotated[
        list[str] | None,
        _of_ranker(metavar="NAME=VALUE", help="One of transformers' TrainingArguments; repeatable."),
    ] = None,
    device: Annotated[
        str | None, _of_ranker(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    keep_models: Annotated[
        bool, Option("--keep-models", help="Keep the trained rankers in FOLDER/models.")
    ] = False,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Begin anew where FOLDER holds a comparison.")
    ] = False,
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Train the same ranker on several sources of wrong responses, and compare what it learns.

    Each is tested on contexts that none has seen. "Gap closed" is how far a source comes from random to
    human wrong responses. Intervals are of a bootstrap over contexts and seeds. Stopped, the same command
    goes on; with more sources or seeds it adds them.
    """
    from graphneg.dialogue_graph import open
    from graphneg.evaluation.comparison.comparison import ComparisonPlan
    from graphneg.evaluation.comparison.comparison import compare as run_all
    from graphneg.evaluation.comparison.data import bank_of, read_data
    from graphneg.evaluation.comparison.runs import RankerSettings
    from graphneg.evaluation.comparison.sources import Budget, source_of

    options = {"frozen": freeze or [], "dropout": dropout, "max_tokens": max_tokens, "device": device}
    arguments = training_arguments(rate, batch, option)
    plan = ComparisonPlan(
        sources=[source_of(name) for name in source],
        ranker=RankerSettings(model, kind, options, arguments, offline),
        seeds=range(seeds),
        budget=Budget(positives, random, wrong, epochs),
        banks=[bank_of(text) for text in bank or ()],
        options=_by_source(source_option),
        held_out=held_out,
        keep_models=keep_models,
    )
    data = read_data(train, test, split)
    with working(f"{out} keeps each result; the same command goes on from there") as bars:
        compared = run_all(data, plan, out, open_graph=open, overwrite=overwrite, progress=bars, on_run=_tell)
    if json:
        print_json(compared.as_dict())
    else:
        results().print(_table(compared))
    say(f"{out}: {counted(compared.train, 'context')} to learn from, {compared.test:,} to be tested on")


def _by_source(given: list[str] | None) -> Mapping[str, dict[str, Any]]:
    """Options by source: ``bm25.by=response``."""
    options: dict[str, dict[str, Any]] = {}
    for name, value in named_values(given, "--source-option").items():
        source, dot, option = name.partition(".")
        if not dot or not option:
            raise BadParameter(f"{name!r}: write SOURCE.NAME=VALUE", param_hint="--source-option")
        options.setdefault(source, {})[option] = value
    return options


def _tell(run: RankerRun) -> None:
    missing = sum(run.shortfall.values())
    few = f"; {missing:,} an epoch are missing" if missing else ""
    pairs = counted(sum(run.pairs.values()), "pair")
    say(f"{run.source}, seed {run.seed}: {pairs}, loss {run.loss:.3f}, {run.seconds:,.0f} s{few}")


def _table(compared: Comparison) -> Table:
    """One row a source; intervals stand under their figures."""
    from graphneg.evaluation.comparison.comparison import AUC, BALANCED, RECALL

    kinds = list(compared.rows[0].figures)
    heads = {RECALL: "R@1", BALANCED: "balanced", AUC: "AUC"}
    closing = [measure for measure in heads if any(measure in row.closed for row in compared.rows)]
    few = any(row.shortfall for row in compared.rows)
    table = figures_table(
        "source",
        "seeds",
        *(f"{kind}\n{head}" for kind in kinds for head in heads.values()),
        *(f"gap closed\n{heads[measure]}" for measure in closing),
        *(["too few\nan epoch"] if few else []),
    )
    for row in compared.rows:
        table.add_row(
            row.source,
            str(len(row.seeds)),
            *(_shown(row.figures[kind][measure]) for kind in kinds for measure in heads),
            *(_share(row, measure) for measure in closing),
            *([f"{row.shortfall:,}"] if few else []),
        )
    return table


def _shown(one: Estimate) -> str:
    return f"{one.value:.3f}\n{one.low:.2f}-{one.high:.2f}"


def _share(row: SourceResult, measure: str) -> str:
    if measure not in row.closed:
        return "-"
    one = row.closed[measure]
    return f"{one.value:.0%}\n{one.low:.0%} to {one.high:.0%}"
