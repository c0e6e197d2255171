"""Train two parts of the dependency parser: the arc scorer, and the classifier for negation by *no*.

The arc scorer predicts the role between each pair of nodes, or that there is none, and chooses the top node.
The classifier is a logistic regression for sentences such as "No man is running": it decides whether
``:polarity -`` is attached to the noun or to the verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphneg.parsers.dependency.draft import GraphDraft
from graphneg.parsers.dependency.learned.arcs import denial_features, denials
from graphneg.parsers.dependency.learned.tables import (
    Model,
)
from tools.parser_lessons import GoldGraph, PairSentence, all_roles
from tools.parser_networks import Bags, descend, stored, summed, vocabulary

Array = Any
Tensor = Any
AT_LEAST, ROLE_AT_LEAST = 5, 4
"""Minimum counts of a feature and of a role to be learned."""
START, BIAS_START = 0.005, 0.1
"""Standard deviations of the initial weights of features and of biases.

Features start near 0, so that rare ones add little noise. Biases are spread, so that hidden units differ.
"""
DROPPED, RATE, DECAY, BATCH = 0.3, 3e-3, 1e-3, 64
"""Dropout probability, learning rate, weight decay, and number of sentences per batch."""
DOUBT = 0.3
"""Probability with which the features of a pair that come from the rules are hidden in training.

The authors of the rules knew the training sentences, so the rules are less reliable on other sentences.
"""
_OF_RULES = ("R=", "B=", "RR=", "RK=", "RH=", "RD=", "BH=", "O=", "W=", "WH=", "PR=", "PK=")
"""Prefixes of the features that come from the draft graph of the rules."""


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch of sentences.

    Attributes:
        sentences: The sentences.
        nodes: Rows of the sentences' nodes in `_Data`.
        pairs: Rows of the sentences' pairs of nodes in `_Data`.
        heads: Index of each pair's head among the nodes of the batch.
        deps: Index of each pair's argument among the nodes of the batch.
    """

    sentences: list[PairSentence]
    nodes: Array
    pairs: Array
    heads: Array
    deps: Array


class _Data:
    """All training sentences as arrays."""

    def __init__(self, data: list[PairSentence]) -> None:
        self.sentences = data
        self.of_nodes = vocabulary((bag for one in data for bag in one.nodes), AT_LEAST)
        self.of_pairs = vocabulary((bag for one in data for bag in one.pairs), AT_LEAST)
        self.roles = list(all_roles(data, ROLE_AT_LEAST))
        number = {role: i for i, role in enumerate(self.roles)}
        self.of_rules = np.array([feature.startswith(_OF_RULES) for feature in self.of_pairs])
        self.nodes = Bags.of((bag for one in data for bag in one.nodes), self.of_nodes)
        self.pairs = Bags.of((bag for one in data for bag in one.pairs), self.of_pairs)
        self._first_node: Array = np.cumsum([0] + [len(one.nodes) for one in data])
        self._first_pair: Array = np.cumsum([0] + [len(one.pairs) for one in data])
        self.right = np.array([number.get(role, 0) for one in data for role in one.roles])
        self.weight = np.concatenate([np.full(len(one.pairs), one.weight, np.float32) for one in data])

    def batch(self, rows: Array) -> _Batch:
        sentences = [self.sentences[row] for row in rows]
        begins = np.cumsum([0] + [len(one.nodes) for one in sentences])
        heads = [np.array(one.heads, np.int64) + n for one, n in zip(sentences, begins, strict=False)]
        deps = [np.array(one.deps, np.int64) + n for one, n in zip(sentences, begins, strict=False)]
        return _Batch(
            sentences,
            np.concatenate([np.arange(self._first_node[r], self._first_node[r + 1]) for r in rows]),
            np.concatenate([np.arange(self._first_pair[r], self._first_pair[r + 1]) for r in rows]),
            np.concatenate(heads),
            np.concatenate(deps),
        )


def train_arcs(sentences: list[PairSentence], size: int, epochs: int, seeds: Sequence[int]) -> Model:
    """Train the arc scorer.

    The state of a node is ``relu(sum of its features)``. The scores of a pair of nodes are
    ``W·relu(head(a) + argument(b) + pair(a, b))``, with a softmax over all roles and the case of no role. The
    top node is chosen by a softmax over the products of a weight vector with the states. One network is
    trained per seed. The networks are joined into one network that returns the means of their scores.

    Args:
        sentences: The training sentences.
        size: Number of hidden units per network.
        epochs: Number of epochs.
        seeds: A seed per network.

    Returns:
        The model, with rounded weights as in its file.
    """
    data = _Data(sentences)
    # An ensemble: the scores of the joined network are the means of the scores of all networks.
    arrays = joined([_fitted(data, size, epochs, seed) for seed in seeds])
    return stored(Model({"node": data.of_nodes, "pair": data.of_pairs}, arrays, data.roles))


def joined(networks: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Join networks into one network that has the hidden units of all of them.

    Args:
        networks: Weights of networks with the same features and roles.

    Returns:
        The weights of a network whose scores are the means of the scores of the given networks.
    """
    found = {
        name: np.concatenate([one[name] for one in networks], axis=-1)
        for name in ("node", "pair", "bias", "node_bias")
    }
    for name in ("head", "dep"):
        found[name] = _block_diagonal([one[name] for one in networks])
    for name in ("top", "out"):
        found[name] = np.concatenate([one[name] for one in networks]) / len(networks)
    found["out_bias"] = np.mean([one["out_bias"] for one in networks], axis=0)
    return found


def _block_diagonal(blocks: Sequence[Array]) -> Array:
    size = sum(len(block) for block in blocks)
    whole = np.zeros((size, size), np.float32)
    begin = 0
    for block in blocks:
        end = begin + len(block)
        whole[begin:end, begin:end] = block
        begin = end
    return whole


def _fitted(data: _Data, size: int, epochs: int, seed: int) -> dict[str, Array]:
    import torch

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    weights = _weights(len(data.of_nodes), len(data.of_pairs), len(data.roles), size)

    def loss_of(rows: Array) -> Tensor | None:
        batch = data.batch(rows)
        return _loss(weights, data, batch, rng) if len(batch.pairs) else None

    return descend(
        weights, len(data.sentences), epochs, BATCH, rng, loss_of,
        rate=RATE, decay=DECAY,
    )  # fmt: skip


def _weights(nodes: int, pairs: int, roles: int, size: int) -> dict[str, Tensor]:
    import torch

    def drawn(*shape: int, scale: float) -> Tensor:
        return torch.nn.Parameter(torch.randn(*shape) * scale)

    return {
        "node": drawn(nodes, size, scale=START),
        "head": drawn(size, size, scale=size**-0.5),
        "dep": drawn(size, size, scale=size**-0.5),
        "pair": drawn(pairs, size, scale=START),
        "bias": drawn(size, scale=BIAS_START),
        "node_bias": drawn(size, scale=BIAS_START),
        "top": drawn(size, scale=0),
        "out": drawn(size, roles, scale=size**-0.5),
        "out_bias": drawn(roles, scale=0),
    }


def _loss(weights: dict[str, Tensor], data: _Data, batch: _Batch, rng: Any) -> Tensor:
    """Return the loss for the roles and the top nodes, averaged over the sentences of a batch."""
    import torch
    from torch.nn import functional

    states = torch.relu(
        summed(weights["node"], data.nodes.take(batch.nodes), DROPPED, rng) + weights["node_bias"]
    )
    states = functional.dropout(states, DROPPED)
    heads, deps = states @ weights["head"], states @ weights["dep"]
    between = summed(weights["pair"], data.pairs.take(batch.pairs), DROPPED, rng, data.of_rules, DOUBT)
    hidden = heads[torch.from_numpy(batch.heads)] + deps[torch.from_numpy(batch.deps)] + between
    hidden = functional.dropout(torch.relu(hidden + weights["bias"]), DROPPED)
    logits = hidden @ weights["out"] + weights["out_bias"]
    right = torch.from_numpy(data.right[batch.pairs])
    each = functional.cross_entropy(logits, right, reduction="none")
    total = (each * torch.from_numpy(data.weight[batch.pairs])).sum()
    return (total + _top_loss(states @ weights["top"], batch.sentences)) / len(batch.sentences)


def _top_loss(scores: Tensor, sentences: list[PairSentence]) -> Tensor:
    """Return the cross-entropy of the top nodes, summed over sentences whose draft graph has the top node."""
    import torch

    total = scores.new_zeros(())
    begin = 0
    for one in sentences:
        end = begin + len(one.nodes)
        # If the draft graph lacks the top node of the gold graph, no choice of a top node is correct, so
        # leave the sentence out.
        if one.top >= 0:
            total = total + one.weight * (torch.logsumexp(scores[begin:end], 0) - scores[begin + one.top])
        begin = end
    return total


# The node to which the polarity of *no* is attached: the noun or the verb.


STEPS, PENALTY, LEAST = 12, 1.5, 1e-4
"""Number of Newton steps, L2 penalty, and minimum variance of an example's prediction."""
_NO = re.compile(r"\bno\b", re.IGNORECASE)


def has_no(text: str) -> bool:
    """Return whether a sentence contains the word *no*.

    Args:
        text: The sentence.

    Returns:
        True for "There is no time."
    """
    return _NO.search(text) is not None


def denial_examples(draft: GraphDraft, gold: GoldGraph) -> Iterator[tuple[list[str], bool]]:
    """Yield the training examples of a sentence for the classifier of negation by *no*.

    Args:
        draft: The draft graph that the rules made.
        gold: The gold graph.

    Yields:
        For each *no* that belongs to a subject, its features, and whether the polarity is at the verb.
    """
    denied = {gold.nodes[head].token for head, role, _ in gold.arcs if role == "polarity"}
    for found in denials(draft.words):
        # If the gold graph negates both the noun and the verb, or neither of them, there is nothing to learn.
        if (found.verb.i in denied) != (found.noun.i in denied):
            yield denial_features(found), found.verb.i in denied


def train_denial(drafts: Sequence[GraphDraft], golds: Sequence[GoldGraph]) -> Model:
    """Fit a logistic regression that decides whether *no* negates the noun or the verb.

    Args:
        drafts: The draft graphs that the rules made.
        golds: The gold graphs of the same sentences, in the same order.

    Returns:
        The model, with rounded weights as in its file.
    """
    found = [one for draft, gold in zip(drafts, golds, strict=True) for one in denial_examples(draft, gold)]
    known = vocabulary((bag for bag, _ in found), 1)
    rows = np.zeros((len(found), len(known)), np.float64)
    for row, (bag, _) in enumerate(found):
        rows[row, [known[feature] for feature in bag]] = 1
    right = np.array([verb for _, verb in found], np.float64)
    # Newton's steps in the dual form, with one unknown per example instead of one per feature.
    alike = rows @ rows.T
    shares = np.zeros(len(found))
    for _ in range(STEPS if len(found) else 0):
        odds = alike @ shares
        guess = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        unsure = np.maximum(guess * (1 - guess), LEAST)
        shares = np.linalg.solve(alike + np.diag(PENALTY / unsure), odds + (right - guess) / unsure)
    weights = rows.T @ shares
    return stored(Model({"denial": known}, {"denial": weights[:, None].astype(np.float32)}))
