"""How commands speak to a user on standard error: messages, advice on Ctrl-C, progress, what was written.

In: texts, reports, work that reports its progress. Out: what a terminal shows.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Self

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.filesize import decimal
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.text import Text
from typer import BadParameter

from graphneg.errors import GeneratorError, InputError

STANDARD = "-"
"""A file name that means standard input, or standard output."""
PIPE_WIDTH = 120
"""Columns of a table that is written to no terminal."""
BYTES = "B"
"""The unit of work that is counted in bytes."""
UNSEEN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""What a terminal obeys or can't show: controls but tab and newline, turns of direction, surrogates."""


def visible(text: str) -> str:
    r"""The text with what a terminal would obey written out, as Python and JSON do.

    >>> print(visible("\x1b[2J\u202eevil"))
    \u001b[2J\u202eevil
    """
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Screen(Console):
    """A console on which texts of anybody stand as they are: no control character is obeyed, no ``:name:`` is
    an emoji."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Text with markup, of what can be seen."""
        return super().render_str(visible(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What is printed, of what can be seen."""
        if isinstance(renderable, Text) and UNSEEN.search(renderable.plain):
            renderable = renderable.blank_copy(visible(renderable.plain))
        return super().render(renderable, options)


@cache
def messages() -> Console:
    """Standard error."""
    return sized(Screen(stderr=True))


def sized(console: Console) -> Console:
    """The console, with so many columns that tables are not squeezed where there is no terminal."""
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
    messages().print(prefix + escape(message), soft_wrap=True)


def read_input(name: str) -> str:
    """The text of a file, or of standard input.

    Raises `InputError`: the file can't be read, or is no UTF-8.
    """
    from graphneg.ingest.content import read_text

    if name != STANDARD:
        return read_text(Path(name))
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError(f"standard input: no text in UTF-8 (byte {error.start})") from error


def counted(amount: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``."""
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def amounts_text(amounts: Mapping[str, int]) -> str:
    """``edits 1,200, random 300``."""
    return ", ".join(f"{name} {amount:,}" for name, amount in sorted(amounts.items()))


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
    checkpoints = out / "checkpoints"
    kept, unkept = keeps(checkpoints, "what was learned"), "nothing was learned as yet, and nothing is kept"
    return working(lambda: kept if checkpoints.is_dir() else unkept)


def keeps(where: str | Path, what: str) -> str:
    """What a resumable command keeps where it is stopped, and how it goes on."""
    return f"{where} keeps {what}; the same command goes on from there"


def keeps_part(out: str | Path, what: str) -> str:
    """Return what to say where a command that writes a resumable file is stopped."""
    return f"{what} is kept beside {out}; the same command goes on from there"


def write_stream(made: Any, out: str, unkept: str, verb: str = "made", *, overwrite: bool = False) -> None:
    """Write a stream of records to the file that its name says, or to standard output; tell what came of it.

    Told are why it began anew, its table, how many negatives were made, or records ``chosen``, and whether
    they replace a file; of a file that was complete, only that. Stopped on standard output, nothing is kept:
    ``unkept`` says what to do.
    """
    if made.shard is not None:
        if out == STANDARD:
            raise BadParameter("a shard is a file: name the one that all will make", param_hint="--out")
        out, whole = str(made.shard.file(out)), out
    else:
        whole = ""
    replaces = Path(out).is_file()
    with stopping(unkept if out == STANDARD else keeps_part(out, f"what was {verb}")):
        if whole:
            made.to_shard(whole, overwrite=overwrite)
        elif out.endswith(".parquet"):
            made.to_parquet(out, overwrite=overwrite)
        else:
            made.to_jsonl(out, overwrite=overwrite)
    kind = "negative" if verb == "made" else "record"
    if made.resumed.is_complete:
        say_complete(out, counted(made.summary.negatives, kind))
        return
    if made.resumed.discarded:
        note(f"started anew: {made.resumed.discarded}")
    for line in made.notes:
        note(line)
    table = made.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)
    if out == STANDARD:
        return
    amount, done = made.summary.negatives, made.resumed.dialogues
    went_on = f", going on after {done:,} dialogues of a run before" if done and verb == "made" else ""
    came = counted(amount, kind) + (" kept" if verb == "chosen" else "")
    say(f"{out}: {came}{went_on}{', in place of the file that was there' if replaces else ''}")


def refuse_empty(made: Any) -> None:
    """Raise `GeneratorError` where a stream gave nothing, with the reason why most negatives are missing.

    A script that went on with an empty file would fail later, and far from the cause. A shard may be empty.
    """
    if made.summary.negatives or made.shard is not None:
        return
    reason, missing = next(iter(made.summary.skipped.most_common(1)), ("no dialogue was read", 0))
    amount = f" ({missing:,} times)" if missing else ""
    raise GeneratorError(
        f"no negative was made: {reason}{amount}; load other dialogues or sentences, or choose another "
        "recipe, generator or option; graphneg negatives --reasons explains the codes"
    )


def say_complete(out: str | Path, holds: str) -> None:
    """That there is nothing to do: a file is the one that this command would write."""
    say(f"{out} is complete, with {holds}: the same command wrote it, so nothing was done")


def tell_trained(report: Any, out: Path, learned: str, examples: int | None = None) -> None:
    """What a training came to, with what was ``learned`` at the end of the line."""
    on = "" if examples is None else f"on {counted(examples, 'pair')} "
    say(f"{out}: trained {on}in {counted(report.steps, 'step')}, loss {report.loss:.3f}{learned}")


class Bars:
    """Draws each piece of work as one bar on standard error, which goes when the work is over.

    Nothing is drawn where that is no terminal.
    """

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

    def start(self, label: str, total: int | None, unit: str) -> None:
        """Begin a bar; the one before it ends."""
        self.finish()
        self._progress.add_task(label, total=total, unit=unit)

    def advance(self, amount: int) -> None:
        """So much more of the work is done."""
        for task in self._progress.task_ids:
            self._progress.advance(task, amount)

    def finish(self) -> None:
        """The work is over: its bar goes."""
        for task in self._progress.task_ids:
            self._progress.remove_task(task)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
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
        shown = "" if speed is None else f"{_amount(speed, task.fields['unit'])}/s"
        return Text(shown, style="progress.data.speed")


def _amount(count: float, unit: str) -> str:
    return decimal(int(count)) if unit == BYTES else f"{count:,.0f}"
