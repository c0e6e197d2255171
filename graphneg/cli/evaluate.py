"""``graphneg evaluate``: how good graphs, rankers and scorers are, its commands under one name."""

from __future__ import annotations

import typer

from graphneg.cli import evaluate_contradiction, evaluate_negatives, evaluate_scores
from graphneg.cli.terminal import examples

app = typer.Typer(
    name="evaluate",
    help="How good graphs are against gold graphs, rankers against negatives, scorers against people.",
    epilog=examples(
        "graphneg evaluate smatch gold.amr parsed.amr",
        "graphneg evaluate ranker dev.json --model path/to/ranker",
        "graphneg evaluate negatives negatives.jsonl -o report.html",
        "graphneg evaluate correlation chatbot1.json --scores scores.jsonl",
    ),
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for register_command in (
    evaluate_scores.register_evaluate_smatch,
    evaluate_scores.register,
    evaluate_negatives.register,
    evaluate_scores.register_evaluate_correlation,
    evaluate_contradiction.register,
):
    register_command(app)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app)
