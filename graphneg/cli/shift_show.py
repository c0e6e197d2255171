"""``graphneg shift show``: the neighbourhood of a topic, in the terminal and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.storing import Database, Password, StorePlace, Username, opened
from graphneg.cli.terminal import add_command, counted, plain_table, results, say, stopping

if TYPE_CHECKING:
    from rich.table import Table

    from graphneg.shift.showing import Neighbourhood, Shift

BAR = 16
LEAVING, LEADING = "blue", "yellow"


def register(app: typer.Typer) -> None:
    add_command(
        app,
        show,
        "graphneg shift show coffee",
        "graphneg shift show coffee --limit 20 --html coffee.html",
    )


def show(
    focus: Annotated[str, typer.Argument(metavar="FOCUS", help="A topic of the shift graph.")],
    limit: Annotated[int, typer.Option(min=1, help="Shifts at most, in each direction.")] = 12,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page for a browser as well.")
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Pairs at most of each shift, in the page.")] = 20,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Show what replies move to from a topic, and where those come from that move to it.

    The page is one file that loads nothing; a click on a shift shows the utterances behind it.
    """
    with opened(store, username, password, database) as graph, stopping("nothing was changed"):
        from graphneg.shift.showing import neighbourhood, write_page

        around = neighbourhood(graph.store, focus, limit, examples)
        if html is not None:
            write_page(around, html)
    _print(around)
    if html is not None:
        say(f"wrote {html}")


def _print(around: Neighbourhood) -> None:
    from rich.text import Text

    console = results()
    console.print(Text(around.topic, "bold"))
    if around.opposites:
        console.print(Text(f"opposites: {', '.join(around.opposites)}", "dim"))
    most = max(shift.count for shift in (*around.moves_to, *around.comes_from))
    if around.moves_to:
        to = counted(around.perspectives, "topic")
        console.print(Text(f"\n{counted(around.outgoing, 'pair')} move on from it to {to}"))
        console.print(_table(around.moves_to, [s.perspective for s in around.moves_to], most, LEAVING))
        _print_rest(around.more_perspectives)
    if around.comes_from:
        of = counted(around.foci, "topic")
        console.print(Text(f"\n{counted(around.incoming, 'pair')} lead to it from {of}"))
        console.print(_table(around.comes_from, [s.focus for s in around.comes_from], most, LEADING))
        _print_rest(around.more_foci)


def _print_rest(topics: int) -> None:
    if topics:
        results().print(f"[dim]and {counted(topics, 'topic')} more, less frequent: --limit shows more[/]")


def _table(shifts: Sequence[Shift], others: Sequence[str], most: int, colour: str) -> Table:
    """One row for each shift: the other topic, its count, a bar, and a post with its reply."""
    from rich.text import Text

    table = plain_table("topic", "pairs", "", "for example")
    table.columns[1].justify = "right"
    table.columns[2].no_wrap = True
    table.columns[3].ratio = 1
    for shift, other in zip(shifts, others, strict=True):
        stays = " (stays)" if shift.focus == shift.perspective else ""
        bar = Text("━" * max(1, round(BAR * shift.count / most)), colour)
        table.add_row(Text(f"{other}{stays}"), f"{shift.count:,}", bar, _example(shift))
    return table


def _example(shift: Shift) -> str:
    from rich.markup import escape

    if not shift.pairs:
        return ""
    pair = shift.pairs[0]
    return f"{escape(pair.post)}\n[dim]→[/] {escape(pair.reply)}"
