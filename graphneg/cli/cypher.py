"""graphneg cypher and graphneg transforms."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli.terminal import (
    Database,
    Password,
    StorePlace,
    Username,
    add_command,
    complain,
    counted,
    exists,
    messages,
    named_values,
    note,
    opened,
    place,
    plain_table,
    results,
    say,
    stopping,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from graphneg.editing.transforms import Transform
    from graphneg.store.named_queries import NamedQuery, QueryParameter
    from graphneg.store.rows import Rows


# ``graphneg cypher``: a query's rows, as a table or for another program.


class Format(StrEnum):
    """How rows are printed: for people, one JSON object a line, or comma-separated."""

    table = "table"
    json = "json"
    csv = "csv"


def register(app: typer.Typer) -> None:
    add_command(
        app,
        cypher,
        'graphneg cypher "MATCH (u:Utterance)-[:MEANS]->(a:Amr) RETURN u.text, a.id LIMIT 5"',
        'graphneg cypher --param corpus=everyday --format csv "MATCH (d {corpus: $corpus}) RETURN d.id"',
        "graphneg cypher query.cypher --format json | jq .",
        "graphneg cypher --named perspectives --param focus=coffee",
    )


def cypher(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERY",
            help="Cypher, a file ending .cypher, or - for standard input; with --named, a name.",
        ),
    ] = None,
    named: Annotated[
        bool, typer.Option("--named", help="Run the shipped query of this name; without a name, list them.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Let the query write.")] = False,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A $parameter; JSON, or else text. Repeatable."),
    ] = None,
    format: Annotated[Format, typer.Option(help="json is one object a line.")] = Format.table,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Run a Cypher query. It may only read, unless --write is given."""
    if named and query is None:
        _list_named(results())
        return
    if query is None:
        raise typer.BadParameter("say which QUERY to run, or list the shipped ones with --named")
    if named and write:
        raise typer.BadParameter("the shipped queries only read: leave out --write")
    text = query if named else _text(query)
    parameters = _named_parameters(text, param or ()) if named else named_values(param or (), "--param")
    with (
        opened(store, username, password, database) as graph,
        stopping("the query's transaction is rolled back"),
    ):
        ask = graph.explore if named else graph.cypher_write if write else graph.cypher
        rows = ask(text, **parameters)
    {Format.table: _print_table, Format.json: _print_json, Format.csv: _print_csv}[format](rows)
    if write:
        changes = {name: count for name, count in vars(rows.summary.counters).items() if _counts(count)}
        done = (f"{name.replace('_', ' ')}: {count:,}" for name, count in changes.items())
        say(", ".join(done) or "no changes")


def _list_named(console: Console) -> None:
    from rich.markup import escape

    from graphneg.store.named_queries import named_queries

    table = plain_table("name", "parameters", "what it finds")
    for one in named_queries().values():
        parameters = map(_offered, one.parameters)
        table.add_row(f"[bold]{one.name}[/]", escape(", ".join(parameters)), escape(one.summary))
    console.print(table)


def _offered(parameter: QueryParameter) -> str:
    """``focus``, ``limit=20``, or ``[corpus]`` where it may be left out."""
    if parameter.required:
        return parameter.name
    return f"[{parameter.name}]" if parameter.default is None else f"{parameter.name}={parameter.default}"


def _named_parameters(name: str, given: Sequence[str]) -> dict[str, Any]:
    """The parameters of a named query: texts as they are written, numbers as JSON.

    A wrong use of it (no such query, a parameter that it lacks or does not take) ends with 2.
    """
    from graphneg.store.named_queries import named_query

    try:
        query = named_query(name)
    except InputError as error:
        _list_named(messages())
        complain(str(error))
        raise typer.Exit(2) from None
    try:
        query.values(parameters := _read(query, given))
    except InputError as error:
        complain(str(error))
        raise typer.Exit(2) from None
    return parameters


def _read(query: NamedQuery, given: Sequence[str]) -> dict[str, Any]:
    texts = {one.name for one in query.parameters if one.is_text}
    values = named_values(given, "--param")
    written = {name: value for name, _, value in (one.partition("=") for one in given)}
    return {name: written[name] if name in texts else value for name, value in values.items()}


def _text(query: str) -> str:
    if query == "-":
        return sys.stdin.read()
    if not query.endswith(".cypher"):
        return query
    try:
        return Path(query).read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{query}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{query}: can't be read: not UTF-8 at byte {error.start + 1}") from error


def _print_table(rows: Rows) -> None:
    from rich.markup import escape

    if rows.columns:
        table = plain_table(*map(escape, rows.columns))
        for cells in _cells(rows):
            table.add_row(*(escape(_shown(cell)) for cell in cells))
        for column, cells in zip(table.columns, zip(*_cells(rows), strict=True), strict=False):
            column.overflow = "fold"
            if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells):
                column.justify = "right"
        results().print(table)
    say(counted(len(rows), "row"))


def _print_json(rows: Rows) -> None:
    from json import dumps

    for cells in _cells(rows):
        row = dict(zip(rows.columns, cells, strict=True))
        typer.echo(dumps(row, ensure_ascii=False, default=str))


def _print_csv(rows: Rows) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(rows.columns)
    writer.writerows(["" if cell is None else _shown(cell) for cell in cells] for cells in _cells(rows))


def _cells(rows: Rows) -> Iterator[list[Any]]:
    from graphneg.store.rows import plain

    return ([plain(row[column]) for column in rows.columns] for row in rows)


def _shown(cell: Any) -> str:
    from json import dumps

    if cell is None:
        return "null"
    return cell if isinstance(cell, str) else dumps(cell, ensure_ascii=False, default=str)


def _counts(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


# ``graphneg transforms``: the transforms there are, or one with its query and an example.


def register_transforms(app: typer.Typer) -> None:
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
    from graphneg.editing.transforms import load_transforms

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
        pass
        from graphneg.cli.negatives import show_closely
        from graphneg.editing.preview import preview

        example = preview(graph.store, found[name])
        if example is None:
            note(f"{name} applies nowhere in the first dialogues of the {graph.store.description}")
        else:
            show_closely(example, {})


def _list(found: Mapping[str, Transform]) -> None:
    from graphneg.editing.recipes import GENERATED, RECIPES

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
