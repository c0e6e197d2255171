"""graphneg shift: the shift graph, its commands under one name."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphneg.cli import substitutes as shift_substitutes
from graphneg.cli.terminal import (
    Corpora,
    Database,
    Password,
    Splits,
    StorePlace,
    Username,
    add_command,
    counted,
    examples,
    messages,
    note,
    opened,
    plain_table,
    results,
    say,
    stopping,
)

if TYPE_CHECKING:
    from rich.table import Table

    from graphneg.shift.page import Neighbourhood, Shift


# ``graphneg shift show``: the neighbourhood of a topic, in the terminal and as a page.


BAR = 16
LEAVING, LEADING = "blue", "yellow"


def register(app: typer.Typer) -> None:
    add_command(
        app,
        show,
        "graphneg shift show coffee",
        "graphneg shift show coffee --limit 20 --html coffee.html",
    )


def show(
    focus: Annotated[str, typer.Argument(metavar="FOCUS", help="A topic of the shift graph.")],
    limit: Annotated[int, typer.Option(min=1, help="Shifts at most, in each direction.")] = 12,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page for a browser as well.")
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Pairs at most of each shift, in the page.")] = 20,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Show what replies move to from a topic, and where those come from that move to it.

    The page is one file that loads nothing; a click on a shift shows the utterances behind it.
    """
    with opened(store, username, password, database) as graph, stopping("nothing was changed"):
        from graphneg.shift.page import neighbourhood, write_page

        around = neighbourhood(graph.store, focus, limit, examples)
        if html is not None:
            write_page(around, html)
    _print(around)
    if html is not None:
        say(f"wrote {html}")


def _print(around: Neighbourhood) -> None:
    from rich.text import Text

    console = results()
    console.print(Text(around.topic, "bold"))
    if around.opposites:
        console.print(Text(f"opposites: {', '.join(around.opposites)}", "dim"))
    most = max(shift.count for shift in (*around.moves_to, *around.comes_from))
    if around.moves_to:
        to = counted(around.perspectives, "topic")
        console.print(Text(f"\n{counted(around.outgoing, 'pair')} move on from it to {to}"))
        console.print(_table(around.moves_to, [s.perspective for s in around.moves_to], most, LEAVING))
        _print_rest(around.more_perspectives)
    if around.comes_from:
        of = counted(around.foci, "topic")
        console.print(Text(f"\n{counted(around.incoming, 'pair')} lead to it from {of}"))
        console.print(_table(around.comes_from, [s.focus for s in around.comes_from], most, LEADING))
        _print_rest(around.more_foci)


def _print_rest(topics: int) -> None:
    if topics:
        results().print(f"[dim]and {counted(topics, 'topic')} more, less frequent: --limit shows more[/]")


def _table(shifts: Sequence[Shift], others: Sequence[str], most: int, colour: str) -> Table:
    """One row for each shift: the other topic, its count, a bar, and a post with its reply."""
    from rich.text import Text

    table = plain_table("topic", "pairs", "", "for example")
    table.columns[1].justify = "right"
    table.columns[2].no_wrap = True
    table.columns[3].ratio = 1
    for shift, other in zip(shifts, others, strict=True):
        stays = " (stays)" if shift.focus == shift.perspective else ""
        bar = Text("━" * max(1, round(BAR * shift.count / most)), colour)
        table.add_row(Text(f"{other}{stays}"), f"{shift.count:,}", bar, _example(shift))
    return table


def _example(shift: Shift) -> str:
    from rich.markup import escape

    if not shift.pairs:
        return ""
    pair = shift.pairs[0]
    return f"{escape(pair.post)}\n[dim]→[/] {escape(pair.reply)}"


# ``graphneg shift``: the shift graph, its commands under one name.


MODEL = "Embedder"

app = typer.Typer(
    name="shift",
    help="The shift graph: which keyword replies attend to, and which they move to.",
    epilog=examples(
        "graphneg shift build",
        "graphneg shift export -o shifts.graphml",
    ),
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Keywords(StrEnum):
    """How keywords are found."""

    yake = "yake"
    rake = "rake"


def register_shift(parent: typer.Typer) -> None:
    add_command(
        app,
        build,
        "graphneg shift build",
        "graphneg shift build --embedder sentence-transformers/all-MiniLM-L6-v2",
        "graphneg shift build --embedder glove.6B.50d.txt --keywords rake --corpus dailydialog",
    )
    add_command(
        app,
        export,
        "graphneg shift export -o shifts.graphml",
        "graphneg shift export -o shifts.parquet --corpus dailydialog",
    )
    register(app)
    shift_substitutes.register(app)
    parent.add_typer(app)


def build(
    embedder: Annotated[
        str,
        typer.Option(
            metavar="PATH_OR_ID",
            help="An encoder by path or hub id, or word vectors: a file (.txt, .gz, .npz), "
            "or the small ones that come with graphneg.",
            rich_help_panel=MODEL,
        ),
    ] = "glove-50d",
    keywords: Annotated[Keywords, typer.Option(help="How keywords are found.")] = Keywords.yake,
    language: Annotated[str, typer.Option(metavar="CODE", help="Language of the texts.")] = "en",
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME_OR_PATH", help="A spaCy model; else an installed one of the language."),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep embeddings in a file for the next time.", rich_help_panel=MODEL
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="cpu, cuda, mps; else the best there is.", rich_help_panel=MODEL),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, help="Threads of the encoder; else one a core.", rich_help_panel=MODEL, show_default=False
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Fetch nothing from a hub.", rich_help_panel=MODEL)
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Remove the whole shift graph first, of all corpora.")
    ] = False,
    corpus: Corpora = None,
    split: Splits = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Find the keywords of posts and replies, and count which keyword leads to which.

    The focus is the post's keyword closest to the reply, the perspective the reply's keyword closest
    to the focus. Replies are the next utterance and responses with label 1. Dialogues that are in the
    graph already are left out, so the same command completes a run that was stopped.
    """
    from graphneg.cli.terminal import Bars
    from graphneg.nn.embedders import get_embedder
    from graphneg.shift.keywords import get_extractor

    given = {"cache": cache, "device": device, "threads": threads, "offline": offline or None}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with opened(store, username, password, database) as graph:
        with messages().status(f"loading {embedder}"):
            extractor = get_extractor(keywords.value, language, model)
            made = get_embedder(embedder, **options)
        for line in extractor.notes:
            note(line)
        with stopping("what was written is kept; the same command again builds the rest"), Bars() as bars:
            report = graph.shift(
                made,
                keywords=extractor,
                existing="replace" if rebuild else "keep",
                corpora=corpus or (),
                splits=split or (),
                progress=bars,
            )
    say(report.summary())


def export(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="File ending .graphml, .parquet or .jsonl."),
    ],
    corpus: Annotated[
        list[str] | None, typer.Option(help="Only the shifts of this corpus; repeatable.")
    ] = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Write the shift graph to a file: keywords, and how often replies move from one to the other.

    .graphml is one directed graph with a count on its edges; .parquet and .jsonl hold one edge a row.
    """
    from graphneg.shift.graphs import check_export

    check_export(out)
    with opened(store, username, password, database) as graph:
        written = graph.export_shifts(out, corpora=corpus or ())
    say(f"{counted(written, 'edge')} written to {out}")
