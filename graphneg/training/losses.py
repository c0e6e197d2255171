"""The loss that trainers of pairs share: binary cross-entropy, each pair with its weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


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


def pairs_in_step(labels: Tensor, num_items_in_batch: Any = None) -> Any:
    """How many pairs a step has, of labels of shape (pairs, columns) of one of its batches."""
    return len(labels) if num_items_in_batch is None else num_items_in_batch / labels.shape[1]
