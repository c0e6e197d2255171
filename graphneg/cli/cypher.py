"""``graphneg cypher``: a query's rows, as a table or for another program."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli.storing import Database, Password, StorePlace, Username, opened
from graphneg.cli.terminal import add_command, counted, plain_table, results, say, stopping
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.rows import Rows


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
    )


def cypher(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="Cypher, a file ending .cypher, or - for standard input.")
    ],
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
    text = _text(query)
    parameters = dict(_parameter(one) for one in param or ())
    with (
        opened(store, username, password, database) as graph,
        stopping("the query's transaction is rolled back"),
    ):
        rows = graph.cypher_write(text, **parameters) if write else graph.cypher(text, **parameters)
    {Format.table: _print_table, Format.json: _print_json, Format.csv: _print_csv}[format](rows)
    if write:
        changes = {name: count for name, count in vars(rows.summary.counters).items() if _counts(count)}
        done = (f"{name.replace('_', ' ')}: {count:,}" for name, count in changes.items())
        say(", ".join(done) or "no changes")


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


def _parameter(given: str) -> tuple[str, Any]:
    from json import JSONDecodeError, loads

    name, equals, value = given.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"{given!r}: write NAME=VALUE", param_hint="--param")
    try:
        return name, loads(value)
    except JSONDecodeError:
        return name, value


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
    from graphneg.rows import plain

    return ([plain(row[column]) for column in rows.columns] for row in rows)


def _shown(cell: Any) -> str:
    from json import dumps

    if cell is None:
        return "null"
    return cell if isinstance(cell, str) else dumps(cell, ensure_ascii=False, default=str)


def _counts(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
