"""Tests of the posterior of Gumbel noise: it reproduces the observed token and has the right distribution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="counterfactual replies need the neural extra")
pytest.importorskip("scipy", reason="the distributions are compared by scipy")

import torch
from scipy import stats

from graphneg.nn.generation import GumbelNoise, posterior

DRAWS = 20_000
# The seeds are fixed, so the p-values are too. A wrong distribution gives p-values near 0.
LEAST_P = 0.001
LOGITS = [0.5, -1.0, 2.0, 0.0, -0.5]
OTHER_LOGITS = [1.5, 0.0, -1.0, 0.5, 0.5]


def noise(seed: int, rows: int, tokens: int = len(LOGITS)):
    """Draw standard Gumbel noise of shape (rows, tokens)."""
    return GumbelNoise([seed], "float64").draw(rows * tokens).reshape(rows, tokens)


def p_value(values, others) -> float:
    return stats.ks_2samp(values.numpy(), others.numpy()).pvalue


def repeated(logits: list[float]):
    return torch.tensor(logits, dtype=torch.float64).expand(DRAWS, -1)


@given(
    logits=st.lists(st.floats(-1000, 1000), min_size=1, max_size=30),
    chosen=st.integers(0, 29),
    seed=st.integers(0, 2**32 - 1),
)
def test_posterior_noise_reproduces_the_observed_token(logits: list[float], chosen: int, seed: int):
    rows = torch.tensor([logits], dtype=torch.float64)
    observed = torch.tensor([chosen % len(logits)])
    abduced = posterior(rows, observed, noise(seed, 1, len(logits)))
    values = rows + abduced
    assert torch.isfinite(abduced).all()
    assert values[0, observed[0]] >= values.max() - 1e-9


@pytest.mark.parametrize("observed", range(len(LOGITS)))
def test_the_posterior_equals_rejection_sampling(observed: int):
    logits = repeated(LOGITS)
    drawn = noise(1, DRAWS)
    left = drawn[(logits + drawn).argmax(dim=-1) == observed]
    abduced = posterior(logits, torch.full((DRAWS,), observed), noise(2, DRAWS))
    for token in range(len(LOGITS)):
        assert p_value(abduced[:, token], left[:, token]) > LEAST_P
    # The tokens chosen under other logits test the joint distribution, not only each token's own.
    counts = [
        torch.bincount((repeated(OTHER_LOGITS)[: len(sample)] + sample).argmax(dim=-1), minlength=5)
        for sample in (abduced, left)
    ]
    table = torch.stack(counts).numpy()
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > LEAST_P


def test_the_mixture_of_posteriors_is_the_prior():
    logits = repeated(LOGITS)
    choices = (logits + noise(3, DRAWS)).argmax(dim=-1)
    abduced = posterior(logits, choices, noise(4, DRAWS))
    for token in range(len(LOGITS)):
        assert stats.kstest(abduced[:, token].numpy(), "gumbel_r").pvalue > LEAST_P
    counts = torch.bincount((repeated(OTHER_LOGITS) + abduced).argmax(dim=-1), minlength=5)
    expected = torch.softmax(torch.tensor(OTHER_LOGITS, dtype=torch.float64), dim=-1) * DRAWS
    assert stats.chisquare(counts.numpy(), expected.numpy()).pvalue > LEAST_P
    correlation = torch.corrcoef(abduced.T) - torch.eye(len(LOGITS))
    assert correlation.abs().max() < 0.03


def test_tokens_with_probability_zero_keep_their_noise():
    logits = torch.tensor([[0.0, -torch.inf, 1.0]], dtype=torch.float64)
    drawn = noise(5, 1, 3)
    abduced = posterior(logits, torch.tensor([0]), drawn)
    assert abduced[0, 1] == drawn[0, 1]
    assert (logits + abduced).argmax() == 0


def test_noise_does_not_depend_on_the_batch():
    alone, beside = (GumbelNoise(seeds, "float64") for seeds in ([7], [6, 7, 8]))
    for _ in range(3):
        assert torch.equal(alone.draw(11)[0], beside.draw(11)[1])
