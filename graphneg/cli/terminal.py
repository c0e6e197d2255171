"""What the commands share: options, opening the store, tables, progress, and how they speak to a user."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from inspect import cleandoc
from json import JSONDecodeError, loads
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from graphneg.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from graphneg.datasets.pair_sampler import Shortage
    from graphneg.dialogue_graph import DialogueGraph


# What the commands share in speaking to a user: results on standard output, all else on standard error.


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


# Progress bars on standard error; nothing is drawn where that is no terminal.


BYTES = "B"


class Bars:
    """Draws each piece of work as one bar, which goes when the work is over."""

    def __init__(self) -> None:
        console = messages()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            _Amount(),
            _Rate(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID | None = None

    def start(self, label: str, total: int | None, unit: str) -> None:
        self.finish()
        self._task = self._progress.add_task(label, total=total, unit=unit)

    def advance(self, amount: int) -> None:
        if self._task is not None:
            self._progress.advance(self._task, amount)

    def finish(self) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
            self._task = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class _Amount(ProgressColumn):
    def render(self, task: Task) -> Text:
        unit = task.fields["unit"]
        total = "" if task.total is None else f" of {_amount(task.total, unit)}"
        name = "" if unit == BYTES else f" {unit}"
        return Text(f"{_amount(task.completed, unit)}{total}{name}", style="progress.download")


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if speed is None:
            return Text("")
        return Text(f"{_amount(speed, task.fields['unit'])}/s", style="progress.data.speed")


def _amount(count: float, unit: str) -> str:
    return decimal(int(count)) if unit == BYTES else f"{count:,.0f}"


# Values that are given by name on the command line: ``NAME=VALUE``, JSON or else text.


def named_values(given: Iterable[str], hint: str) -> dict[str, Any]:
    """The values by name; ``hint`` is the option that a complaint names.

    >>> named_values(["most=3", "word=tea"], "--option")
    {'most': 3, 'word': 'tea'}
    """
    return dict(_named(one, hint) for one in given)


def _named(given: str, hint: str) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise typer.BadParameter(f"{given!r}: write NAME=VALUE", param_hint=hint)
    try:
        return name, loads(value)
    except JSONDecodeError:
        return name, value


# Options of commands that work on some of the dialogues of a store.


CHOICE = "Which dialogues"

Corpora = Annotated[
    list[str] | None, typer.Option(help="Only this corpus; repeatable.", rich_help_panel=CHOICE)
]
Splits = Annotated[
    list[str] | None, typer.Option(help="Only this split; repeatable.", rich_help_panel=CHOICE)
]
Limit = Annotated[int | None, typer.Option(min=1, help="At most so many dialogues.", rich_help_panel=CHOICE)]
Batch = Annotated[
    int, typer.Option(min=1, help="Dialogues at a time; changes no result.", rich_help_panel=CHOICE)
]


# The options that say which store, and opening it.


PANEL = "Store"

StorePlace = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH_OR_URI",
        help="A directory (embedded) or a Neo4j URI; else $NEO4J_URI, else ./graphneg-store.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Username = Annotated[
    str | None,
    typer.Option("--username", help="Neo4j user; else $NEO4J_USERNAME.", rich_help_panel=PANEL),
]
Password = Annotated[
    str | None,
    typer.Option(
        "--password", help="Better left to $NEO4J_PASSWORD, which no list shows.", rich_help_panel=PANEL
    ),
]
Database = Annotated[
    str | None,
    typer.Option("--database", help="Neo4j database; else $NEO4J_DATABASE.", rich_help_panel=PANEL),
]


@contextmanager
def opened(
    store: str | None, username: str | None, password: str | None, database: str | None
) -> Generator[DialogueGraph]:
    """The dialogue graph that the options name, open, where there is one to look into.

    Raises:
        InputError: there is no such directory; opening it would make an empty store.
    """
    if not exists(store):
        raise InputError(
            f"there is no store at {place(store)}: graphneg load CORPUS makes one, --store names another"
        )
    with opened_or_made(store, username, password, database) as graph:
        yield graph


@contextmanager
def opened_or_made(
    store: str | None, username: str | None, password: str | None, database: str | None
) -> Generator[DialogueGraph]:
    """The dialogue graph that the options name, open; says so while its server starts."""
    with messages().status(f"opening {place(store)}"):
        import graphneg

        graph = graphneg.open(store, username=username, password=password, database=database)
    with graph:
        yield graph


def place(store: str | None) -> str:
    """The store that the options mean, as it was named."""
    from graphneg.store.opening import DEFAULT_DIRECTORY

    return store or os.environ.get("NEO4J_URI") or f"./{DEFAULT_DIRECTORY}"


def exists(store: str | None) -> bool:
    """Whether there is a store, or a directory that can be one."""
    where = place(store)
    return "://" in where or Path(where).expanduser().exists()


def require_dialogues(graph: DialogueGraph, corpora: Sequence[str], splits: Sequence[str]) -> None:
    """A result without anything in it would say that nothing came of dialogues, where there are none.

    Raises:
        InputError: the store has no dialogues of these corpora and splits.
    """
    if not _dialogues(graph, corpora, splits):
        raise InputError(
            f"no dialogues{_chosen(corpora, splits)} are in the {graph.store.description}: "
            "graphneg info lists what is, graphneg load brings more"
        )


def require_graphs(graph: DialogueGraph, corpora: Sequence[str], splits: Sequence[str]) -> None:
    """Check that there are dialogues with AMR graphs, of which a limited number is asked for.

    Raises:
        InputError: the store has none of these corpora and splits.
    """
    if not _dialogues(graph, corpora, splits, with_graphs=True):
        raise InputError(
            f"no dialogues{_chosen(corpora, splits)} with AMR graphs are in the {graph.store.description}: "
            "graphneg parse makes graphs"
        )


def _dialogues(
    graph: DialogueGraph, corpora: Sequence[str], splits: Sequence[str], with_graphs: bool = False
) -> int:
    from graphneg.store.dialogues import Selection, count_dialogues

    selection = Selection(tuple(corpora), tuple(splits), with_graphs=with_graphs)
    return count_dialogues(graph.store, selection)


def _chosen(corpora: Sequence[str], splits: Sequence[str]) -> str:
    return " of " + ", ".join([*corpora, *splits]) if corpora or splits else ""


# The table of what a training job draws and lacks, for the terminal.


_COLUMNS = (
    "negatives",
    "category",
    "contexts",
    "too few",
    "wanted",
    "drawn",
    "similar:\nleast",
    "median",
    "most",
)


def show_shortages(rows: Sequence[Shortage]) -> None:
    """Print what an epoch draws of each source, and how like right responses it is."""
    results().print(shortage_table(rows))


def shortage_table(rows: Sequence[Shortage]) -> Table:
    """A row for each source of the mix, and below it one for each error category in it."""
    table = figures_table(*_COLUMNS, names=2)
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Shortage) -> list[str]:
    """A category's row repeats no figure of its source's."""
    wanted = ["", ""] if row.category else [f"{row.short:,}", f"{row.wanted:,}"]
    found = row.similarity
    figures = (found.minimum, found.median, found.maximum) if found else ()
    return [
        "" if row.category else row.name,
        row.category,
        f"{row.contexts:,}",
        *wanted,
        f"{row.got:,}",
        *(f"{figure:.2f}" for figure in figures),
    ]
