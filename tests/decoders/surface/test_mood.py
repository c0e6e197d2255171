"""Tests of turning statements, questions and orders into one another."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.operations.mood import (
    from_imperative,
    to_imperative,
    to_question,
    to_statement,
)
from tests.decoders.surface.sentences import changed

GO = "(g / go-02 :ARG0 (h / he) :ARG4 (t / town))"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He went to town.", "Did he go to town?"),
        ("He'd go to town.", "Would he go to town?"),
        ("He'd gone to town.", "Had he gone to town?"),
        ("He's been to town.", "Has he been to town?"),
        ("He won't go to town.", "Won't he go to town?"),
        ("He has a car to go to town.", "Does he have a car to go to town?"),
        ('"I went to town," said the king.', '"Did I go to town?" said the king.'),
        ("Go to town.", "Will you go to town?"),
        ("He went to town and ate.", "Did he go to town and eat?"),
        ("He went to town and I stayed.", "He went to town and I stayed, right?"),
        ("Although it rained, he went to town.", "Although it rained, he went to town, right?"),
        ("Don't go to town.", "unclear-clause"),
        ("Did he go to town?", "unsupported-edit"),
        ("Maybe he went to town.", "unsupported-edit"),
        (
            "Although it rained on the hills and on the lake for hours, he went to town in his car.",
            "unclear-clause",
        ),
    ],
)
def test_a_statement_becomes_a_question(text: str, expected: str) -> None:
    assert changed(to_question, text, GO) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Did he go to town?", "He went to town."),
        ("Didn't he go to town?", "He didn't go to town."),
        ("Will he go to town?", "He will go to town."),
        ("He goes to town?", "He goes to town."),
        ("When did he go to town?", "unsupported-edit"),
        ("He went to town.", "unsupported-edit"),
    ],
)
def test_a_question_becomes_a_statement(text: str, expected: str) -> None:
    assert changed(to_statement, text, GO) == expected


def test_what_is_quoted_is_no_longer_asked() -> None:
    far = '"Is it far?" said the king.', "(f / far :domain (i / it))"
    assert changed(to_statement, *far) == '"It is far." said the king.'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You go to town.", "Go to town."),
        ("He goes to town.", "Let him go to town."),
        ("My brother goes to town.", "Let my brother go to town."),
        ("He won't go to town.", "Don't let him go to town."),
        ("You ought to go to town.", "Go to town."),
        ("Did he go to town?", "Let him go to town."),
        ('"I went to town," said the king.', '"Let me go to town," said the king.'),
        ("Go to town.", "unsupported-edit"),
        ("When did he go to town?", "unsupported-edit"),
        ("Who went to town?", "unclear-clause"),
    ],
)
def test_a_statement_becomes_an_order(text: str, expected: str) -> None:
    assert changed(to_imperative, text, GO) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Go to town, please.", "You go to town."),
        ("Don't go to town.", "You don't go to town."),
        ("Let's go to town.", "We go to town."),
        ("Be quiet.", "You are quiet."),
        ("He went to town.", "unclear-clause"),
    ],
)
def test_an_order_becomes_a_statement(text: str, expected: str) -> None:
    assert changed(from_imperative, text, GO) == expected


@pytest.mark.parametrize(
    "text", ["He went to town.", "He will go to town.", "You are here.", "They can swim."]
)
def test_a_question_asked_and_answered_is_the_statement_again(text: str) -> None:
    asked = changed(to_question, text, GO)
    assert asked.endswith("?")
    assert changed(to_statement, asked, GO) == text
