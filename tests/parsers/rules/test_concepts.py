"""Tests of the rules that give words their concepts: "unhappy" is `happy-01` with `:polarity -`."""

from __future__ import annotations

import pytest

from graphneg.parsers.dependency.rules.concepts import resolve_light_verbs, write_concepts
from graphneg.parsers.dependency.rules.entities import write_multiwords, write_nominals
from tests.parsers.rules.trees import arcs, labels, state_of


@pytest.mark.parametrize(
    ("text", "concepts"),
    [
        ("her/PRP$/ROOT/0", ["she"]),
        ("the/DT/ROOT/0", []),
        ("those/DT/ROOT/0", ["that"]),
        ("unhappy/JJ/ROOT/0", ["happy-01", "-"]),
        ("fearless/JJ/ROOT/0", ["fear-01", "-"]),
        ("shirtless/JJ/ROOT/0", ["have-03", "shirt", "-"]),
        ("seven/CD/ROOT/0", ["7"]),
        ("oh/UH/ROOT/0", ["oh", "expressive"]),
        ("nobody/NN/ROOT/0", ["nobody"]),
        ("gave/VBD/ROOT/0 up/RP/prt/0", ["give-up-07"]),
        ("used/VBD/ROOT/0 to/TO/aux/2 swim/VB/xcomp/0", ["use-02", "swim-01"]),
        ("would/MD/aux/1 like/VB/ROOT/1", ["like-02"]),
    ],
)
def test_the_concepts_of_a_word(text: str, concepts: list[str]) -> None:
    state = state_of(text)
    write_concepts(state)
    assert labels(state) == concepts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("painter/NN/ROOT/0", ("paint-02", "ARG0", "person")),
        ("my/PRP$/poss/1 aunt/NN/ROOT/1", ("have-rel-role-91", "ARG2", "aunt")),
    ],
)
def test_nouns_for_persons_are_analysed(text: str, expected: tuple[str, str, str]) -> None:
    state = state_of(text)
    write_concepts(state)
    heads = {head.rpartition("-")[0] for head, role, dep in arcs(state) if (role, dep) == expected[1:]}
    assert expected[0].rpartition("-")[0] in heads


def test_a_light_verb_is_replaced_by_its_noun() -> None:
    state = state_of("take/VB/ROOT/0 a/DT/det/2 look/NN/dobj/0")
    resolve_light_verbs(state)
    assert state.node_owner(0) == 2 and labels(state)[0].startswith("look-")


@pytest.mark.parametrize(
    ("text", "concept", "taken"),
    [
        ("of/IN/prep/1 course/NN/ROOT/1", "of-course", {0, 1}),
        ("in/IN/ROOT/0 front/NN/pobj/0 of/IN/prep/1 trees/NNS/pobj/2", "in-front-of", {0, 1, 2}),
        ("a/DT/det/1 lot/NN/ROOT/1 of/IN/prep/1 tea/NN/pobj/2", "lot", {0, 1, 2}),
        ("this/DT/det/1 kind/NN/ROOT/1 of/IN/prep/1 tea/NN/pobj/2", None, set[int]()),
        ("none/NN/ROOT/0 of/IN/prep/0 them/PRP/pobj/1", None, {0, 1}),
        ("such/JJ/ROOT/0 as/IN/prep/0 tea/NN/pobj/1", None, {0, 1}),
    ],
)
def test_an_expression_is_one_concept(text: str, concept: str | None, taken: set[int]) -> None:
    state = state_of(text)
    write_multiwords(state)
    assert labels(state) == ([] if concept is None else [concept])
    assert state.done == taken


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("five/CD/nummod/1 years/NNS/npadvmod/1", ("temporal-quantity", "unit", "year")),
        ("every/DT/det/1 day/NN/npadvmod/1", ("rate-entity-91", "ARG3", "temporal-quantity")),
        (
            "five/CD/nummod/1 pounds/NNS/ROOT/1 of/IN/prep/1 rice/NN/pobj/2",
            ("rice", "quant", "mass-quantity"),
        ),
        ("my/PRP$/poss/1 friend/NN/ROOT/1", ("have-rel-role-91", "ARG1", "i")),
    ],
)
def test_quantities_and_relations_of_a_noun(text: str, expected: tuple[str, str, str]) -> None:
    state = state_of(text)
    write_concepts(state)
    write_nominals(state)
    assert expected in arcs(state)
