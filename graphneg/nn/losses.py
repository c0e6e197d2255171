"""Losses of pairs: of each pair by itself, and of right ones against wrong ones of the same group."""

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
    has_rivals = rivals.any(dim=1)
    if not has_rivals.any():
        return logits.sum() * 0.0
    own = logits[right][has_rivals]
    others = logits[None, :].masked_fill(~rivals[has_rivals], float("-inf"))
    return (torch.cat([own[:, None], others], dim=1).logsumexp(dim=1) - own).mean()
