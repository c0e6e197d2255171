"""Trains the arc scorer: the role between two nodes, or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphneg.parsers.dependency.learned.network import Model
from graphneg.parsers.dependency.training.bags import Bags, stored, summed, vocabulary
from graphneg.parsers.dependency.training.pairs import PairSentence, all_roles


def train_arcs(
    data: list[PairSentence], size: int, epochs: int, seed: int, at_least: int = 3, dropped: float = 0.3
) -> Model:
    """Fits ``W·relu(head(a) + argument(b) + pair(a, b))``, the softmax over roles and none."""
    import torch
    from torch.nn import functional

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    of_nodes = vocabulary((bag for one in data for bag in one.nodes), at_least)
    of_pairs = vocabulary((bag for one in data for bag in one.pairs), at_least)
    roles = list(all_roles(data, 4))
    number = {role: i for i, role in enumerate(roles)}
    nodes = Bags.of((bag for one in data for bag in one.nodes), of_nodes)
    pairs = Bags.of((bag for one in data for bag in one.pairs), of_pairs)
    first_node = np.cumsum([0] + [len(one.nodes) for one in data])
    first_pair = np.cumsum([0] + [len(one.pairs) for one in data])
    heads = np.concatenate(
        [np.array(one.heads, np.int64) + a for one, a in zip(data, first_node, strict=False)]
    )
    deps = np.concatenate(
        [np.array(one.deps, np.int64) + a for one, a in zip(data, first_node, strict=False)]
    )
    right = np.array([number.get(role, 0) for one in data for role in one.roles])
    weight = np.concatenate([np.full(len(one.pairs), one.weight, np.float32) for one in data])

    def table(n: int, scale: float = 0.05) -> Any:
        return torch.nn.Parameter(torch.randn(n, size) * scale)

    p = {
        "node": table(len(of_nodes)),
        "head": table(size, size**-0.5),
        "dep": table(size, size**-0.5),
        "pair": table(len(of_pairs)),
        "bias": torch.nn.Parameter(torch.zeros(size)),
        "node_bias": torch.nn.Parameter(torch.zeros(size)),
        "top": torch.nn.Parameter(torch.zeros(size)),
        "out": torch.nn.Parameter(torch.randn(size, len(roles)) * size**-0.5),
        "out_bias": torch.nn.Parameter(torch.zeros(len(roles))),
    }
    optimizer = torch.optim.AdamW(p.values(), lr=3e-3, weight_decay=1e-3)
    batch = 64
    steps = epochs * (len(data) // batch + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(1 - step / steps, 0.02))
    for _ in range(epochs):
        order = rng.permutation(len(data))
        for begin in range(0, len(order), batch):
            rows = order[begin : begin + batch]
            node_rows = np.concatenate([np.arange(first_node[r], first_node[r + 1]) for r in rows])
            pair_rows = np.concatenate([np.arange(first_pair[r], first_pair[r + 1]) for r in rows])
            if not len(pair_rows):
                continue
            place = np.zeros(first_node[-1], np.int64)
            place[node_rows] = np.arange(len(node_rows))
            x = functional.dropout(
                torch.relu(summed(p["node"], nodes.take(node_rows), dropped, rng) + p["node_bias"]), dropped
            )
            a, b = x @ p["head"], x @ p["dep"]
            e = summed(p["pair"], pairs.take(pair_rows), dropped, rng)
            h = torch.from_numpy(place[heads[pair_rows]])
            d = torch.from_numpy(place[deps[pair_rows]])
            hidden = functional.dropout(torch.relu(a[h] + b[d] + e + p["bias"]), dropped)
            logits = hidden @ p["out"] + p["out_bias"]
            loss = functional.cross_entropy(logits, torch.from_numpy(right[pair_rows]), reduction="none")
            loss = (loss * torch.from_numpy(weight[pair_rows])).sum() / len(rows)
            loss = loss + _top_loss(x @ p["top"], [data[r] for r in rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    arrays = {name: one.detach().numpy() for name, one in p.items()}
    return stored(Model({"node": of_nodes, "pair": of_pairs}, arrays, roles))


def _top_loss(scores: Any, rows: list[PairSentence]) -> Any:
    """The softmax over each sentence's nodes, of those sentences whose top is among them."""
    import torch

    total = scores.new_zeros(())
    begin = 0
    for one in rows:
        end = begin + len(one.nodes)
        if one.top >= 0:
            total = total + one.weight * (torch.logsumexp(scores[begin:end], 0) - scores[begin + one.top])
        begin = end
    return total / len(rows)
