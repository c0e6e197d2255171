"""graphneg load, info, check and export."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.terminal import (
    Corpora,
    Database,
    Limit,
    Password,
    Splits,
    StorePlace,
    Username,
    add_command,
    complain,
    counted,
    opened,
    opened_or_made,
    plain_table,
    require_dialogues,
    results,
    say,
    stopping,
)
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.ingest.loader import LoadReport
    from graphneg.model import Rejected
    from graphneg.store.named_queries import Info


# ``graphneg load``: files of a corpus or resource into the store.


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
    from graphneg.cli.terminal import Bars
    from graphneg.ingest.loader import get_loader

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
    from graphneg.ingest.loader import get_loader, loader_names

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


# ``graphneg info``: what the store is and holds.


KINDS = {
    "Dialogue": "dialogues",
    "Utterance": "utterances",
    "Response": "responses",
    "Amr": "AMR graphs",
    "AmrNode": "AMR nodes",
    "ROLE": "AMR roles",
    "LEXEME": "nodes and frames tied to a term",
    "Term": "terms",
    "OPPOSITE": "opposites",
    "SHIFTS_TO": "keyword shifts",
    "Frame": "frames",
    "Parse": "texts that were parsed",
    "Sentence": "sentences of no dialogue",
    "Variant": "negatives tried",
    "Edit": "edits",
}


def register_info(app: typer.Typer) -> None:
    add_command(app, info, "graphneg info", "graphneg info --json | jq .counts")


def info(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Show what the store is and holds."""
    with opened(store, username, password, database) as graph, stopping("nothing was changed"):
        found = graph.info()
    if json:
        _print_json(found)
    else:
        _print_tables(found)


def _print_json(found: Info) -> None:
    from json import dumps

    corpora = [dict(zip(("corpus", "split", "dialogues"), row, strict=True)) for row in found.corpora]
    content = {"store": found.description, "counts": dict(found.counts), "corpora": corpora}
    typer.echo(dumps(content, ensure_ascii=False, indent=2))


def _print_tables(found: Info) -> None:
    console = results()
    console.print(found.description, style="bold", markup=False, soft_wrap=True)
    console.print()
    corpora = plain_table("corpus", "split", "dialogues")
    corpora.columns[2].justify = "right"
    for corpus, split, dialogues in found.corpora:
        corpora.add_row(corpus, split, f"{dialogues:,}")
    if found.corpora:
        console.print(corpora)
    else:
        console.print("no dialogues yet; graphneg load everyday brings some\n")
    counts = plain_table("content", "label or type", "amount")
    counts.columns[2].justify = "right"
    for kind, words in KINDS.items():
        if found.counts.get(kind):
            counts.add_row(words, f"[dim]{kind}[/]", f"{found.counts[kind]:,}")
    if counts.row_count:
        console.print(counts)


# ``graphneg check``: defects of AMR graphs in PENMAN files.


def register_check(app: typer.Typer) -> None:
    add_command(app, check, "graphneg check graphs.amr", "graphneg check --frames *.amr > defects.txt")


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="PENMAN files.")],
    frames: Annotated[
        bool, typer.Option("--frames", help="Frames must be among those that are loaded in the store.")
    ] = False,
    store: StorePlace = None,
    username: Username = None,
    password: Password = None,
    database: Database = None,
) -> None:
    """Check PENMAN files for malformed graphs.

    Prints one line for each defect, FILE:LINE: ID: CODE: MESSAGE, and ends with 1 where there is
    any. The store is opened for --frames only.
    """
    from graphneg.amr.wellformed import check_file

    with stopping("nothing was changed"):
        inventory = _loaded_frames(store, username, password, database) if frames else None
        defects = unreadable = 0
        for file in files:
            try:
                for one in check_file(file, inventory):
                    typer.echo(f"{one.file}:{one.line}: {one.id}: {one.code}: {one.message}")
                    defects += 1
            except InputError as error:
                complain(str(error))
                unreadable += 1
    say(f"{counted(len(files) - unreadable, 'file')} checked, {counted(defects, 'defect')}")
    if defects or unreadable:
        raise typer.Exit(1)


def _loaded_frames(
    store: str | None, username: str | None, password: str | None, database: str | None
) -> Container[str]:
    with opened(store, username, password, database) as graph:
        found = frozenset(row["id"] for row in graph.cypher("MATCH (f:Frame) RETURN f.id AS id"))
    if not found:
        raise InputError("no frames are in the store: load some first, with graphneg load propbank PATH")
    return found


# ``graphneg export``: what is loaded, written to a file.


ITEMS = {".amr": "graphs", ".penman": "graphs", ".graphml": "dialogues"}


def register_export(app: typer.Typer) -> None:
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
    from graphneg.cli.terminal import Bars

    with (
        opened(store, username, password, database) as graph,
        stopping(f"{out} is written when it is complete; run the command again"),
        Bars() as bars,
    ):
        require_dialogues(graph, corpus or (), split or ())
        count = graph.export(out, corpora=corpus or (), splits=split or (), limit=limit, progress=bars)
    say(f"{out}: {count:,} {ITEMS.get(out.suffix, 'positives and responses')}")
