"""Masked words: which tokens of a row an encoder has to tell, and what stands in their places.

Devlin et al. 2019, BERT, section 3.1: of the chosen tokens eight in ten become the mask, one any
token, one stays. The choice depends on seed and example alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphneg.hashing import number
from graphneg.rankers.speaker_inputs import Row, SpeakerInputs

_LEFT_OUT = -100
_MASK, _ANY = 0.8, 0.9


@dataclass(frozen=True, slots=True)
class Masked:
    """A row with masks, and what stood at each place that has to be told (-100 elsewhere)."""

    row: Row
    labels: list[int]


class Masking:
    """Masks ``share`` of a row's tokens, at least one; never markers or the tokens around texts."""

    def __init__(self, inputs: SpeakerInputs, vocabulary: int, mask: int, share: float, seed: int) -> None:
        self._special = inputs.special
        self._vocabulary = vocabulary
        self._mask = mask
        self._share = share
        self._seed = seed

    def masked(self, row: Row, id: str) -> Masked:
        """The row of the example ``id`` with its masks."""
        from random import Random

        draw = Random(number(self._seed, "mask", id))
        places = [place for place, token in enumerate(row.tokens) if token not in self._special]
        chosen = draw.sample(places, min(len(places), max(1, round(len(places) * self._share))))
        tokens, labels = list(row.tokens), [_LEFT_OUT] * len(row.tokens)
        for place in sorted(chosen):
            labels[place] = tokens[place]
            tokens[place] = self._instead(draw, tokens[place])
        return Masked(Row(tokens, row.types), labels)

    def labels(self, some: Sequence[Masked], attention: Any) -> Any:
        """The rows' labels as a tensor of shape (rows, tokens), padded as ``attention`` is."""
        import torch

        found = torch.full(attention.shape, _LEFT_OUT)
        for place, one in enumerate(some):
            found[place, attention[place].bool()] = torch.tensor(one.labels)
        return found

    def _instead(self, draw: Any, token: int) -> int:
        drawn = draw.random()
        if drawn < _MASK:
            return self._mask
        return draw.randrange(self._vocabulary) if drawn < _ANY else token
