"""The network of a poly-encoder: its towers, its codes, and the attention that joins them.

Of the modules of rankers this one alone imports torch at its top, so it is imported inside functions.
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
_QUICK = 100.0
"""How many times faster than an encoder's parameters the scale and the bias move: one number each."""


@dataclass
class PolyOutput(ModelOutput):
    """What a batch of pairs gives.

    ``logits`` (pairs, 1) are of the pairs; ``crossed`` (pairs, pairs) of each one's context with each one's
    response; ``same_context`` and ``same_response`` (pairs, pairs) say which pairs have the same tokens.
    """

    logits: Tensor | None = None
    crossed: Tensor | None = None
    same_context: Tensor | None = None
    same_response: Tensor | None = None


class PolyNetwork(nn.Module):
    """Humeau et al. 2020, section 4: ``codes`` learned vectors attend over a context's token states, and the
    response's vector attends over what they found.

    Without codes a context has one vector, pooled like a response's: a bi-encoder (section 4.2). Unlike
    theirs, attention and scores are divided by the root of the states' size, and a logit has a learned
    scale and bias, so that its sigmoid is a score. ``encoders`` are one that
    both sides share, or one for contexts and one for responses.
    """

    def __init__(self, encoders: Sequence[PreTrainedModel], codes: int, pooling: Pooling) -> None:
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
        """The first encoder's."""
        return self.encoder.config

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return self.bias.device

    def forward(
        self, context_ids: Tensor, context_mask: Tensor, response_ids: Tensor, response_mask: Tensor
    ) -> PolyOutput:
        """Logits of pairs; ids and masks have shape (pairs, tokens)."""
        contexts = self.context_vectors(context_ids, context_mask)
        responses = self.response_vectors(response_ids, response_mask)
        crossed = self.crossed_logits(contexts, responses)
        same = [(ids[:, None] == ids[None]).all(dim=-1) for ids in (context_ids, response_ids)]
        return PolyOutput(crossed.diagonal()[:, None], crossed, *same)

    def context_vectors(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Shape (contexts, vectors, size): a vector for each code, or one where there are none."""
        states: Tensor = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        if not len(self.codes):
            return _pooled(states, mask, self.pooling)[:, None]
        attention = torch.einsum("ms,nts->nmt", self.codes, states) / sqrt(self.size)
        attention = attention.masked_fill(mask[:, None] == 0, -torch.inf)
        return torch.einsum("nmt,nts->nms", attention.softmax(dim=-1), states)

    def response_vectors(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Shape (responses, size)."""
        encoder: Any = self.response_encoder or self.encoder
        states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return _pooled(states, mask, self.pooling)

    def pair_logits(self, contexts: Tensor, responses: Tensor) -> Tensor:
        """Logits (pairs,) of contexts (pairs, vectors, size) and responses (pairs, size)."""
        return self._logits(torch.einsum("nvs,ns->nv", contexts, responses))

    def crossed_logits(self, contexts: Tensor, responses: Tensor) -> Tensor:
        """Logits (contexts, responses) of each of contexts (contexts, vectors, size) with each response."""
        return self._logits(torch.einsum("nvs,rs->nrv", contexts, responses))

    def _logits(self, products: Tensor) -> Tensor:
        """From the products (..., vectors) of a context's vectors with a response's. The product with the
        attended sum is the attended sum of the products."""
        products = products.float() / sqrt(self.size)
        joined = (products.softmax(dim=-1) * products).sum(dim=-1)
        return (_QUICK * self.log_scale).exp() * joined + _QUICK * self.bias


def in_batch_loss(outputs: PolyOutput, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """`weighted_cross_entropy`, and that of each right pair's response among all of the batch.

    The second part is the loss of Humeau et al. 2020, section 4: the responses of the batch's other pairs
    are wrong ones, here right and wrong pairs' alike. What is a right response of the same context
    does not count among them. The first part makes of 0.5 the border between right and wrong.
    """
    right = labels[:, 0] == 1
    loss = weighted_cross_entropy(outputs, labels, num_items_in_batch)
    if not right.any():
        return loss
    same_context = cast(Tensor, outputs.same_context).float()
    fits = same_context @ (right.float()[:, None] * cast(Tensor, outputs.same_response).float()) > 0
    others = fits & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    crossed = cast(Tensor, outputs.crossed).masked_fill(others, -torch.inf)
    losses = -crossed.log_softmax(dim=1).diagonal() * labels[:, 1]
    return loss + losses[right].mean() * len(labels) / pairs_in_step(labels, num_items_in_batch)


def _pooled(states: Tensor, mask: Tensor, pooling: Pooling) -> Tensor:
    """The first state, or the mean of those that ``mask`` shows."""
    if pooling == "first":
        return states[:, 0]
    shown = mask[:, :, None].to(states.dtype)
    return (states * shown).sum(dim=1) / shown.sum(dim=1)
