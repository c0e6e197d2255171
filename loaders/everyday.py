"""`everyday`: the corpus that comes with graphneg. Dialogues, gold AMR graphs, opposites and frames."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import json_lines, read_text
from graphneg.ingest.validation import DialogueValidator
from graphneg.loaders.dialogues import dialogue
from graphneg.loaders.penman import graph_texts
from graphneg.model import Frame, Opposite, Record


class Loader:
    """The bundled corpus; takes no paths."""

    name = "everyday"
    summary = "the bundled corpus: everyday dialogues with AMR graphs, opposites and frames; takes no path"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Dialogues, graphs, opposites and frames."""
        if paths:
            raise InputError(f"the loader 'everyday' comes with its files and takes no path, not {paths[0]}")
        with as_file(files("graphneg").joinpath("data/everyday")) as folder:
            yield from _corpus(folder, options)


def _corpus(folder: Path, options: LoadOptions) -> Iterator[Record]:
    corpus, progress = options.corpus or Loader.name, options.progress
    items = json_lines(folder / "dialogues.jsonl", progress)
    yield from DialogueValidator().dialogues(
        items, lambda item: dialogue(item.value, options, corpus, "train")
    )
    yield from graph_texts(folder / "graphs.amr", progress)
    yield from map(_opposite, _rows(folder / "opposites.tsv"))
    yield from map(_frame, _rows(folder / "frames.tsv"))


def _opposite(row: Mapping[str, str]) -> Opposite:
    return Opposite(row["start"], row["end"], row["relation"], 1.0, Loader.name)


def _frame(row: Mapping[str, str]) -> Frame:
    roles, descriptions = row["roles"].split(","), row["descriptions"].split("|")
    return Frame(row["id"], row["lemma"], tuple(filter(None, roles)), tuple(filter(None, descriptions)))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    return csv.DictReader(read_text(path).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
