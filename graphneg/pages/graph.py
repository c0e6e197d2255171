"""The view of the shift graph, of named queries and of Cypher queries that only read.

The view shows the shifts around a topic (a keyword at either end of a shift), all topics at once, and the
rows of a query as a table. Topics and shifts are also drawn by ``static/drawing.js``; what is drawn is listed
in words or tables, too. A slow query is stopped after a time limit, and at once if its visitor leaves.

Example:
    >>> drawn = commonest_drawn([("tea", "coffee", 3), ("tea", "milk", 1)], topics=2)
    >>> [topic["name"] for topic in drawn["topics"]], drawn["shifts"]
    (['tea', 'coffee'], [{'from': 0, 'to': 1, 'amount': 3}])
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Lock
from typing import Any

from neo4j.graph import Node, Path, Relationship
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graphneg.errors import GraphnegError, InputError, QueryStopped, StoreError, first_line
from graphneg.pages.app import Pages
from graphneg.pages.asked import whole
from graphneg.pages.turns import PATIENT, QUICK, BusyError, Turns
from graphneg.shift.graphs import Edge, read_edges
from graphneg.shift.page import Neighbourhood, neighbourhood
from graphneg.store.connection import Store
from graphneg.store.queries import NamedQuery, Rows, explore, info_of, named_queries, named_query, shown
from graphneg.store.reopening import ReopenedStore
from graphneg.store.stopping import GRACE_SECONDS, Cancellation

SHIFTS = 15
"""Default number of shifts of a topic in each direction."""
HUBS = 60
"""Number of topics on the start page."""
PAIRS = 50
"""Default number of post and reply pairs to show for a shift."""
ROWS = 500
"""Maximum number of rows of a query's answer."""
TOPICS, MOST_SHIFTS = 5_000, 20_000
"""Numbers for the drawing of all topics: the default number of topics, and the maximum number of shifts."""
DRAWN = 2_000
"""Maximum number of rows, and of nodes, to draw for a query's answer."""
SECONDS = 30.0
"""Default time limit of a query, in seconds."""
READ_AT_ONCE = 8
"""Number of requests that may read the shift graph at once; others wait."""
OVERDUE_SECONDS = 2.0
"""Seconds after the time limit for which a visitor waits until the server has stopped the query."""
CELL = 5_000
"""Maximum number of characters of a cell."""
Drawn = dict[str, Any]
"""A drawing as JSON.

``{"topics": [{name, amount, side, detail}], "shifts": [{from, to, amount, label}]}``
"""


class GraphView:
    """The view that shows the shift graph of a store and answers queries.

    Args:
        stores: The store; it is opened again if its server has ended.
        seconds: Time limit of a query.
    """

    title = "Graph"
    path = "/graph"

    def __init__(self, stores: ReopenedStore, seconds: float = SECONDS) -> None:
        """Initialize the view; the store is not read yet."""
        self._stores = stores
        self._seconds = seconds
        self._turns = Turns(seconds)
        # With threads of their own, slow queries and a store that is being opened do not block other views.
        self._asking = ThreadPoolExecutor(PATIENT + QUICK, "graphneg-query")
        self._drawing = ThreadPoolExecutor(READ_AT_ONCE, "graphneg-graph")
        self._edges: Sequence[Edge] = ()
        self._reading = Lock()

    @property
    def is_empty(self) -> bool:
        """Whether the store has no shift graph."""
        try:
            return not explore(self._stores.current(), "hubs", {"limit": 1})
        except GraphnegError:  # The view reports the error when it is opened.
            return False

    def routes(self, pages: Pages) -> Sequence[Route]:
        """Return the routes: a topic, the utterances behind a shift, all topics with their data, and queries.

        Args:
            pages: The pages, which render templates.

        Returns:
            The routes.
        """
        self._pages = pages

        def read(path: str, answer: Callable[[Request], Response]) -> Route:
            async def endpoint(request: Request) -> Response:
                return await asyncio.get_running_loop().run_in_executor(self._drawing, answer, request)

            return Route(self.path + path, endpoint)

        return [
            read("", self._topic),
            read("/behind", self._behind),
            read("/all", self._all),
            read("/all.json", self._all_data),
            Route(f"{self.path}/queries", self._queries),
        ]

    @property
    def _store(self) -> Store:
        return self._stores.current()

    def close(self) -> None:
        """Stop the threads without waiting; running queries end when the owner closes the store."""
        for threads in (self._asking, self._drawing):
            threads.shutdown(wait=False, cancel_futures=True)

    def _topic(self, request: Request) -> Response:
        topic = request.query_params.get("topic", "").strip()
        if not topic:
            return self._pages.render(request, "graph/start.html", **self._start())
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
        return self._pages.render(request, "graph/all.html", topics=topics, **self._start())

    def _start(self) -> dict[str, Any]:
        """Return the topics with the most pairs, and whether the store has dialogues to find topics in."""
        store = self._store
        hubs = explore(store, "hubs", {"limit": HUBS})
        return {"hubs": hubs, "has_dialogues": bool(hubs) or bool(info_of(store).corpora)}

    def _all_data(self, request: Request) -> Response:
        # The first request reads the graph; those that arrive meanwhile wait for it.
        with self._reading:
            self._edges = self._edges or read_edges(self._store)
        return JSONResponse(commonest_drawn(self._edges, whole(request.query_params, "topics", TOPICS)))

    async def _queries(self, request: Request) -> Response:
        """Answer a query; if the visitor leaves before, the query is stopped on the server."""
        given = request.query_params
        answer: dict[str, Any] = {"rows": None, "cells": None, "drawn": None}
        fault, status = "", 200
        if given.get("named") or given.get("cypher", "").strip():
            try:
                answer = await self._in_time(request, given)
            # `Pages` answers this error with a status and a header that tell the visitor to try again.
            except BusyError:
                raise
            except GraphnegError as error:
                fault, status = first_line(error), 400
        return self._pages.render(
            request,
            "graph/queries.html",
            status,
            queries=named_queries().values(),
            given=given,
            fault=fault,
            most=ROWS,
            **answer,
        )

    async def _in_time(self, request: Request, given: Mapping[str, str]) -> dict[str, Any]:
        """Return what the template shows of a query's rows.

        Raises:
            QueryStopped: The time limit was reached.
            StoreError: The server has not stopped the query yet.
            ClientDisconnect: The visitor left.
        """
        place = await self._turns.take()
        cancellation = Cancellation()
        loop = asyncio.get_running_loop()

        def ask() -> dict[str, Any]:
            try:
                return _answer(self._asked(given, place.seconds, cancellation))
            finally:  # Only now has the query ended on the server.
                loop.call_soon_threadsafe(place.leave)

        asked = loop.run_in_executor(self._asking, ask)
        left = asyncio.ensure_future(_until_left(request))
        limit = place.seconds + GRACE_SECONDS + OVERDUE_SECONDS
        try:
            # Whichever comes first: the answer, the visitor leaving, or the end of the time.
            await asyncio.wait({asked, left}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return await asked
            # The query still runs: it ends, and leaves its place, when the server has stopped it.
            asked.add_done_callback(_forget)
            cancellation.cancel()
            if left.done():
                raise ClientDisconnect
            raise StoreError(f"{self._too_slow(place.seconds)}; the server has not stopped it yet")
        except QueryStopped as error:
            raise QueryStopped(self._too_slow(place.seconds)) from error
        finally:
            left.cancel()

    def _too_slow(self, seconds: float) -> str:
        said = f"no answer in {seconds:g} s"
        # The query had a quick place.
        if seconds < self._seconds:
            return f"{said}, and other slow queries are running: try again when they have ended"
        return f"{said}: ask for less, or serve with a longer --patience"

    def _asked(self, given: Mapping[str, str], seconds: float, cancellation: Cancellation) -> Rows:
        store = self._store
        limits: dict[str, Any] = {"seconds": seconds, "cancellation": cancellation}
        try:
            if name := given.get("named", ""):
                return explore(store, name, values_of(named_query(name), given), **limits)
            parameters = _parameters(given.get("parameters", ""))
            # One row more than the page shows: it tells whether there are more.
            return Rows(store.query_read(given["cypher"], parameters, most=ROWS + 1, **limits))
        except QueryStopped:
            raise
        except StoreError as error:
            # The server of an embedded store may have been stopped by another command.
            if not store.has_ended:
                raise
            raise StoreError(f"{first_line(error)} (the next request opens the store again)") from error


async def _until_left(request: Request) -> None:
    """Wait until the visitor closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _forget(asked: asyncio.Future[dict[str, Any]]) -> None:
    """Retrieve the error of a query that nobody waits for; asyncio would report it as lost otherwise."""
    if not asked.cancelled():
        asked.exception()


def _answer(rows: Rows) -> dict[str, Any]:
    """Return what a template shows of rows: the columns, the first rows as text, and a drawing."""
    cells = [[_cell(written(row[name])) for name in rows.columns] for row in rows[:ROWS]]
    return {"rows": rows, "cells": cells, "drawn": rows_drawn(rows)}


def _cell(text: str) -> str:
    return text if len(text) <= CELL else f"{text[:CELL]}… (the first {CELL:,} of {len(text):,} letters)"


def values_of(query: NamedQuery, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of a named query from a form; empty fields are left to their defaults.

    Args:
        query: The query.
        given: The fields of the form.

    Returns:
        The values by name.
    """
    values: dict[str, Any] = {}
    for parameter in query.parameters:
        text = given.get(parameter.name, "").strip()
        if text:
            values[parameter.name] = text if parameter.is_text else _json(parameter.name, text)
    return values


def around_drawn(around: Neighbourhood) -> Drawn:
    """Draw a topic, with the topics that lead to it on the left and those to which it leads on the right.

    Args:
        around: The topic and its shifts.

    Returns:
        The drawing.
    """
    sides = {shift.focus: -1 for shift in around.comes_from}
    # A topic on both sides is drawn on the right; the topic itself is in the middle.
    sides |= {shift.perspective: 1 for shift in around.moves_to} | {around.topic: 0}
    edges = [
        (shift.focus, shift.perspective, shift.count) for shift in (*around.moves_to, *around.comes_from)
    ]
    return _drawn(edges, sides)


def commonest_drawn(edges: Iterable[Edge], topics: int) -> Drawn:
    """Draw the topics with the most pairs, and the most frequent shifts among them.

    Args:
        edges: All shifts of the graph with their counts.
        topics: Maximum number of topics.

    Returns:
        The drawing, with at most `MOST_SHIFTS` shifts.
    """
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
    """Draw the nodes and relationships in the rows of a query, or the shifts that the rows describe.

    A row describes a shift if it has the columns ``focus`` and ``perspective``, or several if it has
    ``topics`` and ``counts``.

    Args:
        rows: The rows.

    Returns:
        The drawing, of at most `DRAWN` nodes; None if there is nothing to draw.
    """
    # `fromkeys` removes duplicates and keeps the order.
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
    """Yield the shifts of a row: from ``focus`` to ``perspective``, or along ``topics``."""
    ends, count = (row.get("focus"), row.get("perspective")), row.get("count", 1)
    if all(isinstance(end, str) for end in ends) and isinstance(count, int):
        yield str(ends[0]), str(ends[1]), count
    topics, counts = row.get("topics"), row.get("counts")
    if isinstance(topics, list) and isinstance(counts, list):
        for (focus, perspective), pairs in zip(pairwise(map(str, topics)), counts, strict=False):
            if isinstance(pairs, int):
                yield focus, perspective, pairs


def _name(key: str, known: Mapping[str, Any]) -> str:
    """Return a readable name of a node."""
    return str(known.get("text") or known.get("concept") or known.get("value") or known.get("id") or key)


def written(value: Any) -> str:
    """Format a value of a row as text.

    Args:
        value: The value.

    Returns:
        The text. Nodes and relationships look like patterns of Cypher, such as ``(:Term tea)``.
    """
    if isinstance(value, Node):
        return f"(:{':'.join(sorted(value.labels))} {_name(value.element_id, dict(value.items()))})"
    if isinstance(value, Relationship):
        return f"[:{value.type}]"
    if isinstance(value, Path):
        text, start = written(value.start_node), value.start_node
        # A relationship may be traversed against its direction.
        for step, end in zip(value.relationships, value.nodes[1:], strict=True):
            before, after = ("-", "->") if step.start_node == start else ("<-", "-")
            text, start = f"{text}{before}{written(step)}{after}{written(end)}", end
        return text
    return shown(value)


def _drawn(edges: Sequence[Edge], sides: Mapping[str, int] | None = None) -> Drawn:
    """Draw shifts; ``sides`` orders the topics, each left (-1), in the middle (0) or right (1)."""
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
    """Parse the parameters of a query, which must be a JSON object."""
    found = _json("parameters", text) if text.strip() else {}
    if not isinstance(found, dict):
        raise InputError('parameters are a JSON object: {"corpus": "everyday"}')
    return found


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: {text[:40]!r} can't be read: {first_line(error)}") from error
