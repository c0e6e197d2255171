"""Load the corpus that ships with graphneg (``everyday``).

The corpus contains everyday dialogues with gold AMR graphs, and the pairs of opposites and frames that
transforms need. Use it for examples and first experiments.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest.content import read_text
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import Item, json_lines
from graphneg.ingest.validation import IdSet, named, valid_dialogues
from graphneg.loaders.dialogues import dialogue
from graphneg.loaders.penman import graph_texts
from graphneg.model import Dialogue, Frame, Opposite, Record


class Loader:
    """Loader for the bundled corpus. It accepts no paths."""

    name = "everyday"
    summary = "the bundled corpus: everyday dialogues with AMR graphs, opposites and frames; takes no path"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the dialogues, graphs, pairs of opposites and frames of the corpus.

        Args:
            paths: Must be empty.
            options: Options for loading, such as the corpus and split.

        Yields:
            The records.

        Raises:
            InputError: A path was given.
        """
        if paths:
            raise InputError(
                f"the loader 'everyday' reads bundled files and takes no path: remove {paths[0]}"
            )
        with as_file(files("graphneg").joinpath("data/everyday")) as folder:
            yield from _corpus(folder, options)


def _corpus(folder: Path, options: LoadOptions) -> Iterator[Record]:
    def make(item: Item) -> Dialogue:
        return named(dialogue(item.value), options, Loader.name, "train")

    yield from valid_dialogues(json_lines(folder / "dialogues.jsonl", options.progress), make, IdSet())
    yield from graph_texts(folder / "graphs.amr", options.progress)
    for row in _rows(folder / "opposites.tsv"):
        yield Opposite(row["start"], row["end"], row["relation"], 1.0, Loader.name)
    for row in _rows(folder / "frames.tsv"):
        roles, descriptions = row["roles"].split(","), row["descriptions"].split("|")
        yield Frame(row["id"], row["lemma"], tuple(filter(None, roles)), tuple(filter(None, descriptions)))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    # In the tables of the bundled corpus, quotation marks are ordinary characters.
    return csv.DictReader(read_text(path).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
