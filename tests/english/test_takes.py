"""What verbs take, and which nouns are like each other."""

from __future__ import annotations

import pytest

from graphneg.amr.facts import facts
from graphneg.amr.penman import parse_graph
from graphneg.english.noun_kinds import kind_of
from graphneg.english.takes import sort_of, taken, takes


@pytest.mark.parametrize(
    ("frame", "role", "noun"),
    [("eat-01", "ARG1", "cheese"), ("drink-01", "ARG1", "tea"), ("ride-01", "ARG1", "horse")],
)
def test_a_verb_takes_what_it_was_seen_with_and_its_like(frame: str, role: str, noun: str) -> None:
    assert {sort_of(noun), noun} & set(takes(frame, role))


@pytest.mark.parametrize(
    ("frame", "role", "noun"),
    [("eat-01", "ARG1", "bicycle"), ("drink-01", "ARG1", "sofa"), ("ride-01", "ARG1", "soup")],
)
def test_a_verb_takes_nothing_else(frame: str, role: str, noun: str) -> None:
    assert not {sort_of(noun), noun} & set(takes(frame, role))


def test_a_verb_that_takes_everything_says_nothing() -> None:
    assert takes("have-03", "ARG1") == ()
    assert len(taken()["have", "ARG1"]) > 100


def test_nouns_of_a_sort_are_of_a_kind() -> None:
    assert sort_of("cheese") == sort_of("bread") != sort_of("horse")
    assert sort_of("ivan") is None
    assert kind_of("cheese") == kind_of("bread")


def test_a_noun_knows_what_may_take_its_place() -> None:
    cheese = facts(parse_graph("(e / eat-01 :ARG0 (i / i) :ARG1 (c / cheese))"))[2]
    assert cheese["noun_class"] in cheese["selectional_preferences"]
    assert all(kind_of(one.removeprefix("like ")) == "food" for one in cheese["selectional_preferences"])


def test_what_arrives_is_what_arrives_elsewhere() -> None:
    arrived = facts(parse_graph("(a / arrive-01 :ARG1 (p / plane))"))[1]
    assert set(arrived.get("selectional_preferences", ())) <= {
        *takes("arrive-01", "ARG0"),
        *takes("arrive-01", "ARG1"),
    }
