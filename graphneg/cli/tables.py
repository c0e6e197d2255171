"""What commands print to standard output: tables, or JSON with ``--json``.

All tables have one rule under the header and no frame. `plain_table` makes a table of texts, `figures_table`
a table of numbers, and `show` prints either the tables or the values as JSON lines.

Example::

    rows = [("bm25", "0.712"), ("overlap", "0.655")]
    show(json, [{"bm25": 0.712, "overlap": 0.655}], figures_table("negatives", "accuracy", rows=rows))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from graphneg.cli.terminal import Screen, sized, visible
from graphneg.json_input import json_line

if TYPE_CHECKING:
    from graphneg.datasets.pair_sampler import Shortage
    from graphneg.evaluation.decoding import DecoderScores
    from graphneg.generators.infilling.training import Filled
    from graphneg.statistics import Estimate


@cache
def results() -> Console:
    """Return the console for standard output."""
    return sized(Screen())


def print_json(*values: Any, indent: int | None = None) -> None:
    """Print values as JSON.

    Control characters are escaped, so that data cannot change the state of a terminal.

    Args:
        *values: The values; each is printed on a line of its own.
        indent: Spaces per level. None prints a value on one line.
    """
    for value in values:
        typer.echo(visible(json_line(value, default=str, indent=indent)))


def show(json: bool, values: Iterable[Any], *tables: Table) -> None:
    """Print values as JSON, or print tables.

    Args:
        json: Whether to print JSON.
        values: The values to print as JSON.
        *tables: The tables to print otherwise.
    """
    if json:
        print_json(*values)
        return
    for table in tables:
        results().print(table)


def plain_table(
    *columns: str | Column, rows: Iterable[Iterable[str | Text]] = (), title: str | None = None
) -> Table:
    """Return a table with one rule under its header.

    Args:
        *columns: The headers, or columns with settings.
        rows: The cells, with Rich markup unless they are `Text`.
        title: The title above the table.

    Returns:
        The table.
    """
    table = Table(
        *columns, title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    for row in rows:
        table.add_row(*row)
    return table


def figures_table(
    *headers: str, names: int = 1, rows: Iterable[Iterable[str | Text]] = (), title: str | None = None
) -> Table:
    """Return a table of numbers.

    Numbers are aligned to the right and are never cut or wrapped. In a narrow terminal the names are wrapped.

    Args:
        *headers: The headers.
        names: How many of the first columns contain names rather than numbers.
        rows: The cells.
        title: The title above the table.

    Returns:
        The table.
    """
    # A long name is wrapped, never cut: it may be a path or an id to copy.
    named = (Column(header, overflow="fold") for header in headers[:names])
    figures = (Column(header, justify="right", no_wrap=True) for header in headers[names:])
    table = plain_table(*named, *figures, rows=rows, title=title)
    # One space between columns instead of two: tables of figures are wide.
    table.padding = (0, 1, 0, 0)
    return table


def decoder_table(scores: DecoderScores) -> Table:
    """Return a table that compares the texts of a decoder with the reference texts.

    The second row scores the reference texts themselves. The parser that reads the texts back makes mistakes
    too; the second row shows how many.

    Args:
        scores: The scores of the decoder.

    Returns:
        The table.
    """
    named = (("the decoder", scores.decoder), ("the texts themselves", scores.references))
    rows = (
        (
            name,
            f"{some.bleu:.1f}",
            f"{some.chrf:.1f}",
            f"{some.smatch.micro.f1:.3f}",
            "–".join(f"{end:.3f}" for end in some.smatch.micro_interval),
            f"{some.pairs - sum(some.reasons.values()):,} of {some.pairs:,}",
        )
        for name, some in named
    )
    return figures_table("texts by", "BLEU", "chrF", "Smatch", "95%", "written", rows=rows)


def filled_table(rows: Sequence[Filled]) -> Table:
    """Return a table of texts with blanks, the original words, and the words that a model filled in.

    Args:
        rows: The texts.

    Returns:
        The table.
    """
    cells = (tuple(map(Text, (row.marked, " | ".join(row.answers), row.written))) for row in rows)
    return plain_table("with blanks", "original", "filled", rows=cells)


def shortage_table(rows: Sequence[Shortage]) -> Table:
    """Return a table of the negatives that one epoch draws, by source and error category.

    ``similar`` is the similarity of the negatives to the correct responses. The row of a category leaves out
    the counts that it shares with its source.

    Args:
        rows: The counts.

    Returns:
        The table.
    """
    headers = ("negatives", "category", "contexts", "too few", "wanted", "drawn")
    table = figures_table(*headers, "similar:\nleast", "median", "most", names=2)
    for row in rows:
        # A category is a part of its source: only its own numbers are repeated.
        needed = ["", ""] if row.category else [f"{row.short:,}", f"{row.wanted:,}"]
        name, spread = "" if row.category else row.name, row.similarity
        figures = (spread.minimum, spread.median, spread.maximum) if spread else ()
        shown = (f"{figure:.2f}" for figure in figures)
        table.add_row(name, row.category, f"{row.contexts:,}", *needed, f"{row.got:,}", *shown)
    return table


def with_interval(figure: Estimate) -> str:
    """Format an estimate with its interval below it.

    Args:
        figure: The estimate.

    Returns:
        Two lines, such as ``0.712`` and ``0.69-0.73``.
    """
    return f"{figure.value:.3f}\n{figure.low:.2f}-{figure.high:.2f}"
