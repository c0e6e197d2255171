"""Implement the network of a poly-encoder: its encoders, its codes, and the attention between them.

The codes are learned vectors that attend over the tokens of a context. Import this module only inside
functions, because it imports torch, which is slow. The other modules of the package import torch only when
they need it.

Example:
    With 16 codes and a hidden size of 384, 8 contexts are encoded as vectors of shape (8, 16, 384), and 8
    responses as vectors of shape (8, 384). ``crossed_logits`` scores each context with each response, so its
    result has the shape (8, 8).
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
"""How the vector of a text is computed from the states of its tokens: ``first`` takes the state of the first
token, and ``mean`` takes the mean of all states."""
_LEARNING_FACTOR = 100.0
"""Factor by which the stored scale and bias are multiplied, so that they change faster in training.

The learning rate is chosen for the weights of the encoder. It would be too low for scale and bias, which must
change much more than these weights.
"""


@dataclass
class PolyOutput(ModelOutput):
    """The output of the network for a batch of pairs.

    Attributes:
        logits: Logits of the pairs, of shape (pairs, 1).
        crossed: Logits of every context with every response in the batch, of shape (pairs, pairs). Row i
            belongs to the context of pair i, and column j belongs to the response of pair j.
        same_context: Boolean matrix of shape (pairs, pairs). Element (i, j) says whether pairs i and j have
            the same context.
        same_response: Boolean matrix of shape (pairs, pairs). Element (i, j) says whether pairs i and j have
            the same response.
    """

    logits: Tensor | None = None
    crossed: Tensor | None = None
    same_context: Tensor | None = None
    same_response: Tensor | None = None


class PolyNetwork(nn.Module):
    """The network of a poly-encoder (Humeau et al. 2020, section 4).

    Learned vectors, called codes, attend over the token states of a context, so that each code gives one
    vector of the context. The vector of the response then attends over these vectors. Without codes, the
    network is a bi-encoder (section 4.2): a context has a single vector, which is computed in the same way as
    the vector of a response. There are two departures from the paper. Dot products are divided by the square
    root of the hidden size. Logits have a learned scale and bias, so that their sigmoid can be used as a
    score from 0 to 1.

    Attributes:
        encoder: The encoder for contexts. It also encodes responses if ``response_encoder`` is None.
        response_encoder: The encoder for responses; None if ``encoder`` is used for contexts and responses.
        pooling: How the token states of a text are combined into one vector.
        size: The hidden size.
        codes: The code vectors, of shape (codes, size).
        log_scale: Logarithm of the scale by which logits are multiplied, divided by `_LEARNING_FACTOR`.
        bias: Bias that is added to logits, divided by `_LEARNING_FACTOR`.
    """

    def __init__(self, encoders: Sequence[PreTrainedModel], codes: int, pooling: Pooling) -> None:
        """Initialize the network with random codes.

        Args:
            encoders: One encoder for contexts and responses, or two, the first for contexts and the second
                for responses.
            codes: Number of codes; 0 for a bi-encoder.
            pooling: How the token states of a text are combined into one vector.
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
        """The configuration of the encoder for contexts, as transformers' ``Trainer`` expects it."""
        return self.encoder.config

    @property
    def device(self) -> torch.device:
        """The torch device of the parameters."""
        return self.bias.device

    def forward(
        self, context_ids: Tensor, context_mask: Tensor, response_ids: Tensor, response_mask: Tensor
    ) -> PolyOutput:
        """Compute the logits of all pairs, and of every context with every response in the batch.

        Args:
            context_ids: Token ids of the contexts, of shape (pairs, tokens).
            context_mask: Attention mask of ``context_ids``, of the same shape.
            response_ids: Token ids of the responses, of shape (pairs, tokens).
            response_mask: Attention mask of ``response_ids``, of the same shape.

        Returns:
            The logits, and two matrices that show which pairs have the same context or the same response.
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
            mask: Attention mask of ``ids``, of the same shape.

        Returns:
            Vectors of shape (contexts, vectors, size). A context has one vector per code; without codes, it
            has a single vector.
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
            mask: Attention mask of ``ids``, of the same shape.

        Returns:
            Vectors of shape (responses, size).
        """
        encoder: Any = self.response_encoder or self.encoder
        states = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        return _pooled(states, mask, self.pooling)

    def pair_logits(self, contexts: Tensor, responses: Tensor) -> Tensor:
        """Compute the logits of pairs from the vectors of their contexts and responses.

        Args:
            contexts: Vectors of the contexts, of shape (pairs, vectors, size).
            responses: Vectors of the responses, of shape (pairs, size).

        Returns:
            Logits of shape (pairs,).
        """
        return self._logits(torch.einsum("nvs,ns->nv", contexts, responses))

    def crossed_logits(self, contexts: Tensor, responses: Tensor) -> Tensor:
        """Compute the logits of every context with every response.

        Args:
            contexts: Vectors of contexts, of shape (contexts, vectors, size).
            responses: Vectors of responses, of shape (responses, size).

        Returns:
            Logits of shape (contexts, responses).
        """
        return self._logits(torch.einsum("nvs,rs->nrv", contexts, responses))

    def _logits(self, products: Tensor) -> Tensor:
        """Compute logits from the dot products of a response with the vectors of a context."""
        products = products.float() / sqrt(self.size)
        # The paper computes the attention-weighted sum of the context's vectors, and then its dot product
        # with the response. The sum of the dot products with the same weights is equal and needs less memory.
        joined = (products.softmax(dim=-1) * products).sum(dim=-1)
        return (_LEARNING_FACTOR * self.log_scale).exp() * joined + _LEARNING_FACTOR * self.bias


def in_batch_loss(outputs: PolyOutput, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
    """Return the sum of a binary loss of each pair and a ranking loss over all responses in the batch.

    The binary loss classifies each pair as correct or wrong, so that 0.5 is the threshold between the two.
    The ranking loss is defined by Humeau et al. (2020, section 4): for each correct pair, the responses of
    all other pairs in the batch, correct or wrong, are used as negatives. If such a response is also correct
    for the context, it is masked.

    Args:
        outputs: The output of the network for the batch.
        labels: Tensor of shape (pairs, columns). The first column is the label of each pair (1 if the
            response is correct), the second column is its weight.
        num_items_in_batch: Number of labels in the optimizer step, as the ``Trainer`` passes it.

    Returns:
        The loss, a scalar.
    """
    right = labels[:, 0] == 1
    loss = weighted_cross_entropy(outputs, labels, num_items_in_batch)
    # The ranking loss needs correct responses. If the batch has none, use only the binary loss.
    if not right.any():
        return loss
    same_context = cast(Tensor, outputs.same_context).float()
    fits = same_context @ (right.float()[:, None] * cast(Tensor, outputs.same_response).float()) > 0
    # Mask the other correct responses to a context, so that they do not count as negatives. Do not mask the
    # diagonal: it contains the logit of each context with its own response.
    others = fits & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    crossed = cast(Tensor, outputs.crossed).masked_fill(others, -torch.inf)
    losses = -crossed.log_softmax(dim=1).diagonal() * labels[:, 1]
    return loss + losses[right].mean() * len(labels) / pairs_in_step(labels, num_items_in_batch)


def _pooled(states: Tensor, mask: Tensor, pooling: Pooling) -> Tensor:
    """Return the state of the first token, or the mean of the states of all tokens except padding."""
    if pooling == "first":
        return states[:, 0]
    shown = mask[:, :, None].to(states.dtype)
    return (states * shown).sum(dim=1) / shown.sum(dim=1)
