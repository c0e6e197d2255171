"""`everyday`: the corpus that comes with graphneg. Dialogues, gold AMR graphs, opposites and frames."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path

from graphneg.errors import InputError
from graphneg.ingest.loader import LoadOptions
from graphneg.ingest.reading import json_lines, text_lines
from graphneg.ingest.validation import DialogueValidator
from graphneg.loaders.dialogues import dialogue
from graphneg.loaders.penman import graph_texts
from graphneg.model import Frame, Opposite, Record, Rejected
from graphneg.progress import Progress


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
    yield from _table(folder / "opposites.tsv", ("start", "end", "relation"), _opposite, progress)
    yield from _table(folder / "frames.tsv", ("id", "lemma", "roles", "descriptions"), _frame, progress)


def _opposite(row: Mapping[str, str]) -> Opposite:
    return Opposite(row["start"], row["end"], row["relation"], 1.0, Loader.name)


def _frame(row: Mapping[str, str]) -> Frame:
    roles, descriptions = row["roles"].split(","), row["descriptions"].split("|")
    return Frame(row["id"], row["lemma"], tuple(filter(None, roles)), tuple(filter(None, descriptions)))


def _table(
    path: Path, columns: tuple[str, ...], make: Callable[[Mapping[str, str]], Record], progress: Progress
) -> Iterator[Record]:
    """A record for each row of a table with tabs, whose header names at least ``columns``."""
    header: list[str] = []
    for line in text_lines(path, progress):
        if isinstance(line, Rejected):
            yield line
            continue
        cells = [cell.strip() for cell in line.text.split("\t")]
        if not header:
            header = cells
            missing = [name for name in columns if name not in header]
            if missing:
                raise InputError(f"{path}:1: the header lacks {', '.join(missing)}")
        elif len(cells) == len(header):
            yield make(dict(zip(header, cells, strict=True)))
        elif line.text.strip():
            yield Rejected(f"{path}:{line.number}", f"{len(cells)} cells where the header has {len(header)}")
