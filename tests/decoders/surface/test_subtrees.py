"""Tests of deleting the words of a subtree, and of adding a predicate above a sentence."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.operations.embedding import wrap
from graphneg.decoders.surface.operations.removal import drop
from tests.decoders.surface.sentences import changed

ANIMALS = "(s / see-01 :ARG0 (i / i) :ARG1 (a / and :op1 (c / cat) :op2 (d / dog) :op3 (o / owl)))"
TALE = "(l / like-01 :ARG0 (y / you) :ARG1 (t / tale :mod (t2 / this) :poss (m / man)))"
TWO = "(m / multi-sentence :snt1 (r / rain-01) :snt2 (l / leave-11 :ARG0 (w / we)))"
LEAVE = "(l / leave-11 :ARG0 (w / we))"


@pytest.mark.parametrize(
    ("text", "graph", "label", "expected"),
    [
        ("I saw a cat, a dog, and an owl.", ANIMALS, "owl", "I saw a cat and a dog."),
        ("I saw a cat, a dog, and an owl.", ANIMALS, "and", "I saw something."),
        ("I saw a cat, a dog, and an owl.", ANIMALS, "i", "Someone saw a cat, a dog, and an owl."),
        ("You like this tale.", TALE, "this", "You like the tale."),
        ("You like the man's tale.", TALE, "man", "You like the tale."),
        ("You like tales.", TALE, "you", "Someone likes tales."),
        ("I saw six owls.", "(s / see-01 :ARG1 (o / owl :quant 6))", "6", "I saw owls."),
        ("It rained. We left.", TWO, "rain-01", "We left."),
        ("If it rains, we leave.", f"{LEAVE[:-1]} :condition (r / rain-01))", "rain-01", "We leave."),
        (
            "I want to swim.",
            "(w / want-01 :ARG0 (i / i) :ARG1 (s / swim-01))",
            "swim-01",
            "I want something.",
        ),
        ("She is tired.", "(t / tire-01 :ARG1 (s / she))", "tire-01", "unclear-clause"),
        ("It rained.", "(m / multi-sentence :snt1 (r / rain-01))", "rain-01", "unclear-clause"),
        ("Hello!", TWO, "rain-01", "no-alignment"),
    ],
)
def test_the_words_of_a_subtree_are_removed(text: str, graph: str, label: str, expected: str) -> None:
    assert changed(drop, text, graph, label) == expected


def wrapped(text: str, concept: str, person: str = "i") -> str:
    return changed(lambda said, _: wrap(said, concept, person), text, LEAVE)


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("We left.", "doubt-01", "I doubt that we left."),
        ("I left.", "refuse-01", "I refuse to leave."),
        ("I am leaving.", "refuse-01", "unsupported-edit"),
        ("You will leave.", "order-01", "I order that you leave."),
        ("Don't leave!", "order-01", "I order you not to leave!"),
        ("Leave.", "refuse-01", "I refuse to leave."),
        ("Leave!", "doubt-01", "I doubt that you should leave!"),
        ("Did we leave?", "doubt-01", "I doubt that we left."),
        ("Sorry, we left.", "doubt-01", "unclear-clause"),
        ("When did we leave?", "doubt-01", "unclear-clause"),
        ("Let's leave.", "doubt-01", "unclear-clause"),
    ],
)
def test_a_predicate_is_added_above_a_sentence(text: str, concept: str, expected: str) -> None:
    assert wrapped(text, concept) == expected


def test_the_verb_of_a_new_predicate_agrees_with_its_subject() -> None:
    assert wrapped("We left.", "doubt-01", "she") == "She doubts that we left."
    assert wrapped("We left.", "possible-01", "she") == "It is possible that we left."
