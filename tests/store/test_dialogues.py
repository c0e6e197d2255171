"""Tests of reading dialogues and graphs from a store: order, pages and the graph cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import pytest

from benchmarks.corpus import store_records
from graphneg.amr.penman import format_graph, parse_graph
from graphneg.errors import StoreError
from graphneg.model import AmrGraph, Dialogue, Response, Utterance
from graphneg.store import dialogues
from graphneg.store.connection import Store
from graphneg.store.dialogues import (
    GraphCache,
    Selection,
    count_dialogues,
    dialogue_ids,
    read_dialogues,
    read_graphs,
    read_responses,
    read_whole_graphs,
)
from tests.servers import wipe

AMR = "# ::note by hand\n(w / want-01~e.1 :ARG0 (b / boy~e.0) :ARG1 (g / go-02 :ARG0 b :ARG1-of w))"
ALL = Selection()


def dialogue(name: str, *turns: str, amr: str | None = None, responses: int = 0) -> Dialogue:
    said = [Utterance(turn, "AB"[turn % 2], text) for turn, text in enumerate(turns)]
    said[0] = replace(said[0], amr=amr)
    answers = tuple(Response(0, f"Answer {n}.", n % 2, "human") for n in range(responses))
    return Dialogue(f"{name}", *name.split("/")[:2], tuple(said), answers)


SAMPLES = (
    dialogue("one/train/2", "A boy wants to go.", "He goes.", amr=AMR),
    dialogue("one/train/10", "Hello.", "Hi.", responses=12),
    dialogue("one/test/1", "Tea?"),
    dialogue("two/train/1", "A cat.", amr="(c / cat)"),
    dialogue("two/train/3", "A dog.", amr="(d / dog :mod (b / big))"),
)


@pytest.fixture(scope="module")
def samples(embedded: Store) -> Store:
    wipe(embedded)
    store_records(embedded, SAMPLES)
    return embedded


def graph_ids(store: Store, ids: Sequence[str]) -> list[str]:
    return [graph for one in read_dialogues(store, ids) for graph in one.graphs]


class TestIds:
    def test_ids_are_in_natural_order_for_any_page_size(
        self, samples: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = list(dialogue_ids(samples, ALL))
        assert whole.index("one/train/2") < whole.index("one/train/10")
        assert sorted(whole) == sorted(one.id for one in SAMPLES)
        for size in (1, 2, 5):
            assert list(dialogue_ids(samples, ALL, page=size)) == whole

    @pytest.mark.parametrize("skip", range(7))
    @pytest.mark.parametrize("size", [1, 2, 100])
    def test_some_may_be_left_out_at_the_start(self, samples: Store, skip: int, size: int) -> None:
        whole = list(dialogue_ids(samples, ALL))
        assert list(dialogue_ids(samples, ALL, skip, page=size)) == whole[skip:]
        limited = Selection(limit=3)
        assert list(dialogue_ids(samples, limited, skip, page=size)) == whole[:3][skip:]

    @pytest.mark.parametrize(
        ("selection", "amount"),
        [
            (ALL, 5),
            (Selection(("one",)), 3),
            (Selection(("one", "two"), ("train",)), 4),
            (Selection(("one",), ("test",)), 1),
            (Selection(with_graphs=True), 3),
            (Selection(limit=2), 2),
            (Selection(limit=9), 5),
            (Selection(("none",)), 0),
        ],
    )
    def test_counts_equal_the_number_of_ids(self, samples: Store, selection: Selection, amount: int) -> None:
        assert count_dialogues(samples, selection) == amount == len(list(dialogue_ids(samples, selection)))

    def test_they_are_read_a_page_at_a_time(self, samples: Store) -> None:
        assert len(list(islice(dialogue_ids(samples, ALL, page=2), 3))) == 3


class TestDialogues:
    def test_they_come_in_the_order_asked_for_without_those_that_are_not_there(self, samples: Store) -> None:
        found = read_dialogues(samples, ["two/train/1", "nowhere", "one/train/2"])
        assert [one.id for one in found] == ["two/train/1", "one/train/2"]
        assert [turn.text for turn in found[1].turns] == ["A boy wants to go.", "He goes."]
        assert found[1].graphs == list(found[1].digests) and len(found[1].graphs) == 1

    def test_responses_come_in_the_order_of_their_numbers(self, samples: Store) -> None:
        found = read_responses(samples, ["one/train/10", "one/test/1"])
        assert found.keys() == {"one/train/10"}
        assert [response.text for response in found["one/train/10"]] == [f"Answer {n}." for n in range(12)]


class TestGraphs:
    def test_a_whole_graph_equals_the_loaded_one(self, samples: Store) -> None:
        [id] = graph_ids(samples, ["one/train/2"])
        [graph] = read_whole_graphs(samples, [id])
        assert graph == parse_graph(AMR, id)
        assert format_graph(graph) == format_graph(parse_graph(AMR))

    def test_a_graph_can_be_read_without_its_comment_lines(self, samples: Store) -> None:
        ids = graph_ids(samples, ["one/train/2", "two/train/1"])
        found = {graph.id: graph for graph in read_graphs(samples, ids)}
        assert found == {graph.id: replace(graph, metadata=()) for graph in read_whole_graphs(samples, ids)}

    def test_many_graphs_are_read_in_batches(self, samples: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        ids = graph_ids(samples, [one.id for one in SAMPLES])
        whole = {graph.id: graph for graph in read_graphs(samples, ids)}
        monkeypatch.setattr(dialogues, "PART", 1)
        assert {graph.id: graph for graph in read_graphs(samples, ids)} == whole
        assert len(whole) == 3


class TestCache:
    def test_cached_graphs_are_read_once_and_evicted_when_full(
        self, samples: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[list[str]] = []

        def counted(store: Store, ids: Sequence[str]) -> list[AmrGraph]:
            asked.append(list(ids))
            return list(read_graphs(store, ids))

        monkeypatch.setattr(dialogues, "read_graphs", counted)
        boy, cat, dog = graph_ids(samples, ["one/train/2", "two/train/1", "two/train/3"])
        cache = GraphCache(samples, kept=4)  # 4 nodes: the graph of the boy has 3, of the cat 1, of the dog 2
        cache.get([boy, cat])
        cache.get([cat, boy])
        assert asked == [sorted([boy, cat])]
        cache.get([cat])
        cache.get([dog])  # evicts the graph of the boy, which was used longest ago
        cache.get([cat])
        cache.get([boy])
        assert asked[1:] == [[dog], [boy]]

    def test_a_graph_that_has_changed_in_the_store_is_read_again(self, samples: Store) -> None:
        [id] = graph_ids(samples, ["two/train/1"])
        cache = GraphCache(samples)
        before = cache.get([id], {id: "as it was"})[id]
        assert cache.get([id], {id: "as it was"})[id] is before
        assert cache.get([id], {id: "changed"})[id] is not before

    def test_a_missing_graph_is_named(self, samples: Store) -> None:
        with pytest.raises(StoreError, match="graph nowhere is not in the store"):
            GraphCache(samples).get(["nowhere"])
