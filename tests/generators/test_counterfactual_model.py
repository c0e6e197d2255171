"""Tests of counterfactual decoding: the same perspective gives the observed reply, another a new one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="counterfactual replies need the neural extra")
pytest.importorskip("transformers", reason="counterfactual replies need the neural extra")

from graphneg.errors import InputError, ModelError
from graphneg.generators.counterfactual_model import Question, counterfactuals
from graphneg.generators.prompts import Exchange
from graphneg.nn.models import load_either
from tests.tiny_lm import EXCHANGES, TinyModels, exchanges

KINDS = ["gpt2", "llama", "bart", "trained_gpt2", "trained_bart"]
TRAINED = ["trained_gpt2", "trained_bart"]
load: Callable[[Path], Any] = cache(load_either)

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=4)
said = st.lists(words, min_size=1, max_size=4).map(" ".join).filter(str.strip)
observed = st.builds(
    Exchange,
    turns=st.lists(said, min_size=1, max_size=3).map(tuple),
    perspective=words,
    response=said,
)


def question_of_observed(exchange: Exchange, id: str) -> Question:
    return Question(id, exchange, exchange.perspective)


@pytest.mark.parametrize("kind", KINDS)
@given(
    batch=st.lists(observed, min_size=1, max_size=4),
    seed=st.integers(0, 1000),
    keyword_bias=st.sampled_from([0.0, 6.0]),
)
@settings(
    max_examples=30,
    phases=[Phase.explicit, Phase.generate],  # no shrinking: models are too slow
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_the_observed_perspective_gives_the_observed_reply(
    tiny_lms: TinyModels, kind: str, batch: list[Exchange], seed: int, keyword_bias: float
):
    model = load(getattr(tiny_lms, kind))
    answers = counterfactuals(
        model,
        [question_of_observed(e, str(n)) for n, e in enumerate(batch)],
        seed=seed,
        keyword_bias=keyword_bias,
    )
    for exchange, answer in zip(batch, answers, strict=True):
        assert answer.unchanged_fraction == 1.0 and answer.finished
        assert answer.text == " ".join(exchange.response.split())


@pytest.mark.parametrize("kind", TRAINED)
def test_observed_replies_do_not_depend_on_others_in_the_batch(tiny_lms: TinyModels, kind: str):
    questions = [
        Question(f"{n}", exchange, "garden" if n % 2 else exchange.perspective)
        for n, exchange in enumerate(exchanges())
    ]
    for temperature in (0.7, 1.0, 3.0):
        answers = counterfactuals(load(getattr(tiny_lms, kind)), questions, temperature=temperature)
        texts = [answer.text for answer in answers[::2]]
        assert texts == [exchange.response for exchange in exchanges()[::2]]


@pytest.mark.parametrize("kind", TRAINED)
def test_a_trained_model_says_the_reply_that_it_learned_for_the_substitute(tiny_lms: TinyModels, kind: str):
    by_perspective = {(post, perspective): text for post, perspective, text in EXCHANGES}
    questions = [
        Question(f"{exchange.response} {substitute}", exchange, substitute)
        for exchange in exchanges()
        for post, substitute in by_perspective
        if post == exchange.turns[0] and substitute != exchange.perspective
    ]
    answers = counterfactuals(load(getattr(tiny_lms, kind)), questions)
    right = [
        answer.text == by_perspective[question.observed.turns[0], question.substitute]
        for question, answer in zip(questions, answers, strict=True)
    ]
    assert sum(right) > len(right) / 2


@pytest.mark.parametrize("kind", TRAINED)
def test_sampling_depends_on_the_seed_and_the_id_only(tiny_lms: TinyModels, kind: str):
    model = load(getattr(tiny_lms, kind))
    questions = [Question(f"{n}", exchange, "music") for n, exchange in enumerate(exchanges())]
    first = counterfactuals(model, questions, seed=1, temperature=2.0)
    assert counterfactuals(model, questions, seed=1, temperature=2.0) == first
    assert counterfactuals(model, questions, seed=2, temperature=2.0) != first
    assert counterfactuals(model, questions[3:4], seed=1, temperature=2.0) == first[3:4]


def test_a_reply_that_is_too_long_for_the_model_is_named(tiny_lms: TinyModels):
    exchange = Exchange(("Why?",), "fish", "because " * 200)
    with pytest.raises(ModelError, match="reads 128 tokens, too few for own/test/1#1"):
        counterfactuals(load(tiny_lms.gpt2), [Question("own/test/1#1", exchange, "milk")])


@pytest.mark.parametrize("kind", ["gpt2", "bart"])
def test_keyword_bias_makes_an_untrained_model_say_the_substitute(tiny_lms: TinyModels, kind: str):
    model = load(getattr(tiny_lms, kind))
    questions = [Question(f"{n}", exchange, "garden door") for n, exchange in enumerate(exchanges())]
    for keyword_bias, says in ((0.0, False), (1e3, True)):
        answers = counterfactuals(model, questions, keyword_bias=keyword_bias)
        assert {"garden door" in answer.text for answer in answers} == {says}


@pytest.mark.parametrize("wrong", [{"temperature": 0}, {"keyword_bias": -1}])
def test_temperature_zero_and_negative_bias_are_refused(tiny_lms: TinyModels, wrong: dict):
    with pytest.raises(InputError, match=f"{next(iter(wrong))} "):
        counterfactuals(load(tiny_lms.gpt2), [], **wrong)
