"""Tests of building the shift graph: exact counts for any batch size, repetition or interruption."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from benchmarks.corpus import store_records
from graphneg.dialogue_graph import DialogueGraph
from graphneg.errors import InputError
from graphneg.model import Dialogue
from graphneg.shift import build
from graphneg.shift.build import NO_POST_KEYWORDS, NO_REPLY_KEYWORDS, KeywordPair, Shift, shifts_of
from graphneg.shift.keywords import Keyword
from graphneg.store.connection import Store
from tests.servers import wipe
from tests.shift_samples import SAMPLES, Capitals, Letters, dialogue, edges, many, mentions, replies

EXPECTED = {
    ("cart", "coconut"): 1,
    ("cart", "carrot"): 1,  # from the correct response to turn 1 of dialogue 0
    ("cat", "carts"): 1,
    ("carrot", "carrot"): 1,  # the reply repeats the focus
    ("cat", "cart"): 3,
    ("cart", "cat"): 1,
    ("öl", "öl"): 1,
}


@pytest.fixture
def graph(store: Store) -> DialogueGraph:
    """Return the sample dialogues without a shift graph."""
    return store_with(store, SAMPLES)


def store_with(store: Store, dialogues: Sequence[Dialogue]) -> DialogueGraph:
    wipe(store)
    store_records(store, dialogues)
    return DialogueGraph(store)


def shift(graph: DialogueGraph, **options: Any) -> Any:
    return graph.shift(**{"embedder": Letters(), "keywords": Capitals(), **options})


class TestBuilding:
    def test_shifts_between_keywords_are_counted(self, graph: DialogueGraph) -> None:
        report = shift(graph)
        assert edges(graph.store) == replies(graph.store) == EXPECTED
        assert (report.dialogues, report.pairs, report.shifts) == (5, 11, sum(EXPECTED.values()))
        assert report.skipped == {NO_POST_KEYWORDS: 1, NO_REPLY_KEYWORDS: 1}
        assert "9 shifts of 11 pairs of 5 dialogues" in report.summary()

    def test_mentions_have_the_scores_of_keywords(self, graph: DialogueGraph) -> None:
        report = shift(graph)
        found = mentions(graph.store)
        assert report.mentions == len(found)
        assert {("one/train/0#0", "cat", 0.75), ("one/train/0#1/r0", "carrot", 1 - 1 / 7)} <= found
        assert not any(id == "one/test/2#0/r1" for id, _, _ in found)  # a wrong response has no keywords

    def test_a_second_build_changes_nothing(self, graph: DialogueGraph) -> None:
        shift(graph)
        before, extractor = mentions(graph.store), Capitals()
        assert shift(graph, keywords=extractor).pairs == 0
        assert extractor.read == 0
        assert (edges(graph.store), mentions(graph.store)) == (EXPECTED, before)

    def test_incremental_builds_give_the_same_graph(self, store: Store) -> None:
        graph = store_with(store, SAMPLES[:2])
        shift(graph)
        store_records(store, SAMPLES)
        assert shift(graph, corpora=["one"], splits=["test"]).dialogues == 1
        assert shift(graph).dialogues == 2
        assert edges(store) == replies(store) == EXPECTED

    def test_the_batch_size_makes_no_difference(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        found: list[Any] = []
        for batch, rows in ((1, 1), (7, 12), (64, 5_000)):
            monkeypatch.setattr(build, "BATCH", batch)
            monkeypatch.setattr(build, "MAX_ROWS", rows)
            graph = store_with(store, [*many(20), *SAMPLES])
            shift(graph)
            found.append((edges(store), mentions(store)))
        assert found[0] == found[1] == found[2]

    def test_a_failed_build_is_completed(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(build, "BATCH", 2)
        graph = store_with(store, list(many(20)))
        shift(graph)
        whole = edges(store), mentions(store)
        store_with(store, list(many(20)))
        for fails_after in (10, 25):
            with pytest.raises(RuntimeError, match="broke"):
                shift(graph, keywords=Capitals(fails_after=fails_after))
            assert edges(store) == replies(store)
        shift(graph)
        assert (edges(store), mentions(store)) == whole


class TestAnotherMethod:
    def test_another_method_is_refused(self, graph: DialogueGraph) -> None:
        shift(graph, corpora=["one"])
        before = edges(graph.store)
        with pytest.raises(InputError, match=r"keywords 'capitals' and the embedder 'letters'.*--rebuild"):
            shift(graph, embedder=Letters("other"))
        assert edges(graph.store) == before

    def test_another_method_replaces_the_graph_on_request(self, graph: DialogueGraph) -> None:
        store_records(graph.store, [dialogue("gone/train/0", "A ZEBRA.", "ZEBRA")])
        shift(graph)
        graph.store.query_write(
            "MATCH (d:Dialogue {corpus: 'gone'})-[*0..2]->(n) WHERE NOT n:Term DETACH DELETE n"
        )
        shift(graph, keywords=Capitals("again"), existing="replace")
        assert edges(graph.store) == replies(graph.store) == EXPECTED
        assert graph.store.read("MATCH (t:Term {text: 'zebra'}) RETURN count(t) AS terms")[0]["terms"] == 0

    def test_an_interrupted_removal_is_completed(
        self, graph: DialogueGraph, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shift(graph)
        other = Capitals("again")
        with monkeypatch.context() as broken:
            broken.setattr("graphneg.shift.build._FORGOTTEN", ("edges", "no such part"))
            with pytest.raises(FileNotFoundError):
                shift(graph, keywords=other, existing="replace")
        with pytest.raises(InputError, match="made with the keywords 'again'"):
            shift(graph)
        shift(graph, keywords=other)
        assert edges(graph.store) == replies(graph.store) == EXPECTED


class CallsOnProgress:
    """Progress that calls a function after the first step of the work with the given label."""

    def __init__(self, work: str, action: Callable[[], Any]) -> None:
        self.work = work
        self.label = ""
        self.action: Callable[[], Any] | None = action

    def start(self, label: str, total: int | None, unit: str) -> None:
        self.label = label

    def advance(self, amount: int) -> None:
        if self.label == self.work and self.action is not None:
            action, self.action = self.action, None
            action()

    def finish(self) -> None:
        return


class TestConcurrentRuns:
    def test_a_removal_stops_if_another_run_replaces_the_graph(self, graph: DialogueGraph) -> None:
        shift(graph)
        rival = CallsOnProgress("remove", lambda: shift(graph, existing="replace"))
        with pytest.raises(InputError, match="another run is removing the shift graph"):
            shift(graph, existing="replace", progress=rival)
        assert edges(graph.store) == replies(graph.store) == EXPECTED

    def test_a_rebuild_during_a_build_counts_nothing_twice(
        self, graph: DialogueGraph, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(build, "BATCH", 1)
        rival = CallsOnProgress("shift graph", lambda: shift(graph, existing="replace"))
        with suppress(InputError):
            shift(graph, progress=rival)
        assert rival.action is None
        assert edges(graph.store) == replies(graph.store) == EXPECTED


class TestWithoutReplies:
    def test_an_empty_store_is_refused(self, store: Store) -> None:
        with pytest.raises(InputError, match="no dialogues are in the"):
            shift(store_with(store, []))

    def test_a_corpus_without_replies_is_refused(self, store: Store) -> None:
        alone = dialogue("alone/train/0", "A CAT", responses=[(0, "A DOG", 0)])
        graph = store_with(store, [alone, *SAMPLES])
        with pytest.raises(InputError, match=r"the dialogues of alone in the .* have no replies"):
            shift(graph, corpora=["alone"])
        assert store.read("MATCH (n) WHERE n:Term OR n:ShiftGraph RETURN count(n) AS n")[0]["n"] == 0


class TestFocus:
    def test_focus_and_perspective_are_the_closest_keywords(
        self,
    ) -> None:
        post = [keyword("moon"), keyword("train"), keyword("bread")]
        reply = [keyword("station"), keyword("hour")]
        assert shifts_of([KeywordPair(post, "at the station in an hour", reply)], Letters()) == [
            Shift("train", "station")
        ]

    def test_ties_are_broken_by_salience(self) -> None:
        post = [keyword("on", 0.4), keyword("no", 0.6)]
        assert shifts_of([KeywordPair(post, "onno", [keyword("x")])], Letters()) == [Shift("no", "x")]

    def test_unknown_words_are_chosen_by_salience(self) -> None:
        post, reply = [keyword("8", 0.3), keyword("9", 0.2)], [keyword("7", 0.2), keyword("6", 0.9)]
        assert shifts_of([KeywordPair(post, "5", reply)], Letters()) == [Shift("8", "6")]

    def test_no_pairs_give_no_shifts(self) -> None:
        assert shifts_of([], Letters()) == []


def keyword(text: str, score: float = 0.5) -> Keyword:
    return Keyword(text, score, (text,))
