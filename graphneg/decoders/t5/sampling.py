"""Sampling that gives each item the same text whatever the batch it is in.

A generator's state shared by a batch would make a text depend on its neighbours. Here each
item has a generator of its own, seeded by hash, and the Gumbel-max trick turns drawing into
an argmax: the largest of ``logit + Gumbel noise`` is distributed as a draw from the softmax.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphneg.errors import InputError


@dataclass(frozen=True, slots=True)
class Sampling:
    """How texts are drawn. ``top_k`` 0 and ``top_p`` 1 leave all tokens in.

    ``draws`` is how often an item is drawn before it is given up, where a draw is empty,
    cut off or the original text. Raises `InputError` for values out of range.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    draws: int = 4

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise InputError(f"sampling temperature {self.temperature}: must be above 0")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(f"sampling top_k {self.top_k}, top_p {self.top_p}: must be >= 0 and in (0, 1]")
        if self.draws < 1:
            raise InputError(f"sampling draws {self.draws}: must be at least 1")


def item_seed(seed: int, id: str, draw: int) -> int:
    """The seed of one draw for one item: 32 bits of a hash, so that all backends take it.

    >>> item_seed(0, "own/test/1#2", 0) == item_seed(0, "own/test/1#2", 1)
    False
    """
    digest = hashlib.sha256(f"{seed}\0{id}\0{draw}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


class GumbelNoise:
    """A logits processor that adds each row's own Gumbel noise; greedy search then samples.

    The noise is minus the logarithm of a standard exponential variable.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        import torch

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """``scores``: float tensor of shape (items, vocabulary); the result has the same."""
        import torch

        size = scores.shape[-1]
        waits = torch.stack([torch.empty(size).exponential_(generator=each) for each in self._generators])
        return scores - waits.log().to(scores.device)
