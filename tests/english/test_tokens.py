"""Tests of tokens, sentences, detokenisation and the normal form by which texts are compared."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphneg.english.tokens import (
    detokenize,
    join_apostrophes,
    match_key,
    one_line,
    sentences,
    space_apostrophes,
    tokenize,
    typed_sentences,
    words_of,
)


@given(st.text(max_size=60))
def test_token_offsets_are_exact(text: str) -> None:
    tokens = tokenize(text)
    assert all(token.text == text[token.start : token.end] for token in tokens)
    assert all(a.end <= b.start for a, b in pairwise(tokens))


@pytest.mark.parametrize(
    ("raw", "tokenised"),
    [
        ("I don't know, sir.", "I do n't know , sir ."),
        ("We can't.", "We ca n't ."),
        ("It's 5 p.m.", "It 's 5 p.m."),
    ],
)
def test_raw_and_tokenised_text_have_the_same_tokens(raw: str, tokenised: str) -> None:
    assert [token.text for token in tokenize(raw)] == tokenised.split()
    assert detokenize(tokenised) == raw


@pytest.mark.parametrize(
    ("odd", "mended"),
    [
        ("We wo n ' t go , I don ’ t .", "We won't go, I don't."),
        ("It rains . I do n't mind .", "It rains. I don't mind."),
        ("“ Hi ” , she said .", '"Hi", she said.'),
        ("at 10 : 30 , for $ 3 , 000", "at 10:30, for $3,000"),
        ("the ( old ) one ...", "the (old) one..."),
        ("Is it far,sir ?It is.", "Is it far, sir? It is."),
        ("www.own.org and rock 'n' roll", "www.own.org and rock 'n' roll"),
    ],
)
def test_spacing_and_curly_quotes_are_normalised(odd: str, mended: str) -> None:
    assert detokenize(odd) == detokenize(mended) == mended


@given(st.lists(st.sampled_from(["Hi!", "He left.", "Why?", "Dr. Wu came.", "ok ..."]), max_size=5))
def test_sentences_contain_all_words(parts: list[str]) -> None:
    text = "  ".join(parts)
    assert " ".join(sentences(text)) == one_line(text)
    assert [word for one in typed_sentences(text) for word in words_of(one.text)] == words_of(text)


@given(st.text(max_size=40))
def test_the_normal_form_is_idempotent(text: str) -> None:
    assert match_key(match_key(text)) == match_key(text) == match_key(f" {one_line(text)} ")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("We'll come at seven o'clock.", "we ’ ll  come at seven o’clock ."),
        ("I don't know, I can't say.", "I do n't know , I ca n't say ."),
        ('"No," she said (twice).', "`` No , '' she said ( twice ) ."),
        ("A well-known café... at 8:30!", "a well - known CAFE\u0301 … at 8 : 30 !"),
        ("I cannot pay $5 – that's 10%.", "I can not pay $ 5 — that 's 10 % ."),
    ],
)
def test_spelling_variants_have_the_same_normal_form(text: str, other: str) -> None:
    assert match_key(text) == match_key(other)


@pytest.mark.parametrize(
    ("text", "other"),
    [("He is a part.", "He is apart."), ("I can.", "I can't."), ("Really?", "Really!"), ("8.30", "830")],
)
def test_different_words_or_marks_have_different_normal_forms(text: str, other: str) -> None:
    assert match_key(text) != match_key(other)


@pytest.mark.parametrize("text", ["It ’ s late .", "I don ' t know , you ' re late"])
def test_apostrophes_are_spaced_as_in_the_original(text: str) -> None:
    assert space_apostrophes(join_apostrophes(text), like=text) == text
