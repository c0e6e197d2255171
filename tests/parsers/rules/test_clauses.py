"""Tests of the rules for modals, moods and questions."""

from __future__ import annotations

import pytest

from graphneg.parsers.dependency.rules.clauses import (
    clause_of,
    opens_question,
    write_modals,
    write_moods,
    write_question_words,
    write_whys,
)
from graphneg.parsers.dependency.rules.concepts import write_concepts
from tests.parsers.rules.trees import arcs, labels, state_of, tree


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("He/PRP/nsubj/2 can/MD/aux/2 swim/VB/ROOT/2", ("possible-01", "ARG1", "swim-01")),
        ("He/PRP/nsubj/2 must/MD/aux/2 swim/VB/ROOT/2", ("obligate-01", "ARG2", "swim-01")),
        ("Maybe/RB/advmod/2 he/PRP/nsubj/2 swims/VBZ/ROOT/2", ("possible-01", "ARG1", "swim-01")),
        (
            "You/PRP/nsubj/3 'd/VBD/aux/3 better/RB/advmod/3 swim/VB/ROOT/3",
            ("recommend-01", "ARG1", "swim-01"),
        ),
    ],
)
def test_a_modal_is_above_its_verb(text: str, over: tuple[str, str, str]) -> None:
    state = state_of(text)
    write_concepts(state)
    write_modals(state)
    assert over in arcs(state)


def test_having_to_and_being_able_to_are_modals() -> None:
    for text, concept in (
        ("He/PRP/nsubj/1 has/VBZ/ROOT/1 to/TO/aux/3 go/VB/xcomp/1", "obligate-01"),
        ("able/JJ/ROOT/0 to/TO/aux/2 go/VB/xcomp/0", "possible-01"),
        ("He/PRP/nsubj/1 has/VBZ/ROOT/1 books/NNS/dobj/1", "have-03"),
    ):
        state = state_of(text)
        write_concepts(state)
        write_modals(state)
        assert concept in labels(state)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Come/VB/ROOT/0 in/RP/prt/0", {("mode", "imperative"), ("ARG0", "you")}),
        ("You/PRP/nsubj/1 come/VBP/ROOT/1", set[tuple[str, str]]()),
        ("Thanks/NNS/ROOT/0", {("ARG0", "i"), ("ARG1", "you")}),
        ("Do/VBP/aux/2 you/PRP/nsubj/2 come/VB/ROOT/2 ?/./punct/2", {("polarity", "amr-unknown")}),
        ("You/PRP/nsubj/1 come/VBP/ROOT/1 ,/,/punct/1 right/_SP/tag/1", {("ARG1", "come-01")}),
        ("Come/VB/ROOT/0 please/UH/intj/0", {("mode", "imperative"), ("ARG0", "you"), ("polite", "+")}),
    ],
)
def test_the_mood_of_a_sentence(text: str, expected: set[tuple[str, str]]) -> None:
    state = state_of(text)
    write_concepts(state)
    write_moods(state, next(word for word in state.words if word.head == word.i))
    assert {(role, dep) for _, role, dep in arcs(state)} == expected


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("May/MD/aux/2 I/PRP/nsubj/2 come/VB/ROOT/2", True),
        ("May/MD/aux/2 you/PRP/nsubj/2 win/VB/ROOT/2", False),
        ("So/RB/advmod/1 am/VBP/ROOT/1 I/PRP/nsubj/1", False),
        ("nice/JJ/acomp/1 are/VBP/ROOT/1 you/PRP/nsubj/1 tired/JJ/acomp/1", True),
        ("You/PRP/nsubj/1 sleep/VBP/ROOT/1", False),
    ],
)
def test_some_inversions_are_questions(text: str, asks: bool) -> None:
    assert opens_question(next(word for word in tree(text) if word.head == word.i)) is asks


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Who/WP/nsubj/1 came/VBD/ROOT/1 ?/./punct/1", "amr-unknown"),
        ("I/PRP/nsubj/1 know/VBP/ROOT/1 what/WP/dobj/4 you/PRP/nsubj/4 saw/VBD/ccomp/1", "thing"),
        ("men/NNS/ROOT/0 who/WP/nsubj/2 came/VBD/relcl/0", None),
        ("How/WRB/advmod/1 old/JJ/acomp/2 is/VBZ/ROOT/2 he/PRP/nsubj/2 ?/./punct/2", "amr-unknown"),
        ("How/WRB/advmod/1 nice/JJ/ROOT/1 !/./punct/1", "so"),
    ],
)
def test_the_concept_of_a_question_word(text: str, concept: str | None) -> None:
    state = state_of(text)
    write_question_words(state)
    assert labels(state) == ([] if concept is None else [concept])


def test_why_asks_for_a_cause() -> None:
    state = state_of("Why/WRB/advmod/3 did/VBD/aux/3 he/PRP/nsubj/3 come/VB/ROOT/3 ?/./punct/3")
    for rule in (write_question_words, write_concepts, write_whys):
        rule(state)
    assert {("cause-01", "ARG1", "come-01"), ("cause-01", "ARG0", "amr-unknown")} <= arcs(state)
    assert clause_of(state.words[0]).text == "come"
