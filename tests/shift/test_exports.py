"""Tests of exports of the shift graph, and of the commands that build and export it."""

from __future__ import annotations

import json
from pathlib import Path

import networkx
import pytest
from pyarrow import parquet

from benchmarks.corpus import store_records
from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.export import write_graphml
from graphneg.errors import InputError
from graphneg.shift.graphs import ShiftGraph
from graphneg.store.connection import Store
from tests.cli_runs import Run
from tests.servers import wipe
from tests.shift_samples import SAMPLES, Capitals, Edges, Letters, edges

TWO = {("cart", "cat"): 1, ("öl", "öl"): 1}


@pytest.fixture(scope="module", params=["embedded", "neo4j"])
def graph(request: pytest.FixtureRequest) -> DialogueGraph:
    """Return the sample dialogues with their shift graph."""
    store: Store = request.getfixturevalue(request.param)
    wipe(store)
    store_records(store, SAMPLES)
    made = DialogueGraph(store)
    made.shift(Letters(), keywords=Capitals())
    return made


def counts_of(graph: networkx.DiGraph[str]) -> Edges:
    return {(focus, end): int(count) for focus, end, count in graph.edges(data="count")}


class TestExports:
    def test_networkx_has_keywords_and_counted_edges(self, graph: DialogueGraph) -> None:
        assert counts_of(graph.shift_graph()) == edges(graph.store)

    def test_a_corpus_has_its_own_counts(self, graph: DialogueGraph) -> None:
        assert counts_of(graph.shift_graph(corpora=["two"])) == TWO
        assert counts_of(graph.shift_graph(corpora=["one", "two"])) == edges(graph.store)

    def test_graphml_is_read_back(self, graph: DialogueGraph, tmp_path: Path) -> None:
        assert graph.export_shifts(tmp_path / "shifts.graphml") == len(edges(graph.store))
        assert counts_of(networkx.read_graphml(tmp_path / "shifts.graphml")) == edges(graph.store)

    def test_graphml_escapes_invalid_characters(self, tmp_path: Path) -> None:
        said = "a\x00\x1b[2J\ud800\ufffe\r\t\n😀"
        whole = networkx.MultiDiGraph()
        whole.add_node(f"id{said}", text=said, turn=1)
        whole.add_edge(f"id{said}", "other", type=said)
        write_graphml(whole, tmp_path / "whole.graphml")
        shown = "\\u0000\\u001b[2J\\ud800\\ufffe\\u000d\t\n😀"
        again = networkx.read_graphml(tmp_path / "whole.graphml")
        assert again.nodes[f"id{'a' + shown}"]["text"] == "a" + shown
        assert [data["type"] for *_, data in again.edges(data=True)] == ["a" + shown]

    def test_parquet_and_json_lines_have_a_row_for_each_edge(
        self, graph: DialogueGraph, tmp_path: Path
    ) -> None:
        for suffix in ("parquet", "jsonl"):
            graph.export_shifts(tmp_path / f"shifts.{suffix}", corpora=["two"])
        table = parquet.read_table(tmp_path / "shifts.parquet").to_pylist()
        lines = [json.loads(line) for line in (tmp_path / "shifts.jsonl").read_text().splitlines()]
        expected = [{"focus": f, "perspective": p, "count": count} for (f, p), count in sorted(TWO.items())]
        assert table == lines == expected

    def test_neighbours_are_sorted_by_count_and_text(self, graph: DialogueGraph) -> None:
        found = ShiftGraph(graph.store).from_each(["cat", "cart", "nothing"])
        assert list(found["cat"].items()) == [("cart", 3), ("carts", 1)]
        assert list(found["cart"]) == ["carrot", "cat", "coconut"]
        assert found["nothing"] == {}

    @pytest.mark.parametrize(
        ("name", "message"), [("x.csv", "unknown suffix"), ("no/x.parquet", "does not exist")]
    )
    def test_an_invalid_output_file_is_refused(
        self, graph: DialogueGraph, tmp_path: Path, name: str, message: str
    ) -> None:
        with pytest.raises(InputError, match=message):
            graph.export_shifts(tmp_path / name)

    def test_an_unknown_corpus_is_refused(self, graph: DialogueGraph) -> None:
        with pytest.raises(InputError, match=r"no shift graph of three .*graphneg shift build"):
            graph.shift_graph(corpora=["three"])


class TestCommands:
    def test_build_and_export(self, run: Run, everyday: Path, tmp_path: Path) -> None:
        vectors, out = tmp_path / "vectors.txt", tmp_path / "shifts.jsonl"
        vectors.write_text("time 1 0\ntrain 0.5 0.5\nleave 0 1\n")
        for keywords, pattern in (("rake", "shifts of 373 pairs"), ("rake", "0 shifts of 0 pairs")):
            ended = run("--store", everyday, "shift", "build", "--embedder", vectors, "--keywords", keywords)
            assert (ended.status, pattern in ended.err) == (0, True), ended.err
        assert run("shift", "export", "--store", everyday, "-o", out).status == 0
        counts = [json.loads(line)["count"] for line in out.read_text().splitlines()]
        assert sum(counts) > 300

    def test_wrong_input_is_an_error(self, run: Run, everyday: Path, tmp_path: Path) -> None:
        build = ("--store", everyday, "shift", "build", "--embedder")
        for arguments, status, message in (
            ((*build, "glove-50d", "--keywords", "none"), 2, "keywords"),
            ((*build, tmp_path / "none.txt"), 2, "No such file"),
            ((*build, "no/such/model/here"), 2, "there is no such model folder"),
            (("--store", everyday, "shift", "export", "-o", "x.csv"), 1, "unknown suffix"),
        ):
            ended = run(*arguments)
            assert (ended.status, message in ended.err) == (status, True), ended.err
