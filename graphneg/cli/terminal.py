"""What the commands share in speaking to a user: results on standard output, all else on standard error."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from graphneg.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPE_WIDTH = 120
"""Columns of a table that is written to no terminal."""


@cache
def messages() -> Console:
    """Standard error."""
    from rich.console import Console

    return _sized(Console(stderr=True, highlight=False))


@cache
def results() -> Console:
    """Standard output."""
    from rich.console import Console

    return _sized(Console(highlight=False))


def _sized(console: Console) -> Console:
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def complain(message: str) -> None:
    """One error on standard error, never wrapped: paths and ids stay whole."""
    say(message, "[bold red]error:[/] ")


def note(message: str) -> None:
    """Something to know that is no error."""
    say(message, "[yellow]note:[/] ")


def say(message: str, prefix: str = "") -> None:
    """A line on standard error as it is: square brackets in it are no markup."""
    from rich.markup import escape

    messages().print(prefix + escape(message), soft_wrap=True)


def counted(amount: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def plain_table(*headers: str, title: str | None = None) -> Table:
    """A table with one rule under its header, as all commands print them."""
    from rich import box
    from rich.table import Table

    return Table(
        *headers, title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )


def figures_table(*headers: str, names: int = 1, title: str | None = None) -> Table:
    """A plain table in which all but the first columns, ``names`` of them, hold figures.

    Figures stand at the right and are never cut or wrapped: where a terminal is narrow, names are.
    """
    table = plain_table(*headers, title=title)
    table.padding = (0, 1, 0, 0)
    for column in table.columns[:names]:
        column.overflow = "fold"
    for column in table.columns[names:]:
        column.justify = "right"
        column.no_wrap = True
    return table


def add_command(app: typer.Typer, function: Callable[..., None], *commands: str) -> None:
    """Make a function the command of its name; its docstring and these examples are the help."""
    paragraphs = cleandoc(function.__doc__ or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(function.__name__, help=text, epilog=examples(*commands))(function)


def add_job(app: typer.Typer, function: Callable[..., None], *commands: str) -> None:
    """Make a function a command of training or evaluation: data that it can't use is wrong usage."""

    @wraps(function)
    def job(*arguments: Any, **options: Any) -> None:
        try:
            function(*arguments, **options)
        except InputError as error:
            error.status = 2
            raise

    add_command(app, job, *commands)


def examples(*commands: str) -> str:
    """Commands as the end of a help text, one a line."""
    return "\n".join(["[bold]Examples[/]", *(f"[dim]$[/] {command}" for command in commands)])


@contextmanager
def stopping(advice: str | Callable[[], str]) -> Generator[None]:
    """Where the user presses Ctrl-C inside: says what is kept and how to go on, and ends with 130."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped: {advice if isinstance(advice, str) else advice()}")
        raise typer.Exit(130) from None


def stopping_training(out: Path) -> AbstractContextManager[None]:
    """As `stopping`, in a run whose checkpoints lie in the folder ``out``: there may be none as yet."""
    kept = out / "checkpoints"

    def advice() -> str:
        if kept.is_dir():
            return f"{kept} keeps what was learned; the same command goes on from there"
        return "nothing was learned as yet, and nothing is kept"

    return stopping(advice)
