"""Graph-made responses as the commands of contradictions read them: ``--made`` and ``--embedder``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from graphneg.contradiction.labelled import Labelled

EmbedderOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH_OR_ID",
        help="An encoder of sentences: what --made contradicts is said as other speakers say it.",
    ),
]


def made_responses(
    paths: Sequence[Path] | None, embedder: str | None, *, seed: int, offline: bool
) -> list[Labelled]:
    """Responses made of files of negatives; none where no file is given.

    Raises:
        InputError: a file can't be read, is none of negatives, or there is no contradiction in them.
        ModelError: there is no such embedder.
    """
    from graphneg.contradiction.graph_made import read_made
    from graphneg.embedding import get_embedder
    from graphneg.embedding.base import is_static

    if not paths:
        return []
    options = {} if embedder is None or is_static(embedder) else {"offline": offline}
    return read_made(
        paths, seed=seed, embedder=None if embedder is None else get_embedder(embedder, **options)
    )
