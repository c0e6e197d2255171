"""``graphneg export``: what is loaded, written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphneg.cli.choosing import Corpora, Limit, Splits
from graphneg.cli.storing import Database, Password, StorePlace, Username, opened, require_dialogues
from graphneg.cli.terminal import add_command, say, stopping

ITEMS = {".amr": "graphs", ".penman": "graphs", ".graphml": "dialogues"}


def register(app: typer.Typer) -> None:
    add_command(
        app,
        export,
        "graphneg export positives.jsonl",
        "graphneg export graphs.amr --corpus everyday --split train",
    )


def export(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="File ending .jsonl, .parquet, .amr, .penman or .graphml.")
    ],
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Write what is loaded to a file, in the form that its suffix names.

    .jsonl and .parquet hold dialogues as positives, and their responses, in the shape of
    negatives; .amr and .penman hold AMR graphs, exactly as they were loaded; .graphml holds the
    dialogues and their AMR graphs as one graph.
    """
    from graphneg.cli.bars import Bars

    with (
        opened(store, username, password, database) as graph,
        stopping(f"{out} is written when it is complete; run the command again"),
        Bars() as bars,
    ):
        require_dialogues(graph, corpus or (), split or ())
        count = graph.export(out, corpora=corpus or (), splits=split or (), limit=limit, progress=bars)
    say(f"{out}: {count:,} {ITEMS.get(out.suffix, 'positives and responses')}")
