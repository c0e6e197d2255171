"""Tests that graphs are exported from a store exactly as they were loaded."""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import penman
import pytest

from benchmarks.corpus import bundled, write_jsonl
from graphneg.amr.penman import format_graph, iter_blocks, parse_graph
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import PenmanError
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_whole_graphs
from tests.amr.test_penman_codec import CORPORA, ROUND_TRIPS
from tests.graphs import BUNDLED, SHARED, texts
from tests.servers import wipe
from tests.toy_parser import ToyParser

LITTLE_PRINCE = [name for name in CORPORA if name.startswith("amr_little_prince")]
SICK = [name for name in CORPORA if name.startswith("sick")]


@pytest.fixture
def dialogues(store: Store) -> Generator[DialogueGraph]:
    """Return an empty dialogue graph on each server, and empty it after the test."""
    logging.getLogger("penman").setLevel(logging.ERROR)
    wipe(store)
    yield DialogueGraph(store)
    wipe(store)


def exported(dialogues: DialogueGraph, out: Path, corpora: Sequence[str] = ()) -> list[str]:
    dialogues.export(out, corpora=corpora, overwrite=True)
    return [block for _, block in iter_blocks(out.read_text(encoding="utf-8"))]


def assert_same(before: str, after: str) -> None:
    """Assert that tree, comment lines and, up to white space, the text are equal."""
    was, now = penman.parse(before), penman.parse(after)
    assert (now.node, now.metadata) == (was.node, was.metadata)
    assert penman.format(now) == penman.format(was)
    assert format_graph(parse_graph(before)) == after


@pytest.mark.slow
@pytest.mark.parametrize(
    "corpora",
    [
        pytest.param(LITTLE_PRINCE, id="the little prince"),
        pytest.param(SICK, id="sick", marks=pytest.mark.long),  # 10,000 graphs
    ],
)
def test_a_corpus_is_exported_as_it_was_loaded(
    dialogues: DialogueGraph, corpora: list[str], tmp_path: Path
) -> None:
    if not (SHARED / corpora[0]).exists():
        pytest.skip(f"{corpora[0]} is not on this machine")
    for corpus in corpora:
        report = dialogues.load("penman", SHARED / corpus, name=Path(corpus).stem)
        assert report.rejections == 0
    for corpus in corpora:
        before = texts(SHARED / corpus)
        after = exported(dialogues, tmp_path / "out.amr", [Path(corpus).stem])
        assert len(after) == len(before)
        for was, now in zip(before, after, strict=True):
            assert_same(was, now)


def test_the_bundled_graphs_are_exported_as_they_were_loaded(
    dialogues: DialogueGraph, tmp_path: Path
) -> None:
    dialogues.load("everyday")
    after = {block.split("\n")[0]: block for block in exported(dialogues, tmp_path / "out.amr")}
    before = {block.split("\n")[0]: block for block in texts(BUNDLED)}
    assert after.keys() == before.keys()
    for id, was in before.items():
        assert_same(was, after[id])


def test_graphs_of_any_characters_are_exported_as_they_were_loaded(
    dialogues: DialogueGraph, tmp_path: Path
) -> None:
    file = tmp_path / "odd.amr"
    wanted = [format_graph(parse_graph(text)) for text in ROUND_TRIPS.values()]
    file.write_bytes(b"\xef\xbb\xbf" + "\n\n".join(ROUND_TRIPS.values()).replace("\n", "\r\n").encode())
    report = dialogues.load("penman", file)
    assert [one.reason for one in report.rejected] == []
    assert exported(dialogues, tmp_path / "out.amr") == wanted
    ids = [row["id"] for row in dialogues.store.read("MATCH (a:Amr) RETURN a.id AS id")]
    found = {format_graph(graph): graph for graph in read_whole_graphs(dialogues.store, ids)}
    for text in wanted:
        graph = parse_graph(text, found[text].id)
        assert found[text] == graph


def test_a_malformed_graph_does_not_affect_others(dialogues: DialogueGraph, tmp_path: Path) -> None:
    file = tmp_path / "mixed.amr"
    good = [f"# ::id {n}\n(b{n} / boy\n    :quant {n})" for n in range(3)]
    bad = ["# ::id x\n(c / cat :mod (c / cute))", "# ::id y\n(c / cat\n   :mod )"]
    file.write_text("\n\n".join([good[0], bad[0], good[1], bad[1], good[2]]))
    report = dialogues.load("penman", file)
    assert [(one.place, one.reason) for one in report.rejected] == [
        (
            f"{file}:5",
            "malformed AMR graph x: line 6, column 16: variable c is introduced twice [duplicate-variable]",
        ),
        (
            f"{file}:12",
            "malformed AMR graph y: line 14, column 4: role :mod has no target [dangling-role]",
        ),
    ]
    assert exported(dialogues, tmp_path / "out.amr") == good
    with pytest.raises(PenmanError):
        parse_graph(bad[0])


def test_a_malformed_graph_inside_a_dialogue_is_refused_with_its_line(
    dialogues: DialogueGraph, tmp_path: Path
) -> None:
    turns = ['{"text": "Hi."}', '{"text": "Oh.", "amr": "(o / oh :mod )"}']
    lines = [f'{{"id": "{n}", "turns": [{turn}]}}' for n, turn in enumerate(turns)]
    (tmp_path / "own.jsonl").write_text("\n".join(lines))
    [one] = dialogues.load("dialogues", tmp_path / "own.jsonl").rejected
    assert one.place == f"{tmp_path / 'own.jsonl'}:2"
    assert one.reason.startswith("malformed AMR graph own/all/1#0: line 1, column 9: role :mod")


def test_loading_again_changes_nothing(dialogues: DialogueGraph, tmp_path: Path) -> None:
    dialogues.load("everyday")
    once = (exported(dialogues, tmp_path / "once.amr"), dialogues.info().counts)
    report = dialogues.load("everyday")
    assert (exported(dialogues, tmp_path / "twice.amr"), dialogues.info().counts) == once
    assert not report.written["dialogues"] and not report.written["graphs"]
    assert report.present["graphs"] == len(once[0])


def test_a_partly_loaded_file_is_completed(dialogues: DialogueGraph, tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    said = {"a": "(o / oh)", "b": "(h / hi)", "c": "(y / yes)", "d": "(n / no)"}
    before = {"a": "(o / oh)", "b": "(h / hello)", "c": None}
    texts = {"a": "Oh.", "b": "Hi.", "c": "Yes?", "d": "No."}
    write_turns(file, {id: (texts[id], before[id]) for id in before})
    dialogues.load("dialogues", file)
    write_turns(file, {id: (texts[id].replace("?", "."), said[id]) for id in said})
    report = dialogues.load("dialogues", file)
    assert report.written == Counter({"dialogues": 1, "utterances": 1, "graphs": 1, "nodes": 1})
    assert report.present == Counter({"dialogues": 2, "graphs": 1})
    assert {one.place: one.reason for one in report.rejected} == {
        "own/all/b#0": "the store has another AMR graph of this utterance, which is kept",
        "own/all/c": (
            "the store has a dialogue with this id but other content; load the new one under another --name"
        ),
    }
    written = "".join(exported(dialogues, tmp_path / "out.amr"))
    assert "(h / hello)" in written and "(n / no)" in written and "(y / yes)" not in written


def write_turns(file: Path, turns: Mapping[str, tuple[str, str | None]]) -> None:
    """Write dialogues of one turn each; `turns` has the text and the graph by dialogue id."""
    lines = [{"id": id, "turns": [{"text": text, "amr": amr}]} for id, (text, amr) in turns.items()]
    file.write_text("\n".join(map(json.dumps, lines)))


def test_three_concurrent_loads_of_a_file_store_it_once(dialogues: DialogueGraph, tmp_path: Path) -> None:
    file = write_jsonl(bundled().several(20, "copy"), tmp_path / "dialogues.jsonl")
    start = threading.Barrier(3)

    def load(_: int) -> int:
        start.wait()
        return dialogues.load("dialogues", file).written["dialogues"]

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(load, range(3))) == 20
    assert dialogues.info().counts["Dialogue"] == 20


def test_a_parsed_graph_is_exported_with_the_id_and_text_of_its_utterance(
    dialogues: DialogueGraph, tmp_path: Path
) -> None:
    (tmp_path / "own.jsonl").write_text('{"id": "1", "turns": ["Good  morning."]}\n')
    dialogues.load("dialogues", tmp_path / "own.jsonl")
    dialogues.parse(ToyParser())
    [block] = exported(dialogues, tmp_path / "out.amr")
    assert block.startswith("# ::id own/all/1#0\n# ::snt Good morning.\n(")
