"""Tests of prompts: alternating speakers, lengths, and equal prompts in training and decoding."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from graphneg.generators.prompts import (
    EXCHANGE_TURNS,
    HISTORY_TURNS,
    PERSPECTIVE_EXAMPLES,
    TURN_WORDS,
    context_prompt,
    perspective_example,
    perspective_prompt,
    reply_request,
)
from graphneg.model import Turn

texts = st.lists(st.from_regex(r"[a-z]+( [a-z\n]+){0,40}", fullmatch=True), min_size=1, max_size=6)


def speakers(prompt: str) -> list[str]:
    return [line[0] for line in prompt.splitlines() if not line.startswith("Words:")]


@given(texts)
def test_prompts_alternate_speakers_and_end_with_the_next_one(said: list[str]) -> None:
    history = [Turn("X", text) for text in said]
    for prompt in (context_prompt(said), perspective_prompt(said, "tea"), reply_request(history)):
        names = speakers(prompt)
        assert all(name != following for name, following in pairwise(names))
        assert prompt.endswith(":")


@given(texts)
def test_prompts_show_the_last_turns_up_to_the_limits(said: list[str]) -> None:
    shown = reply_request([Turn("X", text) for text in said]).splitlines()[:-1]
    assert len(shown) == min(len(said), HISTORY_TURNS)
    assert all(len(line.split()) <= TURN_WORDS + 1 for line in shown)
    assert len(perspective_prompt(said, "tea").splitlines()) == min(len(said), EXCHANGE_TURNS) + 1


@given(texts)
def test_keywords_are_listed_before_the_last_line(said: list[str]) -> None:
    history = [Turn("X", text) for text in said]
    *lines, words, last = reply_request(history, ["tea", "cake"]).splitlines()
    assert [*lines, last] == reply_request(history).splitlines()
    assert words == "Words: tea, cake"


def test_training_and_decoding_use_the_same_prompts() -> None:
    for exchange in PERSPECTIVE_EXAMPLES:
        pair = perspective_example(exchange)
        assert pair.source == perspective_prompt(exchange.turns, exchange.perspective)
        assert pair.target == f" {exchange.response}"
