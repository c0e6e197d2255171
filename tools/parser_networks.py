"""What training the networks of the dependency parser shares: their files, bags of features, the descent.

In: a model or meanings, features of nodes and words as strings, weights with a loss. Out: bytes to be
shipped, arrays, weights that have learned.
"""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphneg.parsers.dependency.learned.tables import (
    TABLES,
    Meanings,
    Model,
    read_model,
)

LEVELS = 127


def write_model(model: Model) -> bytes:
    """The model as a compressed ``.npz``; large tables are rounded to 8 bits a weight."""
    files: dict[str, Any] = {}
    for name, array in model.arrays.items():
        if name in TABLES:
            scale = np.float32((np.abs(array).max(initial=0) or 1) / LEVELS)
            files["a." + name] = np.rint(array / scale).astype(np.int8)
            files["s." + name] = scale
        else:
            files["a." + name] = array.astype(np.float32)
    for name, numbers in (*model.features.items(), ("classes", dict.fromkeys(model.classes))):
        files["t." + name] = np.frombuffer("\n".join(numbers).encode(), np.uint8)
    stream = io.BytesIO()
    np.savez_compressed(stream, **files)
    return stream.getvalue()


def write_meanings(meanings: Meanings) -> bytes:
    """The meanings as gzipped JSON."""
    data = {name: getattr(meanings, name) for name in ("senses", "roles", "clusters")}
    data["seen"] = {key: list(fragments.items()) for key, fragments in meanings.seen.items()}
    return gzip.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), 9, mtime=0)


# Bags of features as arrays: the form in which the networks are trained.


def vocabulary(bags: Iterable[Sequence[str]], at_least: int) -> dict[str, int]:
    """Numbers for the features that are frequent enough, from 0, the most frequent first."""
    counts: Counter[str] = Counter()
    for bag in bags:
        counts.update(set(bag))
    frequent = (feature for feature, n in counts.items() if n >= at_least and "\n" not in feature)
    kept = sorted(frequent, key=lambda f: (-counts[f], f))
    return {feature: i for i, feature in enumerate(kept)}


@dataclass(frozen=True, slots=True)
class Bags:
    """``ids[starts[i]:starts[i + 1]]`` are the features of bag ``i``."""

    ids: Any
    starts: Any

    @classmethod
    def of(cls, bags: Iterable[Sequence[str]], known: dict[str, int]) -> Bags:
        """The bags with their features numbered; unknown features are left out."""
        ids: list[int] = []
        starts = [0]
        for bag in bags:
            ids.extend(known[feature] for feature in bag if feature in known)
            starts.append(len(ids))
        return cls(np.array(ids, np.int32), np.array(starts, np.int64))

    def take(self, rows: Any) -> tuple[Any, Any]:
        """The features of some bags, one after the other, and where each bag begins."""
        sizes = self.starts[rows + 1] - self.starts[rows]
        begins = np.zeros(len(rows), np.int64)
        np.cumsum(sizes[:-1], out=begins[1:])
        places = np.arange(int(sizes.sum())) - np.repeat(begins - self.starts[rows], sizes)
        return self.ids[places], begins


def summed(
    table: Any, bags: tuple[Any, Any], dropped: float, rng: Any, doubted: Any = None, doubt: float = 0.0
) -> Any:
    """Sums of a table's rows, one for each bag; each feature is left out with probability ``dropped``.

    The features that ``doubted`` marks are left out of a bag all at once, with probability ``doubt``.
    """
    import torch
    from torch.nn import functional

    ids, starts = bags
    kept = (rng.random(len(ids)) >= dropped).astype(np.float32) / (1 - dropped)
    if doubted is not None:
        sizes = np.diff(np.append(starts, len(ids)))
        out = np.repeat(rng.random(len(starts)) < doubt, sizes)
        kept = np.where(doubted[ids], np.where(out, 0, kept / (1 - doubt)), kept).astype(np.float32)
    return functional.embedding_bag(
        torch.from_numpy(ids).long(),
        table,
        torch.from_numpy(starts),
        mode="sum",
        per_sample_weights=torch.from_numpy(kept),
    )


def stored(model: Model) -> Model:
    """The model as it is when it comes back from its file."""
    return read_model(write_model(model))


def descend(
    weights: Mapping[str, Any],
    items: int,
    epochs: int,
    batch: int,
    rng: Any,
    loss_of: Callable[[Any], Any],
    rate: float,
    decay: float,
) -> dict[str, Any]:
    """The weights as arrays after AdamW on batches of numbers of items, in another order each epoch.

    ``loss_of`` a batch is ``None`` where nothing is to be learned of it. The rate falls to a fiftieth.
    """
    import torch

    optimizer = torch.optim.AdamW(weights.values(), lr=rate, weight_decay=decay)
    steps = epochs * (items // batch + 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(1 - step / steps, 0.02))
    for _ in range(epochs):
        order = rng.permutation(items)
        for begin in range(0, items, batch):
            loss = loss_of(order[begin : begin + batch])
            if loss is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            schedule.step()
    return {name: one.detach().numpy() for name, one in weights.items()}
