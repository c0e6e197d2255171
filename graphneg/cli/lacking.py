"""The table of what a training job draws and lacks, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphneg.cli.terminal import messages

if TYPE_CHECKING:
    from rich.table import Table

    from graphneg.training.lacking import Shortage


def show_shortages(rows: Sequence[Shortage]) -> None:
    """Print the table on standard error, since results go to standard output."""
    messages().print(shortage_table(rows))


def shortage_table(rows: Sequence[Shortage]) -> Table:
    """A row for each source of the mix, and below it one for each error category in it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD,
        title="Wrong responses of an epoch; similarity to the nearest right one",
        title_justify="left",
    )
    table.add_column("source")
    for name in ("contexts", "too few", "wanted", "got", "measured", "minimum", "median", "maximum"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Shortage) -> list[str]:
    name = f"  {row.category}" if row.category else row.name
    counts = [f"{row.contexts:,}", *(["", ""] if row.category else [f"{row.short:,}", f"{row.wanted:,}"])]
    spread = row.similarity
    if spread is None:
        similar = ["0", "", "", ""]
    else:
        similar = [f"{spread.count:,}"] + [
            f"{value:.2f}" for value in (spread.minimum, spread.median, spread.maximum)
        ]
    return [name, *counts, f"{row.got:,}", *similar]
