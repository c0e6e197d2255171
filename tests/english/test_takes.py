"""Tests of selectional preferences ("eat" takes food) and of clusters of similar nouns."""

from __future__ import annotations

import pytest

from graphneg.amr.facts import facts
from graphneg.amr.penman import parse_graph
from graphneg.english.noun_kinds import kind_of
from graphneg.english.selectional_preferences import noun_cluster, noun_counts, preferred_nouns


@pytest.mark.parametrize(
    ("frame", "role", "noun"),
    [("eat-01", "ARG1", "cheese"), ("drink-01", "ARG1", "tea"), ("ride-01", "ARG1", "horse")],
)
def test_a_verb_prefers_nouns_seen_with_it_and_similar_ones(frame: str, role: str, noun: str) -> None:
    assert {noun_cluster(noun), noun} & set(preferred_nouns(frame, role))


@pytest.mark.parametrize(
    ("frame", "role", "noun"),
    [("eat-01", "ARG1", "bicycle"), ("drink-01", "ARG1", "sofa"), ("ride-01", "ARG1", "soup")],
)
def test_a_verb_does_not_prefer_other_nouns(frame: str, role: str, noun: str) -> None:
    assert not {noun_cluster(noun), noun} & set(preferred_nouns(frame, role))


def test_a_verb_with_many_different_nouns_has_no_preferences() -> None:
    assert preferred_nouns("have-03", "ARG1") == ()
    assert len(noun_counts()["have", "ARG1"]) > 100


def test_nouns_of_a_cluster_have_the_same_kind() -> None:
    assert noun_cluster("cheese") == noun_cluster("bread") != noun_cluster("horse")
    assert noun_cluster("ivan") is None
    assert kind_of("cheese") == kind_of("bread")


def test_a_noun_fits_the_preferences_of_its_verb() -> None:
    cheese = facts(parse_graph("(e / eat-01 :ARG0 (i / i) :ARG1 (c / cheese))"))[2]
    assert cheese["noun_class"] in cheese["selectional_preferences"]
    assert all(kind_of(one.removeprefix("like ")) == "food" for one in cheese["selectional_preferences"])


def test_preferences_of_an_unaccusative_verb_come_from_arg0_and_arg1() -> None:
    arrived = facts(parse_graph("(a / arrive-01 :ARG1 (p / plane))"))[1]
    assert set(arrived.get("selectional_preferences", ())) <= {
        *preferred_nouns("arrive-01", "ARG0"),
        *preferred_nouns("arrive-01", "ARG1"),
    }
