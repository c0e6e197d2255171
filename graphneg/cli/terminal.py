"""Print messages, progress bars and reports to standard error.

Texts from data (a reply, a file name, an error message) can contain control characters that would change the
state of the terminal. `Screen` and `visible` escape them. Long-running commands use `progress_bars`, which
draws progress bars. If the user presses Ctrl-C, `progress_bars` prints which results are kept and how to
continue.

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
"""Width of tables in characters if they are written to a file or pipe."""
BYTES = "B"
"""The unit of a progress bar that counts bytes. Such a bar shows amounts in kB or MB."""
CONTROL_CHARACTERS = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
"""Pattern that matches a character that a terminal would interpret as a command, or cannot show.

Such characters are control characters other than tab and newline, characters that change the text direction,
and surrogates.
"""


def visible(text: str) -> str:
    r"""Escape the characters of a text that could change the state of the terminal.

    Args:
        text: Any text.

    Returns:
        The text with each such character written as ``\uXXXX``, as in Python and JSON.

    Example:
        >>> print(visible("\x1b[2J\u202eevil"))
        \u001b[2J\u202eevil
    """
    return CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Screen(Console):
    """A Rich console that can safely print texts from data, such as replies or file names.

    The console escapes control characters, and does not replace words such as ``:smile:`` by emoji, as Rich
    does by default.

    Args:
        stderr: Whether to print to standard error; False prints to standard output.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Render a string with Rich markup, and escape control characters in it.

        Args:
            text: The string with markup.
            **settings: Further arguments of ``rich.console.Console.render_str``.

        Returns:
            The rendered text.
        """
        return super().render_str(visible(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object for printing. If it is a Rich `Text`, escape control characters in it.

        Args:
            renderable: The object to render.
            options: Rendering options, such as the width; None for the options of the console.

        Returns:
            The segments to print.
        """
        # Rich passes strings to `render_str`, which escapes them, but it does not pass `Text` objects. Escape
        # `Text` objects here.
        if isinstance(renderable, Text) and CONTROL_CHARACTERS.search(renderable.plain):
            renderable = renderable.blank_copy(visible(renderable.plain))
        return super().render(renderable, options)


@cache
def messages() -> Console:
    """Return the console that prints to standard error."""
    return fix_width(Screen(stderr=True))


def fix_width(console: Console) -> Console:
    """Set a fixed width for a console that does not write to a terminal.

    Without a fixed width, Rich assumes 80 columns, which is too narrow for some tables. If the environment
    variable ``COLUMNS`` is set, Rich takes the width from this variable, and the width is not changed.

    Args:
        console: A console for standard output or standard error.

    Returns:
        The same console.
    """
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def print_error(message: str) -> None:
    """Print an error message to standard error. Long lines are not broken, so paths and ids can be copied.

    Args:
        message: The error message.
    """
    print_message(message, "[bold red]error:[/] ")


def print_note(message: str) -> None:
    """Print a note to standard error. A note tells the user about something that is not an error.

    Args:
        message: The text of the note.
    """
    print_message(message, "[yellow]note:[/] ")


def print_message(message: str, prefix: str = "") -> None:
    """Print a message to standard error. Square brackets in the message are not interpreted as markup.

    Args:
        message: The text of the message.
        prefix: Text to print before the message. It may contain Rich markup.
    """
    # Escape square brackets in the message, because Rich would interpret them as markup. A file name, for
    # example, may contain square brackets.
    messages().print(prefix + escape(message), soft_wrap=True)


def read_input(name: str) -> str:
    """Read a file or standard input.

    Args:
        name: The path of the file, or ``-`` for standard input.

    Returns:
        The content of the file or of standard input.

    Raises:
        InputError: The content is not UTF-8 text, or the file cannot be read.
    """
    from graphneg.ingest.content import read_text

    if name != STANDARD:
        return read_text(Path(name))
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError(f"standard input: not UTF-8 text (byte {error.start})") from error


def counted(amount: int, noun: str) -> str:
    """Format a number together with a noun in the singular or plural.

    Args:
        amount: The number to format.
        noun: The noun in the singular. Its plural must be formed by adding -s.

    Returns:
        A phrase such as ``1 row`` or ``2,000 rows``.
    """
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def counts_text(counts: Mapping[str, int]) -> str:
    """Format several counts as a text for a message.

    Args:
        counts: The counts, keyed by the name of what was counted.

    Returns:
        The names in alphabetical order with their numbers, such as ``edits 1,200, random 300``.
    """
    return ", ".join(f"{name} {amount:,}" for name, amount in sorted(counts.items()))


@contextmanager
def advise_on_interrupt(interrupt_message: str | Callable[[], str]) -> Generator[None]:
    """Print a message and exit with status 130 if the user presses Ctrl-C within the ``with`` block.

    Args:
        interrupt_message: The message, which tells the user which results are kept and how to continue, or a
            function that returns the message.

    Raises:
        Exit: The user pressed Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt:
        print_message(
            f"stopped: {interrupt_message if isinstance(interrupt_message, str) else interrupt_message()}"
        )
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def progress_bars(interrupt_message: str | Callable[[], str]) -> Generator[Bars]:
    """Provide progress bars for the ``with`` block. If the user presses Ctrl-C, print a message and exit.

    Args:
        interrupt_message: The message to print on Ctrl-C, or a function that returns the message; see
            `advise_on_interrupt`.

    Yields:
        The progress bars.
    """
    with advise_on_interrupt(interrupt_message), Bars() as bars:
        yield bars


def training(out: Path) -> AbstractContextManager[Bars]:
    """Provide progress bars for training a model, like `progress_bars`.

    If the user presses Ctrl-C, the message says whether there is a checkpoint from which the training can be
    continued.

    Args:
        out: The folder in which the model is saved.

    Returns:
        A context manager that provides the progress bars.
    """
    checkpoints = out / "checkpoints"
    kept, unkept = (
        resume_message(checkpoints),
        "no training step was finished, so nothing is kept",
    )
    return progress_bars(lambda: kept if checkpoints.is_dir() else unkept)


def resume_message(where: str | Path) -> str:
    """Return the message that a resumable command prints on Ctrl-C.

    Args:
        where: The file or folder in which the finished part of the work is stored.

    Returns:
        The message, for `advise_on_interrupt` or `progress_bars`.
    """
    return f"the finished part is kept in {where}; run the same command again to continue"


def resume_file_message(out: str | Path) -> str:
    """Return the message that a resumable command prints on Ctrl-C if it writes a file.

    Args:
        out: The file that the command writes. Until this file is complete, the finished part is stored in a
            different file in the same folder.

    Returns:
        The message, for `advise_on_interrupt` or `progress_bars`.
    """
    return f"the finished part is kept beside {out}; run the same command again to continue"


def write_stream(made: Any, out: str, unkept: str, verb: str = "made", *, overwrite: bool = False) -> None:
    """Write a stream of records to a file or to standard output, and print a report.

    The report contains a table of counts, the number of records, and notes. A note says, for example, why a
    run was started again instead of being resumed. If the file was already complete, the report only says so.

    Args:
        made: The stream of records, such as a `NegativeStream`. Writing iterates over it and exhausts it.
        out: The file to write; ``-`` for standard output. A file with the suffix ``.parquet`` is written as
            Parquet, any other file as JSON lines.
        unkept: The message to print on Ctrl-C if the run writes to standard output and therefore cannot be
            resumed.
        verb: ``made`` for negatives that are generated, ``chosen`` for records that are selected.
        overwrite: Whether to replace an existing file.

    Raises:
        BadParameter: The stream is one shard of a run, and ``out`` is standard output.
    """
    if made.shard is not None:
        if out == STANDARD:
            raise BadParameter(
                "a shard can't be written to standard output: give the name of the merged file",
                param_hint="--out",
            )
        out, whole = str(made.shard.file(out)), out
    else:
        whole = ""
    # The report says whether a file was replaced, so check now whether the file exists.
    replaces = Path(out).is_file()
    with advise_on_interrupt(unkept if out == STANDARD else resume_file_message(out)):
        if whole:
            made.to_shard(whole, overwrite=overwrite)
        elif out.endswith(".parquet"):
            made.to_parquet(out, overwrite=overwrite)
        else:
            made.to_jsonl(out, overwrite=overwrite)
    kind = "negative" if verb == "made" else "record"
    if made.resumed.is_complete:
        print_already_complete(out, counted(made.summary.negatives, kind))
        return
    if made.resumed.discarded:
        print_note(f"started again: {made.resumed.discarded}")
    for line in made.notes:
        print_note(line)
    table = made.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)
    # The last line of the report names the output file. If the records went to standard output, there is
    # no file to name.
    if out == STANDARD:
        return
    amount, done = made.summary.negatives, made.resumed.dialogues
    went_on = f", resumed after {done:,} dialogues of an earlier run" if done and verb == "made" else ""
    came = counted(amount, kind) + (" kept" if verb == "chosen" else "")
    print_message(f"{out}: {came}{went_on}{', replacing the existing file' if replaces else ''}")


def refuse_empty(made: Any, advice: Mapping[str, str] | None = None) -> None:
    """Raise an error if a run made no negatives. A run on a single shard is allowed to make none.

    Without this error, a script would continue with an empty file and fail later, where the cause is hard to
    find.

    Args:
        made: The stream of negatives, after it has been written.
        advice: Advice for the user, keyed by the code of a reason why negatives are missing, such as
            ``no-site``. If none of these codes occurred, the message contains general advice.

    Raises:
        GeneratorError: The run made no negatives. The message contains the most frequent reason.
    """
    if made.summary.negatives or made.shard is not None:
        return
    reason, missing = next(iter(made.summary.skipped.most_common(1)), ("no dialogue was processed", 0))
    amount = f" ({missing:,} times)" if missing else ""
    general = "load other dialogues or sentences, or choose another recipe, generator or option"
    known = (text for code, text in (advice or {}).items() if made.summary.skipped[code])
    raise GeneratorError(
        f"no negative was made: {reason}{amount}; {next(known, general)}; "
        "graphneg negatives --reasons explains the codes"
    )


def print_already_complete(out: str | Path, contents: str) -> None:
    """Print that nothing was done, because an earlier run of the same command has completed the file.

    Args:
        out: The path of the file.
        contents: Description of the file's content, such as ``1,200 negatives``.
    """
    print_message(f"{out} is already complete, with {contents}: nothing was done")


def print_trained(report: Any, out: Path, learned: str, examples: int | None = None) -> None:
    """Print a line about a model that has been trained: its folder, the number of steps and the loss.

    Args:
        report: The result of the training, an object with the attributes ``steps`` and ``loss``.
        out: The folder of the model.
        learned: Text to add at the end of the line, such as ``; 3 were too long``.
        examples: Number of training pairs to print; None to leave this number out.
    """
    on = "" if examples is None else f"on {counted(examples, 'pair')} "
    print_message(f"{out}: trained {on}in {counted(report.steps, 'step')}, loss {report.loss:.3f}{learned}")


class Bars:
    """Progress bars on standard error. Only one bar is visible at a time.

    A bar disappears when its task is finished. Nothing is drawn if standard error is not a terminal.
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
            # Draw nothing if standard error is a file, in which the control sequences of a progress bar would
            # not be readable.
            disable=not console.is_terminal,
        )

    def start(self, label: str, total: int | None, unit: str) -> None:
        """Start a new progress bar, and remove the previous one.

        Args:
            label: The text before the bar, such as ``parse``.
            total: The total amount of work; None if the total is not known.
            unit: The noun for what is counted, such as ``texts``, or `BYTES`.
        """
        self.finish()
        self._progress.add_task(label, total=total, unit=unit)

    def advance(self, amount: int) -> None:
        """Advance the visible bar.

        Args:
            amount: The amount of work that was done since the last call, in the unit of the bar.
        """
        for task in self._progress.task_ids:
            self._progress.advance(task, amount)

    def finish(self) -> None:
        """Remove the visible bar, if any."""
        for task in self._progress.task_ids:
            self._progress.remove_task(task)

    def __enter__(self) -> Self:
        """Start drawing the progress display."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop drawing the progress display."""
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
