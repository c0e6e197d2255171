"""Tests of the words that can express a concept or a constant: `obligate-01` is "obligate" or "must"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.amr.concept_words import NEGATIVE_PREFIX, concept_keys, value_keys
from graphneg.amr.penman import parse_graph


def words(penman: str, k: int) -> list[str]:
    """Return the words that can express the constant at position `k`, the likeliest first."""
    graph = parse_graph(penman)
    return [word for word, _ in sorted(value_keys(graph, graph.nodes[k]), key=lambda key: -key[1])]


def test_the_lemma_of_a_concept_weighs_more_than_its_synonyms() -> None:
    keys = concept_keys("obligate-01")
    assert keys[0] == ("obligate", 10.0)
    assert "must" in dict(keys) and all(weight < 10 for _, weight in keys[1:])


def test_a_pronoun_is_expressed_by_its_inflected_forms() -> None:
    assert [word for word, _ in concept_keys("i")] == ["i", "me", "my", "mine", "myself"]


def test_a_phrasal_frame_is_expressed_by_the_phrase_or_its_verb() -> None:
    assert dict(concept_keys("look-up-05")) == {
        "look up": 10.0, "look-up": 10.0, "lookup": 10.0, "look": 7.0,
    }  # fmt: skip


def test_spellings_are_compared_in_american_english() -> None:
    assert concept_keys("colour") == (("color", 10.0),)


def test_a_reified_role_has_no_word() -> None:
    assert "have org role" not in dict(concept_keys("have-org-role-91"))


@given(st.from_regex(r"[a-z]{1,12}(-[a-z]{1,8})?(-\d\d)?", fullmatch=True))
def test_keys_of_any_concept_are_distinct_and_have_a_positive_weight(concept: str) -> None:
    keys = concept_keys(concept)
    assert len({word for word, _ in keys}) == len(keys)
    assert all(0 < weight <= 10 for _, weight in keys)


@pytest.mark.parametrize(
    ("penman", "expected"),
    [
        ("(d / date-entity :month 3)", ["3", "march", "mar"]),
        ("(d / date-entity :weekday 2)", ["2", "tuesday"]),
        ('(d / date-entity :time "14:30")', ["14:30", "2", "two", "14"]),
        ("(o / ordinal-entity :value 2)", ["2", "second"]),
        ("(c / cat :month 3)", ["3"]),
        ('(n / name :op1 "Paris")', ["paris"]),
        ("(g / go-02 :mode imperative)", []),
        ("(g / go-02 :polite +)", []),
        ('(p / person :wiki "Ann_X")', []),
        ("(g / go-02 :polarity +)", []),
    ],
)
def test_the_words_of_a_constant_depend_on_its_role(penman: str, expected: list[str]) -> None:
    assert words(penman, 1) == expected


def test_ordinal_minus_one_is_last_or_final() -> None:
    assert {"last", "final"} <= set(words("(o / ordinal-entity :value -1)", 1))


def test_the_commonest_negative_words_come_first() -> None:
    assert words("(g / go-02 :polarity -)", 1)[:3] == ["not", "n't", "never"]


@pytest.mark.parametrize(
    ("word", "negative"),
    [("unlucky", True), ("impossible", True), ("hopeless", True), ("helplessly", True), ("non-smoker", True),
     ("under", True), ("uncle", True), ("in", False), ("island", False), ("lesson", False)],
)  # fmt: skip
def test_negative_prefixes_and_suffixes_are_recognised(word: str, negative: bool) -> None:
    assert bool(NEGATIVE_PREFIX.search(word)) is negative
