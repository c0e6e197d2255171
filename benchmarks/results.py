"""Define the results of a benchmark (tables and goals), and format them as Markdown.

Example:
    >>> print(grid(("server", "pass", "seconds"), [("Neo4j", "first", "1.20"), ("Neo4j", "second", "0.9")]))
    | server | pass   | seconds |
    | ------ | ------ | ------: |
    | Neo4j  | first  |    1.20 |
    | Neo4j  | second |     0.9 |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Goal:
    """A condition that a measured figure should meet.

    Attributes:
        what: The measured quantity.
        server: Name of the server; ``-`` if the figure does not depend on the server.
        measured: The figure with its unit.
        wanted: The bound, for example ``>= 500``.
        verdict: ``met``, or ``missed`` with an optional reason.
    """

    what: str
    server: str
    measured: str
    wanted: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table of figures. Tables from several servers that have the same title are merged.

    Attributes:
        title: The title.
        about: A description of the figures.
        columns: The headings of the columns.
        rows: The cells of each row, as texts.
    """

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one benchmark on one server.

    Attributes:
        tables: The measured figures, as tables.
        goals: The goals, with their verdicts.
    """

    tables: tuple[Table, ...]
    goals: tuple[Goal, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """Repeated measurements of one quantity.

    Attributes:
        values: The measurements, at least one.
    """

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the measurements."""
        return median(self.values)

    def shown(self, digits: int = 0) -> str:
        """Return the median, with the range if there are several measurements.

        Args:
            digits: Number of decimal places.

        Returns:
            The text, for example ``512 (498-530)``.
        """
        low, high = min(self.values), max(self.values)
        if len(self.values) == 1:
            return f"{self.median:,.{digits}f}"
        return f"{self.median:,.{digits}f} ({low:,.{digits}f}-{high:,.{digits}f})"


def sample(values: Iterable[float]) -> Sample:
    """Collect measurements in a sample.

    Args:
        values: The measurements, at least one.

    Returns:
        The sample.
    """
    return Sample(tuple(values))


def percent(part: float, whole: float, digits: int = 0) -> str:
    """Return a share in percent.

    Args:
        part: Size of the part.
        whole: Size of the whole.
        digits: Number of decimal places.

    Returns:
        The text, for example ``12%``; ``-`` if the whole is 0.
    """
    return f"{100 * part / whole:.{digits}f}%" if whole else "-"


def verdict(holds: bool) -> str:
    """Return ``met`` or ``missed``.

    Args:
        holds: Whether the goal is met.

    Returns:
        The word.
    """
    return "met" if holds else "missed"


def merged(tables: Iterable[Table]) -> list[Table]:
    """Merge tables that have the same title.

    Args:
        tables: The tables.

    Returns:
        One table per title, in the order of their first occurrence.
    """
    found: dict[str, Table] = {}
    for table in tables:
        before = found.get(table.title)
        rows = (*before.rows, *table.rows) if before else table.rows
        found[table.title] = Table(table.title, table.about, table.columns, rows)
    return list(found.values())


def table_text(table: Table) -> str:
    """Return a table with its title and description as Markdown.

    Args:
        table: The table.

    Returns:
        The Markdown text.
    """
    return f"## {table.title}\n\n{table.about}\n\n{grid(table.columns, table.rows)}\n"


def goals_text(goals: Sequence[Goal]) -> str:
    """Return a Markdown section with a table of goals.

    Args:
        goals: The goals.

    Returns:
        The Markdown text.
    """
    rows = [(goal.what, goal.server, goal.measured, goal.wanted, goal.verdict) for goal in goals]
    return f"## Goals\n\n{grid(('goal', 'server', 'measured', 'wanted', 'verdict'), rows)}\n"


def grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns.

    Args:
        columns: The headings.
        rows: The cells of each row. The first two columns are aligned left, the other columns right.

    Returns:
        The Markdown text.
    """
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * width if at < 2 else "-" * (width - 1) + ":") for at, width in enumerate(widths)]
    return "\n".join((line(columns), line(rule), *map(line, rows)))
