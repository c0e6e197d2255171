"""Tests of the graph pages in a browser: a topic and its neighbours, all topics, and queries."""

from __future__ import annotations

import json
import re
import signal
import socket
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from graphneg.pages.graph import MOST_SHIFTS, draw_frequent_topics
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from tests.explore_samples import write_samples
from tests.pages.conftest import Served, serving
from tests.pages.test_gate import Answer, cookie_of

SLOW = (
    "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y WITH x, y WHERE x * y % 7 = 9 RETURN count(*)"
)
RUNNING = "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery = $text RETURN currentQuery"
HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[Store]:
    with open_store(tmp_path_factory.mktemp("shifts") / "store") as opened:
        write_samples(opened)
        yield opened


@pytest.fixture(scope="module")
def served(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    folder = tmp_path_factory.getbasetemp() / "shifts0"
    with serving(folder, "--store", folder / "store") as running:
        yield running


@pytest.fixture
def page(visitor: Visit, served: Served) -> Page:
    return visitor(served)


def ask(page: Page, served: Served, **given: str) -> int:
    """Open the page of queries; return the HTTP status."""
    answer = page.goto(f"{served.origin}/graph/queries?{urlencode(given)}")
    assert answer is not None
    return answer.status


def drawn_names(page: Page) -> set[str]:
    """Wait until the layout has settled; return the drawn topics."""
    page.wait_for_selector("canvas[data-settled=true]")
    return set(page.evaluate("document.querySelector('canvas').drawing.graph.topics.map((t) => t.name)"))


def place_of(page: Page, name: str) -> tuple[float, float]:
    """Return the position of a topic on the page, in pixels."""
    x, y = page.evaluate(
        """(name) => {
          const canvas = document.querySelector("canvas"), { drawing } = canvas, { view, places } = drawing;
          const i = drawing.graph.topics.findIndex((topic) => topic.name === name);
          const { left, top } = canvas.getBoundingClientRect();
          return [left + view.x + view.scale * places[2 * i], top + view.y + view.scale * places[2 * i + 1]];
        }""",
        name,
    )
    return x, y


class TestTopic:
    def test_topics_are_reached_by_keyboard(self, page: Page, served: Served) -> None:
        expect(page.get_by_role("row", name="coffee")).to_be_visible()
        page.get_by_label("topic").fill("coffee")
        page.get_by_label("topic").press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("coffee")
        before = drawn_names(page)
        assert {"coffee", "cake", "tea"} <= before and "cream" not in before
        page.locator(".perspective").get_by_role("link", name="cake", exact=True).press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("cake")
        assert page.url.endswith("topic=cake")
        assert drawn_names(page) >= before | {"cream"}  # topics drawn before are kept
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text("coffee")

    def test_a_click_on_a_topic_opens_it(self, page: Page, served: Served) -> None:
        page.goto(f"{served.origin}/graph?topic=coffee")
        drawn_names(page)
        page.mouse.click(*place_of(page, "cake"))
        expect(page.get_by_role("heading", level=1)).to_have_text("cake")

    def test_the_utterances_of_a_shift_are_shown(self, page: Page, served: Served) -> None:
        page.goto(f"{served.origin}/graph?topic=coffee")
        page.locator(".perspective").get_by_role("link", name=re.compile("pairs: coffee to cake")).press(
            "Enter"
        )
        expect(page.locator("#behind li")).to_have_count(3)
        expect(page.locator("#behind")).to_contain_text("I baked a cake to go with it.")
        expect(page.locator("#behind")).to_be_focused()
        drawn_names(page)
        (x, y), (to_x, to_y) = place_of(page, "coffee"), place_of(page, "tea")
        page.evaluate("(pairs) => document.querySelector('canvas').drawing.pairs = new Set(pairs)", [])
        page.mouse.click((x + to_x) / 2, (y + to_y) / 2)  # the middle of the arrow
        expect(page.locator("#behind")).to_contain_text("Tea for me, please.")

    def test_the_drawing_is_moved_and_zoomed_by_keyboard_and_wheel(self, page: Page, served: Served) -> None:
        page.goto(f"{served.origin}/graph?topic=coffee")
        drawn_names(page)
        view = "({ ...document.querySelector('canvas').drawing.view })"
        start = page.evaluate(view)
        canvas = page.locator("canvas")
        for keys, changed in (("+", "scale"), ("ArrowLeft", "x"), ("ArrowDown", "y")):
            before = page.evaluate(view)
            canvas.press(keys)
            assert page.evaluate(view)[changed] != before[changed]
        canvas.press("0")
        assert page.evaluate(view) == pytest.approx(start)
        canvas.hover()
        page.mouse.wheel(0, -300)
        page.wait_for_function(f"{view}.scale > {start['scale']}")

    def test_an_unknown_topic_is_answered_with_similar_ones(self, page: Page, served: Served) -> None:
        answer = page.goto(f"{served.origin}/graph?topic=coffe")
        assert answer is not None and answer.status == 400
        expect(page.get_by_role("alert")).to_contain_text("did you mean coffee")

    @pytest.mark.parametrize("width", [400, 1600])
    def test_every_view_fits_the_width(self, visitor: Visit, served: Served, width: int) -> None:
        page = visitor(served, width)
        for path in (
            "",
            "?topic=coffee",
            "/all",
            "/queries?named=hubs",
            "/behind?focus=coffee&perspective=cake",
        ):
            page.goto(f"{served.origin}/graph{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.goto(f"{served.origin}/graph")
        assert page.locator(".wide").evaluate("(table) => table.scrollWidth <= table.clientWidth")


class TestAll:
    def test_the_whole_graph_has_every_topic(self, page: Page, served: Served, store: Store) -> None:
        page.goto(f"{served.origin}/graph/all")
        rows = store.read("MATCH (t:Term) WHERE EXISTS { (t)-[:SHIFTS_TO]-(:Term) } RETURN t.text AS text")
        topics = {row["text"] for row in rows}
        assert drawn_names(page) == topics
        expect(page.locator("#told")).to_contain_text(f"{len(topics)} topics")
        page.mouse.click(*place_of(page, "coffee"))
        page.wait_for_url("**/graph?topic=coffee")

    def test_the_whole_graph_has_a_topic_that_a_command_adds_meanwhile(
        self, page: Page, served: Served, store: Store
    ) -> None:
        def topics() -> set[str]:
            drawn = page.request.get(f"{served.origin}/graph/all.json?topics=1000").json()
            return {topic["name"] for topic in drawn["topics"]}

        def change(query: str) -> None:
            store.query_write(query)

        before = topics()
        change(
            "MATCH (t:Term {text: 'coffee'}) CREATE (t)-[:SHIFTS_TO {count: 1}]->(:Term {text: 'new topic'})"
        )
        try:
            assert topics() == {*before, "new topic"}
        finally:
            change("MATCH (t:Term {text: 'new topic'}) DETACH DELETE t")
        assert topics() == before

    def test_the_most_frequent_topics_are_drawn_if_there_are_too_many(self) -> None:
        edges = [(f"t{a}", f"t{b}", a * b) for a in range(1, 40) for b in range(1, 40)]
        drawn = draw_frequent_topics(edges, 10)
        assert [topic["name"] for topic in drawn["topics"]] == [f"t{n}" for n in range(39, 29, -1)]
        assert len(drawn["shifts"]) == 100 and drawn["shifts"][0] == {"from": 0, "to": 0, "amount": 39 * 39}
        many = [(f"t{n // 200}", f"t{n % 200}", 1) for n in range(MOST_SHIFTS + 5_000)]
        assert len(draw_frequent_topics(many, 1_000)["shifts"]) == MOST_SHIFTS


class TestQueries:
    def test_a_named_query_is_a_form(self, page: Page, served: Served) -> None:
        page.goto(f"{served.origin}/graph/queries")
        form = page.locator("details.named", has=page.get_by_text("perspectives", exact=True))
        form.locator("summary").press("Enter")
        form.get_by_label("focus").fill("coffee")
        form.get_by_label("limit").fill("2")
        form.get_by_label("limit").press("Enter")
        expect(page.locator("#result tbody tr")).to_have_count(2)
        expect(page.locator("#result tbody tr").first).to_have_text(re.compile(r"cake\s+3\s+0.333"))
        assert ask(page, served, named="paths", start="tea", end="cream") == 200
        assert {"tea", "cake", "cream"} <= drawn_names(page)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"named": "perspectives"}, "needs the parameter 'focus'"),
            ({"named": "hubs", "limit": "-1"}, "a whole number of at least 0"),
            ({"named": "hubs", "limit": "many"}, "limit: 'many' can't be read"),
            ({"named": "hub"}, "did you mean hubs"),
            ({"cypher": "MATCH (n) DETACH DELETE n"}, "would write"),
            ({"cypher": "MATCH (n) WITH n AS as DETACH DELETE as"}, "only read"),
            ({"cypher": "WITH 1 AS as LOAD CSV FROM 'file:///etc/hosts' AS l RETURN l"}, "only read"),
            ({"cypher": "MATCH (n RETURN n"}, "embedded"),
            ({"cypher": "RETURN $n", "parameters": "[1]"}, "a JSON object"),
        ],
    )
    def test_errors_are_shown_beside_the_form(
        self, page: Page, served: Served, store: Store, given: dict[str, str], said: str
    ) -> None:
        amount = store.read("MATCH (n) RETURN count(n) AS amount")[0]["amount"]
        assert ask(page, served, **given) == 400
        expect(page.get_by_role("alert")).to_contain_text(said)
        expect(page.get_by_label("Read-only Cypher query")).to_have_value(given.get("cypher", ""))
        assert store.read("MATCH (n) RETURN count(n) AS amount")[0]["amount"] == amount

    def test_a_slow_query_is_stopped(
        self, visitor: Visit, served: Served, store: Store, tmp_path: Path
    ) -> None:
        numbers = "UNWIND range(1, 1500) AS"
        long = f"{numbers} x {numbers} y WITH x, y WHERE x * y % 7 = 9 RETURN count(*)"
        folder = Path(store.description.removeprefix("embedded store at "))
        with serving(tmp_path, "--store", folder, "--query-timeout", "0.2") as other:
            page = visitor(other)
            assert ask(page, other, cypher=long) == 400
            expect(page.get_by_role("alert")).to_contain_text("no answer in 0.2 s: limit the query")
            other.process.send_signal(signal.SIGINT)
            assert other.process.wait(timeout=600) == 130

    def test_slow_queries_leave_room_for_quick_ones_and_for_other_views(
        self, served: Served, store: Store
    ) -> None:
        cookie = cookie_of(served)

        def ask(query: str) -> tuple[int, str]:
            answer = Answer(served, f"/graph/queries?{urlencode({'cypher': query})}", Cookie=cookie)
            return answer.status, answer.text

        with ThreadPoolExecutor(9) as visitors:
            slow = [visitors.submit(ask, SLOW) for _ in range(9)]
            busy = {"other slow queries are running", "busy with other queries", "no answer in 30 s"}
            time.sleep(1)
            assert Answer(served, "/graph?topic=coffee", Cookie=cookie).status == 200
            until = time.monotonic() + 20
            while ask("RETURN 1")[0] != 200:
                assert time.monotonic() < until
            told = [asked.result() for asked in slow]
        odd = [one for one in told if one[0] not in (400, 503) or not any(said in one[1] for said in busy)]
        assert not odd
        assert sum("other slow queries are running" in text for _, text in told) >= 3
        assert not store.read(RUNNING, text=SLOW)

    def test_the_query_of_a_visitor_who_leaves_ends_on_the_server(self, served: Served, store: Store) -> None:
        query = f"{SLOW} AS left"
        parts = urlsplit(served.origin)
        with socket.create_connection(("127.0.0.1", parts.port or 80)) as visitor:
            head = f"Host: {parts.netloc}\r\nCookie: {cookie_of(served)}\r\n\r\n"
            asked = urlencode({"cypher": query})
            visitor.sendall(f"GET /graph/queries?{asked} HTTP/1.1\r\n{head}".encode())
            until = time.monotonic() + 20
            while not store.read(RUNNING, text=query):
                assert time.monotonic() < until
        while store.read(RUNNING, text=query):
            assert time.monotonic() < until + 5

    def test_a_server_that_a_query_ended_is_started_again(self, tmp_path: Path) -> None:
        with open_store(tmp_path / "store") as own:
            write_samples(own)
        with serving(tmp_path, "--store", tmp_path / "store") as other:
            cookie = cookie_of(other)
            query = urlencode({"cypher": "RETURN reduce(s = 'x', i IN range(1, 30) | s + s)"})
            answer = Answer(other, f"/graph/queries?{query}", Cookie=cookie)
            assert answer.status == 400 and "OutOfMemoryError" in answer.text
            assert "the next request opens the store again" in answer.text
            assert Answer(other, "/graph?topic=coffee", Cookie=cookie).status == 200

    def test_nodes_and_relationships_are_drawn_and_written(self, page: Page, served: Served) -> None:
        query = (
            "MATCH way = (t:Term {text: $text})-[:SHIFTS_TO]->(p:Term {text: 'cake'})<-[s:SHIFTS_TO]-(o) "
            "RETURN way, s"
        )
        assert ask(page, served, cypher=query, parameters=json.dumps({"text": "coffee"})) == 200
        assert {"coffee", "cake"} <= drawn_names(page)
        way = "(:Term coffee)-[:SHIFTS_TO]->(:Term cake)<-[:SHIFTS_TO]-(:Term tea)"
        expect(page.get_by_role("cell", name=way, exact=True)).to_be_visible()
        page.mouse.click(*place_of(page, "coffee"))
        expect(page.locator("#behind")).to_contain_text('"text": "coffee"')

    def test_only_the_first_rows_of_a_result_are_shown(self, page: Page, served: Served) -> None:
        assert ask(page, served, cypher="UNWIND range(1, 100000) AS n RETURN n") == 200
        expect(page.locator("#result").get_by_role("status").first).to_have_text("the first 500 rows")
        expect(page.locator("#result tbody tr")).to_have_count(500)

    def test_texts_are_escaped(self, page: Page, served: Served) -> None:
        query = f'RETURN "{HOSTILE}" AS text, {{a: "{HOSTILE}"}} AS `{HOSTILE}`'
        assert ask(page, served, cypher=query) == 200
        expect(page.get_by_role("cell", name=HOSTILE, exact=True)).to_be_visible()
        page.goto(f"{served.origin}/graph?{urlencode({'topic': HOSTILE})}")
        expect(page.get_by_role("alert")).to_contain_text("window.hacked")
        assert page.evaluate("window.hacked") is None
