"""Tests of the keyword bias: the next tokens of missing keywords, and the change of their logits."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.nn.generation import DOUBLED, KeywordBias, next_tokens

tokens = st.lists(st.integers(0, 5), max_size=8)


@given(tokens, st.lists(tokens.filter(bool), max_size=4))
def test_adding_the_next_tokens_completes_the_keyword(text: list[int], words: list[list[int]]):
    for _ in range(sum(map(len, words)) + 1):
        needed = next_tokens(text, words[:1])
        text = [*text, *needed[:1]]
    assert not next_tokens(text, words[:1])


@given(tokens, st.lists(tokens, max_size=4))
def test_a_keyword_in_the_text_has_no_next_tokens(text: list[int], words: list[list[int]]):
    assert not next_tokens(text, [text[at : at + 2] for at in range(len(text))])
    assert len(next_tokens(text, words)) <= len([word for word in words if word])


class LetterModel:
    def tokenizer(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        return {"input_ids": [ord(letter) - 97 for letter in text.strip().lower()]}

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(chr(97 + token) for token in tokens)


class TestKeywordBias:
    def biased(self, text: list[int], strength: float = 2.0) -> SimpleNamespace:
        torch = pytest.importorskip("torch")
        bias = KeywordBias(
            LetterModel(), [["Bd"]], lambda said, word: word.lower() in said, strength=strength, ends=[4]
        )
        row = bias.biased([text], torch.zeros(1, 5))[0]
        return SimpleNamespace(word=row[1].item(), after=row[3].item(), end=row[4].item(), rest=row[2].item())

    def test_a_missing_keyword_is_raised_and_the_end_token_lowered(self):
        row = self.biased([0])
        assert row.word == pytest.approx(2 * (1 + 1 / DOUBLED)) == -row.end and row.rest == 0 == row.after

    def test_the_next_token_of_a_started_keyword_is_raised(self):
        row = self.biased([0, 1])
        assert row.after > 0 == row.word

    def test_a_complete_keyword_or_strength_zero_changes_nothing(self):
        for row in (self.biased([1, 3]), self.biased([0], strength=0.0)):
            assert (row.word, row.after, row.end) == (0, 0, 0)
