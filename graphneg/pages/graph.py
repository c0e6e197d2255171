"""The graph: shifts from a topic outwards, all topics at once, named queries and Cypher that only reads.

In: an open store. Out: HTML, with drawings as topics and shifts for ``static/drawing.js``; what is drawn also
stands in lists or tables.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any

from neo4j.graph import Node, Path, Relationship
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graphneg.errors import GraphnegError, InputError, StoreError, first_line
from graphneg.pages.app import Pages
from graphneg.shift.graphs import Edge, read_edges
from graphneg.shift.page import Neighbourhood, neighbourhood
from graphneg.store.connection import Store
from graphneg.store.queries import NamedQuery, Rows, explore, named_queries, named_query, shown

SHIFTS = 15
"""Shifts of a topic in each direction, unless more are asked for."""
HUBS = 60
PAIRS = 50
ROWS = 500
TOPICS, MOST_SHIFTS = 5_000, 20_000
DRAWN = 2_000
SECONDS = 30.0
"""So long a query may take."""
ASKED_AT_ONCE = 8
Drawn = dict[str, Any]
"""``{"topics": [{name, amount, side, detail}], "shifts": [{from, to, amount, label}]}``, for a drawing."""


class GraphView:
    """Shows a store's shift graph, and answers queries."""

    title = "Graph"
    path = "/graph"

    def __init__(self, store: Store, seconds: float = SECONDS) -> None:
        self._store = store
        self._seconds = seconds
        self._asking = ThreadPoolExecutor(ASKED_AT_ONCE)
        self._edges: Sequence[Edge] = ()
        self._reading = Lock()

    def routes(self, pages: Pages) -> Sequence[Route]:
        """A topic, the utterances behind a shift, all topics (and their data), queries."""
        self._pages = pages
        return [
            Route(self.path, self._topic),
            Route(f"{self.path}/behind", self._behind),
            Route(f"{self.path}/all", self._all),
            Route(f"{self.path}/all.json", self._all_data),
            Route(f"{self.path}/queries", self._queries),
        ]

    def close(self) -> None:
        """Wait for no query; the store is closed by who has opened it, which ends them."""
        self._asking.shutdown(wait=False, cancel_futures=True)

    def _topic(self, request: Request) -> Response:
        topic = request.query_params.get("topic", "").strip()
        if not topic:
            hubs = explore(self._store, "hubs", {"limit": HUBS})
            return self._pages.render(request, "graph/start.html", hubs=hubs)
        limit = whole(request.query_params, "limit", SHIFTS)
        around = neighbourhood(self._store, topic, limit, 1)
        drawn = around_drawn(around)
        return self._pages.render(request, "graph/topic.html", around=around, drawn=drawn, limit=limit)

    def _behind(self, request: Request) -> Response:
        given = request.query_params
        focus, perspective = given.get("focus", ""), given.get("perspective", "")
        limit = whole(given, "limit", PAIRS)
        pairs = explore(self._store, "behind", {"focus": focus, "perspective": perspective, "limit": limit})
        return self._pages.render(
            request, "graph/behind.html", pairs=pairs, limit=limit, focus=focus, perspective=perspective
        )

    def _all(self, request: Request) -> Response:
        topics = whole(request.query_params, "topics", TOPICS)
        hubs = explore(self._store, "hubs", {"limit": HUBS})
        return self._pages.render(request, "graph/all.html", topics=topics, hubs=hubs)

    def _all_data(self, request: Request) -> Response:
        with self._reading:
            self._edges = self._edges or read_edges(self._store)
        return JSONResponse(commonest_drawn(self._edges, whole(request.query_params, "topics", TOPICS)))

    def _queries(self, request: Request) -> Response:
        given = request.query_params
        name, text = given.get("named", ""), given.get("cypher", "")
        answer: dict[str, Any] = {"rows": None, "cells": None, "drawn": None}
        fault = ""
        try:
            if name:
                values = values_of(named_query(name), given)
                ask = partial(explore, self._store, name, values, seconds=self._seconds + 1)
                answer = _answer(self._in_time(ask))
            elif text.strip():
                parameters = _parameters(given.get("parameters", ""))
                read = partial(self._store.query_read, most=ROWS + 1, seconds=self._seconds + 1)
                answer = _answer(self._in_time(lambda: Rows(read(text, parameters))))
        except GraphnegError as error:
            fault = first_line(error)
        return self._pages.render(
            request,
            "graph/queries.html",
            400 if fault else 200,
            queries=named_queries().values(),
            given=given,
            fault=fault,
            most=ROWS,
            **answer,
        )

    def _in_time(self, ask: Callable[[], Rows]) -> Rows:
        """The rows of a query.

        Raises `StoreError`: they are not there in time; an embedded store works on, for it can't be stopped.
        """
        asked = self._asking.submit(ask)
        try:
            return asked.result(self._seconds)
        except TimeoutError:
            asked.cancel()
            raise StoreError(
                f"no answer in {self._seconds:g} s: ask for less, or serve with a longer --patience"
            ) from None


def _answer(rows: Rows) -> dict[str, Any]:
    """What a template shows of rows: their columns, the first ones as texts, and a drawing."""
    cells = [[written(row[name]) for name in rows.columns] for row in rows[:ROWS]]
    return {"rows": rows, "cells": cells, "drawn": rows_drawn(rows)}


def whole(given: Mapping[str, str], name: str, default: int) -> int:
    """A whole number of an address, from 1.

    Raises `InputError`: it is none.
    """
    text = given.get(name, "") or str(default)
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 10 or int(text) < 1:
        raise InputError(f"{name}: {text!r} is not a whole number from 1")
    return int(text)


def values_of(query: NamedQuery, given: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of a query as a form gives them; those that are left empty have their defaults.

    Raises `InputError`: a number is none.
    """
    values: dict[str, Any] = {}
    for parameter in query.parameters:
        text = given.get(parameter.name, "").strip()
        if text:
            values[parameter.name] = text if parameter.is_text else _json(parameter.name, text)
    return values


def around_drawn(around: Neighbourhood) -> Drawn:
    """A topic with what replies come from on its left and what they move on to on its right."""
    sides = {shift.focus: -1 for shift in around.comes_from}
    sides |= {shift.perspective: 1 for shift in around.moves_to} | {around.topic: 0}
    edges = [
        (shift.focus, shift.perspective, shift.count) for shift in (*around.moves_to, *around.comes_from)
    ]
    return _drawn(edges, sides)


def commonest_drawn(edges: Iterable[Edge], topics: int) -> Drawn:
    """The topics of the most pairs, and the most frequent shifts between them, at most `MOST_SHIFTS`."""
    edges = list(edges)
    pairs = Counter[str]()
    for focus, perspective, count in edges:
        pairs[focus] += count
        pairs[perspective] += count
    ranked = sorted(pairs, key=lambda topic: (-pairs[topic], topic))[:topics]
    sides = dict.fromkeys(ranked, 1)
    among = [edge for edge in edges if edge[0] in sides and edge[1] in sides]
    return _drawn(sorted(among, key=lambda edge: (-edge[2], edge))[:MOST_SHIFTS], sides)


def rows_drawn(rows: Rows) -> Drawn | None:
    """The nodes and relationships of some rows, or the shifts that they tell of; None where there is nothing
    to draw. At most `DRAWN` nodes."""
    edges = list(dict.fromkeys(edge for row in rows[:DRAWN] for edge in _told(row)))
    if edges:
        return _drawn(edges)
    graph = rows.to_networkx()
    if not graph:
        return None
    numbers = {key: number for number, key in enumerate(list(graph)[:DRAWN])}
    nodes = [(key, dict(graph.nodes[key])) for key in numbers]
    topics = [
        {"name": _name(key, known), "amount": graph.degree(key), "detail": shown(known)}
        for key, known in nodes
    ]
    shifts = [
        {"from": numbers[start], "to": numbers[end], "amount": 1, "label": kind}
        for start, end, kind in graph.edges(keys=True)
        if start in numbers and end in numbers
    ]
    return {"topics": topics, "shifts": shifts}


def _told(row: Mapping[str, Any]) -> Iterator[Edge]:
    """The shifts that a row tells of: from its ``focus`` to its ``perspective``, or along its ``topics``."""
    ends, count = (row.get("focus"), row.get("perspective")), row.get("count", 1)
    if all(isinstance(end, str) for end in ends) and isinstance(count, int):
        yield str(ends[0]), str(ends[1]), count
    topics, counts = row.get("topics"), row.get("counts")
    if isinstance(topics, list) and isinstance(counts, list):
        for (focus, perspective), pairs in zip(pairwise(map(str, topics)), counts, strict=False):
            if isinstance(pairs, int):
                yield focus, perspective, pairs


def _name(key: str, known: Mapping[str, Any]) -> str:
    """What a node is called."""
    return str(known.get("text") or known.get("concept") or known.get("value") or known.get("id") or key)


def written(value: Any) -> str:
    """A value of a row as a text: nodes and relationships as patterns of Cypher, ``(:Term tea)``."""
    if isinstance(value, Node):
        return f"(:{':'.join(sorted(value.labels))} {_name(value.element_id, dict(value.items()))})"
    if isinstance(value, Relationship):
        return f"[:{value.type}]"
    if isinstance(value, Path):
        text, start = written(value.start_node), value.start_node
        for step, end in zip(value.relationships, value.nodes[1:], strict=True):
            before, after = ("-", "->") if step.start_node == start else ("<-", "-")
            text, start = f"{text}{before}{written(step)}{after}{written(end)}", end
        return text
    return shown(value)


def _drawn(edges: Sequence[Edge], sides: Mapping[str, int] | None = None) -> Drawn:
    """Shifts between topics, which stand in the order of ``sides`` (left -1, right 1), where it is given."""
    amounts = Counter[str]()
    for focus, perspective, count in edges:
        amounts[focus] += count
        amounts[perspective] += count
    sides = sides or dict.fromkeys((end for edge in edges for end in edge[:2]), 1)
    numbers = {name: number for number, name in enumerate(sides)}
    return {
        "topics": [{"name": name, "amount": amounts[name], "side": side} for name, side in sides.items()],
        "shifts": [{"from": numbers[f], "to": numbers[p], "amount": count} for f, p, count in edges],
    }


def _parameters(text: str) -> dict[str, Any]:
    """The parameters of a query, from JSON.

    Raises `InputError`: it is no JSON object.
    """
    found = _json("parameters", text) if text.strip() else {}
    if not isinstance(found, dict):
        raise InputError('parameters are a JSON object: {"corpus": "everyday"}')
    return found


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: {text[:40]!r} can't be read: {first_line(error)}") from error
