"""``graphneg shift``: the shift graph, its commands under one name."""

from __future__ import annotations

import typer

from graphneg.cli.terminal import examples

app = typer.Typer(
    name="shift",
    help="The shift graph: which keyword replies attend to, and which they move to.",
    epilog=examples(
        "graphneg shift build --embedder path/to/model", "graphneg shift export -o shifts.graphml"
    ),
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app)
