"""The sub-scores' parts of graphs, tallies and their scores; the package itself where it is installed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.amr.smatch import (
    GraphPair,
    Tally,
    Triples,
    arguments,
    matcher,
    measured,
    named,
    negated,
    reentrancies,
    score,
    unlabelled,
    without_senses,
)

WANTS = Triples(
    instances=(
        ("instance", "w", "want-01"),
        ("instance", "c", "cat"),
        ("instance", "e", "eat-01"),
        ("instance", "n", "name"),
    ),
    attributes=(("TOP", "w", "want-01"), ("polarity", "e", "-"), ("op1", "n", "Tom")),
    relations=(("ARG0", "w", "c"), ("ARG1", "w", "e"), ("ARG0", "e", "c"), ("name", "c", "n")),
)
tallies = st.builds(
    lambda matched, more, others: Tally(matched, matched + more, matched + others),
    *[st.integers(0, 9)] * 3,
)


class TestParts:
    def test_without_labels_equal_triples_count_once_and_the_top_stays(self) -> None:
        twice = WANTS._replace(relations=(*WANTS.relations, ("ARG2", "w", "c")))
        bare = unlabelled(twice)
        assert len(bare.relations) == 4 and {role for role, *_ in bare.relations} == {"role"}
        assert ("TOP", "w", "want-01") in bare.attributes

    def test_without_senses_concepts_lose_their_numbers_alone(self) -> None:
        assert without_senses(WANTS).concepts == {"w": "want", "c": "cat", "e": "eat", "n": "name"}

    def test_a_reentrancy_is_a_node_with_two_parents(self) -> None:
        part = reentrancies(WANTS)
        assert set(part.relations) == {("ARG0", "w", "c"), ("ARG0", "e", "c")}
        assert set(part.concepts) == {"w", "e", "c"} and part.attributes == ()

    def test_arguments_bring_both_of_their_ends(self) -> None:
        assert set(arguments(WANTS).concepts) == {"w", "c", "e"}
        assert reentrancies(arguments(Triples())).size == 0

    def test_names_and_polarities_are_told_by_the_concepts_that_have_them(self) -> None:
        assert (named(WANTS), negated(WANTS)) == ({"cat"}, {"eat-01"})
        asked = WANTS._replace(attributes=(), relations=(("polarity", "w", "c"),))
        assert negated(asked) == {"want-01"}


class TestScores:
    @given(tallies)
    def test_f1_lies_between_precision_and_recall(self, tally: Tally) -> None:
        found = score(tally)
        assert min(found[:2]) - 1e-9 <= found.f1 <= max(found[:2]) + 1e-9

    @given(tallies)
    def test_precision_one_way_is_recall_the_other(self, tally: Tally) -> None:
        back = score(Tally(tally.matched, tally.gold, tally.predicted))
        assert (back.recall, back.precision, back.f1) == score(tally)

    @given(st.lists(tallies, min_size=1, max_size=9), st.integers(0, 5))
    def test_intervals_depend_on_the_seed_alone_and_lie_between_0_and_1(
        self, some: list[Tally], seed: int
    ) -> None:
        found = measured(some, 120, seed)
        assert found == measured(some, 120, seed)
        for low, high in (found.micro_interval, found.macro_interval):
            assert 0 <= low <= high <= 1

    def test_without_resamples_there_is_no_interval(self) -> None:
        assert measured([Tally(1, 1, 1)], 0, 0).micro_interval == (0, 0)


class TestMatching:
    @pytest.fixture(autouse=True)
    def package(self) -> None:
        pytest.importorskip("smatch", reason="Smatch needs the evaluation extra")

    def test_a_missing_prediction_finds_nothing(self) -> None:
        [found] = matcher(0)([GraphPair(7, None, "(c / cat)")])
        assert found.number == 7 and found.tallies is not None and not found.unread
        assert found.tallies["Smatch"] == Tally(0, 0, 2)

    def test_a_modifier_is_no_second_parent(self) -> None:
        graph = "(g / go-02 :ARG0 (c / cat :mod (b / black)))"
        [found] = matcher(0)([GraphPair(0, graph, graph)])
        assert found.tallies is not None
        assert found.tallies["reentrancy"] == Tally(0, 0, 0)
        assert found.tallies["SRL"] == Tally(3, 3, 3)
