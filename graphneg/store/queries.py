"""Run the named queries in ``cypher/explore/``, and convert the rows that a query returns.

`explore` runs a named query with its parameters and returns `Rows`, which can be converted into a data frame
or a networkx graph. If a topic or a PropBank frame is unknown, the error message suggests similar ones.
`info_of` counts the nodes, relationships and dialogues of a store.

The file of a named query begins with comment lines, such as::

    // hubs: topics with the most shifts
    // $limit (20): maximum number of rows
    // Columns: topic, shifts

The first line contains the name and a summary. Then there is a line for each parameter. The value in
parentheses is its default, written as JSON. A parameter without a default is required. ``Columns:`` lists the
columns of the result. An indented line continues the previous line.

Example:
    Show the three topics with the most shifts as a data frame::

        explore(store, "hubs", {"limit": 3}).to_pandas()
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
from graphneg.json_input import whole_number
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text, read_header
from graphneg.store.stopping import Cancellation

if TYPE_CHECKING:
    import networkx
    import pandas


FOLDER = "explore"
"""The folder below ``cypher/`` that contains the named queries."""
NEAR = 5
"""Maximum number of similar names that an error message suggests."""
PREFIX = 3
"""Number of letters at the beginning that a suggested topic must share with the unknown topic."""
MOST_FORMS = 50
"""Maximum number of lemma combinations that are looked up for a topic of several words."""
_PARAMETER = re.compile(r"^\$(\w+)(?: \((.*?)\))?: (.*)$")
_TOPICS = ("focus", "perspective", "start", "end")
"""Parameters of named queries whose values are topics of the shift graph."""
_FRAME = "frame"
"""The parameter of named queries whose value is a PropBank frame."""
_TOO_DEEP = "a list or map of the result is too deeply nested to be shown: return only a part of it"


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter of a named query.

    If the default is a number, the values of the parameter must be non-negative integers. If the default is a
    string, or if there is no default, the values must be strings.

    Attributes:
        name: The name of the parameter, without ``$``.
        meaning: Description of the parameter in the header of the query file.
        required: Whether the caller must give a value, because there is no default.
        default: The default value; None if the parameter has no default.
    """

    name: str
    meaning: str
    required: bool
    default: str | int | None = None

    @property
    def is_text(self) -> bool:
        """True if the values of the parameter are strings, False if they are integers."""
        return not isinstance(self.default, int)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A named query in ``cypher/explore/``.

    Attributes:
        name: The name of the query's file, without its suffix.
        summary: Summary of the query in the header of the file.
        parameters: The parameters, in the order of the header.
        columns: The names of the result's columns in one string, as the header lists them.
        text: The text of the file, including the header.
    """

    name: str
    summary: str
    parameters: tuple[QueryParameter, ...]
    columns: str
    text: str

    def values(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Check the parameter values of a caller, and add the defaults of the other parameters.

        Args:
            parameters: The caller's values, keyed by parameter name.

        Returns:
            The values of all parameters, keyed by parameter name.

        Raises:
            InputError: A required parameter is missing, a name is unknown, or a value is of the wrong type.
        """
        known = [parameter.name for parameter in self.parameters]
        for name in parameters:
            if name not in known:
                raise InputError(
                    f"the query {self.name} has no parameter {name!r}; available: {', '.join(known)}"
                )
        values: dict[str, Any] = {}
        for parameter in self.parameters:
            name = parameter.name
            if parameter.required and name not in parameters:
                raise InputError(f"the query {self.name} needs the parameter {name!r}: {parameter.meaning}")
            value = values[name] = parameters.get(name, parameter.default)
            if parameter.is_text:
                fits, kind = isinstance(value, str) or (value is None and not parameter.required), "a text"
            else:
                kind = "a whole number of at least 0"
                fits = whole_number(value, least=0) is not None
            # Defaults need no check, because they come from the query file.
            if name in parameters and not fits:
                raise InputError(
                    f"the parameter {name!r} of the query {self.name} must be {kind}, not {value!r}"
                )
        return values


@cache
def named_queries() -> Mapping[str, NamedQuery]:
    """Return all named queries in alphabetical order, keyed by name."""
    folder = resources.files("graphneg.cypher").joinpath(FOLDER)
    files = [file.name for file in folder.iterdir() if file.name.endswith(".cypher")]
    names = sorted(file.removesuffix(".cypher") for file in files)
    return {name: parse_query(name, cypher_text(f"{FOLDER}/{name}")) for name in names}


def named_query(name: str) -> NamedQuery:
    """Find a named query.

    Args:
        name: The name of the query, with ``_`` or ``-`` between words.

    Returns:
        The query with the parsed header of its file.

    Raises:
        InputError: There is no such query. The message suggests similar names.
    """
    known = named_queries()
    spelled = name.replace("-", "_")
    if spelled not in known:
        near = get_close_matches(spelled, known, NEAR, 0.5)
        raise InputError(f"no query named {name!r}; {_meant(near) or 'available: ' + ', '.join(known)}")
    return known[spelled]


def parse_query(name: str, text: str) -> NamedQuery:
    """Parse the header of a named query.

    Args:
        name: The name of the query.
        text: The text of the query file.

    Returns:
        The query, with the summary, parameters and columns from the header.

    Raises:
        InputError: The text does not begin with ``// NAME:``, does not have exactly one ``// Columns:`` line,
            or has a default that is not JSON.
    """
    header = read_header(name, text)
    if header is None:
        raise InputError(f"{name}.cypher: the first line must be '// {name}: what it finds'")
    summary, lines = header
    columns = [line.removeprefix("Columns: ") for line in lines if line.startswith("Columns: ")]
    if len(columns) != 1:
        raise InputError(f"{name}.cypher: the header needs a line '// Columns: ' that describes the columns")
    parameters: list[QueryParameter] = []
    for match in filter(None, map(_PARAMETER.match, lines)):
        key, default, meaning = match.groups()
        try:
            # Parse defaults as JSON, so that 20 is a number and "tea" is a string.
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
    """Run a named query.

    Args:
        store: An open store.
        name: The name of the query.
        parameters: Values of the query's parameters, keyed by parameter name.
        seconds: Seconds after which the server stops the query; None for no limit.
        cancellation: Object with which another thread can stop the query; None if no thread needs to.

    Returns:
        The rows of the result.

    Raises:
        InputError: The query or a parameter is unknown, a parameter is missing, or there are no rows because
            a topic is not in the shift graph or a frame does not exist. The message suggests similar names.
    """
    query = named_query(name)
    values = query.values(parameters)
    rows = Rows(store.query_read(query.text, values, seconds=seconds, cancellation=cancellation))
    topics = [value for key, value in values.items() if key in _TOPICS and isinstance(value, str)]
    # An empty result may be correct. Look for a misspelled topic or frame, and raise an error only if there
    # is one.
    if topics and not rows:
        known = {row["topic"] for row in store.read(cypher_text("read/topics"), texts=topics)}
        for topic in topics:
            if topic not in known:
                advice = (
                    "build the graph with graphneg shift build, "
                    "or list its topics with graphneg cypher --named hubs"
                )
                meant = _meant(near_topics(store, topic)) or advice
                raise InputError(f"{topic!r} is not in the shift graph: {meant}")
    # A frame exists if it is in the PropBank that graphneg ships or was loaded into the store.
    frame = values.get(_FRAME)
    if not rows and isinstance(frame, str) and not frame_exists(store, frame):
        advice = _meant(_near_frames(frame)) or "load more frames with graphneg load propbank PATH"
        raise InputError(f"{frame!r} is neither a PropBank frame nor a loaded frame: {advice}")
    return rows


def frame_exists(store: Store, frame: str) -> bool:
    """Return whether a frame exists.

    Args:
        store: An open store.
        frame: A frame such as ``give-01``.

    Returns:
        True if the frame is in the PropBank that graphneg ships, or was loaded into the store.
    """
    from graphneg.english.propbank import load_frames

    return frame in load_frames().frames or bool(store.read(cypher_text("read/frame"), id=frame))


def _near_frames(frame: str) -> list[str]:
    """Return up to `NEAR` frames with the same lemma as a frame that does not exist."""
    from graphneg.english.propbank import load_frames

    # Remove only the number: "give-01" has the lemma "give", and "give-up-07" has the lemma "give-up".
    lemma = re.sub(r"-\d+$", "", frame)
    return sorted(known for known in load_frames().frames if known.rpartition("-")[0] == lemma)[:NEAR]


def near_topics(store: Store, text: str) -> list[str]:
    """Return topics of the shift graph that the user may have meant.

    The lemmas of the user's text come first: "paid" suggests "pay". Topics with a similar spelling follow,
    sorted by decreasing similarity.

    Args:
        store: An open store.
        text: The topic that the user entered, which is not in the shift graph.

    Returns:
        At most `NEAR` topics that are in the shift graph.
    """
    from graphneg.english.words import lemmas

    words = text.lower().split()
    topic = " ".join(words)
    # A word can have several lemmas. For a topic of several words, try all combinations of their lemmas.
    forms = [" ".join(form) for form in islice(product(*map(sorted, map(lemmas, words))), MOST_FORMS)]
    rows = store.read(cypher_text("read/near_topics"), text=topic, prefix=topic[:PREFIX], lemmas=forms)
    found = sorted(row["topic"] for row in rows)
    alike = get_close_matches(topic, found, NEAR)
    # Suggest topics that are lemmas of the given topic before topics with similar spelling. A dict removes
    # duplicates.
    return list(dict.fromkeys([*(form for form in forms if form in found), *alike]))[:NEAR]


def _meant(near: list[str]) -> str:
    return f"did you mean {' or '.join(near)}?" if near else ""


@dataclass(frozen=True, slots=True)
class Info:
    """The size of a store's content.

    Attributes:
        description: Description of the store, such as ``embedded store at /data/store``.
        counts: Numbers of nodes, keyed by label, and numbers of relationships, keyed by type.
        corpora: A tuple (corpus, split, number of dialogues) for each split of each corpus.
    """

    description: str
    counts: Mapping[str, int]
    corpora: Sequence[tuple[str, str, int]]


def info_of(store: Store) -> Info:
    """Count the nodes, relationships and dialogues of a store.

    Args:
        store: An open store.

    Returns:
        The counts, with the description of the store.
    """
    counts = {row["kind"]: row["amount"] for row in store.read(cypher_text("read/info"))}
    corpora = [(r["corpus"], r["split"], r["dialogues"]) for r in store.read(cypher_text("read/corpora"))]
    return Info(store.description, counts, corpora)


class Rows(list[dict[str, Any]]):
    """The rows of a query's result, as dictionaries that are keyed by column name.

    Nodes and relationships in the rows are objects of the Neo4j driver.

    Args:
        result: The result, as the driver returned it.
    """

    def __init__(self, result: EagerResult) -> None:
        """Copy the rows, the column names and the summary of a result."""
        # Take the names of the columns from the result and not from the first row, because there may be no
        # rows.
        self.columns: list[str] = list(result.keys)
        self.summary = result.summary
        super().__init__({key: record[key] for key in self.columns} for record in result.records)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with the columns of the query. Nodes and relationships become dictionaries."""
        import pandas

        rows = [[plain(row[column]) for column in self.columns] for row in self]
        return pandas.DataFrame(rows, columns=self.columns)

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """Return the nodes and relationships in the rows as a graph.

        The key of a node is its property ``id`` or ``text``, and its attributes are its properties and its
        ``labels``. The key of an edge is the type of the relationship, and its attributes are the properties
        of the relationship.

        Returns:
            A directed graph, which can have parallel edges.
        """
        import networkx

        graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
        for row in self:
            for value in row.values():
                _add_to_graph(graph, value)
        return graph


def plain(value: Any) -> Any:
    """Replace the driver's objects in a value with dictionaries and lists.

    Args:
        value: Any value in a row of a result.

    Returns:
        The value, with nodes and relationships as dictionaries, and paths as lists of such dictionaries.

    Raises:
        InputError: Lists or dictionaries in the value are nested too deeply.
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
        # Put nodes and relationships in the order of the path, which begins and ends with a node.
        pairs = zip(value.nodes, (*value.relationships, None), strict=True)
        return [_plain(part) for part in chain.from_iterable(pairs) if part]
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value


def shown(value: Any) -> str:
    """Format a value in a row of a result as text.

    Args:
        value: Any value in a row of a result.

    Returns:
        A string unchanged, and any other value as JSON.

    Raises:
        InputError: Lists or dictionaries in the value are nested too deeply.
    """
    bare = plain(value)
    if isinstance(bare, str):
        return bare
    try:
        # default=str is for types that do not exist in JSON, such as dates and points.
        return json.dumps(bare, ensure_ascii=False, default=str)
    except RecursionError as error:
        raise InputError(_TOO_DEEP) from error


def _add_to_graph(graph: networkx.MultiDiGraph[str], value: Any) -> None:
    if isinstance(value, Node):
        graph.add_node(_node_key(value), labels=sorted(value.labels), **dict(value.items()))
    elif isinstance(value, Relationship):
        ends = [node for node in (value.start_node, value.end_node) if node is not None]
        for node in ends:
            # The driver returns the end nodes of a relationship without their properties. If a node is
            # already in the graph, keep it, because it may have been added with its properties.
            if _node_key(node) not in graph:
                _add_to_graph(graph, node)
        graph.add_edge(*map(_node_key, ends), key=value.type, **dict(value.items()))
    elif isinstance(value, Path | list | tuple):
        for part in (*value.nodes, *value.relationships) if isinstance(value, Path) else value:
            _add_to_graph(graph, part)


def _node_key(node: Node) -> str:
    """Return a node's ``id`` or ``text``; if it has neither, the id that the server uses in this result."""
    return str(node.get("id") or node.get("text") or node.element_id)
