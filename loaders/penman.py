"""`penman`: AMR graphs in PENMAN notation, for utterances that a store holds or for new ones.

A graph's ``::id`` and ``::snt`` say which utterance it belongs to. Whether a graph is well
formed is checked when it is stored; here a file is only cut into its graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graphneg.errors import InputError
from graphneg.loading.reading import input_files, text_lines
from graphneg.loading.recognition import checked
from graphneg.loading.registry import LoadOptions
from graphneg.model import GraphText, Record, Rejected
from graphneg.penman_codec import iter_blocks, metadata
from graphneg.progress import Progress

_SUFFIXES = {".txt", ".amr", ".penman"}


class Loader:
    """Files of AMR graphs, or directories of them (.txt, .amr, .penman)."""

    name = "penman"
    summary = "AMR graphs in PENMAN notation, matched to utterances by ::id or ::snt"

    def read(self, paths: Sequence[Path], options: LoadOptions) -> Iterator[Record]:
        found = [file for path in paths for file in _graph_files(path)]
        for path in input_files(found, self.name):
            yield from checked(path, self.name, graph_texts(path, options.progress))


def graph_texts(path: Path, progress: Progress) -> Iterator[GraphText | Rejected]:
    """The graphs of a file; one that a line which can't be read falls into is rejected."""
    faults: list[Rejected] = []
    places: dict[str, str] = {}
    for number, block in iter_blocks(_lines(path, progress, faults)):
        place = f"{path}:{number}"
        found = metadata([line for line in block.split("\n") if line.startswith("#")])
        id, text = found.get("id") or None, found.get("snt") or None
        if faults:
            yield from faults
            yield Rejected(place, f"graph {id or '(no id)'}: the line at {faults[0].place} can't be read")
            faults.clear()
        elif id is not None and id in places:
            yield Rejected(place, f"the id {id!r} came before in this file, at {places[id]}")
        else:
            if id is not None:
                places[id] = place
            yield GraphText(block, id, text, place)
    yield from faults


def _lines(path: Path, progress: Progress, faults: list[Rejected]) -> Iterator[str]:
    """The lines of a file; one that can't be read is noted in ``faults`` and stands as a broken line."""
    for line in text_lines(path, progress):
        if isinstance(line, Rejected):
            faults.append(line)
            yield "?"
        else:
            yield line.text


def _graph_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [file for file in sorted(path.rglob("*")) if file.suffix.lower() in _SUFFIXES and file.is_file()]
    if not found:
        raise InputError(f"{path} has no files of AMR graphs in it ({', '.join(sorted(_SUFFIXES))})")
    return found
