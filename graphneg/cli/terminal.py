"""What commands print to standard error: messages, progress bars and the report of what was written.

Text from data (a reply, a file name, an error message) can contain control characters that would change the
state of the terminal. `Screen` and `visible` escape them. Long-running commands use `working`, which draws
progress bars and, when the user presses Ctrl-C, prints what was kept and how to continue.

Example::

    with working("nothing was changed") as bars:    # Ctrl-C prints "stopped: nothing was changed"
        bars.start("parse", 1_000, "texts")
        bars.advance(200)
    say("out.jsonl: 200 negatives")
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
"""A file name that means standard input or standard output."""
PIPE_WIDTH = 120
"""Width of tables, in columns, if the output is not a terminal."""
BYTES = "B"
"""The unit of work that is counted in bytes; progress bars show such amounts as kB or MB."""
UNSEEN = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""Characters that a terminal would interpret or cannot show.

Control characters other than tab and newline, characters that change the text direction, and surrogates.
"""


def visible(text: str) -> str:
    r"""Escape the characters of a text that a terminal would interpret.

    Args:
        text: Any text.

    Returns:
        The text with each such character as ``\uXXXX``, as in Python and JSON.

    Example:
        >>> print(visible("\x1b[2J\u202eevil"))
        \u001b[2J\u202eevil
    """
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Screen(Console):
    """A Rich console that is safe for text from data.

    It escapes control characters, and it does not replace ``:name:`` by emoji.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        """Initialize a console for standard output, or for standard error."""
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    def render_str(self, text: str, **settings: Any) -> Text:
        """Render text with markup, with control characters escaped.

        Args:
            text: The text.
            **settings: Further arguments of Rich's method.

        Returns:
            The rendered text.
        """
        return super().render_str(visible(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object, with the control characters of a `Text` escaped.

        Args:
            renderable: The object.
            options: The options of the console.

        Returns:
            The segments to print.
        """
        # A `Text` does not pass through `render_str`.
        if isinstance(renderable, Text) and UNSEEN.search(renderable.plain):
            renderable = renderable.blank_copy(visible(renderable.plain))
        return super().render(renderable, options)


@cache
def messages() -> Console:
    """Return the console for standard error."""
    return sized(Screen(stderr=True))


def sized(console: Console) -> Console:
    """Set a fixed width for a console that does not write to a terminal.

    Rich would assume 80 columns and squeeze the tables. ``$COLUMNS`` takes precedence.

    Args:
        console: The console.

    Returns:
        The same console.
    """
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def complain(message: str) -> None:
    """Print an error message to standard error, on one line so that paths and ids can be copied.

    Args:
        message: The message.
    """
    say(message, "[bold red]error:[/] ")


def note(message: str) -> None:
    """Print a note to standard error: something that the user should know, but that is not an error.

    Args:
        message: The note.
    """
    say(message, "[yellow]note:[/] ")


def say(message: str, prefix: str = "") -> None:
    """Print a line to standard error as it is: square brackets in it are not markup.

    Args:
        message: The line.
        prefix: Text before the line, with Rich markup.
    """
    # A file name may contain square brackets, which Rich would read as markup.
    messages().print(prefix + escape(message), soft_wrap=True)


def read_input(name: str) -> str:
    """Read a file or standard input.

    Args:
        name: The file, or ``-`` for standard input.

    Returns:
        The text.

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
    """Format a number with a noun.

    Args:
        amount: The number.
        noun: The noun in the singular; its plural must end in -s.

    Returns:
        The phrase, such as ``1 row`` or ``2,000 rows``.
    """
    return f"{amount:,} {noun}" if amount == 1 else f"{amount:,} {noun}s"


def amounts_text(amounts: Mapping[str, int]) -> str:
    """Format numbers by name.

    Args:
        amounts: The numbers.

    Returns:
        The text in alphabetical order, such as ``edits 1,200, random 300``.
    """
    return ", ".join(f"{name} {amount:,}" for name, amount in sorted(amounts.items()))


@contextmanager
def stopping(advice: str | Callable[[], str]) -> Generator[None]:
    """Print advice and exit with status 130 if the user presses Ctrl-C within the ``with`` block.

    Args:
        advice: What is kept and how to continue, or a function that returns that.

    Raises:
        Exit: The user pressed Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped: {advice if isinstance(advice, str) else advice()}")
        # 128 + SIGINT, as shells report it.
        raise typer.Exit(130) from None


@contextmanager
def working(advice: str | Callable[[], str]) -> Generator[Bars]:
    """Provide progress bars for the ``with`` block, and print advice on Ctrl-C as `stopping` does.

    Args:
        advice: What is kept and how to continue, or a function that returns that.

    Yields:
        The progress bars.
    """
    with stopping(advice), Bars() as bars:
        yield bars


def training(out: Path) -> AbstractContextManager[Bars]:
    """Return a context manager like `working` for a training.

    On Ctrl-C it prints whether there is a checkpoint to continue from.

    Args:
        out: The output folder of the training.

    Returns:
        The context manager.
    """
    checkpoints = out / "checkpoints"
    kept, unkept = (
        keeps(checkpoints, "what was learned"),
        "no training step was finished, and nothing is kept",
    )
    return working(lambda: kept if checkpoints.is_dir() else unkept)


def keeps(where: str | Path, what: str) -> str:
    """Return the advice for a resumable command that was stopped.

    Args:
        where: The file or folder that keeps the work.
        what: What is kept, such as ``what was read``.

    Returns:
        The advice.
    """
    return f"{where} keeps {what}; run the same command again to continue"


def keeps_part(out: str | Path, what: str) -> str:
    """Return the advice for a command that was stopped while it wrote a resumable file.

    Args:
        out: The file that the command writes. The part is kept in another file beside it.
        what: What is kept, such as ``what was chosen``.

    Returns:
        The advice.
    """
    return f"{what} is kept beside {out}; run the same command again to continue"


def write_stream(made: Any, out: str, unkept: str, verb: str = "made", *, overwrite: bool = False) -> None:
    """Write a stream of records to a file or to standard output, and print a report.

    The report has a table of counts, the number of records, and notes: why a run began anew, or that a file
    was replaced. If the file is complete already, the report says only that.

    Args:
        made: The stream, such as `NegativeStream`; writing consumes it.
        out: The file. Its suffix is the format: ``.parquet`` for Parquet, any other for JSON lines. ``-`` is
            standard output.
        unkept: The advice if the user stops a run that writes to standard output, where nothing can be
            resumed.
        verb: ``made`` for negatives that are generated, ``chosen`` for records that are selected.
        overwrite: Whether to replace a file.

    Raises:
        BadParameter: The stream is a shard, and the output is standard output.
    """
    if made.shard is not None:
        if out == STANDARD:
            raise BadParameter("a shard needs a file: name the result of all shards", param_hint="--out")
        out, whole = str(made.shard.file(out)), out
    else:
        whole = ""
    # This must be known before the file is written; the report mentions it.
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
        note(f"started again: {made.resumed.discarded}")
    for line in made.notes:
        note(line)
    table = made.summary.table()
    table.box = SIMPLE_HEAD
    messages().print(table)
    # Nothing more is printed: the records themselves are on standard output.
    if out == STANDARD:
        return
    amount, done = made.summary.negatives, made.resumed.dialogues
    went_on = f", resumed after {done:,} dialogues of an earlier run" if done and verb == "made" else ""
    came = counted(amount, kind) + (" kept" if verb == "chosen" else "")
    say(f"{out}: {came}{went_on}{', replacing the existing file' if replaces else ''}")


def refuse_empty(made: Any) -> None:
    """Raise an error if a stream gave no negatives.

    A script that continued with an empty file would fail later and far from the cause. A shard may be empty.

    Args:
        made: The stream, after it was written.

    Raises:
        GeneratorError: There are no negatives. The message has the most frequent reason.
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
    """Print that there is nothing to do, because the file is the one that this command would write.

    Args:
        out: The file.
        holds: What is in the file, such as ``1,200 negatives``.
    """
    say(f"{out} is complete, with {holds}: the same command wrote it, so nothing was done")


def tell_trained(report: Any, out: Path, learned: str, examples: int | None = None) -> None:
    """Print the result of a training.

    Args:
        report: The report of the training, with ``steps`` and ``loss``.
        out: The folder of the model.
        learned: Text to add at the end of the line.
        examples: Number of training pairs, if it is known.
    """
    on = "" if examples is None else f"on {counted(examples, 'pair')} "
    say(f"{out}: trained {on}in {counted(report.steps, 'step')}, loss {report.loss:.3f}{learned}")


class Bars:
    """Progress bars on standard error; each disappears when its work is done.

    Nothing is drawn if standard error is not a terminal.
    """

    def __init__(self) -> None:
        """Initialize the bars; nothing is drawn yet."""
        console = messages()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            _Amount(),
            _Rate(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            # Log files should not contain the control sequences of progress bars.
            disable=not console.is_terminal,
        )

    def start(self, label: str, total: int | None, unit: str) -> None:
        """Start a bar and end the previous one.

        Args:
            label: The text before the bar.
            total: The amount of work, or None if it is not known.
            unit: The unit of the amount, such as ``texts`` or `BYTES`.
        """
        self.finish()
        self._progress.add_task(label, total=total, unit=unit)

    def advance(self, amount: int) -> None:
        """Add to the work that is done.

        Args:
            amount: The amount, in the unit of the bar.
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
