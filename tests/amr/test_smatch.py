"""Tests of Smatch and its sub-scores, compared with the package `smatch` if it is installed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphneg.amr.penman import parse_graph
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
    smatch_triples,
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

    def test_without_senses_concepts_lose_only_their_numbers(self) -> None:
        assert without_senses(WANTS).concepts == {"w": "want", "c": "cat", "e": "eat", "n": "name"}

    def test_reentrancies_are_nodes_with_two_parents(self) -> None:
        part = reentrancies(WANTS)
        assert set(part.relations) == {("ARG0", "w", "c"), ("ARG0", "e", "c")}
        assert set(part.concepts) == {"w", "e", "c"} and part.attributes == ()

    def test_semantic_roles_include_both_concepts(self) -> None:
        assert set(arguments(WANTS).concepts) == {"w", "c", "e"}
        assert reentrancies(arguments(Triples())).size == 0

    def test_names_and_polarities_are_compared_with_their_concepts(self) -> None:
        assert (named(WANTS), negated(WANTS)) == ({"cat"}, {"eat-01"})
        asked = WANTS._replace(attributes=(), relations=(("polarity", "w", "c"),))
        assert negated(asked) == {"want-01"}


class TestScores:
    @given(tallies)
    def test_f1_lies_between_precision_and_recall(self, tally: Tally) -> None:
        found = score(tally)
        assert min(found[:2]) - 1e-9 <= found.f1 <= max(found[:2]) + 1e-9

    @given(tallies)
    def test_swapping_the_graphs_swaps_precision_and_recall(self, tally: Tally) -> None:
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

    def test_a_missing_prediction_matches_nothing(self) -> None:
        [found] = matcher(0)([GraphPair(7, None, "(c / cat)")])
        assert found.number == 7 and found.tallies is not None and not found.unread
        assert found.tallies["Smatch"] == Tally(0, 0, 2)

    def test_a_modifier_is_no_reentrancy(self) -> None:
        graph = "(g / go-02 :ARG0 (c / cat :mod (b / black)))"
        [found] = matcher(0)([GraphPair(0, graph, graph)])
        assert found.tallies is not None
        assert found.tallies["reentrancy"] == Tally(0, 0, 0)
        assert found.tallies["SRL"] == Tally(3, 3, 3)

    @pytest.mark.parametrize(
        ("graph", "other"),
        [
            ("(e / eat-01 :mod (l / late))", "(e / eat-01 :mod (l / late) :mod expressive)"),
            ("(e / eat-01)", "(e / eat-01 :mod expressive)"),
            ("(e / eat-01 :ARG0 (i / i))", "(e / eat-01 :ARG0 (i / i :mod expressive))"),
            ("(e / eat-01)", "(e / eat-01 :ARG1-of 3)"),
            ('(c / city :op1 "New York")', '(c / city :op1 "New Jersey")'),
            ("(e / eat-01 :quant 3)", "(e / eat-01 :quant 3 :quant 4)"),
            ("(e / eat-01 :polarity -)", "(e / eat-01)"),
            ("(e / eat-01 :ARG0 (i / i) :ARG1 i)", "(e / eat-01 :ARG0 (i / i))"),
        ],
    )
    def test_graphs_that_differ_in_one_branch_differ_in_score(self, graph: str, other: str) -> None:
        same, there, back = (tally(*pair) for pair in ((graph, graph), (graph, other), (other, graph)))
        assert score(same).f1 == 1.0
        assert score(there).f1 < 1.0 and score(there).f1 == score(back).f1

    def test_a_repeated_triple_counts_once(self) -> None:
        assert tally("(e / eat-01 :quant 3 :quant 3)", "(e / eat-01 :quant 3)") == Tally(3, 3, 3)

    @given(st.data())
    @settings(max_examples=300)
    def test_triples_and_scores_are_those_of_the_package(self, data: st.DataObject) -> None:
        ours, theirs = (data.draw(small_graphs()) for _ in range(2))
        for line in (ours, theirs):
            assert multiset(smatch_triples(parse_graph(line))) == multiset(package_triples(line)), line
        import smatch

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(smatch, "iteration_num", 60)  # enough restarts to find the best match of five nodes
            matched = package_matches(ours, theirs)
            assert tally(ours, theirs).matched == matched, (ours, theirs)


ROLES = ("ARG0", "ARG1", "ARG0-of", "mod", "domain", "op1", "location", "consist-of")
VALUES = ("-", "3", "expressive", '"Tom"', "imperative")


@st.composite
def small_graphs(draw: st.DrawFn) -> str:
    """Draw graphs of up to five nodes with constants, inverted roles, re-entrancies and repeated roles.

    No triple occurs twice in a graph, because the package would count two equal triples as four matches.
    """
    size = draw(st.integers(1, 5))
    ups = [draw(st.integers(0, max(0, k - 1))) for k in range(size)]
    branches: list[dict[str, None]] = [{} for _ in range(size)]
    for k in range(size):
        for value in draw(st.lists(st.sampled_from(VALUES), max_size=2, unique=True)):
            branches[k][f":{draw(st.sampled_from(('mod', 'quant', 'polarity', 'op1')))} {value}"] = None
    stated = set[tuple[str, int, int]]()
    for k in range(1, size):
        role = draw(st.sampled_from(ROLES))
        stated |= {(role, ups[k], k)}
        branches[ups[k]][f":{role} <{k}>"] = None
    for _ in range(draw(st.integers(0, 2))):
        up, k, role = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1)), f"ARG{len(stated) + 2}"
        if up != k:
            stated |= {(role, up, k)}
            branches[up][f":{role} v{k}"] = None
    texts = [f"(v{k} / {draw(st.sampled_from(('eat-01', 'cat', 'dog')))}" for k in range(size)]
    for k in reversed(range(size)):
        texts[k] = " ".join([texts[k], *draw(st.permutations(list(branches[k])))]) + ")"
    for k in range(1, size):
        above = next(at for at in range(size) if f"<{k}>" in texts[at])
        texts[above] = texts[above].replace(f"<{k}>", texts[k])
    return texts[0]


def tally(predicted: str, gold: str) -> Tally:
    [found] = matcher(0)([GraphPair(0, predicted, gold)])
    assert found.tallies is not None and not found.unread
    return found.tallies["Smatch"]


def package_triples(line: str) -> Triples:
    """Return the triples that the package reads. It loses constants of `:mod`, so rename the role."""
    import amr

    kept = re.sub(r":mod (?=[^(v])", ":kept ", line)
    read = amr.AMR.parse_AMR_line(kept).get_triples()
    return Triples(*([(r.replace("kept", "mod"), a, quoted(b)) for r, a, b in part] for part in read))


def quoted(value: str) -> str:
    """Return a string constant in quotation marks. The package marks it with a final underscore: `Ann_`."""
    return f'"{value[:-1]}"' if value.endswith("_") else value


def package_matches(predicted: str, gold: str) -> int:
    """Return the number of triples that the package matches."""
    import amr
    import smatch

    smatch.match_triple_dict.clear()
    graphs = [amr.AMR.parse_AMR_line(re.sub(r":mod (?=[^(v])", ":kept ", one)) for one in (predicted, gold)]
    for graph, prefix in zip(graphs, "ab", strict=True):
        graph.rename_node(prefix)
    parts = [part for graph in graphs for part in graph.get_triples()]
    return smatch.get_best_match(*parts, prefix1="a", prefix2="b")[1]


def multiset(triples: Triples) -> list[list[tuple[str, ...]]]:
    return [sorted(part) for part in triples]
