"""Grammatical errors in texts, by the rules of Harper and by the table of nonsense."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from graphneg.english.grammar import grammar_errors, new_error
from graphneg.english.words import table_rows

RULES = table_rows("graphneg.english", "grammar_rules.tsv")
PATTERNS = table_rows("graphneg.english", "nonsense.tsv")


@pytest.mark.parametrize(("name", "example"), RULES, ids=[row[0] for row in RULES])
def test_a_rule_finds_the_error_of_its_example(name: str, example: str) -> None:
    assert name in grammar_errors(example)


@pytest.mark.parametrize(("name", "_", "example"), PATTERNS, ids=[row[0] for row in PATTERNS])
def test_a_pattern_finds_the_error_of_its_example(name: str, _: str, example: str) -> None:
    assert name in grammar_errors(example)


def test_the_names_of_rules_and_patterns_are_distinct() -> None:
    names = [row[0] for row in (*RULES, *PATTERNS)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "text",
    [
        "I ate a apple.",
        "I ate an pear.",
        "I saw the the bus.",
        "It is not not late.",
        "You don’t never swim.",
        "I do n’t like it.",
        "You want to amr unknown a cell phone.",
        "I met me friend.",
        "I like it , too.",
        "Why do she like it?",
    ],
)
def test_nonsense_has_an_error(text: str) -> None:
    assert grammar_errors(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Why don't you want to get your car washed?",
        "What do you mean, you don't like tea?",
        "So you aren't in a hurry?",
        "She isn't as old as I am.",
        "Give me friends, not money.",
        "My wife and I are late.",
        "What has you worried?",
        "I can do it.",
        "Call me at 6 p.m., please.",
        "The students' room is 379...",
        "Is that you? It is.",
        "I don't know why you are late.",
    ],
)
def test_what_people_say_has_no_error(text: str) -> None:
    assert grammar_errors(text) == ()


def test_an_error_is_new_if_no_source_has_an_error_of_the_same_kind() -> None:
    assert new_error("You likes tea , too.", ["I like tea , too."]) == "PronounVerbAgreement"
    assert new_error("You likes tea , too.", ["I likes tea.", "Coffee , please."]) is None
    assert new_error("You like tea.", []) is None


def test_sentences_of_the_sources_are_not_checked() -> None:
    assert new_error("She don't care. You like tea.", ["I like tea.", "Hm. She don't care."]) is None
    assert new_error("She don't care. He don't care.", ["She don't care.", "Hm."]) is None
    assert new_error("It is late. He don't care.", ["It is late. He does."]) == "PronounVerbAgreement"


def test_several_threads_can_check_texts_at_the_same_time() -> None:
    texts = [f"She don't want {number} keys." for number in range(200)]
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(grammar_errors, texts)) == {("PronounVerbAgreement",)}
