"""``graphneg transforms``: the transforms there are, or one with its query and an example."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.storing import Database, Password, StorePlace, Username, exists, opened, place
from graphneg.cli.terminal import add_command, note, plain_table, results, stopping
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.transforms import Transform


def register(app: typer.Typer) -> None:
    add_command(
        app,
        transforms,
        "graphneg transforms",
        "graphneg transforms negate",
        "graphneg transforms mine --transforms-dir my/",
    )


def transforms(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Show this one closely.")] = None,
    transforms_dir: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder of one's own transforms; repeatable."),
    ] = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """List the transforms and recipes, or show one transform: its query and an example.

    The example is an edit of a dialogue in the store, if there is one; nothing is written.
    """
    from graphneg.transforms import load_transforms

    found = load_transforms(transforms_dir or ())
    if name is None:
        _list(found)
        return
    if name not in found:
        raise InputError(f"no transform is called {name!r}; there are: {', '.join(found)}")
    _show(found[name])
    if not exists(store):
        note(f"for an example, load dialogues with graphs into {place(store)}: graphneg load everyday")
        return
    with opened(store, username, password, database) as graph, stopping("nothing was changed"):
        from graphneg.cli.preview import preview
        from graphneg.cli.showing import show_closely

        example = preview(graph.store, found[name])
        if example is None:
            note(f"{name} applies nowhere in the first dialogues of the {graph.store.description}")
        else:
            show_closely(example, {})


def _list(found: Mapping[str, Transform]) -> None:
    from graphneg.recipes import GENERATED, RECIPES

    console = results()
    table = plain_table("transform", "category", "needs", "what it does")
    for one in found.values():
        table.add_row(f"[bold]{one.name}[/]", one.category, ", ".join(one.needs), one.summary)
    console.print(table)
    recipes = plain_table("recipe", "target", "what it does")
    for recipe in (*RECIPES.values(), *GENERATED.values()):
        recipes.add_row(f"[bold]{recipe.name}[/]", recipe.target, recipe.summary)
    console.print(recipes)


def _show(one: Transform) -> None:
    from rich.syntax import Syntax
    from rich.text import Text

    console = results()
    console.print(Text(one.name, "bold"), Text(one.category), sep="  ")
    console.print(Text(one.summary))
    console.print()
    if one.notes:
        console.print(Text(one.notes.replace("\n", " ")))
        console.print()
    console.print(Text(f"source  {one.source}", "dim"))
    if one.needs:
        console.print(Text(f"needs   {', '.join(one.needs)}", "dim"))
    console.print(Text(f"file    {one.place}", "dim"))
    console.print()
    query = "\n".join(line for line in one.query.splitlines() if not line.startswith("//"))
    console.print(Syntax(query, "cypher", theme="ansi_dark", background_color="default", word_wrap=True))
    console.print()
