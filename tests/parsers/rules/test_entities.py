"""Tests of the rules for names, dates, times, money, numbers, addresses and emoticons."""

from __future__ import annotations

import pytest

from graphneg.parsers.dependency.rules.entities import write_entities
from tests.parsers.rules.trees import arcs, state_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Little/NNP/compound/1 Tom/NNP/ROOT/1", {("person", "name", "name"), ("name", "op2", '"Tom"')}),
        ("in/IN/ROOT/0 Bergen/NNP/pobj/0", {("city", "name", "name")}),
        ("Norwegian/JJ/amod/1 cheese/NN/ROOT/1", {("name", "op1", '"Norway"')}),
        ("see/VB/ROOT/0 New/NNP/compound/2 York/NNP/dobj/0", {("city", "name", "name")}),
        ("see/VB/ROOT/0 Lake/NNP/compound/2 Park/NNP/dobj/0", {("park", "name", "name")}),
        ("June/NNP/ROOT/0 12/CD/nummod/0", {("date-entity", "month", "6"), ("date-entity", "day", "12")}),
        ("on/IN/ROOT/0 Monday/NNP/pobj/0", {("date-entity", "weekday", "monday")}),
        ("at/IN/ROOT/0 6/CD/pobj/0", {("date-entity", "time", '"6:00"')}),
        ("6:30/CD/nummod/1 pm/NN/ROOT/1", {("date-entity", "dayperiod", "afternoon")}),
        (
            "from/IN/ROOT/0 nine/CD/pobj/0 to/IN/prep/0 five/CD/pobj/2",
            {("date-interval", "op1", "date-entity"), ("date-interval", "op2", "date-entity")},
        ),
        (
            "$/$/nmod/1 5/CD/ROOT/1",
            {("monetary-quantity", "quant", "5"), ("monetary-quantity", "unit", "dollar")},
        ),
        ("see/VB/ROOT/0 a@b.org/NN/dobj/0", {("email-address-entity", "value", '"a@b.org"')}),
        (":)/NFP/ROOT/0", {("emoticon", "value", '":)"')}),
    ],
)
def test_an_entity_is_recognised(text: str, expected: set[tuple[str, str, str]]) -> None:
    state = state_of(text)
    write_entities(state)
    assert expected <= arcs(state)


def test_the_words_of_an_entity_are_marked_as_done() -> None:
    state = state_of("two/CD/compound/1 hundred/CD/nummod/2 dogs/NNS/ROOT/2")
    write_entities(state)
    assert state.done == {0, 1} and state.draft.nodes[state.head_nodes[state.node_owner(0)]].value == "200"


def test_a_capitalised_common_word_is_no_name() -> None:
    state = state_of("Dog/NNP/nsubj/1 sleeps/VBZ/ROOT/1")
    write_entities(state)
    assert not state.draft.nodes
