"""Bags of features as arrays: the form in which the networks are trained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphneg.parsers.dependency.learned.network import Model, read_model, write_model


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
