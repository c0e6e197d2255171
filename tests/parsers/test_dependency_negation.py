"""Tests of negation in the dependency parser, by the rules alone and with the learned parts."""

from __future__ import annotations

import pytest

pytest.importorskip("spacy", reason="the dependency parser needs spaCy")

from graphneg.parsers.dependency.learned.arcs import denials
from graphneg.parsers.dependency.parser import DependencyParser, write_draft
from graphneg.parsers.dependency.text import load_model, read_words
from tests.parsers.one_line import parsed_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("None of the kids has a gun.", "(h / have-03 :ARG0 (k / kid) :ARG1 (g / gun) :polarity -)"),
        ("Neither of us knows.", "(k / know-01 :ARG0 (w / we) :polarity -)"),
        ("Neither Tom nor Ann came.", ":polarity -"),
        ("It is no bigger than a house.", "(h / have-degree-91 :ARG1 (i / it)"),
        ("He is not so tall as you.", ":ARG3 (e / equal) :ARG4 (y / you) :polarity -"),
        ("I'm not very hungry.", ":degree (v / very :polarity -)"),
        ("There aren't many people.", ":quant (m / many :polarity -)"),
        ("A shirtless man smiled.", "(h / have-03 :ARG1 (s2 / shirt) :polarity -)"),
        ("She jumped fearlessly.", "(f / fear-01 :polarity -)"),
        ("You should not shout.", "(s / shout-01 :ARG0 (y / you) :polarity -)"),
        ("He is not a teacher.", "(p / person :polarity - :ARG0-of (t / teach-01)"),
        ("Not every child likes soup.", ":ARG1 (s / soup) :polarity -"),
        ("I have not much time.", ":quant (m / much :polarity -)"),
        ("Why not?", "(c / cause-01 :ARG0 (a / amr-unknown) :polarity -)"),
    ],
)
def test_negative_words_negate_their_concept(text: str, expected: str) -> None:
    assert expected in parsed_line(DependencyParser(revisers=()), text)


def test_not_negates_all_coordinated_verbs() -> None:
    rules = DependencyParser(revisers=())
    assert parsed_line(rules, "The boy is not singing and playing the guitar.").count(":polarity -") == 2
    assert parsed_line(rules, "The boy is not singing and is playing the guitar.").count(":polarity -") == 1


def test_not_only_negates_nothing() -> None:
    assert ":polarity" not in parsed_line(DependencyParser(revisers=()), "He is not only rich.")


@pytest.mark.parametrize("text", ["There is no man singing and dancing.", "No bus goes there."])
def test_no_negates_either_the_noun_or_its_verb(text: str) -> None:
    graph = parsed_line(DependencyParser(), text)
    assert graph.count(":polarity -") in {1, 1 + text.count(" and ")}


@pytest.mark.parametrize(
    "text",
    [
        "There is no aunt looking at a screen",
        "There is no koala climbing",
        "There is no nurse in white dancing",
        "There is no poet in a pub singing a song",
    ],
)
def test_the_noun_after_there_is_no_is_an_argument_of_the_verb(text: str) -> None:
    draft = write_draft(text, read_words(load_model(None)(text)))
    found = next(denials(draft.words))
    assert found.noun.lower in {"aunt", "koala", "nurse", "poet"}
    assert found.verb.lower in {"looking", "climbing", "dancing", "singing"}
    verb = next(k for k, node in enumerate(draft.nodes) if node.token == found.verb.i)
    noun = next(k for k, node in enumerate(draft.nodes) if node.token == found.noun.i)
    roles = {arc.dep: arc.role for arc in draft.arcs if arc.head == verb}
    assert roles[noun] in {"ARG0", "ARG1"}


def test_meeting_is_a_noun_and_windows_are_no_agent() -> None:
    rules = DependencyParser(revisers=())
    assert "(m / meet" in parsed_line(rules, "There is no evening meeting.")
    assert ":ARG0-of (f / face-01" not in parsed_line(
        rules, "There is a house with windows facing the street."
    )
