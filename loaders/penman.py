"""Load AMR graphs in PENMAN notation (``penman``).

The metadata ``::id`` and ``::snt`` (sentence) show to which utterance a graph belongs:

    # ::id chats/all/1#0
    # ::snt The boy wants to go.
    (w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))

If the store contains no such utterance, new dialogues are made from the graphs. This module only splits a
file into graphs. Whether a graph is well-formed is checked later, when the graph is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graphneg.amr.penman import iter_blocks, metadata
from graphneg.errors import InputError
from graphneg.ingest.content import ItemError
from graphneg.ingest.loader import LoadOptions, check_format, has_format
from graphneg.ingest.reading import byte_lines, decoded, input_paths
from graphneg.model import GraphText, Record, Rejected
from graphneg.progress import Progress

_SUFFIXES = {".txt", ".amr", ".penman"}
"""Suffixes of the files that are read from a directory."""


class Loader:
    """Loader for files with AMR graphs, or for directories that contain such files (.txt, .amr, .penman)."""

    name = "penman"
    summary = "AMR graphs in PENMAN notation, matched to utterances by ::id or ::snt"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        """Yield the graphs from files, with their ids and texts.

        Raises `InputError` if a file has a different format.

        Args:
            paths: Files or directories.
            options: Options for loading, such as the corpus and split.

        Yields:
            Graphs and rejected items.
        """
        for path in input_paths(paths, self.name):
            if path.is_dir():
                yield from _directory(path, options.progress)
            else:
                yield from check_format(path, self.name, graph_texts(path, options.progress))


def graph_texts(path: Path, progress: Progress) -> Iterator[GraphText | Rejected]:
    """Yield the AMR graphs in a file.

    Args:
        path: The file.
        progress: Progress display; advanced by the number of bytes read.

    Yields:
        The graphs, and a `Rejected` for each graph that contains an unreadable line or repeats an id.
    """
    faults: list[Rejected] = []
    places: dict[str, str] = {}
    for number, block in iter_blocks(_lines(path, progress, faults)):
        place, lines = f"{path}:{number}", block.split("\n")
        graph = "\n".join(line for line in lines if not line.startswith("#")).lstrip()
        keys = metadata([line for line in lines if line.startswith("#")])
        id, text = keys.get("id") or None, keys.get("snt") or None
        # A line of this graph could not be read. Reject the graph, because one of its nodes may be missing.
        if faults:
            yield from faults
            yield Rejected(place, f"graph {id or '(no id)'}: the line at {faults[0].place} can't be read")
            faults.clear()
        elif not graph.startswith("("):
            # If a blank line separates metadata from the graph, the metadata form a separate block, which is
            # rejected.
            is_metadata = block.startswith("#")
            yield Rejected(place, "metadata without a graph" if is_metadata else "not a PENMAN graph")
        elif id is not None and id in places:
            yield Rejected(place, f"the id {id!r} occurs earlier in this file, at {places[id]}")
        else:
            if id is not None:
                places[id] = place
            yield GraphText(block, id, text, place)
    yield from faults


def _lines(path: Path, progress: Progress, faults: list[Rejected]) -> Iterator[str]:
    """Yield the lines of a file. For an unreadable line, add a `Rejected` to ``faults``."""
    for line in byte_lines(path, progress):
        if isinstance(line, Rejected):
            faults.append(line)
            yield ""
            continue
        try:
            yield decoded(line[1])
        except ItemError as reason:
            faults.append(Rejected(f"{path}:{line[0]}", str(reason)))
            yield line[1].decode("utf-8", "replace").rstrip("\r")


def _directory(path: Path, progress: Progress) -> Iterator[GraphText | Rejected]:
    files = [file for file in sorted(path.rglob("*")) if file.suffix.lower() in _SUFFIXES and file.is_file()]
    if not files:
        raise InputError(f"{path} contains no files of AMR graphs ({', '.join(sorted(_SUFFIXES))})")
    for file in files:
        if has_format(file, Loader.name):
            yield from graph_texts(file, progress)
        else:
            yield Rejected(f"{file}:1", "the file does not begin with a graph, so it is skipped")
