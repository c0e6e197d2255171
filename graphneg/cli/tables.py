"""What commands print on standard output: tables, and JSON in their place."""

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
    """Standard output."""
    return sized(Screen())


def print_json(*values: Any, indent: int | None = None) -> None:
    """Each value as JSON, on a line of its own; what a terminal would obey is escaped, as JSON may."""
    for value in values:
        typer.echo(visible(json_line(value, default=str, indent=indent)))


def show(json: bool, values: Iterable[Any], *tables: Table) -> None:
    """Print values as JSON, or tables in their place."""
    if json:
        print_json(*values)
        return
    for table in tables:
        results().print(table)


def plain_table(
    *columns: str | Column, rows: Iterable[Iterable[str | Text]] = (), title: str | None = None
) -> Table:
    """A table with one rule under its header, as all commands print them."""
    table = Table(
        *columns, title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    for row in rows:
        table.add_row(*row)
    return table


def figures_table(
    *headers: str, names: int = 1, rows: Iterable[Iterable[str | Text]] = (), title: str | None = None
) -> Table:
    """A plain table in which all but the first columns, ``names`` of them, hold figures.

    Figures stand at the right and are never cut or wrapped: where a terminal is narrow, names are.
    """
    named = (Column(header, overflow="fold") for header in headers[:names])
    figures = (Column(header, justify="right", no_wrap=True) for header in headers[names:])
    table = plain_table(*named, *figures, rows=rows, title=title)
    table.padding = (0, 1, 0, 0)
    return table


def decoder_table(scores: DecoderScores) -> Table:
    """How a decoder's texts compare with people's, and what people's own get."""
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
    """Texts with blanks, what stood in them, and what a model writes."""
    cells = (tuple(map(Text, (row.marked, " | ".join(row.answers), row.written))) for row in rows)
    return plain_table("with blanks", "as it was", "filled", rows=cells)


def shortage_table(rows: Sequence[Shortage]) -> Table:
    """What an epoch draws of each source, and below it of each error category in it.

    Similarity is that to right responses. A category's row repeats no figure of its source's.
    """
    headers = ("negatives", "category", "contexts", "too few", "wanted", "drawn")
    table = figures_table(*headers, "similar:\nleast", "median", "most", names=2)
    for row in rows:
        needed = ["", ""] if row.category else [f"{row.short:,}", f"{row.wanted:,}"]
        name, spread = "" if row.category else row.name, row.similarity
        figures = (spread.minimum, spread.median, spread.maximum) if spread else ()
        shown = (f"{figure:.2f}" for figure in figures)
        table.add_row(name, row.category, f"{row.contexts:,}", *needed, f"{row.got:,}", *shown)
    return table


def with_interval(figure: Estimate) -> str:
    """A figure, and below it its interval."""
    return f"{figure.value:.3f}\n{figure.low:.2f}-{figure.high:.2f}"
