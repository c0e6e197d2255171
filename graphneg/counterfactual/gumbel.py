"""Gumbel noise of a categorical choice: before anything is known, and after what was chosen.

A choice among tokens with logits ``l`` is ``argmax(l + u)``, where each ``u`` is standard Gumbel
noise (the Gumbel-Max trick). Once the choice is observed, the noise has another distribution;
a choice under other logits ``l'`` with that noise, ``argmax(l' + u)``, is the counterfactual one.
It is the observed one again where ``l'`` is ``l``. From Oberst and Sontag (2019), section 3.2,
and CAPT (Ou et al., 2022), equations 1 to 3; the posterior is drawn top-down as in Maddison et al.
(2014). All tensors are in 64 bits, where ties are out of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class GumbelSource:
    """Standard Gumbel noise, each item's from a generator of its own: the batch does not matter."""

    def __init__(self, seeds: Sequence[int]) -> None:
        import torch

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def draw(self, size: int) -> Any:
        """A tensor of shape (items, ``size``); each call draws anew."""
        import torch

        waits = [
            torch.empty(size, dtype=torch.float64).exponential_(generator=generator)
            for generator in self._generators
        ]
        return -torch.stack(waits).log()


def posterior(logits: Any, observed: Any, noise: Any) -> Any:
    """Noise under which ``observed`` is chosen, distributed as the noise is given that it was.

    ``logits`` and ``noise`` (standard Gumbel) have the shape (items, tokens), ``observed`` (int64) the shape
    (items,); so has the result that of ``logits``. The largest of ``logits + noise`` is Gumbel
    distributed around the logsumexp of the logits, whichever token it belongs to; it is given to
    the observed one. The others are Gumbel variables around their logits, cut off below it. A
    token of logit minus infinity was no choice, and keeps its noise.
    """
    import torch

    place = observed[:, None]
    highest = torch.logsumexp(logits, dim=-1, keepdim=True) + noise.gather(-1, place)
    below = -torch.logaddexp(-highest, -(logits + noise))
    values = below.scatter(-1, place, highest)
    return torch.where(logits == -torch.inf, noise, values - logits)
