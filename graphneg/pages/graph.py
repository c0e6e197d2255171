"""Show the shift graph, and run named queries and read-only Cypher queries.

The shift graph counts how often replies move from one keyword, which the pages call a topic, to another. The
view shows the shifts from and to a topic, a drawing of all topics, and the rows of a query as a table. The
drawings are made by ``static/drawing.js``. Their content is also listed as text or as a table. A query is
stopped when it reaches a time limit or when the visitor who started it closes the connection.

Example:
    >>> drawn = draw_frequent_topics([("tea", "coffee", 3), ("tea", "milk", 1)], topics=2)
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
from graphneg.json_input import whole_number
from graphneg.pages.app import Pages
from graphneg.pages.password_limiter import address_key
from graphneg.pages.query_slots import MOST_STUCK, PATIENT, QUICK, BusyError, QuerySlots, Slot
from graphneg.pages.url_values import integer_value
from graphneg.shift.graphs import Edge, read_edges
from graphneg.shift.page import Neighbourhood, neighbourhood
from graphneg.store.connection import Store
from graphneg.store.contents import content_version
from graphneg.store.queries import NamedQuery, Rows, explore, info_of, named_queries, named_query, shown
from graphneg.store.reopening import ReopenedStore
from graphneg.store.stopping import GRACE_SECONDS, Cancellation

SHIFTS = 15
"""Default number of shifts from a topic, and of shifts to it, that are shown on the page of the topic."""
HUBS = 60
"""Number of topics on the start page of the view. The topics with the most shifts are shown."""
PAIRS = 50
"""Default number of pairs of a post and a reply that are shown for a shift."""
ROWS = 500
"""Maximum number of rows of a query's result that are shown."""
TOPICS, MOST_SHIFTS = 5_000, 20_000
"""The default number of topics and the maximum number of shifts in the drawing of all topics."""
DRAWN = 2_000
"""Maximum number of rows of a query's result that are drawn, and also the maximum number of nodes in a
drawing."""
SECONDS = 30.0
"""Default time limit of a query, in seconds."""
READ_AT_ONCE = 8
"""Maximum number of requests that read the shift graph at the same time. Further requests wait."""
OVERDUE_SECONDS = 2.0
"""Seconds to wait after the time limit and `GRACE_SECONDS` of a query have passed. If the query has not been
stopped by then, the visitor gets an error."""
CELL = 5_000
"""Maximum number of characters in a cell of a table."""
Drawn = dict[str, Any]
"""The content of a drawing as JSON values for ``static/drawing.js``.

The form is ``{"topics": [{name, amount, side, detail}], "shifts": [{from, to, amount, label}]}``, where
``from`` and ``to`` are indices of topics. ``side`` is -1 for a topic on the left, 0 in the middle and 1 on
the right.
"""


class GraphView:
    """The view that shows the shift graph of a store and runs queries.

    Args:
        stores: Provides the store, and opens it again if the server of the store has stopped.
        seconds: Time limit of a query in seconds.
    """

    title = "Graph"
    path = "/graph"

    def __init__(self, stores: ReopenedStore, seconds: float = SECONDS) -> None:
        self._stores = stores
        self._seconds = seconds
        self._slots = QuerySlots(seconds)
        # Use separate threads, so that slow queries and the opening of the store do not block other views.
        self._asking = ThreadPoolExecutor(PATIENT + QUICK + MOST_STUCK, "graphneg-query")
        self._drawing = ThreadPoolExecutor(READ_AT_ONCE, "graphneg-graph")
        self._edges: Sequence[Edge] = ()
        self._edges_version: list[list[Any]] = []
        self._reading = Lock()

    @property
    def is_empty(self) -> bool:
        """Whether the store has no shift graph."""
        try:
            return not explore(self._stores.current(), "hubs", {"limit": 1})
        except GraphnegError:
            # The store cannot be read. The view counts as not empty, so that it is shown and reports the
            # error to the visitor.
            return False

    def routes(self, pages: Pages) -> Sequence[Route]:
        """Return the routes of the pages that this view serves.

        Args:
            pages: The web application, which renders the templates.

        Returns:
            The routes for a topic, for the utterances of a shift, for the drawing of all topics and its data,
            and for queries.
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
        """Stop the threads without waiting for running queries, which end when the store is closed."""
        for threads in (self._asking, self._drawing):
            threads.shutdown(wait=False, cancel_futures=True)

    def _topic(self, request: Request) -> Response:
        topic = request.query_params.get("topic", "").strip()
        if not topic:
            return self._pages.render(request, "graph/start.html", **self._start())
        limit = integer_value(request.query_params, "limit", SHIFTS)
        around = neighbourhood(self._store, topic, limit, 1)
        drawn = draw_neighbours(around)
        return self._pages.render(request, "graph/topic.html", around=around, drawn=drawn, limit=limit)

    def _behind(self, request: Request) -> Response:
        given = request.query_params
        focus, perspective = given.get("focus", ""), given.get("perspective", "")
        limit = integer_value(given, "limit", PAIRS)
        pairs = explore(self._store, "behind", {"focus": focus, "perspective": perspective, "limit": limit})
        return self._pages.render(
            request, "graph/behind.html", pairs=pairs, limit=limit, focus=focus, perspective=perspective
        )

    def _all(self, request: Request) -> Response:
        topics = integer_value(request.query_params, "topics", TOPICS)
        return self._pages.render(request, "graph/all.html", topics=topics, **self._start())

    def _start(self) -> dict[str, Any]:
        """Return the topics with the most shifts, and whether the store has any dialogues."""
        store = self._store
        hubs = explore(store, "hubs", {"limit": HUBS})
        return {"hubs": hubs, "has_dialogues": bool(hubs) or bool(info_of(store).corpora)}

    def _all_data(self, request: Request) -> Response:
        # Read the graph only once. Requests that arrive while the first request reads the graph wait for the
        # lock.
        with self._reading:
            version = content_version(self._store)
            # Read the graph again if a command has changed the store, as `graphneg shift build` does.
            if not self._edges or version != self._edges_version:
                self._edges, self._edges_version = read_edges(self._store), version
        return JSONResponse(
            draw_frequent_topics(self._edges, integer_value(request.query_params, "topics", TOPICS))
        )

    async def _queries(self, request: Request) -> Response:
        """Run a query and show its result. If the visitor closes the connection, stop the query."""
        given = request.query_params
        answer: dict[str, Any] = {"rows": None, "cells": None, "drawn": None}
        fault, status = "", 200
        if given.get("named") or given.get("cypher", "").strip():
            try:
                answer = await self._run_with_time_limit(request, given)
            # `Pages` handles `BusyError`: its response tells the browser to try again later.
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

    async def _run_with_time_limit(self, request: Request, given: Mapping[str, str]) -> dict[str, Any]:
        """Run a query, and stop it if it exceeds its time limit or if the visitor closes the connection.

        Returns:
            The values that the template needs to show the rows.

        Raises:
            QueryStopped: The time limit was reached.
            StoreError: The time limit was reached, and the server has not stopped the query yet.
            ClientDisconnect: The visitor closed the connection.
        """
        slot = await self._slots.take(address_key(request.client.host if request.client else ""))
        cancellation = Cancellation()
        loop = asyncio.get_running_loop()

        def ask() -> dict[str, Any]:
            try:
                return _template_values(self._run_query(given, slot.seconds, cancellation))
            finally:
                # Free the slot when the query has ended on the server. Slots limit how many queries run there
                # at the same time.
                loop.call_soon_threadsafe(slot.release)

        asked = loop.run_in_executor(self._asking, ask)
        disconnected = asyncio.ensure_future(_until_disconnected(request))
        limit = slot.seconds + GRACE_SECONDS + OVERDUE_SECONDS
        try:
            # Wait until the query ends, the visitor leaves, or the time is up.
            await asyncio.wait({asked, disconnected}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return await asked
            # The query is still running. Cancel it without waiting; its slot becomes free when the server has
            # stopped it.
            asked.add_done_callback(_retrieve_error)
            cancellation.cancel()
            if disconnected.done():
                loop.call_later(limit, self._give_up, slot, asked)
                raise ClientDisconnect
            slot.give_up()
            raise StoreError(f"{self._too_slow(slot.seconds)}; the server has not stopped the query yet")
        except QueryStopped as error:
            raise QueryStopped(self._too_slow(slot.seconds)) from error
        finally:
            disconnected.cancel()

    @staticmethod
    def _give_up(slot: Slot, asked: asyncio.Future[dict[str, Any]]) -> None:
        if not asked.done():
            slot.give_up()

    def _too_slow(self, seconds: float) -> str:
        said = f"no answer in {seconds:g} s"
        # If other slow queries are running, a query gets less time than configured. If it exceeds this time,
        # the message says that the server is busy.
        if seconds < self._seconds:
            return f"{said}, and other slow queries are running: try again later"
        return f"{said}: limit the query, or start graphneg serve with a longer --query-timeout"

    def _run_query(self, given: Mapping[str, str], seconds: float, cancellation: Cancellation) -> Rows:
        store = self._store
        limits: dict[str, Any] = {"seconds": seconds, "cancellation": cancellation}
        try:
            if name := given.get("named", ""):
                return explore(store, name, values_of(named_query(name), given), **limits)
            parameters = _parse_parameters(given.get("parameters", ""))
            # Fetch one row more than the page shows, to find out whether the result has more rows.
            return Rows(store.query_read(given["cypher"], parameters, most=ROWS + 1, **limits))
        except QueryStopped:
            raise
        except StoreError as error:
            # If the server of an embedded store has stopped, the next request opens the store again. Tell
            # the visitor so.
            if not store.has_ended:
                raise
            raise StoreError(f"{first_line(error)} (the next request opens the store again)") from error


async def _until_disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _retrieve_error(asked: asyncio.Future[dict[str, Any]]) -> None:
    """Retrieve the error of a query that nobody waits for. Otherwise, asyncio would log a warning."""
    if not asked.cancelled():
        asked.exception()


def _template_values(rows: Rows) -> dict[str, Any]:
    """Return the values for the HTML template: the rows, the texts of the shown cells, and a drawing."""
    cells = [[_cell(written(row[name])) for name in rows.columns] for row in rows[:ROWS]]
    return {"rows": rows, "cells": cells, "drawn": draw_rows(rows)}


def _cell(text: str) -> str:
    return text if len(text) <= CELL else f"{text[:CELL]}… (the first {CELL:,} of {len(text):,} characters)"


def values_of(query: NamedQuery, fields: Mapping[str, str]) -> dict[str, Any]:
    """Parse the values of a named query's parameters, which a visitor has typed into a form.

    Args:
        query: The named query, with its parameters.
        fields: A dictionary from the names of the form's fields to what was typed.

    Returns:
        A dictionary from the names of parameters to their values. Parameters whose field is empty are left
        out.
    """
    values: dict[str, Any] = {}
    for parameter in query.parameters:
        text = fields.get(parameter.name, "").strip()
        if text:
            values[parameter.name] = text if parameter.is_text else _json(parameter.name, text)
    return values


def draw_neighbours(around: Neighbourhood) -> Drawn:
    """Draw a topic with its shifts: shifts to the topic start at the left, shifts from it end at the right.

    Args:
        around: The topic and its shifts.

    Returns:
        The drawing as JSON values, with the topic in the middle.
    """
    sides = {shift.focus: -1 for shift in around.incoming_shifts}
    # A topic with shifts in both directions is drawn on the right.
    sides |= {shift.perspective: 1 for shift in around.outgoing_shifts} | {around.topic: 0}
    edges = [
        (shift.focus, shift.perspective, shift.count)
        for shift in (*around.outgoing_shifts, *around.incoming_shifts)
    ]
    return _draw_shifts(edges, sides)


def draw_frequent_topics(edges: Iterable[Edge], topics: int) -> Drawn:
    """Draw the most frequent topics of the shift graph, and the most frequent shifts between them.

    Args:
        edges: All shifts of the graph, each with the number of its pairs of a post and a reply.
        topics: Maximum number of topics.

    Returns:
        The drawing as JSON values, with at most `MOST_SHIFTS` shifts.
    """
    edges = list(edges)
    pairs = Counter[str]()
    for focus, perspective, count in edges:
        pairs[focus] += count
        pairs[perspective] += count
    ranked = sorted(pairs, key=lambda topic: (-pairs[topic], topic))[:topics]
    sides = dict.fromkeys(ranked, 1)
    among = [edge for edge in edges if edge[0] in sides and edge[1] in sides]
    return _draw_shifts(sorted(among, key=lambda edge: (-edge[2], edge))[:MOST_SHIFTS], sides)


def draw_rows(rows: Rows) -> Drawn | None:
    """Draw the shifts in the rows of a query's result. Without shifts, draw the nodes and relationships.

    A row with the columns ``focus`` and ``perspective`` describes a shift. A row with the columns ``topics``
    and ``counts`` describes a path of several shifts.

    Args:
        rows: The rows of a query's result.

    Returns:
        The drawing as JSON values; None if there is nothing to draw. At most `DRAWN` rows or nodes are
        drawn.
    """
    # Remove duplicates. `fromkeys` keeps the order of the edges.
    edges = list(dict.fromkeys(edge for row in rows[:DRAWN] for edge in _shifts_in_row(row)))
    if edges:
        return _draw_shifts(edges)
    graph = rows.to_networkx()
    if not graph:
        return None
    numbers = {key: number for number, key in enumerate(list(graph)[:DRAWN])}
    nodes = [(key, dict(graph.nodes[key])) for key in numbers]
    topics = [
        {"name": _node_name(key, known), "amount": graph.degree(key), "detail": shown(known)}
        for key, known in nodes
    ]
    shifts = [
        {"from": numbers[start], "to": numbers[end], "amount": 1, "label": kind}
        for start, end, kind in graph.edges(keys=True)
        if start in numbers and end in numbers
    ]
    return {"topics": topics, "shifts": shifts}


def _shifts_in_row(row: Mapping[str, Any]) -> Iterator[Edge]:
    """Yield the topic shifts in one row of a query result.

    A row contains one shift (columns ``focus``, ``perspective``), a path of shifts (column ``topics``), or no
    shifts.
    """
    ends, count = (row.get("focus"), row.get("perspective")), row.get("count", 1)
    if all(isinstance(end, str) for end in ends) and whole_number(count) is not None:
        yield str(ends[0]), str(ends[1]), count
    topics, counts = row.get("topics"), row.get("counts")
    if isinstance(topics, list) and isinstance(counts, list):
        for (focus, perspective), pairs in zip(pairwise(map(str, topics)), counts, strict=False):
            if whole_number(pairs) is not None:
                yield focus, perspective, pairs


def _node_name(key: str, known: Mapping[str, Any]) -> str:
    return str(known.get("text") or known.get("concept") or known.get("value") or known.get("id") or key)


def written(value: Any) -> str:
    """Format a value of a row as text.

    Args:
        value: The value, such as a string, a list or a node of the store.

    Returns:
        The text. Nodes and relationships are written similarly to Cypher patterns, such as ``(:Term tea)``.
    """
    if isinstance(value, Node):
        return f"(:{':'.join(sorted(value.labels))} {_node_name(value.element_id, dict(value.items()))})"
    if isinstance(value, Relationship):
        return f"[:{value.type}]"
    if isinstance(value, Path):
        text, start = written(value.start_node), value.start_node
        # A path may contain relationships that point backwards: write "->" or "<-".
        for step, end in zip(value.relationships, value.nodes[1:], strict=True):
            before, after = ("-", "->") if step.start_node == start else ("<-", "-")
            text, start = f"{text}{before}{written(step)}{after}{written(end)}", end
        return text
    return shown(value)


def _draw_shifts(edges: Sequence[Edge], sides: Mapping[str, int] | None = None) -> Drawn:
    """Draw shifts. ``sides`` maps the topics, in drawing order, to -1 (left), 0 (middle) or 1 (right)."""
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


def _parse_parameters(text: str) -> dict[str, Any]:
    found = _json("parameters", text) if text.strip() else {}
    if not isinstance(found, dict):
        raise InputError('the parameters must be a JSON object, such as {"corpus": "everyday"}')
    return found


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: {text[:40]!r} can't be read: {first_line(error)}") from error
