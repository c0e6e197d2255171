"""Keyword bias: which tokens a text still needs, and how much likelier they become."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.nn.generation import DOUBLED, KeywordBias, next_tokens

tokens = st.lists(st.integers(0, 5), max_size=8)


@given(tokens, st.lists(tokens.filter(bool), max_size=4))
def test_a_text_that_takes_what_it_needs_comes_to_say_every_word(text: list[int], words: list[list[int]]):
    for _ in range(sum(map(len, words)) + 1):
        needed = next_tokens(text, words[:1])
        text = [*text, *needed[:1]]
    assert not next_tokens(text, words[:1])


@given(tokens, st.lists(tokens, max_size=4))
def test_what_is_said_needs_nothing(text: list[int], words: list[list[int]]):
    assert not next_tokens(text, [text[at : at + 2] for at in range(len(text))])
    assert len(next_tokens(text, words)) <= len([word for word in words if word])


class Letters:
    """A model whose tokens are letters: ``a`` is 0."""

    def tokenizer(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) - 97 for letter in text.strip().lower()]}

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(chr(97 + token) for token in tokens)


class TestKeywordBias:
    def biased(self, text: list[int], strength: float = 2.0) -> SimpleNamespace:
        torch = pytest.importorskip("torch")
        bias = KeywordBias(
            Letters(), [["Bd"]], lambda said, word: word.lower() in said, strength=strength, ends=[4]
        )
        row = bias.biased([text], torch.zeros(1, 5))[0]
        return SimpleNamespace(word=row[1].item(), after=row[3].item(), end=row[4].item(), rest=row[2].item())

    def test_the_word_is_raised_and_the_end_lowered_while_it_is_missing(self):
        row = self.biased([0])
        assert row.word == pytest.approx(2 * (1 + 1 / DOUBLED)) == -row.end and row.rest == 0 == row.after

    def test_a_word_that_has_begun_needs_its_next_token(self):
        row = self.biased([0, 1])
        assert row.after > 0 == row.word

    def test_a_text_that_says_it_and_a_strength_of_nothing_change_nothing(self):
        for row in (self.biased([1, 3]), self.biased([0], strength=0.0)):
            assert (row.word, row.after, row.end) == (0, 0, 0)
