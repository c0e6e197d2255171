"""Tests of `shortlist`: which sentences of the pool are excluded, and how the others are sorted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.errors import GeneratorError
from graphneg.generators.base import Context
from graphneg.generators.overlap.target_profile import (
    OverlapOptions,
    PoolSentence,
    TargetProfile,
    shortlist,
    target_profiles,
    terms_of,
    text_keys_of,
    words_key,
)
from graphneg.model import Turn

PROFILE = TargetProfile(1, True, False, False, ("uncle",), tie_breaker=5, cosine_draw=0.0)
OPEN = OverlapOptions(max_response_overlap=1.0)


def sentence(text: str, *terms: str, question: bool = False, me: bool = False, of: str = "") -> PoolSentence:
    return PoolSentence(len(text), text, text, frozenset(terms), question, me, of)


def listed(
    context: Context,
    *told: PoolSentence,
    profile: TargetProfile = PROFILE,
    conditions: OverlapOptions = OPEN,
    usual: frozenset[str] = frozenset(),
) -> list[str]:
    terms = terms_of(context, lambda _: 3, max_overlap_frequency=100)
    found = shortlist(context, terms, profile, told, text_keys_of(context), conditions, usual)
    return [item.sentence.text for item in found]


class TestExclusions:
    def test_questions_are_listed_only_for_question_profiles(self, context: Context) -> None:
        asks = sentence("Has your uncle a car?", "uncle", "car", question=True)
        assert listed(context, asks) == []
        assert listed(context, asks, profile=replace(PROFILE, question=True)) == [asks.text]

    def test_turns_and_correct_responses_are_not_listed(self, context: Context) -> None:
        said = ("my uncle sold it on friday", "What a pity", "is the boat still for sale ?!")
        assert listed(context, *(sentence(text, "uncle") for text in said)) == []

    def test_sentences_of_the_same_dialogue_are_not_listed(self, context: Context) -> None:
        assert listed(context, sentence("An uncle paints.", "uncle", of=context.dialogue)) == []

    def test_equal_sentences_are_listed_once(self, context: Context) -> None:
        both = sentence("An uncle paints.", "uncle"), sentence("An uncle  paints!", "uncle")
        assert len(listed(context, *both)) == 1

    def test_sentences_about_usual_topics_are_not_listed(self, context: Context) -> None:
        told = sentence("An uncle paid the price.", "uncle", "pay", "price")
        assert listed(context, told, usual=frozenset({"price"})) == []
        assert listed(context, told, usual=frozenset({"uncle"})) == [told.text]

    def test_sentences_similar_to_a_correct_response_are_not_listed(self, context: Context) -> None:
        told = sentence("An honest price is hard to get.", "honest", "price", "hard")
        assert listed(context, told, conditions=OverlapOptions(max_response_overlap=0.5)) == []
        assert listed(context, told, conditions=OverlapOptions(max_response_overlap=0.7)) == [told.text]

    def test_sentences_with_many_words_of_the_last_turn_are_not_listed(self, context: Context) -> None:
        told = sentence("My uncle will sell his car.", "uncle", "sell", "car")
        assert listed(context, told, conditions=replace(OPEN, max_last_turn_words=1)) == []
        assert listed(context, told, conditions=replace(OPEN, max_last_turn_words=2)) == [told.text]


class TestOrder:
    told = (
        sentence("My cousin will sell his uncle a boat.", "cousin", "sell", "uncle", "boat"),
        sentence("Nobody was there.", "nobody"),
        sentence("I saw your uncle.", "see", "uncle", me=True),
        sentence("An uncle paints.", "uncle", "paint"),
        sentence("The boat sank.", "boat", "sink"),
    )

    def test_the_nearest_to_the_profile_is_first(self, context: Context) -> None:
        assert listed(context, *self.told)[:3] == ["An uncle paints.", "I saw your uncle.", "The boat sank."]

    def test_first_person_sentences_come_first_for_such_profiles(self, context: Context) -> None:
        profile = replace(PROFILE, first_person=True)
        assert listed(context, *self.told, profile=profile)[0] == "I saw your uncle."

    @given(st.permutations(told))
    def test_the_order_of_the_input_does_not_matter(self, told: list[PoolSentence]) -> None:
        context = Context("d#1", "d", "t", "d", 1, (Turn("A", "My uncle sold it."),), "B")
        terms = terms_of(context, lambda _: 3, max_overlap_frequency=100)
        found = [
            item.key for item in shortlist(context, terms, PROFILE, told, frozenset(), OPEN, frozenset())
        ]
        again = shortlist(context, terms, PROFILE, self.told, frozenset(), OPEN, frozenset())
        assert found == [item.key for item in again]


@given(st.text(max_size=30))
def test_keys_are_idempotent_and_ignore_case(text: str) -> None:
    key = words_key(text)
    assert words_key(key) == key
    assert words_key(f"  {key.upper()} ! ") == words_key(key.upper())


@given(st.integers(0, 50), st.integers(1, 6))
def test_the_first_profiles_do_not_depend_on_their_number(seed: int, amount: int) -> None:
    context = Context("d#1", "d", "t", "d", 1, (Turn("A", "The old boat sank near the harbour."),), "B")
    terms = terms_of(context, lambda _: 3, max_overlap_frequency=100)
    few, many = (target_profiles(terms, OPEN, lambda _: 9, 99, ("far",), n, seed) for n in (amount, 7))
    assert few == many[:amount]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"min_words": 9, "max_words": 8}, "min_words 9 is greater than max_words 8"),
        ({"sources": "own"}, "sources must be a list of texts"),
        ({"overlap": (0, 0, 0, 0)}, "four shares"),
        ({"overlap": (1, -1, 1, 1)}, "four shares"),
        ({"sentences_per_term": 1.5}, "sentences_per_term must be a whole number of at least 1, not 1.5"),
        ({"max_bridge_frequency": "much"}, "max_bridge_frequency must be a share from 0 to 1, not 'much'"),
    ],
)
def test_invalid_conditions_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(GeneratorError, match=told):
        OverlapOptions(**wrong)  # pyright: ignore[reportArgumentType]
