"""Tests of agreement: when "he sings" becomes "I sing", verbs and pronouns change with the subject."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.agreement import agree_with, person_of
from graphneg.decoders.surface.draft import RealisationError
from graphneg.decoders.surface.operations.pronouns import set_pronouns
from tests.decoders.surface.sentences import node, sentence

LIKES = "(l / like-01 :ARG0 (s / she) :ARG1 (h / hat :poss s))"


@pytest.mark.parametrize(
    ("text", "graph", "concept", "person", "expected"),
    [
        ("She likes her hat.", LIKES, "she", "i", "I like my hat."),
        ("She likes her hat.", LIKES, "she", "they", "They like their hat."),
        ("Is he late?", "(l / late-02 :ARG1 (h / he))", "he", "you", "Are you late?"),
        # A noun follows *her*, but it belongs to the time.
        (
            "I met her last week.",
            "(m / meet-02 :ARG0 (i / i) :ARG1 (s / she))",
            "she",
            "he",
            "I met him last week.",
        ),
        ("Give it to us.", "(g / give-01 :ARG2 (w / we) :ARG1 (i / it))", "we", "he", "Give it to him."),
    ],
)
def test_all_mentions_change_person(text: str, graph: str, concept: str, person: str, expected: str) -> None:
    said = sentence(text, graph)
    set_pronouns(said, {node(said, concept): person})
    assert said.finish() == expected


def test_an_expletive_it_is_refused() -> None:
    said = sentence("Take it easy.", "(t / take-01 :ARG1 (i / it))")
    with pytest.raises(RealisationError, match="kind-mismatch"):
        set_pronouns(said, {1: "they"})


def test_a_verb_agrees_with_a_rewritten_subject() -> None:
    said = sentence("The dog sleeps.")
    said.rewrite(said.tokens[1], "dogs", "NNS")
    agree_with(said, said.tokens[1])
    assert said.finish() == "The dogs sleep."


@pytest.mark.parametrize(
    ("phrase", "person"),
    [("you and I", "we"), ("the dogs", "they"), ("the dog of my friends", "he"), ("it", "it")],
)
def test_person_of_a_phrase(phrase: str, person: str) -> None:
    assert person_of(sentence(phrase).tokens) == person
