"""Define the program ``graphneg``: its commands and its global options.

`app` is the Typer application with all commands. Options that choose the store can also be given before the
name of a command, so ``graphneg --store chats info`` and ``graphneg info --store chats`` have the same
meaning.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import typer

from graphneg import __version__
from graphneg.cli import contradictions, evaluate, rank, shards, shift, train
from graphneg.cli.annotate import annotate
from graphneg.cli.commands import group, option, with_expanded_options, without_none
from graphneg.cli.cypher import cypher, transforms
from graphneg.cli.doctor import doctor
from graphneg.cli.negatives import generate, negatives
from graphneg.cli.options import StoreOptions
from graphneg.cli.parse import parse
from graphneg.cli.rank import select
from graphneg.cli.run import run
from graphneg.cli.serve import serve
from graphneg.cli.store import export, info, load

app = group(
    "graphneg",
    "Make hard negatives for dialogue systems: edit AMR graphs with Cypher queries, and decode them to text.",
    (
        *(load, parse, negatives, generate, select, run, transforms),
        *(cypher, export, info, annotate, serve, doctor),
    ),
    "graphneg load everyday",
    "graphneg negatives -o negatives.jsonl --show 5",
    "graphneg --store neo4j://localhost info",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for commands in (shift.app, train.app, rank.app, evaluate.app, contradictions.app, shards.app):
    app.add_typer(commands)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"graphneg {__version__}")
        raise typer.Exit


@app.callback()
@with_expanded_options
def _options(
    *,
    context: typer.Context,
    where: StoreOptions,
    version: bool = option(False, "Print the version and exit.", callback=_version, is_eager=True),
) -> None:
    """Set store options for the command that follows. Options after the command's name take precedence."""
    # Click takes the default values of all commands' options from the dictionary `default_map`.
    context.default_map = _for_each_command(app, without_none(**asdict(where)))


def _for_each_command(parent: typer.Typer, values: dict[str, Any]) -> dict[str, Any]:
    """Return a dictionary with the given options for each command, keyed by the name of the command.

    The commands of a subgroup such as ``train`` are in a nested dictionary, whose key is the name of the
    subgroup.
    """
    options: dict[str, Any] = {listed.name: values for listed in parent.registered_commands if listed.name}
    for below in parent.registered_groups:
        if below.typer_instance is not None and isinstance(below.typer_instance.info.name, str):
            options[below.typer_instance.info.name] = _for_each_command(below.typer_instance, values)
    return options
