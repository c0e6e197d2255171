"""Tests of lemmas, numbers, part-of-speech tags, word classes and language detection."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.english.numbers import NUMBERS, ORDINALS, number_value, ordinal_value, value_of
from graphneg.english.tagging import FOLLOWS, tag
from graphneg.english.tokens import tokenize
from graphneg.english.words import (
    CLOSED,
    content_lemmas,
    is_foreign,
    lemma_of,
    lemmas,
    stems,
    unique_rows,
    word_class,
    word_list,
    word_map,
)
from graphneg.errors import InputError
from graphneg.model import Dialogue
from tests.graphs import SHARED
from tests.loader_samples import load

ROOT = Path(__file__).parent.parent


@given(st.sampled_from(sorted(NUMBERS)), st.sampled_from(["hundred", "thousand", "million"]))
def test_scales_multiply(word: str, scale: str) -> None:
    value = float(number_value(scale) or 0)
    assert value_of([word, scale]) == max(NUMBERS[word], 1) * value


@given(st.integers(0, 10**6))
def test_digits_are_their_own_value(number: int) -> None:
    assert number_value(f"{number:,}") == number_value(str(number)) == str(number)


def test_ordinals_have_the_value_of_their_numbers() -> None:
    assert all(ordinal_value(word) == str(value) for word, value in ORDINALS.items() if value >= 0)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("She saw the saw.", "PRS VBD DT NN EN"),
        ("Don't you like it?", "AX NEG PRS VBP PRO EN"),
        ("My brother's hat is old.", "PS NN POS NN AX JJ EN"),
    ],
)
def test_tags_depend_on_the_neighbouring_words(text: str, tags: str) -> None:
    assert tag([token.text for token in tokenize(text)], {}) == tags.split()


def test_the_graph_decides_between_verb_and_noun() -> None:
    assert tag(["They", "walk"], {1: "verb"})[1].startswith("VB")


def test_the_transition_table_is_closed() -> None:
    assert {name for costs in FOLLOWS.values() for name in costs} <= FOLLOWS.keys()


def test_a_word_class_has_one_row() -> None:
    assert "ohio" in word_class("states") and "know" in word_class("stative-verbs")
    with pytest.raises(InputError, match="two rows have the name states"):
        unique_rows([["states", "ohio"], ["states", "know"]], "words.tsv")


def test_the_lemma_depends_on_the_tag() -> None:
    assert (lemma_of("left"), lemma_of("left", "JJ"), lemma_of("saw", "NN")) == ("leave", "leave", "saw")
    assert content_lemmas("They were walking to the houses") == ("walk", "house")
    assert "the" in CLOSED and lemmas("colours") >= {"color"} and stems("decision") & stems("decide")


def test_word_classes_are_read_as_lists_sets_and_maps() -> None:
    assert word_list("months")[4] == "may" and "may" in word_class("months")
    assert word_map("money")["buck"] == "dollar"


FOREIGN = [
    line.split("\t")
    for line in (ROOT / "foreign_sentences.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("language", ["de", "fr", "es", "nl"])
def test_nine_in_ten_sentences_of_another_language_are_foreign(language: str) -> None:
    texts = [text for own, text in FOREIGN if own == language]
    assert len(texts) == 50 and sum(map(is_foreign, texts)) > 45


@pytest.mark.parametrize(
    "text", ["我不喜欢喝茶也不喜欢咖啡", "Где?", "Minun pitää valitettavasti tehdä töitä."]
)
def test_other_scripts_and_unrelated_languages_are_foreign(text: str) -> None:
    assert is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "merci beaucoup",
        "hey i'm sam , u ok ?",
        "Paris.",
        "🎉🎉",
        "Is Mr Wang in?",
        "12:30 - 14:00",
        "hmm",
    ],
)
def test_short_and_informal_english_is_not_foreign(text: str) -> None:
    assert not is_foreign(text)


@pytest.mark.parametrize(
    ("loader", "file"),
    [
        ("dailydialog", "dialogues_validation.txt"),
        ("personachat", "En_persona_valid.json"),
        ("topical_chat", "valid_freq.json"),
    ],
)
def test_less_than_half_a_percent_of_english_turns_is_foreign(loader: str, file: str) -> None:
    path = SHARED / loader / file
    if not path.is_file():
        pytest.skip(f"no {path}")
    dialogues = (one for one in load(loader, path) if isinstance(one, Dialogue))
    texts = [turn.text for dialogue in dialogues for turn in dialogue.utterances]
    assert len(texts) > 1000 and sum(map(is_foreign, texts)) < 0.005 * len(texts)
