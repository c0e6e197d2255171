"""Tests of the transforms `perspective_substitution` (by the shift graph, CAPT) and `topical_statement`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from graphneg.dialogue_graph import DialogueGraph
from graphneg.editing.proposals import OFFERED, TAKERS, Donors, propose
from graphneg.editing.transforms import Transform
from graphneg.english.noun_kinds import kind_of
from graphneg.english.selectional_preferences import noun_cluster
from graphneg.english.tokens import match_key, sentences
from graphneg.english.words import content_lemmas
from graphneg.ingest.loader import LoadOptions, get_loader
from graphneg.model import Dialogue, Frame, Utterance
from graphneg.store.connection import Store
from graphneg.store.dialogues import GraphCache, Selection, StoredDialogue, dialogue_ids, read_dialogues
from tests.servers import wipe
from tests.transform_runs import TRANSFORMS, applied, edit_lists, line, load, shift

SAID = (
    ("Shall we go to the beach? The weather is fine.", "(g / go-02 :ARG0 (w / we) :ARG4 (b / beach))"),
    ("I like the sea.", "(l / like-01 :ARG0 (i / i) :ARG1 (s / sea))"),
)
FRAMES = [
    Frame("like-01", "like", ("ARG0", "ARG1")),
    Frame("visit-01", "visit", ("ARG0", "ARG1")),
    Frame("rain-01", "rain", ("ARG1",)),
]
KEYWORDS = """
UNWIND $said AS row
MATCH (u:Utterance {id: row.id})
UNWIND row.keywords AS keyword
MERGE (t:Term {text: keyword})
CREATE (u)-[:MENTIONS {score: 0.5}]->(t)
"""
PAIR = """
MATCH (u:Utterance {id: $id})
MERGE (f:Term {text: $focus})
MERGE (p:Term {text: $perspective})
CREATE (u)-[:FOCUS]->(f)
CREATE (u)-[:PERSPECTIVE]->(p)
"""
EDGES = """
UNWIND $edges AS row
MERGE (f:Term {text: row[0]})
MERGE (t:Term {text: row[1]}) SET t.kind = row[3], t.noun_class = row[4]
CREATE (f)-[:SHIFTS_TO {count: row[2]}]->(t)
"""


@pytest.fixture
def seaside(store: Store) -> Store:
    """Return a store with frames only."""
    wipe(store)
    load(store, FRAMES)
    return store


def substituted_graphs(
    store: Store,
    keywords: Sequence[str],
    perspective: str,
    edges: Sequence[tuple[str, str, int]],
    reply: str = SAID[1][1],
) -> list[str]:
    """Return the edited graphs of the reply to a post with these keywords; the first is its focus."""
    turns = (Utterance(0, "A", SAID[0][0], SAID[0][1]), Utterance(1, "B", "...", reply))
    load(store, [Dialogue("own/test/1", "own", "test", turns)])
    said = [{"id": "own/test/1#0", "keywords": list(keywords)}]
    store.write(lambda tx: tx.run(KEYWORDS, said=said).consume())
    store.write(
        lambda tx: tx.run(PAIR, id="own/test/1#1", focus=keywords[0], perspective=perspective).consume()
    )
    store.write(
        lambda tx: tx.run(EDGES, edges=[[*edge, *kind_and_cluster(edge[1])] for edge in edges]).consume()
    )
    dialogues = read_dialogues(store, ["own/test/1"])
    found = propose(store, TRANSFORMS["perspective_substitution"], dialogues).get("own/test/1", [])
    graphs = GraphCache(store).get(dialogues[0].graphs)
    return [line(applied(one.edits, graphs)) for one in found]


def kind_and_cluster(word: str) -> tuple[str, str | None]:
    """Return the kind and cluster that a load stores for a noun; "word07" counts as "sea"."""
    word = "sea" if word.startswith("word") else word
    return kind_of(word), noun_cluster(word)


class TestPerspectiveSubstitution:
    def test_the_substitute_is_a_shift_of_another_keyword_of_the_post(self, seaside: Store) -> None:
        edges = [("beach", "lake", 9), ("weather", "river", 2), ("weather", "valley", 1)]
        assert substituted_graphs(seaside, ["beach", "weather"], "sea", edges) == [
            "(l / like-01 :ARG0 (i / i) :ARG1 (r / river))",
            "(l / like-01 :ARG0 (i / i) :ARG1 (v / valley))",
        ]

    def test_the_substitute_is_another_shift_of_the_focus_otherwise(self, seaside: Store) -> None:
        edges = [("beach", "lake", 9), ("beach", "sea", 20)]
        assert substituted_graphs(seaside, ["beach", "weather"], "sea", edges) == [
            "(l / like-01 :ARG0 (i / i) :ARG1 (l2 / lake))"
        ]

    def test_the_substitute_is_no_word_of_the_dialogue(self, seaside: Store) -> None:
        edges = [("weather", "sea", 5), ("weather", "beach", 5)]
        assert substituted_graphs(seaside, ["beach", "weather"], "sea", edges) == []

    def test_the_substitute_is_a_noun(self, seaside: Store) -> None:
        edges = [("weather", "rain", 5), ("weather", "nice day", 5), ("weather", "river", 1)]
        assert substituted_graphs(seaside, ["beach", "weather"], "sea", edges) == [
            "(l / like-01 :ARG0 (i / i) :ARG1 (r / river))"
        ]

    def test_the_substitute_is_no_name(self, seaside: Store) -> None:
        assert substituted_graphs(seaside, ["beach", "weather"], "sea", [("weather", "angie", 5)]) == []

    def test_a_verb_is_not_substituted(self, seaside: Store) -> None:
        edges = [("weather", "rain", 5), ("weather", "river", 5), ("weather", "visit", 1)]
        assert substituted_graphs(seaside, ["beach", "weather"], "like", edges) == []

    def test_all_mentions_of_the_perspective_are_substituted(self, seaside: Store) -> None:
        reply = "(a / and :op1 (s / sea) :op2 (l / like-01 :ARG0 (i / i) :ARG1 (s2 / sea)))"
        assert substituted_graphs(seaside, ["beach", "weather"], "sea", [("weather", "river", 1)], reply) == [
            "(a / and :op1 (r / river) :op2 (l / like-01 :ARG0 (i / i) :ARG1 (r2 / river)))"
        ]

    def test_a_perspective_of_several_words_is_replaced_as_a_whole(self, seaside: Store) -> None:
        reply = "(l / like-01 :ARG0 (i / i) :ARG1 (s / shop :mod (c / coffee) :poss (w / we)))"
        edges = [("weather", "river", 1)]
        assert substituted_graphs(seaside, ["beach", "weather"], "coffee shop", edges, reply) == [
            "(l / like-01 :ARG0 (i / i) :ARG1 (r / river :poss (w / we)))"
        ]

    def test_substitutes_are_the_four_most_frequent_shifts(self, seaside: Store) -> None:
        edges = [("weather", f"word{n:02d}", 100 - n) for n in range(20)]
        found = substituted_graphs(seaside, ["beach", "weather"], "sea", edges)
        assert [graph.partition("word")[2][:2] for graph in found] == ["00", "01", "02", "03"]

    def test_equally_frequent_substitutes_are_sorted_by_name(self, seaside: Store) -> None:
        edges = [("weather", f"word{n:02d}", 1) for n in range(30, 0, -1)]
        found = substituted_graphs(seaside, ["beach", "weather"], "sea", edges)
        assert [graph.partition("word")[2][:2] for graph in found] == ["01", "02", "03", "04"]


def test_a_dialogue_outside_the_shift_graph_has_no_sites(seaside: Store) -> None:
    turns = tuple(Utterance(turn, "AB"[turn], text, graph) for turn, (text, graph) in enumerate(SAID))
    load(seaside, [Dialogue("own/test/2", "own", "test", turns)])
    assert (
        propose(seaside, TRANSFORMS["perspective_substitution"], read_dialogues(seaside, ["own/test/2"]))
        == {}
    )


@pytest.fixture(scope="module")
def everyday(store: Store) -> Store:
    """Load the bundled corpus and build a shift graph of its concepts."""
    wipe(store)
    load(store, get_loader("everyday").read([], LoadOptions()))
    shift(store)
    return store


def all_dialogues(store: Store) -> list[StoredDialogue]:
    selection = Selection(corpora=("everyday",), with_graphs=True)
    return read_dialogues(store, list(dialogue_ids(store, selection)))


class TestDonors:
    def test_donors_are_graphs_of_other_dialogues_of_the_split(self, everyday: Store) -> None:
        donors = Donors(everyday)
        for one in all_dialogues(everyday):
            offered = donors.donors_for(one)
            assert len(offered) <= OFFERED
            assert len(set(offered)) == len(offered)
            assert all(amr.startswith(f"everyday/{one.split}/") for amr in offered)
            assert not set(offered) & set(one.graphs)

    def test_dialogues_with_common_nouns_have_donors(self, everyday: Store) -> None:
        donors = Donors(everyday)
        assert sum(bool(donors.donors_for(one)) for one in all_dialogues(everyday)) > 3

    def test_no_sentence_is_offered_to_more_than_two_dialogues(self, everyday: Store) -> None:
        donors, dialogues = Donors(everyday), all_dialogues(everyday)
        said = {turn.graph_id: turn.text for one in dialogues for turn in one.turns}
        takers = Counter(
            match_key(sentence)
            for one in dialogues
            for sentence in {text for amr in donors.donors_for(one) for text in sentences(said[amr])}
        )
        assert max(takers.values()) == TAKERS

    def test_donors_do_not_depend_on_the_order_of_requests(self, everyday: Store) -> None:
        dialogues = all_dialogues(everyday)
        first, second = Donors(everyday), Donors(everyday)
        asked = {one.id: second.donors_for(one) for one in reversed(dialogues)}
        assert [first.donors_for(one) for one in dialogues] == [asked[one.id] for one in dialogues]

    def test_donors_depend_on_the_dialogue(self, everyday: Store) -> None:
        donors = Donors(everyday)
        assert len({tuple(donors.donors_for(one)) for one in all_dialogues(everyday)}) > 3

    def test_an_unknown_dialogue_has_no_donors(self, everyday: Store) -> None:
        assert Donors(everyday).donors_for(StoredDialogue("own/test/1", "own", "test", ())) == []

    def test_donors_are_passed_only_to_transforms_that_need_them(self, everyday: Store) -> None:
        query = "UNWIND $dialogues AS d UNWIND d.donors AS amr RETURN d.id AS dialogue, collect(amr) AS edits"
        plain = Transform("t", "", "C-cont", "", (), None, "", query, "t.cypher")
        assert propose(everyday, plain, all_dialogues(everyday)) == {}


class TestTopicalStatement:
    def test_a_statement_of_another_dialogue_gets_nouns_of_the_context(self, everyday: Store) -> None:
        dialogues = all_dialogues(everyday)
        graphs = GraphCache(everyday).get([amr for one in dialogues for amr in one.graphs])
        proposals = propose(everyday, TRANSFORMS["topical_statement"], dialogues)
        assert len(proposals) > 3
        for one in dialogues:
            at = {turn.graph_id: turn.turn for turn in one.turns}
            for _, edits in edit_lists(proposals.get(one.id, [])):
                top, *sets = edits
                assert top.op == "graft" and top.from_amr not in one.graphs
                before = [
                    graphs[turn.graph_id] for turn in one.turns[: at[top.amr]] if turn.graph_id is not None
                ]
                said = {node.concept or "" for known in before for node in known.nodes}
                after = applied(edits, graphs)
                assert after.top.concept == graphs[top.from_amr or ""].nodes[top.from_position or 0].concept
                words = {node.concept or "" for node in after.nodes}
                assert {edit.concept for edit in sets} <= said & words
                assert content_lemmas(" ".join(words & said))

    def test_topical_statements_can_be_explained(self, everyday: Store) -> None:
        graph = DialogueGraph(everyday)
        made = list(graph.negatives(transforms=["topical_statement"], per_dialogue=2, corpora=["everyday"]))
        assert len(made) > 3
        assert max(Counter(match_key(one.response) for one in made).values()) <= TAKERS
        for one in made:
            said = " ".join(turn.text for turn in one.context)
            assert set(content_lemmas(said)) & set(content_lemmas(one.response))
            assert one.target == "response"
            assert one.categories == ("C-follow",)
            assert one.response != one.original.response
            assert one.original.context is None
            assert graph.explain(one.id).negative.response == one.response
