"""Tests of the word tables of the dependency parser."""

from __future__ import annotations

import pytest

from graphneg.parsers.dependency.lexicon import expressions, rows, word_class, word_map, word_pairs


def test_classes_words_and_expressions_are_unique() -> None:
    names = [name for name, _ in rows("word_classes")]
    assert len(names) == len(set(names))
    entries = [(name, word) for name, _, words in rows("word_maps") for word in words.split()]
    assert len(entries) == len(set(entries))
    forms = [words for words, *_ in rows("expressions")]
    assert len(forms) == len(set(forms))


def test_words_are_found_in_the_tables() -> None:
    assert {"say", "whisper"} <= word_class("speech")
    assert word_map("preposition-role")["behind"] == "location"
    assert word_map("relative")["neighbour"] == word_map("relative")["neighbor"] == "neighbor"
    assert word_pairs("opener")["but"] == ("contrast-01", "ARG2")
    with pytest.raises(KeyError):
        word_class("no such class")


def test_longer_expressions_come_first() -> None:
    for entries in (*expressions().values(), *expressions("preposition").values()):
        lengths = [len(forms) for forms, _ in entries]
        assert lengths == sorted(lengths, reverse=True)
