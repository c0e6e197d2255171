"""Lists of words: what they hold, and that code asks for lists that are there."""

from __future__ import annotations

import pytest

from graphneg.generators.overlap.target_profile import OPENINGS
from graphneg.generators.word_lists import phrase_list, word_list


@pytest.mark.parametrize("name", ["function", "talk", "opening", "no reply", "light noun"])
def test_words_are_single_and_in_lower_case(name: str) -> None:
    words = word_list(name)
    assert words and all(word == word.lower() and " " not in word for word in words)


def test_openings_are_words_then_phrases() -> None:
    phrases = phrase_list("aside")
    assert OPENINGS[-len(phrases) :] == tuple(phrases)
    assert word_list("no reply") <= set(OPENINGS)
