"""Tests of the edit operations set, add, drop, graft, wrap and say, each on small graphs."""

from __future__ import annotations

import pytest

from graphneg.amr.overlay import apply_edits_unchecked
from graphneg.amr.penman import format_graph, parse_graph
from graphneg.errors import TransformError
from graphneg.model import Edit
from tests.edit_samples import (
    AMR,
    after,
    edit,
    text_after,
)


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

    def test_mentions_inside_a_dropped_subtree_are_dropped(self) -> None:
        text = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
        assert text_after(text, edit("drop", 2)) == "(w / want-01 :ARG0 (b / boy))"

    def test_later_operands_are_renumbered(self) -> None:
        text = "(a / and :op1 (x / x) :op2 (y / y) :op3 (z / z))"
        assert text_after(text, edit("drop", 2)) == "(a / and :op1 (x / x) :op2 (z / z))"

    def test_operands_are_not_renumbered_if_the_drop_leaves_no_gap(self) -> None:
        text = "(a / and :mod (b / but) :op2 (x / x))"
        assert text_after(text, edit("drop", 1)) == "(a / and :op2 (x / x))"

    def test_the_top_can_not_be_dropped(self) -> None:
        with pytest.raises(TransformError, match="the top can't be dropped"):
            text_after("(a / a)", edit("drop", 0))

    def test_the_last_word_of_a_name_can_not_be_dropped(self) -> None:
        with pytest.raises(TransformError, match=r"^name-without-op: "):
            text_after('(c / city :name (n / name :op1 "Rome"))', edit("drop", 2))


class TestSetting:
    def test_the_variable_follows_the_concept(self) -> None:
        text = "(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b))"
        assert text_after(text, edit("set", 1, concept="girl")) == (
            "(w / want-01 :ARG0 (g2 / girl) :ARG1 (g / go-02 :ARG0 g2))"
        )

    def test_a_variable_with_another_letter_than_its_concept_is_kept(self) -> None:
        assert text_after("(xv0 / boy)", edit("set", 0, concept="girl")) == "(xv0 / girl)"

    def test_the_same_concept_changes_nothing(self) -> None:
        graph = parse_graph("(b3 / boy~e.4 :mod b3)", AMR)
        result = apply_edits_unchecked(graph, [edit("set", 0, concept="boy")], {})[0]
        assert result == graph

    def test_a_new_concept_loses_the_alignment_of_the_old_one(self) -> None:
        graph = parse_graph("(b / boy~e.4 :mod (o / old~e.3))", AMR)
        result = after(graph, edit("set", 0, concept="girl"))
        assert format_graph(result).split() == ["(g", "/", "girl", ":mod", "(o", "/", "old~e.3))"]
        assert result.spans == {1: (3, 4)}

    def test_a_constant_that_looks_like_a_variable_stays_a_constant(self) -> None:
        text = "(b / boy :ARG0-of (w / want-01 :ARG1 b) :li 1)"
        assert text_after(text, edit("set", 2, value="b")) == (
            "(b2 / boy :ARG0-of (w / want-01 :ARG1 b2) :li b)"
        )

    def test_a_new_variable_differs_from_all_constants(self) -> None:
        text = "(w / want-01 :li g :ARG0 (b / boy))"
        assert text_after(text, edit("set", 2, concept="girl")) == "(w / want-01 :li g :ARG0 (g2 / girl))"

    @pytest.mark.parametrize("label", ["two words", "", "a:b", "(", "#a", '"', '"a\nb"', "a~e.1", "\ud800"])
    def test_a_label_that_penman_can_not_write_is_refused(self, label: str) -> None:
        with pytest.raises(TransformError, match=r"test at .*\.[01]: .* can't be written"):
            text_after("(b / boy :quant 1)", edit("set", 0, concept=label))
        with pytest.raises(TransformError, match="can't be written"):
            text_after("(b / boy :quant 1)", edit("set", 1, value=label))
        with pytest.raises(TransformError, match="can't be written"):
            text_after("(b / boy :quant 1)", edit("wrap", 0, concept=label, role="ARG1"))
        with pytest.raises(TransformError, match="can't be written"):
            text_after("(b / boy :quant 1)", edit("add", 0, role="mod", value=label))

    def test_concepts_and_constants_can_not_replace_each_other(self) -> None:
        with pytest.raises(TransformError, match="the node is a constant: give its new 'value'"):
            text_after("(b / boy :quant 1)", edit("set", 1, concept="two"))
        with pytest.raises(TransformError, match="the node has a concept: give its new 'concept'"):
            text_after("(b / boy :quant 1)", edit("set", 0, value="two"))


class TestAdding:
    def test_an_added_leaf_comes_first(self) -> None:
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
                "already has :polarity",
            ),
            ("(w / want-01 :mode imperative)", edit("add", 0, role="mode", value="x"), "already has :mode"),
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
    def test_an_invalid_addition_is_refused(self, text: str, wanted: Edit, reason: str) -> None:
        with pytest.raises(TransformError, match=reason):
            text_after(text, wanted)


class TestSaying:
    """The operation `say` replaces a graph by a copy of a sentence from another turn."""

    SOURCE = "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea) :beneficiary (y / you))"

    def said(self, frame: str, voice: str, *more: Edit) -> str:
        say = edit("say", 0, from_amr="other", from_position=0, voice=voice, frame=frame)
        return text_after("(o / oh)", say, *more, other=self.SOURCE)

    def test_the_voice_swaps_i_and_you(self) -> None:
        assert self.said("claim", "own") == (
            "(l / like-01 :ARG0 (i / i) :ARG1 (t / tea) :beneficiary (y / you))"
        )
        assert self.said("check", "other") == (
            "(l / like-01 :ARG0 (y / you) :ARG1 (t / tea) :beneficiary (i / i) :mode interrogative)"
        )

    def test_the_frame_is_above_the_sentence_and_shares_its_pronouns(self) -> None:
        assert self.said("surprise", "other") == (
            "(s / surprise-01 :ARG0 (l / like-01 :ARG0 (y / you) :ARG1 (t / tea) :beneficiary (i / i)) "
            ":ARG1 i)"
        )

    def test_later_edits_change_the_copy(self) -> None:
        no = edit("add", 0, role="polarity", value="-", copy_of="other")
        assert self.said("why", "other", no).startswith("(c / cause-01 :ARG1 (l / like-01 :polarity - :ARG0")

    @pytest.mark.parametrize(
        ("frame", "voice", "k", "reason"),
        [
            ("why", "own", 0, "no frame 'why' for the voice 'own'"),
            ("sing", "other", 0, "no frame 'sing'"),
            ("why", "other", 1, "'say' replaces a whole graph"),
        ],
    )
    def test_unknown_frames_and_inner_nodes_are_refused(
        self, frame: str, voice: str, k: int, reason: str
    ) -> None:
        say = edit("say", k, from_amr="other", from_position=0, voice=voice, frame=frame)
        with pytest.raises(TransformError, match=reason):
            text_after("(o / oh :mod (h / hey))", say, other=self.SOURCE)


class TestGrafting:
    SOURCE = "(s / see-01 :ARG0 (b / boy :mod (o / old)) :ARG1 (d / dog :poss b) :time (n / now))"

    def test_sentences_and_operands_are_numbered_in_order(self) -> None:
        text = "(m / multi-sentence :snt1 (g / go-02))"
        assert text_after(
            text, edit("graft", 0, role="snt", from_amr="other", from_position=4), other=self.SOURCE
        ) == ("(m / multi-sentence :snt1 (g / go-02) :snt2 (n / now))")

    def test_mentions_of_a_replaced_node_point_to_the_graft(self) -> None:
        text = "(w / want-01 :ARG0 (c / cat) :ARG1 (g / go-02 :ARG0 c))"
        assert text_after(text, edit("graft", 1, from_amr="other", from_position=1), other=self.SOURCE) == (
            "(w / want-01 :ARG0 (b / boy :mod (o / old)) :ARG1 (g / go-02 :ARG0 b))"
        )

    def test_nodes_of_a_replaced_subtree_that_are_mentioned_elsewhere_are_kept(self) -> None:
        text = "(w / want-01 :ARG0 (f / friend :poss (i / i)) :ARG1 (g / go-02 :ARG0 i))"
        assert text_after(text, edit("graft", 1, from_amr="other", from_position=4), other=self.SOURCE) == (
            "(w / want-01 :ARG0 (n / now) :ARG1 (g / go-02 :ARG0 (i / i)))"
        )

    def test_a_mention_of_a_node_outside_the_copy_becomes_a_node(self) -> None:
        text = "(w / want-01 :ARG1 (c / cat))"
        assert text_after(text, edit("graft", 1, from_amr="other", from_position=3), other=self.SOURCE) == (
            "(w / want-01 :ARG1 (d / dog :poss (b / boy)))"
        )

    def test_a_graft_shares_the_pronouns_of_the_graph(self) -> None:
        text = "(w / want-01 :ARG0 (i / i) :ARG1 (c / cat))"
        source = "(s / see-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))"
        assert text_after(text, edit("graft", 2, from_amr="other", from_position=2), other=source) == (
            "(w / want-01 :ARG0 (i / i) :ARG1 (d / dog :poss i))"
        )

    def test_a_graft_at_the_top_replaces_the_whole_graph(self) -> None:
        text = "(w / want-01 :ARG0 (i / i))"
        wanted = edit("graft", 0, from_amr="other", from_position=1)
        assert text_after(text, wanted, other=self.SOURCE) == "(b / boy :mod (o / old))"

    def test_later_edits_can_change_the_graft(self) -> None:
        text = "(w / want-01 :ARG1 (c / cat))"
        first = edit("graft", 1, from_amr="other", from_position=3)
        then = edit("set", 3, concept="horse", copy_of="other")
        assert (
            text_after(text, first, then, other=self.SOURCE)
            == "(w / want-01 :ARG1 (h / horse :poss (b / boy)))"
        )

    @pytest.mark.parametrize(
        ("wanted", "reason"),
        [
            (edit("graft", 1, from_amr="other", from_position=99), r"there is no node other\.99"),
            (edit("graft", 1, from_amr="nowhere", from_position=0), r"there is no node nowhere\.0"),
            (edit("graft", 1, from_amr="other"), "there is no node"),
            (edit("graft", 2, role="mod", from_amr="other", from_position=0), "a constant can't have roles"),
            (
                edit("graft", 1, from_amr="other", from_position=5),
                "a constant can't take the place of a variable",
            ),
        ],
    )
    def test_an_invalid_graft_is_refused(self, wanted: Edit, reason: str) -> None:
        source = self.SOURCE[:-1] + " :polarity -)"
        with pytest.raises(TransformError, match=reason):
            text_after("(w / want-01 :ARG1 (c / cat) :quant 2)", wanted, other=source)

    def test_a_graph_is_not_grafted_onto_itself(self) -> None:
        graph = parse_graph(self.SOURCE, AMR)
        with pytest.raises(TransformError, match="must copy from another graph"):
            after(graph, edit("graft", 1, from_amr=AMR, from_position=0), sources=[graph])


class TestWrapping:
    def test_the_top_gets_a_new_top(self) -> None:
        assert text_after(
            "(g / go-02 :ARG0 (i / i))", edit("wrap", 0, concept="possible-01", role="ARG1")
        ) == ("(p / possible-01 :ARG1 (g / go-02 :ARG0 (i / i)))")

    def test_position_minus_one_is_the_top_after_earlier_edits(self) -> None:
        text = "(g / go-02)"
        first = edit("wrap", 0, concept="possible-01", role="ARG1")
        then = edit("add", -1, role="polarity", value="-")
        assert text_after(text, first, then) == "(p / possible-01 :polarity - :ARG1 (g / go-02))"

    def test_an_inner_node_is_wrapped_where_it_is(self) -> None:
        text = "(a / and :op1 (x / x) :op2 (g / go-02))"
        assert text_after(text, edit("wrap", 1, concept="possible-01", role="ARG1")) == (
            "(a / and :op1 (p / possible-01 :ARG1 (x / x)) :op2 (g / go-02))"
        )
