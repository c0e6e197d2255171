"""Tests of the choice of roles by the table of conditions, by counts and by default."""

from __future__ import annotations

import pytest

from graphneg.parsers.dependency.lexicon import rows
from graphneg.parsers.dependency.rules.concepts import write_concepts
from graphneg.parsers.dependency.rules.roles import (
    best_role,
    default_role,
    dependency,
    is_vocative,
    role_weights,
    subject_role,
)
from graphneg.parsers.dependency.rules.state import RuleState
from tests.parsers.rules.trees import state_of


def with_concepts(text: str) -> RuleState:
    state = state_of(text)
    write_concepts(state)
    return state


@pytest.mark.parametrize(
    ("text", "dependent", "role"),
    [
        ("She/PRP/nsubj/1 eats/VBZ/ROOT/1 rice/NN/dobj/1", 0, "ARG0"),
        ("She/PRP/nsubj/1 eats/VBZ/ROOT/1 rice/NN/dobj/1", 2, "ARG1"),
        ("two/CD/nummod/1 dogs/NNS/ROOT/1", 0, "quant"),
        ("my/PRP$/poss/1 hand/NN/ROOT/1", 0, "part-of"),
        ("a/DT/det/1 cup/NN/ROOT/1 of/IN/prep/1 tea/NN/pobj/2", 3, "consist-of"),
        ("a/DT/det/1 kind/NN/ROOT/1 of/IN/prep/1 bird/NN/pobj/2", 3, "mod-of"),
        ("Wait/VB/ROOT/0 ,/,/punct/0 sir/NN/npadvmod/0 ././punct/0", 2, "vocative"),
        ("sleep/VB/ROOT/0 for/IN/prep/0 hour/NN/pobj/1", 2, "duration"),
    ],
)
def test_the_role_with_the_largest_weight(text: str, dependent: int, role: str) -> None:
    state = with_concepts(text)
    edge = dependency(state, dependent)
    assert edge is not None
    weights = role_weights(state, edge)
    assert max(weights, key=lambda name: weights[name]) == role


def test_a_core_role_is_used_once() -> None:
    state = with_concepts("She/PRP/nsubj/1 eats/VBZ/ROOT/1 rice/NN/dobj/1")
    weights = {"ARG1": 0.9, "ARG0": 0.1, "polarity": 2.0, "poss": 1.5}
    assert best_role(state, "eat-01", weights, set()) == "ARG1"
    assert best_role(state, "eat-01", weights, {"ARG1"}) == "ARG0"
    assert best_role(state, "rice", weights, set()) == "poss"


def test_a_preposition_has_a_default_role() -> None:
    state = with_concepts("a/DT/det/1 tree/NN/ROOT/1 with/IN/prep/1 fruit/NN/pobj/2")
    edge = dependency(state, 3)
    assert edge is not None and edge.form == "prep_with"
    assert default_role(state, "tree", edge._replace(preposition=state.words[2]), set()) == "accompanier"


def test_a_vocative_is_set_off_by_punctuation() -> None:
    for text, expected in (
        ("Tom/NNP/npadvmod/2 ,/,/punct/2 come/VB/ROOT/2", True),
        ("Tom/NNP/npadvmod/1 came/VBD/ROOT/1", False),
    ):
        state = state_of(text)
        state.add("person", 0, "name")
        state.add("come-01", len(state.words) - 1, "table")
        edge = dependency(state, 0)
        assert edge is not None and is_vocative(state, edge) is expected


def test_only_frames_have_a_subject_role() -> None:
    state = with_concepts("to/TO/aux/1 sleep/VB/ROOT/1 rice/NN/dobj/1")
    assert subject_role(state, state.words[1], "nsubj", "dog") == "ARG0"
    assert subject_role(state, state.words[2], "nsubj", "dog") is None


def test_every_row_of_the_table_names_a_role() -> None:
    for relations, _, _, roles in rows("role_rules"):
        assert relations and all(cell.partition(":")[0] for cell in roles.split())
