"""The program ``graphneg``: its commands, the options before them, and how it ends."""

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
"""After so many more objects garbage in cycles is looked for: importing makes many, and none of it."""

WAITING = ("GOMP_SPINCOUNT", "10000")
"""So often the threads of PyTorch (GNU's OpenMP) look for each other before they leave the core to other
programs: by their own measure two that write at once on the same cores take thirty times as long."""

app = group(
    "graphneg",
    "Hard negatives for dialogue systems: edits of AMR meaning graphs, made in Cypher, decoded to text.",
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
    version: bool = option(False, "Print the version and end.", callback=_version, is_eager=True),
) -> None:
    """Options that stand before a command hold for it where it does not say otherwise itself."""
    context.default_map = _for_each_command(app, without_none(**asdict(where)))


def _for_each_command(parent: typer.Typer, given: dict[str, Any]) -> dict[str, Any]:
    """These options for each command, and for those of each group."""
    options: dict[str, Any] = {listed.name: given for listed in parent.registered_commands if listed.name}
    for below in parent.registered_groups:
        if below.typer_instance is not None and isinstance(below.typer_instance.info.name, str):
            options[below.typer_instance.info.name] = _for_each_command(below.typer_instance, given)
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 an error, 2 wrong usage (no such model, data that a training
    or an evaluation can't use), 130 interrupted."""
    gc.set_threshold(RARELY)
    os.environ.setdefault(*WAITING)
    try:
        app(args=arguments, prog_name="graphneg")
    except GraphnegError as error:
        complain(str(error))
        sys.exit(error.status)
    except KeyboardInterrupt:
        sys.exit(130)
