"""Define the command ``evaluate graphs``, which finds malformed AMR graphs in PENMAN files.

Example::

    $ graphneg evaluate graphs graphs.amr
    graphs.amr:4: chats/all/1#0: unknown-role: role :ARGX is unknown
    1 file checked, 1 defect
"""

from __future__ import annotations

from pathlib import Path

import typer

from graphneg.cli.commands import argument, command, option
from graphneg.cli.options import StoreOptions
from graphneg.cli.terminal import advise_on_interrupt, counted, print_error, print_message, visible
from graphneg.errors import InputError


@command("graphneg evaluate graphs graphs.amr", "graphneg evaluate graphs --frames *.amr > defects.txt")
def graphs(
    *,
    files: list[Path] = argument(..., "PENMAN files to check.", "FILE..."),
    frames: bool = option(False, "Also report frames that are not loaded into the store."),
    where: StoreOptions,
) -> None:
    """Check PENMAN files for malformed graphs.

    Prints one line for each defect in the form FILE:LINE: ID: CODE: MESSAGE, and exits with status 1 if any
    defects are found. The store is opened for --frames only. \N{FORM FEED}

    Raises:
        InputError: ``--frames`` is given, but no frames are loaded into the store.
        Exit: Defects or unreadable files were found.
    """
    from graphneg.amr.wellformed import check_file

    with advise_on_interrupt("nothing was changed"):
        inventory: frozenset[str] | None = None
        if frames:
            with where.opened() as graph:
                inventory = frozenset(row["id"] for row in graph.cypher("MATCH (f:Frame) RETURN f.id AS id"))
            if not inventory:
                raise InputError(
                    "no frames are in the store: load some first, with graphneg load propbank PATH"
                )
        defects = unreadable = 0
        for file in files:
            try:
                for defect in check_file(file, inventory):
                    at = f"{defect.file}:{defect.line}: {defect.id}"
                    typer.echo(visible(f"{at}: {defect.code}: {defect.message}"))
                    defects += 1
            except InputError as error:
                print_error(str(error))
                unreadable += 1
    print_message(f"{counted(len(files) - unreadable, 'file')} checked, {counted(defects, 'defect')}")
    if defects or unreadable:
        raise typer.Exit(1)
