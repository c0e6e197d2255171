"""Implement the network of a poly-encoder: its encoders, its codes, and the attention between them.

This module imports torch at its top, unlike the other modules of rankers. Import it inside functions only.

Example:
    With 16 codes and a hidden size of 384, a batch of 8 contexts gives vectors of shape (8, 16, 384), and 8
    responses give vectors of shape (8, 384). ``crossed_logits`` of both has the shape (8, 8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Literal, cast

import torch
from torch import Tensor, nn
from transformers.utils.generic import ModelOutput

from graphneg.nn.training import pairs_in_step, weighted_cross_entropy

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Pooling = Literal["first", "mean"]
"""How token states become one vector: the first state, or their mean."""
_QUICK = 100.0
"""Factor on the learning rate of the scale and the bias, which are single numbers."""


@dataclass
class PolyOutput(ModelOutput):
    """The output of the network for a batch of pairs.

    Attributes:
        logits: Logits of the pairs, of shape (pairs, 1).
        crossed: Logits of each pair's context with each pair's response, of shape (pairs, pairs).
        same_context: Whether two pairs have the same context, of shape (pairs, pairs).
        same_response: Whether two pairs have the same response, of shape (pairs, pairs).
    """

    logits: Tensor | None = None
    crossed: Tensor | None = None
    same_context: Tensor | None = None
    same_response: Tensor | None = None


class PolyNetwork(nn.Module):
    """The network of a poly-encoder (Humeau et al. 2020, section 4).

    Learned code vectors attend over the token states of a context. The response's vector then attends over
    the results. Without codes, a context has one vector that is pooled like a response's: a bi-encoder
    (section 4.2). There are two departures from the paper: attention weights and scores are divided by the
    square root of the hidden size, and a logit has a learned scale and bias, so that its sigmoid can serve as
    a score.

    Attributes:
        encoder: The encoder of contexts, or of both sides.
        response_encoder: The encoder of responses, or None if it is shared.
        pooling: How token states become one vector.
        size: The hidden size.
        codes: The codes, of shape (codes, size).
        log_scale: Logarithm of the scale of logits, divided by `_QUICK`.
        bias: Bias of logits, divided by `_QUICK`.
    """

    def __init__(self, encoders: Sequence[PreTrainedModel], codes: int, pooling: Pooling) -> None:
        """Initialize the network with random codes.

        Args:
            encoders: One encoder for both sides, or one for contexts and one for responses.
            codes: Number of codes; 0 for a bi-encoder.
            pooling: How token states become one vector.
        """
        super().__init__()
        self.encoder = encoders[0]
        self.response_encoder = encoders[1] if len(encoders) == 2 else None
        self.pooling: Pooling = pooling
        self.size = int(cast(Any, self.encoder.config).hidden_size)
        self.codes = nn.Parameter(torch.randn(codes, self.size))
        self.log_scale = nn.Parameter(torch.zeros(()))
        self.bias = nn.Parameter(torch.zeros(()))

    @property
    def config(self) -> Any:
        """The configuration of the first encoder."""
        return self.encoder.config

    @property
    def device(self) -> torch.device:
        """The device of the parameters."""
        return self.bias.device

    def forward(
        self, context_ids: Tensor, context_mask: Tensor, response_ids: Tensor, response_mask: Tensor
    ) -> PolyOutput:
        """Compute the logits of pairs, within and across pairs.

        Args:
            context_ids: Token ids of contexts, of shape (pairs, tokens).
            context_mask: Attention mask of the same shape.
            response_ids: Token ids of responses, of shape (pairs, tokens).
            response_mask: Attention mask of the same shape.

        Returns:
            The logits, and which pairs share contexts and responses.
        """
        contexts = self.context_vectors(context_ids, context_mask)
        responses = self.response_vectors(response_ids, response_mask)
        crossed = self.crossed_logits(contexts, responses)
        same = [(ids[:, None] == ids[None]).all(dim=-1) for ids in (context_ids, response_ids)]
        return PolyOutput(crossed.diagonal()[:, None], crossed, *same)

    def context_vectors(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Encode contexts.

        Args:
            ids: Token ids, of shape (contexts, tokens).
            mask: Attention mask of the same shape.

        Returns:
            Vectors of shape (contexts, vectors, size): one vector per code, or one without codes.
        """
        states: Tensor = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        if not len(self.codes):
            return _pooled(states, mask, self.pooling)[:, None]
        attention = torch.einsum("ms,nts->nmt", self.codes, states) / sqrt(self.size)
        attention = attention.masked_fill(mask[:, None] == 0, -torch.inf)
        return torch.einsum("nmt,nts->nms", attention.softmax(dim=-1), states)

    def response_vectors(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Encode responses.

        Args:
            ids: Token ids, of shape (responses, tokens).
            mask: Attention mask of the same shape.

        Returns:
            Vectors of shape (responses, size).
        """
        encoder: Any = self.response_encoder or self.encoder
        states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return _pooled(states, mask, self.pooling)

    def pair_logits(self, contexts: Tensor, responses: Tensor) -> Tensor:
        """Compute the logits of pairs.

        Args:
            contexts: Vectors of contexts, of shape (pairs, vectors, size).
            responses: Vectors of responses, of shape (pairs, size).

        Returns:
            Logits of shape (pairs,).
        """
        return self._logits(torch.einsum("nvs,ns->nv", contexts, responses))

    def crossed_logits(self, contexts: Tensor, responses: Tensor) -> Tensor:
        """Compute the logits of each context with each response.

        Args:
            contexts: Vectors of contexts, of shape (contexts, vectors, size).
            responses: Vectors of responses, of shape (responses, size).

        Returns:
            Logits of shape (contexts, responses).
        """
        return self._logits(torch.einsum("nvs,rs->nrv", contexts, responses))

    def _logits(self, products: Tensor) -> Tensor:
        """Compute logits from the products (..., vectors) of a context's vectors with a response."""
        products = products.float() / sqrt(self.size)
        # The dot product with the attended sum of vectors equals the attended sum of the dot products.
        joined = (products.softmax(dim=-1) * products).sum(dim=-1)
        return (_QUICK * self.log_scale).exp() * joined + _QUICK * self.bias


def in_batch_loss(outputs: PolyOutput, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """Compute the loss of pairs, plus the loss of each right response among all responses of the batch.

    The second part is the loss of Humeau et al. (2020), section 4: the responses of the other pairs in the
    batch are wrong, whether their own pairs are right or wrong. Other right responses of the same context are
    masked. The first part makes 0.5 the threshold between right and wrong scores.

    Args:
        outputs: The output of the network.
        labels: Label and weight of each pair, in the first two columns.
        num_items_in_batch: Number of items in the optimization step, as the ``Trainer`` passes it.

    Returns:
        The loss, a scalar.
    """
    right = labels[:, 0] == 1
    loss = weighted_cross_entropy(outputs, labels, num_items_in_batch)
    # Without a right pair there is nothing to rank among the responses.
    if not right.any():
        return loss
    same_context = cast(Tensor, outputs.same_context).float()
    fits = same_context @ (right.float()[:, None] * cast(Tensor, outputs.same_response).float()) > 0
    # A pair's own response stays on the diagonal.
    others = fits & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    crossed = cast(Tensor, outputs.crossed).masked_fill(others, -torch.inf)
    losses = -crossed.log_softmax(dim=1).diagonal() * labels[:, 1]
    return loss + losses[right].mean() * len(labels) / pairs_in_step(labels, num_items_in_batch)


def _pooled(states: Tensor, mask: Tensor, pooling: Pooling) -> Tensor:
    """Return the first state, or the mean of the states that ``mask`` selects."""
    if pooling == "first":
        return states[:, 0]
    shown = mask[:, :, None].to(states.dtype)
    return (states * shown).sum(dim=1) / shown.sum(dim=1)
