"""Tests of the word lists that generators use."""

from __future__ import annotations

import pytest

from graphneg.english.words import word_class, word_list
from graphneg.generators.overlap.target_profile import OPENINGS


@pytest.mark.parametrize("name", ["function-words", "words-of-talk", "reply-openings", "no-reply"])
def test_words_are_single_and_in_lower_case(name: str) -> None:
    words = word_class(name)
    assert words and all(word == word.lower() and " " not in word for word in words)


def test_openings_are_words_followed_by_phrases() -> None:
    phrases = [words.replace("_", " ") for words in word_list("asides")]
    assert OPENINGS[-len(phrases) :] == tuple(phrases)
    assert word_class("no-reply") <= set(OPENINGS)
