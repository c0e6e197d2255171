"""Define the program ``graphneg``: its commands, its global options, and its exit status.

`app` is the Typer application with all commands. Options that are given before the name of a command are
defaults for this command, so ``graphneg --store chats info`` and ``graphneg info --store chats`` have the
same meaning. `main` runs the program. If an exception of graphneg is raised, `main` prints its message on
standard error and sets the exit status.
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
from graphneg.cli.annotate import annotate
from graphneg.cli.commands import group, option, with_expanded_options, without_none
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
from graphneg.cli.store import check, export, info, load
from graphneg.cli.terminal import print_error
from graphneg.errors import GraphnegError
from graphneg.imports import own_process

GC_THRESHOLD = 50_000
"""Number of new objects after which Python searches for reference cycles. Python's default is far lower.

Importing the libraries creates many objects but hardly any cycles, so more frequent searches would waste
time.
"""

OPENMP_SPIN_COUNT = ("GOMP_SPINCOUNT", "10000")
"""An environment variable of GNU OpenMP, and the value to set unless the user has set one.

The value is the number of times that an idle thread of PyTorch checks for new work before it releases its
core. With the default, two models that generate text at the same time on the same cores take thirty times as
long.
"""

app = group(
    "graphneg",
    "Make hard negatives for dialogue systems: edit AMR graphs with Cypher queries, and decode them to text.",
    (
        *(load, parse, negatives, generate, select, snapshot, merge, run, transforms),
        *(bank, rank, cypher, export, info, check, compare, annotate, serve, doctor),
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
@with_expanded_options
def _options(
    *,
    context: typer.Context,
    where: StoreOptions,
    version: bool = option(False, "Print the version and exit.", callback=_version, is_eager=True),
) -> None:
    """Set options that apply to the command after them, unless the command sets them itself."""
    # Click takes the defaults of all commands from this dictionary, which is nested by command group.
    context.default_map = _for_each_command(app, without_none(**asdict(where)))


def _for_each_command(parent: typer.Typer, given: dict[str, Any]) -> dict[str, Any]:
    """Return a dictionary with the given options as the defaults of each command, nested by command group."""
    options: dict[str, Any] = {listed.name: given for listed in parent.registered_commands if listed.name}
    for below in parent.registered_groups:
        if below.typer_instance is not None and isinstance(below.typer_instance.info.name, str):
            options[below.typer_instance.info.name] = _for_each_command(below.typer_instance, given)
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit the process.

    The exit status is 0 on success, 1 on an error, 2 on incorrect usage (which includes missing models, and
    data that cannot be used for training or evaluation), and 130 if the user pressed Ctrl-C.

    Args:
        arguments: The arguments without the program name; None for those in ``sys.argv``.
    """
    gc.set_threshold(GC_THRESHOLD)
    own_process()
    # Set the variable before torch is imported, because OpenMP reads it when it is loaded.
    os.environ.setdefault(*OPENMP_SPIN_COUNT)
    try:
        app(args=arguments, prog_name="graphneg")
    except GraphnegError as error:
        print_error(str(error))
        sys.exit(error.status)
    except KeyboardInterrupt:
        # By convention, the status is 128 plus the number of the signal (SIGINT is 2).
        sys.exit(130)
