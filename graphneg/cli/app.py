"""The program ``graphneg``: all commands, the options before a command, and the exit status.

`app` lists the commands. Options that are given before a command are defaults for that command, so
``graphneg --store chats info`` and ``graphneg info --store chats`` do the same. `main` runs the program and
turns exceptions of the package into one line on standard error and an exit status.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer

from graphneg import __version__
from graphneg.cli import contradictions, evaluate, shift, train
from graphneg.cli.commands import expanded, group, option, without_none
from graphneg.cli.compare import compare
from graphneg.cli.cypher import cypher, transforms
from graphneg.cli.doctor import doctor
from graphneg.cli.negatives import generate, negatives
from graphneg.cli.options import StoreOptions
from graphneg.cli.parse import parse
from graphneg.cli.rank import bank, rank, select
from graphneg.cli.run import run
from graphneg.cli.serve import serve
from graphneg.cli.shards import merge, snapshot
from graphneg.cli.sheet import sheet
from graphneg.cli.store import check, export, info, load, upgrade
from graphneg.cli.terminal import complain
from graphneg.errors import GraphnegError

RARELY = 50_000
"""Number of new objects after which Python looks for reference cycles to free; Python's default is far lower.

Importing the libraries creates many objects and hardly any cycles, so frequent searches only cost time.
"""

WAITING = ("GOMP_SPINCOUNT", "10000")
"""Number of checks for new work after which an idle OpenMP thread of PyTorch gives up its core (GNU OpenMP).

With the default, two models that generate text at the same time on the same cores took thirty times as long.
"""

app = group(
    "graphneg",
    "Make hard negatives for dialogue systems: edit AMR graphs with Cypher queries, and decode them to text.",
    (
        *(load, upgrade, parse, negatives, generate, select, snapshot, merge, run, transforms),
        *(bank, rank, cypher, export, info, check, compare, sheet, serve, doctor),
    ),
    "graphneg load everyday",
    "graphneg negatives -o negatives.jsonl --show 5",
    "graphneg --store neo4j://localhost info",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
for commands in (shift.app, train.app, contradictions.app, evaluate.app):
    app.add_typer(commands)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"graphneg {__version__}")
        raise typer.Exit


@app.callback()
@expanded
def _options(
    *,
    context: typer.Context,
    where: StoreOptions,
    version: bool = option(False, "Print the version and exit.", callback=_version, is_eager=True),
) -> None:
    """Set options that apply to the command after them, unless the command sets them itself."""
    # Click looks up the defaults of a command here, nested by group.
    context.default_map = _for_each_command(app, without_none(**asdict(where)))


def _for_each_command(parent: typer.Typer, given: dict[str, Any]) -> dict[str, Any]:
    """Return the given options as defaults for each command, nested by command group."""
    options: dict[str, Any] = {listed.name: given for listed in parent.registered_commands if listed.name}
    for below in parent.registered_groups:
        if below.typer_instance is not None and isinstance(below.typer_instance.info.name, str):
            options[below.typer_instance.info.name] = _for_each_command(below.typer_instance, given)
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit the process.

    Exit status: 0 on success, 1 on an error, 2 on wrong usage (including a model that does not exist and data
    that training or evaluation cannot use), 130 when interrupted with Ctrl-C.

    Args:
        arguments: The command line without the program name. None reads ``sys.argv``.
    """
    gc.set_threshold(RARELY)
    # Set before torch is imported: OpenMP reads the variable when it is loaded.
    os.environ.setdefault(*WAITING)
    try:
        app(args=arguments, prog_name="graphneg")
    except GraphnegError as error:
        complain(str(error))
        sys.exit(error.status)
    except KeyboardInterrupt:
        # 128 + SIGINT, as shells report it.
        sys.exit(130)
