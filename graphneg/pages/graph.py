"""The graph: shifts from a topic outwards, all topics at once, named queries and Cypher that only reads.

In: an open store. Out: HTML, with drawings as topics and shifts for ``static/drawing.js``; what is drawn also
stands in lists or tables.
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
"""Shifts of a topic in each direction, unless more are asked for."""
HUBS = 60
PAIRS = 50
ROWS = 500
TOPICS, MOST_SHIFTS = 5_000, 20_000
DRAWN = 2_000
SECONDS = 30.0
"""Seconds that a query may take."""
READ_AT_ONCE = 8
"""Requests that read the shift graph at once; others wait."""
OVERDUE_SECONDS = 2.0
"""Seconds after its time that a query's visitor waits for the server to stop it."""
CELL = 5_000
"""Letters of a cell that are shown."""
Drawn = dict[str, Any]
"""``{"topics": [{name, amount, side, detail}], "shifts": [{from, to, amount, label}]}``, for a drawing."""


class GraphView:
    """Shows a store's shift graph, and answers queries."""

    title = "Graph"
    path = "/graph"

    def __init__(self, stores: ReopenedStore, seconds: float = SECONDS) -> None:
        self._stores = stores
        self._seconds = seconds
        self._turns = Turns(seconds)
        # Own threads: neither slow queries nor a store that is being opened keep other views waiting.
        self._asking = ThreadPoolExecutor(PATIENT + QUICK, "graphneg-query")
        self._drawing = ThreadPoolExecutor(READ_AT_ONCE, "graphneg-graph")
        self._edges: Sequence[Edge] = ()
        self._reading = Lock()

    @property
    def is_empty(self) -> bool:
        """Return whether the store has no shift graph."""
        try:
            return not explore(self._stores.current(), "hubs", {"limit": 1})
        except GraphnegError:  # the view itself says what is wrong
            return False

    def routes(self, pages: Pages) -> Sequence[Route]:
        """A topic, the utterances behind a shift, all topics (and their data), queries."""
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
        """Wait for no query; the store is closed by who has opened it, which ends them."""
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
        """Return the topics of the most pairs, and whether the store has dialogues to find topics in."""
        store = self._store
        hubs = explore(store, "hubs", {"limit": HUBS})
        return {"hubs": hubs, "has_dialogues": bool(hubs) or bool(info_of(store).corpora)}

    def _all_data(self, request: Request) -> Response:
        with self._reading:
            self._edges = self._edges or read_edges(self._store)
        return JSONResponse(commonest_drawn(self._edges, whole(request.query_params, "topics", TOPICS)))

    async def _queries(self, request: Request) -> Response:
        """Answer a query, unless the visitor leaves before; then it is stopped on the server."""
        given = request.query_params
        answer: dict[str, Any] = {"rows": None, "cells": None, "drawn": None}
        fault, status = "", 200
        if given.get("named") or given.get("cypher", "").strip():
            try:
                answer = await self._in_time(request, given)
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
        """Return what a template shows of a query's rows.

        Raises:
            BusyError: Too many queries run already.
            GraphnegError: The query is wrong, or was stopped since its time was up.
            ClientDisconnect: The visitor left.
        """
        place = await self._turns.take()
        cancellation = Cancellation()
        loop = asyncio.get_running_loop()

        def ask() -> dict[str, Any]:
            try:
                return _answer(self._asked(given, place.seconds, cancellation))
            finally:  # only now has the query ended on the server
                loop.call_soon_threadsafe(place.leave)

        asked = loop.run_in_executor(self._asking, ask)
        left = asyncio.ensure_future(_until_left(request))
        limit = place.seconds + GRACE_SECONDS + OVERDUE_SECONDS
        try:
            await asyncio.wait({asked, left}, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return await asked
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
            return Rows(store.query_read(given["cypher"], parameters, most=ROWS + 1, **limits))
        except QueryStopped:
            raise
        except StoreError as error:
            if not store.has_ended:
                raise
            raise StoreError(f"{first_line(error)} (the next request opens the store again)") from error


async def _until_left(request: Request) -> None:
    """Wait until the visitor closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _forget(asked: asyncio.Future[dict[str, Any]]) -> None:
    """Take the result of a query that nobody waits for, so that an error of it is not reported as lost."""
    if not asked.cancelled():
        asked.exception()


def _answer(rows: Rows) -> dict[str, Any]:
    """What a template shows of rows: their columns, the first ones as texts, and a drawing."""
    cells = [[_cell(written(row[name])) for name in rows.columns] for row in rows[:ROWS]]
    return {"rows": rows, "cells": cells, "drawn": rows_drawn(rows)}


def _cell(text: str) -> str:
    return text if len(text) <= CELL else f"{text[:CELL]}… (the first {CELL:,} of {len(text):,} letters)"


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
