"""Define the command ``evaluate sources``, which compares sources of wrong responses for training a ranker.

For each source of wrong responses and each random seed, the command trains a ranker. All rankers have the
same settings and are trained on the same number of pairs of a context and a response. The rankers are tested
on contexts that none of them has seen. The resulting table has a row for each source.

Example::

    graphneg evaluate sources train.json --source random --source human --model path/to/encoder -o out
    # Two rows, random and human; columns for R@1, balanced accuracy and AUC, with 95% intervals.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.table import Table
from typer import BadParameter

from graphneg.cli.commands import argument, named_values, option, panel, training_command
from graphneg.cli.options import (
    BatchSize,
    Device,
    Dropout,
    Freeze,
    Json,
    MaxTokens,
    Offline,
    Rate,
    StartEncoder,
    TrainingOption,
    training_arguments,
)
from graphneg.cli.tables import figures_table, show, with_interval
from graphneg.cli.terminal import counted, print_message, progress_bars, resume_message

if TYPE_CHECKING:
    from graphneg.evaluation.comparison.comparison import Comparison
    from graphneg.evaluation.comparison.runs import RankerRun
    from graphneg.statistics import Estimate

_of_negatives = panel("Generated negatives")


@training_command(
    "graphneg evaluate sources dev.json --source random --source human --source overlap --seeds 3 "
    "--model path/to/encoder -o compared",
    "graphneg evaluate sources train.json --test test.json --source random --source human "
    "--source mine=negatives.jsonl --model path/to/encoder -o compared",
)
def sources(
    *,
    train: Path = argument(
        ..., "Contexts for training, as JSON lines in the format of DailyDialog++.", "TRAIN"
    ),
    model: StartEncoder,
    out: Path = option(..., "Folder for the results.", "FOLDER", "--out", "-o"),
    source: list[str] = option(
        ...,
        "Source of wrong responses: random, human (the adversarial responses in TRAIN), a "
        "recipe, a transform, a generator, or NAME=FILE for a file of negatives. Repeatable.",
        "NAME",
    ),
    test: Path | None = option(None, "Contexts for testing. Default: a part of TRAIN."),
    split: float = option(
        0.7,
        "Share of TRAIN's contexts for training if there is no --test; the contexts are chosen by hash.",
        "SHARE",
    ),
    held_out: Literal["right", "nothing"] = option(
        "right",
        "Remove the correct responses to the test contexts from the training data (right), or remove "
        "nothing (nothing).",
    ),
    seeds: int = option(
        1, "Number of rankers to train for each source, with the seeds 0, 1, 2 and so on.", min=1
    ),
    positives: int = option(2, "Number of correct responses per context and epoch.", min=1),
    random: int = option(2, "Number of random wrong responses per context and epoch.", min=1),
    negatives: int = option(3, "Number of wrong responses from the source per context and epoch.", min=1),
    epochs: int = option(
        2, "Number of passes over the contexts; each pass samples different wrong responses.", min=1
    ),
    bank: list[str] | None = _of_negatives(
        None,
        "Further corpus, in addition to TRAIN, from which generators and recipes may take texts. Responses "
        "to test contexts are left out. Repeatable.",
        "LOADER=PATH",
    ),
    source_option: list[str] | None = _of_negatives(
        None,
        "An option for a generator or recipe, such as bm25.by=response. Repeatable.",
        "SOURCE.NAME=VALUE",
    ),
    kind: str = option("cross-encoder", "Type of the ranker: cross-encoder, sa-bert or poly-encoder."),
    freeze: Freeze = None,
    dropout: Dropout = None,
    max_tokens: MaxTokens = 256,
    rate: Rate = 5e-5,
    batch: BatchSize = 32,
    option: TrainingOption = None,
    device: Device = None,
    keep_models: bool = option(False, "Keep the trained rankers in FOLDER/models."),
    overwrite: bool = option(False, "Delete the comparison in FOLDER, if any, and start again."),
    offline: Offline = False,
    json: Json = False,
) -> None:
    """Train the same ranker on several sources of wrong responses, and compare the results.

    Each ranker is tested on contexts that it has not seen. "Gap closed" places a source between random and
    human-written wrong responses: 0% if its ranker is as good as the ranker trained on random wrong
    responses, 100% if its ranker is as good as the ranker trained on human-written wrong responses.
    Confidence intervals come from a bootstrap over contexts and seeds. If a run is interrupted, run the same
    command again to continue. If you run the command again with more sources or seeds, their results are
    added. \N{FORM FEED}

    Raises:
        BadParameter: A ``--source-option`` is not of the form ``SOURCE.NAME=VALUE``.
    """
    from graphneg.dialogue_graph import open
    from graphneg.evaluation.comparison.comparison import ComparisonPlan
    from graphneg.evaluation.comparison.comparison import compare as run_all
    from graphneg.evaluation.comparison.data import bank_of, read_data
    from graphneg.evaluation.comparison.runs import RankerSettings
    from graphneg.evaluation.comparison.sources import Budget, source_of

    by_source: dict[str, dict[str, Any]] = {}
    for name, value in named_values(source_option, "--source-option").items():
        # Convert "bm25.by=response" to {"bm25": {"by": "response"}}.
        of, dot, option_name = name.partition(".")
        if not dot or not option_name:
            raise BadParameter(f"{name!r}: expected SOURCE.NAME=VALUE", param_hint="--source-option")
        by_source.setdefault(of, {})[option_name] = value
    options = {"frozen": freeze or [], "dropout": dropout, "max_tokens": max_tokens, "device": device}
    arguments = training_arguments(rate, batch, option)
    plan = ComparisonPlan(
        sources=[source_of(name) for name in source],
        ranker=RankerSettings(model, kind, options, arguments, offline),
        seeds=range(seeds),
        budget=Budget(positives, random, negatives, epochs),
        banks=[bank_of(text) for text in bank or ()],
        options=by_source,
        held_out=held_out,
        keep_models=keep_models,
    )
    data = read_data(train, test, split)
    with progress_bars(resume_message(out)) as bars:
        compared = run_all(
            data, plan, out, open_graph=open, overwrite=overwrite, progress=bars, on_run=_print_run
        )
    show(json, [compared.as_dict()], _comparison_table(compared))
    print_message(f"{out}: {counted(compared.train, 'context')} to train on, {compared.test:,} to test on")


def _print_run(run: RankerRun) -> None:
    missing = sum(run.shortfall.values())
    few = f"; {missing:,} per epoch are missing" if missing else ""
    pairs = counted(sum(run.pairs.values()), "pair")
    print_message(f"{run.source}, seed {run.seed}: {pairs}, loss {run.loss:.3f}, {run.seconds:,.0f} s{few}")


def _comparison_table(compared: Comparison) -> Table:
    """Return a table with a row for each source. The line below each number is its confidence interval."""
    from graphneg.evaluation.comparison.comparison import AUC, BALANCED, RECALL

    def share(figure: Estimate | None) -> str:
        return f"{figure.value:.0%}\n{figure.low:.0%} to {figure.high:.0%}" if figure else "-"

    heads = {RECALL: "R@1", BALANCED: "balanced", AUC: "AUC"}
    kinds = list(compared.rows[0].figures)
    # Show the columns "gap closed" only if the comparison has the sources random and human, because the
    # figures are computed from these two.
    closing = [measure for measure in heads if any(measure in row.gap_closed for row in compared.rows)]
    few = any(row.shortfall for row in compared.rows)
    rows = (
        (
            *(row.source, str(len(row.seeds))),
            *(with_interval(row.figures[kind][measure]) for kind in kinds for measure in heads),
            *(share(row.gap_closed.get(measure)) for measure in closing),
            *([f"{row.shortfall:,}"] if few else []),
        )
        for row in compared.rows
    )
    return figures_table(
        *("source", "seeds"),
        *(f"{kind}\n{head}" for kind in kinds for head in heads.values()),
        *(f"gap closed\n{heads[measure]}" for measure in closing),
        *(["too few\nper epoch"] if few else []),
        rows=rows,
    )
