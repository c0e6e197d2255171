"""Tests of judging in a browser: by keyboard, by two annotators, and after a crash."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page

from graphneg.evaluation.review.drawing import sample_review
from graphneg.evaluation.review.exchange import labels_of, read_judgements, write_judgements
from graphneg.evaluation.review.judgements import ADJUDICATOR, Judgements
from graphneg.evaluation.review.results import Results
from graphneg.model import Negative, Turn
from graphneg.records.files import write_jsonl
from tests.negative_samples import EXAMPLE
from tests.pages.conftest import Served, serving
from tests.pages.test_gate import cookie_of

Visitor = Callable[..., Page]
HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\"'`{{ 7 * 7 }}"
ROW = "input[name=row]"
ACTIVE = ".question.active"
"""The question that keys answer: marked once the page listens to keys."""
WIDTHS = (400, 1600)


def negatives(amount: int, source: str = "edits") -> list[Negative]:
    """Return wrong responses with different texts and contexts."""
    return [
        replace(
            EXAMPLE,
            id=f"secret-{source}-{at}",
            target="response",
            context=(Turn("Ann", f"Turn {at} {HOSTILE}"), Turn("Ben", "Hm.")),
            response=f"Response {at} {HOSTILE}",
        )
        for at in range(amount)
    ]


def written(folder: Path, amount: int = 6) -> Path:
    path = folder / "edits.jsonl"
    write_jsonl(negatives(amount), path)
    return path


def judgements_of(folder: Path) -> Judgements:
    """Open the judgements of the file in a folder."""
    return Judgements.open(folder / "edits.judgements.sqlite")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Served, Path]]:
    """Run a server for many tests, with a gold item and two annotators for each item."""
    folder = tmp_path_factory.mktemp("shared")
    file = written(folder, 10)
    drawn = sample_review([str(file)], each=1).set
    with Judgements.create(folder / "before.sqlite", drawn) as before:
        before.judge(1, "expert", {"grammatical": "yes", "sensible": "yes", "verdict": "wrong"})
        labels = labels_of(Results(drawn, before.all()))
    (folder / "labels.jsonl").write_text(labels, encoding="utf-8")
    with serving(folder, file, "--annotators", 2, "--gold", folder / "labels.jsonl") as running:
        yield running, folder


def begin(page: Page, served: Served, name: str) -> None:
    """Log in as an annotator, up to the first item."""
    page.goto(f"{served.origin}/review")
    page.locator("input[name=annotator]:focus").wait_for()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.locator(ACTIVE).wait_for()


def press(page: Page, keys: str) -> None:
    """Press keys and wait until another item, or the end, is shown."""
    row = page.locator(ROW).input_value() if page.locator(ROW).count() else ""
    for key in keys.split() if " " in keys else keys:
        page.keyboard.press(key)
    page.wait_for_function("row => (document.querySelector('input[name=row]')?.value ?? '') !== row", arg=row)


class TestByKeyboard:
    def test_a_whole_review(self, tmp_path: Path, visitor: Visitor) -> None:
        with serving(tmp_path, written(tmp_path, 4)) as served:
            page = visitor(served)
            begin(page, served, "ann")
            first = page.locator(ROW).input_value()
            press(page, "s")  # skip
            second = page.locator(ROW).input_value()
            press(page, "yyw")
            assert page.get_by_text("ann: 1 judged, 3 left, 1 skipped").is_visible()
            press(page, "u")  # undo
            assert page.locator(ROW).input_value() == second
            page.keyboard.press("c")
            page.keyboard.type("yes, n, u and s are letters here")
            page.keyboard.press("Escape")
            press(page, "1 2 r")  # number keys choose answers, too
            guidelines = page.locator("#guidelines")
            assert guidelines.get_attribute("open") is not None  # guidelines are open for the first item
            page.keyboard.press("g")
            assert guidelines.get_attribute("open") is None
            press(page, "ynw")
            assert guidelines.get_attribute("open") is None
            press(page, "yyw")
            assert page.locator(ROW).input_value() == first  # the skipped item comes last
            for key in ("Tab", "Tab"):  # by the keys of the browser, without shortcuts of the page
                page.keyboard.press(key)
            press(page, "nna")
            page.get_by_text("Nothing is left for ann").wait_for()
        with judgements_of(tmp_path) as judged:
            said = {one.row: one for one in judged.all()}
            assert len(said) == 4
            assert said[int(second)].answers == {"grammatical": "yes", "sensible": "no", "verdict": "right"}
            assert said[int(second)].comment == "yes, n, u and s are letters here"
            assert said[int(first)].answers["verdict"] == "arguable"
            assert judged.set.order("ann")[:2] == [int(first), int(second)]

    def test_answers_are_chosen_by_arrow_keys_without_being_sent(
        self, shared: tuple[Served, Path], visitor: Visitor
    ) -> None:
        page = visitor(shared[0])
        begin(page, shared[0], "arrows")
        row = page.locator(ROW).input_value()
        for question in range(3):
            page.locator(".question").nth(question).locator("input").first.focus()
            page.keyboard.press("Space")
            page.keyboard.press("ArrowRight")
        assert page.locator("input:checked").count() == 3
        assert page.locator(ROW).input_value() == row
        press(page, "Enter ")
        assert page.get_by_text("arrows: 1 judged").is_visible()


class TestTheItem:
    def test_texts_are_shown_as_they_are(self, shared: tuple[Served, Path], visitor: Visitor) -> None:
        page = visitor(shared[0])
        begin(page, shared[0], "xss")
        chat = page.locator(".turns").inner_text()
        assert chat.count(HOSTILE) == 2 and page.evaluate("window.hacked") is None
        page.keyboard.press("c")
        page.keyboard.type(HOSTILE)
        page.keyboard.press("Escape")
        press(page, "yyw")
        press(page, "u")
        assert page.locator("textarea").input_value() == HOSTILE
        press(page, "yyr")
        page.goto(f"{shared[0].origin}/review/disagreements")
        assert page.evaluate("window.hacked") is None
        page.goto(f"{shared[0].origin}/review/by/{HOSTILE.replace('/', '')}")
        page.get_by_role("alert").wait_for()
        assert "is not a valid name" in page.content() and page.evaluate("window.hacked") is None

    def test_the_page_does_not_contain_the_source(
        self, shared: tuple[Served, Path], visitor: Visitor
    ) -> None:
        page = visitor(shared[0])
        begin(page, shared[0], "blind")
        html = page.locator("main").inner_html()
        assert not re.search("secret|polarity_flip|deam|edits|Ann|Ben", html)

    def test_a_gold_item_measures(self, shared: tuple[Served, Path], visitor: Visitor) -> None:
        page = visitor(shared[0])
        begin(page, shared[0], "gold")
        while page.locator(ROW).count():
            press(page, "yyr")
        assert page.get_by_text("2 of 3 gold items answered correctly").is_visible()

    def test_an_answer_by_mouse_is_saved(self, shared: tuple[Served, Path], visitor: Visitor) -> None:
        page = visitor(shared[0])
        begin(page, shared[0], "mouse")
        row = page.locator(ROW).input_value()
        for question in range(3):
            page.locator(".question").nth(question).locator(".answer").last.click()
        page.wait_for_function("row => document.querySelector('input[name=row]')?.value !== row", arg=row)
        assert page.get_by_text("mouse: 1 judged").is_visible()

    def test_forms_work_without_scripts(self, shared: tuple[Served, Path], chromium: Browser) -> None:
        served = shared[0]
        with chromium.new_context(java_script_enabled=False) as context:
            page = context.new_page()
            page.goto(served.address)
            page.goto(f"{served.origin}/review/by/plain")
            for question in range(3):
                page.locator(".question").nth(question).get_by_role("radio").first.check()
            page.get_by_role("button", name="Save").click()
            page.get_by_text("plain: 1 judged").wait_for()

    @pytest.mark.parametrize("width", WIDTHS)
    def test_it_fits_and_everything_has_a_name(
        self, shared: tuple[Served, Path], visitor: Visitor, width: int
    ) -> None:
        page = visitor(shared[0], width)
        for path in ("", "/by/wide", "/results", "/disagreements"):
            page.goto(f"{shared[0].origin}/review{path}")
            assert page.evaluate("document.scrollingElement.scrollWidth") <= width
            unnamed = "[...document.querySelectorAll('input:not([type=hidden]), textarea, select')]"
            assert page.evaluate(f"{unnamed}.filter((one) => !one.labels.length).length") == 0
            assert page.get_by_role("heading", level=1).count() == 1
            assert page.get_by_role("main").count() == page.get_by_role("navigation").count() == 1


class TestTogether:
    def test_two_at_once_share_the_items(self, tmp_path: Path, visitor: Visitor) -> None:
        with serving(tmp_path, written(tmp_path, 6), "--annotators", 1) as served:
            pages = {name: visitor(served) for name in ("ann", "ben")}
            for name, page in pages.items():
                begin(page, served, name)
            while any(page.locator(ROW).count() for page in pages.values()):
                for page in pages.values():
                    if page.locator(ROW).count():
                        press(page, "yyw")
        with judgements_of(tmp_path) as judged:
            by = {name: {one.row for one in judged.all(name)} for name in pages}
        assert by["ann"] | by["ben"] == set(range(1, 7)) and not by["ann"] & by["ben"]
        assert len(by["ann"]) == len(by["ben"]) == 3

    def test_disagreements_are_adjudicated(self, tmp_path: Path, visitor: Visitor) -> None:
        file = written(tmp_path, 3)
        with serving(tmp_path, file) as served:
            page = visitor(served)
            for name, verdicts in (("ann", "www"), ("ben", "wra")):
                begin(page, served, name)
                told = {}
                while page.locator(ROW).count():
                    row = int(page.locator(ROW).input_value())
                    told[row] = verdicts[row - 1]
                    press(page, f"yy{verdicts[row - 1]}")
            page.goto(f"{served.origin}/review/results")
            assert page.get_by_role("link", name="2 disagreements").is_visible()
            said = "With a label: 1. Judged, but without a label by this rule: 2. Not judged: 0."
            assert page.get_by_text(said).is_visible()
            page.get_by_role("link", name="2 disagreements").press("Enter")
            page.locator(ACTIVE).wait_for()
            press(page, "yyw")
            press(page, "yyr")
            page.get_by_text("Nothing is left to decide").wait_for()
            page.goto(f"{served.origin}/review/results?rule=two-of-three")
            assert page.get_by_text("With a label: 3.").is_visible()
            with page.expect_download() as download:
                page.get_by_role("link", name="labels.jsonl").click()
            lines = download.value.path().read_text(encoding="utf-8").splitlines()
        verdicts = {line["row"]: line["answers"]["verdict"] for line in map(json.loads, lines)}
        assert verdicts == {1: "wrong", 2: "wrong", 3: "right"}
        with judgements_of(tmp_path) as judged:
            assert {one.row for one in judged.all(ADJUDICATOR)} == {2, 3}

    def test_a_review_can_be_served_without_its_source_files(self, visitor: Visitor, tmp_path: Path) -> None:
        Judgements.create(
            tmp_path / "own.sqlite", sample_review([str(written(tmp_path))], each=2).set
        ).close()
        with serving(tmp_path, "--judgements", "own.sqlite") as served:
            page = visitor(served)
            begin(page, served, "ann")
        missing = serving(tmp_path, "--judgements", "no.sqlite")
        refused = pytest.raises(AssertionError, match=r"no\.sqlite: there is no such file; give a file")
        with refused, missing:
            pass

    @pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json"])
    def test_judgements_come_in_from_files(
        self, shared: tuple[Served, Path], visitor: Visitor, tmp_path: Path, suffix: str
    ) -> None:
        served, folder = shared
        page = visitor(served)
        begin(page, served, "ann")
        name = f"from{suffix}"
        with judgements_of(folder) as judged:
            judged.judge(2, name, {"grammatical": "no", "sensible": "no", "verdict": "right"}, "é")
            write_judgements(Results(judged.set, judged.all(name)), tmp_path / f"sent{suffix}")
            judged.judge(2, name, {"grammatical": "yes", "sensible": "yes", "verdict": "wrong"})
            page.goto(f"{served.origin}/review/results")
            page.get_by_label("Judgements (").set_input_files(tmp_path / f"sent{suffix}")
            page.get_by_role("button", name="Import").press("Enter")
            page.get_by_text(f"1 judgements imported from sent{suffix}").wait_for()
            (back,) = judged.all(name)
            assert (back.answers["verdict"], back.comment) == ("right", "é")
            assert read_judgements(judged.set, tmp_path / f"sent{suffix}")[0].answers == back.answers
        (tmp_path / f"bad{suffix}").write_text("{", encoding="utf-8")
        page.get_by_label("Judgements (").set_input_files(tmp_path / f"bad{suffix}")
        page.get_by_role("button", name="Import").press("Enter")
        page.get_by_text(f"Not imported: bad{suffix}").wait_for()


class TestACrash:
    def test_unsaved_answers_survive_a_crash_of_the_server(self, tmp_path: Path, visitor: Visitor) -> None:
        file = written(tmp_path)
        with serving(tmp_path, file) as served:
            page = visitor(served)
            begin(page, served, "ann")
            press(page, "yyw")
            press(page, "yyw")
            row = page.locator(ROW).input_value()
            served.kill()
            for key in "yyw":
                page.keyboard.press(key)
            page.get_by_text("Not saved: graphneg serve does not answer").wait_for()
            assert page.locator("input:checked").count() == 3 and page.locator(ROW).input_value() == row
        with serving(tmp_path, file) as served:
            page = visitor(served)
            begin(page, served, "ann")
            assert page.locator(ROW).input_value() == row
            assert page.get_by_text("ann: 2 judged, 4 left").is_visible()

    def test_no_confirmed_judgement_is_lost(self, tmp_path: Path) -> None:
        confirmed: dict[str, set[int]] = {"ann": set(), "ben": set()}
        enough = threading.Event()

        def judge(served: Served, name: str, cookie: str) -> None:
            headers = {"Cookie": cookie, "Origin": served.origin}
            answers = {"answer.grammatical": "yes", "answer.sensible": "no", "answer.verdict": "wrong"}
            connection = http.client.HTTPConnection("127.0.0.1", urlsplit(served.origin).port)
            try:
                for row in range(1, 401):
                    body = urlencode({"row": row, "action": "answer", **answers})
                    connection.request("POST", f"/review/by/{name}", body, headers)
                    answer = connection.getresponse()
                    answer.read()
                    assert answer.status == 303
                    confirmed[name].add(row)
                    if row == 20:
                        enough.set()
            except (OSError, http.client.HTTPException):
                return  # the server was killed

        with serving(tmp_path, written(tmp_path, 400), "--n", 400) as served:
            cookie = cookie_of(served)
            threads = [threading.Thread(target=judge, args=(served, name, cookie)) for name in confirmed]
            for thread in threads:
                thread.start()
            assert enough.wait(300)
            served.kill()
            for thread in threads:
                thread.join()
        with judgements_of(tmp_path) as judged:
            for name, rows in confirmed.items():
                there = {one.row for one in judged.all(name)}
                assert rows and rows <= there and len(there - rows) <= 1
