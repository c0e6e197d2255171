"""``graphneg shift``: the shift graph, its commands under one name."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from graphneg.cli import shift_show, shift_substitutes
from graphneg.cli.choosing import Corpora, Splits
from graphneg.cli.storing import Database, Password, StorePlace, Username, opened
from graphneg.cli.terminal import add_command, counted, examples, messages, note, say, stopping

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


def register(parent: typer.Typer) -> None:
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
    shift_show.register(app)
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
    from graphneg.cli.bars import Bars
    from graphneg.embedding import get_embedder
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
