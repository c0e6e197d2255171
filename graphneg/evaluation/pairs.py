"""Two PENMAN files as pairs of graphs: by their ids where both have them, else by their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphneg.decoders.t5.serialise import one_line
from graphneg.errors import InputError, PenmanError
from graphneg.penman_codec import iter_blocks, metadata, parse_graph


@dataclass(frozen=True, slots=True)
class FileGraph:
    """A graph of a file, on one line; ``penman`` is None, with the reason, where it can't be read."""

    place: str
    id: str | None
    penman: str | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Gold graphs, each with the graph predicted for it; ``by`` is ``id`` or ``order``."""

    pairs: Sequence[tuple[FileGraph, FileGraph]]
    by: str


def read_graphs(path: str | Path) -> list[FileGraph]:
    """The graphs of a PENMAN file, in order, those that can't be read among them.

    Raises:
        InputError: the file can't be read, is not UTF-8, or holds no graph.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; PENMAN files are UTF-8 text") from error
    graphs = [_graph(path, line, block) for line, block in iter_blocks(text)]
    if not graphs:
        raise InputError(f"{path}: there is no PENMAN graph in this file")
    return graphs


def paired(gold: str | Path, predicted: str | Path) -> Pairing:
    """The graphs of two files in pairs.

    They are paired by id where every graph has one of its own and both files have the same;
    by order where they have none in common, and are as many.

    Raises:
        InputError: a file can't be read, or the files do not fit each other.
    """
    left, right = read_graphs(gold), read_graphs(predicted)
    left_ids, right_ids = _ids(left), _ids(right)
    if left_ids and right_ids and left_ids.keys() & right_ids.keys():
        for ids, others, has, lacks in (
            (left_ids, right_ids, gold, predicted),
            (right_ids, left_ids, predicted, gold),
        ):
            missing = [id for id in ids if id not in others]
            if missing:
                raise InputError(
                    f"{lacks}: {len(missing):,} of {len(ids):,} ids of {has} are not in it, "
                    f"{missing[0]!r} first: both files must hold graphs of the same sentences"
                )
        return Pairing([(graph, right_ids[id]) for id, graph in left_ids.items()], "id")
    if len(left) != len(right):
        raise InputError(
            f"{gold} has {len(left):,} graphs and {predicted} {len(right):,}: without ids in common "
            "graphs are paired by their order, and there must be as many"
        )
    return Pairing(list(zip(left, right, strict=True)), "order")


def _graph(path: str | Path, line: int, block: str) -> FileGraph:
    keys = metadata([one for one in block.splitlines() if one.startswith("#")])
    id = keys.get("id", "").split(" ")[0] or None
    try:
        return FileGraph(f"{path}:{line}", id, one_line(parse_graph(block, first_line=line)))
    except PenmanError as error:
        return FileGraph(f"{path}:{error.line}", id, None, str(error))


def _ids(graphs: Sequence[FileGraph]) -> dict[str, FileGraph]:
    """The graphs by id; none where a graph has no id of its own."""
    found = {graph.id: graph for graph in graphs if graph.id is not None}
    return found if len(found) == len(graphs) else {}
