"""Tests that any edit is either refused or leaves a well-formed graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.amr.overlay import apply_edits, apply_edits_unchecked
from graphneg.amr.penman import format_graph, parse_graph
from graphneg.amr.wellformed import check
from graphneg.errors import TransformError
from tests.edit_samples import (
    AMR,
    GRAPHS,
    Draft,
    after,
    bare,
    edit,
    edits,
    edits_of,
    numbers,
    text_after,
    triples,
)


class TestAnyEdits:
    @settings(max_examples=1500)
    @given(at=numbers, drafts=st.lists(edits, min_size=1, max_size=5))
    def test_any_edits_are_refused_or_leave_a_well_formed_graph(self, at: int, drafts: list[Draft]) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        before = format_graph(graph)
        wanted, sources = edits_of(graph, drafts)
        untouched = {id: format_graph(source) for id, source in sources.items()}
        try:
            result = apply_edits(graph, wanted, sources)
        except TransformError as error:
            assert str(error)
            return
        finally:
            assert format_graph(graph) == before
            assert {id: format_graph(source) for id, source in sources.items()} == untouched
        assert parse_graph(format_graph(result), graph.id) == result
        assert check(result) == []
        variables = [node.var for node in result.nodes if node.var is not None]
        assert len(set(variables)) == len(variables)
        assert all(result.nodes[mention.target].var is not None for mention in result.mentions)

    @settings(max_examples=500)
    @given(at=numbers, drafts=st.lists(edits, min_size=1, max_size=4))
    def test_edits_map_old_positions_to_new_ones(self, at: int, drafts: list[Draft]) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        wanted, sources = edits_of(graph, drafts)
        try:
            result, places = apply_edits_unchecked(graph, wanted, sources)
        except TransformError:
            return
        changed = {(graph.id, one.position) for one in wanted if one.op == "set"} | {(graph.id, -1)}
        for (origin, k), place in places.items():
            source = graph if origin == graph.id else sources[origin]
            if (origin, k) not in changed and not any(one.position == -1 for one in wanted):
                assert result.nodes[place].label == source.nodes[k].label
        assert len(set(places.values())) == len(places)

    def test_no_edits_give_the_graph_itself(self) -> None:
        graph = parse_graph("# ::id 1\n(a / a :op2 (b / b))", AMR)
        assert apply_edits(graph, [], {}) is graph

    def test_edits_apply_in_their_order(self) -> None:
        text = "(w / want-01 :ARG0 (b / boy))"
        assert text_after(
            text, edit("add", 1, role="mod", concept="old"), edit("set", 1, concept="girl")
        ) == ("(w / want-01 :ARG0 (g / girl :mod (o / old)))")
        with pytest.raises(TransformError, match=r"there is no node 1"):
            text_after(text, edit("drop", 1), edit("set", 1, concept="girl"))

    def test_edits_of_a_graph_with_a_defect_are_refused(self) -> None:
        with pytest.raises(TransformError, match=r"^double-polarity: "):
            text_after(
                "(w / want-01 :ARG0 (b / boy :polarity - :polarity -))", edit("set", 0, concept="go-02")
            )


def anywhere(test: Callable[..., None]) -> Callable[..., None]:
    return settings(max_examples=400)(given(at=numbers, k=numbers)(test))


class TestOneEditAnywhere:
    @anywhere
    def test_a_polarity_added_and_dropped_leaves_the_original(self, at: int, k: int) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        node = graph.nodes[k % len(graph.nodes)]
        if (
            node.concept is None
            or check(graph)
            or "polarity" in {c.role for c in graph.children(node.position)}
        ):
            return
        negated = after(graph, edit("add", node.position, graph.id, role="polarity", value="-"))
        assert triples(negated) - triples(graph) == Counter([(node.var, ":polarity", "-")])
        restored = after(negated, edit("drop", node.position + 1, graph.id))
        assert (restored.nodes, restored.mentions) == (graph.nodes, graph.mentions)

    @anywhere
    def test_a_polarity_dropped_and_added_leaves_the_same_triples(self, at: int, k: int) -> None:
        negative = [g for g in GRAPHS if any(n.value == "-" and n.role == "polarity" for n in g.nodes)]
        graph = negative[at % len(negative)]
        if check(graph):
            return
        denial = next(n for n in graph.nodes if n.value == "-" and n.role == "polarity")
        assert denial.parent is not None
        positive = after(graph, edit("drop", denial.position, graph.id))
        restored = after(positive, edit("add", denial.parent, graph.id, role="polarity", value="-"))
        assert triples(restored) == triples(graph)

    @anywhere
    def test_a_drop_keeps_nodes_that_are_mentioned_elsewhere(self, at: int, k: int) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        node = graph.nodes[k % len(graph.nodes)]
        if node.parent is None:
            return
        result, places = apply_edits_unchecked(graph, [edit("drop", node.position, graph.id)], {})
        gone = {one.position for one in graph.nodes} - {k for _, k in places}
        assert gone <= {one.position for one in graph.subtree(node.position)}
        reached = {0}
        edges = [
            (n.parent, n.position)
            for n in graph.nodes
            if n.parent is not None and n.position != node.position
        ]
        edges += [(m.parent, m.target) for m in graph.mentions]
        while more := {down for up, down in edges if up in reached} - reached:
            reached |= more
        assert {one.position for one in graph.nodes} - gone == reached
        kept = {one.var for one in graph.nodes if one.position in reached}
        assert {one.var for one in result.nodes} == kept
        lost = triples(graph) - triples(result)
        numbered = [t for t in lost if t[1].startswith((":op", ":snt")) and t[0] in kept and t[2] in kept]
        assert all(
            source not in kept
            or target not in kept
            or node.var in (source, target)
            or (source, role, target) in numbered
            for source, role, target in lost
            if role != ":instance" and target in {one.var for one in graph.nodes}
        )

    @anywhere
    def test_a_new_concept_changes_nothing_else(self, at: int, k: int) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        node = graph.nodes[k % len(graph.nodes)]
        if node.concept in (None, "name"):
            return
        result, _ = apply_edits_unchecked(graph, [edit("set", node.position, graph.id, concept="zebra")], {})
        changed = result.nodes[node.position]
        assert changed._replace(var=node.var, concept=node.concept, align=node.align) == node
        assert [n for n in result.nodes if n.position != node.position] == [
            n for n in graph.nodes if n.position != node.position
        ]
        assert result.mentions == graph.mentions

    @anywhere
    def test_a_wrap_keeps_the_whole_graph(self, at: int, k: int) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        node = graph.nodes[k % len(graph.nodes)]
        if node.concept is None:
            return
        result, places = apply_edits_unchecked(
            graph, [edit("wrap", node.position, graph.id, concept="wrap-99", role="ARG1")], {}
        )
        assert len(result.nodes) == len(graph.nodes) + 1
        assert result.nodes[node.position].concept == "wrap-99"
        assert places == {
            (graph.id, n.position): n.position + (n.position >= node.position) for n in graph.nodes
        }
        top = (
            [] if node.parent is None else [(graph.nodes[node.parent].concept, f":{node.role}", node.concept)]
        )
        assert sum((bare(graph) - bare(result)).values()) == len(top)

    @anywhere
    def test_a_graft_has_new_variables(self, at: int, k: int) -> None:
        graph, source = GRAPHS[at % len(GRAPHS)], GRAPHS[(at + 1 + k) % len(GRAPHS)]
        node = source.nodes[k % len(source.nodes)]
        if graph is source or graph.top.concept == "name":
            return
        wanted = edit("graft", 0, graph.id, role="mod", from_amr=source.id, from_position=node.position)
        result, places = apply_edits_unchecked(graph, [wanted], {source.id: source})
        variables = [n.var for n in result.nodes if n.var is not None]
        assert len(set(variables)) == len(variables)
        copies = [places[source.id, n.position] for n in source.subtree(node.position)]
        assert [result.nodes[c].label for c in copies] == [n.label for n in source.subtree(node.position)]
        assert not {result.nodes[c].var for c in copies} & {n.var for n in graph.nodes if n.var}
        for before in graph.nodes:
            assert result.nodes[places[graph.id, before.position]][2:5] == before[2:5]
