"""Losses that trainers share, and masked words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphneg.hashing import number
from graphneg.rankers.sa_bert import Row, SpeakerInputs

if TYPE_CHECKING:
    from torch import Tensor


# Losses that trainers of pairs share: of each pair by itself, and of right ones against wrong ones.


def weighted_cross_entropy(logits: Tensor, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """The sum over pairs of weighted cross-entropies, over the number of pairs in the step.

    ``logits`` have shape (pairs,) or (pairs, 1); ``labels`` shape (pairs, columns), and begin with label and
    weight. Where gradients are accumulated ``num_items_in_batch`` counts the labels, all columns, of all
    batches of the step.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    losses = binary_cross_entropy_with_logits(
        logits.reshape(-1).float(), labels[:, 0], weight=labels[:, 1], reduction="sum"
    )
    return losses / pairs_in_step(labels, num_items_in_batch)


def pairs_and_lists(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """`weighted_cross_entropy`, and beside it the cross-entropy of each right pair against the wrong ones of
    its group in the batch.

    ``labels`` have shape (pairs, 3): label, weight, number of the group. What makes a pair right is learned
    sooner where all else is the same.
    """
    logits, (targets, _, groups) = outputs.logits[:, 0].float(), labels.unbind(dim=1)
    share = len(labels) / pairs_in_step(labels, num_items_in_batch)
    of_pairs = weighted_cross_entropy(logits, labels, num_items_in_batch)
    return of_pairs + _of_lists(logits, targets, groups) * share


def pairs_in_step(labels: Tensor, num_items_in_batch: Any = None) -> Any:
    """How many pairs a step has, of labels of shape (pairs, columns) of one of its batches."""
    return len(labels) if num_items_in_batch is None else num_items_in_batch / labels.shape[1]


def _of_lists(logits: Tensor, targets: Tensor, groups: Tensor) -> Tensor:
    """Mean cross-entropy of each right response with the wrong ones of its group; 0 where there is none.

    All of shape (pairs,).
    """
    import torch

    right = targets > 0.5
    rivals = (groups[right][:, None] == groups[None, :]) & ~right[None, :]
    told = rivals.any(dim=1)
    if not told.any():
        return logits.sum() * 0.0
    own = logits[right][told]
    others = logits[None, :].masked_fill(~rivals[told], float("-inf"))
    return (torch.cat([own[:, None], others], dim=1).logsumexp(dim=1) - own).mean()


# Masked words: which tokens of a row an encoder has to tell, and what stands in their places.
#
# Devlin et al. 2019, BERT, section 3.1: of the chosen tokens eight in ten become the mask, one any
# token, one stays. The choice depends on seed and example alone.


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
