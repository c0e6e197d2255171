"""Tests of `GraphDraft`: changes, repair, and assembly into a well-formed graph."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.amr.penman import format_graph, parse_graph
from graphneg.amr.wellformed import check
from graphneg.model import AmrGraph
from graphneg.parsers.dependency.draft import (
    DEEPEST,
    GraphDraft,
    assemble,
    inverse,
    quoted,
    repair,
    writable_concept,
)
from tests.parsers.rules.trees import tree

ROLES = ("ARG0", "ARG1", "mod", "domain", "part", "polarity", "quant", "op1", "op2", "op7", "time", "name")
LABELS = ("eat-01", "boy", "a b", "(", '"', "x", "and/or", "école", ":", "b2", "12")


def written(*drafts: GraphDraft, text: str = "") -> str:
    return " ".join(format_graph(assemble(drafts, text)).split())


def arcs_of(draft: GraphDraft) -> list[tuple[str, str, str]]:
    return [(draft.nodes[arc.head].label, arc.role, draft.nodes[arc.dep].label) for arc in draft.arcs]


@st.composite
def drafts(choose: st.DrawFn) -> GraphDraft:
    """Draw drafts with loops, unconnected parts, several tops and labels that PENMAN can't write."""
    draft = GraphDraft("", [])
    size = choose(st.integers(1, 7))
    for n in range(size):
        add = draft.constant if n and choose(st.booleans()) else draft.concept
        add(choose(st.sampled_from(LABELS)), None, "test", choose(st.integers(0, 2)))
    concepts = st.sampled_from([k for k, node in enumerate(draft.nodes) if node.value is None])
    node = st.integers(0, size - 1)
    for head, role, dep in choose(st.lists(st.tuples(node, st.sampled_from(ROLES), node), max_size=12)):
        draft.link(head, role, dep, "test")
    draft.tops = {sentence: choose(concepts) for sentence in choose(st.sets(st.integers(0, 2)))}
    return draft


class TestADraft:
    def test_arguments_can_be_new_or_existing_nodes(self) -> None:
        draft = GraphDraft("", [])
        dog = draft.concept("dog", None, "noun")
        draft.concept("chase-01", None, "verb", ARG0=dog, ARG1="cat")
        assert arcs_of(draft) == [("chase-01", "ARG0", "dog"), ("chase-01", "ARG1", "cat")]
        assert draft.nodes[2].rule == "verb"

    def test_nodes_have_the_offsets_of_their_words(self) -> None:
        words = tree("New/NNP/compound/1 York/NNP/ROOT/1")
        draft = GraphDraft("New York", words)
        city = draft.nodes[draft.concept("city", 0, "name", last=1)]
        assert (city.start, city.end, city.sentence) == (0, 8, 0)

    def test_a_node_is_not_linked_to_itself(self) -> None:
        draft = GraphDraft("", [])
        draft.link(draft.concept("be", None, "verb"), "ARG0", 0, "test")
        assert not draft.arcs

    def test_redirect_moves_arcs_tops_and_mentions(self) -> None:
        words = tree("he/PRP/nsubj/1 hurt/VBD/ROOT/1 himself/PRP/dobj/1")
        draft = GraphDraft("he hurt himself", words)
        he, himself = draft.concept("he", 0, "pronoun"), draft.concept("he", 2, "pronoun")
        draft.concept("hurt-01", 1, "verb", ARG0=he, ARG1=himself)
        draft.tops[0] = himself
        draft.redirect(himself, he)
        assert draft.nodes[himself].deleted and draft.nodes[he].mentions == [2]
        assert draft.tops == {0: he} and draft.roles(2) == {"ARG0": he, "ARG1": he}

    def test_nodes_with_equal_keys_are_merged(self) -> None:
        draft = GraphDraft("", [])
        for concept in ("i", "you", "i", "dog", "i"):
            draft.concept(concept, None, "test")
        draft.drop(0)
        draft.merge(lambda node: node.concept if node.concept in {"i", "you"} else None)
        assert [node.deleted for node in draft.nodes] == [True, False, False, False, True]


class TestRepair:
    def test_a_second_polarity_is_dropped(self) -> None:
        draft = GraphDraft("", [])
        run = draft.concept("run-02", None, "verb")
        for _ in range(2):
            draft.link(run, "polarity", draft.constant("-", None, "no"), "no")
        repair(draft)
        assert arcs_of(draft) == [("run-02", "polarity", "-")]
        assert [node.deleted for node in draft.nodes] == [False, False, True]

    def test_a_name_without_operands_gets_its_words(self) -> None:
        draft = GraphDraft("Ada sings", tree("Ada/NNP/nsubj/1 sings/VBZ/ROOT/1"))
        draft.concept("name", 0, "name")
        repair(draft)
        assert arcs_of(draft) == [("name", "op1", '"Ada"')]

    @pytest.mark.parametrize("value", ["b2", "a b", "(", ""])
    def test_ambiguous_constants_are_quoted(self, value: str) -> None:
        draft = GraphDraft("", [])
        draft.link(draft.concept("thing", None, "test"), "value", draft.constant(value, None, "test"), "test")
        repair(draft)
        assert draft.nodes[1].value == f'"{value}"'

    @given(st.text(min_size=1))
    def test_any_text_becomes_a_valid_label(self, text: str) -> None:
        if text.isprintable():
            assert parse_graph(f"(x / {writable_concept(text)})").top.concept == writable_concept(text)
            assert parse_graph(f"(x / x :value {quoted(text)})").nodes[1].value == quoted(text)


class TestAssembly:
    @settings(max_examples=60)
    @given(st.lists(drafts(), max_size=3))
    def test_any_drafts_give_a_well_formed_graph(self, made: list[GraphDraft]) -> None:
        graph = assemble(made, "")
        concepts = {node.concept for draft in made for node in draft.nodes if node.concept}
        assert check(graph) == []
        again = parse_graph(format_graph(graph))
        assert (again.nodes, again.mentions) == (graph.nodes, graph.mentions)
        assert concepts <= {node.concept for node in graph.nodes}

    def test_an_empty_draft_gives_amr_empty(self) -> None:
        assert written() == written(GraphDraft("", [])) == "(a / amr-empty)"

    def test_sentences_are_joined_under_multi_sentence(self) -> None:
        draft = GraphDraft("", [])
        draft.tops = {n: draft.concept(word, None, "test", n) for n, word in enumerate(("go-02", "stop-01"))}
        assert written(draft) == "(m / multi-sentence :snt1 (g / go-02) :snt2 (s / stop-01))"

    def test_shared_nodes_become_mentions(self) -> None:
        draft = GraphDraft("", [])
        she = draft.concept("she", None, "pronoun")
        go = draft.concept("go-02", None, "verb", ARG0=she)
        draft.tops[0] = draft.concept("want-01", None, "verb", ARG0=she, ARG1=go)
        assert written(draft) == "(w / want-01 :ARG0 (s / she) :ARG1 (g / go-02 :ARG0 s))"

    def test_roles_that_lead_upwards_are_inverted(self) -> None:
        draft = GraphDraft("", [])
        draft.tops[0] = draft.concept("person", None, "noun")
        draft.concept("teach-01", None, "noun", ARG0=draft.tops[0])
        assert written(draft) == "(p / person :ARG0-of (t / teach-01))"

    def test_operands_can_start_at_two(self) -> None:
        draft = GraphDraft("", [])
        draft.tops[0] = draft.concept("and", None, "opener", op2="go-02")
        assert written(draft) == "(a / and :op2 (g / go-02))"
        draft.link(draft.tops[0], "op9", draft.concept("stop-01", None, "test"), "test")
        draft.link(draft.tops[0], "op1", draft.concept("sit-01", None, "test"), "test")
        assert written(draft) == "(a / and :op1 (s / sit-01) :op2 (g / go-02) :op3 (s2 / stop-01))"

    def test_unconnected_parts_are_attached_to_the_top(self) -> None:
        draft = GraphDraft("", [])
        draft.tops[0] = draft.concept("sleep-01", None, "verb")
        draft.concept("big", None, "adjective", domain="dog")
        assert written(draft) == "(s / sleep-01 :mod (b / big :domain (d / dog)))"

    def test_the_depth_is_limited(self) -> None:
        draft = GraphDraft("", [])
        chain = [draft.concept("think-01", None, "verb") for _ in range(3 * DEEPEST)]
        for head, dep in pairwise(chain):
            draft.link(head, "ARG1", dep, "test")
        draft.tops[0] = 0
        graph: AmrGraph = assemble([draft], "")
        assert len(graph.nodes) == len(chain) and check(graph) == []

    def test_nodes_have_token_spans(self) -> None:
        text = "Dogs don't sing."
        words = tree("Dogs/NNS/nsubj/1 sing/VB/ROOT/1")
        words[1].start, words[1].end = 11, 15
        draft = GraphDraft(text, words)
        draft.tops[0] = draft.concept("sing-01", 1, "verb", ARG0=draft.concept("dog", 0, "noun"))
        assert assemble([draft], text).spans == {0: (3, 4), 1: (0, 1)}

    @pytest.mark.parametrize("role", [role for role in ROLES if role != "part"])
    def test_inverting_a_role_twice_gives_the_role(self, role: str) -> None:
        assert inverse(inverse(role)) == role
