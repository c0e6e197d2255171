"""How commands speak to a user: results on standard output, all else on standard error.

In: texts, tables, values for JSON, work that reports its progress. Out: what a terminal shows or a pipe gets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from json import dumps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import typer
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from graphneg.datasets.pair_sampler import Shortage
    from graphneg.dialogue_graph import DialogueGraph

STANDARD = "-"
"""A file name that means standard input, or standard output."""
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


def show_table(
    rows: Iterable[Iterable[Any]], *headers: str, names: int = 1, title: str | None = None
) -> None:
    """Print a `figures_table` of these rows; each cell is shown as it is."""
    table = figures_table(*headers, names=names, title=title)
    for row in rows:
        table.add_row(*row)
    results().print(table)


def print_json(*values: Any) -> None:
    """Each value as JSON, on a line of its own."""
    for value in values:
        typer.echo(dumps(value, ensure_ascii=False, default=str))


@contextmanager
def stopping(advice: str | Callable[[], str]) -> Generator[None]:
    """Where the user presses Ctrl-C inside: says what is kept and how to go on, and ends with 130."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped: {advice if isinstance(advice, str) else advice()}")
        raise typer.Exit(130) from None


@contextmanager
def working(advice: str | Callable[[], str]) -> Generator[Bars]:
    """As `stopping`, with bars for the work inside."""
    with stopping(advice), Bars() as bars:
        yield bars


def training(out: Path) -> AbstractContextManager[Bars]:
    """As `working`, in a run whose checkpoints lie in the folder ``out``: there may be none as yet."""
    kept = out / "checkpoints"

    def advice() -> str:
        if kept.is_dir():
            return f"{kept} keeps what was learned; the same command goes on from there"
        return "nothing was learned as yet, and nothing is kept"

    return working(advice)


def keeps_part(out: str | Path, verb: str = "made") -> str:
    """What is kept of a resumable file when its run is stopped."""
    return f"{out}.part keeps what was {verb}; the same command goes on from there"


def write_stream(made: Any, out: str) -> None:
    """Write a stream of records to the file that its name says, or to standard output."""
    (made.to_parquet if out.endswith(".parquet") else made.to_jsonl)(out)


def tell_stream(made: Any, notes: Sequence[str] = ()) -> None:
    """What came of a stream of records that was written: why it began anew, and its table."""
    from rich.box import SIMPLE_HEAD

    if made.resumed.discarded:
        note(f"started anew: {made.resumed.discarded}")
    for line in notes:
        note(line)
    table = made.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)


def tell_negatives(made: Any, out: str) -> None:
    """How many negatives a file holds, and how many of a run before."""
    done = made.resumed.dialogues
    went_on = f", going on after {done:,} dialogues of a run before" if done else ""
    say(f"{out}: {counted(made.summary.negatives, 'negative')}{went_on}")


def tell_trained(report: Any, out: Path, rest: str = "") -> None:
    """What a training came to, with ``rest`` at the end of the line."""
    say(
        f"{out}: trained on {counted(report.examples, 'pair')} in {counted(report.steps, 'step')}, "
        f"loss {report.loss:.3f}{rest}"
    )


def amounts_text(amounts: Mapping[str, int]) -> str:
    """``edits 1,200, random 300``."""
    return ", ".join(f"{name} {amount:,}" for name, amount in sorted(amounts.items()))


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
        """Begin a bar; the one before it ends."""
        self.finish()
        self._task = self._progress.add_task(label, total=total, unit=unit)

    def advance(self, amount: int) -> None:
        """So much more of the work is done."""
        if self._task is not None:
            self._progress.advance(self._task, amount)

    def finish(self) -> None:
        """The work is over: its bar goes."""
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


# Opening a store, and saying which.


@contextmanager
def opening(
    store: str | None,
    username: str | None,
    password: str | None,
    database: str | None,
    upgrading: bool = False,
) -> Generator[DialogueGraph]:
    """The dialogue graph of this store, open; says so while its server starts."""
    with messages().status(f"opening {store_name(store)}"):
        import graphneg

        credentials = {"username": username, "password": password, "database": database}
        graph = graphneg.open(store, **credentials, upgrading=upgrading)
    with graph:
        yield graph


def store_name(store: str | None) -> str:
    """The store that is meant, as it was named."""
    from graphneg.store.opening import DEFAULT_DIRECTORY

    return store or os.environ.get("NEO4J_URI") or f"./{DEFAULT_DIRECTORY}"


def exists(store: str | None) -> bool:
    """Whether there is a store, or a directory that can be one."""
    where = store_name(store)
    return "://" in where or Path(where).expanduser().exists()


# The table of what a training job draws and lacks, for the terminal.


_COLUMNS = (
    *("negatives", "category", "contexts", "too few", "wanted", "drawn"),
    *("similar:\nleast", "median", "most"),
)


def shortage_table(rows: Sequence[Shortage]) -> Table:
    """What an epoch draws of each source, and below it of each error category in it.

    Similarity is that to right responses. A category's row repeats no figure of its source's.
    """
    table = figures_table(*_COLUMNS, names=2)
    for row in rows:
        needed = ["", ""] if row.category else [f"{row.short:,}", f"{row.wanted:,}"]
        found = row.similarity
        figures = (found.minimum, found.median, found.maximum) if found else ()
        names = ("" if row.category else row.name, row.category)
        shown = (f"{figure:.2f}" for figure in figures)
        table.add_row(*names, f"{row.contexts:,}", *needed, f"{row.got:,}", *shown)
    return table
