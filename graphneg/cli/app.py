"""The program ``graphneg``: its commands, the options before them, and how it ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from graphneg import __version__
from graphneg.cli import compare, contradictions, cypher, evaluate, load, negatives, parse, rank, shift, train
from graphneg.cli.terminal import Database, Password, StorePlace, Username, complain, examples
from graphneg.errors import GraphnegError

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

for register in (
    load.register,
    parse.register,
    negatives.register,
    negatives.register_generate,
    rank.register_select,
    cypher.register_transforms,
    shift.register_shift,
    train.register,
    rank.register_bank,
    rank.register,
    contradictions.register,
    cypher.register,
    load.register_export,
    load.register_info,
    load.register_check,
    evaluate.register,
    compare.register,
):
    register(app)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"graphneg {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options that stand before a command hold for it where it does not say otherwise itself."""
    given = {"store": store, "username": username, "password": password, "database": database}
    given = {name: value for name, value in given.items() if value is not None}
    context.default_map = _for_each_command(app, given)


def _for_each_command(parent: typer.Typer, given: dict[str, str]) -> dict[str, Any]:
    """These options for each command, and for those of each group."""
    found: dict[str, Any] = {one.name: given for one in parent.registered_commands if one.name}
    for group in parent.registered_groups:
        if group.typer_instance is not None and isinstance(group.typer_instance.info.name, str):
            found[group.typer_instance.info.name] = _for_each_command(group.typer_instance, given)
    return found


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
