"""Print messages, progress bars and reports to standard error.

Texts from data (a reply, a file name, an error message) can contain control characters that would change the
state of the terminal. `Screen` and `visible` escape them. Long-running commands use `progress_bars`. It draws
progress bars. When the user presses Ctrl-C, it prints which results are kept and how to continue.

Example::

    with progress_bars("nothing was changed") as bars:    # Ctrl-C prints "stopped: nothing was changed"
        bars.start("parse", 1_000, "texts")
        bars.advance(200)
    print_message("out.jsonl: 200 negatives")
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

from graphneg.cli.interrupts import INTERRUPTED
from graphneg.errors import GeneratorError, InputError

STANDARD = "-"
"""The file name that stands for standard input or standard output."""
PIPE_WIDTH = 120
"""Width of tables in characters if the output is not a terminal."""
BYTES = "B"
"""The unit of progress that is measured in bytes. Progress bars show such amounts in kB or MB."""
CONTROL_CHARACTERS = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Characters that a terminal would interpret or cannot show.

These are control characters other than tab and newline, characters that change the text direction, and
surrogates.
"""


def visible(text: str) -> str:
    r"""Escape the characters of a text that a terminal would interpret.

    Args:
        text: Any text.

    Returns:
        The text, in which each such character is written as ``\uXXXX``, as in Python and JSON.

    Example:
        >>> print(visible("\x1b[2J\u202eevil"))
        \u001b[2J\u202eevil
    """
    return CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Screen(Console):
    """A Rich console that can safely print texts from data.

    It escapes control characters, and it does not replace names such as ``:smile:`` by emoji.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        """Initialize a console for standard output, or for standard error."""
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Render text with Rich markup, and escape control characters in it.

        Args:
            text: The text with markup.
            **settings: Further arguments of Rich's method.

        Returns:
            The rendered text.
        """
        return super().render_str(visible(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object. If it is a `Text`, escape control characters in it.

        Args:
            renderable: The object to render.
            options: The options of the console.

        Returns:
            The segments to print.
        """
        # Escape a `Text` here, because Rich does not pass it to `render_str`.
        if isinstance(renderable, Text) and CONTROL_CHARACTERS.search(renderable.plain):
            renderable = renderable.blank_copy(visible(renderable.plain))
        return super().render(renderable, options)


@cache
def messages() -> Console:
    """Return the console for standard error."""
    return sized(Screen(stderr=True))


def sized(console: Console) -> Console:
    """Set a fixed width for a console that does not write to a terminal.

    Otherwise, Rich would assume 80 columns, which is too narrow for some tables. ``$COLUMNS`` takes
    precedence.

    Args:
        console: The console.

    Returns:
        The same console.
    """
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def print_error(message: str) -> None:
    """Print an error message to standard error, without line breaks, so that paths and ids can be copied.

    Args:
        message: The error message.
    """
    print_message(message, "[bold red]error:[/] ")


def print_note(message: str) -> None:
    """Print a note to standard error, about something that the user should know and that is not an error.

    Args:
        message: The text of the note.
    """
    print_message(message, "[yellow]note:[/] ")


def print_message(message: str, prefix: str = "") -> None:
    """Print a message to standard error. Square brackets in it are not interpreted as markup.

    Args:
        message: The message.
        prefix: Text to print before the message. It may contain Rich markup.
    """
    # Escape the message: a file name in it may contain square brackets, which Rich would interpret as markup.
    messages().print(prefix + escape(message), soft_wrap=True)


def read_input(name: str) -> str:
    """Read a file or standard input.

    Args:
        name: The path of the file, or ``-`` for standard input.

    Returns:
        The content of the file.

    Raises:
        InputError: The text is not UTF-8, or the file cannot be read.
    """
    from graphneg.ingest.content import read_text

    if name != STANDARD:
        return read_text(Path(name))
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError(f"standard input: no text in UTF-8 (byte {error.start})") from error


def counted(amount: int, noun: str) -> str:
    """Format a number together with a noun in the singular or plural.

    Args:
        amount: The number.
        noun: The noun in the singular. Its plural must be formed by adding -s.

    Returns:
        A phrase such as ``1 row`` or ``2,000 rows``.
    """
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def amounts_text(amounts: Mapping[str, int]) -> str:
    """Format numbers with their names.

    Args:
        amounts: The numbers by name.

    Returns:
        A text in the alphabetical order of the names, such as ``edits 1,200, random 300``.
    """
    return ", ".join(f"{name} {amount:,}" for name, amount in sorted(amounts.items()))


@contextmanager
def advise_on_interrupt(advice: str | Callable[[], str]) -> Generator[None]:
    """Print advice and exit with status 130 if the user presses Ctrl-C within the ``with`` block.

    Args:
        advice: The text to print, which says which results are kept and how to continue, or a function that
            returns this text.

    Raises:
        Exit: The user pressed Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt:
        print_message(f"stopped: {advice if isinstance(advice, str) else advice()}")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def progress_bars(advice: str | Callable[[], str]) -> Generator[Bars]:
    """Provide progress bars for the ``with`` block, and print advice on Ctrl-C as `advise_on_interrupt` does.

    Args:
        advice: The text to print on Ctrl-C, or a function that returns it; see `advise_on_interrupt`.

    Yields:
        The progress bars.
    """
    with advise_on_interrupt(advice), Bars() as bars:
        yield bars


def training(out: Path) -> AbstractContextManager[Bars]:
    """Return a context manager like `progress_bars` for training a model.

    On Ctrl-C, it prints whether there is a checkpoint from which the training can be continued.

    Args:
        out: The folder in which the model is saved.

    Returns:
        The context manager.
    """
    checkpoints = out / "checkpoints"
    kept, unkept = (
        keeps(checkpoints, "what was learned"),
        "no training step was finished, and nothing is kept",
    )
    return progress_bars(lambda: kept if checkpoints.is_dir() else unkept)


def keeps(where: str | Path, what: str) -> str:
    """Return the advice for a command that was stopped and can be resumed.

    Args:
        where: The file or folder in which the finished part of the work is stored.
        what: Description of this part, such as ``what was read``.

    Returns:
        The advice, for `advise_on_interrupt` or `progress_bars`.
    """
    return f"{where} keeps {what}; run the same command again to continue"


def keeps_part(out: str | Path, what: str) -> str:
    """Return the advice for a command that was stopped while it wrote a file, and can be resumed.

    Args:
        out: The file that the command writes. The finished part is stored in another file in the same folder.
        what: Description of this part, such as ``what was chosen``.

    Returns:
        The advice, for `advise_on_interrupt` or `progress_bars`.
    """
    return f"{what} is kept beside {out}; run the same command again to continue"


def write_stream(made: Any, out: str, unkept: str, verb: str = "made", *, overwrite: bool = False) -> None:
    """Write a stream of records to a file or to standard output, and print a report.

    The report has a table of counts, the number of records, and notes, for example why a run was started
    again instead of being resumed. If the file was already complete, the report says only this.

    Args:
        made: The stream of records, such as a `NegativeStream`. Writing consumes it.
        out: The file to write; ``-`` for standard output. A file with the suffix ``.parquet`` is written as
            Parquet, any other file as JSON lines.
        unkept: The advice to print if the user stops a run that writes to standard output and so cannot be
            resumed.
        verb: ``made`` for negatives that are generated, ``chosen`` for records that are selected.
        overwrite: Whether to replace an existing file.

    Raises:
        BadParameter: The stream is one shard, and it should be written to standard output.
    """
    if made.shard is not None:
        if out == STANDARD:
            raise BadParameter("a shard needs a file: name the result of all shards", param_hint="--out")
        out, whole = str(made.shard.file(out)), out
    else:
        whole = ""
    # Check this before the file is written. The report says whether a file was replaced.
    replaces = Path(out).is_file()
    with advise_on_interrupt(unkept if out == STANDARD else keeps_part(out, f"what was {verb}")):
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
        print_note(f"started again: {made.resumed.discarded}")
    for line in made.notes:
        print_note(line)
    table = made.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)
    # The remaining line is about the file, and there is none.
    if out == STANDARD:
        return
    amount, done = made.summary.negatives, made.resumed.dialogues
    went_on = f", resumed after {done:,} dialogues of an earlier run" if done and verb == "made" else ""
    came = counted(amount, kind) + (" kept" if verb == "chosen" else "")
    print_message(f"{out}: {came}{went_on}{', replacing the existing file' if replaces else ''}")


def refuse_empty(made: Any) -> None:
    """Raise an error if a stream contained no negatives, unless it was a shard.

    Without this error, a script would continue with an empty file and fail later, where the cause is hard to
    find.

    Args:
        made: The stream, after it has been written.

    Raises:
        GeneratorError: There were no negatives. The message contains the most frequent reason.
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
    """Print that there is nothing to do, because the same command has already written the file completely.

    Args:
        out: The path of the file.
        holds: Description of the content, such as ``1,200 negatives``.
    """
    print_message(f"{out} is complete, with {holds}: the same command wrote it, so nothing was done")


def tell_trained(report: Any, out: Path, learned: str, examples: int | None = None) -> None:
    """Print a line about a model that has been trained.

    Args:
        report: The result of the training, an object with ``steps`` and ``loss``.
        out: The folder of the model.
        learned: Text to add at the end of the line.
        examples: Number of training pairs; None to leave it out.
    """
    on = "" if examples is None else f"on {counted(examples, 'pair')} "
    print_message(f"{out}: trained {on}in {counted(report.steps, 'step')}, loss {report.loss:.3f}{learned}")


class Bars:
    """Draws progress bars on standard error. A bar disappears when its task is finished.

    Nothing is drawn if standard error is not a terminal.
    """

    def __init__(self) -> None:
        """Initialize the bars without drawing anything."""
        console = messages()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            _Amount(),
            _Rate(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            # Keep the control sequences of progress bars out of log files.
            disable=not console.is_terminal,
        )

    def start(self, label: str, total: int | None, unit: str) -> None:
        """Start a new bar and remove the previous one.

        Args:
            label: The text before the bar.
            total: The total amount of work; None if it is not known.
            unit: The unit of the amounts, such as ``texts`` or `BYTES`.
        """
        self.finish()
        self._progress.add_task(label, total=total, unit=unit)

    def advance(self, amount: int) -> None:
        """Report that more work is done.

        Args:
            amount: The additional amount of work, in the unit of the bar.
        """
        for task in self._progress.task_ids:
            self._progress.advance(task, amount)

    def finish(self) -> None:
        """Remove the bar."""
        for task in self._progress.task_ids:
            self._progress.remove_task(task)

    def __enter__(self) -> Self:
        """Start drawing."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop drawing."""
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
