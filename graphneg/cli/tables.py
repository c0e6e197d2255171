"""Print the results of commands to standard output, as tables or (with ``--json``) as JSON.

All tables have a line under the header and no frame. `plain_table` returns a table of texts, `figures_table`
returns a table of numbers, and `show` prints the result of a command either as tables or as JSON lines.

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

from graphneg.cli.terminal import Screen, fix_width, visible
from graphneg.json_input import json_line

if TYPE_CHECKING:
    from graphneg.datasets.pair_sampler import Shortage
    from graphneg.evaluation.decoding import DecoderScores
    from graphneg.generators.infilling.training import Filled
    from graphneg.statistics import Estimate


@cache
def results() -> Console:
    """Return the console that prints to standard output."""
    return fix_width(Screen())


def print_json(*values: Any, indent: int | None = None) -> None:
    """Print values as JSON.

    Control characters are escaped, so that data cannot change the state of the terminal.

    Args:
        *values: The values to print, each starting on a new line.
        indent: Number of spaces per nesting level; None to print each value on one line.
    """
    for value in values:
        typer.echo(visible(json_line(value, default=str, indent=indent)))


def show(json: bool, values: Iterable[Any], *tables: Table) -> None:
    """Print the result of a command, either as JSON or as tables.

    Args:
        json: Whether to print the result as JSON; False to print tables.
        values: The result as values that can be written as JSON, one per line.
        *tables: The same result as tables.
    """
    if json:
        print_json(*values)
        return
    for table in tables:
        results().print(table)


def plain_table(
    *columns: str | Column, rows: Iterable[Iterable[str | Text]] = (), title: str | None = None
) -> Table:
    """Return a table with a line under its header.

    Args:
        *columns: The headers of the columns, or Rich `Column` objects with further settings.
        rows: The rows, each an iterable of cells. Strings may contain Rich markup.
        title: The title above the table; None for no title.

    Returns:
        The Rich table.
    """
    # Wrap long texts instead of truncating them, because users may want to copy names and ids.
    whole = (Column(one, overflow="fold") if isinstance(one, str) else one for one in columns)
    table = Table(
        *whole, title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    for row in rows:
        table.add_row(*row)
    return table


def figures_table(
    *headers: str, names: int = 1, rows: Iterable[Iterable[str | Text]] = (), title: str | None = None
) -> Table:
    """Return a table of numbers, with names in the first columns.

    Numbers are aligned to the right and never truncated or wrapped. In a narrow terminal, the names are
    wrapped.

    Args:
        *headers: The headers of the columns.
        names: Number of columns at the left that contain names.
        rows: The rows, each an iterable of cells. Strings may contain Rich markup.
        title: The title above the table; None for no title.

    Returns:
        The Rich table.
    """
    # Wrap long names instead of truncating them, because users may want to copy a path or an id.
    named = (Column(header, overflow="fold") for header in headers[:names])
    figures = (Column(header, justify="right", no_wrap=True) for header in headers[names:])
    table = plain_table(*named, *figures, rows=rows, title=title)
    # Tables of numbers are wide, so put one space instead of two between columns.
    table.padding = (0, 1, 0, 0)
    return table


def decoder_table(scores: DecoderScores) -> Table:
    """Return a table that compares the texts of a decoder with the reference texts.

    To compute Smatch, the texts are parsed back into graphs. The second row has the scores of the reference
    texts themselves, whose Smatch score shows how many mistakes the parser makes.

    Args:
        scores: The scores of the decoder's texts and of the reference texts.

    Returns:
        A table with two rows and a column for each measure.
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
    """Return a table of texts with blanks, the original words, and the texts as a model completed them.

    Args:
        rows: The texts with blanks, the original words and the completed texts.

    Returns:
        A table with three columns and a row for each text.
    """
    cells = (tuple(map(Text, (row.marked, " | ".join(row.answers), row.written))) for row in rows)
    return plain_table("with blanks", "original", "filled", rows=cells)


def shortage_table(rows: Sequence[Shortage]) -> Table:
    """Return a table of the negatives that are sampled for one epoch of training, by source and category.

    The last three columns are the minimum, median and maximum of the similarity between the negatives and the
    correct responses. Some numbers are known only for a whole source; in the rows of error categories, the
    cells of these numbers are empty.

    Args:
        rows: The counts for each source, and for each error category of a source.

    Returns:
        A table with a row for each element of ``rows``.
    """
    headers = ("negatives", "category", "contexts", "too few", "wanted", "drawn")
    table = figures_table(*headers, "similar:\nleast", "median", "most", names=2)
    for row in rows:
        # The columns "too few" and "wanted" are known only for a source as a whole, so leave them empty in
        # the rows of error categories.
        needed = ["", ""] if row.category else [f"{row.contexts_lacking:,}", f"{row.requested:,}"]
        name, spread = "" if row.category else row.name, row.similarity
        figures = (spread.minimum, spread.median, spread.maximum) if spread else ()
        shown = (f"{figure:.2f}" for figure in figures)
        table.add_row(name, row.category, f"{row.contexts:,}", *needed, f"{row.drawn:,}", *shown)
    return table


def with_interval(figure: Estimate) -> str:
    """Format an estimate as a table cell, with its confidence interval on a second line.

    Args:
        figure: The estimate and the ends of its confidence interval.

    Returns:
        Two lines, such as ``0.712`` and ``0.69-0.73``.
    """
    return f"{figure.value:.3f}\n{figure.low:.2f}-{figure.high:.2f}"
