"""Progress bars on standard error; nothing is drawn where that is no terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from graphneg.cli.terminal import messages

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
