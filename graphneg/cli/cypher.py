"""``graphneg cypher`` and ``graphneg transforms``: queries of one's own, and those that edit."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, BadParameter, Option

from graphneg.cli.options import StoreOptions, TransformFolders, command, named_values
from graphneg.cli.terminal import (
    STANDARD,
    complain,
    counted,
    exists,
    messages,
    note,
    plain_table,
    print_json,
    results,
    say,
    stopping,
    store_name,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from graphneg.editing.transforms import Transform
    from graphneg.store.queries import NamedQuery, QueryParameter, Rows


@command(
    'graphneg cypher "MATCH (u:Utterance)-[:MEANS]->(a:Amr) RETURN u.text, a.id LIMIT 5"',
    'graphneg cypher --param corpus=everyday --format csv "MATCH (d {corpus: $corpus}) RETURN d.id"',
    "graphneg cypher query.cypher --format json | jq .",
    "graphneg cypher --named perspectives --param focus=coffee",
)
def cypher(
    query: Annotated[
        str | None,
        Argument(
            metavar="QUERY",
            help="Cypher, a file ending .cypher, or - for standard input; with --named, a name.",
        ),
    ] = None,
    named: Annotated[
        bool, Option("--named", help="Run the shipped query of this name; without a name, list them.")
    ] = False,
    write: Annotated[bool, Option("--write", help="Let the query write.")] = False,
    param: Annotated[
        list[str] | None,
        Option(metavar="NAME=VALUE", help="A $parameter; JSON, or else text. Repeatable."),
    ] = None,
    format: Annotated[Literal["table", "json", "csv"], Option(help="json is one object a line.")] = "table",
    *,
    where: StoreOptions,
) -> None:
    """Run a Cypher query. It may only read, unless --write is given."""
    if named and query is None:
        _list_named(results())
        return
    if query is None:
        raise BadParameter("say which QUERY to run, or list the shipped ones with --named")
    if named and write:
        raise BadParameter("the shipped queries only read: leave out --write")
    text = query if named else _text(query)
    parameters = _named_parameters(text, param or ()) if named else named_values(param, "--param")
    with where.opened() as graph, stopping("the query's transaction is rolled back"):
        ask = graph.explore if named else graph.cypher_write if write else graph.cypher
        rows = ask(text, **parameters)
    {"table": _print_table, "json": _print_json, "csv": _print_csv}[format](rows)
    if write:
        changes = {name: count for name, count in vars(rows.summary.counters).items() if _counts(count)}
        done = (f"{name.replace('_', ' ')}: {count:,}" for name, count in changes.items())
        say(", ".join(done) or "no changes")


def _list_named(console: Console) -> None:
    from rich.markup import escape

    from graphneg.store.queries import named_queries

    table = plain_table("name", "parameters", "what it finds")
    for query in named_queries().values():
        parameters = ", ".join(map(_offered, query.parameters))
        table.add_row(f"[bold]{query.name}[/]", escape(parameters), escape(query.summary))
    console.print(table)


def _offered(parameter: QueryParameter) -> str:
    """``focus``, ``limit=20``, or ``[corpus]`` where it may be left out."""
    if parameter.required:
        return parameter.name
    return f"[{parameter.name}]" if parameter.default is None else f"{parameter.name}={parameter.default}"


def _named_parameters(name: str, given: Sequence[str]) -> dict[str, Any]:
    """The parameters of a named query: texts as they are written, numbers as JSON.

    A wrong use of it (no such query, a parameter that is missing or unknown) ends with 2.
    """
    from graphneg.store.queries import named_queries, named_query

    try:
        query = named_query(name)
        query.values(parameters := _read(query, given))
    except InputError as error:
        if name.replace("-", "_") not in named_queries():
            _list_named(messages())
        complain(str(error))
        raise typer.Exit(2) from None
    return parameters


def _read(query: NamedQuery, given: Sequence[str]) -> dict[str, Any]:
    texts = {one.name for one in query.parameters if one.is_text}
    values = named_values(given, "--param")
    written = {name: value for name, _, value in (one.partition("=") for one in given)}
    return {name: written[name] if name in texts else value for name, value in values.items()}


def _text(query: str) -> str:
    if query == STANDARD:
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
    print_json(*(dict(zip(rows.columns, cells, strict=True)) for cells in _cells(rows)))


def _print_csv(rows: Rows) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(rows.columns)
    writer.writerows(["" if cell is None else _shown(cell) for cell in cells] for cells in _cells(rows))


def _cells(rows: Rows) -> Iterator[list[Any]]:
    from graphneg.store.queries import plain

    return ([plain(row[column]) for column in rows.columns] for row in rows)


def _shown(cell: Any) -> str:
    from json import dumps

    if cell is None:
        return "null"
    return cell if isinstance(cell, str) else dumps(cell, ensure_ascii=False, default=str)


def _counts(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


@command("graphneg transforms", "graphneg transforms negate", "graphneg transforms mine --transforms-dir my/")
def transforms(
    name: Annotated[str | None, Argument(metavar="NAME", help="Show this one closely.")] = None,
    transforms_dir: TransformFolders = None,
    *,
    where: StoreOptions,
) -> None:
    """List the transforms and recipes, or show one transform: its query and an example.

    The example is an edit of a dialogue in the store, if there is one; nothing is written.
    """
    from graphneg.cli.negatives import show_closely
    from graphneg.editing.generation import preview
    from graphneg.editing.transforms import load_transforms

    known = load_transforms(transforms_dir or ())
    if name is None:
        _list(known)
        return
    if name not in known:
        raise InputError(f"no transform is called {name!r}; there are: {', '.join(known)}")
    _show(known[name])
    if not exists(where.store):
        place = store_name(where.store)
        note(f"for an example, load dialogues with graphs into {place}: graphneg load everyday")
        return
    with where.opened() as graph, stopping("nothing was changed"):
        example = preview(graph.store, known[name])
        if example is None:
            note(f"{name} applies nowhere in the first dialogues of the {graph.store.description}")
        else:
            show_closely(example, {})


def _list(known: Mapping[str, Transform]) -> None:
    from graphneg.editing.recipes import GENERATED, RECIPES

    table = plain_table("transform", "category", "needs", "what it does")
    for one in known.values():
        table.add_row(f"[bold]{one.name}[/]", one.category, ", ".join(one.needs), one.summary)
    results().print(table)
    recipes = plain_table("recipe", "target", "what it does")
    for recipe in (*RECIPES.values(), *GENERATED.values()):
        recipes.add_row(f"[bold]{recipe.name}[/]", recipe.target, recipe.summary)
    results().print(recipes)


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
