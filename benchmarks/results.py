"""What a benchmark returns: tables, and goals with whether they are met; written as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing that should hold, as it was measured."""

    what: str
    server: str
    measured: str
    wanted: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one kind. Tables of the same title, one from each server, become one."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Result:
    """One benchmark on one server."""

    tables: tuple[Table, ...]
    goals: tuple[Goal, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """Repeated measurements of one quantity."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    def shown(self, digits: int = 0) -> str:
        """The median, and the range where there are several: ``512 (498-530)``."""
        low, high = min(self.values), max(self.values)
        if len(self.values) == 1:
            return f"{self.median:,.{digits}f}"
        return f"{self.median:,.{digits}f} ({low:,.{digits}f}-{high:,.{digits}f})"


def sample(values: Iterable[float]) -> Sample:
    return Sample(tuple(values))


def percent(part: float, whole: float, digits: int = 0) -> str:
    return f"{100 * part / whole:.{digits}f}%" if whole else "-"


def verdict(holds: bool) -> str:
    return "met" if holds else "missed"


def merged(tables: Iterable[Table]) -> list[Table]:
    """Tables of one title as one table, in the order of their first."""
    found: dict[str, Table] = {}
    for table in tables:
        before = found.get(table.title)
        rows = (*before.rows, *table.rows) if before else table.rows
        found[table.title] = Table(table.title, table.about, table.columns, rows)
    return list(found.values())


def table_text(table: Table) -> str:
    """A table with its title, as Markdown."""
    return f"## {table.title}\n\n{table.about}\n\n{grid(table.columns, table.rows)}\n"


def goals_text(goals: Sequence[Goal]) -> str:
    rows = [(goal.what, goal.server, goal.measured, goal.wanted, goal.verdict) for goal in goals]
    return f"## Goals\n\n{grid(('goal', 'server', 'measured', 'wanted', 'verdict'), rows)}\n"


def grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned Markdown columns; all but the first two to the right."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * width if at < 2 else "-" * (width - 1) + ":") for at, width in enumerate(widths)]
    return "\n".join((line(columns), line(rule), *map(line, rows)))
