"""The shift graph as others read it: neighbours, networkx, GraphML, Parquet, JSON Lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphneg.errors import InputError
from graphneg.output.destination import replace
from graphneg.store import Store, cypher_text

if TYPE_CHECKING:
    import networkx

SUFFIXES = (".graphml", ".parquet", ".jsonl")
Edge = tuple[str, str, int]


def neighbours(store: Store, foci: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """What replies move to from each focus, with counts: the highest first, then in the order of texts.

    A focus that is not in the graph has none.
    """
    found: dict[str, list[tuple[str, int]]] = {focus: [] for focus in foci}
    for row in store.read(cypher_text("shift/neighbours"), foci=list(found)):
        found[row["focus"]] = _ranked([(text, count) for text, count in row["neighbours"]])
    return found


def read_edges(store: Store, corpora: Sequence[str] = ()) -> list[Edge]:
    """The edges (focus, perspective, count), sorted; of some corpora, or of all that is in the store.

    Raises:
        InputError: there are none.
    """
    edges = sorted(_edges_of(store, corpora) if corpora else _edges(store))
    if not edges:
        of = f" of {', '.join(corpora)}" if corpora else ""
        raise InputError(f"there is no shift graph{of} in the {store.description}: graphneg shift build")
    return edges


def shift_graph(store: Store, corpora: Sequence[str] = ()) -> networkx.DiGraph[str]:
    """The graph: keywords as nodes, ``count`` on its edges.

    Raises:
        InputError: there is none.
    """
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    edges = read_edges(store, corpora)
    graph.add_nodes_from(sorted({end for edge in edges for end in edge[:2]}))
    graph.add_weighted_edges_from(edges, weight="count")
    return graph


def export_shifts(store: Store, out: Path, corpora: Sequence[str] = ()) -> int:
    """Write the shift graph in the form that the suffix names; returns the number of its edges.

    ``.graphml`` has keywords as nodes and ``count`` on edges; ``.parquet`` and ``.jsonl`` have one edge a
    row: ``focus``, ``perspective``, ``count``. The file is there when it is complete.

    Raises:
        InputError: another suffix, no such folder, the file can't be written, or there is no graph.
    """
    check_export(out)
    edges = read_edges(store, corpora)
    unfinished = out.with_name(f".{out.name}.tmp")
    try:
        _write(unfinished, out.suffix, edges)
        replace(unfinished, out)
    except OSError as error:
        raise InputError(f"{out}: can't be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return len(edges)


def check_export(out: Path) -> None:
    """Raises `InputError` where nothing can be exported to that place."""
    if out.suffix not in SUFFIXES:
        raise InputError(f"{out}: the suffix must be one of {', '.join(SUFFIXES)}")
    if not out.absolute().parent.is_dir():
        raise InputError(f"{out}: the folder {out.absolute().parent} is not there; make it first")


def _edges(store: Store) -> Iterator[Edge]:
    for row in store.stream(cypher_text("shift/edges")):
        for text, count in row["neighbours"]:
            yield row["focus"], text, count


def _edges_of(store: Store, corpora: Sequence[str]) -> Iterator[Edge]:
    counts = Counter[tuple[str, str]]()
    for query in ("shift/edges_by_utterances", "shift/edges_by_responses"):
        for row in store.stream(cypher_text(query), corpora=list(corpora)):
            counts[row["focus"], row["perspective"]] += row["count"]
    for (focus, perspective), count in counts.items():
        yield focus, perspective, count


def _ranked(found: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Servers sort texts beyond ASCII by rules of their own."""
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _write(out: Path, suffix: str, edges: Sequence[Edge]) -> None:
    if suffix == ".graphml":
        _write_graphml(out, edges)
    elif suffix == ".parquet":
        _write_parquet(out, edges)
    else:
        with out.open("w", encoding="utf-8") as lines:
            for focus, perspective, count in edges:
                row = {"focus": focus, "perspective": perspective, "count": count}
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_graphml(out: Path, edges: Sequence[Edge]) -> None:
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph()
    graph.add_weighted_edges_from(edges, weight="count")
    networkx.write_graphml(graph, out)


def _write_parquet(out: Path, edges: Sequence[Edge]) -> None:
    import pyarrow
    from pyarrow import parquet

    names = ("focus", "perspective", "count")
    columns = [pyarrow.array([edge[at] for edge in edges]) for at in range(3)]
    parquet.write_table(pyarrow.table(columns, names=list(names)), out)
