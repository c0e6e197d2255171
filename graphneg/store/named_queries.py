"""Named queries: the Cypher files of cypher/explore/ and their parameters; what a store holds."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from graphneg.errors import InputError
from graphneg.store.connection import Store
from graphneg.store.statements import cypher_text

if TYPE_CHECKING:
    from graphneg.store.rows import Rows


# Named queries: the Cypher files of ``cypher/explore/``, each with its documentation and its parameters.
#
# A file ``NAME.cypher`` opens with comment lines: ``// NAME: what it finds``, one line for each parameter,
# ``// $limit (20): rows at most``, and ``// Columns:`` with what the columns hold. The value in brackets
# is the parameter's default, as JSON; a parameter without one must be given. A line may go on in
# the next, indented.


FOLDER = "explore"
NEAR = 5
PREFIX = 3
_PARAMETER = re.compile(r"^\$(\w+)(?: \((.*?)\))?: (.*)$")
_TOPICS = ("focus", "perspective", "start", "end")


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
        return not isinstance(self.default, int)

    def fits(self, value: Any) -> bool:
        """Whether the parameter can have this value."""
        if self.is_text:
            return isinstance(value, str) or (value is None and not self.required)
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0


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

        Raises:
            InputError: one that is required is missing, the query has none of a given name, or a value
                is not of its kind.
        """
        known = {one.name for one in self.parameters}
        for name in given:
            if name not in known:
                takes = ", ".join(one.name for one in self.parameters)
                raise InputError(f"the query {self.name} has no parameter {name!r}; it takes: {takes}")
        for one in self.parameters:
            if one.required and one.name not in given:
                raise InputError(f"the query {self.name} needs the parameter {one.name!r}: {one.meaning}")
            if one.name in given and not one.fits(given[one.name]):
                kind = "a text" if one.is_text else "a whole number, 0 or more"
                raise InputError(f"{one.name!r} of the query {self.name} is {kind}, not {given[one.name]!r}")
        return {one.name: given.get(one.name, one.default) for one in self.parameters}


@cache
def named_queries() -> Mapping[str, NamedQuery]:
    """The named queries, in alphabetical order."""
    folder = resources.files("graphneg.cypher").joinpath(FOLDER)
    names = sorted(
        one.name.removesuffix(".cypher") for one in folder.iterdir() if one.name.endswith(".cypher")
    )
    return {name: parse_query(name, cypher_text(f"{FOLDER}/{name}")) for name in names}


def named_query(name: str) -> NamedQuery:
    """The query of that name; ``-`` may be written for ``_``.

    Raises:
        InputError: there is none; the message names those that are spelled alike.
    """
    known = named_queries()
    wanted = name.replace("-", "_")
    if wanted not in known:
        near = get_close_matches(wanted, known, NEAR, 0.5)
        raise InputError(
            f"no named query is called {name!r}; {_meant(near) or 'there are: ' + ', '.join(known)}"
        )
    return known[wanted]


def parse_query(name: str, text: str) -> NamedQuery:
    """Read the header of a named query.

    Raises:
        InputError: it does not open with ``// NAME:``, has no ``// Columns:``, or a default is not JSON.
    """
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        content = line.removeprefix("//").removeprefix(" ")
        if content.startswith(" ") and lines:
            lines[-1] += f" {content.strip()}"
        else:
            lines.append(content)
    if not lines or not lines[0].startswith(f"{name}: "):
        raise InputError(f"{name}.cypher: the first line must be '// {name}: what it finds'")
    columns = [line.removeprefix("Columns: ") for line in lines if line.startswith("Columns: ")]
    if len(columns) != 1:
        raise InputError(f"{name}.cypher: one line of the header must be '// Columns: ' and what they hold")
    parameters = tuple(_parameter(name, match) for line in lines if (match := _PARAMETER.match(line)))
    return NamedQuery(name, lines[0].removeprefix(f"{name}: "), parameters, columns[0], text)


def explore(store: Store, name: str, parameters: Mapping[str, Any]) -> Rows:
    """The rows of a named query.

    Raises:
        InputError: no such query, a parameter is missing or unknown, or there are no rows because a
            topic is not in the shift graph; then the message names topics that are spelled alike.
        StoreError: the store is gone, or a value is not of the kind that the query takes.
    """
    from graphneg.store.rows import Rows

    query = named_query(name)
    values = query.values(parameters)
    rows = Rows(store.query_read(query.text, values))
    if not rows:
        topics = [value for key, value in values.items() if key in _TOPICS and isinstance(value, str)]
        require_topics(store, topics)
    return rows


def require_topics(store: Store, topics: list[str]) -> None:
    """Check that topics have shifts.

    Raises:
        InputError: one has none; the message names up to five that are spelled alike.
    """
    known = {row["topic"] for row in store.read(cypher_text("read/topics"), texts=topics)}
    for topic in topics:
        if topic not in known:
            meant = _meant(near_topics(store, topic))
            raise InputError(
                f"{topic!r} is not in the shift graph: "
                + (meant or "graphneg shift build makes it, graphneg cypher --named hubs lists topics")
            )


def near_topics(store: Store, text: str) -> list[str]:
    """Up to five topics of the shift graph that are spelled alike, the most similar first."""
    wanted = " ".join(text.lower().split())
    rows = store.read(cypher_text("read/near_topics"), text=wanted, prefix=wanted[:PREFIX])
    topics = sorted(row["topic"] for row in rows)
    return get_close_matches(wanted, topics, NEAR)


def _parameter(query: str, match: re.Match[str]) -> QueryParameter:
    name, default, meaning = match.groups()
    if default is None:
        return QueryParameter(name, meaning, required=True)
    try:
        return QueryParameter(name, meaning, required=False, default=json.loads(default))
    except json.JSONDecodeError as error:
        raise InputError(f"{query}.cypher: the default of ${name} is not JSON: {default}") from error


def _meant(near: list[str]) -> str:
    return f"did you mean {' or '.join(near)}?" if near else ""


# What a store is and holds.


@dataclass(frozen=True, slots=True)
class Info:
    """What a store is and holds: ``counts`` by label or relationship type, ``corpora`` as
    (corpus, split, dialogues)."""

    description: str
    counts: Mapping[str, int]
    corpora: Sequence[tuple[str, str, int]]


def info_of(store: Store) -> Info:
    """Counted in the store.

    Raises:
        StoreError: the store is gone.
    """
    counts = {row["kind"]: row["amount"] for row in store.read(cypher_text("read/info"))}
    corpora = [(r["corpus"], r["split"], r["dialogues"]) for r in store.read(cypher_text("read/corpora"))]
    return Info(store.description, counts, corpora)
