"""The laws of edits: whatever an edit asks for, it is refused or leaves a graph that is well formed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import penman
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.editing.overlay import apply_edits, overlaid
from graphneg.errors import TransformError
from graphneg.model import AmrGraph, Edit
from graphneg.penman_codec import format_graph, parse_graph
from graphneg.wellformed import check
from tests.graphs import natural

GRAPHS = natural()
AMR = "test/train/1#0@penman"
LABELS = ["like-01", "boy", "name", "i", "have-03", "café", '"New York"', "c++", "x", "a"]
LABELS += ["two words", "", "(", "a:b", "a/b", "#a", '"', '"a" "b"', '"a\nb"', "x1", "a~e.1", "\ud800", "-"]
ROLES = [
    "ARG0",
    "ARG1-of",
    "polarity",
    "mode",
    "op",
    "op1",
    "op7",
    "snt",
    "snt1",
    "mod",
    "consist-of",
    "quant",
]
ROLES += ["", "two words", "a(", "ARG0\n", "-of"]

numbers = st.integers(0, 10_000)
edits = st.builds(
    lambda op, k, role, concept, value, source, from_k: (op, k, role, concept, value, source, from_k),
    st.sampled_from(["set", "add", "drop", "drop", "graft", "graft", "wrap", "swap"]),
    st.one_of(numbers, numbers, numbers, st.sampled_from([-1, -2, 100_000])),
    st.one_of(st.none(), st.sampled_from(ROLES)),
    st.one_of(st.none(), st.sampled_from(LABELS)),
    st.one_of(st.none(), st.sampled_from(LABELS)),
    numbers,
    numbers,
)
Draft = tuple[str, int, str | None, str | None, str | None, int, int]


def edit(op: str, k: int = 0, amr: str = AMR, **fields: object) -> Edit:
    return Edit("test", "C-cont", "site", op, amr, k, **fields)  # type: ignore[arg-type]


def edits_of(graph: AmrGraph, drafts: Sequence[Draft]) -> tuple[list[Edit], dict[str, AmrGraph]]:
    """Drafts as edits of this graph: most name a node that it has, or had before the edits."""
    sources: dict[str, AmrGraph] = {}
    made: list[Edit] = []
    for op, k, role, concept, value, source, from_k in drafts:
        one = edit(op, k % len(graph.nodes) if 0 <= k < 100_000 else k, graph.id)
        if op == "graft":
            other = GRAPHS[source % len(GRAPHS)]
            sources[other.id] = other
            made.append(one._replace(role=role, from_amr=other.id, from_k=from_k % len(other.nodes)))
        elif op != "drop":
            made.append(one._replace(role=role, concept=concept, value=value))
        else:
            made.append(one)
    return made, sources


def after(graph: AmrGraph, *wanted: Edit, sources: Sequence[AmrGraph] = ()) -> AmrGraph:
    return apply_edits(graph, wanted, {source.id: source for source in sources})


def text_after(text: str, *wanted: Edit, **sources: str) -> str:
    """The graph of a text under edits, on one line."""
    graphs = [parse_graph(source, name) for name, source in sources.items()]
    return " ".join(format_graph(after(parse_graph(text, AMR), *wanted, sources=graphs)).split())


def triples(graph: AmrGraph) -> Counter[tuple[str, str, str]]:
    return Counter(penman.decode(format_graph(graph)).triples)


def bare(graph: AmrGraph) -> Counter[tuple[str, str, str]]:
    """Concept, role, concept of each edge, in the direction of its meaning."""
    decoded = penman.decode(format_graph(graph))
    concepts = {one.source: one.target for one in decoded.instances()}
    return Counter(
        (concepts[source], role, concepts.get(target, target))
        for source, role, target in decoded.triples
        if role != ":instance"
    ) + Counter((concept, "", "") for concept in concepts.values())


class TestAnyEdits:
    @settings(max_examples=1500, deadline=2000)
    @given(at=numbers, drafts=st.lists(edits, min_size=1, max_size=5))
    def test_are_refused_or_leave_a_well_formed_graph(self, at: int, drafts: list[Draft]) -> None:
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

    @settings(max_examples=500, deadline=2000)
    @given(at=numbers, drafts=st.lists(edits, min_size=1, max_size=4))
    def test_say_where_each_node_went(self, at: int, drafts: list[Draft]) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        wanted, sources = edits_of(graph, drafts)
        try:
            result, places = overlaid(graph, wanted, sources)
        except TransformError:
            return
        changed = {(graph.id, one.k) for one in wanted if one.op == "set"} | {(graph.id, -1)}
        for (origin, k), place in places.items():
            source = graph if origin == graph.id else sources[origin]
            if (origin, k) not in changed and not any(one.k == -1 for one in wanted):
                assert result.nodes[place].label == source.nodes[k].label
        assert len(set(places.values())) == len(places)

    def test_no_edits_give_the_graph_itself(self) -> None:
        graph = parse_graph("# ::id 1\n(a / a :op2 (b / b))", AMR)
        assert apply_edits(graph, [], {}) is graph

    def test_apply_in_their_order(self) -> None:
        text = "(w / want-01 :ARG0 (b / boy))"
        assert text_after(
            text, edit("add", 1, role="mod", concept="old"), edit("set", 1, concept="girl")
        ) == ("(w / want-01 :ARG0 (g / girl :mod (o / old)))")
        with pytest.raises(TransformError, match=r"there is no node 1"):
            text_after(text, edit("drop", 1), edit("set", 1, concept="girl"))

    def test_of_a_graph_with_a_defect_are_refused(self) -> None:
        with pytest.raises(TransformError, match=r"^double-polarity: "):
            text_after(
                "(w / want-01 :ARG0 (b / boy :polarity - :polarity -))", edit("set", 0, concept="go-02")
            )


def anywhere(test: Callable[..., None]) -> Callable[..., None]:
    return settings(max_examples=400, deadline=2000)(given(at=numbers, k=numbers)(test))


class TestOneEditAnywhere:
    @anywhere
    def test_a_polarity_added_and_dropped_leaves_the_original(self, at: int, k: int) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        node = graph.nodes[k % len(graph.nodes)]
        if node.concept is None or check(graph) or "polarity" in {c.role for c in graph.children(node.k)}:
            return
        negated = after(graph, edit("add", node.k, graph.id, role="polarity", value="-"))
        assert triples(negated) - triples(graph) == Counter([(node.var, ":polarity", "-")])
        restored = after(negated, edit("drop", node.k + 1, graph.id))
        assert (restored.nodes, restored.mentions) == (graph.nodes, graph.mentions)

    @anywhere
    def test_a_polarity_dropped_and_added_leaves_the_same_triples(self, at: int, k: int) -> None:
        negative = [g for g in GRAPHS if any(n.value == "-" and n.role == "polarity" for n in g.nodes)]
        graph = negative[at % len(negative)]
        if check(graph):
            return
        denial = next(n for n in graph.nodes if n.value == "-" and n.role == "polarity")
        assert denial.up is not None
        positive = after(graph, edit("drop", denial.k, graph.id))
        restored = after(positive, edit("add", denial.up, graph.id, role="polarity", value="-"))
        assert triples(restored) == triples(graph)

    @anywhere
    def test_a_drop_takes_only_what_nothing_else_mentions(self, at: int, k: int) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        node = graph.nodes[k % len(graph.nodes)]
        if node.up is None:
            return
        result, places = overlaid(graph, [edit("drop", node.k, graph.id)], {})
        gone = {one.k for one in graph.nodes} - {k for _, k in places}
        assert gone <= {one.k for one in graph.subtree(node.k)}
        reached = {0}
        edges = [(n.up, n.k) for n in graph.nodes if n.up is not None and n.k != node.k]
        edges += [(m.up, m.target) for m in graph.mentions]
        while more := {down for up, down in edges if up in reached} - reached:
            reached |= more
        assert {one.k for one in graph.nodes} - gone == reached
        kept = {one.var for one in graph.nodes if one.k in reached}
        assert {one.var for one in result.nodes} == kept
        lost = triples(graph) - triples(result)
        numbered = [t for t in lost if t[1].startswith((":op", ":snt")) and t[0] in kept and t[2] in kept]
        assert all(
            source not in kept
            or target not in kept
            or target == node.var
            or (source, role, target) in numbered
            for source, role, target in lost
            if role != ":instance" and target in {one.var for one in graph.nodes}
        )

    @anywhere
    def test_a_concept_that_is_set_keeps_everything_else(self, at: int, k: int) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        node = graph.nodes[k % len(graph.nodes)]
        if node.concept in (None, "name"):
            return
        result, _ = overlaid(graph, [edit("set", node.k, graph.id, concept="zebra")], {})
        changed = result.nodes[node.k]
        assert changed._replace(var=node.var, concept=node.concept, align=node.align) == node
        assert [n for n in result.nodes if n.k != node.k] == [n for n in graph.nodes if n.k != node.k]
        assert result.mentions == graph.mentions

    @anywhere
    def test_a_wrap_loses_nothing(self, at: int, k: int) -> None:
        graph = GRAPHS[at % len(GRAPHS)]
        node = graph.nodes[k % len(graph.nodes)]
        if node.concept is None:
            return
        result, places = overlaid(graph, [edit("wrap", node.k, graph.id, concept="wrap-99", role="ARG1")], {})
        assert len(result.nodes) == len(graph.nodes) + 1
        assert result.nodes[node.k].concept == "wrap-99"
        assert places == {(graph.id, n.k): n.k + (n.k >= node.k) for n in graph.nodes}
        top = [] if node.up is None else [(graph.nodes[node.up].concept, f":{node.role}", node.concept)]
        assert sum((bare(graph) - bare(result)).values()) == len(top)

    @anywhere
    def test_a_graft_has_variables_of_its_own(self, at: int, k: int) -> None:
        graph, source = GRAPHS[at % len(GRAPHS)], GRAPHS[(at + 1 + k) % len(GRAPHS)]
        node = source.nodes[k % len(source.nodes)]
        if graph is source or graph.top.concept == "name":
            return
        wanted = edit("graft", 0, graph.id, role="mod", from_amr=source.id, from_k=node.k)
        result, places = overlaid(graph, [wanted], {source.id: source})
        variables = [n.var for n in result.nodes if n.var is not None]
        assert len(set(variables)) == len(variables)
        copies = [places[source.id, n.k] for n in source.subtree(node.k)]
        assert [result.nodes[c].label for c in copies] == [n.label for n in source.subtree(node.k)]
        assert not {result.nodes[c].var for c in copies} & {n.var for n in graph.nodes if n.var}
        for before in graph.nodes:
            assert result.nodes[places[graph.id, before.k]][2:5] == before[2:5]


class TestDropping:
    def test_a_node_that_is_mentioned_elsewhere_moves_there(self) -> None:
        text = "(w / want-01 :ARG0 (b / boy :mod (o / old)) :ARG1 (g / go-02 :ARG0 b))"
        assert text_after(text, edit("drop", 1)) == (
            "(w / want-01 :ARG1 (g / go-02 :ARG0 (b / boy :mod (o / old))))"
        )

    def test_a_node_inside_that_is_mentioned_elsewhere_moves_there(self) -> None:
        text = "(s / say-01 :ARG1 (w / want-01 :ARG0 (b / boy :ARG1-of w)) :ARG0 b)"
        assert text_after(text, edit("drop", 1)) == (
            "(s / say-01 :ARG0 (b / boy :ARG1-of (w / want-01 :ARG0 b)))"
        )

    def test_mentions_inside_go_with_it(self) -> None:
        text = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
        assert text_after(text, edit("drop", 2)) == "(w / want-01 :ARG0 (b / boy))"

    def test_later_numbers_move_up(self) -> None:
        text = "(a / and :op1 (x / x) :op2 (y / y) :op3 (z / z))"
        assert text_after(text, edit("drop", 2)) == "(a / and :op1 (x / x) :op2 (z / z))"

    def test_numbers_that_have_no_gap_stay(self) -> None:
        text = "(a / and :mod (b / but) :op2 (x / x))"
        assert text_after(text, edit("drop", 1)) == "(a / and :op2 (x / x))"

    def test_the_top_stays(self) -> None:
        with pytest.raises(TransformError, match="the top can't be dropped"):
            text_after("(a / a)", edit("drop", 0))

    def test_a_name_keeps_its_last_word(self) -> None:
        with pytest.raises(TransformError, match=r"^name-without-op: "):
            text_after('(c / city :name (n / name :op1 "Rome"))', edit("drop", 2))


class TestSetting:
    def test_the_variable_follows_the_concept(self) -> None:
        text = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
        assert text_after(text, edit("set", 1, concept="girl")) == (
            "(w / want-01 :ARG0 (g2 / girl) :ARG1 (g / go-02 :ARG0 g2))"
        )

    def test_a_variable_of_the_annotators_own_kind_stays(self) -> None:
        assert text_after("(xv0 / boy)", edit("set", 0, concept="girl")) == "(xv0 / girl)"

    def test_the_same_concept_changes_nothing(self) -> None:
        graph = parse_graph("(b3 / boy~e.4 :mod b3)", AMR)
        result = overlaid(graph, [edit("set", 0, concept="boy")], {})[0]
        assert result == graph

    def test_the_alignment_goes_with_the_word_that_it_named(self) -> None:
        graph = parse_graph("(b / boy~e.4 :mod (o / old~e.3))", AMR)
        result = after(graph, edit("set", 0, concept="girl"))
        assert format_graph(result).split() == ["(g", "/", "girl", ":mod", "(o", "/", "old~e.3))"]
        assert result.spans == {1: (3, 4)}

    def test_a_value_that_reads_like_a_variable_stays_a_value(self) -> None:
        text = "(b / boy :ARG0-of (w / want-01 :ARG1 b) :li 1)"
        assert text_after(text, edit("set", 2, value="b")) == (
            "(b2 / boy :ARG0-of (w / want-01 :ARG1 b2) :li b)"
        )

    def test_a_fresh_variable_is_no_constant_either(self) -> None:
        text = "(w / want-01 :li g :ARG0 (b / boy))"
        assert text_after(text, edit("set", 2, concept="girl")) == "(w / want-01 :li g :ARG0 (g2 / girl))"

    @pytest.mark.parametrize("label", ["two words", "", "a:b", "(", "#a", '"', '"a\nb"', "a~e.1", "\ud800"])
    def test_what_can_not_be_written_is_refused(self, label: str) -> None:
        with pytest.raises(TransformError, match=r"test at .*\.[01]: .* can't be written"):
            text_after("(b / boy :quant 1)", edit("set", 0, concept=label))
        with pytest.raises(TransformError, match="can't be written"):
            text_after("(b / boy :quant 1)", edit("set", 1, value=label))
        with pytest.raises(TransformError, match="can't be written"):
            text_after("(b / boy :quant 1)", edit("wrap", 0, concept=label, role="ARG1"))
        with pytest.raises(TransformError, match="can't be written"):
            text_after("(b / boy :quant 1)", edit("add", 0, role="mod", value=label))

    def test_kinds_are_not_mixed(self) -> None:
        with pytest.raises(TransformError, match="a constant is set by 'value'"):
            text_after("(b / boy :quant 1)", edit("set", 1, concept="two"))
        with pytest.raises(TransformError, match="a concept is set by 'concept'"):
            text_after("(b / boy :quant 1)", edit("set", 0, value="two"))


class TestAdding:
    def test_a_leaf_comes_first(self) -> None:
        text = "(w / want-01 :ARG0 (b / boy))"
        assert text_after(text, edit("add", 0, role="polarity", value="-")) == (
            "(w / want-01 :polarity - :ARG0 (b / boy))"
        )

    @pytest.mark.parametrize(
        ("text", "wanted", "reason"),
        [
            (
                "(w / want-01 :polarity -)",
                edit("add", 0, role="polarity", value="-"),
                "has :polarity already",
            ),
            ("(w / want-01 :mode imperative)", edit("add", 0, role="mode", value="x"), "has :mode already"),
            ("(b / boy :quant 1)", edit("add", 1, role="mod", value="-"), "a constant can't have roles"),
            ("(b / boy)", edit("add", 0, value="-"), "needs a role"),
            ("(b / boy)", edit("add", 0, role="mod"), "needs a role and a concept or a value"),
            ("(b / boy)", edit("add", 0, role="mod", concept="a", value="b"), "a concept or a value"),
            ("(b / boy)", edit("add", 0, role="two words", value="-"), "^malformed-role: "),
            ("(b / boy)", edit("add", 0, role="op3", value="x"), "^op-order: "),
            ("(b / boy)", edit("add", 0, role="ARG0-of", value="x"), "^constant-inverted: "),
            ("(b / boy)", edit("add", 0, role="mod", value="x7"), "^undefined-variable: "),
            ("(b / boy)", edit("add", 0, role="name", concept="name"), "^name-without-op: "),
            ("(b / boy)", edit("add", 9, role="mod", value="x"), "there is no node 9"),
            ("(b / boy)", edit("sing", 0), "unknown operation 'sing'"),
            ("(b / boy)", edit("wrap", 0, concept="want-01"), "needs a concept and a role"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, text: str, wanted: Edit, reason: str) -> None:
        with pytest.raises(TransformError, match=reason):
            text_after(text, wanted)


class TestGrafting:
    SOURCE = "(s / see-01 :ARG0 (b / boy :mod (o / old)) :ARG1 (d / dog :poss b) :time (n / now))"

    def test_sentences_and_operands_are_numbered_in_order(self) -> None:
        text = "(m / multi-sentence :snt1 (g / go-02))"
        assert text_after(
            text, edit("graft", 0, role="snt", from_amr="other", from_k=4), other=self.SOURCE
        ) == ("(m / multi-sentence :snt1 (g / go-02) :snt2 (n / now))")

    def test_in_place_of_a_node_mentions_of_it_follow(self) -> None:
        text = "(w / want-01 :ARG0 (c / cat) :ARG1 (g / go-02 :ARG0 c))"
        assert text_after(text, edit("graft", 1, from_amr="other", from_k=1), other=self.SOURCE) == (
            "(w / want-01 :ARG0 (b / boy :mod (o / old)) :ARG1 (g / go-02 :ARG0 b))"
        )

    def test_what_the_old_node_held_for_others_stays(self) -> None:
        text = "(w / want-01 :ARG0 (f / friend :poss (i / i)) :ARG1 (g / go-02 :ARG0 i))"
        assert text_after(text, edit("graft", 1, from_amr="other", from_k=4), other=self.SOURCE) == (
            "(w / want-01 :ARG0 (n / now) :ARG1 (g / go-02 :ARG0 (i / i)))"
        )

    def test_a_mention_of_what_is_not_copied_becomes_a_node(self) -> None:
        text = "(w / want-01 :ARG1 (c / cat))"
        assert text_after(text, edit("graft", 1, from_amr="other", from_k=3), other=self.SOURCE) == (
            "(w / want-01 :ARG1 (d / dog :poss (b / boy)))"
        )

    def test_a_pronoun_that_is_here_already_is_shared(self) -> None:
        text = "(w / want-01 :ARG0 (i / i) :ARG1 (c / cat))"
        source = "(s / see-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))"
        assert text_after(text, edit("graft", 2, from_amr="other", from_k=2), other=source) == (
            "(w / want-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))"
        )

    def test_in_place_of_the_top_the_whole_graph_gives_way(self) -> None:
        text = "(w / want-01 :ARG0 (i / i))"
        wanted = edit("graft", 0, from_amr="other", from_k=1)
        assert text_after(text, wanted, other=self.SOURCE) == "(b / boy :mod (o / old))"

    def test_edits_may_go_on_in_the_copy(self) -> None:
        text = "(w / want-01 :ARG1 (c / cat))"
        first = edit("graft", 1, from_amr="other", from_k=3)
        then = edit("set", 3, concept="horse", copy_of="other")
        assert (
            text_after(text, first, then, other=self.SOURCE)
            == "(w / want-01 :ARG1 (h / horse :poss (b / boy)))"
        )

    @pytest.mark.parametrize(
        ("wanted", "reason"),
        [
            (edit("graft", 1, from_amr="other", from_k=99), r"there is no node other\.99"),
            (edit("graft", 1, from_amr="nowhere", from_k=0), r"there is no node nowhere\.0"),
            (edit("graft", 1, from_amr="other"), "there is no node"),
            (edit("graft", 2, role="mod", from_amr="other", from_k=0), "a constant can't have roles"),
            (edit("graft", 1, from_amr="other", from_k=5), "a constant can't take the place of a variable"),
        ],
    )
    def test_what_can_not_be_copied_is_refused(self, wanted: Edit, reason: str) -> None:
        source = self.SOURCE[:-1] + " :polarity -)"
        with pytest.raises(TransformError, match=reason):
            text_after("(w / want-01 :ARG1 (c / cat) :quant 2)", wanted, other=source)

    def test_a_graph_is_not_grafted_onto_itself(self) -> None:
        graph = parse_graph(self.SOURCE, AMR)
        with pytest.raises(TransformError, match="copies from another graph"):
            after(graph, edit("graft", 1, from_amr=AMR, from_k=0), sources=[graph])


class TestWrapping:
    def test_the_top_gets_a_new_top(self) -> None:
        assert text_after(
            "(g / go-02 :ARG0 (i / i))", edit("wrap", 0, concept="possible-01", role="ARG1")
        ) == ("(p / possible-01 :ARG1 (g / go-02 :ARG0 (i / i)))")

    def test_the_top_as_it_stands_by_then_is_minus_one(self) -> None:
        text = "(g / go-02)"
        first = edit("wrap", 0, concept="possible-01", role="ARG1")
        then = edit("add", -1, role="polarity", value="-")
        assert text_after(text, first, then) == "(p / possible-01 :polarity - :ARG1 (g / go-02))"

    def test_an_inner_node_keeps_its_place(self) -> None:
        text = "(a / and :op1 (x / x) :op2 (g / go-02))"
        assert text_after(text, edit("wrap", 1, concept="possible-01", role="ARG1")) == (
            "(a / and :op1 (p / possible-01 :ARG1 (x / x)) :op2 (g / go-02))"
        )
