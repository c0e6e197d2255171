"""What a Cypher query returns: rows, and the same as a data frame or a networkx graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from neo4j import EagerResult
from neo4j.graph import Node, Path, Relationship

if TYPE_CHECKING:
    import networkx
    import pandas


class Rows(Sequence[dict[str, Any]]):
    """The rows of a query, each a dict by column. Nodes and relationships are the driver's objects."""

    def __init__(self, result: EagerResult) -> None:
        self.columns: list[str] = list(result.keys)
        self.summary = result.summary
        self._rows = [{key: record[key] for key in self.columns} for record in result.records]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with the query's columns; nodes and relationships become dicts of properties."""
        import pandas

        rows = [[plain(row[column]) for column in self.columns] for row in self._rows]
        return pandas.DataFrame(rows, columns=self.columns)

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """The nodes and relationships that the rows hold, as a graph.

        A node is keyed by its ``id`` or ``text``, with ``labels`` and its properties; an edge's
        key is the relationship's type, with its properties.
        """
        import networkx

        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
        for row in self._rows:
            for value in row.values():
                _add(graph, value)
        return graph


def plain(value: Any) -> Any:
    """A value without the driver's classes: what JSON and data frames hold."""
    if isinstance(value, Node):
        return {"labels": sorted(value.labels), **dict(value.items())}
    if isinstance(value, Relationship):
        return {"type": value.type, **dict(value.items())}
    if isinstance(value, Path):
        return [
            plain(part)
            for pair in zip(value.nodes, (*value.relationships, None), strict=True)
            for part in pair
            if part
        ]
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return value


def _add(graph: networkx.MultiDiGraph[str], value: Any) -> None:
    if isinstance(value, Node):
        graph.add_node(_key(value), labels=sorted(value.labels), **dict(value.items()))
    elif isinstance(value, Relationship):
        ends = [node for node in (value.start_node, value.end_node) if node is not None]
        for node in ends:
            if _key(node) not in graph:
                _add(graph, node)
        graph.add_edge(*map(_key, ends), key=value.type, **dict(value.items()))
    elif isinstance(value, Path):
        for part in (*value.nodes, *value.relationships):
            _add(graph, part)
    elif isinstance(value, list | tuple):
        for part in value:
            _add(graph, part)


def _key(node: Node) -> str:
    """``id`` or ``text``, else the server's own number, which means nothing outside this result."""
    return str(node.get("id") or node.get("text") or node.element_id)
