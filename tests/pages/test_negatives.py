"""Tests of the pages of negatives in a browser: index, table, single negatives and thresholds."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import sqlite3
import sys
import tracemalloc
import zlib
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page, expect

from graphneg.amr.penman import parse_graph
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.ids import natural_order
from graphneg.model import EditedPenman, Negative, Original, Turn
from graphneg.pages.drawing import HEIGHT, Drawing, align_nodes, draw_edited
from graphneg.pages.index import BATCH, STEPS, Filter, NegativesIndex, open_index
from graphneg.records import write_jsonl, write_parquet
from graphneg.records.files import read_negatives
from graphneg.scorers.choosing import SelectedNegatives, SelectionCriteria
from graphneg.store.opening import open_store
from tests.cli_runs import Run
from tests.negative_samples import EXAMPLE
from tests.pages.conftest import Served, serving

HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
SAID = (
    ("Is there any tea left?", "We drank the tea.", "We did not drink the tea.", "polarity_flip"),
    ("Do you like the café?", "I like it.", "I don't like it.", "polarity_flip"),
    ("Where is the train?", "The train is late.", "A cake is late.", "topical_statement"),
    ("Who paints the wall?", "I paint it.", "You paint it.", "person_swap"),
)
BEFORE = "(d / drink-01 :ARG0 (w / we) :ARG1 (t / tea))"
AFTER = "(d / drink-01 :polarity - :ARG0 (w / we) :ARG1 (c / coffee))"
UNFIT = AFTER.replace("coffee", "cake")
SIZE = 130
Visit = Callable[..., Page]


def negatives() -> list[Negative]:
    """Return negatives of three transforms; 5 contains HTML, 7 is correct, and 8 is of a generator."""
    chance = random.Random(0)
    found: list[Negative] = []
    for n in range(SIZE):
        asked, right, wrong, transform = SAID[n % len(SAID)]
        edit = replace(EXAMPLE.edits[0], transform=transform, turn=1)
        found.append(
            replace(
                EXAMPLE,
                id=f"own/test/{n}#1~all.0",
                corpus="own" if n % 3 else "other",
                dialogue=f"own/test/{n // 2}",
                turn=1,
                context=(Turn("A", asked),),
                original=Original(None, right),
                response=wrong,
                recipe="all",
                edits=(edit,),
                amr={"1": EditedPenman(BEFORE, UNFIT if transform == "person_swap" else AFTER)},
                scores={"answers": round(chance.random(), 4)} if n % 10 else {},
            )
        )
    found[5] = replace(
        found[5],
        id=f"own/test/{HOSTILE}",
        corpus=f"{HOSTILE}{'long' * 20}",
        response=HOSTILE,
        scores={f"<b>{HOSTILE}": 2.5},
    )
    found[6] = replace(found[6], label=1, edits=(), amr={}, categories=())
    found[7] = replace(found[7], recipe="hard", amr={}, response="A cup of tea for the painter, please.")
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("negatives") / "made.jsonl"
    write_jsonl(negatives(), made)
    return made


@pytest.fixture(scope="module")
def index(path: Path) -> NegativesIndex:
    return open_index(path)


@pytest.fixture(scope="module")
def served(path: Path) -> Generator[Served]:
    with serving(path.parent, path.name) as running:
        yield running


@pytest.fixture
def page(visitor: Visit, served: Served) -> Page:
    opened = visitor(served)
    opened.goto(f"{served.origin}/negatives")
    return opened


class TestIndex:
    @pytest.mark.parametrize(
        "least",
        [
            {"context_overlap": 0.34},
            {"selectional_fit": 0.5},
            {"context_overlap": 0.2, "selectional_fit": 1.0},
        ],
    )
    def test_counts_of_a_threshold_equal_those_of_select(
        self, path: Path, index: NegativesIndex, least: dict[str, float]
    ) -> None:
        kept = list(SelectedNegatives(path, SelectionCriteria(min_scores=least)))
        assert index.count_within(least, {}) == (len(kept), SIZE - 1)
        assert 0 < len(kept) < SIZE - 1

    def test_the_index_has_the_distribution_of_a_score(self, index: NegativesIndex) -> None:
        spread = next(one for one in index.score_distributions() if one.score == "answers")
        values = [one.scores["answers"] for one in negatives() if "answers" in one.scores and one.label == 0]
        assert spread.amount == len(values) and spread.wrong == SIZE - 1
        assert spread.thresholds == tuple(round(step / STEPS, 4) for step in range(STEPS + 1))
        for threshold, below, above in zip(spread.thresholds, spread.below, spread.above, strict=True):
            assert below == sum(value < threshold for value in values)
            assert above == sum(value > threshold for value in values)

    @pytest.mark.parametrize(
        ("asked", "holds"),
        [
            (Filter(), lambda one: True),
            (
                Filter({"transform": "topical_statement"}),
                lambda one: any(edit.transform == "topical_statement" for edit in one.edits),
            ),
            (Filter({"corpus": "other", "generator": "all"}), lambda one: one.corpus == "other"),
            (Filter({"corpus": HOSTILE}), lambda one: one.corpus == HOSTILE),
            (Filter({"category": "none such"}), lambda one: False),
            (Filter(text="drank TEA"), lambda one: False),
            (Filter(text="not TEA"), lambda one: "not drink the tea" in one.response),
            (Filter(text="caf"), lambda one: "café" in one.context[0].text),
            (Filter(text='"*" OR -- ?'), lambda one: False),
            (Filter(ranges={"answers": (0.25, None)}), lambda one: one.scores.get("answers", 0) >= 0.25),
            (Filter(ranges={"answers": (0.1, 0.2)}), lambda one: 0.1 <= one.scores.get("answers", 0) <= 0.2),
        ],
    )
    def test_the_index_finds_the_same_as_reading_the_file(
        self, path: Path, index: NegativesIndex, asked: Filter, holds: Callable[[Negative], bool]
    ) -> None:
        wanted = [one.id for one in read_negatives(path) if holds(one)]
        assert index.count(asked) == len(wanted)
        found = [index.page(asked, start, 7) for start in range(0, SIZE, 7)]
        assert [one.negative.id for part in found for one in part] == wanted

    @pytest.mark.parametrize("descending", [False, True])
    def test_negatives_without_a_score_are_sorted_last(self, index: NegativesIndex, descending: bool) -> None:
        found = index.page(Filter(), 0, SIZE, "answers", descending=descending)
        values = [one.negative.scores.get("answers") for one in found]
        with_it = [value for value in values if value is not None]
        assert with_it == sorted(with_it, reverse=descending)
        assert values == [*with_it, *[None] * (SIZE - len(with_it))]

    def test_the_index_has_the_neighbours_of_a_negative(self, index: NegativesIndex) -> None:
        amount, alike = index.same_edit(3, 2)
        assert [one.n for one in alike] == [11, 15]  # 7 is a correct response, 8 is of a generator
        assert amount == len(range(11, SIZE + 1, 4))
        assert [one.n for one in index.same_dialogue(4, 9)[1]] == [3]

    def test_a_parquet_file_has_an_equal_index(self, index: NegativesIndex, tmp_path: Path) -> None:
        write_parquet(negatives(), tmp_path / "made.parquet")
        other = open_index(tmp_path / "made.parquet")
        assert other.page(Filter(), 0, SIZE) == index.page(Filter(), 0, SIZE)

    def test_the_index_is_rebuilt_when_the_file_changes(self, tmp_path: Path) -> None:
        path, beside = tmp_path / "made.jsonl", tmp_path / ".made.jsonl.index.sqlite"
        write_jsonl(negatives()[:3], path)
        first = open_index(path)
        made = beside.stat().st_ino
        assert open_index(path).total == 3 and beside.stat().st_ino == made
        write_jsonl(negatives()[:5], path)
        assert first.is_stale
        assert open_index(path).total == 5
        beside.unlink()
        assert open_index(path).total == 5 and beside.exists()

    @pytest.mark.parametrize("what", ["text", "another database", "a link", "a FIFO", "a folder"])
    def test_leaves_what_has_its_name_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
    ) -> None:
        if sys.platform == "win32" and what in ("a link", "a FIFO"):
            pytest.skip("links and FIFOs of POSIX")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        path, beside = tmp_path / "made.jsonl", tmp_path / ".made.jsonl.index.sqlite"
        write_jsonl(negatives()[:3], path)
        precious = tmp_path / "precious.sqlite"
        with closing(sqlite3.connect(precious)) as database:
            database.execute("CREATE TABLE mine (x)")
        content = precious.read_bytes()
        {
            "text": lambda: beside.write_text("precious"),
            "another database": lambda: beside.write_bytes(content),
            "a link": lambda: beside.symlink_to(precious),
            "a FIFO": lambda: os.mkfifo(beside),
            "a folder": beside.mkdir,
        }[what]()
        before = beside.lstat()
        for _ in range(2):
            assert open_index(path).total == 3
        assert beside.lstat() == before and precious.read_bytes() == content

    @pytest.mark.parametrize(
        "forged",
        [
            "DROP TABLE negatives; CREATE VIEW negatives AS SELECT 1 n, 'd' dialogue, 1 is_wrong, x'' record",
            "CREATE TRIGGER hacked AFTER INSERT ON facts BEGIN DELETE FROM facts; END; DELETE FROM negatives",
        ],
        ids=["a view", "a trigger"],
    )
    def test_of_somebody_else_is_made_anew_if_it_holds_code(self, tmp_path: Path, forged: str) -> None:
        path, beside = tmp_path / "made.jsonl", tmp_path / ".made.jsonl.index.sqlite"
        write_jsonl(negatives()[:3], path)
        open_index(path)
        with closing(sqlite3.connect(beside)) as index:
            index.executescript(forged)
        assert len(open_index(path).page(Filter(), 0, 9)) == 3

    def test_with_a_record_that_expands_without_end_is_one_clear_error(self, tmp_path: Path) -> None:
        path, beside = tmp_path / "made.jsonl", tmp_path / ".made.jsonl.index.sqlite"
        write_jsonl(negatives()[:3], path)
        open_index(path)
        with closing(sqlite3.connect(beside)) as index, index:
            index.execute("UPDATE negatives SET record = ?", [zlib.compress(b" " * 70_000_000)])
        with pytest.raises(InputError, match="a record is longer than"):
            open_index(path).at(1)

    def test_a_broken_file_leaves_no_index(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "made.jsonl"
        write_jsonl(negatives()[:3], path)
        path.write_text(path.read_text() + '{"id": 1}\n')
        ended = run("serve", path, "--port", "0")
        assert ended.status == 2 and ended.err.count("\n") <= 2
        assert "made.jsonl, line 4" in ended.err
        assert {one.name for one in tmp_path.iterdir()} == {"made.jsonl"}
        with pytest.raises(InputError, match="can't be read"):
            open_index(tmp_path / "missing.jsonl")

    def test_an_unreadable_graph_is_not_drawn(self, tmp_path: Path) -> None:
        write_jsonl([replace(EXAMPLE, amr={"2": EditedPenman(None, "(a / ")})], tmp_path / "a.jsonl")
        assert open_index(tmp_path / "a.jsonl").at(1).scores == EXAMPLE.scores


def states(drawing: Drawing) -> dict[str, str]:
    return {node.label: node.state for node in drawing.nodes}


def drawn(before: str, after: str) -> tuple[Drawing, Drawing]:
    return draw_edited(parse_graph(before), parse_graph(after))


class TestDrawing:
    def test_changed_nodes_are_marked(self) -> None:
        before, after = drawn(BEFORE, AFTER)
        assert states(before) == {"drink-01": "kept", "we": "kept", "tea": "changed"}
        assert states(after) == {"drink-01": "kept", "-": "new", "we": "kept", "coffee": "changed"}
        assert {edge.role: edge.state for edge in after.edges} == {
            "polarity": "new",
            "ARG0": "kept",
            "ARG1": "kept",
        }

    def test_a_wrapped_graph_is_found_inside_the_other(self) -> None:
        wrapped = f"(p / possible-01 :ARG1 {BEFORE})"
        before, after = drawn(BEFORE, wrapped)
        assert set(states(before).values()) == {"kept"}
        assert states(after)["possible-01"] == "new" and states(after)["drink-01"] == "kept"
        before, after = drawn(wrapped, BEFORE)
        assert states(before)["possible-01"] == "gone" and set(states(after).values()) == {"kept"}

    def test_another_graph_in_its_place_shares_nothing_by_chance(self) -> None:
        before, after = drawn(
            "(m / multi-sentence :snt1 (f / fill-01 :ARG0 (i / i)))", "(c / charge-01 :ARG0 (i / i))"
        )
        assert states(before)["i"] == "gone" and states(after)["i"] == "new"

    def test_a_mention_is_drawn_as_an_arrow(self) -> None:
        graph = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
        before, _ = drawn(graph, graph)
        assert [(edge.role, edge.state) for edge in before.edges if edge.head] == [("ARG0", "kept")]
        assert before.described == "want-01 ARG0 boy; want-01 ARG1 go-02; go-02 ARG0 boy"

    def test_boxes_do_not_overlap(self) -> None:
        text = (
            "(a / and "
            + " ".join(f":op{n} (x{n} / a-concept-{'long-' * n}01 :ARG0 (y{n} / i))" for n in range(1, 9))
            + ")"
        )
        drawing, _ = drawn(text, text)
        boxes = sorted((node.x, node.y, node.x + node.width) for node in drawing.nodes)
        for number, (left, middle, right) in enumerate(boxes):
            assert left >= 0 and right <= drawing.width and middle + HEIGHT / 2 <= drawing.height
            for other_left, other_middle, _ in boxes[number + 1 :]:
                assert other_left >= right or abs(other_middle - middle) > HEIGHT

    def test_pairs_are_one_to_one(self) -> None:
        twice = "(a / and :op1 (t / tea) :op2 (t2 / tea) :op3 (t3 / tea))"
        once = "(a / and :op1 (t2 / tea))"
        assert align_nodes(parse_graph(twice), parse_graph(once)) == {0: 0, 2: 1}
        assert align_nodes(parse_graph(once), parse_graph(twice)) == {0: 0, 1: 2}


def shown_numbers(page: Page) -> list[int]:
    return [int(text) for text in page.locator("tbody td[data-name='no.']").all_inner_texts()]


class TestTable:
    def test_pages_filters_and_sorts_by_keyboard(self, page: Page) -> None:
        expect(page.get_by_role("status").first).to_have_text("130 of 130 negatives, 1 to 50")
        page.get_by_role("link", name="Next").press("Enter")
        expect(page.get_by_role("status").first).to_have_text("130 of 130 negatives, 51 to 100")
        page.get_by_label("transform").select_option("topical_statement")
        page.get_by_label("words").fill("train late")
        page.get_by_label("words").press("Enter")
        expect(page.get_by_role("status").first).to_have_text("31 of 130 negatives, 1 to 31")
        assert {n % 4 for n in shown_numbers(page)} == {3}
        page.get_by_role("link", name="answers").press("Enter")
        expect(page.locator("th[aria-sort='descending']")).to_have_text("answers ▼")
        values = [float(text or "-1") for text in page.locator("td[data-name='answers']").all_inner_texts()]
        assert values == sorted(values, reverse=True)
        page.get_by_label("answers at least").fill("0.5")
        page.get_by_role("button", name="Filter").press("Enter")
        expect(page.locator("td[data-name='answers']").last).to_be_visible()
        assert len(shown_numbers(page)) == sum(value >= 0.5 for value in values)
        page.get_by_role("link", name="All").press("Enter")
        expect(page.get_by_role("status").first).to_have_text("130 of 130 negatives, 1 to 50")

    def test_a_wrong_address_is_refused_in_a_line(self, page: Page, served: Served) -> None:
        for path, status, said in (
            ("?least.context_overlap=high", 400, "least.context_overlap: 'high' is not a number"),
            ("/0/1000", 404, "there is no negative 1000"),
            ("/7/1", 404, "there is no file 7"),
        ):
            answer = page.goto(f"{served.origin}/negatives{path}")
            assert answer is not None and answer.status == status
            expect(page.get_by_role("alert")).to_contain_text(said)

    @pytest.mark.parametrize("width", [400, 1600])
    def test_fits_and_everything_has_a_name(self, visitor: Visit, served: Served, width: int) -> None:
        page = visitor(served, width)
        for path in ("", "/0/1", "/0/6"):
            page.goto(f"{served.origin}/negatives{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            nameless = page.evaluate(
                "[...document.querySelectorAll('input:not([type=hidden]), select, button, a, canvas')]"
                ".filter((e) => !(e.labels?.length || e.ariaLabel || e.textContent.trim()))"
                ".map((e) => e.outerHTML)"
            )
            assert nameless == []


class TestThresholds:
    def test_the_slider_shows_counts_and_the_command_of_select(
        self, page: Page, path: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page.get_by_text("What a threshold would keep").press("Enter")
        clash = page.locator("figure[data-score=context_overlap]")
        for _ in range(34):
            clash.get_by_role("slider").press("ArrowRight")
        expect(page.locator("#command")).to_have_text(
            "graphneg select made.jsonl -o chosen.jsonl --least context_overlap=0.34"
        )
        shown = clash.locator("output").inner_text()
        monkeypatch.chdir(path.parent)
        command = shlex.split(page.locator("#command").inner_text())
        out = tmp_path / "chosen.jsonl"
        ended = run(*(str(out) if word == "chosen.jsonl" else word for word in command[1:]))
        assert ended.status == 0
        kept = len(out.read_text().splitlines())
        assert shown == f"0.34: {kept} of {SIZE - 1} kept"
        page.locator("figure[data-score=selectional_fit]").get_by_role("slider").press("ArrowRight")
        both = list(
            SelectedNegatives(
                path, SelectionCriteria(min_scores={"context_overlap": 0.34, "selectional_fit": 0.01})
            )
        )
        assert 0 < len(both) < kept
        expect(page.locator("#together")).to_have_text(f"together: {len(both)} of {SIZE - 1} kept")

    def test_scores_that_are_a_model_s_name_it(self, page: Page) -> None:
        page.get_by_text("What a threshold would keep").press("Enter")
        page.locator("figure[data-score=answers]").get_by_role("slider").press("ArrowLeft")
        expect(page.locator("#command")).to_have_text(
            "graphneg select made.jsonl -o chosen.jsonl --judge MODEL --max-score 0.99"
        )


def written(path: Path, amount: int) -> Path:
    """Write a file of `amount` negatives with different scores."""
    found = negatives()
    texts = (replace(found[n % SIZE], id=f"many/test/{n}", scores={"answers": n}) for n in range(amount))
    write_jsonl(texts, path)
    return path


@pytest.mark.long
def test_each_of_100000_negatives_is_found(visitor: Visit, tmp_path: Path) -> None:
    many = 100_000
    path = written(tmp_path / "many.jsonl", many)
    with serving(tmp_path, path) as other:
        page = visitor(other)
        page.goto(f"{other.origin}/negatives?sort=answers&start={many - 50}")
        expect(page.get_by_role("status").first).to_contain_text("100,000 negatives, 99,951 to 100,000")
        page.locator("tbody a").last.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(f"many/test/{many - 1}")
        page.goto(f"{other.origin}/negatives?text=painter&least.answers=50000")
        expect(page.get_by_role("status").first).to_contain_text("385 of 100,000 negatives")


@pytest.mark.long
def test_an_index_takes_no_more_memory_for_four_times_as_many(tmp_path: Path) -> None:
    peaks: list[int] = []
    for amount in (2 * BATCH, 8 * BATCH):
        path = written(tmp_path / f"{amount}.jsonl", amount)
        tracemalloc.start()
        assert open_index(path).total == amount
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_the_negatives_of_a_store_are_shown(
    visitor: Visit, loaded_everyday: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Use a store of its own, because the cache folder, where running servers are found, is changed.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = tmp_path / "store"
    shutil.copytree(loaded_everyday, store)
    with DialogueGraph(open_store(store)) as graph:
        made = list(graph.negatives("deam", limit=4))
    with serving(tmp_path, "--store", store) as served:
        page = visitor(served)
        page.goto(f"{served.origin}/negatives")
        expect(page.get_by_role("status").first).to_contain_text(f"{len(made)} negatives, 1 to {len(made)}")
        first = min(made, key=lambda one: natural_order(one.id))
        page.locator("tbody a").first.press("Enter")
        expect(page.get_by_text(first.id).first).to_be_visible()
        assert page.goto(f"{served.origin}/graph").status == 200


class TestNegative:
    def test_shows_the_edit_in_the_text_and_in_the_graphs(self, page: Page) -> None:
        page.get_by_role("link", name="negative 1", exact=True).press("Enter")
        response = page.locator("li.response")
        said = re.sub(r"\s+", " ", response.text_content() or "")
        assert said == "1 AWe removed: drank added: did not drink the tea. "
        before, after = page.locator("figure.amr").all()
        assert before.locator("g.gone").count() == 0 and before.locator("g.changed").count() == 1
        assert after.locator("g.new").count() == 2  # the added node and its edge
        assert "drink-01 polarity -" in (after.get_by_role("img").get_attribute("aria-label") or "")
        expect(page.get_by_role("row", name="context_overlap")).to_contain_text("no-clash")
        expect(page.get_by_role("heading", name="With the same edit")).to_be_visible()
        page.get_by_role("link", name="own/test/4#1~all.0").press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("own/test/4#1~all.0")

    def test_a_reply_that_replaced_another_is_shown_as_a_whole(
        self, visitor: Visit, served: Served, tmp_path: Path
    ) -> None:
        old, new = "No, it belongs to the library. I must return it.", "The band took it to the station."
        replaced = replace(negatives()[0], original=Original(None, old), response=new)
        write_jsonl([replaced], tmp_path / "made.jsonl")
        with serving(tmp_path, "made.jsonl") as other:
            page = visitor(other)
            for path in ("/negatives", "/negatives/0/1"):
                page.goto(f"{other.origin}{path}")
                assert page.locator("del.whole").first.text_content() == f"before: {old}"
                assert page.locator("ins.whole").first.text_content() == f"after: {new}"

    def test_a_written_response_is_not_compared_word_by_word(self, page: Page, served: Served) -> None:
        page.goto(f"{served.origin}/negatives/0/8")
        expect(page.locator("li.response")).to_contain_text("instead of: I paint it.")
        assert page.locator("li.response ins").count() == 0

    def test_texts_are_escaped(self, page: Page, served: Served) -> None:
        for path in (
            "/negatives/0/6",
            "/negatives",
            "/negatives?text=%3Cscript%3E&sort=%3Cscript%3E&corpus=%22%3E%3Cb",
        ):
            page.goto(f"{served.origin}{path}")
            assert page.evaluate("window.hacked") is None
            assert page.locator("main script, main img, main b").count() == 0
        page.goto(f"{served.origin}/negatives/0/6")
        expect(page.locator("li.response")).to_contain_text("<script>window.hacked = 1</script>")
