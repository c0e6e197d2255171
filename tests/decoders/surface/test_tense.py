"""Tests of adding a time expression, which can change the tense of the verb."""

from __future__ import annotations

import pytest

from graphneg.decoders.surface.operations.tense import add_time, set_time
from tests.decoders.surface.sentences import changed

GO = "(g / go-02 :ARG0 (h / he) :ARG4 (t / town))"


@pytest.mark.parametrize(
    ("text", "past", "future"),
    [
        ("He goes to town.", "He went to town", "He will go to town"),
        ("He has gone to town.", "He went to town", "He will go to town"),
        ("He'd go to town.", "He'd have gone to town", "He will go to town"),
        ("He must go to town.", "He had to go to town", "He must go to town"),
        ("He can't go to town.", "He couldn't go to town", "He can't go to town"),
        ("He might go to town.", "He might have gone to town", "He might go to town"),
        ("He is in town.", "He was in town", "He will be in town"),
        ("He goes to town and eats.", "He went to town and ate", "He will go to town and eat"),
        ("He isn't in town.", "He wasn't in town", "He won't be in town"),
        ("He doesn't go to town.", "He didn't go to town", "He won't go to town"),
    ],
)
def test_the_tense_follows_an_added_time(text: str, past: str, future: str) -> None:
    assert changed(add_time, text, GO, 0, "yesterday") == f"{past} yesterday."
    assert changed(add_time, text, GO, 0, "tomorrow") == f"{future} tomorrow."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He went to town.", "He goes to town now."),
        ("He was in town.", "He is in town now."),
        ("He could go to town.", "He can go to town now."),
        ("He didn't go to town.", "He doesn't go to town now."),
    ],
)
def test_now_changes_the_past_tense_to_the_present(text: str, expected: str) -> None:
    assert changed(add_time, text, GO, 0, "now") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He goes to town, and I stay.", "He went to town yesterday, and I stay."),
        ("Does he go to town?", "Did he go to town yesterday?"),
        ('"He goes to town," said the king.', '"He went to town yesterday," said the king.'),
        ("He goes to towns, villages and farms.", "He went to towns, villages and farms yesterday."),
        ("If he goes to town, I stay.", "unclear-clause"),
        ("He has gone to town since May.", "unclear-clause"),
        ("The man who goes to town sings.", "unclear-clause"),
        ("He goes to town yesterday.", "unchanged"),
        ("Go to town.", "unsupported-edit"),
        ("He will not be in town.", "unsupported-edit"),
    ],
)
def test_a_time_word_is_added_at_the_end_of_its_clause_or_refused(text: str, expected: str) -> None:
    assert changed(add_time, text, GO, 0, "yesterday") == expected


def test_the_tense_follows_a_replaced_time() -> None:
    graph = "(g / go-02 :ARG0 (h / he) :time (y / yesterday))"
    assert changed(set_time, "He went yesterday.", graph, "yesterday", "tomorrow") == "He will go tomorrow."
    assert changed(set_time, "He went as yesterday.", graph, "yesterday", "tomorrow") == "no-form"
