"""Tests of `SentenceDraft`: unedited text, and spaces, articles and capitals after edits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.decoders.surface.draft import EDGE, Token, Tokens
from tests.decoders.surface.sentences import sentence

TEXTS = ["He said, “Go!” and left.", "I do n't know , sir .", "It's 8 o'clock -- or so...", "  Yes!  No? "]


@pytest.mark.parametrize("text", TEXTS)
def test_an_unedited_text_is_unchanged(text: str) -> None:
    assert sentence(text).finish() == text


@given(st.text(alphabet="abI .,!?'’\"-()", max_size=40).filter(lambda text: text.strip() != ""))
def test_words_and_marks_keep_their_characters(text: str) -> None:
    draft = sentence(text)
    assert "".join(token.text for token in draft.tokens) == "".join(text.split())


def test_a_removed_word_leaves_no_double_space() -> None:
    draft = sentence("She is very kind, sir.")
    draft.cut(2, 3)
    assert draft.finish() == "She is kind, sir."


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [("I saw a dog.", "owl", "I saw an owl."), ("I saw an owl .", "dog", "I saw a dog .")],
)
def test_an_article_agrees_with_the_next_word(text: str, word: str, expected: str) -> None:
    draft = sentence(text)
    draft.rewrite(draft.tokens[3], word)
    assert draft.finish() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm sure . I smoke .", "I'm sure . I don't smoke ."),
        ("I'm sure . Yes, I know . I smoke .", "I'm sure . Yes, I know . I don't smoke ."),
        ("I 'm sure . I smoke .", "I 'm sure . I do n't smoke ."),
    ],
)
def test_clitics_are_spaced_as_in_the_text(text: str, expected: str) -> None:
    draft = sentence(text)
    verb = next(at for at, token in enumerate(draft.tokens) if token.lower == "smoke")
    draft.insert(verb, Token("do", "VBP"), Token("n't", "NEG"))
    assert draft.finish() == expected


def test_one_spaced_mark_does_not_make_a_text_tokenised() -> None:
    assert not sentence("No, never! I have waited . Go, then.").tokenised
    assert sentence("No , never ! I have waited.").tokenised


def test_a_new_first_word_takes_the_capital() -> None:
    draft = sentence("He left.")
    draft.insert(0, Token("yesterday", "RB"))
    assert draft.finish() == "Yesterday he left."


def test_adjacent_commas_are_merged() -> None:
    draft = sentence("Well, sir, I left.")
    draft.cut(2, 3)
    assert draft.finish() == "Well, I left."


def test_tokens_are_found_by_position_and_identity() -> None:
    tokens = Tokens([Token("very", "RB"), Token("red", "JJ"), Token("red", "JJ")])
    assert tokens.get(-1) is tokens.get(3) is EDGE
    assert tokens.index_of(tokens[2]) == 2 and tokens.index_of(Token("red", "JJ")) == -1
    assert tokens.run_end(0, ("RB", "JJ")) == 3 and tokens.run_start(3, ("JJ",)) == 1
