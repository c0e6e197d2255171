"""The table of what a training job draws and lacks, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphneg.cli.terminal import figures_table, results

if TYPE_CHECKING:
    from rich.table import Table

    from graphneg.training.lacking import Shortage

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
