"""The networks, forward only: sums of feature rows, one hidden layer, scores.

Arrays are float32 in memory; in the file, tables of features are 8-bit integers with a scale for each row.
Each sentence is computed by itself, so that its scores do not depend on what else is in a batch.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
_TABLES = frozenset({"context", "candidate", "node", "pair"})
"""Arrays with a row for each feature; the last row in memory is all zeros."""


@dataclass(frozen=True, slots=True)
class Model:
    """Feature numbers by table, arrays by name, and the names of the output classes."""

    features: Mapping[str, Mapping[str, int]]
    arrays: Mapping[str, Array]
    classes: Sequence[str] = ()

    def sums(self, table: str, rows: str, bags: Sequence[Sequence[str]]) -> Array:
        """The sum of ``arrays[rows]`` over each bag's features, float32 ``[len(bags), width]``."""
        known, weights = self.features[table], self.arrays[rows]
        ids: list[int] = []
        ends: list[int] = []
        for bag in bags:
            ids.extend([known[feature] for feature in bag if feature in known])
            ids.append(len(known))
            ends.append(len(ids))
        starts = [0, *ends[:-1]]
        return np.add.reduceat(weights[ids], starts, axis=0)


def read_model(data: bytes) -> Model:
    """A model as :func:`write_model` writes it."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        names = list(stored.files)
        arrays = {name[2:]: _restored(stored, name[2:]) for name in names if name.startswith("a.")}
        texts = {name[2:]: _lines(stored[name]) for name in names if name.startswith("t.")}
    classes = texts.pop("classes", [])
    features = {name: {feature: i for i, feature in enumerate(lines)} for name, lines in texts.items()}
    return Model(features, arrays, classes)


def _restored(stored: Any, name: str) -> Array:
    array = stored["a." + name]
    if name not in _TABLES:
        return array.astype(np.float32)
    rows = array.astype(np.float32) * stored["s." + name].astype(np.float32)
    return np.concatenate([rows, np.zeros((1, rows.shape[1]), np.float32)])


def _lines(array: Array) -> list[str]:
    return array.tobytes().decode().split("\n")


def write_model(model: Model) -> bytes:
    """The model as a compressed ``.npz``; large tables are rounded to 8 bits a weight."""
    found: dict[str, Array] = {}
    for name, array in model.arrays.items():
        if name in _TABLES:
            scale = (np.abs(array).max(axis=1, keepdims=True) / 127).astype(np.float16).clip(1e-4)
            found["a." + name] = np.rint(array / scale).clip(-127, 127).astype(np.int8)
            found["s." + name] = scale
        else:
            found["a." + name] = array.astype(np.float32)
    for name, numbers in (*model.features.items(), ("classes", dict.fromkeys(model.classes))):
        found["t." + name] = np.frombuffer("\n".join(numbers).encode(), np.uint8)
    stream = io.BytesIO()
    np.savez_compressed(stream, **found)
    return stream.getvalue()
