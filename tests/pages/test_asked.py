"""Tests of every route with hostile values: the answer is a page or one line, never a server error."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from msgspec.structs import replace

from graphneg.evaluation.review.drawing import sample_review
from graphneg.evaluation.review.judgements import Judgements
from graphneg.pages.app import Pages
from graphneg.pages.graph import GraphView
from graphneg.pages.index import open_index
from graphneg.pages.negatives import NegativesView
from graphneg.pages.review import ReviewView
from graphneg.records import write_jsonl
from graphneg.store.opening import open_store
from graphneg.store.reopening import ReopenedStore
from tests.explore_samples import write_samples
from tests.pages.test_negatives import negatives

HOSTILE = (
    *("nan", "inf", "-inf", "1e300", "1e400", "-1", "0", "0x10", "1_000", "²", "٣", "9" * 26, "9" * 5000),
    *(
        "",
        " ",
        "\0",
        "a\0b",
        "\n",
        "\ufffe",
        "\U0010ffff",
        "'",
        '"',
        "'; DROP TABLE negatives; --",
        "%",
        "../..",
    ),
    *(
        "<script>",
        "{{ 7 * 7 }}",
        "[" * 2000,
        "{" * 2000,
        "NaN",
        "null",
        "true",
        '{"a": 1e400}',
        "NEAR(",
        '"a',
    ),
)
NAMES = {
    "/negatives": (
        "file",
        "start",
        "sort",
        "way",
        "text",
        "corpus",
        "least.context_overlap",
        "most.answers",
        "least.x",
    ),
    "/negatives/kept": ("file", "least.context_overlap", "most.selectional_fit", "least.", "most.x"),
    "/graph": ("topic", "limit"),
    "/graph/behind": ("focus", "perspective", "limit"),
    "/graph/all": ("topics",),
    "/graph/all.json": ("topics",),
    "/graph/queries": ("cypher", "parameters", "named", "limit", "focus", "start", "end"),
    "/review": ("x",),
    "/review/results": ("rule",),
    "/review/results/judgements.csv": ("rule",),
    "/review/disagreements": ("row", "rule"),
}
PATHS = ("/negatives/{}/1", "/negatives/0/{}", "/review/by/{}", "/review/results/{}", "/static/{}", "/{}")
FORMS = {
    "/review/begin": ("annotator",),
    "/review/by/ann": ("action", "row", "answer.verdict", "answer.grammatical", "answer.", "comment"),
    "/review/disagreements": ("row", "answer.verdict", "comment"),
}
values = some.sampled_from(HOSTILE) | some.text(max_size=30).map(
    lambda text: text.encode("utf-8", "replace").decode()
)


@dataclass(frozen=True)
class Client:
    """Call an application without a server, so that unexpected exceptions fail the test."""

    application: Any

    def ask(self, path: str, method: str = "GET", sent: bytes = b"") -> tuple[int, str]:
        """Return the status and the text of an answer."""
        bare, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(bare),
            "raw_path": bare.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(b"host", b"pages"), (b"content-type", b"application/x-www-form-urlencoded")],
            "server": ("pages", 80),
        }
        waiting: list[dict[str, Any]] = [{"type": "http.request", "body": sent, "more_body": False}]
        answered: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if not waiting:
                await asyncio.sleep(3600)
            return waiting.pop()

        async def send(message: dict[str, Any]) -> None:
            answered.append(message)

        asyncio.run(self.application(scope, receive, send))
        return answered[0]["status"], b"".join(one.get("body", b"") for one in answered).decode()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Generator[Client]:
    """Return a client of an application with all views."""
    folder: Path = tmp_path_factory.mktemp("asked")
    write_jsonl([replace(one, target="response") for one in negatives()], folder / "made.jsonl")
    with open_store(folder / "store") as store:
        write_samples(store)
        judged = Judgements.create(
            folder / "own.sqlite", sample_review([str(folder / "made.jsonl")], each=3).set
        )
        stores = ReopenedStore(store, lambda: store)
        views = (
            NegativesView([open_index(folder / "made.jsonl")]),
            ReviewView(lambda: judged),
            GraphView(stores, 5),
        )
        pages = Pages(views)
        yield Client(pages.application())
        pages.close()


def test_empty_views_say_which_command_fills_them(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        views = NegativesView([]), GraphView(ReopenedStore(store, lambda: store))
        pages = Pages(views)
        client = Client(pages.application())
        for path in ("/negatives", "/graph", "/graph/all"):
            status, text = client.ask(path)
            assert status == 200 and "graphneg load CORPUS FILE" in text
        assert "graphneg negatives" in client.ask("/negatives")[1]
        write_samples(store)
        assert "<h1>The shift graph</h1>" in client.ask("/graph")[1] and not views[1].is_empty
        pages.close()


def check(status: int, text: str) -> None:
    """Assert that the status is an expected one and that the text reports no crash."""
    assert status in (200, 303, 307, 400, 404, 405)
    assert "went wrong" not in text and "Traceback" not in text


@pytest.mark.parametrize("path", NAMES)
@settings(max_examples=40, deadline=None)
@given(data=some.data())
def test_values_of_an_address_are_refused_in_a_line(client: Client, path: str, data: some.DataObject) -> None:
    asked = data.draw(some.dictionaries(some.sampled_from(NAMES[path]), values, min_size=1))
    check(*client.ask(f"{path}?{urlencode(asked)}"))


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=40, deadline=None)
@given(value=values)
def test_unknown_addresses_are_refused_in_a_line(client: Client, path: str, value: str) -> None:
    check(*client.ask(path.format(quote(value, safe=""))))


@pytest.mark.parametrize("path", FORMS)
@settings(max_examples=40, deadline=None)
@given(data=some.data())
def test_forms_are_refused_in_a_line(client: Client, path: str, data: some.DataObject) -> None:
    fields = data.draw(some.dictionaries(some.sampled_from(FORMS[path]), values))
    check(*client.ask(path, "POST", urlencode(fields).encode()))


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/negatives?file=nan", 400, "is not a whole number of at least 0"),
        ("/negatives?file=1e400", 400, "is not a whole number of at least 0"),
        ("/negatives?start=inf", 400, "is not a whole number of at least 0"),
        ("/negatives?start=1e300", 400, "is not a whole number of at least 0"),
        ("/negatives?file=7", 404, "there is no file 7; the number of files is 1"),
        ("/negatives?sort=none", 400, "sort: unknown value &#39;none&#39;; available: "),
        ("/negatives/kept?file=inf", 400, "is not a whole number of at least 0"),
        ("/negatives/kept?least.context_overlap=nan", 400, "is not a number"),
        (f"/negatives/0/{'9' * 26}", 404, "there is no negative"),
        (f"/negatives/0/{'9' * 5000}", 404, "there is no negative"),
        ("/review/disagreements?row=" + "9" * 5000, 400, "is not a whole number of at least 0"),
        ("/review/results?rule=most", 400, "rule: unknown value &#39;most&#39;; available: "),
    ],
)
def test_the_line_says_what_is_wrong(client: Client, path: str, status: int, said: str) -> None:
    answered, text = client.ask(path)
    assert answered == status and said in text


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("a.csv", b'"' * 1_000_000),
        ("a.csv", b"row,context,response," + b"x" * 140_000 + b"\n"),
        ("a.csv", b'row,context,response\n1,a"b"c,\x00\n'),
        ("a.csv", b"\xff\xfe\x00"),
        ("a.jsonl", b'{"row": 1, "context": [], "response": "\\ud800", "answers": {}}'),
        ("a.jsonl", b"[" * 100_000),
        ("a.jsonl", b'{"row": ' + b"9" * 10_000 + b"}"),
        ("a.json", b'[{"data": {"row": 1, "dialogue": 3}}]'),
        ("a.json", b"[1, 2]"),
        ("a.json", b""),
        ("a.exe", b""),
        ("x" * 5000, b""),
        ("\0.csv", b"a"),
    ],
)
def test_invalid_files_are_refused_in_a_line(client: Client, name: str, sent: bytes) -> None:
    status, text = client.ask(f"/review/import?{urlencode({'name': name})}", "POST", sent)
    assert status == 400 and "went wrong" not in text
