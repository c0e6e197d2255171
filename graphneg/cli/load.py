"""``graphneg load``: files of a corpus or resource into the store."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.storing import Database, Password, StorePlace, Username, opened_or_made
from graphneg.cli.terminal import add_command, plain_table, results, say, stopping
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.loading.report import LoadReport
    from graphneg.model import Rejected

SHOWN_REJECTIONS = 20


def register(app: typer.Typer) -> None:
    add_command(
        app,
        load,
        "graphneg load everyday",
        "graphneg load dialogues chats.jsonl --name support --split train",
        "graphneg load penman graphs/*.amr --rejected rejected.txt",
        "graphneg load conceptnet conceptnet-assertions-5.7.0.csv.gz",
    )


def load(
    corpus: Annotated[
        str | None, typer.Argument(metavar="CORPUS", help="The loader's name; without it, all are listed.")
    ] = None,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="Files or directories of the corpus.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="First part of the dialogues' ids; else the loader's choice.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Second part of the ids; else what the file's name says.")
    ] = None,
    language: Annotated[str, typer.Option(help="ISO 639-1 code; conceptnet only.")] = "en",
    turns: Annotated[
        int, typer.Option(min=1, help="Turns of a dialogue that is made of graphs without utterances.")
    ] = 8,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all that is refused to FILE, one a line.")
    ] = None,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Load files of a corpus or resource.

    What is in the store already is left as it is, so a load that was stopped is completed by
    running it again. What can't be read is reported with its place, counted and left out.
    """
    if corpus is None:
        _list_loaders()
        return
    from graphneg.cli.bars import Bars
    from graphneg.loading.registry import get_loader

    get_loader(corpus)
    with (
        _rejections(rejected) as listener,
        opened_or_made(store, username, password, database) as graph,
        stopping("what was written is kept; the same command again loads the rest"),
        Bars() as bars,
    ):
        report = graph.load(
            corpus,
            *(paths or ()),
            name=name,
            split=split,
            language=language,
            turns=turns,
            progress=bars,
            on_rejected=listener,
        )
    _tell(report, rejected)
    if not (report.written.total() or report.present.total()):
        raise typer.Exit(1)


def _list_loaders() -> None:
    from graphneg.loading.registry import get_loader, loader_names

    table = plain_table("corpus", "what it reads")
    for name in loader_names():
        table.add_row(f"[bold]{name}[/]", get_loader(name).summary)
    results().print(table)
    results().print("[dim]graphneg load CORPUS PATH...   documented in docs/loaders.md[/]")


@contextmanager
def _rejections(file: Path | None) -> Generator[Callable[[Rejected], None] | None]:
    """Writes each refusal to the file at once, a line each: the place, a tab, the reason."""
    if file is None:
        yield None
        return
    try:
        stream = file.open("w", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: can't be written: {error.strerror}") from error
    with stream:
        yield lambda one: print(one.place, " ".join(one.reason.split()), sep="\t", file=stream)


def _tell(report: LoadReport, file: Path | None) -> None:
    say(f"{report.summary()} ({report.seconds:.1f} s)")
    for one in report.rejected[:SHOWN_REJECTIONS]:
        say(f"  {one.place}: {one.reason}")
    more = report.rejections - SHOWN_REJECTIONS
    if more > 0:
        say(f"  and {more:,} more" + ("" if file else "; --rejected FILE writes all of them"))
    if file is not None:
        say(f"all refusals are in {file}")
