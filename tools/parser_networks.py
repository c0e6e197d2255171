"""Provide what the trainings of the parser's networks share: files, bags of features, and gradient descent.

Features are strings such as ``first:my``. A network has a table with a row of weights per feature, and reads
a bag of features as the sum of their rows. `Bags` stores the bags as arrays. `write_model` and
`write_meanings` write the files that ship with the package.
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
"""Largest absolute value of a weight that is rounded to 8 bits."""


def write_model(model: Model) -> bytes:
    """Serialize a model as a compressed ``.npz`` file, with large tables rounded to 8 bits per weight.

    Args:
        model: The model.

    Returns:
        The bytes of the file.
    """
    files: dict[str, Any] = {}
    for name, array in model.arrays.items():
        if name in TABLES:
            # One scale per table. A table of zeros must not divide by 0.
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
    """Serialize the tables of the fragment chooser as gzipped JSON.

    Args:
        meanings: The tables.

    Returns:
        The bytes of the file.
    """
    data = {name: getattr(meanings, name) for name in ("senses", "roles", "clusters")}
    data["seen"] = {key: list(fragments.items()) for key, fragments in meanings.seen.items()}
    return gzip.compress(json.dumps(data, separators=(",", ":"), sort_keys=True).encode(), 9, mtime=0)


# Bags of features as arrays, the format of the training data.


def vocabulary(bags: Iterable[Sequence[str]], at_least: int) -> dict[str, int]:
    """Number the features that are frequent enough.

    Args:
        bags: The bags of features.
        at_least: Minimum number of bags that contain a feature.

    Returns:
        Numbers, keyed by feature: 0 for the most frequent feature, 1 for the next one, and so on.
    """
    counts: Counter[str] = Counter()
    for bag in bags:
        counts.update(set(bag))
    # The features of a model are stored in one text, separated by line feeds.
    frequent = (feature for feature, n in counts.items() if n >= at_least and "\n" not in feature)
    kept = sorted(frequent, key=lambda f: (-counts[f], f))
    return {feature: i for i, feature in enumerate(kept)}


@dataclass(frozen=True, slots=True)
class Bags:
    """Bags of numbered features; ``ids[starts[i]:starts[i + 1]]`` is bag ``i``.

    Attributes:
        ids: The features of all bags, one bag after the other.
        starts: The start of each bag, and the end of the last one.
    """

    ids: Any
    starts: Any

    @classmethod
    def of(cls, bags: Iterable[Sequence[str]], known: dict[str, int]) -> Bags:
        """Number the features of bags.

        Args:
            bags: The bags.
            known: Numbers, keyed by feature. Features without a number are left out.

        Returns:
            The bags as arrays.
        """
        ids: list[int] = []
        starts = [0]
        for bag in bags:
            ids.extend(known[feature] for feature in bag if feature in known)
            starts.append(len(ids))
        return cls(np.array(ids, np.int32), np.array(starts, np.int64))

    def take(self, rows: Any) -> tuple[Any, Any]:
        """Select some bags.

        Args:
            rows: Indices of bags.

        Returns:
            The features of the bags, one bag after the other, and the start of each bag.
        """
        sizes = self.starts[rows + 1] - self.starts[rows]
        begins = np.zeros(len(rows), np.int64)
        np.cumsum(sizes[:-1], out=begins[1:])
        places = np.arange(int(sizes.sum())) - np.repeat(begins - self.starts[rows], sizes)
        return self.ids[places], begins


def summed(
    table: Any, bags: tuple[Any, Any], dropped: float, rng: Any, doubted: Any = None, doubt: float = 0.0
) -> Any:
    """Sum the rows of a table for each bag, with dropout of features.

    Args:
        table: The weights, a row per feature.
        bags: Features and starts, from `Bags.take`.
        dropped: Probability of leaving out a feature.
        rng: NumPy's random generator, for the dropout.
        doubted: True for each feature that belongs to a group whose features are left out together; None for
            no such group.
        doubt: Probability of leaving out all features of the group in a bag.

    Returns:
        The sums, a row per bag.
    """
    import torch
    from torch.nn import functional

    ids, starts = bags
    # Kept features are scaled, so that the expected sum stays the same.
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
    """Return a model as it is after writing and reading its file.

    Args:
        model: The model.

    Returns:
        The model with rounded weights.
    """
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
    """Train weights with AdamW on batches in random order.

    The learning rate falls linearly to a fiftieth of its initial value.

    Args:
        weights: The weights to train.
        items: Number of items.
        epochs: Number of epochs.
        batch: Number of items per batch.
        rng: NumPy's random generator, for the order of the items.
        loss_of: Function that returns the loss of a batch, given the indices of its items. It returns None
            for a batch without examples.
        rate: Initial learning rate.
        decay: Weight decay.

    Returns:
        The trained weights as arrays, keyed by name.
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
