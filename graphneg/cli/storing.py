"""The options that say which store, and opening it."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphneg.cli.terminal import messages
from graphneg.errors import InputError

if TYPE_CHECKING:
    from graphneg.dialogue_graph import DialogueGraph

PANEL = "Store"

StorePlace = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH_OR_URI",
        help="A directory (embedded) or a Neo4j URI; else $NEO4J_URI, else ./graphneg-store.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Username = Annotated[
    str | None,
    typer.Option("--username", help="Neo4j user; else $NEO4J_USERNAME.", rich_help_panel=PANEL),
]
Password = Annotated[
    str | None,
    typer.Option(
        "--password", help="Better left to $NEO4J_PASSWORD, which no list shows.", rich_help_panel=PANEL
    ),
]
Database = Annotated[
    str | None,
    typer.Option("--database", help="Neo4j database; else $NEO4J_DATABASE.", rich_help_panel=PANEL),
]


@contextmanager
def opened(
    store: str | None, username: str | None, password: str | None, database: str | None
) -> Generator[DialogueGraph]:
    """The dialogue graph that the options name, open, where there is one to look into.

    Raises:
        InputError: there is no such directory; opening it would make an empty store.
    """
    if not exists(store):
        raise InputError(
            f"there is no store at {place(store)}: graphneg load CORPUS makes one, --store names another"
        )
    with opened_or_made(store, username, password, database) as graph:
        yield graph


@contextmanager
def opened_or_made(
    store: str | None, username: str | None, password: str | None, database: str | None
) -> Generator[DialogueGraph]:
    """The dialogue graph that the options name, open; says so while its server starts."""
    with messages().status(f"opening {place(store)}"):
        import graphneg

        graph = graphneg.open(store, username=username, password=password, database=database)
    with graph:
        yield graph


def place(store: str | None) -> str:
    """The store that the options mean, as it was named."""
    from graphneg.store.opening import DEFAULT_DIRECTORY

    return store or os.environ.get("NEO4J_URI") or f"./{DEFAULT_DIRECTORY}"


def exists(store: str | None) -> bool:
    """Whether there is a store, or a directory that can be one."""
    where = place(store)
    return "://" in where or Path(where).expanduser().exists()


def require_dialogues(graph: DialogueGraph, corpora: Sequence[str], splits: Sequence[str]) -> None:
    """A result without anything in it would say that nothing came of dialogues, where there are none.

    Raises:
        InputError: the store has no dialogues of these corpora and splits.
    """
    if not _dialogues(graph, corpora, splits):
        raise InputError(
            f"no dialogues{_chosen(corpora, splits)} are in the {graph.store.description}: "
            "graphneg info lists what is, graphneg load brings more"
        )


def require_graphs(graph: DialogueGraph, corpora: Sequence[str], splits: Sequence[str]) -> None:
    """Check that there are dialogues with AMR graphs, of which a limited number is asked for.

    Raises:
        InputError: the store has none of these corpora and splits.
    """
    if not _dialogues(graph, corpora, splits, with_graphs=True):
        raise InputError(
            f"no dialogues{_chosen(corpora, splits)} with AMR graphs are in the {graph.store.description}: "
            "graphneg parse makes graphs"
        )


def _dialogues(
    graph: DialogueGraph, corpora: Sequence[str], splits: Sequence[str], with_graphs: bool = False
) -> int:
    from graphneg.editing.originals import Selection, count_dialogues

    selection = Selection(tuple(corpora), tuple(splits), with_graphs=with_graphs)
    return count_dialogues(graph.store, selection)


def _chosen(corpora: Sequence[str], splits: Sequence[str]) -> str:
    return " of " + ", ".join([*corpora, *splits]) if corpora or splits else ""
