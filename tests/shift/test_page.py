"""Tests of the neighbourhood of a topic in the shift graph: printed, and as an offline page."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Generator
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.shift.page import (
    FREQUENT,
    NARROWEST,
    WIDEST,
    CountedShift,
    ExamplePair,
    Neighbourhood,
    layout,
    neighbourhood,
    page,
    write_page,
)
from graphneg.store.connection import Store
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.explore_samples import write_samples
from tests.servers import wipe
from tools.docs_pages import queries_page

PAGE = (Path(__file__).parents[2] / "docs" / "exploring.md").read_text(encoding="utf-8") + queries_page()
EXAMPLES = re.findall(r"^```console\n\$ graphneg (.*?)\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture(scope="module")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Return the path of a store with the samples. Its server runs during all tests of this module."""
    path = tmp_path_factory.mktemp("samples") / "store"
    with open_store(path) as store:
        write_samples(store)
        yield str(path)


@pytest.fixture(scope="module")
def around(store_path: str) -> Neighbourhood:
    with open_store(store_path) as store:
        return neighbourhood(store, "coffee")


class PageParts(HTMLParser):
    """Collect the elements of a page with their attributes, the scripts and the visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.words.append(data)


class TestNeighbourhood:
    def test_the_neighbourhood_is_the_same_on_every_server(self, store: Store, around: Neighbourhood) -> None:
        wipe(store)
        write_samples(store)
        assert neighbourhood(store, "coffee") == around

    def test_all_shifts_are_counted_and_the_most_frequent_listed(self, store_path: str) -> None:
        with open_store(store_path) as store:
            few = neighbourhood(store, "coffee", limit=1, examples=1)
        assert (few.outgoing, few.perspectives, few.incoming, few.foci, few.self_shifts) == (9, 5, 4, 3, 1)
        assert [(shift.perspective, shift.count) for shift in few.outgoing_shifts] == [("cake", 3)]
        assert [(shift.focus, shift.count) for shift in few.incoming_shifts] == [("tea", 2)]
        assert (few.more_perspectives, few.more_foci) == (4, 1)
        assert few.outgoing_shifts[0].pairs == (
            ExamplePair(
                "kitchen/train/1#1", "kitchen", "Is the coffee ready?", "Yes, and there is cake with it."
            ),
        )

    def test_a_complete_neighbourhood_has_no_more_topics(self, around: Neighbourhood) -> None:
        assert (around.more_perspectives, around.more_foci) == (0, 0)
        assert [len(shift.pairs) for shift in around.outgoing_shifts] == [
            s.count for s in around.outgoing_shifts
        ]


class TestLayout:
    def test_incoming_and_outgoing_shifts_are_on_different_sides(self, around: Neighbourhood) -> None:
        sides = {(curve.shift.focus, curve.shift.perspective): curve.side for curve in layout(around)}
        assert sides[("coffee", "cake")] == 1
        assert sides[("tea", "coffee")] == -1
        assert sides[("coffee", "coffee")] == 0

    def test_widths_follow_counts(self, around: Neighbourhood) -> None:
        widths = {curve.shift.count: curve.width for curve in layout(around)}
        assert widths == {count: WIDEST * count / FREQUENT for count in (1, 2, 3)}
        rare = replace(around.outgoing_shifts[1], count=1)
        frequent = replace(around.outgoing_shifts[0], count=1000)
        curves = layout(replace(around, outgoing_shifts=(frequent, rare), incoming_shifts=()))
        assert [curve.width for curve in curves] == [WIDEST, NARROWEST]

    def test_ends_of_curves_do_not_overlap(self, around: Neighbourhood) -> None:
        ends = [curve.end for curve in layout(around)]
        assert len(set(ends)) == len(ends)


class TestPage:
    def test_the_page_loads_no_resources(self, around: Neighbourhood) -> None:
        parts = PageParts(page(around))
        policies = [
            of["content"] for tag, of in parts.elements if of.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policies and policies[0] is not None and policies[0].startswith("default-src 'none';")
        assert "http" not in policies[0] and "*" not in policies[0]
        for tag, of in parts.elements:
            assert tag not in ("link", "iframe", "img", "object", "embed", "base")
            assert not {"src", "href", "srcset", "data"} & of.keys()
        own = re.sub(r"<script>.*?</script>", "", page(around), count=1, flags=re.S)
        assert not re.search(r"https?://|@import|url\(", own)

    def test_each_shift_links_to_its_utterances(self, around: Neighbourhood) -> None:
        parts = PageParts(page(around))
        curves = layout(around)
        ids = [of["id"] for tag, of in parts.elements if tag == "details"]
        assert sorted(map(str, ids)) == [f"shift-{i}" for i in range(len(curves))]
        for shift in (*around.outgoing_shifts, *around.incoming_shifts):
            for pair in shift.pairs:
                assert pair.post in parts.words and pair.reply in parts.words
        [item] = [script for script in parts.scripts if script.startswith('{"')]
        drawn = json.dumps(json.loads(item))
        assert '"coffee  1"' in drawn and '"cake  3"' in drawn

    def test_texts_are_escaped(self, around: Neighbourhood) -> None:
        nasty = "</script><script>alert(\"1\")</script><b title='x'>"
        pair = ExamplePair("a/b/1#1", "a", nasty, nasty)
        text = page(
            replace(around, topic=nasty, outgoing_shifts=(CountedShift(nasty, nasty + "!", 1, (pair,)),))
        )
        parts = PageParts(text)
        assert len([tag for tag, _ in parts.elements if tag == "script"]) == 3
        assert not [of for _, of in parts.elements if "title" in of]
        assert nasty in parts.words

    def test_omitted_pairs_and_topics_are_counted(self, store_path: str) -> None:
        with open_store(store_path) as store:
            text = page(neighbourhood(store, "coffee", limit=1, examples=1))
        assert "1 of 3 pairs shown" in text
        assert "and 4 topics more, which are less frequent" in text
        assert "and 1 topic more, which are less frequent" in text

    def test_the_page_is_smaller_than_two_megabytes(self, around: Neighbourhood) -> None:
        assert len(page(around).encode()) < 2_000_000

    def test_a_missing_library_is_answered_with_the_extra(
        self, around: Neighbourhood, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("bokeh.resources", "bokeh.embed"):
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(InputError, match=r'pip install "graphneg\[exploring\]"'):
            page(around)

    def test_only_a_page_is_replaced(self, around: Neighbourhood, tmp_path: Path) -> None:
        own, link, pipe = (tmp_path / name for name in ("own.md", "link.html", "pipe"))
        own.write_text("# My notes\n")
        link.symlink_to(own)
        os.mkfifo(pipe)
        for out in (own, link, pipe):
            with pytest.raises(InputError, match=re.escape(str(out))):
                write_page(around, out)
        assert own.read_text() == "# My notes\n"
        write_page(around, tmp_path / "coffee.html")
        write_page(around, tmp_path / "coffee.html")

    def test_a_file_that_cant_be_written_is_named(self, around: Neighbourhood, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"nowhere does not exist"):
            write_page(around, tmp_path / "nowhere" / "coffee.html")


class TestCommand:
    def test_the_neighbourhood_is_printed_with_counts_and_examples(self, run: Run, store_path: str) -> None:
        ended = run("--store", store_path, "shift", "show", "coffee")
        assert ended.status == 0
        assert "9 pairs move from this topic to 5 topics" in ended.out
        assert re.search(
            r"cake +3 +━+ +Is the coffee ready\? *\n +→ Yes, and there is cake with it\.", ended.out
        )
        assert "coffee (stays)" in ended.out
        assert "more, which are less frequent" not in ended.out

    def test_a_page_is_written_as_well(self, run: Run, store_path: str, tmp_path: Path) -> None:
        out = tmp_path / "tea.html"
        ended = run("shift", "show", "tea", "--html", out, "--store", store_path)
        assert ended.status == 0 and f"wrote {out}" in ended.err
        assert "<title>tea: shifts around it</title>" in out.read_text(encoding="utf-8")

    def test_an_unknown_topic_is_one_line_of_error(self, run: Run, store_path: str, tmp_path: Path) -> None:
        out = tmp_path / "page.html"
        ended = run("--store", store_path, "shift", "show", "Caek", "--html", out)
        assert ended.status == 1
        assert ended.err.splitlines()[-1] == "error: 'Caek' is not in the shift graph: did you mean cake?"
        assert ended.out == "" and not out.exists()

    def test_a_topic_without_incoming_shifts_is_shown(self, run: Run, store_path: str) -> None:
        ended = run("--store", store_path, "shift", "show", "weather")
        assert ended.status == 0 and "move to this topic" not in ended.out

    def test_a_missing_shift_graph_is_answered_with_the_command(self, run: Run, tmp_path: Path) -> None:
        with DialogueGraph(open_store(tmp_path / "empty")):
            ended = run("--store", tmp_path / "empty", "shift", "show", "tea")
        assert ended.status == 1 and "build the graph with graphneg shift build" in ended.err


class TestNamedQueries:
    @pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
    def test_documented_examples_are_exact(
        self, run: Run, store_path: str, command: str, output: str
    ) -> None:
        ended = run("--store", store_path, *command.split())
        assert ended.status == 0
        printed = "\n".join(line.rstrip() for line in ended.out.splitlines())
        assert printed.strip("\n") == output.strip("\n")

    def test_without_a_name_all_are_listed(self, run: Run) -> None:
        ended = run("cypher", "--named")
        assert ended.status == 0
        assert re.search(r"behind +focus, perspective, \[corpus\], limit=20 +The replies", ended.out)

    def test_an_unknown_name_is_answered_with_the_known_ones(self, run: Run) -> None:
        ended = run("cypher", "--named", "hub")
        assert ended.status == 2 and ended.out == ""
        assert "self_shifts" in ended.err
        assert ended.err.splitlines()[-1] == "error: no query named 'hub'; did you mean hubs?"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ["perspectives"],
                "error: the query perspectives needs the parameter 'focus': topic of the post "
                "that the replies take up",
            ),
            (
                ["hubs", "--param", "size=3"],
                "error: the query hubs has no parameter 'size'; available: limit",
            ),
            (
                ["hubs", "--param", "limit=few"],
                "error: the parameter 'limit' of the query hubs must be a whole number of at least 0, "
                "not 'few'",
            ),
        ],
    )
    def test_wrong_parameters_are_one_line_of_error(
        self, run: Run, arguments: list[str], message: str
    ) -> None:
        ended = run("cypher", "--named", *arguments)
        assert ended.status == 2 and ended.err.startswith(message)
        assert len(ended.err.splitlines()) == 1

    def test_a_numeric_topic_is_a_text(self, run: Run, store_path: str) -> None:
        ended = run("--store", store_path, "cypher", "--named", "topic", "--param", "focus=2019")
        assert ended.status == 1 and "'2019' is not in the shift graph" in ended.err

    def test_rows_can_be_printed_as_json(self, run: Run, store_path: str) -> None:
        ended = run(
            "--store", store_path, "cypher", "--named", "hubs", "--param", "limit=1", "--format", "json"
        )
        assert json.loads(ended.out)["topic"] == "coffee"

    def test_neither_a_query_nor_a_name_is_wrong_usage(self, run: Run) -> None:
        assert run("cypher").status == 2
        assert run("cypher", "--named", "hubs", "--write").status == 2


@pytest.mark.parametrize("file", ["page_frame.html", "shift/page.html", "evaluation/negatives/page.html"])
def test_a_page_fits_a_telephone(file: str) -> None:
    """A screen of 390 pixels has 24 rem, so no element is wider, except within a media query."""
    style = resources.files("graphneg").joinpath(file).read_text(encoding="utf-8")
    widths = re.findall(r"[{;] *(?:min-)?width: ([\d.]+)rem", re.sub(r"@media[^{]*", "", style))
    assert all(float(width) < 22 for width in widths), widths
