"""Tests of parsing a store: which texts get a graph, the cache of parses, and replaced graphs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.generation import Negatives
from graphneg.errors import InputError, ParserError
from graphneg.model import AmrGraph
from graphneg.parsers import jobs as parsing
from graphneg.parsers import stored as writing
from graphneg.parsers.jobs import open_pool
from graphneg.parsers.stored import NewGraph
from graphneg.store.connection import Store
from graphneg.store.dialogues import read_whole_graphs
from tests.servers import wipe
from tests.speller import Speller
from tests.toy_parser import ToyParser, install

GOLD = "(t / thank-01 :ARG1 (y / you))"
DIALOGUES = [
    {
        "id": "a",
        "split": "train",
        "turns": [
            {"text": "We like slow trains."},
            {"text": "There is nothing to say."},
            {"text": "Thank you.", "amr": GOLD},
            {"text": "We like slow trains."},
        ],
        "responses": [
            {"turn": 0, "text": "We like slow trains.", "label": 1},
            {"turn": 1, "text": "Of course they do, all of them, every day of the year.", "label": 0},
        ],
    },
    {"id": "b", "split": "test", "turns": [{"text": "We like slow trains."}, {"text": "Fast ones."}]},
]


@pytest.fixture
def dialogues(store: Store, tmp_path: Path) -> DialogueGraph:
    """Load two dialogues on each server; one utterance has a gold graph."""
    wipe(store)
    file = tmp_path / "d.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in DIALOGUES))
    graph = DialogueGraph(store)
    report = graph.load("dialogues", file, name="d")
    assert report.rejections == 0
    return graph


def graphs(dialogues: DialogueGraph) -> dict[str, str]:
    """Return the source of each graph by its id."""
    return {
        row["id"]: row["source"]
        for row in dialogues.cypher("MATCH (a:Amr) RETURN a.id AS id, a.source AS source")
    }


def whole(store: Store, id: str) -> AmrGraph:
    [graph] = read_whole_graphs(store, [id])
    return graph


def count_orphan_nodes(dialogues: DialogueGraph) -> int:
    """Count nodes that belong to no graph."""
    nodes = Counter(row["amr"] for row in dialogues.cypher("MATCH (n:AmrNode) RETURN n.amr AS amr"))
    return sum(count for amr, count in nodes.items() if amr not in graphs(dialogues))


def flipped_negatives(dialogues: DialogueGraph, **chosen: Any) -> Negatives:
    """Return negatives whose polarity was flipped."""
    return dialogues.negatives(transforms=["polarity_flip"], target="dialogue", decoder=Speller(), **chosen)


class TestTexts:
    def test_only_texts_without_a_graph_are_parsed(self, dialogues: DialogueGraph) -> None:
        report = dialogues.parse(ToyParser())
        assert graphs(dialogues) == {
            "d/train/a#0@toy": "toy 1",
            "d/train/a#2@penman": "penman",
            "d/train/a#3@toy": "toy 1",
            "d/test/b#0@toy": "toy 1",
            "d/test/b#1@toy": "toy 1",
        }
        assert (report.graphs, report.failed, report.sentences) == (4, 1, 4)
        assert report.warnings == {"no-graph": 1}
        assert report.examples == {"no-graph": [("d/train/a#1", "no-graph: there is nothing")]}

    def test_graphs_are_read_back_with_their_spans(self, dialogues: DialogueGraph) -> None:
        parser = ToyParser()
        dialogues.parse(parser)
        graph, [parsed] = whole(dialogues.store, "d/test/b#1@toy"), parser.parse_batch(["Fast ones."])
        assert parsed.graph is not None
        assert (graph.nodes, graph.spans) == (parsed.graph.nodes, parsed.graph.spans)

    def test_equal_texts_are_parsed_once(self, dialogues: DialogueGraph) -> None:
        parser = ToyParser()
        report = dialogues.parse(parser)
        assert sorted(parser.seen) == ["Fast ones.", "There is nothing to say.", "We like slow trains."]
        assert (report.parsed, report.reused) == (3, 2)

    def test_cached_parses_are_reused(self, dialogues: DialogueGraph, store: Store) -> None:
        dialogues.parse(ToyParser(), splits=["train"])
        before = whole(store, "d/train/a#0@toy")
        parser = ToyParser()
        report = dialogues.parse(parser)
        assert sorted(parser.seen) == ["Fast ones.", "There is nothing to say."]
        assert (report.graphs, report.parsed, report.reused) == (2, 2, 1)
        again = whole(store, "d/test/b#0@toy")
        assert (again.nodes, again.spans) == (before.nodes, before.spans)

    def test_parses_of_a_parser_without_a_version_are_not_cached(self, dialogues: DialogueGraph) -> None:
        dialogues.parse(ToyParser(version=""), splits=["train"])
        parser = ToyParser(version="")
        dialogues.parse(parser, splits=["test"])
        assert parser.seen == ["We like slow trains.", "Fast ones."]

    def test_texts_can_be_selected(self, dialogues: DialogueGraph) -> None:
        dialogues.parse(ToyParser(), corpora=["d"], splits=["test"])
        assert set(graphs(dialogues)) == {"d/train/a#2@penman", "d/test/b#0@toy", "d/test/b#1@toy"}
        dialogues.parse(ToyParser(), limit=1)
        assert len(graphs(dialogues)) == 3
        with pytest.raises(InputError, match="kinds must be one or more of utterances, responses, not turns"):
            dialogues.parse(ToyParser(), of=["turns"])  # type: ignore[list-item]

    def test_responses_can_be_parsed(self, dialogues: DialogueGraph) -> None:
        parser = ToyParser()
        report = dialogues.parse(parser, of=("utterances", "responses"))
        assert {"d/train/a#0/r0@toy", "d/train/a#1/r1@toy"} <= set(graphs(dialogues))
        assert parser.seen.count("We like slow trains.") == 1
        assert report.warnings == {"no-graph": 1, "long": 1}
        [row] = dialogues.cypher(
            "MATCH (r:Response)-[:MEANS]->(a:Amr)-[:TOP]->(n:AmrNode) "
            "WHERE r.text STARTS WITH 'Of course' RETURN n.concept AS top, a.warnings AS warnings"
        )
        assert (row["top"], row["warnings"]) == ("speak-01", ["long: more than 9 words"])

    def test_parsed_texts_give_negatives(self, dialogues: DialogueGraph) -> None:
        assert not list(flipped_negatives(dialogues, splits=["test"]))
        dialogues.parse(ToyParser())
        assert list(flipped_negatives(dialogues, splits=["test"]))


class TestExistingGraphs:
    def test_existing_graphs_are_kept_by_default(self, dialogues: DialogueGraph) -> None:
        dialogues.parse(ToyParser())
        before = graphs(dialogues)
        assert dialogues.parse(ToyParser(version="2")).graphs == 0
        assert graphs(dialogues) == before

    def test_graphs_of_other_versions_are_replaced_and_gold_ones_kept(self, dialogues: DialogueGraph) -> None:
        dialogues.parse(ToyParser())
        report = dialogues.parse(ToyParser(version="2"), existing="replace")
        assert (report.graphs, report.replaced) == (4, 4)
        assert Counter(graphs(dialogues).values()) == {"toy 2": 4, "penman": 1}
        assert count_orphan_nodes(dialogues) == 0
        assert dialogues.parse(ToyParser(version="2"), existing="replace").graphs == 0

    def test_graphs_of_other_parsers_can_be_replaced(self, dialogues: DialogueGraph) -> None:
        class Other(ToyParser):
            name = "other"

        dialogues.parse(ToyParser())
        dialogues.parse(Other(), existing="replace", splits=["test"])
        assert Counter(graphs(dialogues).values()) == {"toy 1": 2, "other 1": 2, "penman": 1}
        assert count_orphan_nodes(dialogues) == 0

    def test_variants_of_replaced_graphs_are_deleted(self, dialogues: DialogueGraph) -> None:
        dialogues.parse(ToyParser())
        made = [one.id for one in flipped_negatives(dialogues)]
        assert made
        dialogues.materialize(made)
        dialogues.parse(ToyParser(version="2"), existing="replace")
        counts = dialogues.info().counts
        assert (counts.get("Variant", 0), counts.get("Edit", 0), count_orphan_nodes(dialogues)) == (0, 0, 0)
        assert [one.id for one in flipped_negatives(dialogues)] == made


class TestARun:
    def test_a_stopped_run_is_completed_by_the_next(
        self, dialogues: DialogueGraph, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Stopped(ToyParser):
            def parse_batch(self, texts: Sequence[str]) -> list[Any]:
                if "Fast ones." in texts:
                    raise KeyboardInterrupt
                return super().parse_batch(texts)

        monkeypatch.setattr(parsing, "BATCH", 1)
        with pytest.raises(KeyboardInterrupt):
            dialogues.parse(Stopped())
        assert set(graphs(dialogues)) >= {"d/train/a#2@penman", "d/test/b#0@toy"}
        parser = ToyParser()
        dialogues.parse(parser)
        assert "Fast ones." in parser.seen and "We like slow trains." not in parser.seen
        assert (len(graphs(dialogues)), count_orphan_nodes(dialogues)) == (5, 0)

    def test_transactions_are_small_and_too_large_graphs_are_counted(
        self, dialogues: DialogueGraph, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writing, "MAX_ROWS", 20)
        monkeypatch.setattr(writing, "MAX_DIALOGUE_BYTES", 4000)
        sizes: list[int] = []
        write = writing._write

        def counted(tx: Any, batch: Sequence[NewGraph], source: str) -> Any:
            sizes.append(len(batch))
            return write(tx, batch, source)

        monkeypatch.setattr(writing, "_write", counted)
        report = dialogues.parse(ToyParser())
        assert max(sizes) == 1
        assert report.warnings["too-large"] == report.failed - 1 == 3

    def test_a_named_parser_runs_in_several_processes(
        self, dialogues: DialogueGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install(tmp_path / "installed")
        monkeypatch.syspath_prepend(tmp_path / "installed")
        monkeypatch.setattr(parsing, "BATCH", 1)
        report = dialogues.parse("toy", parser_options={"version": "3"}, processes=2)
        assert (report.source, report.graphs, report.parsed, report.reused) == ("toy 3", 4, 3, 2)
        with pytest.raises(ParserError, match="none: there is no such directory"):
            dialogues.parse("toy", parser_options={"model": "none"})
        with open_pool("toy", {"version": "4"}) as pool:
            assert dialogues.parse(pool, existing="replace").graphs == 4
