"""``graphneg info``: what the store is and holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.storing import Database, Password, StorePlace, Username, opened
from graphneg.cli.terminal import add_command, plain_table, results, stopping

if TYPE_CHECKING:
    from graphneg.dialogue_graph import Info

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


def register(app: typer.Typer) -> None:
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
