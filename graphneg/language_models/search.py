"""How texts are searched for: beams, or drawing with each item's own noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphneg.errors import InputError


@dataclass(frozen=True, slots=True)
class Beams:
    """Beam search; one beam is greedy search. Raises `InputError` for a width below 1."""

    width: int = 1

    def __post_init__(self) -> None:
        if self.width < 1:
            raise InputError(f"beams: width {self.width} must be at least 1")


@dataclass(frozen=True, slots=True)
class Sampling:
    """Texts are drawn. ``top_k`` 0 and ``top_p`` 1 leave all tokens in.

    Raises `InputError` for values out of range.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise InputError(f"sampling temperature {self.temperature}: must be above 0")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(f"sampling top_k {self.top_k}, top_p {self.top_p}: must be >= 0 and in (0, 1]")


Search = Beams | Sampling
_LIKELIEST = 512


def processors(search: Search, seeds: Sequence[int]) -> list[Any]:
    """The logits processors that make greedy or beam search what ``search`` says.

    Drawing is greedy search under Gumbel noise, which each item draws from its own seed, so that
    an item's text does not depend on what else is in its batch.
    """
    if isinstance(search, Beams):
        return []
    from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper

    from graphneg.decoders.t5.sampling import GumbelNoise

    chain: list[Any] = [TemperatureLogitsWarper(float(search.temperature))]
    if search.top_k:
        chain.append(TopKLogitsWarper(search.top_k))
    if search.top_p < 1:
        chain.append(Nucleus(float(search.top_p)))
    return [*chain, GumbelNoise(seeds)]


class Nucleus:
    """A logits processor: the likeliest tokens that together have ``top_p`` stay (Holtzman et al., 2020).

    What transformers' own does by sorting the whole vocabulary, from its likeliest few hundred tokens
    where these suffice: a vocabulary of 50,000 took as long to sort as a small model to run.
    """

    def __init__(self, top_p: float) -> None:
        self._top_p = top_p

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores`` of shape (rows, vocabulary), minus infinity for the tokens that go."""
        import torch

        total = scores.logsumexp(-1, keepdim=True)
        size = min(_LIKELIEST, scores.shape[-1])
        values = scores.topk(size, -1).values
        shares = (values - total).exp()
        if bool((shares.sum(-1) < self._top_p).any()):
            values = scores.sort(-1, descending=True).values
            shares = (values - total).exp()
        before = shares.cumsum(-1) - shares
        inside = (before < self._top_p).sum(-1, keepdim=True).clamp(min=1)
        return scores.masked_fill(scores < values.gather(-1, inside - 1), -torch.inf)
