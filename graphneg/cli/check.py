"""``graphneg check``: defects of AMR graphs in PENMAN files."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated

import typer

from graphneg.cli.storing import Database, Password, StorePlace, Username, opened
from graphneg.cli.terminal import add_command, complain, counted, say, stopping
from graphneg.errors import InputError


def register(app: typer.Typer) -> None:
    add_command(app, check, "graphneg check graphs.amr", "graphneg check --frames *.amr > defects.txt")


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="PENMAN files.")],
    frames: Annotated[
        bool, typer.Option("--frames", help="Frames must be among those that are loaded in the store.")
    ] = False,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Check PENMAN files for malformed graphs.

    Prints one line for each defect, FILE:LINE: ID: CODE: MESSAGE, and ends with 1 where there is
    any. The store is opened for --frames only.
    """
    from graphneg.wellformed import check_file

    with stopping("nothing was changed"):
        inventory = _loaded_frames(store, username, password, database) if frames else None
        defects = unreadable = 0
        for file in files:
            try:
                for one in check_file(file, inventory):
                    typer.echo(f"{one.file}:{one.line}: {one.id}: {one.code}: {one.message}")
                    defects += 1
            except InputError as error:
                complain(str(error))
                unreadable += 1
    say(f"{counted(len(files) - unreadable, 'file')} checked, {counted(defects, 'defect')}")
    if defects or unreadable:
        raise typer.Exit(1)


def _loaded_frames(
    store: str | None, username: str | None, password: str | None, database: str | None
) -> Container[str]:
    with opened(store, username, password, database) as graph:
        found = frozenset(row["id"] for row in graph.cypher("MATCH (f:Frame) RETURN f.id AS id"))
    if not found:
        raise InputError("no frames are in the store: load some first, with graphneg load propbank PATH")
    return found
