"""What users ask a store: the rows of a query, the named queries with their parameters, what the store holds.

In: a query's result; or the name of a query (a file of ``cypher/explore/``) and the values of its parameters.
Out: `Rows`, also as a data frame or a networkx graph; or an error that names what is spelled alike.

A file ``NAME.cypher`` opens with comment lines: ``// NAME: what it finds``, one line for each parameter,
``// $limit (20): rows at most``, and ``// Columns:`` with what the columns hold. The value in brackets is the
parameter's default, as JSON; a parameter without one must be given. A line may go on in the next, indented.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any

from neo4j import EagerResult
from neo4j.graph import Node, Path, Relationship

from graphneg.errors import InputError
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text, read_header
from graphneg.store.stopping import Cancellation

if TYPE_CHECKING:
    import networkx
    import pandas


FOLDER = "explore"
NEAR = 5
PREFIX = 3
MOST_FORMS = 50
_PARAMETER = re.compile(r"^\$(\w+)(?: \((.*?)\))?: (.*)$")
_TOPICS = ("focus", "perspective", "start", "end")
_FRAME = "frame"
_TOO_DEEP = "a list or map of the result is too deep to be shown: return a part of it"


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter of a named query: what it means, and its default where it has one.

    Where the default is a number, the parameter is a whole number from 0; else it is a text.
    """

    name: str
    meaning: str
    required: bool
    default: str | int | None = None

    @property
    def is_text(self) -> bool:
        """Whether it is a text, not a number."""
        return not isinstance(self.default, int)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query of ``cypher/explore/``: ``summary`` and ``columns`` document it, ``text`` is the whole file."""

    name: str
    summary: str
    parameters: tuple[QueryParameter, ...]
    columns: str
    text: str

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The value of each parameter: the one that is given, else its default.

        Raises `InputError`: one that is required is missing, the query has none of a given name, or a value
        is not of its kind.
        """
        known = [parameter.name for parameter in self.parameters]
        for name in given:
            if name not in known:
                raise InputError(
                    f"the query {self.name} has no parameter {name!r}; it takes: {', '.join(known)}"
                )
        values: dict[str, Any] = {}
        for parameter in self.parameters:
            name = parameter.name
            if parameter.required and name not in given:
                raise InputError(f"the query {self.name} needs the parameter {name!r}: {parameter.meaning}")
            value = values[name] = given.get(name, parameter.default)
            if parameter.is_text:
                fits, kind = isinstance(value, str) or (value is None and not parameter.required), "a text"
            else:
                kind = "a whole number, 0 or more"
                fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
            if name in given and not fits:
                raise InputError(f"{name!r} of the query {self.name} is {kind}, not {value!r}")
        return values


@cache
def named_queries() -> Mapping[str, NamedQuery]:
    """The named queries, in alphabetical order."""
    folder = resources.files("graphneg.cypher").joinpath(FOLDER)
    files = [file.name for file in folder.iterdir() if file.name.endswith(".cypher")]
    names = sorted(file.removesuffix(".cypher") for file in files)
    return {name: parse_query(name, cypher_text(f"{FOLDER}/{name}")) for name in names}


def named_query(name: str) -> NamedQuery:
    """The query of that name; ``-`` may be written for ``_``.

    Raises `InputError`: there is none; the message names those that are spelled alike.
    """
    known = named_queries()
    spelled = name.replace("-", "_")
    if spelled not in known:
        near = get_close_matches(spelled, known, NEAR, 0.5)
        raise InputError(
            f"no named query is called {name!r}; {_meant(near) or 'there are: ' + ', '.join(known)}"
        )
    return known[spelled]


def parse_query(name: str, text: str) -> NamedQuery:
    """Read the header of a named query.

    Raises `InputError`: it does not open with ``// NAME:``, has no ``// Columns:``, or a default is not JSON.
    """
    header = read_header(name, text)
    if header is None:
        raise InputError(f"{name}.cypher: the first line must be '// {name}: what it finds'")
    summary, lines = header
    columns = [line.removeprefix("Columns: ") for line in lines if line.startswith("Columns: ")]
    if len(columns) != 1:
        raise InputError(f"{name}.cypher: one line of the header must be '// Columns: ' and what they hold")
    parameters: list[QueryParameter] = []
    for match in filter(None, map(_PARAMETER.match, lines)):
        key, default, meaning = match.groups()
        try:
            value = None if default is None else json.loads(default)
        except json.JSONDecodeError as error:
            raise InputError(f"{name}.cypher: the default of ${key} is not JSON: {default}") from error
        parameters.append(QueryParameter(key, meaning, default is None, value))
    return NamedQuery(name, summary, tuple(parameters), columns[0], text)


def explore(
    store: Store,
    name: str,
    parameters: Mapping[str, Any],
    *,
    seconds: float | None = None,
    cancellation: Cancellation | None = None,
) -> Rows:
    """Return the rows of a named query.

    ``seconds`` and ``cancellation`` are those of `Store.query_read`.

    Raises:
        InputError: no such query, a parameter is missing or unknown, or there are no rows because a
            topic is not in the shift graph, or a frame does not exist; then the message names what may be
            meant.
        StoreError: the store is gone, or a value is not of the kind that the query takes.
    """
    query = named_query(name)
    values = query.values(parameters)
    rows = Rows(store.query_read(query.text, values, seconds=seconds, cancellation=cancellation))
    topics = [value for key, value in values.items() if key in _TOPICS and isinstance(value, str)]
    if topics and not rows:
        known = {row["topic"] for row in store.read(cypher_text("read/topics"), texts=topics)}
        for topic in topics:
            if topic not in known:
                advice = "graphneg shift build makes it, graphneg cypher --named hubs lists topics"
                meant = _meant(near_topics(store, topic)) or advice
                raise InputError(f"{topic!r} is not in the shift graph: {meant}")
    frame = values.get(_FRAME)
    if not rows and isinstance(frame, str) and not frame_exists(store, frame):
        advice = _meant(_near_frames(frame)) or "graphneg load propbank PATH loads more than graphneg brings"
        raise InputError(f"{frame!r} is no frame of PropBank, nor one that is loaded: {advice}")
    return rows


def frame_exists(store: Store, frame: str) -> bool:
    """Whether a frame is one of PropBank as it comes with graphneg, or is loaded."""
    from graphneg.english.propbank import load_frames

    return frame in load_frames().frames or bool(store.read(cypher_text("read/frame"), id=frame))


def _near_frames(frame: str) -> list[str]:
    """Frames of the same word, the first ones."""
    from graphneg.english.propbank import load_frames

    lemma = re.sub(r"-\d+$", "", frame)
    return sorted(known for known in load_frames().frames if known.rpartition("-")[0] == lemma)[:NEAR]


def near_topics(store: Store, text: str) -> list[str]:
    """Up to five topics of the shift graph that may be meant: those of which the text is a form (*paid*, of
    *pay*), then those that are spelled alike, the most similar first."""
    from graphneg.english.words import lemmas

    words = text.lower().split()
    topic = " ".join(words)
    forms = [" ".join(form) for form in islice(product(*map(sorted, map(lemmas, words))), MOST_FORMS)]
    rows = store.read(cypher_text("read/near_topics"), text=topic, prefix=topic[:PREFIX], lemmas=forms)
    found = sorted(row["topic"] for row in rows)
    alike = get_close_matches(topic, found, NEAR)
    return list(dict.fromkeys([*(form for form in forms if form in found), *alike]))[:NEAR]


def _meant(near: list[str]) -> str:
    return f"did you mean {' or '.join(near)}?" if near else ""


@dataclass(frozen=True, slots=True)
class Info:
    """What a store is and holds: ``counts`` by label or relationship type, ``corpora`` as
    (corpus, split, dialogues)."""

    description: str
    counts: Mapping[str, int]
    corpora: Sequence[tuple[str, str, int]]


def info_of(store: Store) -> Info:
    """Counted in the store.

    Raises `StoreError`: the store is gone.
    """
    counts = {row["kind"]: row["amount"] for row in store.read(cypher_text("read/info"))}
    corpora = [(r["corpus"], r["split"], r["dialogues"]) for r in store.read(cypher_text("read/corpora"))]
    return Info(store.description, counts, corpora)


class Rows(list[dict[str, Any]]):
    """The rows of a query, each a dict by column. Nodes and relationships are the driver's objects."""

    def __init__(self, result: EagerResult) -> None:
        self.columns: list[str] = list(result.keys)
        self.summary = result.summary
        super().__init__({key: record[key] for key in self.columns} for record in result.records)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with the query's columns; nodes and relationships become dicts of properties."""
        import pandas

        rows = [[plain(row[column]) for column in self.columns] for row in self]
        return pandas.DataFrame(rows, columns=self.columns)

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """The nodes and relationships that the rows hold, as a graph.

        A node is keyed by its ``id`` or ``text``, with ``labels`` and its properties; an edge's
        key is the relationship's type, with its properties.
        """
        import networkx

        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
        for row in self:
            for value in row.values():
                _add(graph, value)
        return graph


def plain(value: Any) -> Any:
    """A value without the driver's classes: what JSON and data frames hold.

    Raises `InputError`: lists or maps of it are too deep.
    """
    try:
        return _plain(value)
    except RecursionError as error:
        raise InputError(_TOO_DEEP) from error


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        return {"labels": sorted(value.labels), **dict(value.items())}
    if isinstance(value, Relationship):
        return {"type": value.type, **dict(value.items())}
    if isinstance(value, Path):
        pairs = zip(value.nodes, (*value.relationships, None), strict=True)
        return [_plain(part) for part in chain.from_iterable(pairs) if part]
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value


def shown(value: Any) -> str:
    """A value as a text: texts as they are, the rest as JSON.

    Raises `InputError`: lists or maps of it are too deep.
    """
    bare = plain(value)
    if isinstance(bare, str):
        return bare
    try:
        return json.dumps(bare, ensure_ascii=False, default=str)
    except RecursionError as error:
        raise InputError(_TOO_DEEP) from error


def _add(graph: networkx.MultiDiGraph[str], value: Any) -> None:
    if isinstance(value, Node):
        graph.add_node(_key(value), labels=sorted(value.labels), **dict(value.items()))
    elif isinstance(value, Relationship):
        ends = [node for node in (value.start_node, value.end_node) if node is not None]
        for node in ends:
            if _key(node) not in graph:
                _add(graph, node)
        graph.add_edge(*map(_key, ends), key=value.type, **dict(value.items()))
    elif isinstance(value, Path | list | tuple):
        for part in (*value.nodes, *value.relationships) if isinstance(value, Path) else value:
            _add(graph, part)


def _key(node: Node) -> str:
    """``id`` or ``text``, else the server's own number, which means nothing outside this result."""
    return str(node.get("id") or node.get("text") or node.element_id)
