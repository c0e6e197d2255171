"""The program ``graphneg``: its commands, the options before them, and how it ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from graphneg import __version__
from graphneg.cli import contradictions, evaluate, shift, train
from graphneg.cli.compare import compare
from graphneg.cli.cypher import cypher, transforms
from graphneg.cli.negatives import generate, negatives
from graphneg.cli.options import StoreOptions, add_commands, examples, expanded
from graphneg.cli.parse import parse
from graphneg.cli.rank import bank, rank, select
from graphneg.cli.store import check, export, info, load, upgrade
from graphneg.cli.terminal import complain
from graphneg.errors import GraphnegError

COMMANDS = (
    *(load, upgrade, parse, negatives, generate, select, transforms),
    *(bank, rank, cypher, export, info, check, compare),
)
GROUPS = (shift.app, train.app, contradictions.app, evaluate.app)

app = typer.Typer(
    name="graphneg",
    help="Hard negatives for dialogue systems: edits of AMR meaning graphs, made in Cypher, decoded to text.",
    epilog=examples(
        "graphneg load everyday",
        "graphneg negatives -o negatives.jsonl --show 5",
        "graphneg --store neo4j://localhost info",
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
add_commands(app, COMMANDS)
for group in GROUPS:
    app.add_typer(group)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"graphneg {__version__}")
        raise typer.Exit


@app.callback()
@expanded
def _options(
    context: typer.Context,
    *,
    where: StoreOptions,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options that stand before a command hold for it where it does not say otherwise itself."""
    given = {name: value for name, value in asdict(where).items() if value is not None}
    context.default_map = _for_each_command(app, given)


def _for_each_command(parent: typer.Typer, given: dict[str, str]) -> dict[str, Any]:
    """These options for each command, and for those of each group."""
    options: dict[str, Any] = {one.name: given for one in parent.registered_commands if one.name}
    for group in parent.registered_groups:
        if group.typer_instance is not None and isinstance(group.typer_instance.info.name, str):
            options[group.typer_instance.info.name] = _for_each_command(group.typer_instance, given)
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 an error, 2 wrong usage (no such model, data that a training
    or an evaluation can't use), 130 interrupted."""
    try:
        app(args=arguments, prog_name="graphneg")
    except GraphnegError as error:
        complain(str(error))
        sys.exit(error.status)
    except KeyboardInterrupt:
        sys.exit(130)
