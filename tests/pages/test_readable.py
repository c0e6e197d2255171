"""Tests of accessibility: contrast in the light and dark schemes, and the accessibility tree."""

from __future__ import annotations

from collections.abc import Callable, Generator
from io import BytesIO
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace
from PIL import Image, ImageStat
from playwright.sync_api import Page, expect

from graphneg.records import write_jsonl
from graphneg.store.opening import open_store
from tests.explore_samples import write_samples
from tests.pages.conftest import Served, serving
from tests.pages.test_negatives import negatives
from tests.pages.test_review import begin, press

Visit = Callable[..., Page]
Scheme = Literal["light", "dark"]
VIEWS = (
    "/review",
    "/review/by/ann",
    "/review/results",
    "/review/disagreements",
    "/negatives",
    "/negatives/0/1",
    "/negatives/0/8",
    "/negatives?least.context_overlap=high",
    "/graph",
    "/graph?topic=coffee",
    "/graph/all",
    "/graph/behind?focus=coffee&perspective=cake",
    "/graph/queries?named=hubs",
    "/graph/queries?cypher=MATCH",
)
LEAST_CONTRAST = 4.5
"""Of a text to what is behind it: WCAG 2.2, success criterion 1.4.3."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """Run a server with all three views."""
    folder: Path = tmp_path_factory.mktemp("readable")
    write_jsonl((replace(one, target="response") for one in negatives()), folder / "made.jsonl")
    with open_store(folder / "store") as store:
        write_samples(store)
    with serving(folder, "made.jsonl", "--store", folder / "store", "--n", 1) as running:
        yield running


@pytest.mark.parametrize("scheme", ["light", "dark"])
class TestColourSchemes:
    def test_texts_have_enough_contrast(self, visitor: Visit, served: Served, scheme: Scheme) -> None:
        page = visitor(served)
        page.emulate_media(color_scheme=scheme)
        # Two annotators disagree, so that the page of disagreements is not empty.
        for name, keys in ((f"ben {scheme}", "yyw"), (f"cleo {scheme}", "nnr")):
            begin(page, served, name)
            press(page, keys)
        pale: dict[str, list[str]] = {}
        for path in VIEWS:
            page.goto(f"{served.origin}{path}")
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            if found := page.evaluate(Path(__file__).with_name("contrast.js").read_text(), LEAST_CONTRAST):
                pale[path] = found
        assert not pale

    @pytest.mark.parametrize("path", ["/review", "/negatives/0/1", "/graph?topic=coffee"])
    def test_the_background_follows_the_scheme(
        self, visitor: Visit, served: Served, scheme: Scheme, path: str
    ) -> None:
        page = visitor(served)
        page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
        page.goto(f"{served.origin}{path}")
        if page.locator("canvas").count():
            page.wait_for_selector("canvas[data-settled=true]")
        page.emulate_media(color_scheme=scheme)  # change the scheme while the page is open
        for seen in page.locator("body, canvas, figure.amr").all():
            picture = Image.open(BytesIO(seen.screenshot())).convert("L")
            assert (ImageStat.Stat(picture).median[0] < 128) == (scheme == "dark")


class TestByAScreenReader:
    """The accessibility tree of each view, which a screen reader reads."""

    def test_an_item_to_judge(self, visitor: Visit, served: Served) -> None:
        page = visitor(served)
        begin(page, served, "dora")
        expect(page.get_by_role("main")).to_match_aria_snapshot("""
            - heading "Can this be used as a wrong response?" [level=1]
            - paragraph:
              - progressbar "Judged"
              - text: "dora: 0 judged, 1 left"
            - list "The dialogue":
              - listitem
              - listitem: /Response to judge/
            - group "Is the response grammatical?":
              - radio "Yes y"
              - radio "No n"
            - group "Could somebody say it, in some dialogue?"
            - group "As the next turn of this dialogue it is"
            - textbox "Comment"
            - button "Save Enter"
            - button "Skip s"
            - button "Undo u"
        """)

    def test_an_edit(self, visitor: Visit, served: Served) -> None:
        page = visitor(served)
        page.goto(f"{served.origin}/negatives?text=drink&sort=selectional_fit")
        expect(page.get_by_role("row").nth(1)).to_match_aria_snapshot("""
            - row:
              - cell:
                - link /negative \\d+/
              - cell:
                - paragraph:
                  - text: "turn 1: We"
                  - deletion: "removed: drank"
                  - insertion: "added: did not drink"
        """)

    def test_a_topic(self, visitor: Visit, served: Served) -> None:
        page = visitor(served)
        page.goto(f"{served.origin}/graph?topic=coffee")
        expect(page.get_by_role("main")).to_match_aria_snapshot("""
            - application /shifts around coffee; arrow keys move the drawing/
            - heading "coffee" [level=1]
            - heading "coffee → …" [level=2]
            - list:
              - listitem:
                - link "cake"
                - 'link "3 pairs: coffee to cake"'
        """)
