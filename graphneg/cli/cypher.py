"""Define the commands ``cypher`` and ``transforms``, which run queries and show the queries that edit graphs.

``cypher`` runs a query that the user writes or that ships with graphneg. A query may change the store only if
``--write`` is given. ``transforms`` lists the transforms and recipes, or shows a single transform with an
example.

Example::

    graphneg cypher "MATCH (d:Dialogue) RETURN d.split AS split, count(*) AS dialogues"
    graphneg cypher --named perspectives --param focus=coffee    # topics to which replies move from coffee
    graphneg transforms polarity_flip                            # the query, and an example of an edit
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text
from typer import BadParameter

from graphneg.cli.commands import argument, command, completing, named_values, option
from graphneg.cli.options import StoreOptions, TransformFolders
from graphneg.cli.tables import plain_table, print_json, results
from graphneg.cli.terminal import (
    STANDARD,
    advise_on_interrupt,
    counted,
    messages,
    print_message,
    print_note,
    read_input,
    visible,
)
from graphneg.errors import InputError, OnlyReading, StoreError

if TYPE_CHECKING:
    from graphneg.editing.transforms import Transform
    from graphneg.store.connection import Store
    from graphneg.store.queries import QueryParameter, Rows


@command(
    'graphneg cypher "MATCH (u:Utterance)-[:MEANS]->(a:Amr) RETURN u.text, a.id LIMIT 5"',
    'graphneg cypher --param corpus=everyday --format csv "MATCH (d {corpus: $corpus}) RETURN d.id"',
    "graphneg cypher query.cypher --format json | jq .",
    "graphneg cypher --named perspectives --param focus=coffee",
)
def cypher(
    *,
    query: str | None = argument(
        None,
        "A Cypher query, a .cypher file, or - for standard input. With --named, the name of a query.",
        "QUERY",
        autocompletion=completing("store.queries:named_queries"),
    ),
    named: bool = option(
        False, "Run a query that comes with graphneg, by its name. Without a name, list these queries."
    ),
    write: bool = option(False, "Allow the query to write."),
    param: list[str] | None = option(
        None,
        "A value for the parameter $NAME of the query, as JSON or any other text. Repeatable.",
        "NAME=VALUE",
    ),
    format: Literal["table", "json", "csv"] = option(
        "table", "Output format; json prints one object per line."
    ),
    where: StoreOptions,
) -> None:
    """Run a Cypher query. Without --write, the query can only read the store."""
    if named and query is None:
        results().print(_named_table())
        return
    if query is None:
        raise BadParameter("give a QUERY, or list the shipped queries with --named")
    if named and write:
        raise BadParameter("the shipped queries are read-only: remove --write")
    is_file = not named and (query == STANDARD or _names_file(query))
    text = read_input(query) if is_file else query
    parameters = _named_parameters(text, param or ()) if named else named_values(param, "--param")
    with where.opened() as graph, advise_on_interrupt("the query's transaction is rolled back"):
        try:
            if write:
                rows = graph.cypher_write(text, **parameters)
            else:
                rows = _read_interruptibly(graph.store, text, parameters, named=named)
        except OnlyReading as error:
            raise StoreError(f"{error}: add --write to allow it") from error
    _print(rows, format)
    if write:
        changes = [
            f"{name.replace('_', ' ')}: {count:,}"
            for name, count in vars(rows.summary.counters).items()
            if isinstance(count, int) and not isinstance(count, bool) and count > 0
        ]
        print_message(", ".join(changes) or "no changes")


def _names_file(query: str) -> bool:
    """Return whether an argument is a file name instead of a query such as ``RETURN 'a.cypher'``."""
    if not query.endswith(".cypher"):
        return False
    # A text without white space cannot be a query. Treat it as a file name even if there is no such file, so
    # that the error message says that the file is missing.
    return not any(map(str.isspace, query)) or os.path.isfile(query)


def _read_interruptibly(store: Store, text: str, parameters: dict[str, Any], *, named: bool) -> Rows:
    """Run a read-only query, given as Cypher or by its name. On Ctrl-C, stop the query on the server."""
    from graphneg.store.queries import Rows, explore
    from graphneg.store.stopping import Cancellation

    cancellation = Cancellation()

    def ask() -> Rows:
        if named:
            return explore(store, text, parameters, cancellation=cancellation)
        return Rows(store.query_read(text, parameters, cancellation=cancellation))

    # Run the query in another thread. If it ran in the main thread, the driver would not react to Ctrl-C
    # until the server had finished the query.
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(ask)
        try:
            return answer.result()
        except KeyboardInterrupt:
            cancellation.cancel()
            raise


def _named_table() -> Table:
    from graphneg.store.queries import named_queries

    def format_parameter(parameter: QueryParameter) -> str:
        """Format a parameter of a query: ``focus`` if required, ``limit=20`` or ``[corpus]`` if optional."""
        name, default = parameter.name, parameter.default
        return name if parameter.required else f"[{name}]" if default is None else f"{name}={default}"

    rows = (
        (
            f"[bold]{query.name}[/]",
            escape(", ".join(map(format_parameter, query.parameters))),
            escape(query.summary),
        )
        for query in named_queries().values()
    )
    return plain_table("name", "parameters", "description", rows=rows)


def _named_parameters(name: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Parse the ``NAME=VALUE`` arguments for a named query, and check them against its parameters.

    The value of a text parameter is used as typed. Other values are decoded from JSON.

    Returns:
        The values of the parameters, keyed by name.

    Raises:
        InputError: The query or a parameter is unknown, or a parameter is missing. The exit status is 2.
    """
    from graphneg.store.queries import named_queries, named_query

    try:
        query = named_query(name)
        values = named_values(arguments, "--param")
        # `named_values` has decoded a value such as "3" into a number. For text parameters, use the value as
        # it was typed.
        written = {name: value for name, _, value in (text.partition("=") for text in arguments)}
        values |= {
            item.name: written[item.name] for item in query.parameters if item.is_text and item.name in values
        }
        query.values(values)
    except InputError as error:
        if name.replace("-", "_") not in named_queries():
            messages().print(_named_table())
        error.status = 2
        raise
    return values


def _print(rows: Rows, format: str) -> None:
    from graphneg.store.queries import plain, shown

    lines = [[plain(row[column]) for column in rows.columns] for row in rows]
    if format == "json":
        print_json(*(dict(zip(rows.columns, cells, strict=True)) for cells in lines))
    elif format == "csv":
        # Escape control characters only if the output is a terminal, where they could do harm. Do not change
        # data that are written to a file.
        written = visible if sys.stdout.isatty() else str
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(map(written, rows.columns))
        writer.writerows(["" if cell is None else written(shown(cell)) for cell in cells] for cells in lines)
    else:
        if rows.columns:
            columns = [Column(escape(name), overflow="fold") for name in rows.columns]
            for column, cells in zip(columns, zip(*lines, strict=True), strict=False):
                # Align columns of numbers to the right. Compare types with `in`: isinstance would accept
                # booleans, too, because they are integers in Python.
                if all(type(cell) in (int, float) for cell in cells):
                    column.justify = "right"
            texts = ([escape(shown(cell)) for cell in cells] for cells in lines)
            results().print(plain_table(*columns, rows=texts))
        print_message(counted(len(rows), "row"))


@command(
    "graphneg transforms",
    "graphneg transforms polarity_flip",
    "graphneg transforms mine --transforms-dir my/",
)
def transforms(
    *,
    name: str | None = argument(None, "Name of a transform to show in detail.", "NAME"),
    transforms_dir: TransformFolders = None,
    where: StoreOptions,
) -> None:
    """List the transforms and recipes, or show one transform with its query and an example.

    The example shows the transform applied to a dialogue in the store. No example is shown if the transform
    applies to none of the first dialogues in the store. The store is not changed. \N{FORM FEED}

    Raises:
        InputError: There is no transform with this name.
    """
    from graphneg.cli.negatives import print_negative
    from graphneg.editing.recipes import GENERATED, RECIPES
    from graphneg.editing.replay import preview
    from graphneg.editing.transforms import load_transforms

    known = load_transforms(transforms_dir or ())
    if name is None:
        rows = (
            (f"[bold]{t.name}[/]", t.category, t.target or "any", ", ".join(t.needs), t.summary)
            for t in known.values()
        )
        # Do not truncate names, because users copy them to options such as --transform.
        name_column = Column("transform", no_wrap=True)
        results().print(plain_table(name_column, "category", "target", "needs", "description", rows=rows))
        recipes = (*RECIPES.values(), *GENERATED.values())
        rows = ((f"[bold]{recipe.name}[/]", recipe.target, recipe.summary) for recipe in recipes)
        results().print(plain_table(Column("recipe", no_wrap=True), "target", "description", rows=rows))
        return
    if name not in known:
        raise InputError(f"no transform named {name!r}; choose one of {', '.join(known)}")
    _show(known[name])
    if not where.exists:
        print_note(f"for an example, load dialogues with graphs into {where.name}: graphneg load everyday")
        return
    with where.opened() as graph, advise_on_interrupt("nothing was changed"):
        example = preview(graph.store, known[name])
        if example is None:
            print_note(f"{name} applies nowhere in the first dialogues of the {graph.store.description}")
        else:
            print_negative(example, {})


def _show(transform: Transform) -> None:
    from rich.syntax import Syntax

    console = results()
    console.print(Text(transform.name, "bold"), Text(transform.category), sep="  ")
    console.print(Text(transform.summary), end="\n\n")
    if transform.notes:
        console.print(Text(transform.notes.replace("\n", " ")), end="\n\n")
    console.print(Text(f"source  {transform.source}", "dim"))
    console.print(Text(f"target  {transform.target or 'any'}", "dim"))
    if transform.needs:
        console.print(Text(f"needs   {', '.join(transform.needs)}", "dim"))
    console.print(Text(f"file    {transform.place}", "dim"), end="\n\n")
    # Leave out comments that are alone on a line. The comments in the header have already been printed as
    # summary and notes.
    query = "\n".join(line for line in transform.query.splitlines() if not line.startswith("//"))
    syntax = Syntax(visible(query), "cypher", theme="ansi_dark", background_color="default", word_wrap=True)
    console.print(syntax)
    console.print()
