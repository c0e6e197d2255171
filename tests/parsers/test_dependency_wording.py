"""Tests of the dependency parser on quotations, measures, agent nouns, delayed subjects and questions."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("spacy", reason="the dependency parser needs spaCy")

from graphneg.parsers.dependency.parser import DependencyParser, write_draft
from graphneg.parsers.dependency.text import load_model, read_words
from tests.parsers.one_line import parsed_line


@pytest.fixture(scope="module")
def parser() -> DependencyParser:
    return DependencyParser(revisers=())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"This soup," said the cook, "is cold."', "(s / say-01 :ARG0 (c / cook) :ARG1 (c2 / cold-01"),
        ('"It is late," the woman said, "and I am tired."', ":ARG1 (a / and :op1 (l / late-02"),
        ('"Yes," said the girl, "but I can stay."', ":ARG1 (p / possible-01"),
        ('"Where are the keys?" the old man asked.', "(a / ask-01 :ARG0 (m / man :mod (o / old)) :ARG1 (b"),
        ('"I am ill," she answered.', "(a / answer-01 :ARG0 (s / she) :ARG2 (i / ill-01"),
        ('"Is it far?" he asked.', ":ARG1 (f / far :polarity (a2 / amr-unknown)"),
    ],
)
def test_quotations_are_arguments_of_their_verb(parser: DependencyParser, text: str, expected: str) -> None:
    assert expected in parsed_line(parser, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The roof of the house is red.", "(r2 / roof :part-of (h / house))"),
        ("He drank a cup of tea.", "(c / cup :consist-of (t / tea))"),
        ("She bought a pair of gloves.", "(p / pair :quant-of (g / glove))"),
        ("He sat near the door.", ":ARG2 (n / near-02 :ARG1 h :ARG2 (d / door))"),
        ("The tree is near the house.", "(n / near-02 :ARG1 (t / tree) :ARG2 (h / house))"),
        ("Open chapter 3.", "(c / chapter :mod 3"),
        ("Animals such as dogs are nice.", ":ARG1 (a / animal :example (d / dog)))"),
        ("I came in order to help you.", "(h / help-01 :ARG1 (y / you)))"),
        ("One day he left.", ":time (d / day :mod (o / one))"),
        ("He is my Ambassador.", "(a / ambassador :poss (i / i) :domain (h / he))"),
        ("The player slept.", "(p / person :ARG0-of (p2 / play-01))"),
        ("He made an error.", "(e / err-01 :ARG0 (h / he))"),
        ("The puppies are growing teeth.", "(g / grow-01 :ARG0 (p / puppy) :ARG1 (t / tooth))"),
    ],
)
def test_relational_and_agent_nouns_are_analysed(parser: DependencyParser, text: str, expected: str) -> None:
    assert expected in parsed_line(parser, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She stayed, for she was tired.", ":ARG1-of (c / cause-01 :ARG0 (t / tire-01"),
        ("For it was late.", "(c / cause-01 :ARG0 (l / late-02"),
        ("She seemed tired.", "(s / seem-01 :ARG1 (t / tire-01 :ARG1 (s2 / she)))"),
        ("It seems that he is ill.", "(s / seem-01 :ARG1 (i / ill-01 :ARG1 (h / he)))"),
        ("It pleases me to walk.", "(p / please-01 :ARG0 (w / walk-01) :ARG1 (i / i))"),
        ("The man said to him that it was late.", ":ARG2 (h / he)"),
    ],
)
def test_clauses_replace_their_expletives_and_connectives(
    parser: DependencyParser, text: str, expected: str
) -> None:
    assert expected in parsed_line(parser, text)


def test_implicit_nodes_are_aligned_as_in_annotated_graphs() -> None:
    """The learned parts compare nodes with annotated graphs by the word to which a node is aligned."""
    nlp = load_model(None)
    draft = write_draft("She is too young.", read_words(nlp("She is too young.")))
    degree = next(node for node in draft.nodes if node.concept == "have-degree-91")
    assert degree.token == 2
    order = write_draft("Stay here!", read_words(nlp("Stay here!")))
    assert {node.label: (node.token, node.start) for node in order.nodes if node.rule == "imperative"} == {
        "imperative": (0, -1),
        "you": (0, -1),
    }


@pytest.mark.parametrize(
    "text",
    [
        "do you play tennis",
        "nice are you a baker",
        "May I borrow your pen , please .",
        "hello , did they win",
        "so can we go there by bus",
        "and has she called you .",
    ],
)
def test_a_question_needs_no_question_mark(parser: DependencyParser, text: str) -> None:
    assert re.search(r":polarity \(a\d* / amr-unknown\)", parsed_line(parser, text))


@pytest.mark.parametrize(
    "text",
    [
        "So am I .",
        "Here is your coat .",
        "Never have I seen it .",
        "May you be happy .",
        "Was I glad to see them !",
        "They do like it .",
        "There are two of them .",
    ],
)
def test_some_inversions_are_no_questions(parser: DependencyParser, text: str) -> None:
    assert "amr-unknown" not in parsed_line(parser, text)


@pytest.mark.parametrize("text", ["Don't be late!", "Be quiet.", "Please be careful."])
def test_be_with_an_adjective_can_be_imperative(parser: DependencyParser, text: str) -> None:
    assert ":mode imperative" in parsed_line(parser, text)
