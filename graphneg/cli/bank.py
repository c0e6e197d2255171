"""``graphneg bank``: responses that a poly-encoder has read, to be searched by ``graphneg rank``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.choosing import Corpora, Limit, Splits
from graphneg.cli.storing import Database, Password, StorePlace, Username, opened, require_dialogues
from graphneg.cli.terminal import add_job, counted, say, stopping

if TYPE_CHECKING:
    from graphneg.progress import Progress
    from graphneg.rankers.response_bank import ResponseBank


class Index(StrEnum):
    """How the nearest are found."""

    flat = "flat"
    ivf = "ivf"
    hnsw = "hnsw"


def register(app: typer.Typer) -> None:
    add_job(
        app,
        bank,
        "graphneg bank --model ranker -o bank --corpus everyday --split train",
        "graphneg bank responses.txt negatives.jsonl --model ranker -o bank --index hnsw",
        "graphneg rank --model ranker --bank bank --context context.txt",
    )


def bank(
    model: Annotated[str, typer.Option(metavar="PATH_OR_ID", help="A trained poly-encoder.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the bank goes.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="In place of a store: text files, a response a line, and negatives (.jsonl, .parquet), "
            "of which the right responses are taken.",
        ),
    ] = None,
    index: Annotated[
        Index, typer.Option(help="flat is exact; ivf and hnsw are quicker where there are millions.")
    ] = Index.flat,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a bank that is in the folder.")
    ] = False,
    batch: Annotated[int, typer.Option(min=1, help="Responses that are read at once.")] = 64,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda; else the best there is.", show_default=False)
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing from a model hub.")] = False,
    corpus: Corpora = None,
    split: Splits = None,
    limit: Limit = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Make a bank of responses, read once by a poly-encoder and searched by graphneg rank.

    Without files they are those of a store: the turns that answer one, and right responses. Each
    text counts once. Stopped, the same command goes on where it was and ends with the same bytes.
    """
    from graphneg.editing.originals import Selection
    from graphneg.rankers.bank_sources import read_responses, stored_responses
    from graphneg.rankers.poly_encoder import PolyEncoder
    from graphneg.rankers.response_bank import build_bank

    if files and (corpus or split or limit):
        raise typer.BadParameter("--corpus, --split and --limit choose from a store, not from files")
    ranker = PolyEncoder.from_pretrained(model, batch=batch, device=device, offline=offline)
    made = partial(build_bank, ranker, folder=out, index=index.value, overwrite=overwrite)
    if files:
        _build(made, out, lambda _: read_responses(files))
        return
    selection = Selection(tuple(corpus or ()), tuple(split or ()), limit)
    with opened(store, username, password, database) as graph:
        require_dialogues(graph, corpus or (), split or ())
        _build(made, out, partial(stored_responses, graph.store, selection))


def _build(
    make: Callable[..., ResponseBank], out: Path, responses: Callable[[Progress], Iterable[str]]
) -> None:
    from graphneg.cli.bars import Bars

    with stopping(f"{out} keeps what was read; the same command goes on from there"), Bars() as bars:
        made = make(responses=responses(bars), progress=bars)
    say(f"{out}: {counted(len(made), 'response')}")
